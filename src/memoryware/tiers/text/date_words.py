"""The vocabulary of dates in English, German, Spanish and French, by kind of word.

A kind is one character, so that a sentence becomes a short string over which `dates` runs its
patterns: "three weeks before May 7" is "cubMn".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

Value = float | str
"""What a word says beside its kind: a number, an offset, or a position."""

_MONTHS: Final = (
    "january jan januar jänner jaenner enero ene janvier",
    "february feb februar feber febrero février fevrier",
    "march mar märz maerz mrz marzo mars",
    "april apr abril abr avril",
    "may mai mayo",
    "june jun juni junio juin",
    "july jul juli julio juillet",
    "august aug agosto août aout",
    "september sept sep septiembre setiembre septembre",
    "october oct oktober okt octubre octobre",
    "november nov noviembre novembre",
    "december dec dezember dez diciembre dic décembre decembre",
)
_WEEKDAYS: Final = (
    "monday montag lunes lundi",
    "tuesday dienstag martes mardi",
    "wednesday mittwoch miércoles miercoles mercredi",
    "thursday donnerstag jueves jeudi",
    "friday freitag viernes vendredi",
    "saturday samstag sonnabend sábado sabado samedi",
    "sunday sonntag domingo dimanche",
)
_SEASONS: Final = {
    3: "spring frühling frühjahr fruehling fruehjahr primavera printemps",
    6: "summer sommer verano été",
    9: "autumn fall herbst otoño otono automne",
    12: "winter invierno hiver",
}
"""By the first of their three months, north of the equator."""
_NUMBERS: Final = {
    1: "an one ein eine einem einen einer un una uno une",
    2: "two zwei dos deux couple par",
    3: "three drei tres trois few several paar unos unas pocos pocas algunos algunas quelques",
    4: "four vier cuatro quatre",
    5: "five fünf fuenf cinco cinq",
    6: "six sechs seis",
    7: "seven sieben siete",
    8: "eight acht ocho huit",
    9: "nine neun nueve neuf",
    10: "ten zehn diez dix",
    11: "eleven elf once onze",
    12: "twelve zwölf zwoelf doce douze",
}
_UNITS: Final = {
    1.0: "day days tag tage tagen tages día días dia dias jour jours",
    7.0: "week weeks woche wochen semana semanas semaine semaines",
    14.0: "fortnight fortnights",
    30.44: "month months monat monate monaten monats mes meses mois",
}
"""By their days; years and shorter units are kinds of their own."""
_RELATIVE: Final = {
    -3: "vorvorgestern",
    -2: "vorgestern anteayer antier anteanoche",
    -1: "yesterday gestern ayer anoche",
    0: "today tonight heute hoy aujourd",
    1: "tomorrow demain",
    2: "übermorgen uebermorgen",
}
_BEFORE_A_UNIT: Final = {
    -2: ("", "vorletzt vorvorig"),
    -1: ("last previous past", "letzt vorig vergangen"),
    0: ("this ce cet cette este esta", "dies"),
    1: ("next upcoming", "nächst naechst kommend"),
}
"""Words as they are, and German stems."""
_AROUND_A_UNIT: Final = {
    -2: "antepasado antepasada",
    -1: "pasado pasada pasados pasadas último última últimos últimas ultimo ultima ultimos ultimas"
    " dernier dernière derniers dernières derniere dernieres passé passée passés passées",
    1: "próximo próxima próximos próximas proximo proxima prochain prochaine prochains prochaines",
}
"""Words that stand on either side of their unit."""
_ORDINALS: Final = (
    ("first primera primer primero première premier premiere", "erst"),
    ("second segunda segundo deuxième deuxieme", "zweit"),
    ("third tercera tercer tercero troisième troisieme", "dritt"),
    ("fourth cuarta cuarto quatrième quatrieme", "viert"),
)
_PARTS: Final = (
    "early beginning start anfang principios principio comienzos inicios début debut",
    "mid middle mitte mediados mi",
    "late end ende finales fines final fin",
)
_GLUE: Final = {
    "A": "ago back earlier zurück atrás",
    "V": "vor hace",
    "b": "before antes avant",
    "a": "after nach después despues après apres",
    "S": "since seit desde depuis",
    "U": "until till bis hasta",
    "t": "to by through",
    "F": "from",
    "B": "between zwischen entre",
    "&": "and und y et",
    "f": "of de del d des du von",
    "i": "in on during im en dans während durante over",
    "I": "am at vom",
    "@": "a",
    "T": "time times mal veces fois",
    "z": "night nacht noche nuit evening morning afternoon",
    "": "the der die das den dem el la los las le les l",
}
_MORE: Final = {
    "y": "year years jahr jahre jahren jahres año años année années annee annees ans",
    "W": "weekend weekends wochenende wochenenden",
    "Q": "quarter quartal trimestre",
    "H": "half hälfte mitad",
}
_GERMAN_ENDINGS: Final = ("e", "en", "er", "es", "em")


def _forms(words: str, stems: str = "") -> list[str]:
    return words.split() + [stem + ending for stem in stems.split() for ending in _GERMAN_ENDINGS]


def _vocabulary() -> Iterator[tuple[str, tuple[str, Value]]]:
    numbered: list[tuple[str, Value, list[str]]] = [
        *(("M", number, _forms(names)) for number, names in enumerate(_MONTHS, 1)),
        *(("w", number, _forms(names)) for number, names in enumerate(_WEEKDAYS)),
        *(("s", month, _forms(names)) for month, names in _SEASONS.items()),
        *(("c", number, _forms(names)) for number, names in _NUMBERS.items()),
        *(("u", days, _forms(names)) for days, names in _UNITS.items()),
        *(("h", 1 / 24, _forms(names)) for names in ("hour hours stunde stunden hora horas",)),
        *(("h", 1 / 1440, _forms(names)) for names in ("minute minutes minuten minuto minutos",)),
        *(("r", offset, _forms(names)) for offset, names in _RELATIVE.items()),
        *(("L", offset, _forms(*names)) for offset, names in _BEFORE_A_UNIT.items()),
        *(("l", offset, _forms(names)) for offset, names in _AROUND_A_UNIT.items()),
        *(("1", number, _forms(*names)) for number, names in enumerate(_ORDINALS)),
        *(("E", third, _forms(names)) for third, names in enumerate(_PARTS)),
        *((kind, 0, _forms(names)) for kind, names in (_GLUE | _MORE).items()),
    ]
    for kind, value, words in numbered:
        for word in words:
            yield word, (kind, value)


VOCABULARY: Final[dict[str, tuple[str, Value]]] = dict(_vocabulary())
"""Kind and value of each word; an article has no kind."""

PLAIN_MONTHS: Final = frozenset(
    _forms(
        "january february july september october november december januar februar juli oktober"
        " dezember"
    )
)
"""Months that are nothing else, and no names of people."""
OTHER_WORDS: Final = frozenset({"may", "march", "mars"})
"""Months that are common words as well."""

ENGLISH: Final = frozenset(
    _forms(
        "the what when did was were is who where which how my our i you he she we they it and of"
    )
)
GERMAN: Final = frozenset(
    _forms(
        "ich wir du er es der die das den dem und ist war habe hat haben wurde wurden wer wann wo"
        " wie welche welcher welches mit für nicht passiert passierte am im vom"
    )
)
ROMANCE: Final = frozenset(
    _forms(
        "el los las qué que cuándo dónde quién cómo yo nosotros con para fue está es y del al se"
        " le les je j nous vous il elle ai est quoi où avec pour et du au une qu ce"
    )
)
"""Short words that say which language a text is in."""

_CUE_KINDS: Final = frozenset("MwsrLlAW")
_CUES: Final = (*["vor", "hace", "fin", "morgen", "mañana", "hier", "avant", "après"], "il y a")
"""Words of which one is in every time that has neither a digit nor a Chinese character."""
HAN: Final = "\u3005\u3041-\u30ff\u4e00-\u9fff"
"""Characters of Chinese and Japanese, inside of a set of a pattern."""


def _branches(words: list[str]) -> str:
    """Return a pattern for words that shares what they begin with, which is searched faster."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + _branches(rests) for first, rests in sorted(by_first.items())]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)}){'?' if '' in words else ''}"


@cache
def _cues() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of words without which no time is named; compiling takes some ms."""
    words = [word for word, (kind, _) in VOCABULARY.items() if kind in _CUE_KINDS]
    western = re.compile(r"[\s\-–—/(\[\"'’‘“„«¿¡:,.](?:\d|" + _branches([*words, *_CUES]) + r"\b)")
    return western, re.compile(
        rf"[{HAN}]\d|[年月周週昨春夏秋冬]|[今明前后後][天日年晚早夜]|[天日間间时時][之以]?前|一昨|星期|曜"
        r"|[礼禮]拜|半[天日]|最近|[过過]去|近[一二三四五六七八九十两兩几幾半]|おととい|きのう|きょう"
    )


@cache
def _any_han() -> re.Pattern[str]:
    return re.compile(f"[{HAN}]")


def may_name_time(text: str) -> bool:
    """Return whether a text has any word or figure without which it names no time.

    Most queries have none, and this is a tenth of the work.

    Args:
        text: The text, in lower case.

    Returns:
        Whether it has one.
    """
    western, han = _cues()
    if western.search(f" {text}"):
        return True
    return not text.isascii() and has_han(text) and han.search(text) is not None


def has_han(text: str) -> bool:
    """Return whether a text has Chinese or Japanese characters.

    Args:
        text: The text.

    Returns:
        Whether it has.
    """
    return _any_han().search(text) is not None
