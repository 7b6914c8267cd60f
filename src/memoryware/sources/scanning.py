"""Looking for secrets in memory that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memoryware._twins import Via, blocking, finish, in_thread, native
from memoryware.backends._foreign import Guest, must_be_backend
from memoryware.backends._text import decode
from memoryware.errors import LoadError
from memoryware.guard import Guard
from memoryware.sources.source import Source, sources_of


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
    backend: Any, sources: Sequence[str | Source], *, guard: Guard | None = None
) -> list[Leak]:
    """Return what looks like a secret in memory files, in the order of files and lines.

    Args:
        backend: Where the files are.
        sources: Their paths; missing files have no secrets.
        guard: What to look for; by default secrets, without personal data.

    Raises:
        SettingError: If the backend or the sources are none.
        LoadError: For a file that cannot be read, because it may hold anything.
    """
    return finish(_scan(blocking, backend, sources_of(sources), guard or Guard()))


async def ascan(
    backend: Any, sources: Sequence[str | Source], *, guard: Guard | None = None
) -> list[Leak]:
    """Async twin of `scan`."""
    return await _scan(native, backend, sources_of(sources), guard or Guard())


async def _scan(via: Via, backend: Any, sources: Sequence[Source], guard: Guard) -> list[Leak]:
    must_be_backend(backend, "backend")
    answers = await Guest(backend).download(via, [one.path for one in sources])
    leaks: list[Leak] = []
    for source, answer in zip(sources, answers, strict=True):
        if answer.error == "file_not_found":
            continue
        if answer.content is None:
            raise LoadError(source.path, str(answer.error), "Nobody knows what is in it")
        look = partial(guard.scan, decode(answer.content).text)
        found = await via(look, partial(in_thread, look))
        leaks += [Leak(source.path, one.line, one.kind) for one in found]
    return leaks
