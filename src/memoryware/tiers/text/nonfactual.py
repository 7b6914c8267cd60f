"""Words that keep a sentence from being a plain statement of fact, in English, German and Chinese.

Jokes, role play, hypotheses, fiction, doubt, reported speech and passing states. The rules that
recognise utterances, those that extract facts, and those that tell a user's words from the words
of others are all made of these lists, so that a word is added once.

The lists are alternatives of a regular expression with escaped blanks, so that they fit into
patterns with and without `re.VERBOSE`.
"""

from __future__ import annotations

import re
from typing import Final


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# Jokes and role play.

_LAUGHTER: Final = (
    r"(?<!\w)(?:a?ha(?:ha)+h?|he(?:he)+|hi(?:hi)+|h{3,}|(?-i:[lL]o+l|LO+L)(?:o+l)*|lmf?ao+|rofl\w*|x+d+)(?!\w)"
    r"|哈{2,}|嘿{2,}|呵{2,}|嘻{2,}|笑死(?:我了?)?"
    r"|[\N{FACE WITH TEARS OF JOY}\N{ROLLING ON THE FLOOR LAUGHING}\N{CAT FACE WITH TEARS OF JOY}"
    r"\N{SMILING FACE WITH OPEN MOUTH AND TIGHTLY-CLOSED EYES}"
    r"\N{SMILING FACE WITH OPEN MOUTH AND COLD SWEAT}]"
)
"""Laughter; the spelling "LoL" is a game."""
_SMILEY: Final = r"(?<!\S)[:=]['’]?-?[)D]+(?!\S)"
LAUGHTER: Final = _re(_LAUGHTER)
"""Laughter: it may be about anything, so that it takes back nothing, and leaves a doubt."""
FINAL_LAUGHTER: Final = _re(rf"[\s,，;:.!…~–-]*(?:(?:{_LAUGHTER}|{_SMILEY})[\s,，.!…。！~]*)+$")
"""Laughter and smileys at the end of a sentence, with the marks around them."""
_JOKING: Final = (
    r"\byeah,?\ right\b"
    r"|\b(?:jk|j/k|just\ kidding|kidding|only\ joking|joking|as\ a\ joke|sarcasm|scherz|witz|ironie"
    r"|(?:nur|bloß|war)\ (?:(?:nur|bloß|doch|ein)\ )*spaß)\b|(?:^|[,.!?]\s*)spaß\s*(?:[!.,]|$)"
    r"|(?<!\S)/s(?!\S)|开玩笑|逗你|说笑|玩笑|\N{FACE WITH STUCK-OUT TONGUE AND WINKING EYE}"
    r"|\N{WINKING FACE}|\N{UPSIDE-DOWN FACE}"
)
JOKING: Final = _re(_JOKING)
"""Words that show a joke: nothing in its message is taken for a fact."""
JOKE: Final = _re(f"{_JOKING}|{_LAUGHTER}")
"""A joke, or laughter, which may show one: a person decides about what is said with it."""
TAKES_BACK: Final = _re(
    r"""\b(?:jk|j/k|(?:just|only|was|i'm|im|am|totally)\ (?:just\ |only\ )?(?:kidding|joking)
    |(?:was|just|only)\ (?:just\ |only\ )?a\ joke|(?:was|just)\ (?:being\ )?sarcas\w+
    |scherz|(?:nur|bloß|war)\ (?:(?:nur|bloß|doch|ein)\ )*(?:spaß|witz)
    |(?:nur|bloß)\ witze|(?:war|nur)\ ironie)\b
    |^(?:only\ )?(?:kidding|joking|sarcasm)\b|^(?:spaß|ironie)\b\W*(?:!|$)|^/s$
    |(?<![别你])开(?:个|了个)?玩笑|逗你|(?<![别你])说笑"""
)
"""Words with which the speaker takes back what was said before: "Just kidding!"."""
OF_LISTENER: Final = _re(
    r"""\?|？|\b(?:you|you're|u|du|ihr|er|he|she|they)\b[^,.!]{0,20}\b(?:kidding|joking|joke|scherz\w*|witz\w*)
    |\b(?:gut|schlecht|schön|toll|nett)e[rs]?\ (?:scherz|witz|spaß)\b
    |[你他她][^，。！]{0,4}(?:玩笑|说笑)|别[^，。！]{0,4}(?:玩笑|说笑)"""
)
"""Signs that others are joking, and not the speaker: "You must be joking!"."""
RETRACTION: Final = _re(r"\b(?:a\ joke|quatsch)\b")
"""Words that take back their sentence only: others may ask for a joke, or correct something."""
SERIOUS: Final = _re(
    r"""(?:(?:all\ )?(?:jokes?|kidding|joking)\ (?:aside|apart)|but\ seriously|seriously|no\ joke
    |spaß\ beiseite|scherz\ beiseite|im\ ernst|mal\ ernsthaft
    |不开玩笑|说真的|说正经的)[,:.!，：。！]*\s*"""
)
"""Words that end a joke."""
ROLE_PLAY: Final = (
    r"\bact\ as\b|\bpretend\w*|\brole-?\ ?play\w*|\bplay\ the\ role\b|\bspiele?\w*\ die\ rolle\b"
    r"|\btu\ so\b|\btun\ wir\ (?:mal\ )?so\b|\bdu\ bist\ (?:jetzt|nun)\b|扮演|你现在是|假装"
)
"""Words that ask for a role, in which "I" is somebody else."""

# Hypotheses and fiction.

ENGLISH_IMAGINED: Final = (
    r"imagine|suppose|supposing|assum(?:e|ing)|hypothetically|let's\ say|say\ (?:that|i)|what\ if"
    r"|for\ the\ sake\ of\ argument|for\ argument's\ sake|in\ (?:another|my\ next|a\ past)\ life"
)
GERMAN_IMAGINED: Final = (
    r"stell(?:t|en\ sie)?\ (?:dir|euch|sich)\ (?:mal\ |bitte\ )?vor|stellen\ wir\ uns\ vor"
    r"|angenommen|gesetzt\ den\ fall|nehmen\ wir\ (?:mal\ )?an"
    r"|im\ (?:nächsten|früheren)\ leben|in\ einem\ (?:anderen|früheren)\ leben"
)
CHINESE_IMAGINED: Final = "如果|假如|要是|假设|想象|设想|倘若|下辈子|来世|上辈子"
ENGLISH_UNREAL: Final = r"as\ if|were\ i|wish"
GERMAN_UNREAL: Final = r"als\ ob|als\ wäre\w*"
ENGLISH_FICTION: Final = (
    r"scenario|exercise|riddle|puzzle|homework|plot|novel|story|fairy\ tale|poem|essay"
)
GERMAN_FICTION: Final = r"rätsel|hausaufgaben?|geschichte|gedicht|roman|märchen"
CHINESE_FICTION: Final = "谜语|作业|故事|小说|诗"
ENGLISH_FIGURE: Final = r"character|protagonist|avatar|alter\ ego|hero(?:ine)?|villain"
GERMAN_FIGURE: Final = (
    r"(?:roman|spiel|haupt)?figur|held(?:in)?|avatar|bösewicht|protagonist(?:in)?|alter\ ego"
)
CHINESE_FIGURE: Final = "主角|主人公|角色|反派"

# Doubt.

ENGLISH_DOUBT: Final = (
    r"might|maybe|perhaps|probably|possibly|i\ think|i\ guess|i\ suppose|i\ believe|not\ sure"
)
GERMAN_DOUBT: Final = (
    r"vielleicht|wahrscheinlich|womöglich|vermutlich|ich\ (?:glaub\w*|denke)"
    r"|(?:glaub|denke)\w*\ ich"
)
CHINESE_DOUBT: Final = r"也许|可能|大概(?!要?[\d一二两三四五六七八九十百])|我觉得"

# Reported speech.

ENGLISH_SAY: Final = (
    r"says?|said|tells?|told|claimed|writes|wrote"
    r"|claims?(?=\ (?:that|to|i|he|she|it|they|we|my|our|the)\b|[,:]|$)"
)
GERMAN_SAY: Final = (
    r"sagte?n?|meinte?n?|behauptete?n?|schreibt|schrieb(?:en)?|erzählte?n?|berichtete?n?"
)
CHINESE_SAY: Final = "说(?!话|明|英|中|德|法|日|汉|普通)|告诉|声称|提到|写道"
ENGLISH_BELIEVE: Final = (
    r"thinks?|thought|believes?|believed|assumes|assumed|insists?|argues?|reckons?|swears|mentioned"
    r"|report(?:s|ed)?(?=\ (?:that|i|we)\b)"
    r"|asked|asks|wants|wanted"
)
GERMAN_BELIEVE: Final = (
    r"denkt|dachte|glaubt|glaubte|nimmt\ an|nehmen\ an|vermutet|empfiehlt|findet(?=,)|fand(?=,)"
    r"|will|wollte"
)
GERMAN_SAID: Final = "gesagt|erzählt|geschrieben|behauptet|berichtet|gemeint"
ENGLISH_TELL: Final = r"goes|adds?|added|repl(?:ies|ied)|explain(?:s|ed)|answer(?:s|ed)"
GERMAN_TELL: Final = r"fragt|fragte|antwortet\w*|ergänzt\w*|erklärte?n?"
CHINESE_TELL: Final = "说|问|回答|回复|写"
CHINESE_BELIEVE: Final = "认为|觉得|以为|讲|表示"
ENGLISH_ACCORDING: Final = r"according\ to"
GERMAN_ACCORDING: Final = r"laut"

# Other people.

ENGLISH_RELATIVES: Final = (
    r"colleagues?|co-?workers?|friends?|boss|neighbou?rs?|brothers?|sisters?|cousin|uncle|aunt"
    r"|roommate|flatmate|ex|guy|girl|mother|father|mom|dad|mum|wife|husband|girlfriend|boyfriend"
    r"|kids?"
)
ENGLISH_FAMILY: Final = (
    r"brothers?|sisters?|mother|father|mom|dad|mum|wife|husband|girlfriend|boyfriend|kids?"
    r"|siblings?|parents|partner|fianc[ée]e?|sons?|daughters?|child(?:ren)?|baby|toddler|twins"
    r"|grand(?:mother|father|ma|pa|parents|son|daughter)|nephew|niece|uncle|aunt"
    r"|(?:mother|father|brother|sister)-in-law|dogs?|cats?"
)
ENGLISH_PEOPLE: Final = (
    rf"{ENGLISH_RELATIVES}|{ENGLISH_FAMILY}"
    r"|doctor|dentist|therapist|teacher|landlord|manager|supervisor|client|customer|tenant|nanny"
)
GERMAN_RELATIVES: Final = (
    r"Kollegin\w*|Kollegen?|Freund\w*|Chef|Nachbar\w*|Bruder|Schwester|Mutter|Vater|Frau|Mann|Kinder"
    r"|Leute|Hund|Katze"
)
GERMAN_FAMILY: Final = (
    r"Bruder|Schwester|Mutter|Vater|Frau|Mann|Kind(?:er)?|Hund|Katze|Geschwister|Eltern|Mama|Papa"
    r"|Partner\w*|Freundin|Verlobte\w?|Söhne|Sohn|Töchter|Tochter|Oma|Opa|Großmutter|Großvater"
    r"|Großeltern|Neffe|Nichte|Tante|Onkel|Cousine?|Schwieger\w+|Schwager|Schwägerin|Zwillinge|Enkel\w*"
)
GERMAN_PEOPLE: Final = (
    rf"{GERMAN_RELATIVES}|{GERMAN_FAMILY}|Chefin|Ärztin|Arzt|Zahnarzt|Lehrer\w*|Vermieter\w*"
    r"|Kund(?:e|in)|Mitbewohner\w*"
)
CHINESE_RELATIVES: Final = "朋友|同事|老板|邻居|哥哥|姐姐|弟弟|妹妹|爸爸|妈妈"
CHINESE_FAMILY: Final = (
    "老大|老二|老小|继子|继女|养子|养女|孙子|孙女|外孙女?|侄子|侄女|外甥女?|未婚[夫妻]|双胞胎"
    "|对象|爱人|男朋友|女朋友|女儿|儿子|孩子|妻子|老婆|太太|丈夫|老公|先生|母亲|父亲|父母|爸妈|爷爷|奶奶|外公|外婆|哥哥?|姐姐?"
    "|弟弟?|妹妹?|爸爸?|妈妈?|表[哥姐弟妹]|婆婆|公公|岳[父母]|狗狗?|猫咪?|宠物"
)
CHINESE_PEOPLE: Final = (
    f"{CHINESE_RELATIVES}|{CHINESE_FAMILY}|男友|女友|室友|同学|老师|医生|客户|房东|领导|经理"
    "|叔叔|阿姨|舅舅"
)

# What is true of a moment only.

ENGLISH_MOMENT: Final = (
    r"today|tonight|yesterday|right\ now|at\ the\ moment|this\ (?:morning|afternoon|evening)"
)
GERMAN_MOMENT: Final = r"heute|gestern|gerade|momentan|im\ moment"
CHINESE_MOMENT: Final = "今天|昨天|刚才"

# Patterns of clauses, by language.

ENGLISH_UNSURE: Final = _re(
    rf"""\b(?:if|unless|{ENGLISH_IMAGINED}|{ENGLISH_UNREAL}|{ENGLISH_DOUBT}
    |i\ (?:wonder|doubt)|thinking\ (?:about|of)|considering
    |would(?!\ (?:rather|prefer))|could|should
    |in\ theory|almost|someday|one\ day|hopefully|i\ hope|dream\w*|used\ to|for\ example|e\.g\.
    |allegedly|apparently|supposedly|seems?|{ENGLISH_FIGURE}|as\ an\ example
    |(?:for|in)\ this\ (?:example|task|game|test|{ENGLISH_FICTION})
    |in\ (?:the|my|our)\ (?:book|game|movie|film|dream|play|{ENGLISH_FICTION}))\b
    |\bi'd\b(?!\ (?:really\ |much\ )?(?:rather|prefer))|\bwe'd\b"""
)
"""Signs in an English clause of a condition, a hypothesis, doubt or fiction."""
GERMAN_UNSURE: Final = _re(
    rf"""\b(?:wenn|falls|sofern|{GERMAN_IMAGINED}|{GERMAN_UNREAL}|{GERMAN_DOUBT}
    |würde\w*|wäre\w*|hätte\w*|könnte\w*|bräuchte\w*|dürfte\w*|sollte\w*|müsste\w*|wollte\w*
    |eventuell|evtl|mal\ sehen|angeblich|glaub\w*|wohl|möglicherweise|überleg\w*|hoffentlich|hoffe
    |wünschte|gefühlt|quasi|sozusagen
    |träum\w*|früher|zum\ Beispiel|z\.\s?B\.|scheinbar|anscheinend|{GERMAN_FIGURE}
    |in\ (?:der|meiner)\ Geschichte|im\ (?:Spiel|Film|Roman|Traum)
    |in\ (?:meinem|diesem|unserem)\ (?:Spiel|Film|Buch|Traum|{GERMAN_FICTION})
    |spiele\ einen|tu\ so)\b"""
)
"""The same for German."""
CHINESE_UNSURE: Final = _re(
    rf"""{CHINESE_IMAGINED}|{CHINESE_DOUBT}|假装|说不定|或许|好像|似乎|应该是|万一|的话|估计|猜|考虑
    |要不要|想不想|希望|梦想|梦见|梦到|以前|曾经|比如|例如|据称|扮演|似的|恨不得|{CHINESE_FIGURE}
    |(?:{CHINESE_FICTION}|游戏|电影|剧本|书|梦)(?:里|中)"""
)
"""The same for Chinese."""
ENGLISH_REPORTED: Final = _re(
    rf"""\b(?!i\b|we\b)(?:he|she|they|you|someone|somebody|people|everyone|\w+)(?:'s)?\s+
    (?:also\ |just\ |always\ )?(?:{ENGLISH_SAY}|{ENGLISH_BELIEVE})\b
    |\b{ENGLISH_ACCORDING}\b
    |\b(?:says|said|claims|claimed|wrote)\ (?:the|my|that|he|she|they|(?-i:[A-Z]))
    |\b(?:was|been)\ told\b|\b(?:word|rumou?r)\ (?:is|has\ it)\b|\bquote[,:]|\b(?:quoting|unquote)\b
    |\bi\ (?:heard|read)\b"""
)
"""Words of an English clause by which others are quoted."""
GERMAN_REPORTED: Final = _re(
    rf"""\b(?!ich\b|wir\b)\w+\s+(?:auch\ |immer\ |mal\ )?(?:{GERMAN_SAY}|{GERMAN_BELIEVE})
    \b(?!\s+ich\b)
    |\b{GERMAN_ACCORDING}\b|,\s+(?:{GERMAN_SAY})\ (?!ich\b|wir\b)\w|\berzählt\ sich\b
    |\b(?:hat|haben|wird|wurde)\ (?:\S+\ ){{0,4}}?(?:{GERMAN_SAID})\b
    |\bich\ habe\ (?:gehört|gelesen)\b|\b(?:er|sie|es|ich)\ sei\b"""
)
"""The same for German."""
CHINESE_REPORTED: Final = _re(
    rf"""(?:(?!我)[\u4e00-\u9fff]{{1,6}}|\w+)(?:{CHINESE_SAY}|{CHINESE_BELIEVE})
    |据说|听说|据报道|传说|上说|里说|有人"""
)
"""The same for Chinese."""
ENGLISH_PASSING: Final = _re(
    rf"\b(?:{ENGLISH_MOMENT}|for\ now|suddenly|a\ minute|again|in\ five|brb|just\ now)\b"
)
"""Words of an English clause for a state that passes."""
GERMAN_PASSING: Final = _re(
    rf"\b(?:{GERMAN_MOMENT}|eben|plötzlich|vorhin|kurz|gleich|jetzt\ erst|schon\ wieder)\b"
)
"""The same for German."""
CHINESE_PASSING: Final = _re(
    rf"{CHINESE_MOMENT}|刚刚|有点|现在(?:好|很|正|有)|好[累热冷困饿]|一会儿?|马上|这会儿"
)
"""The same for Chinese."""
SETTING: Final = _re(
    rf"""\b(?:imagin\w+|suppos\w+|assum\w+|hypothetical\w*|{ENGLISH_FICTION}
    |{GERMAN_IMAGINED}|{GERMAN_FICTION})\b|{ROLE_PLAY}|{CHINESE_IMAGINED}|{CHINESE_FICTION}"""
)
"""Words of a message whose statements are made up."""

ENGLISH_OPENING: Final = _re(
    rf"""\b(?!i\b|we\b)\w+(?:'s)?\s+(?:also\ |just\ |always\ |once\ )*
    (?:{ENGLISH_SAY}|{ENGLISH_BELIEVE}|{ENGLISH_TELL})(?:\ (?:me|us|him|her|them|that|to\ \w+))*:?$
    |\b(?:was|been)\ told(?:\ that)?:?$|\bexamples?(?:\ \w+)?:?$|^(?:\w+\ ){{0,2}}if\b|\bwish$
    |^(?:he|she|they|(?:my|our|the)\ (?:{ENGLISH_PEOPLE})):$"""
)
"""An English clause after which others speak, or after which all is a condition or an example."""
GERMAN_OPENING: Final = _re(
    rf"""\b(?!ich\b|wir\b)\w+\s+(?:auch\ |immer\ |mal\ |sich\ )*
    (?:{GERMAN_SAY}|{GERMAN_BELIEVE}|{GERMAN_TELL}|findet|fand)
    (?:\ (?:mir|uns|ihm|ihr|sich|dass))*:?$
    |\b(?:hat|haben|wird|wurde)\ (?:\S+\ ){{0,4}}?(?:{GERMAN_SAID}):?$
    |^wie\ es\ .*\ heißt:?$|\bbeispiel\w*:?$|^(?:\w+\ ){{0,2}}(?:wenn|falls)\b|\bwünschte$
    |^(?:(?:er|sie|\w+)\ so|er|sie|(?:meine?|unsere?|der|die)\ (?:{GERMAN_PEOPLE})):$"""
)
"""The same for German."""
CHINESE_OPENING: Final = _re(
    rf"""(?:(?!我)[\u4e00-\u9fff]{{1,6}}|\w+)(?:{CHINESE_SAY}|{CHINESE_BELIEVE}|{CHINESE_TELL})[我们过了道他她]*[:：]?$
    |例句?[:：]?$|歌词?[里中]?唱?[:：]?$|^.{{0,3}}(?:如果|要是|假如|万一)|^(?:他|她|我的?(?:{CHINESE_PEOPLE}))[:：]$"""
)
"""The same for Chinese."""

# Patterns of sentences in any language.

IMAGINED: Final = _re(
    rf"""^(?:and\ |but\ |so\ )?(?:if|wenn|falls|pretend|{ENGLISH_IMAGINED}|{GERMAN_IMAGINED}
    |{CHINESE_IMAGINED})
    |\b(?:{ENGLISH_UNREAL}|{GERMAN_UNREAL})\b"""
)
"""Hypotheses."""
UNSURE: Final = _re(rf"\b(?:{ENGLISH_DOUBT}|{GERMAN_DOUBT})\b|{CHINESE_DOUBT}")
"""Doubt."""
REPORTED: Final = _re(
    rf"""\b(?:{ENGLISH_SAY}|{ENGLISH_ACCORDING}|thinks?\ (?:that\ )?i|{GERMAN_SAY}
    |{GERMAN_ACCORDING})\b
    |{CHINESE_SAY}"""
)
"""What somebody has said, whoever it was."""
OF_A_MOMENT: Final = _re(
    rf"""\b(?:am|i'm)\ (?!living|working|using)\w+ing\b
    |\bi\ (?:just\ )?(?:forgot|lost|broke|tried|got|missed|received|clicked|saw)\b
    |\bi\ (?:can't|cannot|can\ not)\ (?:log|sign|open|access|find|see|connect|reach|load|get)\b
    |\bich\ (?:habe\ \w+\ )?(?:vergessen|verloren|versucht)\b
    |\b(?:{ENGLISH_MOMENT}|tomorrow|this\ (?:week|month)|{GERMAN_MOMENT}
    |(?<!jeden\ )(?<!am\ )morgen|diese\ woche)\b
    |{CHINESE_MOMENT}|今晚|明天|正在|这周"""
)
"""Sentences about one moment, or about what has just happened."""
