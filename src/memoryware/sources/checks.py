"""Lint memory files (`check`) and scan them for secrets (`scan`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware.backends._adapter import BackendAdapter, check_backend
from memoryware.backends._patterns import WILDCARDS
from memoryware.backends._text import decode, is_binary
from memoryware.backends.protocol import BackendLike
from memoryware.errors import LoadError
from memoryware.events import logger
from memoryware.guard import FENCES, Guard, drop_hidden, fence_pattern, forged
from memoryware.settings import CheckLimits
from memoryware.sources.discovery import discover_via
from memoryware.sources.layout import Layout
from memoryware.sources.markdown import plain_lines, spans
from memoryware.sources.source import Source, sources_of

FlawKind = Literal["secret", "hidden", "fence", "comment", "code", "size", "encoding", "unreadable"]
"""The kind of a flaw: a secret; hidden characters; a tag that imitates the delimiters of memory in
the prompt; an unclosed comment or code block; too large; invalid text; an unreadable file."""
_FENCE: Final = fence_pattern(FENCES)
_MARKS: Final = fence_pattern((), chat_marks=True)


@dataclass(frozen=True, slots=True)
class Flaw:
    """A flaw of a memory file, without its text.

    Attributes:
        path: The file.
        line: Counted from 1; 0 for the file as a whole.
        kind: The kind of flaw.
        detail: A description for people.
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
    """Lint memory files: find secrets, hidden characters, unclosed comments and the like.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds.
        guard: Finds secrets; the default one does not look for personal data.
        limits: Sizes from which a file or a line is too large.

    Returns:
        Flaws in the order of files and lines.

    Raises:
        SettingError: If the backend or the sources are of the wrong kind.
        LoadError: If the backend cannot list the files of a pattern.
    """
    return run_blocking(
        _check(BLOCKING, backend, sources, guard or Guard(), limits or CheckLimits())
    )


async def acheck(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
    limits: CheckLimits | None = None,
) -> list[Flaw]:
    """Lint memory files: find secrets, hidden characters, unclosed comments and the like.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds.
        guard: Finds secrets; the default one does not look for personal data.
        limits: Sizes from which a file or a line is too large.

    Returns:
        Flaws in the order of files and lines.

    Raises:
        SettingError: If the backend or the sources are of the wrong kind.
        LoadError: If the backend cannot list the files of a pattern.
    """
    return await _check(ASYNC, backend, sources, guard or Guard(), limits or CheckLimits())


def _flaws_in(path: str, data: bytes, guard: Guard, limits: CheckLimits) -> list[Flaw]:
    """Return what is wrong with the bytes of one file, in the order of its lines."""
    if is_binary(data):
        return [Flaw(path, 0, "encoding", "not a text file")]
    decoded = decode(data)
    text = decoded.text
    flaws = [
        *_size(path, data, text, limits),
        *(
            Flaw(path, finding.line, "secret", f"looks like a {finding.kind}")
            for finding in guard.scan(text)
        ),
        *_hidden(path, text),
        *_forged(path, text),
        *_unclosed(path, text),
    ]
    if decoded.lossy:
        line = 1 + text.count("\n", 0, max(0, text.find("\ufffd")))
        flaws.append(Flaw(path, line, "encoding", "bytes that are not valid text"))
    return sorted(
        _limit_per_kind(path, flaws, limits.reported), key=lambda flaw: (flaw.line, flaw.kind)
    )


async def _check(
    runner: Runner, backend: Any, sources: Any, guard: Guard, limits: CheckLimits
) -> list[Flaw]:
    check_backend(backend, "backend")
    paths = await _scanned_paths(runner, backend, sources)
    answers = await BackendAdapter(backend).download(runner, paths) if paths else []
    flaws: list[Flaw] = []
    for path, answer in zip(paths, answers, strict=True):
        if answer.content is None:
            flaws.append(Flaw(path, 0, "unreadable", str(answer.error or "file_not_found")))
            continue
        # In a thread for async callers: searching a large file for secrets would hold up the loop.
        look = partial(_flaws_in, path, answer.content, guard, limits)
        flaws += await runner.call(look, partial(in_thread, look))
    return flaws


def _size(path: str, data: bytes, text: str, limits: CheckLimits) -> Iterator[Flaw]:
    if len(data) > limits.file_bytes:
        detail = f"{len(data)} bytes; the limit is {limits.file_bytes}"
        yield Flaw(path, 0, "size", detail)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > limits.line_chars:
            detail = f"a line of {len(line)} characters; the limit is {limits.line_chars}"
            yield Flaw(path, number, "size", detail)


def _hidden(path: str, text: str) -> Iterator[Flaw]:
    # Hidden characters are outside ASCII, or control characters.
    if text.isascii() and text.isprintable():
        return
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        _, dropped = drop_hidden(line)
        if dropped:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(dropped.items()))
            yield Flaw(path, number, "hidden", f"characters that a person does not see: {kinds}")


def _forged(path: str, text: str) -> Iterator[Flaw]:
    """Yield tags that imitate the delimiters of memory, once for each line."""
    for fence, detail in (
        (_FENCE, "a tag that imitates the delimiters of memory in the prompt"),
        (_MARKS, "a control token of a chat template, which a model may read as a new turn"),
    ):
        line, counted, reported = 1, 0, 0
        for position in forged(text, fence):
            line += text.count("\n", counted, position)
            counted = position
            if line != reported:
                reported = line
                yield Flaw(path, line, "fence", detail)


def _unclosed(path: str, text: str) -> Iterator[Flaw]:
    plain = plain_lines(text)
    line, counted = 1, 0
    for span in spans(plain):
        if span.kind != "unclosed" and not span.closer:
            continue
        line += plain.count("\n", counted, span.start)
        counted = span.start
        if span.closer:
            yield Flaw(path, line, "code", "code that begins here is never closed")
        else:
            yield Flaw(path, line, "comment", "a comment that begins here is never closed")


def _limit_per_kind(path: str, flaws: list[Flaw], most: int) -> Iterator[Flaw]:
    """Yield the first flaws of each kind, and how many more there are."""
    counts: Counter[FlawKind] = Counter()
    for flaw in flaws:
        counts[flaw.kind] += 1
        if counts[flaw.kind] <= most:
            yield flaw
    for kind, count in counts.items():
        if count > most:
            yield Flaw(path, 0, kind, f"and {count - most} more of this kind")


@dataclass(frozen=True, slots=True)
class Leak:
    """A line of a memory file that looks like a secret, without its text.

    Attributes:
        path: The file.
        line: Counted from 1.
        kind: What it looks like, such as "GitHub token".
    """

    path: str
    line: int
    kind: str


def scan(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
) -> list[Leak]:
    """Find secrets in memory files.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds. A missing file is logged as a warning.
        guard: Finds secrets; the default one does not look for personal data.

    Returns:
        Leaks in the order of files and lines.

    Raises:
        SettingError: If the backend or the sources are of the wrong kind.
        LoadError: If a file cannot be read: an unread file must not pass as clean.
    """
    return run_blocking(_scan(BLOCKING, backend, sources, guard or Guard()))


async def ascan(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
) -> list[Leak]:
    """Find secrets in memory files.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds. A missing file is logged as a warning.
        guard: Finds secrets; the default one does not look for personal data.

    Returns:
        Leaks in the order of files and lines.

    Raises:
        SettingError: If the backend or the sources are of the wrong kind.
        LoadError: If a file cannot be read: an unread file must not pass as clean.
    """
    return await _scan(ASYNC, backend, sources, guard or Guard())


async def _scan(runner: Runner, backend: Any, sources: Any, guard: Guard) -> list[Leak]:
    check_backend(backend, "backend")
    paths = await _scanned_paths(runner, backend, sources)
    answers = await BackendAdapter(backend).download(runner, paths)
    leaks: list[Leak] = []
    for path, answer in zip(paths, answers, strict=True):
        if answer.error == "file_not_found":
            logger.warning("there is no file %s to be scanned; check its path", path)
            continue
        if answer.content is None:
            raise LoadError(path, str(answer.error), "So it could not be scanned")
        look = partial(guard.scan, decode(answer.content).text)
        findings = await runner.call(look, partial(in_thread, look))
        leaks += [Leak(path, finding.line, finding.kind) for finding in findings]
    return leaks


async def _scanned_paths(runner: Runner, backend: Any, sources: Any) -> list[str]:
    """Return the paths of the files to check, each once, in order.

    Raises:
        SettingError: If `sources` is of the wrong kind.
        LoadError: For a pattern that the backend cannot search.
    """
    if isinstance(sources, str) and sources == "auto":
        discovered = await discover_via(runner, backend, "/", Layout())
        return [source.path for source in discovered.sources]
    paths: list[str] = []
    for source in sources_of(sources):
        if WILDCARDS.isdisjoint(source.path):
            paths.append(source.path)
            continue
        result = await BackendAdapter(backend).glob(runner, source.path, None)
        if result.error:
            raise LoadError(source.path, result.error, "So its files could not be scanned")
        paths += [file["path"] for file in result.matches or []]
    return list(dict.fromkeys(paths))
