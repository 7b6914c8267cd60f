"""Secrets as people say them: "my wifi password is ...", in many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from memoryware.guard import _plausible
from memoryware.guard._mentions import Mention
from memoryware.guard._values import is_digits, is_strong, said, trimmed
from memoryware.guard._words import (
    COMMON,
    FILLERS,
    CHANGES,
    IS,
    PLACES,
    TURNS,
    Sort,
    opens,
    something_else,
    sort_of,
)
from memoryware.guard.finding import Span

_WORDS: Final = re.compile(r"\S{1,260}")
_BEHIND: Final = 160
"""Characters behind a word for a secret in which the secret is looked for."""
_BEFORE: Final = 70
_MOST_WORDS: Final = 14
_STOP: Final = re.compile(r"[.!?]$")
_QUOTED: Final = re.compile(
    r"(?P<mark>[\"'`]|\*{1,2}[\"'`]?)(?P<value>(?:(?!(?P=mark))[^\n]){4,80})(?P=mark)"
)
_OWN: Final = frozenset(
    (
        "my our the his her their your wifi wi-fi router login email gmail netflix account admin"
        " root wlan network guest laptop server database db master vpn phone computer's"
    ).split()
)
_MINE: Final = frozenset("my our his her their wifi wi-fi".split())
_UNSPACED_VALUE: Final = re.compile(
    r"(?:\s{0,3}|[^\n.!?;]{0,24}?(?:คือ|是|为|為|改成|改为|改為|设为|設為|设置为|は|が|を|に|:|=|은|는|이|가|로|를|을))"
    r"\s{0,3}[\"'`]?(?P<value>[!-&(-_a-~]{4,120})"
)
_UNSPACED_BEFORE: Final = re.compile(
    r"(?P<value>[!-&(-_a-~]{5,120})[\"'`]?\s{0,3}(?:是|が|は|为|為|作为|作為|を|이|가)[^\n.!?;!-~]{0,16}$"
)
_PAIR: Final = re.compile(
    r"(?:s)?[\"'`*)]{0,3}\s{0,3}(?:\([^()\n]{0,40}\)|(?:for|to|of|on|für|fürs|zum|pour|du|de|para|per|voor|do|для|access)(?:\s[\w.-]{1,30}){1,3}|access|"
    r"(?:with|as|using|mit|avec|con|com|met))?\s{0,3}(?::|=|-|is|are|sind|sont|son|sono|są)?\s{0,3}"
    r"[\"'`]?(?:user(?:name)?\s)?(?P<user>[\w.@+-]{2,60})[\"'`]?\s{0,3}(?:/|:|\||,|\band\b|\bund\b|\bet\b|\by\b|\be\b|\ben\b)\s{0,3}(?:password\s)?[\"'`]?"
    r"(?P<value>[^\s\"'`,;]{4,80})"
)
_SEED_LINE: Final = re.compile(
    r"(?:\d{1,2}[.):]?\s{0,3})?(?P<word>[a-z]{3,8})(?:[,;]?\s{1,3}|\s{0,2}[-|]\s{0,2}|,|$)"
)
_NOT_IN_SEEDS: Final = frozenset(
    (
        "the and for are was has had but not his her our its from have been were into does did"
        " get got him she who how why than them those these would could also just because"
    ).split()
)


_TOLD_IN_WORDS: Final = (Sort.PASSWORD, Sort.SEED, Sort.LOGIN)
_DIGIT: Final = re.compile("[0-9]")


class _Word(NamedTuple):
    text: str
    low: str
    start: int
    end: int


def find(text: str, mention: Mention) -> Span | None:
    """Return the secret that a sentence tells around the word, if it does."""
    if mention.sort not in _TOLD_IN_WORDS and not _DIGIT.search(
        text, max(0, mention.start - _BEFORE), mention.end + _BEHIND
    ):
        return None
    if text[mention.end : mention.end + 2].strip() in ('",', "',"):
        return None
    if mention.unspaced:
        place = _unspaced(text, mention)
    elif mention.sort is Sort.SEED:
        place = _seed(text, mention)
    elif mention.sort is Sort.LOGIN:
        place = _pair(text, mention) or _told(text, mention, [], _words_behind(text, mention))
    else:
        before = _words(text, max(0, mention.start - _BEFORE), mention.start, last=True)
        behind = _words_behind(text, mention)
        if behind and something_else(behind[0].low.rstrip(".:!?")):
            return None
        place = _told(text, mention, before, behind)
    return (mention.sort.value, *place) if place is not None else None


def _words_behind(text: str, mention: Mention) -> list[_Word]:
    behind = _words(text, mention.end, mention.end + _BEHIND)
    joins = text[mention.end : mention.end + 1]
    if behind and joins not in " \t\n:" and not text.startswith("'s ", mention.end):
        del behind[0]
    return behind


def _words(text: str, start: int, end: int, *, last: bool = False) -> list[_Word]:
    """Return the words between two places, of the first line there or of the last one."""
    piece = text[start:end]
    if last:
        line = piece.rfind("\n") + 1
        if not line and start and not text[start - 1].isspace():
            line = len(piece.split(maxsplit=1)[0]) if piece.strip() else 0
        start += line
    else:
        cut = piece.find("\n", 4)
        rest = _WORDS.match(text, end) if cut < 0 else None
        end = start + cut if cut >= 0 else rest.end() if rest else min(end, len(text))
    return [
        _Word(one.group(), one.group().lower().strip("\"'`,*_()[]"), *one.span())
        for one in islice(_WORDS.finditer(text, start, end), _MOST_WORDS)
    ]


def _told(
    text: str, mention: Mention, before: list[_Word], behind: list[_Word]
) -> tuple[int, int] | None:
    if mention.sort is Sort.PASSWORD:
        return _password(text, mention, before, behind)
    if mention.sort is Sort.OPENER:
        short = text[mention.start : mention.end].lower() == "lock"
        named = before and _bare(before[-1].low) in PLACES
        return _opened(text, behind) if named or not short else None
    if mention.sort in (Sort.PIN, Sort.CODE, Sort.CARD):
        return _number(text, mention, before, behind)
    return _token(text, mention, before, behind)


def _after_is(behind: list[_Word], *, changed: bool = False) -> Iterator[int]:
    """Return the places of the words behind each "is" of the sentence.

    Args:
        behind: The words behind the one for a secret.
        changed: Whether "to" is as good as "is".
    """
    for place, word in enumerate(behind):
        if word.low in IS or (changed and word.low in TURNS) or word.text.endswith(":"):
            following = place + 1
            while following < len(behind) and behind[following].low in FILLERS:
                following += 1
            if following < len(behind):
                yield following
        elif _STOP.search(word.text) and place > 0:
            return


def _password(
    text: str, mention: Mention, before: list[_Word], behind: list[_Word]
) -> tuple[int, int] | None:
    short = text[mention.start : mention.end].lower() == "pass"
    if not mention.last or (short and not (before and before[-1].low in _MINE)):
        return None
    changed = any(one.low.startswith(CHANGES) for one in [*before[-4:], *behind[:8]])
    beside = [at for at, one in enumerate(behind[:6]) if one.text[0] == "(" and at]
    for place in [*_after_is(behind, changed=changed), *beside]:
        found = _candidate(text, behind, place)
        if found is not None:
            return found
        if place and behind[place - 1].low in ("is", "was", "is:", "are") and before:
            found = _dictionary_word(text, before, behind, place)
            if found is not None:
                return found
    if behind and not text[mention.start].isascii():
        # a language in which nothing joins the word and the password
        found = _last_word(text, behind)
        if found is not None:
            return found
    if len(behind) > 1 and len(behind[0].low) <= 4 and _foreign(text, mention):
        found = _candidate(text, behind, 1)
        if found is not None and _certain(text, *found):
            return found
    if behind and mention.last:
        found = _candidate(text, behind, 0)
        if found is not None and _certain(text, *found):
            return found
    return _phrase(text, mention, before, behind) or _earlier(text, before, mention.sort)


def _foreign(text: str, mention: Mention) -> bool:
    word = text[mention.start : mention.end].lower()
    return not word.startswith(("pass", "pwd", "pw")) or word.startswith("passo")


def _last_word(text: str, behind: list[_Word]) -> tuple[int, int] | None:
    found = _candidate(text, behind, min(len(behind), 5) - 1)
    return found if found is not None and len(behind) < 6 and _certain(text, *found) else None


def _candidate(text: str, words: list[_Word], place: int) -> tuple[int, int] | None:
    word = words[place]
    quoted = _QUOTED.match(text, word.start)
    if quoted is not None and text[word.start] in "\"'`*":
        value = quoted["value"]
        plain = _plausible.stands_in(value) or value.lower() in COMMON or sort_of(value) is not None
        spaced = len(value.split())
        if not plain and spaced <= (1 if quoted["mark"][0] == "*" else 8) and not _plausible.is_address(value):
            return quoted.span("value")
    start, end = trimmed(text, word.start, word.end)
    following = words[place + 1].low if place + 1 < len(words) else ""
    return (start, end) if said(text[start:end], following) else None


def _dictionary_word(
    text: str, before: list[_Word], behind: list[_Word], place: int
) -> tuple[int, int] | None:
    """Return a plain word that ends the sentence "my password is ..." and describes nothing."""
    word = behind[place]
    final = place == len(behind) - 1 or _STOP.search(word.text) is not None
    if not final or not any(one.low in _OWN for one in before[-3:]):
        return None
    start, end = trimmed(text, word.start, word.end)
    value = text[start:end]
    describes = (
        not (value.isascii() and value.isalpha() and value.islower())
        or len(value) < 6
        or value in COMMON
        or value in FILLERS
        or value.endswith(("ed", "ing", "able", "ible", "ly", "ful", "less", "ous", "ive", "ory"))
        or sort_of(value) is not None
    )
    return None if describes else (start, end)


def _phrase(
    text: str, mention: Mention, before: list[_Word], behind: list[_Word]
) -> tuple[int, int] | None:
    """Return the words of "my passphrase is ..." up to the end of the line, if they say nothing."""
    phrase = text[mention.start : mention.end].lower() == "passphrase"
    for place in _after_is(behind):
        words = behind[place:]
        good = (
            4 <= len(words) <= 8
            and all(_PHRASED.match(one.text) for one in words)
            and not any(one.low in _JOINING for one in words)
            and sum(one.low.rstrip(".") in COMMON for one in words) <= phrase
            and text[words[-1].end : words[-1].end + 1] in ("", "\n")
            and any(one.low in _OWN for one in before[-3:])
        )
        if good:
            return trimmed(text, words[0].start, words[-1].end)
    return None


_PHRASED: Final = re.compile(r"^[a-z]{3,12}[.]?$")
_JOINING: Final = _NOT_IN_SEEDS | {"that", "with", "use", "used", "one", "you", "your", "not", "may"}


def _certain(text: str, start: int, end: int) -> bool:
    """Say whether a word right behind "password" is one, without anything between."""
    value = text[start:end]
    if text[start - 1] in "\"'`" and is_strong(value):
        return True
    kinds = sum(
        any(map(test, value))
        for test in (str.isdigit, str.islower, str.isupper, lambda one: not one.isalnum())
    )
    return len(value) >= 6 and kinds >= 2 and any(map(str.isdigit, value)) and not value.isdigit()


def _earlier(text: str, before: list[_Word], sort: Sort) -> tuple[int, int] | None:
    """Return the value of "... is my password" and "use ... as the password"."""
    for place in range(len(before) - 1, max(0, len(before) - 6), -1):
        low = before[place].low
        if before[place].text[0] == "(" and place > len(before) - 4:
            return _judged_earlier(text, before[place - 1], sort)
        if _STOP.search(before[place].text):
            return None
        if low in _REVERSED:
            return _judged_earlier(text, before[place - 1], sort)
    return None


def _judged_earlier(text: str, word: _Word, sort: Sort) -> tuple[int, int] | None:
    start, end = trimmed(text, word.start, word.end)
    value = text[start:end]
    if sort is Sort.PASSWORD:
        good = said(value, "") and not value.isdigit()
    else:
        good = _plausible.looks_random(value, 20)
    return (start, end) if good else None


_REVERSED: Final = frozenset(
    "is as ist als est comme es como è come é jest to jako это как är som er = - for für pour".split()
)


def _number(
    text: str, mention: Mention, before: list[_Word], behind: list[_Word]
) -> tuple[int, int] | None:
    """Return a PIN, or a code where something is said that it opens."""
    word = text[mention.start : mention.end].lower()
    place_named = any(_bare(one.low) in PLACES for one in before[-4:])
    place_named = place_named or any(one in word for one in ("tür", "zugang", "toegang", "adgang", "key"))
    places = [*_after_is(behind)]
    places += [at + 1 for at, one in enumerate(behind[:6]) if one.low in PLACES]
    if mention.sort is Sort.PIN or place_named:
        places.append(0)
    for place in places:
        if place >= len(behind):
            continue
        named = place_named or any(_bare(one.low) in PLACES for one in behind[:place])
        if mention.sort is Sort.CODE and not named:
            continue
        match = _DIGITS.match(text, behind[place].start)
        if match is None:
            continue
        least = 3 if named or mention.sort is Sort.CARD else 4
        following = text[match.end() : match.end() + 20].split()
        if is_digits(match["value"], least, 12) or (
            named and any(map(str.isdigit, match["value"]))
        ):
            if not (following and _COUNTS.match(following[0])):
                return match.start("value"), _further(text, match.end())
    return None


def _opened(text: str, behind: list[_Word]) -> tuple[int, int] | None:
    """Return what something is opened with: "unlocks with 4711", "keypad: 4711"."""
    for place, word in enumerate(behind[:8]):
        joins = word.low in _WITH or word.text.endswith((":", ","))
        if joins and place + 1 < len(behind):
            match = _DIGITS.match(text, behind[place + 1].start)
            if match is not None and is_digits(match["value"]):
                return match.span("value")
            found = _candidate(text, behind, place + 1)
            named = found is None or "=" in text[slice(*found)] or word.text.endswith(",")
            if found is not None and not named and _certain(text, *found):
                return found
    return None


_WITH: Final = frozenset("with by using use type typing enter press dial is code mit avec con com : -".split())


def _bare(low: str) -> str:
    return low.rstrip(".:").removesuffix("'s")


def _further(text: str, end: int) -> int:
    """Return the end of a list of such codes."""
    for _ in range(20):
        more = _NEXT_CODE.match(text, end)
        if more is None:
            break
        end = more.end()
    return end


_NEXT_CODE: Final = re.compile(r"(?:[,;]\s{0,3}|\s{1,3})(?:\d{4,10}|[a-z0-9]{4,6}-[a-z0-9]{4,6})(?![\w:/.])")
_DIGITS: Final = re.compile(
    r"[\"'`*(]{0,3}(?P<value>[#*]?(?:\d[\d]{2,11}|\d{1,4}(?:[- .]\d{1,4}){1,5}|[A-ZА-Я0-9]{3,10}|[a-z0-9]{4,6}-[a-z0-9]{4,6})[#*]?)(?![\w/:%]|\.\d)"
)
_COUNTS: Final = re.compile(r"(?i)^(?:digit|char|times|day|hour|min|sec|people|line|page|%|stell|ziffer)")


def _token(
    text: str, mention: Mention, before: list[_Word], behind: list[_Word]
) -> tuple[int, int] | None:
    """Return a random value in the same sentence as the word for a token or a key."""
    opening = mention.sort is not Sort.KEY or _opening(before, behind)
    for place, word in enumerate(behind if opening else behind[:2]):
        if place and _HASHES.search(_NO_LETTER.sub("", word.low)):
            return None
        start, end = trimmed(text, word.start, word.end)
        value = text[start:end]
        joined = place > 0 and (
            behind[place - 1].low in _TOLD or (opening and behind[place - 1].text.endswith(":"))
        )
        if (joined or (opening and place < 2)) and _plausible.is_uuid(value):
            return start, end
        near = joined or (opening and (place < 2 or not _plausible.is_hex(value)))
        if near and _plausible.looks_random(value, 16):
            return start, end
        if joined and mention.sort is Sort.SECRET and is_strong(value) and len(value) >= 8:
            if any(map(str.isdigit, value)):
                return start, end
        if _STOP.search(word.text) and place > 1:
            return None
    return _earlier(text, before, mention.sort) if opening else None


_NO_LETTER: Final = re.compile(r"[^\w]")
_TOLD: Final = IS - {"="} | {"is:", "now", "jetzt"}
_HASHES: Final = re.compile(
    r"^(?:commit|hash|sha\d*|md5|checksum|digest|revision|rev|etag|fingerprint|uuid|guid|id|build|"
    r"version|public|file|path|blob|image|prüfsumme)$"
)


def _opening(before: list[_Word], behind: list[_Word]) -> bool:
    """Say whether a bare "key" is one that opens something: "Datadog key", "the key for the API"."""
    named = any(opens(one.low) or one.low in ("my", "our") for one in before[-2:])
    return named or any(one.low.rstrip(".:") in ("api", "service", "app") for one in behind[:5])


def _pair(text: str, mention: Mention) -> tuple[int, int] | None:
    """Return the second half of "login: user / password"."""
    match = _PAIR.match(text, mention.end)
    if match is None:
        return None
    start, end = trimmed(text, *match.span("value"))
    value = text[start:end]
    return (start, end) if is_strong(value) and said(value, "") else None


def _unspaced(text: str, mention: Mention) -> tuple[int, int] | None:
    for match in (
        _UNSPACED_VALUE.match(text, mention.end),
        _UNSPACED_BEFORE.search(text, max(0, mention.start - _BEFORE), mention.start),
    ):
        if match is None:
            continue
        start, end = trimmed(text, *match.span("value"))
        value = text[start:end]
        if mention.sort is Sort.PASSWORD:
            good = said(value, "")
        else:
            good = _plausible.looks_random(value, 16)
        if good:
            return start, end
    return None


def _seed(text: str, mention: Mention) -> tuple[int, int] | None:
    """Return twelve or more short words in a row, none of which joins sentences."""
    for begin in range(mention.end, min(len(text), mention.end + 80)):
        if begin > mention.end and not (text[begin - 1].isspace() or text[begin - 1] in "\"'`:="):
            continue
        at, words, first = begin, 0, None
        while words < 48 and (match := _SEED_LINE.match(text, at)):
            if match["word"] in _NOT_IN_SEEDS:
                break
            first = match.start("word") if first is None else first
            at, words, end = match.end(), words + 1, match.end("word")
        if words >= 12 and first is not None:
            return first, end
    return None
