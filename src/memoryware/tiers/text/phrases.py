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

# Politeness: phrases that add nothing to a statement, hedges of remembering, greetings.
#
# Each rule is closed: it names the exact words that it removes, so that nothing that tells two
# texts apart is ever removed. "Let me know if you need anything else" goes, "let me know if db2
# fails" stays.

_AT_START: Final = r"(?:^|(?<=[.!?,;:\n。，]))\s*"
_POLITE_EN: Final = (
    (
        r"(?:as\s+)?(?:far|best)\s+as\s+i\s+(?:know|can\s+tell|can\s+(?:remember|recall)|remember|recall"
        r"|am\s+aware)(?:,?\s+from\s+(?:my\s+)?memory)?"
    ),
    r"to\s+(?:the\s+best\s+of\s+)?my\s+(?:best\s+)?(?:knowledge|memory|recollection)",
    (
        r"(?:if|unless)\s+(?:i\s+(?:remember|recall)(?:\s+(?:it|this|that))?(?:\s+(?:correctly|right|rightly"
        r"|well|properly))?|i\s+am\s+(?:not\s+)?(?:mistaken|wrong)|(?:my\s+)?memory\s+serves(?:\s+me)?"
        r"(?:\s+(?:right|well|correctly))?)"
    ),
    (
        r"(?:(?<!free )(?<!deleted )(?<!read )(?<!loaded )from\s+my\s+memory|,\s?from\s+memory)"
        r"(?=\s*(?:[,.:;!]|$))"
    ),
    (
        r"(?:as|like)\s+(?:i|you|we)\s+(?:have\s+)?(?:already\s+)?(?:said|mentioned|told\s+(?:me|you|us)"
        r"|discussed|noted|know|recall|remember)(?:\s+(?:before|earlier|already|previously))?"
    ),
    (
        r"as\s+(?:already\s+)?(?:mentioned|discussed|noted|stated|said)(?:\s+(?:before|earlier|above"
        r"|already|previously))?"
    ),
    (
        r"(?:according\s+to|based\s+on|going\s+by)\s+(?:my|our|your|the)\s+(?:saved\s+|earlier\s+|stored\s+)?"
        r"(?:notes?|memory|memories|records?|recollection)"
    ),
    r"(?:based\s+on|from)\s+what\s+i\s+(?:know|remember|recall|have\s+(?:in\s+memory|noted))",
    r"(?:off|from)\s+the\s+top\s+of\s+my\s+head",
    r"\b(?:afaik|afair|iirc|fyi|btw)\b",
)
_POLITE_DE: Final = (
    (
        r"so(?:weit|viel)\s+(?:ich|wir)\s+(?:es\s+|das\s+)?(?:noch\s+)?(?:wei(?:ß|ss)|wissen"
        r"|(?:mich|uns)\s+(?:noch\s+)?(?:daran\s+)?erinner(?:e|n)(?:\s+k(?:ann|önnen))?|informiert\s+bin|sehe)"
    ),
    (
        r"(?:meines\s+wissens(?:\s+nach)?|nach\s+meine[mr]\s+(?:kenntnisstand|wissen|erinnerung)"
        r"|meiner\s+erinnerung\s+nach)"
    ),
    (
        r"(?:wenn|falls|sofern)\s+(?:ich\s+)?(?:mich\s+)?(?:ich\s+)?(?:(?:recht|richtig)\s+(?:erinnere|entsinne)"
        r"|nicht\s+(?:alles\s+)?täusch(?:e|t)|erinnere)"
    ),
    (
        r"(?:laut|gemäß)\s+(?:meine[nrm]|unsere[nrm]|de[nrm])\s+(?:gespeicherten\s+)?(?:notizen?"
        r"|aufzeichnungen|erinnerung|gedächtnis)"
    ),
    r"wie\s+(?:bereits\s+|schon\s+|vorhin\s+)?(?:gesagt|erwähnt|besprochen|notiert)",
    r"wie\s+(?:du|sie|ich|wir)\s+(?:bereits\s+|schon\s+)?(?:gesagt|erwähnt)\s+(?:hast|haben|habe)",
    r"aus\s+de[mr]\s+(?:gedächtnis|erinnerung)(?=\s*(?:[,.:;!]|$))",
)
_OPENING: Final = (
    r"from\s+memory\s*[:,]",
    r"(?:i|we)\s+(?:still\s+|do\s+)?(?:remember|recall)(?:\s*:|\s+that\b|(?=\s+(?:the|our|we|it)\b))",
    (
        r"(?:my|our|the)\s+(?:notes?|memory|memories|records?)\s+(?:says?|tells?\s+me|shows?|states?)"
        r"(?:\s*:|\s+that\b)"
    ),
    (
        r"(?:please\s+)?(?:also\s+)?(?:note|remember|recall|keep\s+in\s+mind|bear\s+in\s+mind|be\s+aware)"
        r"(?:\s*:|\s+that\b)"
    ),
    r"(?:what\s+i\s+(?:know|remember)\s+is)(?:\s*:|\s+that\b)",
    (
        r"(?:just\s+)?(?:to\s+confirm|a\s+reminder|as\s+a\s+reminder|for\s+the\s+record|by\s+the\s+way"
        r"|for\s+your\s+information|to\s+sum\s+up|in\s+short|in\s+summary|to\s+summari[sz]e|reminder|summary"
        r"|quick\s+(?:note|reminder)|note)(?:\s*[:,]|\s+that\b)"
    ),
    (
        r"(?:here\s+is|this\s+is)\s+(?:what|all|everything)\s+i\s+(?:know|remember|recall|have)"
        r"(?:\s+so\s+far|\s+in\s+memory)?\s*:"
    ),
    (
        r"(?:sure|of\s+course|certainly|ok|okay|hi|hello|hey|thanks|thank\s+you(?:\s+very\s+much)?|great"
        r"(?:\s+question)?|good\s+question)\s*[,!.:]+"
    ),
    (
        r"(?:ich|wir)\s+(?:erinnere\s+mich|erinnern\s+uns|weiß\s+noch|entsinne\s+mich)(?:\s+daran)?\s*"
        r"(?::|,?\s*dass\b)"
    ),
    r"(?:bitte\s+)?(?:beachten?\s+sie|beachte[nt]?|denk(?:e|t)?\s+daran|merke?(?:\s+dir)?)\s*(?::|,?\s*dass\b)",
    (
        r"(?:nur\s+)?(?:zur\s+(?:erinnerung|info(?:rmation)?)|hinweis|übrigens|kurz\s+gesagt|zusammengefasst"
        r"|kurze\s+erinnerung)\s*[:,]?"
    ),
    r"(?:in\s+)?meine[n]?\s+notizen\s+(?:steht|sagen|besagen)\s*(?::|,?\s*dass\b)",
    r"(?:klar|natürlich|gerne|hallo|danke(?:\s+schön)?|alles\s+klar)\s*[,!.:]+",
)
_CLOSING: Final = (
    (
        r"(?:please\s+)?let\s+me\s+know\s+(?:if|when|whether)\s+you\s+(?:need|have|want)\s+(?:anything|something"
        r"|any|more|further|other|to\s+know)(?:\s+(?:else|more|other|further|questions?|help|details?"
        r"|information))*(?=\s*(?:[.!]|$))"
    ),
    r"(?:i\s+)?hope\s+(?:this|that|it)\s+helps(?=\s*(?:[.!]|$))",
    (
        r"(?:feel\s+free\s+to\s+ask|just\s+ask)(?:\s+(?:if\s+you\s+have\s+)?(?:any\s+|more\s+|further\s+)*"
        r"questions?)?(?=\s*(?:[.!]|$))"
    ),
    r"(?:is\s+there\s+)?anything\s+else(?:\s+(?:you\s+need|i\s+can\s+(?:do|help\s+(?:you\s+)?with)))?\s*\?",
    r"(?:thanks|thank\s+you)(?:\s+(?:very\s+much|a\s+lot|in\s+advance))?(?=\s*(?:[.!]|$))",
    r"(?:vielen\s+dank|danke(?:\s+schön)?)(?:\s+im\s+voraus)?(?=\s*(?:[.!]|$))",
    r"(?:sag|sagen\s+sie|gib|geben\s+sie)\s+(?:mir\s+)?(?:gern\s+|gerne\s+|bitte\s+)?bescheid(?=\s*(?:[.!]|$))",
    r"ich\s+hoffe,?\s+(?:das|es)\s+hilft(?:\s+(?:dir|ihnen|weiter))?(?=\s*(?:[.!]|$))",
)
_POLITE_ZH: Final = (
    r"(?:就|据)我(?:所知|了解|所记得)(?:的)?",
    r"(?:我|我们)(?:还|仍)?记得(?:的是)?[：:，,]?",
    r"如果(?:我)?(?:没有|没)(?:记错|弄错|搞错)(?:的话)?",
    r"(?:如果)?我没(?:有)?记错(?:的话)?",
    r"(?:正)?如(?:之前|前面|前文|上文|前|上|您|你|我)(?:所)?(?:述|说|提到|提及)(?:的|过)?(?:那样)?",
    r"(?:根据|按照|按)(?:我|我们|你)?的?(?:记忆|笔记|记录)",
    r"请(?:注意|记住|留意)[：:，,]?",
    r"(?:^|(?<=[。，！\n]))(?:注意|提醒|备注)[：:]",
    r"顺便(?:说一下|提一下|一提|说)",
    r"提醒(?:一下|大家|你|您)[：:，,]?",
    r"(?:好的|当然|没问题|总之|你好|您好)(?=[，,。！!])",
    r"(?:非常)?(?:谢谢|感谢)(?:你|您|大家)?(?=[，,。！!]|\s*$)",
    r"希望(?:这|以上)?(?:对你|对您)?(?:有|能)?(?:所)?帮助",
    r"如(?:果)?(?:还)?有(?:其他|任何|更多)?(?:问题|疑问|需要)[，,]?请?(?:随时)?(?:告诉我|联系我|问我)",
    r"麻烦(?:你|您)?(?!的)",
    r"(?<![申邀聘宴敬])请(?!求|假|客|教|示|柬|帖|愿|款|购)",
)
_COURTESY: Final = r"\b(?:please|kindly|bitte)\b"
SENTENCE_POLITENESS: Final = re.compile(
    rf"\b(?:{'|'.join((*_POLITE_EN, *_POLITE_DE))})\b[,:]?"
    rf"|{_AT_START}(?:{'|'.join(_OPENING)})|{_AT_START}(?:{'|'.join(_CLOSING)})|{_COURTESY}",
    re.IGNORECASE,
)
CHINESE_POLITENESS: Final = re.compile("|".join(_POLITE_ZH))
"""The same in Chinese, whose characters have no blanks that words could be found by."""

# Words of two sentences that are one frame but for what fills a place.


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


BEFORE_FILLER: Final = _word_set("""
on in at by from to within until till per every is are = um am im bei von zu bis ab ist sind jeden
jede jedes
""")
REQUIRED: Final = _word_set("""
required needed necessary mandatory pinned installed erforderlich nötig notwendig benötigt
vorgeschrieben installiert
""")
FRAME_VERBS: Final = _word_set("""
be is are was were has have had does do must may can will should ist sind war hat haben muss kann
darf soll 是 在 有
""")
OF_MANY: Final = _word_set("""
like likes love loves enjoy enjoys has have had sell sells offer offers include includes contain
contains serve serves mag mögen liebt lieben hat haben verkauft bietet enthält 欢 有 卖
""")
"""Verbs that may have many objects at once."""
ADDING: Final = _word_set("also too additionally auch ebenfalls außerdem zusätzlich 也 还")
DATED: Final = _word_set("today tomorrow yesterday heute gestern 今 明 昨")
FRAME_PREPOSITIONS: Final = _word_set("""
on in at by for from to with within during since till until via every
am im an auf für von zu mit in seit bis bei
""")
HOLDING: Final = _word_set("""
leads lead owns own heads head chairs chair manages manage leitet besitzt führt verantwortet
""")
OWNED: Final = _word_set("our my your unser unsere unseren unserer mein meine")
SEVERAL: Final = _word_set("""
and or also too together another other und oder auch ebenfalls zusammen 和 与 也 还
""")
NOTING: Final = _word_set("""
noted note update updated correction corrected fyi info news hinweis korrektur notiz neu
aktualisiert
""")
NOW: Final = _word_set("now meanwhile jetzt nun inzwischen mittlerweile")
CORRECTING: Final = _word_set("not instead rather formerly previously nicht statt anstatt früher")
