"""Load memory files: fetch what changed, decode it, and report what cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from langgraph.errors import GraphBubbleUp

from memoryware._caching import LruCache
from memoryware._clock import NewId
from memoryware._runner import Runner
from memoryware.backends import _adapter
from memoryware.backends._text import decode
from memoryware.errors import LoadError, MemorywareError, ResponseCountError
from memoryware.events import logger
from memoryware.guard import Finding, Guard
from memoryware.middleware._agent_state import CONTENTS, MemoryStateKeys
from memoryware.middleware._path_rules import PathRules, absolute_names
from memoryware.settings import MemoryLimits
from memoryware.sources._candidates import Permits, text_link
from memoryware.sources.discovery import discover_nested, discover_via
from memoryware.sources.imports import Imports, expand
from memoryware.sources.layout import DiscoveryWarnings, Layout
from memoryware.sources.source import Source
from memoryware.tiers.provenance import Origin

# Bytes up to which files are scanned without a thread of their own.
_SCANNED_HERE: Final = 20_000


@dataclass(eq=False, slots=True)
class LoadedMemory:
    """The texts of one load, with the prompt parts that were rendered from them so far.

    Attributes:
        contents: Text by source, without missing ones; imports are in it.
        problems: Sources that could not be read, with the code.
        sources: The sources in the order in which they are shown.
        imported: Files that were imported, each with the source that it is part of.
        secrets: What looks like a secret, with the file that it is in.
        sizes: Bytes of each file that was read.
        rendered: Finished prompt parts by variant, filled by the middleware.
        origins: The files as origins; None until they are asked for.
    """

    contents: dict[str, str]
    problems: tuple[tuple[str, str], ...] = ()
    sources: tuple[Source, ...] = ()
    imported: Mapping[str, Source] = field(default_factory=dict)
    secrets: tuple[tuple[str, Finding], ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    rendered: dict[Any, Any] = field(default_factory=dict)
    origins: tuple[Origin, ...] | None = None

    @classmethod
    def by_hand(cls, contents: dict[str, str], sources: Sequence[Source]) -> LoadedMemory:
        """Return contents that a caller has loaded, in the order of the sources."""
        listed = {source.path for source in sources}
        others = [Source(path) for path in contents if path not in listed]
        return cls(contents, sources=(*sources, *others))

    def shown_origins(self) -> tuple[Origin, ...]:
        """Return the origins of all files in the prompt, imported ones included."""
        if self.origins is None:
            shown = {path for path, text in self.contents.items() if text.strip()}
            read = {path for path, source in self.imported.items() if source.path in shown}
            files = [source for source in self.files if source.path in shown | read]
            self.origins = tuple(Origin.file(file.path, trusted=file.trusted) for file in files)
        return self.origins

    @property
    def files(self) -> list[Source]:
        """All memory files: the sources, and what is imported into them under their rules."""
        own = {source.path for source in self.sources}
        return [
            *self.sources,
            *(
                Source(path, source.owner, source.writable, trusted=source.trusted)
                for path, source in self.imported.items()
                if path not in own
            ),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Which files are memory, and how they are read.

    Attributes:
        sources: The sources that were listed.
        start: Where discovery starts, None for none.
        layout: What memory files are called and where they lie.
        nested: Whether the memory files of folders that the agent works in join.
        imports: How imports are expanded, None for not at all.
        guard: Warns of secrets in what is loaded; None for no search.
    """

    sources: tuple[Source, ...]
    on_error: OnError
    limits: MemoryLimits
    rules: PathRules
    start: str | None = None
    layout: Layout = field(default_factory=Layout)
    nested: bool = False
    imports: Imports | None = None
    guard: Guard | None = None


class _LastLoad(NamedTuple):
    """The last load from a backend. The reference keeps its `id` from being reused."""

    backend: Any
    files: dict[str, CachedFile]
    loaded: LoadedMemory


# An unchanged memory is the same `LoadedMemory` object, so that nothing is rendered twice: the
# finished prompt parts hang on it.
class MemoryLoader:
    """Loads the sources of one middleware from any backend and remembers what it saw last."""

    def __init__(self, reading: LoadOptions) -> None:
        self._load_options = reading
        limits, self._notices = reading.limits, DiscoveryWarnings()
        self._last_loads: LruCache[Any, _LastLoad] = LruCache(limits.warm_backends)
        # Keyed by the bytes: hashing and comparing them is many times faster than a digest.
        self._loaded: LruCache[Any, LoadedMemory] = LruCache(limits.rendered_blocks)

    async def load(self, runner: Runner, backend: Any, folders: Sequence[str] = ()) -> LoadedMemory:
        """Return what the sources hold now.

        Args:
            backend: Where they are.
            folders: Folders that the agent works in, whose memory files join.

        Raises:
            LoadError: With `on_error="raise"`, for a source that cannot be read, and for a
                required one that is missing.
            ResponseCountError: If the backend returns fewer or more results than paths.
        """
        sources = await self._sources(runner, backend, folders)
        paths = [source.path for source in sources]
        fixed = sources is self._load_options.sources
        # By `id`, because a backend need not be hashable. The cache holds a reference to it, so
        # that the number cannot be given to another object meanwhile.
        key = id(backend) if fixed else (id(backend), sources)
        last = self._last_loads.get(key)
        if last is not None and last.backend is not backend:
            last = None
        watched = paths if last is None else list(last.files)
        # Before the read: a write in between is then seen as a change the next time.
        tokens = dict(
            zip(watched, await fingerprints_of_paths(runner, backend, watched), strict=True)
        )
        fetch = FileReader(backend, self._load_options.rules, self._load_options.on_error)
        if last is not None:
            fetch.files = {
                path: file
                for path, file in last.files.items()
                if file.token is not None and file.token == tokens[path]
            }
            if len(fetch.files) == len(watched):
                return last.loaded
        await fetch.read(
            runner, {path: token for path, token in tokens.items() if path not in fetch.files}
        )
        loaded = await self._reuse_or_build(runner, sources, fetch)
        self._last_loads.put(key, _LastLoad(backend, fetch.files, loaded))
        return loaded

    async def _sources(
        self, runner: Runner, backend: Any, folders: Sequence[str]
    ) -> tuple[Source, ...]:
        """Return the given sources, or those that are found; with `folders` also theirs."""
        reading, sources, root = self._load_options, self._load_options.sources, None
        permits = await self._permits(runner, backend)
        if reading.start is not None:
            where = runner, backend, reading.start, reading.layout, self._notices
            discovery = await discover_via(*where, permits=permits)
            sources, root = tuple(discovery.sources), discovery.root
        if folders:
            near = await discover_nested(
                *(runner, backend, folders, sources, reading.layout),
                root=root,
                notices=self._notices,
                permits=permits,
            )
            sources = (*sources, *near) if near else sources
        return sources

    async def _permits(self, runner: Runner, backend: Any) -> Permits | None:
        """Return a function that decides whether a file may be read; None without rules."""
        reading = self._load_options
        if not reading.rules or (reading.start is None and not reading.nested):
            return None
        rules = await reading.rules.bound(runner, backend)
        return partial(rules.permits, "read")

    async def _reuse_or_build(
        self, runner: Runner, sources: tuple[Source, ...], fetch: FileReader
    ) -> LoadedMemory:
        decoded = None
        if self._load_options.imports is not None:  # they decide which files belong to it
            decoded = self._decode(sources, fetch)
            decoded.imported = await self._expand_imports(
                runner, decoded, fetch, self._load_options.imports
            )
        key = (sources, frozenset((path, file.download) for path, file in fetch.files.items()))
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = await self._scan_secrets(
                runner, decoded or self._decode(sources, fetch), fetch
            )
            self._loaded.put(key, loaded)
        return loaded

    def _decode(self, sources: tuple[Source, ...], fetch: FileReader) -> LoadedMemory:
        contents, problems = dict[str, str](), list[tuple[str, str]]()
        on_error = self._load_options.on_error
        for source in sources:
            path, (content, error) = source.path, fetch.files[source.path].download
            reason = fetch.reasons.get(path, "")
            text = source_text(path, content, error, on_error=on_error, reason=reason)
            if text is not None:
                contents[path] = text
                if self._load_options.start is None and (target := text_link(text)):
                    self._notices.warn(
                        "memory source %s holds nothing but the path %s, like a link that was"
                        " checked out as text; list that file instead",
                        path,
                        target,
                    )
            elif error == "file_not_found":
                if source.required:
                    problems.append((path, _required_missing(path, on_error)))
            elif error is not None:
                problems.append((path, error))
        return LoadedMemory(contents, tuple(problems), sources)

    async def _expand_imports(
        self, runner: Runner, decoded: LoadedMemory, fetch: FileReader, options: Imports
    ) -> dict[str, Source]:
        """Put imports into the texts; return the files that were asked for."""
        imported: dict[str, Source] = {}
        shown = {source.path for source in decoded.sources}
        for source in decoded.sources:
            text = decoded.contents.get(source.path)
            if text is None:
                continue
            whole = await expand(
                runner, source.path, text, fetch, options, loaded=shown, names=fetch.names
            )
            decoded.contents[source.path] = whole.text
            shown.update(whole.shown)
            for path in whole.imported:
                imported.setdefault(path, source)
            for note in whole.notes:
                logger.warning("memory %s", note)
        return imported

    async def _scan_secrets(
        self, runner: Runner, loaded: LoadedMemory, fetch: FileReader
    ) -> LoadedMemory:
        """Log a warning for each secret in the loaded files; the texts are not changed."""
        guard = self._load_options.guard
        contents = {path: file.download.content for path, file in fetch.files.items()}
        files = {path: content for path, content in contents.items() if content}
        loaded.sizes = {
            path: len(content) for path, content in contents.items() if content is not None
        }
        if guard is None or not files:
            return loaded
        scan = partial(_secrets, guard, files)
        small = sum(map(len, files.values())) <= _SCANNED_HERE
        loaded.secrets = scan() if small else await runner.offload(scan)
        for path, finding in loaded.secrets:
            logger.warning(
                "memory source %s, line %d, holds what looks like a secret (%s); take it out,"
                " change the secret, and allow it in the guard if it is none",
                path,
                finding.line,
                finding.kind,
            )
        return loaded


def _secrets(guard: Guard, files: Mapping[str, bytes]) -> tuple[tuple[str, Finding], ...]:
    """Return the secrets in the files themselves: imports would shift their line numbers."""
    texts = {path: decode(content).text for path, content in files.items()}
    return tuple((path, finding) for path, text in texts.items() for finding in guard.scan(text))


def _required_missing(path: str, on_error: OnError) -> str:
    """Return the code of a required source that is missing.

    Raises:
        LoadError: With `on_error="raise"`.
    """
    if on_error == "raise":
        raise LoadError(path, "file_not_found", "It is required; create it, or check the path")
    logger.warning("memory source %s is required and missing; create it, or check the path", path)
    return "file_not_found"


# A tuple, because these are created, hashed and compared at each load.
class DownloadedFile(NamedTuple):
    """The response of a backend about one path: bytes, or an error code."""

    content: bytes | None
    error: str | None


class CachedFile(NamedTuple):
    """A downloaded file, and its fingerprint at that time; None if the backend has none."""

    token: str | None
    download: DownloadedFile


async def fingerprints_of_paths(
    runner: Runner, backend: Any, paths: Sequence[str]
) -> list[str | None]:
    """Return fingerprints; None for each if the backend fails, so that the file is read."""
    unknown: list[str | None] = [None] * len(paths)
    able = _adapter.fingerprints_of(backend)
    if able is None or not paths:
        return unknown
    try:
        tokens = await runner.call(able.fingerprint, able.afingerprint, list(paths))
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - a foreign backend may raise anything
        logger.debug("no fingerprints: %s", type(error).__name__)
        return unknown
    return tokens if len(tokens) == len(paths) else unknown


class FileReader:
    """Reads the files of one load, each once, under the rules for reading.

    Attributes:
        files: The files by path, in the order in which they were read.
        reasons: Sentences of the backend about paths that it refuses.
    """

    def __init__(self, backend: Any, rules: PathRules, on_error: OnError) -> None:
        self._backend, self._rules, self._on_error = backend, rules, on_error
        self.files: dict[str, CachedFile] = {}
        self.reasons: dict[str, str] = {}

    async def __call__(self, runner: Runner, paths: Sequence[str]) -> list[DownloadedFile]:
        """Return one answer per path; what is new is read in one call."""
        new = [path for path in dict.fromkeys(paths) if path not in self.files]
        if new:
            tokens = await fingerprints_of_paths(runner, self._backend, new)
            await self.read(runner, dict(zip(new, tokens, strict=True)))
        return [self.files[path].download for path in paths]

    async def names(self, runner: Runner, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the absolute names of each path, as the backend knows them."""
        return await absolute_names(runner, self._backend, paths)

    async def read(self, runner: Runner, tokens: dict[str, str | None]) -> None:
        """Read files, whose fingerprints were taken before."""
        downloads: dict[str, DownloadedFile] = {}
        readable = list(tokens)
        for path in await self._denied(runner, readable) if self._rules else ():
            downloads[path] = DownloadedFile(None, "permission_denied")
            readable.remove(path)
        if readable:
            downloads.update(zip(readable, await self._download(runner, readable), strict=True))
        for path, token in tokens.items():
            self.files[path] = CachedFile(token, downloads[path])

    async def _denied(self, runner: Runner, paths: list[str]) -> list[str]:
        """Return which of the paths the rules do not let a tool read; they are not read here."""
        rules = await self._rules.bound(runner, self._backend)
        names = zip(paths, await absolute_names(runner, self._backend, paths), strict=True)
        return [path for path, own in names if not rules.permits("read", own)]

    async def _download(self, runner: Runner, paths: list[str]) -> list[DownloadedFile]:
        backend = self._backend
        try:
            responses = await runner.call(*_adapter.twins_of(backend, "download_files"), paths)
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
                self.reasons[path] = await _adapter.refusal_of(runner, backend, path)
        return [
            DownloadedFile(downloaded_bytes(response.content), response.error)
            for response in responses
        ]


OnError = Literal["raise", "warn"]
"""What to do with a source that cannot be read: stop the run, or go on without it."""


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


def source_text(
    path: str, content: Any, error: str | None, *, on_error: OnError, reason: str = ""
) -> str | None:
    """Return the text of one response, or None for a source that gives none.

    Raises:
        LoadError: With `on_error="raise"`, for any code but `file_not_found`.
    """
    if error == "file_not_found":
        return None
    if error is not None:
        if on_error == "raise":
            raise LoadError(path, error, hint_for(error, reason))
        # Only codes are logged: the message of a foreign backend may quote the file.
        code = error if error.isidentifier() else "an error without a code"
        because = f"{code} ({reason})" if reason else code
        logger.warning("memory source %s was not loaded: %s", path, because)
        return None
    data = downloaded_bytes(content)
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


def hint_for(error: str, reason: str = "") -> str:
    """Return what to do about an error code of a memory source.

    Args:
        error: The code.
        reason: A sentence of the backend about this path, if it has one.
    """
    hints = {
        "is_directory": "It is a folder; name a file in it",
        "permission_denied": "This process, or a rule given here, may not read it",
        "too_large": "It has more bytes than read_max_bytes of FileLimits; split it",
        "invalid_path": "It leaves the root (also by a link), lies below a file, or is no path"
        " that this backend has; use one such as /AGENTS.md",
    }
    skip = 'or pass on_error="warn" to go on without it'
    if reason:
        return f"{reason}. {skip[3].upper()}{skip[4:]}"
    return f"{hints[error]}, {skip}" if error in hints else skip[3].upper() + skip[4:]


def downloaded_bytes(content: Any) -> bytes | None:
    """Return downloaded content as bytes; other backends may give text."""
    return content.encode() if isinstance(content, str) else content


Folders = tuple[str, ...]
"""Folders that an agent worked in when its memory was loaded."""


# The texts stay in a bounded cache of the middleware and the state has a random id: what is in
# the state is in every checkpoint, stream and result.
class Snapshots:
    """The loaded memory of each run of one middleware."""

    def __init__(
        self,
        keys: MemoryStateKeys,
        sources: Sequence[Source] | None,
        *,
        size: int,
        new_id: NewId,
    ) -> None:
        self.key, self.contents_key = keys.snapshot, keys.contents
        # The own sources; None where they are found at each load.
        self._sources = sources
        self._new_id = new_id
        self._entries: LruCache[str, tuple[LoadedMemory, Folders]] = LruCache(size)
        self._reported_changes: LruCache[str, tuple[LoadedMemory, str]] = LruCache(size)
        self._by_hand: tuple[Mapping[str, str], dict[str, str], LoadedMemory] | None = None

    def keep(self, loaded: LoadedMemory, folders: Folders = ()) -> dict[str, str]:
        """Keep what was loaded and return the state update that finds it again."""
        snapshot = self._new_id()
        self._entries.put(snapshot, (loaded, folders))
        return {self.key: snapshot}

    def own(self, state: Mapping[str, Any]) -> LoadedMemory | None:
        """Return what this run has loaded, if it is still here."""
        snapshot = state.get(self.key)
        entry = self._entries.get(snapshot) if snapshot else None
        return None if entry is None else entry[0]

    def folders(self, state: Mapping[str, Any]) -> Folders:
        """Return the folders that the agent had worked in when this run's memory was loaded."""
        snapshot = state.get(self.key)
        entry = self._entries.get(snapshot) if snapshot else None
        return () if entry is None else entry[1]

    def forget_after_write(self, state: Any, saved: str | None) -> None:
        """Forget the memory of a run, because a tool may have changed it.

        `saved` is a sentence about the change that a tool has reported, for `lost_change`.
        """
        snapshot = state.get(self.key) if isinstance(state, Mapping) else None
        entry = self._entries.get(snapshot) if snapshot else None
        if snapshot and entry is not None:
            self._entries.drop(snapshot)
            if saved:
                self._reported_changes.put(snapshot, (entry[0], saved))

    def lost_change(self, state: Mapping[str, Any], loaded: LoadedMemory) -> str | None:
        """Return the change that a tool reported and that a new load does not show, once."""
        snapshot = state.get(self.key)
        before = self._reported_changes.get(snapshot) if snapshot else None
        if snapshot is None or before is None:
            return None
        self._reported_changes.drop(snapshot)
        return before[1] if before[0] is loaded else None

    def carried(self, state: Mapping[str, Any], *, all_ours: bool) -> LoadedMemory | None:
        """Return the contents that the state itself carries.

        Another middleware may have left its own there, so only those of our sources count;
        with `all_ours` any other path makes the whole mapping that of another middleware.
        """
        contents = state.get(self.contents_key)
        if contents is None:
            contents = state.get(CONTENTS)
        if contents is None:
            return None
        last = self._by_hand
        if last is not None and last[0] is contents and last[1] == contents:
            return last[2]
        ours = dict(contents)
        if self._sources:  # without any of our own, all that is given is ours
            own_paths = {source.path for source in self._sources}
            ours = {path: text for path, text in contents.items() if path in own_paths}
        if contents and (not ours or (all_ours and len(ours) < len(contents))):
            return None
        loaded = LoadedMemory.by_hand(ours, self._sources or ())
        self._by_hand = (contents, dict(contents), loaded)
        return loaded
