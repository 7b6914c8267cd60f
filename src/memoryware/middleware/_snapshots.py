"""What a run has loaded, found again by the id in its state.

The texts stay here, in a bounded cache of the middleware instance; the graph state
holds only a random id. By-hand callers may carry texts in `memory_contents` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memoryware._clock import NewId
from memoryware.middleware._bounded import LruCache
from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._state import CONTENTS, MemoryStateKeys
from memoryware.sources.source import Source

Folders = tuple[str, ...]
"""Folders that an agent worked in when its memory was loaded."""


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
        self._sources = sources
        """The own sources; None where they are found at each load."""
        self._new_id = new_id
        self._kept: LruCache[str, tuple[LoadedMemory, Folders]] = LruCache(size)
        self._saved: LruCache[str, tuple[LoadedMemory, str]] = LruCache(size)
        self._by_hand: tuple[Mapping[str, str], dict[str, str], LoadedMemory] | None = None

    def keep(self, loaded: LoadedMemory, folders: Folders = ()) -> dict[str, str]:
        """Keep what was loaded and return the state update that finds it again."""
        snapshot = self._new_id()
        self._kept.put(snapshot, (loaded, folders))
        return {self.key: snapshot}

    def own(self, state: Mapping[str, Any]) -> LoadedMemory | None:
        """Return what this run has loaded, if it is still here."""
        snapshot = state.get(self.key)
        kept = self._kept.get(snapshot) if snapshot else None
        return None if kept is None else kept[0]

    def folders(self, state: Mapping[str, Any]) -> Folders:
        """Return the folders that were known when this run's memory was loaded."""
        snapshot = state.get(self.key)
        kept = self._kept.get(snapshot) if snapshot else None
        return () if kept is None else kept[1]

    def outdated(self, state: Any, saved: str | None) -> None:
        """Forget what a run has loaded, because a tool may have changed it.

        `saved` says which change a tool reported, for `missed`.
        """
        snapshot = state.get(self.key) if isinstance(state, Mapping) else None
        kept = self._kept.get(snapshot) if snapshot else None
        if snapshot and kept is not None:
            self._kept.drop(snapshot)
            if saved:
                self._saved.put(snapshot, (kept[0], saved))

    def missed(self, state: Mapping[str, Any], loaded: LoadedMemory) -> str | None:
        """Return the change that a tool reported and that a new load does not show, once."""
        snapshot = state.get(self.key)
        before = self._saved.get(snapshot) if snapshot else None
        if snapshot is None or before is None:
            return None
        self._saved.drop(snapshot)
        return before[1] if before[0] is loaded else None

    def carried(self, state: Mapping[str, Any], *, all_ours: bool) -> LoadedMemory | None:
        """Return the contents that the state itself carries.

        Another middleware may have left its own there, so only those of our sources count;
        with `all_ours` any other path makes the whole mapping somebody else's.
        """
        contents = state.get(self.contents_key)
        if contents is None:
            contents = state.get(CONTENTS)
        if contents is None:
            return None
        known = self._by_hand
        if known is not None and known[0] is contents and known[1] == contents:
            return known[2]
        ours = dict(contents)
        if self._sources:  # without any of our own, all that is given is ours
            known_paths = {source.path for source in self._sources}
            ours = {path: text for path, text in contents.items() if path in known_paths}
        if contents and (not ours or (all_ours and len(ours) < len(contents))):
            return None
        loaded = LoadedMemory.by_hand(ours, self._sources or ())
        self._by_hand = (contents, dict(contents), loaded)
        return loaded
