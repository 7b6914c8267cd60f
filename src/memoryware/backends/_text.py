"""Text of files: decoding, line windows, and edits that keep all untouched bytes.

Finding the place of an edit takes time linear in the text, whatever the old text is: it comes from
a model, and the search holds the interpreter lock.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from operator import add
from pathlib import PurePosixPath
from typing import AnyStr, Final, Generic

from memoryware.backends.protocol import FileData, ReadResult
from memoryware.errors import EditRefused, FileError, TextRefused

LINE_END: Final = re.compile(r"\r\n|\r|\n")
# How many similar lines an edit that found nothing names.
NEAREST_LINES: Final = 3
# Characters of a file that are compared in the search for similar lines.
_NEAREST_CHARS: Final = 30_000
# Characters of a line that count for how similar it is.
_NEAREST_LINE: Final = 80
_SIMILAR: Final = 0.5
# Lines that an old text may have for its blanks to be forgiven.
_FORGIVEN_LINES: Final = 2000
# Places with the right words that are looked at; with more of them nothing is forgiven.
_FORGIVEN_PLACES: Final = 20
_BLANKS: Final = " \t"
_TAB_WIDTHS: Final = (*range(1, 9), *range(-8, 0))

Span = tuple[int, int]


def to_lf(text: str) -> str:
    """Return the text with LF line endings only."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def exact_spans(text: str, old: str) -> list[Span]:
    """Find every occurrence of a text with LF endings, whatever endings the file has there."""
    if "\n" not in old or "\r" not in text:
        return list(_spans(text, old))
    # A pair of CR and LF is one sign here, so that no place begins or ends within it.
    pairs = [pair.start() - n for n, pair in enumerate(re.finditer("\r\n", text))]
    spans = _spans(to_lf(text), old)
    return [(at + bisect_left(pairs, at), to + bisect_left(pairs, to)) for at, to in spans]


def _spans(text: str, old: str) -> Iterator[Span]:
    begin = text.find(old)
    while begin >= 0:
        yield begin, begin + len(old)
        begin = text.find(old, begin + len(old))


def around(text: str, spans: list[Span]) -> Iterator[str]:
    """Yield the whole lines of each span; "" for a span in lines that were just given."""
    last = -1
    for start, end in spans:
        if end <= last:
            yield ""
            continue
        before = max(last - 1, 0)
        first = max(text.rfind(sign, before, start) + 1 for sign in "\n\r")
        first = max(first, last, 0)
        last = end
        if not text[first:end].endswith(("\n", "\r")):
            ending = LINE_END.search(text, end)
            last = ending.start() if ending else len(text)
        yield text[first:last]


@dataclass(frozen=True, slots=True)
class _IndentationShift:
    """How the indentation of an old text becomes that of the file.

    `width` blanks become one tab, or a tab that many blanks if `width` is negative,
    and 0 changes neither; then `more` is put before, or `less` removed.
    """

    width: int
    more: str
    less: str

    def of(self, indentation: str) -> str | None:
        """Return the shifted indentation, None if it does not fit."""
        turned = _convert_tabs(indentation, self.width)
        if turned is None or not turned.startswith(self.less):
            return None
        return self.more + turned[len(self.less) :]

    def over(self, new: str) -> str | None:
        """Return a new text with the indentation of the file, None if it does not fit."""
        lines = []
        for line in new.split("\n"):
            body = line.lstrip(_BLANKS)
            indentation = self.of(line[: len(line) - len(body)]) if body else ""
            if indentation is None:
                return None
            lines.append(indentation + body if body else line)
        return "\n".join(lines)


def _convert_tabs(indentation: str, width: int) -> str | None:
    before, after = ("\t", " " * -width) if width < 0 else (" " * width, "\t")
    if not width or not indentation.strip(after[:1]):
        return indentation
    turned = indentation.replace(before, after)
    return None if turned.strip(after[:1]) or indentation.strip(before[:1]) else turned


def ignoring_blanks(text: str, old: str, new: str) -> tuple[Span, str] | None:
    """Find the one place whose lines differ from the old text in blanks only.

    Only whole lines count. Ignored are blanks at their ends, tabs in place of blanks, and an
    indentation that is shifted by the same in all lines. The new text comes back with the
    indentation of the file.
    """
    lines = old.removesuffix("\n").split("\n")
    if not old.strip() or len(lines) > _FORGIVEN_LINES:
        return None
    spans = list(_line_spans(text))
    candidates = list(islice(_with_words(text, spans, lines), _FORGIVEN_PLACES + 1))
    matches = []
    for first in candidates:
        there = [text[start:end] for start, end in spans[first : first + len(lines)]]
        readings = list(_indentation_shifts(lines, there))
        if readings:
            matches.append((first, readings))
    # Two places that fit are as bad as none: a wrong edit of memory is seldom noticed.
    if len(matches) != 1 or len(candidates) > _FORGIVEN_PLACES:
        return None
    first, readings = matches[0]
    shifted = _simplest_result(readings, new)
    after = first + len(lines)
    end = spans[after - 1][1]
    if old.endswith("\n"):
        end = spans[after][0] if after < len(spans) else len(text)
    return None if shifted is None else ((spans[first][0], end), shifted)


def _line_spans(text: str) -> Iterator[Span]:
    start = 0
    for ending in LINE_END.finditer(text):
        yield start, ending.start()
        start = ending.end()
    if start < len(text):
        yield start, len(text)


def _with_words(text: str, spans: list[Span], lines: list[str]) -> Iterator[int]:
    """Yield the number of each line from which on the lines are equal except for blanks."""
    bodies = (text[start:end].strip(_BLANKS) for start, end in spans)
    # str.find is linear also where a thousand lines are equal; comparing lists of lines is not.
    hay = "\n" + "".join(f"{body}\n" for body in bodies)
    needle = "\n" + "".join(f"{line.strip(_BLANKS)}\n" for line in lines)
    number, counted, at = 0, 0, hay.find(needle)
    while at >= 0:
        number, counted = number + hay.count("\n", counted, at), at
        yield number
        at = hay.find(needle, at + 1)


def _indentation_shifts(lines: list[str], there: list[str]) -> Iterator[_IndentationShift]:
    """Yield the shifts that turn the indentation of some lines into that of the file."""
    pairs = [
        (_indentation(line), _indentation(own))
        for line, own in zip(lines, there, strict=True)
        if line.strip(_BLANKS)
    ]
    for width in (0, *_TAB_WIDTHS):
        turned, own = _convert_tabs(pairs[0][0], width), pairs[0][1]
        if turned is None or not (own.endswith(turned) or turned.endswith(own)):
            continue
        more = own[: max(len(own) - len(turned), 0)]
        less = turned[: max(len(turned) - len(own), 0)]
        reading = _IndentationShift(width, more, less)
        if all(
            reading.of(indentation) == own_indentation for indentation, own_indentation in pairs
        ):
            yield reading


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(_BLANKS))]


def _simplest_result(readings: list[_IndentationShift], new: str) -> str | None:
    """Return the new text by the simplest shift; None if equally simple ones disagree."""

    def rank(reading: _IndentationShift) -> int:
        return 0 if not reading.width else 2 if reading.more or reading.less else 1

    simplest = min(map(rank, readings))
    results = {reading.over(new) for reading in readings if rank(reading) == simplest}
    return results.pop() if len(results) == 1 else None


def nearest_lines(text: str, old: str) -> list[str]:
    """Return the lines that are most similar to the first line of an old text, best first."""
    pairs_of_old = _pairs(next((line.strip() for line in old.split("\n") if line.strip()), old))
    alike: dict[str, float] = {}
    for line in to_lf(text[:_NEAREST_CHARS]).split("\n"):
        shown = line.strip()
        if shown and shown not in alike:
            pairs = _pairs(shown)
            both = (pairs_of_old & pairs).total()
            alike[shown] = 2 * both / ((pairs_of_old.total() + pairs.total()) or 1)
    best = nlargest(NEAREST_LINES, alike, key=alike.__getitem__)
    return [line for line in best if alike[line] >= _SIMILAR]


def _pairs(line: str) -> Counter[str]:
    """Count the pairs of neighbouring characters; comparing them is linear in the line."""
    line = line[:_NEAREST_LINE].lower()
    return Counter(map(add, line, line[1:]))


_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: the mark of UTF-32-LE begins with that of UTF-16-LE.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOM_STARTS: Final = frozenset(bom[:1] for bom, _ in _BOMS)
_MEDIA: Final = frozenset(
    [
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".heic"),
        *(".heif", ".mp3", ".wav", ".ogg", ".flac", ".m4a", ".aac", ".aiff", ".mp4", ".mov"),
        *(".avi", ".webm", ".mkv", ".mpeg", ".mpg", ".wmv", ".flv", ".3gpp"),
        *(".pdf", ".ppt", ".pptx"),
    ]
)
_SHOWN = 80
_STRIDE = 1 << 16


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text decoded from bytes.

    `encoding` names the codec, `bom` is the byte order mark before the text, and `lossy` says
    that invalid bytes are shown as U+FFFD.
    """

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    lossy: bool = False


def decode(data: bytes) -> Decoded:
    """Decode bytes as UTF-8, or as the byte order mark says; invalid bytes raise no error."""
    bom, encoding = _mark(data)
    body = data[len(bom) :]
    try:
        return Decoded(body.decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        # Losing one character is better than losing the file: an agent must still read its rules.
        return Decoded(body.decode(encoding, "replace"), encoding, bom, lossy=True)


def text_in(data: bytes | None) -> str | None:
    """Return the text of a file's bytes, None for no file."""
    return None if data is None else decode(data).text


def is_text(data: bytes | None) -> bool:
    """Return whether there are bytes, and whether they are a text."""
    return data is not None and not is_binary(data)


def digest(data: bytes | None) -> str | None:
    """Return a digest of some bytes, None for no file."""
    return None if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


def _mark(data: bytes) -> tuple[bytes, str]:
    if data[:1] in _BOM_STARTS:
        for bom, name in _BOMS:
            if data.startswith(bom):
                return bom, name
    return b"", "utf-8"


def encode(path: str, text: str) -> bytes:
    """Return the UTF-8 bytes of a text, checked before anything is written.

    Raises:
        TextRefused: If the text holds a lone surrogate.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TextRefused(
            path,
            f"The text for '{path}' cannot be stored as UTF-8: character {error.start} is half of"
            " a surrogate pair. Nothing was written; send the whole character",
        ) from None


def is_binary(data: bytes) -> bool:
    """Return whether bytes are not text: they hold NUL, are not UTF-8, and no mark says UTF-16."""
    # UTF-16 is full of NUL bytes, so a byte order mark is looked for first.
    if b"\0" not in data or _mark(data)[0]:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


@lru_cache(maxsize=1024)
def is_media(path: str) -> bool:
    """Return whether a file is a picture, sound, video, PDF or slide deck by its name."""
    return PurePosixPath(path).suffix.lower() in _MEDIA


def show(path: str, data: bytes, offset: int, limit: int) -> ReadResult:
    """Return what `read` shows of the bytes of a file.

    Lines `offset` to `offset + limit` of a text; what is no text comes whole as base64.
    Only what is shown is decoded.

    Raises:
        FileError: If the offset lies past the last line.
    """
    if is_media(path) or is_binary(data):
        return whole_as_base64(data)
    bom, encoding = _mark(data)
    if encoding != "utf-8":
        return window(path, decode(data).text, offset, limit)
    lines = _lines(path, data[len(bom) :], (b"\n", b"\r"), offset, limit)
    return lines.result(lines.shown.decode("utf-8", "replace"))


def window(path: str, text: str, offset: int, limit: int) -> ReadResult:
    """Return lines `offset` to `offset + limit` of a text as a read result.

    Raises:
        FileError: If the offset lies past the last line.
    """
    lines = _lines(path, text, ("\n", "\r"), offset, limit)
    return lines.result(lines.shown)


@dataclass(frozen=True, slots=True)
class _LineWindow(Generic[AnyStr]):
    """A window of lines of a text; empty without a last line."""

    shown: AnyStr
    start: int = 0
    stop: int = 0
    total: int = 0
    requested: bool = True

    def result(self, content: str) -> ReadResult:
        data = FileData(content=content, encoding="utf-8")
        if not self.stop:
            return ReadResult(file_data=data, no_lines_requested=not self.requested)
        return ReadResult(
            file_data=data,
            total_lines=self.total,
            start_line=self.start + 1,
            end_line=self.stop,
            next_offset=self.stop if self.stop < self.total else None,
        )


def _lines(
    path: str, text: AnyStr, signs: tuple[AnyStr, AnyStr], offset: int, limit: int
) -> _LineWindow[AnyStr]:
    (lf, cr), start = signs, max(offset, 0)
    if limit <= 0 or not text:
        return _LineWindow(text[:0], requested=limit > 0)
    if cr in text:
        text = text.replace(cr + lf, lf).replace(cr, lf)
    total = text.count(lf) + (not text.endswith(lf))
    if start >= total:
        raise _PastEnd(path, f"Line offset {start} exceeds file length ({total} lines)")
    stop = min(start + limit, total)
    begin = _line_start(text, lf, start, 0)
    end = len(text) if stop == total else _line_start(text, lf, stop - start, begin)
    return _LineWindow(text[begin:end], start, stop, total)


class _PastEnd(FileError):
    code = "invalid_path"


def _line_start(text: AnyStr, lf: AnyStr, lines: int, position: int) -> int:
    """Return where the line begins that is this many lines after a position."""
    step = _STRIDE
    while step > _SHOWN:  # over whole blocks first, they are counted at once
        inside = text.count(lf, position, position + step)
        if inside < lines:
            lines, position = lines - inside, position + step
        else:
            step //= 4
    for _ in range(lines):
        position = text.index(lf, position) + 1
    return position


def whole_as_base64(data: bytes) -> ReadResult:
    """Return a whole file as base64, for what is not text."""
    content = base64.b64encode(data).decode("ascii")
    return ReadResult(file_data=FileData(content=content, encoding="base64"))


def edit_bytes(path: str, data: bytes, old: str, new: str, every: bool) -> tuple[bytes, int]:
    """Apply an edit to the bytes of a file; untouched bytes stay as they are.

    The byte order mark and the encoding are kept, and so are bytes that are not valid
    UTF-8.

    Raises:
        EditRefused: If the file is not text, or the old text is not found, not unique or
            empty.
        TextRefused: If the new text cannot be stored.
    """
    encode(path, new)
    body = _Body.of(path, data)
    text, count = edit(path, body.text, old, new, every)
    return body.changed(text), count


def edit(path: str, text: str, old: str, new: str, every: bool) -> tuple[str, int]:
    """Return the text with `old` replaced by `new`, and how often.

    Line endings do not matter for finding the text, the new lines take the ending of
    the place. When nothing matches, blanks at the ends of whole lines and the kind and
    depth of their indentation are forgiven if that leaves exactly one place.

    Raises:
        EditRefused: If the text is no text for a reader, or the old text is not found, not
            unique, or empty in a file that has text; the message says what is there.
    """
    encode(path, new)
    old, new = to_lf(old), to_lf(new)
    _check_text(path, text)
    if not old:
        if text.strip():
            raise EditRefused(
                path,
                f"old_string cannot be empty, because '{path}' has text. Give the text to replace,"
                " or use append_file to add a line",
            )
        return new, 1
    spans = exact_spans(text, old)
    if not spans:
        forgiven = ignoring_blanks(text, old, new)
        if forgiven is None:
            raise EditRefused(path, _not_found(text, old))
        span, new = forgiven
        spans = [span]
    if len(spans) > 1 and not every:
        raise EditRefused(
            path,
            f"String {_short(old)} appears {len(spans)} times in file. Use replace_all=True to"
            " replace all of them, or give more of the surrounding text",
        )
    return _replace_spans(text, spans, new), len(spans)


def surroundings(text: str, old: str) -> str:
    """Return a digest of the whole lines that an edit would change."""
    spans = exact_spans(text, to_lf(old)) if old else [(0, len(text))]
    if not spans:
        forgiven = ignoring_blanks(text, to_lf(old), "")
        spans = [forgiven[0]] if forgiven else []
    digest = hashlib.blake2b(digest_size=16)
    for lines in around(text, spans):
        digest.update(lines.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def append(path: str, text: str, line: str) -> str:
    """Return the text with a line added at its end, in the file's own line ending.

    Raises:
        EditRefused: If the file is not text.
    """
    _check_text(path, text)
    ending = _ending(text)
    gap = "" if not text or text.endswith(("\n", "\r")) else ending
    added = to_lf(line)
    added = added if added.endswith("\n") else added + "\n"
    return text + gap + added.replace("\n", ending)


def append_bytes(path: str, data: bytes, line: str) -> bytes:
    """Return the bytes of a file with a line added at its end.

    Raises:
        EditRefused: If the file is not text.
        TextRefused: If the line cannot be stored.
    """
    encode(path, line)
    body = _Body.of(path, data)
    return body.changed(append(path, body.text, line))


@dataclass(frozen=True, slots=True)
class _Body:
    """The text of a file, decoded so that encoding it gives the same bytes again."""

    text: str
    bom: bytes
    encoding: str
    invalid: str

    @classmethod
    def of(cls, path: str, data: bytes) -> _Body:
        bom, encoding = _mark(data)
        invalid = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
        try:
            return cls(data[len(bom) :].decode(encoding, invalid), bom, encoding, invalid)
        except UnicodeDecodeError:
            raise EditRefused(
                path,
                f"'{path}' is not text that can be changed: it begins as {encoding.upper()} and"
                " is broken further on. Write it as a whole",
            ) from None

    def changed(self, text: str) -> bytes:
        return self.bom + text.encode(self.encoding, self.invalid)


def _check_text(path: str, text: str) -> None:
    if is_media(path) or "\0" in text:
        raise EditRefused(
            path, f"'{path}' is not text, so an edit could break it; write it as a whole"
        )


def _ending(text: str) -> str:
    first = LINE_END.search(text)
    return first.group() if first else "\n"


def _replace_spans(text: str, spans: list[Span], new: str) -> str:
    pieces, position = [], 0
    usual = _ending(text) if "\n" in new else "\n"
    for start, end in spans:
        ending = LINE_END.search(text, start, end)
        pieces += [
            text[position:start],
            new.replace("\n", ending.group() if ending else usual),
        ]
        position = end
    return "".join([*pieces, text[position:]])


def _not_found(text: str, old: str) -> str:
    message = f"String not found in file: {_short(old)}"
    near = nearest_lines(text, old)
    if near:
        return f"{message}. The nearest lines are: {'; '.join(map(_short, near))}"
    return f"{message}. Read the file again, it may have changed"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
