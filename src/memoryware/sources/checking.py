"""Looking through memory files for what a person should mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from memoryware._twins import Via, blocking, finish, in_thread, native
from memoryware.backends._foreign import Guest, must_be_backend
from memoryware.backends._text import decode, is_binary
from memoryware.backends.protocol import BackendLike
from memoryware.guard import FENCES, Guard, drop_hidden, fence_pattern, forged
from memoryware.settings import CheckLimits
from memoryware.sources.markdown.scanning import plain_lines, spans
from memoryware.sources.scanning import scanned_paths
from memoryware.sources.source import Source

FlawKind = Literal["secret", "hidden", "fence", "comment", "code", "size", "encoding", "unreadable"]
"""What is wrong: a secret; hidden characters; a tag that pretends to be the fence of memory; a
comment, or code, that is never closed; too large; no valid text; a file that cannot be read."""
_FENCE: Final = fence_pattern(FENCES)
_MARKS: Final = fence_pattern((), chat_marks=True)


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in a memory file that a person should look at; never its text.

    Attributes:
        path: The file.
        line: Counted from 1; 0 for the file as a whole.
        kind: What it is.
        detail: That in words.
    """

    path: str
    line: int
    kind: FlawKind
    detail: str


def check(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
    limits: CheckLimits | None = None,
) -> list[Flaw]:
    """Return what is wrong with memory files, in the order of files and lines.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds.
        guard: What is a secret; by default without personal data.
        limits: What is too large.

    Raises:
        SettingError: If the backend or the sources are none.
        LoadError: For a pattern that the backend cannot look for.
    """
    return finish(_check(blocking, backend, sources, guard or Guard(), limits or CheckLimits()))


async def acheck(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
    limits: CheckLimits | None = None,
) -> list[Flaw]:
    """Async twin of `check`."""
    return await _check(native, backend, sources, guard or Guard(), limits or CheckLimits())


def flaws_in(path: str, data: bytes, guard: Guard, limits: CheckLimits) -> list[Flaw]:
    """Return what is wrong with the bytes of one file, in the order of its lines."""
    if is_binary(data):
        return [Flaw(path, 0, "encoding", "this is no text")]
    decoded = decode(data)
    text = decoded.text
    found = [
        *_size(path, data, text, limits),
        *(Flaw(path, one.line, "secret", f"looks like a {one.kind}") for one in guard.scan(text)),
        *_hidden(path, text),
        *_forged(path, text),
        *_unclosed(path, text),
    ]
    if decoded.lossy:
        line = 1 + text.count("\n", 0, max(0, text.find("\ufffd")))
        found.append(Flaw(path, line, "encoding", "bytes that are not valid text"))
    return sorted(_at_most(path, found, limits.told), key=lambda one: (one.line, one.kind))


async def _check(
    via: Via, backend: Any, sources: Any, guard: Guard, limits: CheckLimits
) -> list[Flaw]:
    must_be_backend(backend, "backend")
    paths = await scanned_paths(via, backend, sources)
    answers = await Guest(backend).download(via, paths) if paths else []
    found: list[Flaw] = []
    for path, answer in zip(paths, answers, strict=True):
        if answer.content is None:
            found.append(Flaw(path, 0, "unreadable", str(answer.error or "file_not_found")))
            continue
        look = partial(flaws_in, path, answer.content, guard, limits)
        found += await via(look, partial(in_thread, look))
    return found


def _size(path: str, data: bytes, text: str, limits: CheckLimits) -> Iterator[Flaw]:
    if len(data) > limits.file_bytes:
        detail = f"{len(data)} bytes, and more than {limits.file_bytes} are too many"
        yield Flaw(path, 0, "size", detail)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > limits.line_chars:
            detail = f"a line of {len(line)} characters, and {limits.line_chars} are many"
            yield Flaw(path, number, "size", detail)


def _hidden(path: str, text: str) -> Iterator[Flaw]:
    if text.isascii() and text.isprintable():
        return
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        _, dropped = drop_hidden(line)
        if dropped:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(dropped.items()))
            yield Flaw(path, number, "hidden", f"characters that a person does not see: {kinds}")


def _forged(path: str, text: str) -> Iterator[Flaw]:
    """Yield the tags that pretend to be ours, once for each line."""
    for fence, detail in (
        (_FENCE, "a tag that pretends to be the fence around memory"),
        (_MARKS, "a control mark of a chat template, which a model may take for a new turn"),
    ):
        line, counted, reported = 1, 0, 0
        for place in forged(text, fence):
            line += text.count("\n", counted, place)
            counted = place
            if line != reported:
                reported = line
                yield Flaw(path, line, "fence", detail)


def _unclosed(path: str, text: str) -> Iterator[Flaw]:
    plain = plain_lines(text)
    line, counted = 1, 0
    for one in spans(plain):
        if one.kind != "unclosed" and not one.closer:
            continue
        line += plain.count("\n", counted, one.start)
        counted = one.start
        if one.closer:
            yield Flaw(path, line, "code", "code that begins here is never closed")
        else:
            yield Flaw(path, line, "comment", "a comment that begins here is never closed")


def _at_most(path: str, found: list[Flaw], most: int) -> Iterator[Flaw]:
    """Yield the first flaws of each kind, and how many more there are."""
    seen: Counter[FlawKind] = Counter()
    for one in found:
        seen[one.kind] += 1
        if seen[one.kind] <= most:
            yield one
    for kind, count in seen.items():
        if count > most:
            yield Flaw(path, 0, kind, f"and {count - most} more of this kind")
