"""Asking a backend for files: what is known by its fingerprint is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from langgraph.errors import GraphBubbleUp

from memoryware._twins import Via
from memoryware.backends import _foreign
from memoryware.errors import LoadError, MemorywareError
from memoryware.events import logger
from memoryware.middleware._rules import PathRules, names_of
from memoryware.middleware._texts import OnError, bytes_of, check_count


class DownloadedFile(
    NamedTuple
):  # a tuple, because answers are made, hashed and compared all the time
    """What a backend said about one path: bytes, or an error code."""

    content: bytes | None
    error: str | None


class CachedFile(NamedTuple):
    """An answer, and the fingerprint that it was given under; None stands for no other."""

    token: str | None
    download: DownloadedFile


async def fingerprints_of_paths(via: Via, backend: Any, paths: Sequence[str]) -> list[str | None]:
    """Return fingerprints; a backend that fails at it is read instead, and says why then."""
    unknown: list[str | None] = [None] * len(paths)
    able = _foreign.fingerprints_of(backend)
    if able is None or not paths:
        return unknown
    try:
        tokens = await via(able.fingerprint, able.afingerprint, list(paths))
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - a foreign backend may raise anything
        logger.debug("no fingerprints: %s", type(error).__name__)
        return unknown
    return tokens if len(tokens) == len(paths) else unknown


class FileReader:
    """The files that one load asks for, each once, under the rules for reading.

    Attributes:
        known: All that was asked for, in order.
        reasons: Why a backend refuses a path, in a sentence, where it says so.
    """

    def __init__(self, backend: Any, rules: PathRules, on_error: OnError) -> None:
        self._backend, self._rules, self._on_error = backend, rules, on_error
        self.known: dict[str, CachedFile] = {}
        self.reasons: dict[str, str] = {}

    async def __call__(self, via: Via, paths: Sequence[str]) -> list[DownloadedFile]:
        """Return one answer per path; what is new is read in one call."""
        new = [path for path in dict.fromkeys(paths) if path not in self.known]
        if new:
            tokens = await fingerprints_of_paths(via, self._backend, new)
            await self.read(via, dict(zip(new, tokens, strict=True)))
        return [self.known[path].download for path in paths]

    async def names(self, via: Via, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the absolute names of each path, as the backend knows them."""
        return await names_of(via, self._backend, paths)

    async def read(self, via: Via, tokens: dict[str, str | None]) -> None:
        """Read files, whose fingerprints were taken before."""
        found: dict[str, DownloadedFile] = {}
        wanted = list(tokens)
        for path in await self._denied(via, wanted) if self._rules else ():
            found[path] = DownloadedFile(None, "permission_denied")
            wanted.remove(path)
        if wanted:
            found.update(zip(wanted, await self._download(via, wanted), strict=True))
        for path, token in tokens.items():
            self.known[path] = CachedFile(token, found[path])

    async def _denied(self, via: Via, paths: list[str]) -> list[str]:
        """Return which of the paths the rules do not let a tool read; they are not read here."""
        rules = await self._rules.bound(via, self._backend)
        names = zip(paths, await names_of(via, self._backend, paths), strict=True)
        return [path for path, own in names if not rules.permits("read", own)]

    async def _download(self, via: Via, paths: list[str]) -> list[DownloadedFile]:
        backend = self._backend
        try:
            responses = await via(*_foreign.twins_of(backend, "download_files"), paths)
        except GraphBubbleUp:
            raise
        except Exception as error:  # a foreign backend may raise anything
            if self._on_error == "warn":
                return [DownloadedFile(None, type(error).__name__) for _ in paths]
            if isinstance(error, MemorywareError | NotImplementedError):
                raise
            reason = f"{type(error).__name__}: {error}"
            raise LoadError(
                ", ".join(paths), reason, f"{type(backend).__name__} raised it"
            ) from error
        check_count(backend, paths, responses)
        for path, response in zip(paths, responses, strict=True):
            if response.error == "invalid_path":
                self.reasons[path] = await _foreign.refusal_of(via, backend, path)
        return [DownloadedFile(bytes_of(one.content), one.error) for one in responses]
