"""Sentences as normalised tokens: without markup, politeness, articles and inflection.

Removed words can never distinguish two texts, so every rule names the exact words that it
removes or makes equal.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from memoryware._caching import clearable_cache
from memoryware._unicode import normalised
from memoryware.guard import drop_hidden
from memoryware.tiers.text.number_words import han_value
from memoryware.tiers.text.phrases import CHINESE_POLITENESS, SENTENCE_POLITENESS

UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters of Chinese and Japanese, which have no blanks between words, for a regex class."""
PAUSE: Final = ","
"""The token of a comma, colon, dash or semicolon."""
BREAK: Final = ";"
"""The stem of a pause that is no comma."""
MAX_CACHED_CHARS: Final = 4_000
_LANGUAGE_CHARS: Final = 2_000
"""Characters of a text that show its language."""


class Token(NamedTuple):
    """One word of a sentence.

    Attributes:
        exact: The word in lower case.
        stem: The word without its inflection.
        firmness: How likely it is a name, which has no inflection: 0 for a word in lower case, 1
            for the first word of a sentence, 2 for a name or a number.
        case: The grammatical case that a German article before it shows: "nom", "obl" or "".
        is_name: Whether it is written like a name: with a capital or a digit.
        is_definite: Whether "the" stands before it.
    """

    exact: str
    stem: str
    firmness: int = 0
    case: str = ""
    is_name: bool = False
    is_definite: bool = False

    def matches(self, other: Token) -> bool:
        """Return whether two tokens are the same word, apart from inflection.

        Args:
            other: The other token.

        Returns:
            Whether they are.
        """
        if self.case and other.case and self.case != other.case:
            return False
        if self.exact == other.exact:
            return True
        return self.stem == other.stem and self.firmness + other.firmness <= 1


@dataclass(frozen=True, eq=False)
class Sentence:
    """One sentence of a text.

    Compared by identity: `tokenize` returns the same objects for a text that is cached, and what
    comparisons derive from a sentence is cached by the object.

    Attributes:
        tokens: Its words in order, without articles and politeness, with pauses.
        is_question: Whether it ends with a question mark.
        reports: Whether a removed phrase ("I remember that ...") makes the rest a clause whose
            verb stands last in German.
        is_cut: Whether a phrase was removed from its beginning, so that a German verb stands
            first.
        is_aside: Whether it claims nothing by its form: a caption in square brackets, what
            introduces a list, a line of code.
    """

    tokens: tuple[Token, ...]
    is_question: bool = False
    reports: bool = False
    is_cut: bool = False
    is_aside: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """The words as they are written, in lower case, with pauses."""
        return frozenset(token.exact for token in self.tokens)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words, with pauses."""
        return frozenset(token.stem for token in self.tokens)

    @cached_property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """For each of the tokens all forms in which it may match another word.

        These are the word, its stem, and the verbs of which it may be the participle.
        """
        return tuple(
            [
                (word, token.stem, *verb_bases(word))
                if (word := token.exact).endswith("ed") or word in _PARTICIPLES
                else (word, token.stem)
                for token in self.tokens
            ]
        )


def word_set(text: str) -> frozenset[str]:
    """Return the set of words of a list that is written as a text.

    Args:
        text: The words, with blanks between them.

    Returns:
        The words.
    """
    return frozenset(text.split())


_IRREGULAR_VERBS: Final = """
kept=keep held=hold built=build sent=send written=write run=run made=make paid=pay sold=sell
bought=buy led=lead chosen=choose taken=take given=give read=read known=know found=find done=do
seen=see taught=teach told=tell brought=bring driven=drive
"""
_PARTICIPLES: Final = dict(pair.split("=") for pair in _IRREGULAR_VERBS.split())
IRREGULAR: Final = frozenset(_PARTICIPLES) | frozenset(_PARTICIPLES.values())
"""Verbs whose participle begins otherwise, and their participles."""


def verb_bases(participle: str) -> tuple[str, ...]:
    """Return the words of which a word may be the participle.

    Args:
        participle: A word in lower case.

    Returns:
        The base forms.
    """
    if participle in _PARTICIPLES:
        return (_PARTICIPLES[participle],)
    base = participle.removesuffix("ed")
    if base == participle or len(base) < 3:
        return ()
    verbs = [base, base + "e"]
    if base[-1] == base[-2]:
        verbs.append(base[:-1])
    if base.endswith("i"):
        verbs.append(base[:-1] + "y")
    return tuple(verbs)


NEGATIONS: Final = word_set("""
no not never none neither nor nobody nothing nowhere without hardly barely scarcely cannot
nicht kein nie niemals niemand nichts nirgends ohne weder kaum nein
不 没 非 無 无 未 别 勿 莫 否 禁
ne pas jamais aucun aucune rien sans nunca ningún ninguna jamás sin ない ません non mai senza
""")
MODALS: Final = word_set("""
may might must should shall can could will would ought need
kann können könnte könnten muss müssen musste müssten müsste soll sollen sollte sollten darf dürfen
dürfte dürften mag möchte will wollen
可 能 必 须 须 应 该 得 要 会 许 需
doit doivent peut peuvent devrait puede pueden debe deben
""")
QUANTIFIERS: Final = word_set("""
some most all every any many much few several both half each only just at least exactly about
always often sometimes usually rarely seldom mostly nearly almost
alle einige manche meisten viele wenige mehrere beide jeder halb nur bloß ausschließlich mindestens
höchstens immer oft einig manch viel wenig mehrer beid jed meist manchmal meist selten fast etwa
全 所 有 些 多 少 每 都 只 仅 部 分 半 总 常 偶
""")
MARKERS: Final = MODALS | NEGATIONS | QUANTIFIERS
"""Words of which each changes what a statement claims."""
_GERMAN: Final = word_set("""
der die das den dem des ein eine einen einem eines einer und oder ist sind war waren wird werden
nicht kein keine keinen für mit auf im am vom zum zur bei nach von aus über unter wir ich sie es
hat haben kann darf muss soll alle einige nur wenn weil dass jeden jede jeder immer unsere unser
soweit laut bitte um zu an in
""")
_ENGLISH: Final = word_set("""
the a an and or is are was were will be not no for with on at from by of to in we i they it
has have can may must should all some only if because that every our please never
""")
_UMLAUT: Final = re.compile("[äöüß]")
_ARTICLES: Final = word_set("the a an")
_GERMAN_ARTICLES: Final = {
    "der": "nom",
    "ein": "nom",
    "den": "obl",
    "dem": "obl",
    "des": "obl",
    "einen": "obl",
    "einem": "obl",
    "eines": "obl",
    "einer": "",
    "die": "",
    "das": "",
    "eine": "",
}
"""The case that an article shows. It tells who does what: "der Mann", "den Mann"."""
_GERMAN_DETERMINERS: Final = re.compile(
    r"(?:kein|mein|dein|sein|ihr|unser|euer|dies|jen|jed|all|manch|einig|viel|welch|solch|wenig|mehrer|beid)"
    r"(?:e|er|es|en|em)?"
)
_GERMAN_NOMINATIVE: Final = re.compile(r"(?:kein|mein|dein|sein|unser|euer)|(?:dies|jen|jed)er")
_GERMAN_OBLIQUE: Final = re.compile(
    r"(?:kein|mein|dein|sein|ihr|unser|euer|dies|jen|jed)(?:en|em|es)"
)
_CONTRACTED: Final = {
    "am": "an",
    "im": "in",
    "zum": "zu",
    "zur": "zu",
    "vom": "von",
    "beim": "bei",
    "ins": "in",
    "ans": "an",
    "fürs": "für",
    "aufs": "auf",
}
_DAYS: Final = word_set("""
monday tuesday wednesday thursday friday saturday sunday
montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend
""")
DAYS_AND_MONTHS: Final = _DAYS | word_set("""
january february march april june july august september october november december
januar februar märz april juni juli august september oktober november dezember
""")
_NUMBER_WORDS: Final = """
zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12
thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20
thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 eins=1 zwei=2 drei=3 vier=4
fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 dreizehn=13 vierzehn=14
fünfzehn=15 sechzehn=16 siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 dreißig=30 vierzig=40
fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90
"""
_NUMBERS: Final = dict(pair.casefold().split("=") for pair in _NUMBER_WORDS.split())
_SAME: Final = {
    "is": "be",
    "are": "be",
    "am": "be",
    "were": "was",
    "does": "do",
    "has": "have",
    "each": "every",
    "an": "a",
    "sind": "ist",
    "bin": "ist",
    "waren": "war",
    "werden": "wird",
    "haben": "hat",
    "können": "kann",
    "müssen": "muss",
    "muß": "muss",
    "dürfen": "darf",
    "sollen": "soll",
    "wollen": "will",
    "okay": "ok",
    "&": "and",
    "+": "+",
}
"""Other forms of the same word. "was" is not here with "is": what was may be over."""
_KEEP_S: Final = word_set("""
news customs goods arms means works times pants glasses contents savings terms does its this his
us as is was has yes always perhaps ours yours theirs hers thus plus versus across less series
species odds rights needs others besides sometimes
""")
_SHOUTED: Final = word_set("us it who in is am or at as no on go do me")
"""Words that mean something else in capitals: "send it to us", "send it to US"."""
_PLURAL_OS: Final = word_set("repos photos videos memos demos logos typos todos audios")
_UNSTRIPPED: Final = ("ss", "us", "is", "as", "os")
"""Ends of words (and names: Carlos, Lukas) whose "s" is no plural."""
_MAX_CACHED_WORD: Final = 64
_MIN_STEM: Final = 3
_LEAST_SHOUTED: Final = 20
_SHOUTED_SHARE: Final = 0.4
_MIN_VERB: Final = 5

_APOSTROPHES: Final = re.compile("[\u2018\u2019\u02bc\u2032`´](?=[a-zA-Z]{1,2}\\b)")
_EXPANSIONS: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]] = tuple(
    (guards, re.compile(pattern, re.IGNORECASE), full)
    for guards, pattern, full in (
        (("can",), r"\bcan(?:'t|not)\b", "can not"),
        (("let's",), r"\blet's\b", "let us"),
        (("won't",), r"\bwon't\b", "will not"),
        (("shan't",), r"\bshan't\b", "shall not"),
        (("n't",), r"n't\b", " not"),
        (("'s",), r"\b(it|that|there|he|she|here|what|who|where)'s\b", r"\1 is"),
        (("'re",), r"'re\b", " are"),
        (("'ve",), r"'ve\b", " have"),
        (("'ll",), r"'ll\b", " will"),
        (("i'm",), r"\bi'm\b", "I am"),
        (("'s",), r"\b(\w{1,40})'s (\w{1,40})\b", r"\2 of \1"),
        (("'",), r"'s\b|(?<=s)'(?=\s)", ""),
        (("has to", "have to"), r"\b(?:has|have) to\b", "must"),
        (("able to",), r"\b(?:is|are) able to\b", "can"),
        (("allowed to",), r"\b(?:is|are) allowed to\b", "may"),
        (("prior to",), r"\bprior to\b", "before"),
        (("few", "little", "lot"), r"\ba (few|little|lot)\b", r"a_\1"),
        (("in order to",), r"\bin order to\b", "to"),
        (("called", "named"), r"\b(?:that|which|who) (?:is|are) (?=called\b|named\b)", ""),
        (("e-mail",), r"\be-mail", "email"),
        (("%", "cent", "prozent"), r"(?<=\d)\s*(?:%|percent\b|per cent\b|prozent\b)", "%"),
        (("days",), r"\bon ((?:mon|tues|wednes|thurs|fri|satur|sun)day)s\b", r"every \1"),
    )
)
"""Phrases, what they are written as, and the letters without which a text has none of them.

Each pattern is slow to search for, and most texts have none of these phrases.
"""
_DIGIT: Final = re.compile(r"\d")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_TWELVE: Final = re.compile(r"\b(\d{1,2})(?::([0-5]\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_UHR: Final = re.compile(r"\b(\d{1,2})(?::([0-5]\d))?\s?uhr\b", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.])")
_MARKUP: Final = re.compile(
    r"^[ \t]{0,20}(?:(?:[-*+|•·]+|>+(?![ \t]*\d)|#{1,6})[ \t]+)+"
    r"|(?:```|~~~)\w*[ \t]*$|```|^[-=|:+ \t]{3,}$",
    re.MULTILINE,
)
_NUMBERED: Final = re.compile(r"^[ \t]{0,20}\(?(\d{1,3})[.)][ \t]+", re.MULTILINE)
_EMPHASIS: Final = re.compile(
    r"(?<!\w)(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)([^*_`~\n]{1,400}?)(?<=\S)\1(?!\w)"
)
_LONG_CODE: Final = re.compile(r"&#\d{1000,}+;?")
"""A character reference with an invalid number that is too long for `int`."""
_OVER: Final = re.compile("[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]+")
"""Marks over, under and through letters, of which normalisation made no letter."""
_END: Final = re.compile(
    rf"(?<![.!?])([.!?\u2026]+)(?=[\s\"'”’)\]*_]|$)|([。！？]|(?<=[{UNSPACED}])[!?])|\n+"
)
_PIECE: Final = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_ASIDE: Final = re.compile(
    r"^\s*\[.*\]\s*$|[:：][*_\s]{0,20}$"
    r"|^\s*(?:</?\w|//|from \S+ import\b|import \S+ from\b|import [\w.]+$|async (?:def|function)\b)"
    r"|^\s*(?:const|let|var|def|class|function|public|private|static|return|import|export|if|for"
    r"|while|elif|@\w+)\b[^.]*[({=;]"
    r"|=>|</|\\[a-z]+\{|\\[\[(]|=\s*(?:new\s|await\s|[A-Za-z_][\w.]*[\[(])|\w\[[\"']|[{}();]\s*$(?<!\w\))",
    re.DOTALL,
)
"""A sentence in square brackets, what introduces a list, code, or a formula."""
_OUTER: Final = "\"'“”‘’„‚«»‹›()[]{},;:.!?…、。．，；：（）「」『』《》【】—–*_`|"
_LEADING: Final = "".join(mark for mark in _OUTER if mark not in ".!?")
"""What is no part of a word at its beginning; ".5" and "!debug" begin with it."""
_OPERATORS: Final = word_set("= == != < > <= >= -> => && ||")
_COMMAS: Final = ",，"
_PAUSES: Final = frozenset(",;:，；：—–")
_HYPHENS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_ABBREVIATION: Final = re.compile(
    r"\b(?:e\.g|i\.e|z\.B|d\.h|etc|bzw|vs|approx|ca|Nr|No|Dr|Mr|Mrs|Ms|St)\.$", re.IGNORECASE
)

_CHINESE_SAME: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), full)
    for pattern, full in (
        ("星期|礼拜", "周"),
        ("每个(?=周|月|天|年|小时)", "每"),
        ("周天", "周日"),
        ("使用|采用", "用"),
        ("能够", "能"),
        ("可以", "可"),
        ("务必|一定要|必需", "必须"),
        ("以及|并且|(?<![参给赋])与(?!否)", "和"),
        ("您", "你"),
        ("位于|处于", "在"),
        ("(?<=[\u4e00-\u9fff])的(?=[\u4e00-\u9fffA-Za-z0-9])", ""),
        ("无法", "不能"),
        ("沒", "没"),
    )
)
_HAN_NUMBER: Final = re.compile(
    r"(?<![周第期拜零〇一二三四五六七八九十百千两])([零〇一二三四五六七八九十百千两]{1,9})"
    r"(?=个|天|点|次|台|年|月|日|号|小时|分钟|秒|份|名|位|人|元|万|倍|条|行|页|封|周|公里|米|度|岁|美元|欧元)"
)


def tokenize(text: str, *, is_german: bool) -> tuple[Sentence, ...]:
    """Split a text into sentences of normalised tokens; sentences without words are left out.

    Args:
        text: The text.
        is_german: Whether its words are inflected as in German, see `is_german`.

    Returns:
        The sentences.
    """
    if len(text) <= MAX_CACHED_CHARS:
        return _cached(text, is_german)
    return _tokenize(text, is_german)


class TokenizedPair(NamedTuple):
    """Two texts that are compared, tokenized for the language of both.

    Attributes:
        left: The sentences of the first text.
        right: The sentences of the second.
        german: Whether both together have more German than English function words.
    """

    left: tuple[Sentence, ...]
    right: tuple[Sentence, ...]
    german: bool


def tokenize_pairs(pairs: Sequence[tuple[str, str]]) -> list[TokenizedPair]:
    """Tokenize texts that are compared in pairs; each is read once for each language.

    Args:
        pairs: Pairs of texts; a text may be in many of them.

    Returns:
        The tokenized pairs, in the same order.
    """
    counts = {text: _language_counts(text[:_LANGUAGE_CHARS]) for pair in pairs for text in pair}
    tokenized: list[TokenizedPair] = []
    for first, second in pairs:
        ours, theirs = counts[first], counts[second]
        german = ours[0] + theirs[0] > ours[1] + theirs[1]
        left = (_cached if len(first) <= MAX_CACHED_CHARS else _tokenize)(first, german)
        right = (_cached if len(second) <= MAX_CACHED_CHARS else _tokenize)(second, german)
        tokenized.append(TokenizedPair(left, right, german))
    return tokenized


def is_german(text: str) -> bool:
    """Return whether a text has more German than English function words.

    Args:
        text: The text.

    Returns:
        Whether it has.
    """
    german, english = _language_counts(text[:_LANGUAGE_CHARS])
    return german > english


@clearable_cache(4096)
def _language_counts(text: str) -> tuple[int, int]:
    """Return how many words of a text look German, and how many English."""
    words = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    if text.isascii():
        return sum(word in _GERMAN for word in words), english
    return sum(word in _GERMAN or _UMLAUT.search(word) is not None for word in words), english


def visible(text: str) -> str:
    """Return a text in NFKC without hidden characters and diacritical marks.

    Args:
        text: The text.

    Returns:
        The text.
    """
    return _OVER.sub("", drop_hidden(normalised("NFKC", text))[0])


def unescaped(text: str) -> str:
    """Replace HTML character references by their characters.

    Args:
        text: The text.

    Returns:
        The text.
    """
    return html.unescape(_LONG_CODE.sub("\ufffd", text)) if "&" in text else text


def without_markup(text: str) -> str:
    """Return a text without hidden characters, markup and width variants of characters.

    Args:
        text: The text.

    Returns:
        The text.
    """
    plain = unescaped(text)
    if not plain.isascii():
        plain = visible(plain)
        plain = _APOSTROPHES.sub("'", plain)
    plain = _MARKUP.sub(" ", plain)
    numbers = [int(number) for number in _NUMBERED.findall(plain)]
    if len(numbers) > 1 and numbers == [*range(1, len(numbers) + 1)]:  # not "3. Mai ist frei"
        plain = _NUMBERED.sub("", plain)
    return _EMPHASIS.sub(r"\2", plain)


def _tokenize(text: str, german: bool) -> tuple[Sentence, ...]:
    plain = without_markup(text)
    if _is_shouted(plain):
        plain = plain.casefold()
    plain = _expanded(plain)
    if _DIGIT.search(plain):
        plain = _TWELVE.sub(_in_24_hours, plain)
        plain = _UHR.sub(lambda time: f"{time[1]}:{time[2] or '00'}", plain)
        plain = _THOUSANDS.sub(lambda number: number.group().replace(",", ""), plain)
    if not plain.isascii() and _UNSPACED.search(plain):
        plain = CHINESE_POLITENESS.sub("", plain)
        for pattern, full in _CHINESE_SAME:
            plain = pattern.sub(full, plain)
        plain = _HAN_NUMBER.sub(lambda number: han_value(number[1]), plain)
    sentences = []
    for part, end in _sentences(plain):
        rest, reports, is_cut = _without_politeness(part + end.strip())
        tokens = _tokens(rest, german)
        if any(token.exact != PAUSE for token in tokens):
            is_aside = _ASIDE.search(part) is not None
            is_question = "?" in end or "？" in end
            sentences.append(Sentence(tokens, is_question, reports, is_cut, is_aside))
    return tuple(sentences)


_cached: Final = clearable_cache(2048)(_tokenize)


def _expanded(text: str) -> str:
    """Return a text with contractions and fixed phrases expanded."""
    lowered = text.lower()
    for guards, pattern, full in _EXPANSIONS:
        if any(guard in lowered for guard in guards):
            changed = pattern.sub(full, text)
            if changed != text:
                text, lowered = changed, changed.lower()
    return text


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence with the mark that ends it; the polite close is a sentence as well."""
    start = 0
    for end in _END.finditer(text):
        if end.group(1) == "." and _ABBREVIATION.search(text[max(0, end.start() - 10) : end.end()]):
            continue
        if text[start : end.start()].strip():
            yield text[start : end.start()], end.group()
        start = end.end()
    if text[start:].strip():
        yield text[start:], ""


def _tokens(text: str, german: bool) -> tuple[Token, ...]:
    tokens: list[Token] = []
    if _is_shouted(text):
        text = text.casefold()
    case, has_determiner, is_definite = "", False, False
    for match in _PIECE.finditer(text):
        piece = match.group()
        word = piece if piece in _OPERATORS else piece.lstrip(_LEADING).rstrip(_OUTER)
        if piece[0] in _PAUSES or piece in ("-", "--"):
            _pause(tokens, piece[0])
        for part in _parts(word if word not in ("-", "--") else ""):
            lower = part.casefold()
            if german and lower in _GERMAN_ARTICLES:
                case, has_determiner = _GERMAN_ARTICLES[lower], True
                is_definite = lower.startswith("d")
                continue
            if not german and lower in _ARTICLES and (part != "A" or not tokens):
                has_determiner, is_definite = True, lower == "the"
                continue
            token = _token(part, german=german, first=not tokens, has_determiner=has_determiner)
            if german and case and (part[0].isupper() or token.is_name):
                token, case = token._replace(case=case), ""
            tokens.append(token._replace(is_definite=is_definite) if is_definite else token)
            is_definite = False
            if german and _GERMAN_DETERMINERS.fullmatch(lower):
                has_determiner = True
                if _GERMAN_OBLIQUE.fullmatch(lower):
                    case = "obl"
                elif _GERMAN_NOMINATIVE.fullmatch(lower):
                    case = "nom"
            elif german and lower in _CONTRACTED:
                has_determiner = True
            elif part[0].isupper():
                has_determiner = False
        if piece[-1] in _PAUSES and word:
            _pause(tokens, piece[-1])
    while tokens and tokens[-1].exact == PAUSE:
        tokens.pop()
    return tuple(tokens)


def _is_shouted(text: str) -> bool:
    """Return whether a text is in capitals, in which names and words look alike."""
    if text.isupper():
        return text.upper() != text.lower()
    capitals = sum(map(str.isupper, text))
    return capitals > _LEAST_SHOUTED and capitals > _SHOUTED_SHARE * sum(map(str.isalpha, text))


def _pause(tokens: list[Token], mark: str) -> None:
    if tokens and tokens[-1].exact != PAUSE:
        tokens.append(Token(PAUSE, PAUSE if mark in _COMMAS else BREAK))


def _parts(word: str) -> list[str]:
    if not word:
        return []
    return word.split("-") if _HYPHENS.fullmatch(word) else [word]


def _token(part: str, *, german: bool, first: bool, has_determiner: bool) -> Token:
    make = _cached_token if len(part) <= _MAX_CACHED_WORD else _make_token
    return make(part, german, first, has_determiner)


def _make_token(part: str, german: bool, first: bool, has_determiner: bool) -> Token:
    lower = part.casefold()
    if part.isupper() and lower in _SHOUTED:
        return Token(part, part, is_name=True)
    lower = _NUMBERS.get(lower, lower)
    if german:
        lower = _CONTRACTED.get(lower, lower)
    if lower in _SAME:
        return Token(lower, _SAME[lower])
    if not part.isalpha() or lower.isdigit():
        return Token(lower, lower, 2, is_name=any(map(str.isdigit, lower)))
    singular = lower.removesuffix("s")
    if lower in DAYS_AND_MONTHS or singular in DAYS_AND_MONTHS:
        day = lower if lower in DAYS_AND_MONTHS else singular
        return Token(day, day, 2, is_name=True)
    has_capital = any(map(str.isupper, part))
    if german:
        stem = _german_stem(part, lower)
        firmness = 0 if has_determiner or not has_capital else 2 - first
        return Token(lower, stem, firmness, is_name=has_capital and not first)
    firmness = 0 if not has_capital else 2 - (first and part.istitle())
    if firmness == 1 and has_determiner:
        firmness = 0
    return Token(lower, _english_stem(lower), firmness, is_name=has_capital and not first)


_cached_token: Final = clearable_cache(16_384)(_make_token)


def _english_stem(word: str) -> str:
    if not word.isascii() or word in _KEEP_S:
        return word
    if word.endswith(("isation", "ise")):
        word = word.replace("isation", "ization") if "isation" in word else word[:-3] + "ize"
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    for ending in ("sses", "shes", "ches", "xes", "zes", "oes"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[:-2]
    if not word.endswith("s") or (word.endswith(_UNSTRIPPED) and word not in _PLURAL_OS):
        return word
    return word[:-1] if len(word) > _MIN_STEM else word


_GERMAN_FIXED: Final = word_set("""
unter unten hinter hinten außer außen oben ober innen inner über gegen neben wegen zwischen weder
entweder aber oder immer wieder nieder später früher eher weniger mehr sonder sondern gestern heute
morgen wenn denn dann wann wen wem wer deren dessen
""")


def _german_stem(part: str, lower: str) -> str:
    """Return a German word without its ending."""
    if lower in _GERMAN_FIXED:
        return lower
    if _GERMAN_DETERMINERS.fullmatch(lower):
        for ending in ("en", "em", "er", "es", "e"):
            if lower.endswith(ending) and len(lower) > len(ending) + 2:
                return lower.removesuffix(ending)
        return lower
    if part[0].isupper():
        if lower.endswith(_UNSTRIPPED):
            return lower
        for ending in ("en", "n", "es", "s", "e"):
            if lower.endswith(ending) and len(lower) >= len(ending) + 4:
                return lower.removesuffix(ending).removesuffix("e")
        return lower
    for ending in ("en", "em", "er", "es", "e"):
        if lower.endswith(ending) and len(lower) >= len(ending) + 3:
            return lower.removesuffix(ending) + "*"  # never equal to the word without an ending
    if lower.endswith("t") and len(lower) >= _MIN_VERB:  # "bekommt", "bekommen"
        return lower.removesuffix("t") + "*"
    return lower


def _in_24_hours(time: re.Match[str]) -> str:
    hour, minutes, half = int(time[1]), time[2] or "00", time[3].lower()
    if hour > 12:
        return time.group()
    hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour}:{minutes}"


_REPORTS: Final = re.compile(r"\bdass\s*\Z", re.IGNORECASE)


def _without_politeness(text: str) -> tuple[str, bool, bool]:
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
        changed = SENTENCE_POLITENESS.sub(remove, text)
        if changed == text:
            break
        text = changed.lstrip(" ,:;\t")
    return text, reports, is_cut
