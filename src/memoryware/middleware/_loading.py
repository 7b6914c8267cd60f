"""Getting the texts of the sources, reading only what has changed.

`MemoryLoader.load` finds out which sources there are, asks the backend for fingerprints where
it has them, reads in one batch what is new, and hands out the same `LoadedMemory` object as
long as the bytes are the same, so that nothing is formatted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from memoryware._twins import Via, in_thread
from memoryware.backends._text import decode
from memoryware.errors import LoadError
from memoryware.events import logger
from memoryware.guard import Finding, Guard
from memoryware.middleware._bounded import LruCache
from memoryware.middleware._fetching import CachedFile, FileReader, fingerprints_of_paths
from memoryware.middleware._rules import PathRules
from memoryware.middleware._texts import OnError, text_of
from memoryware.settings import MemoryLimits
from memoryware.sources._choosing import Permits, text_link
from memoryware.sources._layout import Notices
from memoryware.sources.discovery import Layout, found_via
from memoryware.sources.imports import Imports, expand
from memoryware.sources.nested import nested_via
from memoryware.sources.source import Source
from memoryware.tiers.model import Origin

_SCANNED_HERE: Final = 20_000
"""Bytes up to which files are scanned without a thread of their own."""


@dataclass(eq=False, slots=True)
class LoadedMemory:
    """The texts of one load, and what has been made of them so far.

    Attributes:
        contents: Text by source, without missing ones; imports are in it.
        problems: Sources that could not be read, with the code.
        sources: The sources in the order in which they are shown.
        imported: Files that were imported, each with the source that it is part of.
        secrets: What looks like a secret, with the file that it is in.
        sizes: Bytes of each file that was read.
        rendered: Finished prompt parts by variant, filled by the middleware.
        origins: The files whose texts stand here, as origins; None until they are asked for.
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
        """Put contents that somebody else has loaded in the order of the sources."""
        known = {source.path for source in sources}
        others = [Source(path) for path in contents if path not in known]
        return cls(contents, sources=(*sources, *others))

    def shown_origins(self) -> tuple[Origin, ...]:
        """Return the origins of all files that stand in the prompt, imported ones too."""
        if self.origins is None:
            shown = {path for path, text in self.contents.items() if text.strip()}
            read = {path for path, source in self.imported.items() if source.path in shown}
            files = [source for source in self.files if source.path in shown | read]
            self.origins = tuple(Origin.file(one.path, trusted=one.trusted) for one in files)
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
        sources: The given ones.
        start: Where discovery starts, None for none.
        layout: What memory files are called and where they lie.
        nested: Whether files beside what the agent works on join.
        imports: How imports are expanded, None for not at all.
        guard: Looks for secrets in what is loaded, None for nothing.
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
    """What a backend held when it was last asked; the reference keeps its `id` its own."""

    backend: Any
    known: dict[str, CachedFile]
    loaded: LoadedMemory


class MemoryLoader:
    """Loads the sources of one middleware from any backend and remembers what it saw last."""

    def __init__(self, reading: LoadOptions) -> None:
        self._load_options = reading
        limits, self._notices = reading.limits, Notices()
        self._seen: LruCache[Any, _LastLoad] = LruCache(limits.warm_backends)
        # By the bytes themselves: to hash and compare them is many times faster than a digest.
        self._loaded: LruCache[Any, LoadedMemory] = LruCache(limits.rendered_blocks)

    async def load(self, via: Via, backend: Any, folders: Sequence[str] = ()) -> LoadedMemory:
        """Return what the sources hold now.

        Args:
            backend: Where they are.
            folders: Folders that the agent works in, whose memory files join.

        Raises:
            LoadError: With `on_error="raise"`, for a source that cannot be read, and for a
                required one that is missing.
            ResponseCountError: If the backend answers fewer or more than it was asked.
        """
        sources = await self._sources(via, backend, folders)
        paths = [source.path for source in sources]
        fixed = sources is self._load_options.sources
        key = id(backend) if fixed else (id(backend), sources)
        seen = self._seen.get(key)
        if seen is not None and seen.backend is not backend:
            seen = None
        watched = paths if seen is None else list(seen.known)
        tokens = dict(zip(watched, await fingerprints_of_paths(via, backend, watched), strict=True))
        fetch = FileReader(backend, self._load_options.rules, self._load_options.on_error)
        if seen is not None:
            fetch.known = {
                path: known
                for path, known in seen.known.items()
                if known.token is not None and known.token == tokens[path]
            }
            if len(fetch.known) == len(watched):
                return seen.loaded
        await fetch.read(
            via, {path: token for path, token in tokens.items() if path not in fetch.known}
        )
        loaded = await self._same_or_new(via, sources, fetch)
        self._seen.put(key, _LastLoad(backend, fetch.known, loaded))
        return loaded

    async def _sources(self, via: Via, backend: Any, folders: Sequence[str]) -> tuple[Source, ...]:
        """Return the given sources, or those that are found; with `folders` also theirs."""
        reading, sources, root = self._load_options, self._load_options.sources, None
        permits = await self._permits(via, backend)
        if reading.start is not None:
            given = via, backend, reading.start, reading.layout, self._notices
            found = await found_via(*given, permits=permits)
            sources, root = tuple(found.sources), found.root
        if folders:
            near = await nested_via(
                *(via, backend, folders, sources, reading.layout),
                root=root,
                notices=self._notices,
                permits=permits,
            )
            sources = (*sources, *near) if near else sources
        return sources

    async def _permits(self, via: Via, backend: Any) -> Permits | None:
        """Return what says whether a file may be read, None where there are no rules."""
        reading = self._load_options
        if not reading.rules or (reading.start is None and not reading.nested):
            return None
        rules = await reading.rules.bound(via, backend)
        return partial(rules.permits, "read")

    async def _same_or_new(
        self, via: Via, sources: tuple[Source, ...], fetch: FileReader
    ) -> LoadedMemory:
        decoded = None
        if self._load_options.imports is not None:  # they decide which files belong to it
            decoded = self._decoded(sources, fetch)
            decoded.imported = await self._expanded(via, decoded, fetch, self._load_options.imports)
        key = (sources, frozenset((path, one.download) for path, one in fetch.known.items()))
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = await self._checked(via, decoded or self._decoded(sources, fetch), fetch)
            self._loaded.put(key, loaded)
        return loaded

    def _decoded(self, sources: tuple[Source, ...], fetch: FileReader) -> LoadedMemory:
        contents, problems = dict[str, str](), list[tuple[str, str]]()
        on_error = self._load_options.on_error
        for source in sources:
            path, (content, error) = source.path, fetch.known[source.path].download
            reason = fetch.reasons.get(path, "")
            text = text_of(path, content, error, on_error=on_error, reason=reason)
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
                    problems.append((path, _missed(path, on_error)))
            elif error is not None:
                problems.append((path, error))
        return LoadedMemory(contents, tuple(problems), sources)

    async def _expanded(
        self, via: Via, decoded: LoadedMemory, fetch: FileReader, options: Imports
    ) -> dict[str, Source]:
        """Put imports into the texts; return the files that were asked for."""
        imported: dict[str, Source] = {}
        shown = {source.path for source in decoded.sources}
        for source in decoded.sources:
            text = decoded.contents.get(source.path)
            if text is None:
                continue
            whole = await expand(
                via, source.path, text, fetch, options, known=shown, names=fetch.names
            )
            decoded.contents[source.path] = whole.text
            shown.update(whole.shown)
            for path in whole.imported:
                imported.setdefault(path, source)
            for note in whole.notes:
                logger.warning("memory %s", note)
        return imported

    async def _checked(self, via: Via, loaded: LoadedMemory, fetch: FileReader) -> LoadedMemory:
        """Look for secrets in what was loaded, and warn; the text is shown as it is."""
        guard = self._load_options.guard
        known = {path: one.download.content for path, one in fetch.known.items()}
        files = {path: content for path, content in known.items() if content}
        loaded.sizes = {
            path: len(content) for path, content in known.items() if content is not None
        }
        if guard is None or not files:
            return loaded
        scan = partial(_secrets, guard, files)
        small = sum(map(len, files.values())) <= _SCANNED_HERE
        loaded.secrets = scan() if small else await via(scan, partial(in_thread, scan))
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
    """Return what stands in the files themselves, so that the lines are right."""
    texts = {path: decode(content).text for path, content in files.items()}
    return tuple((path, found) for path, text in texts.items() for found in guard.scan(text))


def _missed(path: str, on_error: OnError) -> str:
    """Return the code of a required source that is missing.

    Raises:
        LoadError: With `on_error="raise"`.
    """
    if on_error == "raise":
        raise LoadError(path, "file_not_found", "It is required; create it, or check the path")
    logger.warning("memory source %s is required and missing", path)
    return "file_not_found"
