"""Word lists and phrases: words without content, and words that correct a fact; data only."""

from __future__ import annotations

import re
from typing import Final

_EMPTY: Final = """
a an the this that these those there here it its it's he she they them him her his hers their
theirs i me my mine we us our ours you your yours one ones who whom whose which what when where
why how and or but so if then than as at by for from in into of onto out to upon with within
about across again against along also am are be been being between can could did do does doing
done during either else etc ever had has have having just let lets like may might much must need
own per quite rather really s same shall should since some such t still too toward until very
via was were will would while yet d ll m re ve is get got gets getting go goes going gone come
comes make makes made take takes use uses used using utilize utilise utilizes utilises utilized
employ employs employed keep keeps kept vs eg ie und oder der die das ein eine ist sind wir sie
es zu mit von auf im den dem des wie ich laut le la les un une est sont nous il elle ils elles
du de et ou que qui dans pour avec el los las una son del y o en con para por como
"""
_FILLER: Final = """
on off up over under before after more most both each every according accordingly acknowledge
actual afaik ahead aforementioned already alright also answer answering anything apparently
appear appears as-is ask asked asking asks assist assistance assistant available aware base
based basically below best better brief briefly bye chat cheers clarify clear clearly come
concise confirm confirmed confirms context conversation correct correctly course currently
current date data-driven dear delighted describe described detail detailed details discuss
discussed discussion earlier enjoy essentially established evidently exactly excellent expand
explain explained fact facts far feel fine find follow following follows force free friend fully
further future general generally given glad good got great greetings guess happy have hear hello
help helped helpful helps hesitate hey hi hint history honest hope hopefully idea important
indeed indicate indicated indicates info inform information informed instance interested item
items keep kind kindly know knowledge known knows last latest learned learnt least left let line
list listed lists long-term look looking looks lot matter mean means memories memory mention
mentioned mentioning mentions message mind moment moreover name namely needed next nice note
noted notes noting notice now obviously ok okay on-file once overall past pertaining per perfect
picture please pleased pleasure plus point points possible possibly present previous previously
prior private probable probably problem provide provided provides quick quickly quote quoted
quoting reach recall recalled recalling recalls recap recollect recollection record recorded
records refer reference referring regard regarding regards related relevant remain remains
remark remember remembered remembering remembers remembrance remind reminder repeat repeated
repeating reply report reported request requested restate result retrieve retrieved retrieving
return review reviewing right saved say saying says see seem seems seen session share shared
short show showed shown shows side simply sir something source sources specifically speaking
state stated states statement stating store stored summarise summarised summarize summarized
summary summing sum sure tell telling tells thank thanks think thing things thought thoughts
told top topic touch true turn turns understand understanding understood user's useful verified
verify view want wanted way welcome well what's whatever whether wish wonder words worth yes
yeah yep yup you're question questions query additional additionally anyway basis believe
believed bottom case checking check checked consider considering bear conclude conclusion recite
glance rely relying inferred infer tldr tl dr fyi btw iirc imo supplied above back bit bits call
collected couple cover covered few first second finally furthermore hence however kept lastly
leave likewise meanwhile nevertheless notably notwithstanding overview recently recent respond
response responding same-as several similarly therefore thus together instructions data
untrusted unverified trust trusted hot cold working score similarity
mich mir erinnere erinnern erinnerung gedachtnis notizen notiz bekannt weiss wissen soweit gemass
zufolge gesagt erwahnt bereits gern gerne bitte hoffe hilft frage fragen
souviens rappelle rappel memoire apres selon deja bien sur mentionne sais savoir voici espere aide
recuerdo recuerde memoria segun ya claro mencionado se espero ayude pregunta
found gave shown seen spoke spoken talked talk talking long term proceed continue piece pieces
relevant agreed agree apologies sorry pardon whenever anytime elaborate clarification dig deeper
assistant user users context's retained retain logged log stick stuck handy hand pull pulled
surface surfaced digging scan scanning search searched searching lookup consult consulted
consulting turns words wording verbatim restating recapping recite reciting paraphrase paraphrasing
essence gist nutshell sentence paragraph bullet bullets section heading title answer's
ready set go double triple once twice rest assured matches match matching consistent aligned
same identical unchanged remains still holds hold stands stand applies apply accurate accuracy
reliable sourced citing cited cite quotation yesterday today ago week weeks month months day days
time times moments minutes hour hours session's dialogue dialog thread discussion discussions
exchange interaction interactions chat's chats talks meeting's team's folks everyone guys
awesome super cool brilliant fantastic wonderful amazing nicely neat lovely sounds sound
shout team enough fair all only yet update updates rest
somebody someone anybody anyone everybody
everything everyone somewhere anywhere everywhere whoever tidbit snippet snippets
"""
_DENIALS: Final = """
no not never none neither nor nobody nothing nowhere without cannot hardly barely scarcely nicht
kein keine keinen nie ne pas jamais aucun nunca jamas sin
"""
DENIALS: Final = frozenset(_DENIALS.split())
"""Words that say that something is not so."""
_TURNS: Final = """
abandon abandoned abolished amended anymore cancelled canceled ceased changed changes contradict
contradicts contrary corrected correction deprecated discontinued disagree dropped ended except
excluding expired exception false falsely formerly former incorrect incorrectly instead invalid
invalidated migrated migrating mistake mistaken mistakenly moved obsolete outdated overturned
postponed refuted rejected removed renamed replace replaced replaces replacing rescheduled
resigned retired reversed revised revoked retracted scrapped stale stop stopped stops superseded
switch switched switching unless unlike untrue updated until wrong wrongly sondern statt
stattdessen falsch anstatt plutot faux falso
"""
TURNS: Final = frozenset(_TURNS.split())
"""Words that correct or end a fact."""
_GREETINGS: Final = """
hi hello hey dear sure thanks thank yes yeah ok okay welcome greetings absolutely certainly
hallo danke hola bonjour merci
"""
GREETINGS: Final = frozenset(_GREETINGS.split())
_RECALLING: Final = """
recall recalls recalled recalling remember remembers remembered remembering memory memories know
knowledge note notes noted record records recorded mention mentioned conversation conversations
context history summary recap reminder remind earlier previous previously stored saved retrieved
recollect recollection discussed discussion told
"""
RECALLING: Final = frozenset(_RECALLING.split())
"""Words of remembering."""
PERSONAL: Final = frozenset(
    ("i", "me", "my", "mine", "you", "your", "we", "us", "our", "let", "lets", "please", "thanks")
)
"""Words of a conversation, as around a recalled text."""
EMPTY: Final = frozenset(_EMPTY.split()) - TURNS - DENIALS
"""Words of the language itself."""
FILLER: Final = frozenset(_FILLER.split()) - TURNS - DENIALS
"""Words of remembering, offers of help, and politeness."""
_FREQUENCIES: Final = """
daily weekly monthly yearly hourly nightly quarterly biweekly early only family apply supply
reply fly ally assembly anomaly italy july multiply rely comply imply monopoly
"""
FREQUENCIES: Final = frozenset(_FREQUENCIES.split())
"""Words in -ly that have content."""

_LATIN: Final = (
    r"(?:if|unless|lest)\s+i(?:'m|\s+am)?\s+not\s+(?:mistaken|wrong)",
    r"(?:unless|if)\s+(?:i\s+am|i'm)\s+(?:mistaken|wrong)",
    r"(?:do\s+not|don't|please\s+do\s+not|please\s+don't)\s+hesitate",
    r"no\s+(?:problem|worries|doubt)",
    r"(?:nothing|not\s+much|not\s+a\s+lot)\s+(?:else|more|new)(?:\s+to\s+(?:add|report|say))?",
    (
        r"(?:i\s+)?(?:do\s+not|don't|have\s+nothing|have\s+not)\s+(?:have\s+)?"
        r"(?:anything|any\s+more|more|much)?\s*(?:else\s+)?to\s+add"
    ),
    r"as\s+far\s+as\s+i\s+(?:know|can\s+tell|remember|recall|am\s+aware)(?:,?\s+from\s+(?:my\s+)?memory)?",
    r"(?:without|no)\s+further\s+ado",
    r"not\s+to\s+mention",
    (
        r"(?:(?:i|we)\s+)?(?:do\s+not|don't|never|will\s+not|won't|have\s+not|haven't|has\s+not|hasn't|did\s+not|didn't|not)"
        r"\s+(?:ever\s+)?forg[eo]t(?:ten)?"
    ),
    r"no\s+(?:new\s+|further\s+)?(?:updates?|changes?|news)\b(?:\s+since\b[^.!?\n:;,]{0,30})?",
    (
        r"(?:there\s+(?:are|is)\s+)?no\s+(?:other|further|more)\s+(?:memor(?:y|ies)|notes?|records?|facts?)"
        r"\b[^.!?\n:;,]{0,40}"
    ),
    (
        r"(?:do\s+not|don't|cannot|can't|could\s+not|couldn't)\s+(?:know|recall|remember|say|tell|find|have|see)"
        r"\s+(?:anything\s+|any\s+|much\s+)?(?:more|else)\b"
    ),
    r"not\s+(?:sure|certain)\s+about\s+(?:the\s+rest|anything\s+else|more)",
    (
        r"(?:and\s+)?(?:nothing|not\s+much|none\s+of\s+(?:this|that|it))\s+(?:has|is|seems\s+to\s+have)?\s*"
        r"(?:changed|new|different)(?:\s+since(?:\s+then)?)?"
    ),
    r"(?:that|this|it)\s+(?:has|have)(?:\s+not|n't)\s+changed(?:\s+since(?:\s+then)?)?",
    r"(?:as\s+)?(?:you|we)\s+(?:already\s+)?(?:know|said|told\s+me|mentioned|discussed)",
    r"to\s+the\s+best\s+of\s+my\s+(?:knowledge|memory|recollection)",
    r"off\s+the\s+top\s+of\s+my\s+head",
    r"if\s+memory\s+serves(?:\s+me)?(?:\s+(?:right|well|correctly))?",
    r"in\s+other\s+words|long\s+story\s+short|for\s+what\s+it(?:'s|\s+is)\s+worth",
    (
        r"that(?:'s|\s+is)\s+(?:all|everything|what)\b[^.!?\n]{0,60}?\b"
        r"(?:know|have|recall|remember|memory|notes|context)"
    ),
)
_OFFERS: Final = (
    r"(?:please\s+)?(?:let\s+me\s+know|feel\s+free|just\s+ask|tell\s+me\s+if)\b[^.!?\n]{0,160}",
    r"(?:is|was)\s+there\s+(?:anything|something)\s+(?:else|specific|more)\b[^.!?\n]{0,120}",
    (
        r"(?:would|do)\s+you\s+(?:like|want|need)\s+(?:me|any|more|to\s+(?:know|hear|see))\b"
        r"[^.!?\n]{0,120}"
    ),
    (
        r"(?:can|may|could|shall|should)\s+i\s+(?:help|assist|do|provide|clarify|explain|answer)\b"
        r"[^.!?\n]{0,120}"
    ),
    r"(?:how|what)\s+(?:else\s+)?(?:can|may|could)\s+i\s+(?:help|assist|do)\b[^.!?\n]{0,120}",
    (
        r"(?:i(?:'m|\s+am)\s+)?(?:happy|glad|here)\s+to\s+(?:help|assist|answer|clarify)\b"
        r"[^.!?\n]{0,80}"
    ),
    r"(?:i\s+)?hope\s+(?:this|that|it)\s+(?:helps?|is\s+(?:helpful|useful))\b[^.!?\n]{0,60}",
)
_LABELS: Final = (
    r"\(?(?:score|similarity|relevance|confidence)\s*[:=]?\s*[01]?\.\d+\)?",
    r"(?:memory|item|note|entry|fact|source|result)\s*(?:#|no\.?\s*)?\d{1,3}\b(?=\s*[:.)(\]-])",
)
_END: Final = r"[^。！？!?\n]{0,40}"
_UNSPACED: Final = (
    (
        r"(?:就?[据據]|根[据據]|按照)(?:我|您|你|我们|我們)?(?:所知|的)?(?:之前|先前)?(?:的)?"
        r"(?:记忆|記憶|记录|記錄|笔记|筆記|了解|资料|資料|信息|資訊)?(?:显示|顯示|来看|來看|中)?(?=[，,：:])"
    ),
    r"[据據]我(?:所知|了解)",
    r"(?:我|我们|我們)?(?:还|還)?(?:记得|記得|回忆|回憶)(?:起来|起來)?",
    r"(?:正)?如(?:之前|先前|前面|上面|您|你|我)?(?:所述|所说|所說|提到(?:的|过)?|说过的?|說過的?)",
    r"(?:之前|先前|前面|上次)(?:您|你|我|我们|我們)?(?:提到|说|說|讨论|討論)(?:过|過|的)*",
    r"(?:如果|若|如)(?:您|你)?(?:还|還)?(?:有|需要)" + _END,
    r"(?:请|請)(?:随时|隨時)?(?:告诉|告訴|联系|聯繫|问|問)" + _END,
    r"(?:希望|愿)(?:这|這|以上|能|对|對)" + _END + r"(?:帮助|幫助|有用)",
    r"(?:好的|当然|當然|没问题|沒問題|总之|總之|简而言之|以下是" + _END + r")",
    r"(?:私の)?(?:記憶|メモ|記録|情報)(?:によ(?:ると|れば)|では|にあるのは)",
    r"(?:私が)?(?:覚えて|思い出)(?:いる|す)?(?:限り(?:では)?|ところでは|のは)?",
    (
        r"(?:前述|既述)の(?:とおり|通り)|先(?:ほど|程)(?:も)?(?:お)?(?:話し|伝え|述べ)(?:した|ました)?"
        r"(?:とおり|通り)?"
    ),
    r"以前(?:に|も)?(?:お)?(?:話し|伝え|聞き)" + _END + r"(?:とおり|通り|ように)",
    r"(?:他に|ほかに)?(?:何か)?(?:ご)?(?:質問|不明な?点|必要|希望)?(?:が|など|も){0,8}"
    r"(?:あれば|ありましたら|ございましたら)" + _END,
    r"(?:お)?気軽に" + _END,
    r"(?:はい|もちろん|承知しました|わかりました|なるほど)(?=[、。，,！!])",
)
_LABELLED: Final = (
    r"\[[^\[\]\n]{0,200}\b(?:(?:un)?verified|found wrong by a check)\b[^\[\]\n]{0,200}\]",
    r"\([^()\[\]\n]{0,80}\b(?:un)?(?:verified|trusted)\b[^()\[\]\n]{0,80}\)",
    (
        r"[(\[](?:hot|cold|recalled|as recalled|long-term|working memory|from memory)"
        r"\b[^()\[\]\n]{0,60}[)\]]"
    ),
    r"\bnote:\s*\d+\s+and\s+\d+\s+contradict\s+each\s+other\b[^\n]*",
    r"\[\d{1,3}\]",
)
"""Labels of recalled texts."""
POLITE: Final = re.compile(
    rf"\b(?=[a-z(])(?:{'|'.join((*_LATIN, *_OFFERS, *_LABELS))})"
    rf"|(?=[^\x00-\x7f])(?:{'|'.join(_UNSPACED)})|{'|'.join(_LABELLED)}",
    re.IGNORECASE,
)
"""Phrases without content, whatever their words.

The lookahead rejects most positions before the alternatives are tried.
"""
REMEMBERING: Final = re.compile(
    rf"\b(?=[a-z(])(?:{'|'.join((*_LATIN, *_LABELS))})"
    rf"|(?=[^\x00-\x7f])(?:{'|'.join(_UNSPACED)})|{'|'.join(_LABELLED)}",
    re.IGNORECASE,
)
"""Phrases of remembering. Offers of help are not included: they may have content."""
UNSPACED_TURNS: Final = re.compile(
    "不再|不是|改[为為成用到]|[换換]成|[换換]到|更正|纠正|糾正|不[对對]|[错錯][误誤了]|取消|停止|[废廢][弃棄]|"
    "[过過][时時期]|而是|[变變]更|ではなく|じゃなく|代わり|間違|やめ|廃止|訂正|もう.{0,12}(?:ない|ません)"
)
"""Words that correct or end a fact in Chinese or Japanese."""
