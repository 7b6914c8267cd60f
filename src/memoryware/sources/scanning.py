"""Looking for secrets in memory that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from memoryware._twins import Via, blocking, finish, in_thread, native
from memoryware.backends._foreign import Guest, must_be_backend
from memoryware.backends._text import decode
from memoryware.backends.protocol import BackendLike
from memoryware.errors import LoadError
from memoryware.events import logger
from memoryware.guard import Guard
from memoryware.sources._layout import Layout
from memoryware.sources.discovery import found_via
from memoryware.sources.source import Source, sources_of

_WILD: Final = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class Leak:
    """A place in a memory file that looks like a secret; never its text.

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
    """Return what looks like a secret in memory files, in the order of files and lines.

    Args:
        backend: Where the files are.
        sources: Their paths; a pattern such as `/notes/*.md` stands for the files that fit,
            and "auto" for those that `discover` finds. A file that is not there is warned of.
        guard: What to look for; by default secrets, without personal data.

    Raises:
        SettingError: If the backend or the sources are none.
        LoadError: For a file that cannot be read, because it may hold anything.
    """
    return finish(_scan(blocking, backend, sources, guard or Guard()))


async def ascan(
    backend: BackendLike,
    sources: Sequence[str | Source] | Literal["auto"],
    *,
    guard: Guard | None = None,
) -> list[Leak]:
    """Async twin of `scan`."""
    return await _scan(native, backend, sources, guard or Guard())


async def _scan(via: Via, backend: Any, sources: Any, guard: Guard) -> list[Leak]:
    must_be_backend(backend, "backend")
    paths = await scanned_paths(via, backend, sources)
    answers = await Guest(backend).download(via, paths)
    leaks: list[Leak] = []
    for path, answer in zip(paths, answers, strict=True):
        if answer.error == "file_not_found":
            logger.warning("there is no file %s to be scanned; check its path", path)
            continue
        if answer.content is None:
            raise LoadError(path, str(answer.error), "Nobody knows what is in it")
        look = partial(guard.scan, decode(answer.content).text)
        found = await via(look, partial(in_thread, look))
        leaks += [Leak(path, one.line, one.kind) for one in found]
    return leaks


async def scanned_paths(via: Via, backend: Any, sources: Any) -> list[str]:
    """Return the files that are meant, each once, in their order.

    Raises:
        SettingError: If the sources are none.
        LoadError: For a pattern that the backend cannot look for.
    """
    if isinstance(sources, str) and sources == "auto":
        found = await found_via(via, backend, "/", Layout())
        return [one.path for one in found.sources]
    paths: list[str] = []
    for source in sources_of(sources):
        if _WILD.isdisjoint(source.path):
            paths.append(source.path)
            continue
        told = await Guest(backend).glob(via, source.path, None)
        if told.error:
            raise LoadError(source.path, told.error, "Nobody knows what the files hold")
        paths += [file["path"] for file in told.matches or []]
    return list(dict.fromkeys(paths))
