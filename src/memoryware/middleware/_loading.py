"""Getting the texts of the sources, reading only what has changed.

`Loader.load` asks the backend for fingerprints where it has them, downloads in one
batch what is new, and hands out the same `Loaded` object as long as the bytes are
the same, so that nothing is formatted twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from langgraph.errors import GraphBubbleUp

from memoryware._twins import Via
from memoryware.backends import _foreign
from memoryware.backends._text import decode
from memoryware.backends.protocol import Fingerprints
from memoryware.errors import LoadError, MemorywareError, ResponseCountError
from memoryware.events import logger
from memoryware.middleware._bounded import Bounded
from memoryware.middleware._rules import PathRules, names_of
from memoryware.settings import MemoryLimits

OnError = Literal["raise", "warn"]
"""What to do with a source that cannot be read: stop the run, or go on without it."""


@dataclass(frozen=True, slots=True)
class BackendRuntime:
    """What a backend factory is called with inside a middleware hook."""

    state: Any
    context: Any
    store: Any
    stream_writer: Any
    config: Any
    tool_call_id: str | None = None

    @classmethod
    def of(cls, state: Any, runtime: Any, config: Any) -> BackendRuntime:
        """Put together what a hook knows."""
        return cls(
            state=state,
            context=getattr(runtime, "context", None),
            store=getattr(runtime, "store", None),
            stream_writer=getattr(runtime, "stream_writer", None),
            config=config or {},
        )


class _Answer(NamedTuple):  # a tuple, because answers are made, hashed and compared all the time
    """What a backend said about one path: bytes, or an error code."""

    content: bytes | None
    error: str | None


@dataclass(eq=False, slots=True)
class Loaded:
    """The texts of one load, and what has been made of them so far.

    Attributes:
        contents: Text by source, without missing ones.
        problems: Sources that could not be read, with the code.
        rendered: Finished prompt parts by variant, filled by the middleware.
    """

    contents: dict[str, str]
    problems: tuple[tuple[str, str], ...] = ()
    rendered: dict[Any, Any] = field(default_factory=dict)


class _Seen(NamedTuple):
    """What a backend held when it was last asked; the reference keeps its `id` its own."""

    backend: Any
    tokens: list[str | None]
    answers: list[_Answer]
    loaded: Loaded


class Loader:
    """Loads one list of sources from any backend and remembers what it saw last."""

    def __init__(
        self, sources: Sequence[str], on_error: OnError, limits: MemoryLimits, rules: PathRules
    ) -> None:
        self._sources = list(sources)
        self._rules = rules
        self._on_error = on_error
        self._seen: Bounded[int, _Seen] = Bounded(limits.warm_backends)
        # By the bytes themselves: to hash and compare them is many times faster than a digest.
        self._loaded: Bounded[tuple[_Answer, ...], Loaded] = Bounded(limits.rendered_blocks)

    async def load(self, via: Via, backend: Any) -> Loaded:
        """Return what the sources hold now.

        Raises:
            LoadError: With `on_error="raise"`, for a source that cannot be read.
            ResponseCountError: If the backend answers fewer or more than it was asked.
        """
        tokens: list[str | None] = [None] * len(self._sources)
        able = _foreign.fingerprints_of(backend)
        if able is not None and self._sources:
            tokens = await self._told(via, able)
        seen = self._seen.get(id(backend))
        if seen is not None and seen.backend is not backend:
            seen = None
        if seen is not None and seen.tokens == tokens and None not in tokens:
            return seen.loaded
        answers = await self._answers(via, backend, tokens, seen)
        loaded = self._same_or_new(answers)
        self._seen.put(id(backend), _Seen(backend, tokens, answers, loaded))
        return loaded

    async def _told(self, via: Via, able: Fingerprints) -> list[str | None]:
        """Ask for fingerprints; a backend that fails at it is read instead, and says why then."""
        try:
            tokens = await via(able.fingerprint, able.afingerprint, self._sources)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a foreign backend may raise anything
            logger.debug("no fingerprints: %s", type(error).__name__)
            tokens = []
        unknown: list[str | None] = [None] * len(self._sources)
        return tokens if len(tokens) == len(self._sources) else unknown

    async def _answers(
        self, via: Via, backend: Any, tokens: Sequence[str | None], seen: _Seen | None
    ) -> list[_Answer]:
        """Download what has no known token, in one call, and keep the rest."""
        found: dict[str, _Answer] = {}
        if seen is not None:
            rows = zip(self._sources, tokens, seen.tokens, seen.answers, strict=True)
            found = {path: old for path, now, then, old in rows if now is not None and now == then}
        wanted = [path for path in self._sources if path not in found]
        denied = await self._denied(via, backend, wanted) if self._rules and wanted else ()
        for path in denied:
            found[path] = _Answer(None, "permission_denied")
            wanted.remove(path)
        if wanted:
            found.update(zip(wanted, await self._download(via, backend, wanted), strict=True))
        return [found[path] for path in self._sources]

    async def _denied(self, via: Via, backend: Any, paths: list[str]) -> list[str]:
        """Return which of the paths the rules do not let a tool read; they are not read here."""
        rules = await self._rules.bound(via, backend)
        names = zip(paths, await names_of(via, backend, paths), strict=True)
        return [path for path, own in names if not rules.permits("read", own)]

    async def _download(self, via: Via, backend: Any, paths: list[str]) -> list[_Answer]:
        try:
            responses = await via(backend.download_files, backend.adownload_files, paths)
        except GraphBubbleUp:
            raise
        except Exception as error:  # a foreign backend may raise anything
            if self._on_error == "warn":
                return [_Answer(None, type(error).__name__) for _ in paths]
            if isinstance(error, MemorywareError | NotImplementedError):
                raise
            reason = f"{type(error).__name__}: {error}"
            raise LoadError(
                ", ".join(paths), reason, f"{type(backend).__name__} raised it"
            ) from error
        check_count(backend, paths, responses)
        return [_Answer(_bytes_of(one.content), one.error) for one in responses]

    def _same_or_new(self, answers: Sequence[_Answer]) -> Loaded:
        key = tuple(answers)
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = self._decode(answers)
            self._loaded.put(key, loaded)
        return loaded

    def _decode(self, answers: Sequence[_Answer]) -> Loaded:
        contents, problems = dict[str, str](), list[tuple[str, str]]()
        for path, answer in zip(self._sources, answers, strict=True):
            text = text_of(path, answer.content, answer.error, on_error=self._on_error)
            if text is not None:
                contents[path] = text
            elif answer.error not in (None, "file_not_found"):
                problems.append((path, str(answer.error)))
        return Loaded(contents, tuple(problems))


def check_count(backend: Any, paths: Sequence[str], responses: Sequence[Any]) -> None:
    """Refuse a batch whose answers cannot be matched to its paths.

    Raises:
        ResponseCountError: Naming the backend, the paths and both counts.
    """
    if len(responses) == len(paths):
        return
    name = type(backend).__name__
    plural = "s" if len(paths) > 1 else ""
    raise ResponseCountError(
        f"Expected {len(paths)} response{plural} for path{plural} {', '.join(paths)},"
        f" got {len(responses)} ({name}.download_files: expected {len(paths)},"
        f" answered {len(responses)})"
    )


def text_of(path: str, content: Any, error: str | None, *, on_error: OnError) -> str | None:
    """Return the text of one response, or None for a source that gives none.

    Raises:
        LoadError: With `on_error="raise"`, for any code but `file_not_found`.
    """
    if error == "file_not_found":
        return None
    if error is not None:
        if on_error == "raise":
            raise LoadError(path, error, hint_for(error))
        logger.warning("memory source %s was not loaded: %s", path, error)
        return None
    data = _bytes_of(content)
    if data is None:
        return None
    decoded = decode(data)
    if decoded.lossy:
        logger.warning(
            "memory source %s is not valid %s; unreadable bytes are shown as U+FFFD",
            path,
            decoded.encoding,
        )
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("memory source %s loaded, %d bytes", path, len(data))
    return decoded.text


def hint_for(error: str) -> str:
    """Return what to do about an error code of a memory source."""
    hints = {
        "is_directory": "It is a folder; name a file in it",
        "permission_denied": "This process, or a rule given here, may not read it",
        "too_large": "It has more bytes than read_max_bytes of FileLimits; split it",
        "invalid_path": "It leaves the root (also by a link), lies below a file, or is no path"
        " that this backend has; use one such as /AGENTS.md",
    }
    skip = 'or pass on_error="warn" to go on without it'
    return f"{hints[error]}, {skip}" if error in hints else skip[3].upper() + skip[4:]


def _bytes_of(content: Any) -> bytes | None:
    return content.encode() if isinstance(content, str) else content
