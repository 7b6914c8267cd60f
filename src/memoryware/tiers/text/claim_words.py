"""Words that say whether a sentence claims anything: reactions, courtesies, judgements, small talk.

English and German, some Chinese and Japanese; `memoryware.tiers.text.claims` says how they are
used.
"""

from __future__ import annotations

from typing import Final

from memoryware.tiers.text.tokens import word_set

REACTIONS: Final = word_set("""
hey hi hello hiya yo wow woah whoa aww aw oh ooh ah haha hehe lol yeah yea yes yep yup yay nope gosh
ugh hmm hallo hi na ja ach oh tja
""")
"""Interjections before a claim."""
ANSWERS: Final = word_set("""
well ok okay sure right exactly absolutely totally definitely cool awesome amazing great nice
wonderful perfect thanks thank cheers congrats congratulations sorry man bud dude anyway
genau klar super toll danke bitte
""")
"""Words that answer or greet if a comma follows."""
COURTESIES: Final = word_set("""
thanks thank congrats congratulations congratulation sorry cheers bye goodbye glad let hope
hoping wishing wish sounds looks
danke bitte tschüss entschuldigung hoffentlich
""")
"""Words with which a sentence begins that thanks, greets, proposes or reacts."""
COURTESY_PHRASES: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "can not wait",
        "i can not wait",
        "could not agree",
        "feel free",
        "good luck",
        "here are",
        "here is",
        "if you have any",
        "if you need",
        "good morning",
        "good night",
        "have fun",
        "have good",
        "have great",
        "have nice",
        "have safe",
        "i agree",
        "i appreciate",
        "i hope",
        "i wish",
        "i am glad",
        "i am sorry",
        "i am happy to",
        "keep it up",
        "keep me",
        "keep up",
        "long time no",
        "looking forward",
        "no problem",
        "no worries",
        "see ya",
        "see you",
        "take care",
        "talk soon",
        "talk to you",
        "way to go",
        "well done",
        "happy birthday",
        "happy for",
        "happy to",
        "welcome back",
        "welcome to",
        "bis bald",
        "bis dann",
        "gute besserung",
        "gute nacht",
        "gute reise",
        "guten abend",
        "guten morgen",
        "guten tag",
        "ich freue mich",
        "ich hoffe",
        "viel erfolg",
        "viel glück",
        "viel spaß",
    )
)
UNSPACED_COURTESIES: Final = (
    "谢谢",
    "感谢",
    "多谢",
    "早上好",
    "晚上好",
    "晚安",
    "再见",
    "加油",
    "恭喜",
    "祝",
    "ありが",
    "おはよ",
    "こんに",
    "こんば",
    "お疲れ",
    "おめで",
)
"""The same as the first characters of a sentence in Chinese or Japanese."""
STRESS: Final = word_set("""
really so very truly pretty super totally definitely absolutely seriously quite such actually
honestly certainly much lot lots a_lot a_little bit still already again even too
sehr so wirklich echt ganz total richtig schon noch wieder mal doch eben halt
""")
"""Words that stress a claim and change nothing of it."""
REFERRING: Final = word_set("""
it that this these those they them there here what
es das dies dieses dort
这 那 它 それ これ あれ そ
""")
"""Pronouns that name nothing: what they mean is known only beside the text."""
SPEAKING: Final = word_set("""
i i'm i've i'd i'll me my mine myself ich mich mir mein meine meinen meinem meiner meines
je moi mon mes yo mí mi mis я мне меня мой моя 我 私 僕 俺
""")
"""Words with which somebody speaks of himself or herself alone."""
PRONOUNS: Final = (
    REFERRING
    | SPEAKING
    | word_set("""
he she him her his hers you your yours yourself ya we us our ours you_all their theirs its who which
du dich dir dein deine wir uns unser unsere ihr ihre sie er man
tu te ton ta tes nous vous nos votre tú su sus nosotros
你 您 他 她 们 咱
""")
)
BEING: Final = word_set("""
be is are am was were been being do does did done have has had shall let and or but so than then as
of that
ist sind bin war waren hat haben habe wird werden und oder aber als dass
是 的 了 很 太 和 也 就
は が を に で す の た て い る な ま し か ら
""")
"""Auxiliaries, conjunctions and particles."""
SOFT_MARKERS: Final = word_set("""
at just will would could about ought need mag möchte much 会 要
""")
"""Markers with which a sentence claims what it claims without them."""
PASTS: Final = word_set("""
was were had did went got came made took gave saw met found bought read wrote ate drank ran swam
sang won lost left began spent told said thought heard felt taught caught built sold sent drew rode
drove flew fell grew threw wore ging kam machte sah fand kaufte traf war waren hatte hatten 了 过 過
""")
"""Words of events, which may happen more than once."""
STATES: Final = word_set("was were had read war waren hatte hatten")
"""Those of `PASTS` that may say how something was or is."""
JUDGEMENTS: Final = word_set("""
good great nice awesome amazing wonderful fantastic incredible cool lovely beautiful gorgeous cute
perfect brilliant terrific special unreal surreal magical wild crazy insane best better bad worse
hard tough easy fun funny happy glad proud excited exciting sad sorry tired thankful grateful
inspiring inspired motivating motivated rewarding fulfilling peaceful relaxing interesting important
helpful delicious stunning impressive epic adorable sweet kind touching meaningful memorable
refreshing empowering disappointing exhausting fabulous excellent pleasant lucky strange weird scary
unbeatable blast dream treat
toll schön gut super klasse prima nett lustig traurig glücklich froh müde schwer leicht wichtig
anstrengend spannend herrlich großartig lecker
""")
"""Words that judge, of which several hold of one thing."""
SMALL_TALK: Final = word_set("""
get got gotten getting go going gone went come came coming make made making take took taking give
gave given giving know knew think thought want see saw seen look looked looking sound sounded feel
felt feeling mean meant seem keep kept keeping say said tell told talk talked talking hear heard try
tried trying find found help helped helping hope hoping wish love loved enjoy enjoyed share shared
sharing appreciate appreciated miss missed believe wait imagine remember forget bet guess catch
check thing something anything everything nothing someone everyone anyone stuff kind sort way time
moment day today tomorrow yesterday tonight week weekend month year soon later now lately recently
sometimes together back out up down off away around over here there one next last first such same
other long care
people friend guy guys folk world life goal step journey experience part point idea support
encouragement advice hug luck problem worry joy happiness difference agree
今 天 昨 明 想 去 来 看 说
gehen geht ging kommen kommt kam machen macht gemacht sagen sagt sehen sieht finden finde denke
glaube hoffe freue glück spaß zeit tag heute morgen gestern woche ding sache
""")
"""Words that many sentences share that are about different matters."""
HEDGES: Final = word_set("""
maybe perhaps possibly might could vielleicht möglicherweise eventuell könnte könnten 许 許
""")
"""Words of what is only possible, so that something else is possible as well."""
LINKING: Final = word_set("""
be is are am called named ist sind bin heißt heiße 是 为 為 叫 姓 在 到 は
""")
"""Words behind which a sentence says what its subject is, or where."""
_OPPOSITES: Final = """
love=hate loves=hates like=hate likes=hates left=right open=closed open=shut opened=closed
opens=closes enabled=disabled enable=disable on=off before=after above=below inside=outside
upstairs=downstairs short=long light=dark true=false first=last more=less early=late earlier=later
allowed=forbidden allow=forbid accept=refuse accepts=refuses start=stop starts=stops single=married
hot=cold old=new vegetarian=carnivore public=private manual=automatic cheap=expensive
increase=decrease increased=decreased up=down win=lose won=lost alive=dead with=without
lieben=hassen liebe=hasse liebt=hasst mag=hasst mag=hasse geöffnet=geschlossen offen=geschlossen
auf=zu links=rechts vor=nach über=unter oben=unten innen=außen an=aus kurz=lang hell=dunkel
erlaubt=verboten wahr=falsch früher=später alt=neu ledig=verheiratet öffentlich=privat
前=后 开=关 左=右 上=下 长=短 爱=恨 真=假 多=少 早=晚 旧=新
"""
OPPOSITES: Final = frozenset(frozenset(pair.split("=")) for pair in _OPPOSITES.split())
"""Pairs of words that exclude each other."""
OPPOSING: Final = ("un", "in", "im", "il", "ir", "dis", "non")
"""Beginnings that make a word its opposite: "locked" and "unlocked"."""
