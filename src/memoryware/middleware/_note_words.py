"""Word lists of provenance: function words, words of notes, orders to remember, wishes.

They cover the languages of attacks and users that were observed. They do not detect attacks:
they set how much other evidence a line needs before a person is asked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


FUNCTION_WORDS: Final = _listed(
    # English
    "a about above after again all also am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from "
    "further had has have having he her here hers him his how i if in into is it its itself "
    "just me more most my no nor of off on once onto or other our ours out over own per same "
    "shall she should so some such than that the their theirs them then there these they this "
    "those through to too under until up upon us very via was we were what when where which "
    "while who whom whose why will with without would you your yours one two let lets please "
    "thing things get got "
    # German
    "aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim "
    "bin bis bist da damit dann das dass dein deine dem den denn der deren des dessen die "
    "dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer "
    "eines er es etwas euch euer fuer für hab habe haben hat hatte hier hin ich ihm ihn ihnen "
    "ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes kann koennen "
    "können machen man mein meine meinem meinen meiner mich mir mit nach noch nun nur ob oder "
    "ohne sehr sein seine sich sie sind so soll sollen sollte sondern und uns unser unsere "
    "unter vom von vor war waren was weil wenn wer werden wie wieder will wir wird wo wurde "
    "wurden zu zum zur zwischen über bitte gilt gelten "
    # French, Spanish, Italian, Portuguese, Dutch
    "le la les un une des du de et ou est sont dans pour par sur avec sans que qui ne pas au "
    "aux ce cet cette ces il elle ils elles nous vous je tu se son sa ses leur leurs el los "
    "las una unos unas y o es son en por para con sin que no al del se su sus lo mi mis te "
    "como gli i di da per che non si e os um uma em com het een van voor met zonder niet en "
    "op te zijn is aan dat "
)

NOTE_WORDS: Final = _listed(
    # What any note says, whoever wanted it: it proves neither that a line is a person's nor
    # that it is a stranger's.
    "user users person assistant agent note notes noted memory memories remember remembered "
    "preference preferences prefer prefers preferred like likes liked want wants wanted ask "
    "asks asked say says said tell tells told keep always never not only must need needs use "
    "uses used using when whenever make makes sure future save saved store stored update "
    "updated add added fact facts info information instruction instructions rule rules "
    "important general default nutzer benutzer nutzerin merken gemerkt notiz notizen immer "
    "nie niemals nicht kein keine muss müssen mag möchte wichtig regel regeln verwenden "
    "verwendet nutzen speichern gespeichert name names named called works work working lives "
    "live role heißt utilisateur toujours jamais usuario siempre nunca "
)

POLARITY: Final = _listed(
    "not no never always only must without except unless cannot dont don't doesn't isn't "
    "won't shouldn't mustn't can't may optional forbidden allowed nicht nie niemals immer "
    "kein keine nur muss ohne darf verboten erlaubt pas jamais toujours nunca siempre "
)
UNSPACED_POLARITY: Final = "不没没有无别勿必须禁止可以总是从不ません"
"""Characters that turn a sentence of an unspaced script."""
UNSPACED_FUNCTION: Final = re.compile(
    "[的了是在和与及我你您他她它们这那之也都就把被给到从向对为请要会能可吗呢吧啊着过个们]"
    "|[をはがにでとものやへ]|用户|记住|喜欢|需要|使用|ユーザー|です|ます|する|した"
)
"""Function words of unspaced scripts."""

_STORE: Final = (
    r"remember|memori[sz]e|sav(?:e|ing)\b|stor(?:e|ing)\b|record\b|note\b|append|persist"
    r"|write\b|add\b|put\b|keep\b|update|learn\b|retain|commit\b|correct\b"
)
_KEPT: Final = (
    r"memor(?:y|ies)|agents?\.md|claude\.md|gemini\.md|long[- ]term|notes\b|from now on"
    r"|permanent|next time"
    r"|(?:future|later|other) (?:sessions?|runs?|conversations?|reference|use)|for the future"
    r"|going forward|instructions?|preferences?|profile|knowledge|henceforth|rules?\b"
)
_READERS: Final = (
    r"assistants?\b|\bai\b|\bagents?\b|\bbots?\b|\bllms?\b|language models?|copilot|chatbots?"
    r"|whoever (?:reads|processes)"
    r"|(?:ignore|disregard|forget) (?:all |any |your |the )*(?:previous|prior|earlier|above|other)"
    r"|system (?:note|notice|message|prompt|update)"
)
# Pairs of words that make an order to remember if they are near each other, in either order.
_BAIT_PAIRS: Final = (
    (_any_of(_STORE), _any_of(_KEPT), 160),
    (_any_of(_READERS), _any_of(_STORE, _KEPT, "always", "never", "must"), 200),
)
# The same in one word, or in other languages.
_BAIT: Final = (
    _any_of(  # English, without a reader or a place
        r"remember (?:this|that|to|the|it|for)",
        r"(?:save|store|note|memori[sz]e) (?:this|that|it|the following)",
        r"do not forget",
        r"don't forget",
        r"keep in mind",
        r"for (?:your|the) records?",
    ),
    _any_of(  # German
        r"merk(?:e|en|t)?\b",
        r"speicher(?:e|n|t)?\b",
        r"notier",
        r"vermerk",
        r"ged\u00e4chtnis",
        r"ab (?:jetzt|sofort)",
        r"k\u00fcnftig",
        r"in zukunft",
        r"festhalten",
        r"eintragen",
        r"trag(?:e)? .{0,60}\bein\b",
        r"vergiss nicht",
        r"dauerhaft",
        r"ki-?(?:assistent|agent)",
        r"hinterleg",
        r"ab heute",
        r"dran denken",
    ),
    _any_of(  # French, Spanish, Italian, Portuguese, Dutch
        r"souvien",
        r"retien",
        r"enregistr",
        r"m\u00e9moris",
        r"m\u00e9moire",
        r"d\u00e9sormais",
        r"n'oublie",
        r"recuerd",
        r"guarda",
        r"memoria",
        r"a partir de ahora",
        r"anota",
        r"ricorda",
        r"salva",
        r"memorizz",
        r"d'ora in poi",
        r"lembre",
        r"salve",
        r"mem\u00f3ria",
        r"onthoud",
        r"bewaar",
        r"geheugen",
        r"voortaan",
        r"notez",
    ),
    _any_of(  # Chinese, Japanese, Korean
        r"记住",
        r"記住",
        r"记下",
        r"记到",
        r"保存",
        r"存入",
        r"存到",
        r"写入",
        r"寫入",
        r"记忆",
        r"記憶",
        r"记录",
        r"今后",
        r"以后",
        r"从现在起",
        r"从今",
        r"长期",
        r"務必",
        r"务必",
        r"助手",
        r"智能体",
        r"覚え",
        r"メモ",
        r"今後",
        r"忘れ",
        r"書き込",
        r"기억",
        r"저장",
        r"메모",
        r"앞으로",
        r"\u8a18\u9304",
        r"备忘",
    ),
    _any_of(  # Russian, Ukrainian, Polish, Turkish
        r"запомн",
        r"сохран",
        r"памят",
        r"отныне",
        r"впредь",
        r"запиши",
        r"запам'ят",
        r"зберег",
        r"zapami\u0119ta",
        r"zapisz",
        r"pami\u0119\u0107",
        r"hat\u0131rla",
        r"kaydet",
        r"haf\u0131za",
        r"bundan sonra",
    ),
    _any_of(  # Arabic, Hindi
        r"تذكر",
        r"احفظ",
        r"ذاكر",
        r"याद",
        r"सहेज",
    ),
)
_WISH: Final = _any_of(
    r"remember",
    r"memori[sz]e",
    r"\bnot(?:e|ed|ing)\b",
    r"\bsave",
    r"\bstore\b",
    r"\bkeep\b",
    r"write (?:it |that |this )?down",
    r"always",
    r"never",
    r"\bstop\b",
    r"\bimmer\b",
    r"\bnie\b",
    r"toujours",
    r"siempre",
    r"总是",
    r"不要",
    r"以后",
    r"\brecord",
    r"\badd\b",
    r"\bput\b",
    r"from now on",
    r"in (?:the )?future",
    r"don't forget",
    r"jot",
    r"log\b",
    r"update",
    r"merk",
    r"notier",
    r"speicher",
    r"schreib",
    r"halte? .{0,40}fest",
    r"vergiss",
    r"k\u00fcnftig",
    r"ab jetzt",
    r"trag",
    r"souvien",
    r"retien",
    r"note[zr]?\b",
    r"enregistr",
    r"recuerd",
    r"anota",
    r"guarda",
    r"apunta",
    r"ricorda",
    r"salva",
    r"lembre",
    r"anote",
    r"onthoud",
    r"noteer",
    r"记",
    r"記",
    r"保存",
    r"写下",
    r"写入",
    r"加到",
    r"加上",
    r"覚え",
    r"メモ",
    r"기억",
    r"메모",
    r"저장",
    r"запомн",
    r"запиши",
    r"сохран",
    r"zapami",
    r"zapisz",
    r"kaydet",
    r"not al",
)


def speaks_of_remembering(text: str) -> bool:
    """Return whether a text asks to be remembered; its lines are joined first."""
    joined = " ".join(text.split())
    return any(pattern.search(joined) for pattern in _BAIT) or any(
        _are_near(joined, *pair) for pair in _BAIT_PAIRS
    )


def _are_near(text: str, first: re.Pattern[str], second: re.Pattern[str], distance: int) -> bool:
    """Return whether matches of two patterns begin near each other, in linear time."""
    # One pattern with a gap in it would be tried from every word: ten seconds for a megabyte.
    others = [match.start() for match in second.finditer(text)]
    if not others:
        return False
    for match in first.finditer(text):
        at = bisect_left(others, match.start() - distance)
        for other in others[at : at + 2]:
            if other != match.start():
                if other <= match.end() + distance:
                    return True
                break
    return False


def asks_for_note(text: str) -> bool:
    """Return whether a person wants something noted, or done differently from now on."""
    return _WISH.search(text) is not None
