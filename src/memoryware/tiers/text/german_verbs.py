"""German verbs: the infinitive of irregular forms, and of verbs whose prefix stands apart.

"Er fing damit an" and "er hat damit angefangen" are forms of "anfangen". Everything here is about
stems as Snowball makes them of folded words, so one line of the table has the personal endings
too: "fuhr" is the stem of "fuhr" and "fuhren".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from memoryware._caching import clearable_cache
from memoryware.tiers.text.function_words import STOP_WORDS_BY_LANGUAGE
from memoryware.tiers.text.languages import GERMAN, stem_in

_VERBS: Final = """
back buk gebacken|befehl befahl befohl|beginn begann begonn|beiss biss gebiss|bieg bog gebog
biet gebot|bind band gebund|bitt bat|blas blies geblas|bleib blieb geblieb|brat briet
brech brach bricht brich gebroch|brenn brannt gebrannt|bring bracht gebracht|denk dacht gedacht
dring drang gedrung|empfehl empfahl empfiehlt empfohl|erschreck erschrak erschrock
ess ass isst gegess|fahr fuhr gefahr fahrt fahrst|fall fiel fallt gefall|fang fing fangt gefang
find fand gefund|flieg flog geflog|flieh floh gefloh|fliess floss gefloss
fress frass frisst gefress|frier fror gefror|geb gab gibt gegeb|geh ging geht gegang|geling gelang
geniess genoss|gewinn gewann gewonn|giess goss gegoss|grab grub gegrab|greif griff gegriff
halt hielt|hang hing gehang|heb hob gehob|heiss hiess geheiss|helf half hilft hilf geholf
kenn kannt gekannt|kling klang geklung|komm kam kommt gekomm|kriech kroch gekroch|lad lud gelad
lass liess lasst gelass|lauf lief lauft gelauf|leid litt gelitt|leih lieh gelieh
les las liest gelies geles|lieg lag liegt geleg|lug gelog|meid mied gemied|mess misst gemess
nehm nahm nimmt nimm genomm|nenn nannt genannt|pfeif pfiff gepfiff|rat riet|reiss riss geriss
reit ritt geritt|renn rannt gerannt|riech roch geroch|ruf rief gerief geruf|schein schien
schieb schob geschob|schiess schoss geschoss|schlaf schlief schlaft geschlaf
schlag schlug schlagt geschlag|schliess geschloss|schmeiss schmiss geschmiss
schmelz schmolz schmilzt geschmolz|schneid schnitt geschnitt|schrei schreien schrie schreit geschri
schreib schrieb schreibt geschrieb|schweig schwieg geschwieg|schwimm schwamm geschwomm
schwor geschwor|seh sah sieht sieh geseh|send sandt gesandt|sing sang gesung|sink sank gesunk
sitz sass gesess|sprech sprach spricht sprich gesproch|spring sprang gesprung
stech stach sticht gestoch|steh stand steht gestand|stehl stahl stiehlt gestohl|steig stieg gestieg
sterb starb stirbt gestorb|stink stank gestunk|stoss stiess gestoss|streich strich gestrich
streit stritt gestritt|trag trug tragt getrag|treff traf trifft triff getroff|treib trieb getrieb
tret trat tritt getret|trink trank getrunk|tun tat tut getan|verderb verdarb verdirbt verdorb
vergess vergass vergisst|verli verlor verliert|verschwind verschwand verschwund|verzeih verzieh
wachs wuchs wachst gewachs|wasch wusch wascht gewasch|weis wies gewies|werb warb wirbt geworb
werf warf wirft wirf geworf|wieg wog gewog|wiss wusst gewusst|zieh zog gezog|zwing zwang gezwung
"""
"""The stem of an infinitive, and those of its past tense, present tense and participle.

A form that is a noun as well ("Schloss", "Gehalt") is left out.
"""
_LIGHT: Final = frozenset(
    ("bring", "geb", "geh", "halt", "komm", "lass", "lieg", "nehm", "seh", "steh", "tun")
)
"""Verbs that say little on their own ("wie geht es", "ins Gespräch gebracht").

With their forms as one, German questions find less (R@10 .62 instead of .66 on 46 of them).
"""
_INFINITIVES: Final = {
    form: stem
    for stem, *forms in (verb.split() for verb in re.split(r"[|\n]", _VERBS.strip()))
    for form in (stem, *forms)
}
_APART: Final = """
ab an auf aus bei ein fern fest heim her heraus herum hin hinein hoch los mit nach rauf raus rein
rum runter statt teil um vor vorbei weg weiter wieder zu zuruck zusammen
"""
_PREFIXES: Final = frozenset(_APART.split())
"""Prefixes that stand apart in some forms."""
_BEGINS_APART: Final = re.compile(f"(?:{'|'.join(sorted(_PREFIXES, key=len, reverse=True))})(?=..)")
_BEGINS_FIXED: Final = re.compile("(?:be|ent|er|ge|miss|uber|unter|ver|wider|zer)(?=..)")
_BETWEEN: Final = re.compile("(?:zu|ge)(?=...)")
"""What stands between such a prefix and its verb: "anzufangen", "angefangen"."""
_CLAUSE_END: Final = re.compile(r"[.,;:!?()\n]| (?:und|oder) ")
_LONGEST_CLAUSE: Final = 120
"""Characters of a clause in which the verb of a prefix is looked for."""
_LONGEST_CACHED_WORD: Final = 64
_MOST_VERBS: Final = 3
_FUNCTION_WORDS: Final = STOP_WORDS_BY_LANGUAGE[GERMAN]


def verb_stem(word: str) -> str:
    """Return the stem of a German word that may be a verb: of its infinitive.

    Args:
        word: The word, folded and in lower case.

    Returns:
        The stem.
    """
    return _cached(word) if len(word) <= _LONGEST_CACHED_WORD else _verb_stem(word)


def _verb_stem(word: str) -> str:
    stem = stem_in(GERMAN, word)
    infinitive = _INFINITIVES.get(stem)
    if infinitive is not None:
        return stem if infinitive in _LIGHT else infinitive
    if apart := _BEGINS_APART.match(stem):
        rest = stem[apart.end() :]
        between = _BETWEEN.match(rest)
        verb = rest[2:] if between else rest
        if rest in _INFINITIVES or verb in _INFINITIVES:
            return apart[0] + _INFINITIVES.get(rest, _INFINITIVES.get(verb, verb))
        if between:
            return apart[0] + (_without_t(verb) if between[0] == "ge" else verb)
    fixed = _BEGINS_FIXED.match(stem)
    base = _INFINITIVES.get(stem[fixed.end() :]) if fixed else None
    return f"{fixed[0]}{base}" if fixed and base else stem


_cached: Final = clearable_cache(65_536)(_verb_stem)


def _without_t(stem: str) -> str:
    return stem.removesuffix("t")


def separated_verbs(folded: str) -> list[str]:
    """Return the stems of verbs whose prefix stands at the end of a clause: "fängt damit an".

    Which word of the clause is the verb is not known: each that can be one is taken, at most three.
    No query asks for what is no verb.

    Args:
        folded: The text, folded, with its capitals.

    Returns:
        The stems, as of the infinitive: "anfang".
    """
    stems: list[str] = []
    for clause in _CLAUSE_END.split(folded):
        before, _, last = clause.rpartition(" ")
        if last in _PREFIXES:
            verbs = islice(_verbs(before[-_LONGEST_CLAUSE:].split()), _MOST_VERBS)
            stems += [last + verb for verb in verbs]
    return stems


def _verbs(clause: list[str]) -> Iterator[str]:
    """Yield the stems of words of a clause that can be its verb."""
    for position, word in enumerate(clause):
        # A noun has a capital; so has a verb that begins a question.
        if position and not word.islower():
            continue
        lower = word.casefold()
        stem = stem_in(GERMAN, lower)
        if stem in _INFINITIVES:
            yield _INFINITIVES[stem]
        elif lower.endswith(("t", "e", "en")) and lower not in _FUNCTION_WORDS:
            yield _without_t(stem)
