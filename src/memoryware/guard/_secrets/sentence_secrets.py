"""Secrets as people say them, in many languages: "my wifi password is ...".

Passwords, numbers that are typed in, random values, the words that restore a wallet, and scripts
that put no blanks between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memoryware.guard._secrets.lexicon import (
    CHANGES,
    COMMON,
    DESCRIBES,
    FILLERS,
    IS,
    JOINING,
    KEYED,
    PLACES,
    SMALL_WORDS,
    SOMETHING_ELSE,
    TURNS,
    listed,
)
from memoryware.guard._secrets.secret_values import (
    MANY_WORDS,
    Sort,
    announces,
    further,
    has_digit,
    is_address,
    is_digits,
    is_hex,
    is_joined_phrase,
    is_ordinary,
    is_phrase,
    is_stated_secret,
    is_strong,
    is_uuid,
    looks_random,
    stands_in,
    trimmed,
)
from memoryware.guard._secrets.text_scan import DetectedSpan, Mention, ScannedWord, TextScan

Place = tuple[int, int]
"""Where a secret begins and ends."""
_NEAR_BEHIND: Final = 160
"""Characters behind a word for a secret in which the secret is looked for."""
_NEAR_BEFORE: Final = 70
_WORD: Final = re.compile(r"\S{1,260}")


@dataclass(frozen=True, slots=True)
class SecretMention:
    """A word for a secret and the words around it in its line.

    Attributes:
        scan: The scan of the whole text.
        mention: The word for a secret.
        before: The words before it.
        behind: The words behind it; of the next line, where it is the heading of that.
        attached: Whether a sign other than a comma stands between it and the words behind it.
    """

    scan: TextScan
    mention: Mention
    before: list[ScannedWord]
    behind: list[ScannedWord]
    attached: bool

    @classmethod
    def around(cls, scan: TextScan, mention: Mention) -> SecretMention:
        """Return the sentence around a word."""
        text = scan.text
        before, behind = _before(scan, mention.start), _behind(scan, mention.end)
        comma = text.startswith(",", mention.end)
        attached = _is_attached(text, mention.end) and not comma
        return cls(scan, mention, before, behind, attached)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.scan.text

    @property
    def word(self) -> str:
        """The word for a secret, in lower case."""
        return self.text[self.mention.start : self.mention.end].lower()

    def value(self, word: ScannedWord) -> tuple[str, Place]:
        """Return a word without punctuation, and its place."""
        start, end = trimmed(self.text, word.start, word.end)
        return self.text[start:end], (start, end)

    def after_is(self, *, changed: bool = False) -> Iterator[int]:
        """Return the numbers of the words behind each "is".

        Args:
            changed: Whether "to" is as good as "is".
        """
        for number, word in enumerate(self.behind):
            if word.low in IS or word.text.endswith(":") or (changed and word.low in TURNS):
                following = number + 1
                while following < len(self.behind) and self.behind[following].low in FILLERS:
                    following += 1
                if following < len(self.behind):
                    yield following
            elif word.stops and number:
                return


def _before(scan: TextScan, at: int) -> list[ScannedWord]:
    text = scan.text
    start = max(0, at - _NEAR_BEFORE)
    line = text.rfind("\n", start, at) + 1
    if line:
        start = line
    elif start and not text[start - 1].isspace():
        cut_off = _WORD.match(text, start, at)  # the rest of a word says nothing
        start = cut_off.end() if cut_off else start
    return scan.words(start, at)


def _behind(scan: TextScan, at: int) -> list[ScannedWord]:
    text = scan.text
    end = min(len(text), at + _NEAR_BEHIND)
    line = text.find("\n", at, end)
    if line >= 0 and text[at:line].strip() == ":":
        line = text.find("\n", line + 1, end)  # the word is a heading of the next line
    if line >= 0:
        end = line
    elif rest := _WORD.match(text, end):
        end = rest.end()
    words = scan.words(at, end)
    return words[1:] if _is_attached(text, at) else words


def _is_attached(text: str, at: int) -> bool:
    """Return whether something other than a blank follows the word for a secret."""
    return text[at : at + 1] not in (" ", "\t", "\n", ":", "") and not text.startswith("'s ", at)


# What a sentence tells.

_STEPS: Final = 25
"""What it costs to read the sentence around a word."""
_DIGIT: Final = re.compile("[0-9]")
_WITHOUT_DIGITS: Final = (Sort.PASSWORD, Sort.SEED, Sort.LOGIN)
"""What may be a secret without a digit."""
_PAIR: Final = re.compile(
    r"""
    s?["'`*)]{0,3}\s{0,3}
    (?: \([^()\n]{0,40}\)
      | (?:for|to|of|on|für|fürs|zum|pour|du|de|para|per|voor|do|для|access)(?:\s[\w.-]{1,30}){1,3}
      | access | with | as | using | mit | avec | con | com | met
    )? \s{0,3}
    (?:: | = | - | is | are | sind | sont | son | sono | są)? \s{0,3}
    ["'`]? (?:user(?:name)?\s)? [\w.@+-]{2,60} ["'`]? \s{0,3}
    (?:/ | : | \| | , | \b(?:and|und|et|y|e|en)\b) \s{0,3}
    (?:password\s)? ["'`]? (?P<value>[^\s"'`,;]{4,80})
    """,
    re.VERBOSE,
)
_NO_SECRET: Final = re.compile(
    r"commit|hash|sha\d*|md5|checksum|digest|revision|rev|etag|fingerprint|uuid|guid|id|build|"
    r"version|public|file|path|blob|image|prüfsumme"
)
"""What the random value is that stands behind it."""
_LISTED: Final = re.compile("[\"'`]{1,2},")
_NO_LETTER: Final = re.compile(r"\W")
_TOLD: Final = IS - {"="} | {"is:", "now", "jetzt"}
_OPENED: Final = frozenset(listed("api service app"))


def find_in_sentence(scan: TextScan, mention: Mention) -> DetectedSpan | None:
    """Return the secret that a sentence tells around the word, if it does."""
    text = scan.text
    start, end = max(0, mention.start - _NEAR_BEFORE), mention.end + _NEAR_BEHIND
    if mention.sort not in _WITHOUT_DIGITS and not _DIGIT.search(text, start, end):
        return None
    if _LISTED.match(text, mention.end):
        return None  # one of a list of names
    if not scan.afford(mention.start, _STEPS):
        return None
    if mention.unspaced:
        span = _find_unspaced(text, mention)
    elif mention.sort is Sort.SEED:
        span = _find_seed_phrase(text, mention)
    elif mention.sort is Sort.LOGIN:
        span = _pair(text, mention) or _token(SecretMention.around(scan, mention))
    else:
        span = _secret_in(SecretMention.around(scan, mention))
    return (mention.sort.value, *span) if span is not None else None


def _secret_in(sentence: SecretMention) -> Place | None:
    if sentence.behind and sentence.behind[0].bare in SOMETHING_ELSE:
        return None
    sort = sentence.mention.sort
    if sort is Sort.PASSWORD:
        return _find_password(sentence)
    if sort is Sort.OPENER:
        return _find_opener(sentence)
    if sort in (Sort.PIN, Sort.CODE, Sort.CARD):
        return _find_code(sentence)
    return _token(sentence)


def _token(sentence: SecretMention) -> Place | None:
    """Return a random value in the same sentence as the word for a token or a key."""
    opening = sentence.mention.sort is not Sort.KEY or _opening(sentence)
    words = sentence.behind if opening else sentence.behind[:2]
    for number, word in enumerate(words):
        if number and _NO_SECRET.fullmatch(_NO_LETTER.sub("", word.low)):
            return None
        last = words[number - 1] if number else word
        joined = number > 0 and (last.low in _TOLD or (opening and last.text.endswith(":")))
        value, span = sentence.value(word)
        near = joined or (opening and number < 2)
        if near and is_uuid(value):
            return span
        judged = near or (opening and not is_hex(value))
        if judged and sentence.scan.is_random(value, 16, span[0]):
            return span
        short = joined and sentence.mention.sort is Sort.SECRET and len(value) >= 8
        if short and has_digit(value) and is_strong(value):
            return span
        if word.stops and number > 1:
            return None
    return _value_before(sentence) if opening else None


def _opening(sentence: SecretMention) -> bool:
    """Return whether a bare "key" opens something: "Datadog key", "the key for the API"."""
    named = any(word.low in KEYED or word.low in ("my", "our") for word in sentence.before[-2:])
    return named or any(word.bare in _OPENED for word in sentence.behind[:5])


def _pair(text: str, mention: Mention) -> Place | None:
    """Return the second half of "login: user / password"."""
    match = _PAIR.match(text, mention.end)
    if match is None:
        return None
    start, end = trimmed(text, *match.span("value"))
    value = text[start:end]
    named = value.isdigit() or "=" in value or value.isalpha()
    return None if named or not is_stated_secret(value) else (start, end)


# The words that restore a wallet.

_FEWEST, _MOST = 12, 48
_DIFFERENT: Final = 0.75
"""The least part of the words that are not there twice."""
_SEED_WORD: Final = re.compile(
    r"(?:\d{1,2}[.):]?\s{0,3})?(?P<word>[a-z]{3,8})"
    r"(?:[,;]?\s{1,3}|\s{0,2}[-|]\s{0,2}|,|(?=[\"'`.)\]<])|$)"
)
_BEGIN: Final = re.compile(r"(?<=[\s\"'`:=])(?=[a-z0-9])")
_TRIES: Final = 8
"""Places behind the word for a seed where the words may begin."""
_WITHIN: Final = 80


def _find_seed_phrase(text: str, mention: Mention) -> tuple[int, int] | None:
    """Return twelve or more short words in a row, none of which joins sentences."""
    begins = _BEGIN.finditer(text, mention.end, mention.end + _WITHIN)
    behind = mention.end
    for begin in islice(begins, _TRIES):
        if begin.start() >= behind:
            first, behind, words = _run(text, begin.start())
            if len(words) >= _FEWEST and _drawn(words):
                return first, behind
    return None


def _run(text: str, at: int) -> tuple[int, int, list[str]]:
    """Return where a row of words begins and ends, and the words."""
    words: list[str] = []
    first = last = at
    while len(words) < _MOST and (match := _SEED_WORD.match(text, at)):
        drawn = len(words) != _FEWEST or _drawn(words)
        if match["word"] in JOINING or not drawn:
            break
        first = first if words else match.start("word")
        at, last = match.end(), match.end("word")
        words.append(match["word"])
    return first, last, words


def _drawn(words: list[str]) -> bool:
    """Return whether the words are as different as those that are drawn by chance."""
    return len(set(words)) >= _DIFFERENT * len(words)


# Passwords.

_MINE: Final = frozenset(listed("my our his her their wifi wi-fi"))
_OWNED: Final = _MINE | frozenset(
    listed("""
        the your router login email gmail netflix account admin root wlan network guest laptop
        server database db master vpn phone computer's
    """)
)
_REVERSED: Final = frozenset(
    listed("""
        is as ist als est comme es como è come é jest to jako это как är som er = - for für pour
    """)
)
"""What joins a password and the word for it: "... is my password"."""
_IS_BEHIND: Final = _REVERSED - {"=", "-", "for", "für", "pour"}
"""What joins a passphrase and the word for it."""
_QUOTED: Final = re.compile(
    r"(?P<mark>[\"'`]|\*{1,2}[\"'`]?)(?P<value>(?:(?!(?P=mark))[^\n]){4,120})(?P=mark)"
)
_ENGLISH: Final = listed("pass pwd pw")
_OWNED_ABROAD: Final = frozenset(
    listed(
        "mijn ons onze mein meine unser mon ma notre mi nuestra mio mia la il meu minha moje min"
    )
)
_GOES_ON: Final = frozenset(
    listed("""
        for and but now today since until if on at in from please so with as or not only all there
        here again für und aber jetzt ab bis im am mit seit auf pour et para y per e voor en
    """)
)
"""What goes on a sentence behind a password; a compound rather describes a noun."""
_PHRASED: Final = re.compile(r"[a-z]{3,12}[.]?")


def _find_password(sentence: SecretMention) -> Place | None:
    """Return the password that a sentence tells around a word for it."""
    mine = bool(sentence.before) and sentence.before[-1].low in _MINE
    if not sentence.mention.last or (sentence.word == "pass" and not mine):
        return None
    return _joined(sentence) or _unjoined(sentence) or _phrase(sentence) or _value_before(sentence)


def _joined(sentence: SecretMention) -> Place | None:
    """Return the value behind an "is", or in brackets."""
    behind = sentence.behind
    changed = any(word.low.startswith(CHANGES) for word in [*sentence.before[-4:], *behind[:8]])
    bracketed = [
        number for number in range(1, min(6, len(behind))) if behind[number].text[0] == "("
    ]
    joined = [*sentence.after_is(changed=changed)]
    for number in [*joined, *bracketed]:
        span = _candidate(sentence, number)
        if span is None and number in joined[:1]:
            span = _joined_words(sentence, number)
        if span is None and number and behind[number - 1].low in ("is", "was", "is:", "are"):
            span = _plain_word(sentence, number)
        if span is not None:
            return span
    return None


def _unjoined(sentence: SecretMention) -> Place | None:
    """Return a value that nothing joins with the word, where nothing else can be meant."""
    behind = sentence.behind
    numbers = []
    if behind and not sentence.text[sentence.mention.start].isascii() and len(behind) < 6:
        numbers.append(len(behind) - 1)
    if len(behind) > 1 and len(behind[0].low) <= 4 and _foreign(sentence.word):
        numbers.append(1)  # a short word, which may be an "is" that is not known here
    if behind and not sentence.attached:
        numbers.append(0)
    for number in numbers:
        span = _candidate(sentence, number)
        if span is not None and _certain(sentence.text, span):
            return span
    return None


def _foreign(word: str) -> bool:
    return not word.startswith(_ENGLISH) or word.startswith("passo")


def _candidate(sentence: SecretMention, number: int) -> Place | None:
    """Return a word behind the one for a secret, or what it opens a quotation of, if told."""
    word = sentence.behind[number]
    quoted = _QUOTED.match(sentence.text, word.start)
    if quoted is not None and _in_quotes(quoted["value"], bold=quoted["mark"][0] == "*"):
        start = quoted.start("value") + len(quoted["value"]) - len(quoted["value"].lstrip())
        return start, start + len(quoted["value"].strip())
    value, span = sentence.value(word)
    following = sentence.behind[number + 1].low if number + 1 < len(sentence.behind) else ""
    if not sentence.scan.is_password(value, following, span[0]):
        return None
    whole = span[1] == word.end and sentence.mention.sort is Sort.PASSWORD
    return span[0], further(sentence.text, span[1]) if whole else span[1]


def _in_quotes(value: str, *, bold: bool) -> bool:
    """Return whether what stands in quotation marks is a password rather than a word for one."""
    other = stands_in(value) or is_address(value) or is_ordinary(value) or announces(value)
    most = 1 if bold else 14 if has_digit(value) else 8
    return not other and len(value.split()) <= most


def _certain(text: str, span: Place) -> bool:
    """Return whether a value can be told from words although nothing joins it with them."""
    value = text[slice(*span)]
    if text[span[0] - 1] in "\"'`" and is_strong(value):
        return True
    if len(value) < 6 or value.isdigit() or not has_digit(value):
        return False
    tests = (str.islower, str.isupper, lambda character: not character.isalnum())
    return any(any(map(test, value)) for test in tests)


def _plain_word(sentence: SecretMention, number: int) -> Place | None:
    """Return a plain word that ends "my password is ..." and describes nothing."""
    word = sentence.behind[number]
    final = word.stops or number == len(sentence.behind) - 1
    if not final or not _owned(sentence):
        return None
    value, span = sentence.value(word)
    describes = (
        len(value) < 6
        or not (value.isascii() and value.isalpha() and value.islower())
        or value in COMMON
        or value in FILLERS
        or value.endswith(DESCRIBES)
        or announces(value)
    )
    return None if describes else span


def _joined_words(sentence: SecretMention, number: int) -> Place | None:
    """Return a passphrase such as `tulip-river-lamp`, if it is no part of what follows it."""
    value, span = sentence.value(sentence.behind[number])
    if not is_joined_phrase(value):
        return None
    in_code = "-" not in value and sentence.behind[number - 1].text in ("=", ":")
    if in_code and not _named(sentence):
        return None  # the name of a variable
    ends = span[1] < sentence.behind[number].end or number + 1 == len(sentence.behind)
    following = "" if ends else sentence.behind[number + 1].text.lower()
    goes_on = following[:1].isalpha() and following.rstrip(".,;:!?") not in _GOES_ON
    several = len(re.split(r"[-._]", value)) >= MANY_WORDS
    return span if several or not goes_on else None


def _named(sentence: SecretMention) -> bool:
    """Return whether it is said whose the password is, or of which network."""
    return _owned(sentence) or "wlan" in sentence.word or "wifi" in sentence.word.replace("-", "")


def _owned(sentence: SecretMention) -> bool:
    return any(word.low in _OWNED for word in sentence.before[-3:])


def _phrase(sentence: SecretMention) -> Place | None:
    """Return the words of "my passphrase is ..." up to the end of the line, if they say nothing."""
    for number in sentence.after_is():
        words = sentence.behind[number:]
        abroad = any(word.low in _OWNED_ABROAD for word in sentence.before[-3:])
        if not 4 <= len(words) <= 8 or not (abroad or _owned(sentence)):
            continue
        common = sum(word.bare in COMMON for word in words)
        good = (
            all(_PHRASED.fullmatch(word.text) for word in words)
            and SMALL_WORDS.isdisjoint(word.low for word in words)
            and common <= (sentence.word == "passphrase")
            and sentence.text[words[-1].end : words[-1].end + 1] in ("", "\n")
        )
        if good:
            return words[0].start, sentence.value(words[-1])[1][1]
    return None


def _value_before(sentence: SecretMention) -> Place | None:
    """Return the value of "... is my password" and "use ... as the key"."""
    words = sentence.before
    for number in range(len(words) - 1, max(0, len(words) - 6), -1):
        word = words[number]
        bracket = word.text[0] == "(" and number > len(words) - 4
        if not bracket and word.stops:
            return None
        if bracket or word.low in _REVERSED:
            return _secret_before(sentence, words[:number] or words[-1:]) or (
                _phrase_before(sentence, word) if word.low in _IS_BEHIND else None
            )
    return None


def _secret_before(sentence: SecretMention, words: list[ScannedWord]) -> Place | None:
    value, span = sentence.value(words[-1])
    if sentence.mention.sort is Sort.PASSWORD:
        good = not value.isdigit() and sentence.scan.is_password(value, "", span[0])
        if not good:
            return None
        start = span[0]
        for word in reversed(words[:-1]):  # a password of several words
            more, (begin, end) = sentence.value(word)
            if end != word.end or not sentence.scan.is_password(more, "", begin):
                break
            start = begin
        return start, span[1]
    return span if looks_random(value, 20) else None


def _phrase_before(sentence: SecretMention, word: ScannedWord) -> Place | None:
    """Return the passphrase of "... is my password", in quotes or with signs between its words."""
    before = [other for other in sentence.before if other.start < word.start]
    if not before or sentence.mention.sort is not Sort.PASSWORD:
        return None
    value, span = sentence.value(before[-1])
    if is_joined_phrase(value):
        return span
    text, end = sentence.text, before[-1].end - 1
    if text[end] not in "\"'`":
        return None
    start = text.rfind(text[end], max(0, end - _NEAR_BEHIND), end) + 1
    return (start, end) if start and is_phrase(text[start:end]) else None


# Numbers that are typed in: PINs, and codes of which it is said what they open.

_CODE: Final = re.compile(
    r"""
    ["'`*(]{0,3}
    (?P<value> [\#*]?
      (?: \d{3,12} | \d{1,4}(?:[- .]\d{1,4}){1,5} | [A-ZА-Я0-9]{3,10}
        | [a-z0-9]{4,6}-[a-z0-9]{4,6} )
      [\#*]? )
    (?! [\w/:%] | \.\d )
    """,
    re.VERBOSE,
)
_NEXT: Final = re.compile(
    r"(?:[,;]\s{0,3}|\s{1,3})(?:\d{4,10}|[a-z0-9]{4,6}-[a-z0-9]{4,6})(?![\w:/.])"
)
_TOWN: Final = re.compile(r"(?<=\d{5}),? [A-Z][a-zà-ÿ]{2,}")
_OBJECTS: Final = frozenset(listed("the a an this that all every these those it our each"))
_SUBJECTS: Final = frozenset(
    (*listed("to we i you they please always must should can will and then or never not"), "")
)
"""Words before and behind the verb "to pin"."""
_MOST_CODES: Final = 20
"""Codes of one list."""
_COUNTED: Final = re.compile(
    r"\s(?:digit|char|times|day|hour|min|sec|people|line|page|%|stell|ziffer)", re.IGNORECASE
)
_PLACE_INSIDE: Final = listed("tür zugang toegang adgang key")
"""Parts of words for a code that say what it opens."""
_WITH: Final = frozenset(
    listed("with by using use type typing enter press dial is code mit avec con com : -")
)


def _find_code(sentence: SecretMention) -> Place | None:
    """Return a PIN, or a code of which it is said what it opens."""
    behind, sort = sentence.behind, sentence.mention.sort
    named = _names_place(sentence.before[-4:]) or any(
        part in sentence.word for part in _PLACE_INSIDE
    )
    numbers = [number for number in sentence.after_is() if not _only_pinned(sentence, number)]
    numbers += [number + 1 for number, word in enumerate(behind[:6]) if word.low in PLACES]
    if sort is Sort.PIN or named:
        numbers.append(0)
    for number in numbers:
        opens = named or _names_place(behind[:number])
        if number < len(behind) and (opens or sort is not Sort.CODE):
            match = _CODE.match(sentence.text, behind[number].start)
            if match is None or _is_postal(sentence, match):
                continue
            if _good(match, short=sort is Sort.CARD, opens=opens):
                return match.start("value"), _end_of_list(sentence.text, match.end())
    return None


def _is_postal(sentence: SecretMention, match: re.Match[str]) -> bool:
    """Return whether a number is the PIN code of a place, as India calls its postal codes.

    Only a town behind it tells: "Pincode 560001, Bangalore", "PIN code 10435 Berlin".
    """
    is_code = sentence.word.startswith("pincode") or any(
        word.low == "code" for word in sentence.behind[:1]
    )
    return is_code and _TOWN.match(match.string, match.end()) is not None


def _only_pinned(sentence: SecretMention, number: int) -> bool:
    """Return whether a number is what something is pinned to: "pin the server to 8080".

    "To" also joins a PIN with a change ("set my PIN to 8080"), and is the Polish word for "is".
    """
    if sentence.mention.sort is not Sort.PIN:
        return False
    behind = sentence.behind
    joined = max(
        (position for position in range(number) if behind[position].low == "to"), default=-1
    )
    least = 0 if sentence.word == "pins" else 1
    if joined >= least and joined >= number - 3:
        near = [*sentence.before[-4:], *behind[:number]]
        return not any(word.low.startswith(CHANGES) for word in near)
    return _is_verb(sentence)


def _is_verb(sentence: SecretMention) -> bool:
    """Return whether "pin" is what somebody does: "pin the note at the top"."""
    first = sentence.behind[0].low if sentence.behind else ""
    before = sentence.before[-1].low if sentence.before else ""
    return first in _OBJECTS and before in _SUBJECTS


def _names_place(words: list[ScannedWord]) -> bool:
    return any(word.bare in PLACES for word in words)


def _good(match: re.Match[str], *, short: bool, opens: bool) -> bool:
    value = match["value"]
    if _COUNTED.match(match.string, match.end()):
        return False
    return is_digits(value, 3 if short or opens else 4) or (opens and has_digit(value))


def _end_of_list(text: str, end: int) -> int:
    for _ in range(_MOST_CODES):
        more = _NEXT.match(text, end)
        if more is None:
            break
        end = more.end()
    return end


def _find_opener(sentence: SecretMention) -> Place | None:
    """Return what something is opened with: "unlocks with 4711", "keypad: 4711"."""
    if sentence.word == "lock" and not _names_place(sentence.before[-1:]):
        return None
    for number, word in enumerate(sentence.behind[:8]):
        comma = word.text.endswith(",")
        if number + 1 == len(sentence.behind) or not (
            comma or word.low in _WITH or word.text.endswith(":")
        ):
            continue
        match = _CODE.match(sentence.text, sentence.behind[number + 1].start)
        if match is not None and is_digits(match["value"]):
            return match.span("value")
        span = None if comma else _candidate(sentence, number + 1)
        named = span is not None and "=" in sentence.text[slice(*span)]
        if span is not None and not named and _certain(sentence.text, span):
            return span
    return None


# Scripts that put no blanks between words.

_VALUE: Final = "[!-&(-_a-~]"
"""ASCII without blanks, `'` and the backtick."""
_BEHIND: Final = re.compile(
    r"(?:\s{0,3}|[^\n.!?;]{0,24}?"
    r"(?:คือ|是|为|為|改成|改为|改為|设为|設為|设置为|は|が|を|に|:|=|은|는|이|가|로|를|을))"
    rf"\s{{0,3}}(?:[\"'`](?P<quoted>[^\"'`\n]{{4,120}})[\"'`]"
    rf"|[\"'`]?(?P<value>(?![:=]){_VALUE}{{4,120}}))"
)
_BEFORE: Final = re.compile(
    rf"(?P<value>{_VALUE}{{5,120}})[\"'`]?\s{{0,3}}"
    r"(?:是|が|は|为|為|作为|作為|を|이|가)[^\n.!?;!-~]{0,16}$"
)


def _find_unspaced(text: str, mention: Mention) -> Place | None:
    """Return the secret behind the word, or before it."""
    start = max(0, mention.start - _NEAR_BEFORE)
    for match in (
        _BEHIND.match(text, mention.end),
        _BEFORE.search(text, start, mention.start),
    ):
        if match is None:
            continue
        span = trimmed(text, *match.span(match.lastgroup or "value"))
        value = text[slice(*span)]
        if mention.sort is not Sort.PASSWORD:
            good = looks_random(value, 16)
        else:
            good = is_stated_secret(value) or is_joined_phrase(value)
            good = good or (match.lastgroup == "quoted" and is_phrase(value))
        if good:
            return span
    return None
