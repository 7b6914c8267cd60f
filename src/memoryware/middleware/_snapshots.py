"""Caches of a run: the memory it has loaded, and the prompt of its last model call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import SystemMessage

from memoryware import _langchain
from memoryware._caching import LruCache
from memoryware._clock import NewId
from memoryware.events import is_heard
from memoryware.middleware._agent_state import CONTENTS, MemoryStateKeys
from memoryware.middleware._loading import LoadedMemory
from memoryware.sources.source import Source
from memoryware.tiers.actors import has_declared

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


GUIDED: Final[ContextVar[bool]] = ContextVar("memoryware_guided", default=False)
"""Whether another memory of the agent has put the general guidelines into this request."""


@dataclass(frozen=True, slots=True)
class PromptChange:
    """The overrides of the last request, and the inputs they were computed from.

    Attributes:
        loaded: The memory.
        before: The system message.
        content: Its text, which other code may replace in the same message.
        tools: The tools of the request.
        guided: Whether another memory had added the general guidelines.
        changes: The overrides.
    """

    loaded: LoadedMemory
    before: SystemMessage | None
    content: str | None
    tools: list[Any]
    guided: bool
    changes: dict[str, Any]

    def is_of(
        self, loaded: LoadedMemory, before: SystemMessage | None, tools: list[Any], *, guided: bool
    ) -> bool:
        """Return whether a request is changed in the same way."""
        return (
            self.loaded is loaded
            and self.before is before
            and (before is None or before.content is self.content)
            and self.guided is guided
            and self.tools == tools
        )


@dataclass(frozen=True, slots=True)
class LastModelCall:
    """The last model call of a run.

    Attributes:
        run: An object that all steps of the run share; its files are declared.
        writer: The stream writer, which has no reader.
        snapshot: The id of the memory that the run has loaded.
        prompt: The overrides of the request.
        guides: Whether the request has the general guidelines.
        watched: Names of tools whose calls have to be noted.
    """

    run: Any
    writer: Any
    snapshot: str
    prompt: PromptChange
    guides: bool
    watched: frozenset[str]

    def fits(self, request: ModelRequest[Any], snapshots: Snapshots) -> bool:
        """Return whether a request can be changed as the last one, with nothing else to do."""
        # All conditions are in one function, also those of `PromptChange.is_of`: between two model
        # calls of an agent our code leaves the caches of the processor, so that a call of a
        # function costs about 1 us where it costs 0.1 us in a loop. With a function for each
        # condition the hook took 30 us of a step of 900 us, in place of 19 us.
        prompt, state, before = self.prompt, request.state, request.system_message
        return (
            state.get(snapshots.key) == self.snapshot
            and before is prompt.before
            and (before is None or before.content is prompt.content)
            and GUIDED.get() is prompt.guided
            and request.tools == prompt.tools
            and snapshots.own(state) is prompt.loaded
            and _langchain.run_handle(request.runtime) is self.run
            and has_declared(self.run)
            and getattr(request.runtime, "stream_writer", None) is self.writer
            and not is_heard(None)
        )
