"""Phrases that add nothing to a statement: politeness, hedges of remembering, greetings.

Each rule is closed: it names the exact words that it removes, so that nothing that tells two texts
apart is ever removed. "Let me know if you need anything else" goes, "let me know if db2 fails"
stays.
"""

from __future__ import annotations

import re
from typing import Final

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
_POLITE: Final = re.compile(
    rf"\b(?:{'|'.join((*_POLITE_EN, *_POLITE_DE))})\b[,:]?"
    rf"|{_AT_START}(?:{'|'.join(_OPENING)})|{_AT_START}(?:{'|'.join(_CLOSING)})|{_COURTESY}",
    re.IGNORECASE,
)
CHINESE: Final = re.compile("|".join(_POLITE_ZH))
"""The same in Chinese, whose characters have no blanks that words could be found by."""
_REPORTS: Final = re.compile(r"\bdass\s*\Z", re.IGNORECASE)


def without_politeness(text: str) -> tuple[str, bool, bool]:
    """Remove phrases of English and German that add nothing to a sentence.

    Args:
        text: One sentence with its end mark.

    Returns:
        The rest; whether a removed phrase makes it a clause whose German verb comes last
        ("I remember that ..."); and whether a phrase was removed from its beginning.
    """
    reports = is_cut = False
    text = text.lstrip(" \"'”’»*_`)")

    def remove(phrase: re.Match[str]) -> str:
        nonlocal reports, is_cut
        is_cut = is_cut or not phrase.string[: phrase.start()].strip()
        reports = reports or _REPORTS.search(phrase.group()) is not None
        return " "

    for _ in range(3):  # "Sure! As I said, I remember that ..."
        changed = _POLITE.sub(remove, text)
        if changed == text:
            break
        text = changed.lstrip(" ,:;\t")
    return text, reports, is_cut
