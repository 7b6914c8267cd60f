"""Doors to what is recorded: quarantine and working memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from memoryware._runner import run_blocking
from memoryware.scope import MemoryScope
from memoryware.tiers import checking, recording
from memoryware.tiers._doors.base import Doors
from memoryware.tiers._parts import scope_of
from memoryware.tiers.recording import EntryOrigin
from memoryware.tiers.records import Entry, Provenance, Role
from memoryware.tiers.values import ContextItem, Layer, Output, Recorded

_BOTH: Collection[Layer] = ("quarantine", "working")


class WritingDoors(Doors):
    """Recording what an agent produced."""

    def record(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
        shown: Sequence[ContextItem] = (),
        tiers: Collection[Layer] = _BOTH,
    ) -> Recorded:
        """Keep an output in quarantine, and in working memory if the filters let it pass.

        Args:
            content: The text. Secrets are taken out before it is kept, and of metadata as well.
            scope: On whose behalf it was made. Without a group only quarantine keeps it.
            metadata: What is known of it: `confidence`, `verify_pending`, anything of yours.
            role: The part that its maker plays in the graph.
            provenance: Who made it, and of what; by default the agent of the scope, of what it
                repeats of `shown`.
            key: Recording the same key again records nothing.
            shown: What memory had shown to who made it, to tell an echo from something new.
            tiers: ("quarantine",) keeps it out of working memory.

        Raises:
            EntryRefused: For what is no text or too long.
            SettingError: For an option of another type, or a secret in the scope or in a name
                of the provenance. What a text loses, a name cannot.
            StoreUnavailable: If quarantine cannot be written. A failing working memory is
                logged and told as an event.
        """
        origin = EntryOrigin(role=role, provenance=provenance, key=key, shown=tuple(shown))
        given = content, scope_of(scope), metadata
        return run_blocking(recording.record(self.parts, *given, origin=origin, tiers=tiers))

    async def arecord(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
        shown: Sequence[ContextItem] = (),
        tiers: Collection[Layer] = _BOTH,
    ) -> Recorded:
        """Async twin of `record`."""
        origin = EntryOrigin(role=role, provenance=provenance, key=key, shown=tuple(shown))
        given = content, scope_of(scope), metadata
        return await recording.record(self.parts.native, *given, origin=origin, tiers=tiers)

    def record_many(
        self,
        outputs: Iterable[str | Output],
        scope: MemoryScope | str | None = None,
        *,
        tiers: Collection[Layer] = _BOTH,
    ) -> list[Recorded]:
        """Record outputs of one scope together, in order; see `record`.

        With filters that do not wait, and all tiers in one store, that is one transaction: all of
        them are stored, or none. Otherwise each is stored by itself.

        Args:
            outputs: Texts, or `Output` for what is known of each.
            scope: On whose behalf they were made.
            tiers: As for `record`.

        Returns:
            What became of each, in order.

        Raises:
            EntryRefused: For what is no text or too long; then nothing is recorded.
            SettingError: As for `record`.
            StoreUnavailable: If quarantine cannot be written.
        """
        every = _outputs(outputs)
        return run_blocking(recording.record_many(self.parts, every, scope_of(scope), tiers=tiers))

    async def arecord_many(
        self,
        outputs: Iterable[str | Output],
        scope: MemoryScope | str | None = None,
        *,
        tiers: Collection[Layer] = _BOTH,
    ) -> list[Recorded]:
        """Async twin of `record_many`."""
        every = _outputs(outputs)
        return await recording.record_many(self.parts.native, every, scope_of(scope), tiers=tiers)

    def log_quarantine(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
    ) -> Entry:
        """Keep an output in quarantine only, and return its entry; see `record`."""
        origin = EntryOrigin(role=role, provenance=provenance, key=key)
        given = content, scope_of(scope), metadata
        return run_blocking(recording.log_quarantine(self.parts, *given, origin=origin))

    async def alog_quarantine(
        self,
        content: str,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        role: Role = "agent",
        provenance: Provenance | None = None,
        key: str | None = None,
    ) -> Entry:
        """Async twin of `log_quarantine`."""
        origin = EntryOrigin(role=role, provenance=provenance, key=key)
        given = content, scope_of(scope), metadata
        return await recording.log_quarantine(self.parts.native, *given, origin=origin)

    def update_working_memory(
        self,
        content: str | Entry,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Put a text, or an entry of quarantine, into working memory if the filters let it pass.

        Without a group nothing happens. The refusal of an entry is noted in quarantine.
        """
        return run_blocking(
            recording.update_working_memory(self.parts, content, scope_of(scope), metadata)
        )

    async def aupdate_working_memory(
        self,
        content: str | Entry,
        scope: MemoryScope | str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Async twin of `update_working_memory`."""
        return await recording.update_working_memory(
            self.parts.native, content, scope_of(scope), metadata
        )

    def cleanup_working_memory(self) -> int:
        """Remove what has expired from working memory, in all groups; return how much.

        Nothing that has expired is ever returned; this only gives back its room.
        """
        return run_blocking(recording.cleanup_working_memory(self.parts))

    async def acleanup_working_memory(self) -> int:
        """Async twin of `cleanup_working_memory`."""
        return await recording.cleanup_working_memory(self.parts.native)


def _outputs(outputs: Iterable[str | Output]) -> list[Output]:
    checking.instance("outputs", outputs, (Iterable,))
    return [one if isinstance(one, Output) else Output(one) for one in outputs]
