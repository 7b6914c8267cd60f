"""Revoke answers that were discarded in their thread: regenerated, removed or edited.

An entry that was recorded in a thread with a checkpointer knows its position: the checkpoint that
its step ran from, and its message. When a run begins, its message history and the chain of
checkpoints behind it say which of these entries still belong to the thread. The history of the
run that begins decides; a branch that nobody goes on with takes nothing back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memoryware import _langchain
from memoryware._langchain import Checkpoint, CheckpointedThread
from memoryware._runner import Runner
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import Parts, Settled
from memoryware.tiers.actors import is_person
from memoryware.tiers.messages import answer_of, kind_of, text_of
from memoryware.tiers.model import DISCARDED, EXTRACTED, FACT, Entry, hash_of
from memoryware.tiers.revoke import restore, revoke
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Receipt

POSITION: Final = "thread_position"
"""Key in the metadata of an entry: the checkpoint and the message that it was recorded at."""
_REASONS: Final = {
    "regenerated": "the thread went on from a checkpoint before this answer",
    "removed": "the message of this answer was removed from its thread",
    "edited": "the message of this answer was edited in its thread",
}
_ENTRIES: Final = 64
"""Entries of a thread that are looked at, the newest: of a turn what was asked and answered."""
_PAUSES: Final = tuple(0.01 * 2**n for n in range(7))
"""Seconds to wait for a checkpoint that is being written, 1.27 in all."""
_SHORT_PAUSES: Final = _PAUSES[:2]
"""The same in a thread whose checkpoint was waited for in vain lately: not in every step."""
_CHECKPOINTS: Final = 256
"""Checkpoints that are read at most to find the position of an entry."""


def position_in(message: Any = None) -> dict[str, Any]:
    """Return what to add to the metadata of an entry that is recorded now.

    Args:
        message: The message that holds the text, if one does.

    Returns:
        The position under `POSITION`; nothing where no checkpointer keeps the thread.
    """
    thread = _langchain.current_thread()
    if thread is None:
        return {}
    position = {"checkpoint": thread.checkpoint_id}
    if message is not None:
        position["text"] = _text_hash(message)
        if message_id := _id_of(message):
            position["message"] = message_id
    return {POSITION: position}


async def outermost_messages(runner: Runner, parts: Parts) -> Sequence[Any]:
    """Return the messages of the outermost graph of the current run, before the current step.

    Args:
        runner: Calls what may block.
        parts: The memory.

    Returns:
        The messages; none where no checkpointer keeps the thread.
    """
    thread = _langchain.current_thread()
    if thread is None:
        return ()
    try:
        checkpoint = await _current_checkpoint(parts.on(runner), thread)
    except Exception as error:  # noqa: BLE001 - checkpointers may be anybody's; nothing is recorded
        logger.warning("the messages of a graph were not read (%s)", type(error).__name__)
        return ()
    return () if checkpoint is None else checkpoint.messages


async def settle_thread(
    parts: Parts, scope: MemoryScope, messages: Sequence[Any], *, may_raise: bool
) -> None:
    """Revoke the answers that were discarded in the thread of the current run.

    An entry that belongs to the thread again, since a run goes on with its branch, is given back.
    Entries that were promoted stay, and so does what a person has proposed.

    Args:
        parts: The memory.
        scope: Whose memory it is, and the thread as its session.
        messages: The messages that the run begins with.
        may_raise: Whether a failing store or checkpointer ends the run.
    """
    thread = _langchain.current_thread()
    if thread is None or not scope.session_id:
        return
    if not parts.settled.begins(_key(scope), _langchain.run_handle(_langchain.current_runtime())):
        return
    try:
        await _settle(parts, scope, _MessageHistory(messages), thread)
    except Exception as error:  # stores and checkpointers may be anybody's
        if may_raise:
            raise
        kind = type(error).__name__
        logger.warning("thrown-away answers were not looked for (%s); the run goes on", kind)


async def _settle(
    parts: Parts, scope: MemoryScope, now: _MessageHistory, thread: CheckpointedThread
) -> None:
    store = parts.tiers.quarantine
    select = Select.within(scope, sessions=(scope.session_id,))
    entries = (await store.find(select, limit=_ENTRIES)).items
    branch = _CheckpointBranch(parts, thread, parts.settled.of(_key(scope)))
    for entry in filter(_may_change, entries):
        state = now.judge(entry, by_text=True)
        if state == "unknown":
            state = await branch.judge(entry)
        is_hidden = DISCARDED in entry.metadata
        if state in _REASONS and not is_hidden:
            for discarded in (entry, *await _facts_of(parts, entry)):
                await _take_back(parts, discarded, state)
        elif state == "live" and is_hidden:
            for live in (entry, *await _facts_of(parts, entry)):
                await _give_back(parts, live)
    if branch.is_readable:
        parts.settled.note(_key(scope), branch.settled)
    else:  # the next hook of the run tries it again
        parts.settled.begins(_key(scope), None)


def _key(scope: MemoryScope) -> tuple[str | None, ...]:
    return scope.tenant, scope.group_id, scope.session_id


def _may_change(entry: Entry) -> bool:
    return bool(_checkpoint_of(entry)) and _is_undecided(entry)


def _is_undecided(entry: Entry) -> bool:
    if entry.status == "revoked":
        return DISCARDED in entry.metadata
    by_person = any(map(is_person, entry.all_proposers))
    return (entry.status in ("pending", "proposed") or _by_policy(entry)) and not by_person


def _by_policy(entry: Entry) -> bool:
    """Return whether an entry was promoted without a decision of anybody."""
    return entry.status == "promoted" and (entry.decided_by or "").startswith("policy:")


def _position_of(entry: Entry) -> Mapping[str, Any]:
    position = entry.metadata.get(POSITION)
    return position if isinstance(position, Mapping) else {}


def _checkpoint_of(entry: Entry) -> str:
    return str(_position_of(entry).get("checkpoint") or "")


# Which answers belong to the thread.


class _MessageHistory:
    """The messages of a thread at one moment."""

    def __init__(self, messages: Iterable[Any]) -> None:
        self._messages = {_id_of(message) or f"#{n}": message for n, message in enumerate(messages)}
        self.ids = tuple(self._messages)

    def judge(self, entry: Entry, *, by_text: bool = False) -> str:
        """Return "live", "edited" or "unknown" for the answer of an entry.

        Args:
            entry: The entry.
            by_text: Whether the same answer under another id counts: a client may have written
                the whole history anew.
        """
        index, text = self.index_of(entry), _position_of(entry).get("text")
        if index is None:
            again = by_text and text and text in map(_text_hash, self._messages.values())
            return "live" if again else "unknown"
        message = self._messages[self.ids[index]]
        if _text_hash(message) == text:
            return "live"
        # Another middleware may have added to it after it was recorded.
        is_part = " ".join(entry.content.split()) in " ".join(_text_in(message).split())
        return "live" if is_part else "edited"

    def index_of(self, entry: Entry) -> int | None:
        """Return the index of the answer; by its text if its message had no id."""
        position = _position_of(entry)
        named, text = position.get("message"), position.get("text")
        if named is None and text is None:
            return None
        for index, (message_id, message) in enumerate(self._messages.items()):
            if message_id == named if named else _text_hash(message) == text:
                return index
        return None


class _CheckpointBranch:
    """The checkpoints behind a run, read from the newest one back as far as they are needed.

    Attributes:
        settled: The newest checkpoint, and entries that no run which goes on from there has to
            look at again.
        is_readable: Whether the checkpoint of the current step could be read, if it was needed.
    """

    def __init__(self, parts: Parts, thread: CheckpointedThread, settled: Settled) -> None:
        self._parts, self._thread, self._before = parts, thread, settled
        self._is_foreign: dict[str, bool] = {}
        self._checkpoints: list[Checkpoint] = []
        self._histories: dict[str, _MessageHistory] = {}
        self._next: str | None = thread.checkpoint_id
        self.settled = Settled(thread.checkpoint_id)
        self.is_readable = True

    async def judge(self, entry: Entry) -> str:
        """Return what became of an entry whose message the run does not show."""
        if entry.id in self._before.entries and await self._reaches(self._before.checkpoint):
            state = "live"
        else:
            state = await self._judge(entry)
        if state in ("live", "foreign"):
            self.settled.entries.add(entry.id)
        return state

    async def _judge(self, entry: Entry) -> str:
        origin = _checkpoint_of(entry)
        if not await self._reaches(origin):
            return await self._elsewhere(origin)
        index = next(n for n, checkpoint in enumerate(self._checkpoints) if checkpoint.id == origin)
        for n in range(index + 1):  # the newest first
            state = self._history(n).judge(entry)
            if state == "edited" and n == 0:
                return state
            if state != "unknown":
                return "live" if n == 0 else self._removal(entry, n)
        # The step ran from here; whatever replaced it began with a fork, an input or an update.
        child = self._checkpoints[index - 1] if index else None
        return "live" if child is None or child.source == "loop" else "regenerated"

    def _removal(self, entry: Entry, last: int) -> str:
        """Tell an answer that was thrown away from one that was only trimmed or summed up.

        Trimming and summaries take the oldest messages and leave newer ones. Whoever throws an
        answer away leaves what stood before it.
        """
        before, after = self._history(last), self._history(last - 1)
        index = before.index_of(entry) or 0
        left = {*after.ids}
        older = not left.isdisjoint(before.ids[:index])
        newer = not left.isdisjoint(before.ids[index + 1 :])
        by_hand = (
            self._checkpoints[last - 1].source != "loop"
            or self._checkpoints[last].source == "input"  # what is put in comes a step later
        )
        if by_hand:
            return "live" if newer and not older else "removed"
        return "removed" if older and not newer else "live"

    async def _elsewhere(self, origin: str) -> str:
        """Judge an entry whose checkpoint is not behind the run."""
        oldest = self._checkpoints[-1] if self._checkpoints else None
        if oldest is None or (oldest.parent_id is not None and oldest.id > origin):
            return "unknown"
        # The thread may have had another life, such as an InMemorySaver before a restart.
        if origin not in self._is_foreign:  # a message and its answer often share it
            other = await _read(self._parts.runner, self._thread, origin)
            self._is_foreign[origin] = other is None
        return "foreign" if self._is_foreign[origin] else "regenerated"

    async def _reaches(self, checkpoint_id: str) -> bool:
        """Read back to a checkpoint; ids are ordered by time. Say whether it is there."""
        while self._next is not None and len(self._checkpoints) < _CHECKPOINTS:
            if self._checkpoints and self._checkpoints[-1].id <= checkpoint_id:
                break
            if self._checkpoints:
                checkpoint = await _read(self._parts.runner, self._thread, self._next)
            else:
                checkpoint = await _current_checkpoint(self._parts, self._thread)
                self.is_readable = checkpoint is not None
            if checkpoint is None:
                self._next = None
                break
            self._checkpoints.append(checkpoint)
            self._next = checkpoint.parent_id
        return any(checkpoint.id == checkpoint_id for checkpoint in self._checkpoints)

    def _history(self, index: int) -> _MessageHistory:
        checkpoint = self._checkpoints[index]
        if checkpoint.id not in self._histories:
            self._histories[checkpoint.id] = _MessageHistory(checkpoint.messages)
        return self._histories[checkpoint.id]


async def _current_checkpoint(parts: Parts, thread: CheckpointedThread) -> Checkpoint | None:
    """Return the checkpoint that the current step runs from; wait until it is written.

    By default LangGraph writes it in the background while the step runs already. A checkpointer
    that does not give it back is waited for at length only once in a while.

    Args:
        parts: The memory.
        thread: The thread of the run.

    Returns:
        The checkpoint; None if it cannot be read.
    """
    settled, now = parts.settled, parts.clock()
    pauses = _SHORT_PAUSES if settled.was_unreadable(thread.thread_id, now) else _PAUSES
    for pause in (0.0, *(pauses if thread.writes_steps else ())):
        if pause:
            await parts.runner.sleep(pause)
        checkpoint = await _read(parts.runner, thread, thread.checkpoint_id)
        if checkpoint is not None:
            settled.note_readable(thread.thread_id)
            return checkpoint
    if thread.writes_steps and pauses is _PAUSES:
        settled.note_unreadable(thread.thread_id, now)
    return None


async def _read(
    runner: Runner, thread: CheckpointedThread, checkpoint_id: str
) -> Checkpoint | None:
    saver, config = thread.saver, thread.config_of(checkpoint_id)
    return Checkpoint.of(await runner.call(saver.get_tuple, saver.aget_tuple, config))


def _text_hash(message: Any) -> str:
    """Return the digest of an answer, or of what a person wrote; "" for another message."""
    kind = kind_of(message)
    if kind not in ("ai", "human"):
        return ""
    digest = hash_of(_text_in(message))
    return digest if kind == "ai" else f"human:{digest}"


def _text_in(message: Any) -> str:
    return answer_of(message) if kind_of(message) == "ai" else text_of(message)


def _id_of(message: Any) -> str:
    message_id = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    return str(message_id or "")


# What becomes of them.


async def _facts_of(parts: Parts, entry: Entry) -> list[Entry]:
    """Return the undecided facts of a message: those to take back with it, or to give back."""
    is_hidden = DISCARDED in entry.metadata
    ids = entry.metadata.get(EXTRACTED)
    if not isinstance(ids, list) or not ids:
        return []
    select = Select.within(entry.scope, ids=tuple(ids))
    named = {_position_of(entry).get("message"), entry.id}
    return [
        fact
        for fact in (await parts.tiers.quarantine.find(select)).items
        if named.intersection(_details_of(fact).get("message_ids", ()))
        and (DISCARDED in fact.metadata) is is_hidden
        and _is_undecided(fact)
    ]


def _details_of(fact: Entry) -> Mapping[str, Any]:
    details = fact.metadata.get(FACT)
    return details if isinstance(details, Mapping) else {}


async def _take_back(parts: Parts, entry: Entry, reason: str) -> None:
    receipt = await revoke(
        parts,
        entry.id,
        entry.scope,
        by=f"agent:{entry.scope.agent_id or entry.scope.node_id or 'memoryware'}",
        reason=_REASONS[reason],
        descendants=_by_policy(entry),  # with what the policy has made of it
    )
    logger.info("entry %s was taken back: %s (receipt %s)", entry.id, receipt.reason, receipt.id)

    def mark(entry: Entry) -> Entry:
        note = {"reason": reason, "receipt": receipt.id}
        refused = entry.refused or DISCARDED
        return replace(entry, refused=refused, metadata={**entry.metadata, DISCARDED: note})

    await _edit(parts, entry, mark)


async def _give_back(parts: Parts, entry: Entry) -> None:
    """Restore an entry whose branch a run goes on with, unless somebody else revoked it."""
    note = entry.metadata[DISCARDED]
    receipt = Receipt(
        id=str(note.get("receipt", "")) if isinstance(note, Mapping) else "",
        scope=entry.scope,
        what=entry.id,
        by="",
        at=parts.clock(),
        ids=(entry.id,),
    )

    def unmark(entry: Entry) -> Entry:
        metadata = {key: value for key, value in entry.metadata.items() if key != DISCARDED}
        refused = None if entry.refused == DISCARDED else entry.refused
        return replace(entry, refused=refused, metadata=metadata)

    await _edit(parts, entry, unmark)
    await restore(parts, receipt, by="agent:memoryware")


async def _edit(parts: Parts, entry: Entry, change: Any) -> None:
    store = parts.tiers.quarantine
    select = Select.within(entry.scope, ids=(entry.id,))
    await store.edit(select, change)
