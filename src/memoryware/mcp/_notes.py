"""Notes of clients: recorded to quarantine, corrected, withdrawn, and limited by the hour.

A client may change what it has put forward itself as long as no person has decided about it.
What a person has decided about stays as it is, and the wish of the client becomes a proposal.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.mcp import _tools as tools
from memoryware.mcp._requests import ClientInfo, RequestRefused, ShownTexts, shown_text
from memoryware.scope import MemoryScope
from memoryware.settings import McpLimits
from memoryware.tiers.actors import DecisionActor, is_person
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, PendingPromotion, hash_of
from memoryware.tiers.proposals import propose
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.rendering import cut, fenced, one_line
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Layer, Recorded

CHANNEL: Final = Origin("tool", "mcp")
"""Added to the roots of every note, because what else its client has read is unknown."""
VIA: Final = "mcp"
"""`via` in the metadata of a note."""
_QUARANTINE: Final[tuple[Layer, ...]] = ("quarantine",)
_HOUR: Final = timedelta(hours=1)
_COUNTED: Final = 2_000
"""Entries of the last hour that are looked at, the newest ones, to count notes."""
_PAGES: Final = 10
"""Pages of quarantine that are read for one page of notes, most of which may be of others."""
_QUOTED: Final = 80
"""Characters of a note in the proposal to withdraw it."""
_SENTENCE_ENDS: Final = re.compile('[.!?;:\u3002\uff01\uff1f"\u201c\u201d]+')
_WITHDRAWN: Final = "withdrawn"
"""Key in the metadata of a note that its client has withdrawn, so that it may say it again."""
_WITHDRAWN_TEXT: Final = "Withdrawn. A person can undo it with the receipt."
_PROPOSED: Final = (
    "A person has decided about this note already, so nothing has changed. Your wish waits as a"
    " proposal, for a person to decide."
)


@dataclass(frozen=True, slots=True)
class NoteAnswer:
    """The answer to a call that puts a note forward or changes one.

    Attributes:
        entry: The note, or the proposal that the call became.
        message: What happened, in sentences for the client.
        replaces: The id of the note that was corrected or withdrawn.
        receipt: The receipt of the withdrawal.
    """

    entry: Entry
    message: str
    replaces: str | None = None
    receipt: str | None = None

    @property
    def text(self) -> str:
        """The answer as text."""
        lines = [self.message, f"Id: {self.entry.id}"]
        lines += [f"Receipt of the withdrawal: {self.receipt}"] if self.receipt else []
        return "\n".join(lines)

    @property
    def data(self) -> dict[str, Any]:
        """The answer as a structured result."""
        more = {"replaces": self.replaces, "receipt": self.receipt}
        return {
            "id": self.entry.id,
            "status": self.entry.status,
            "message": self.message,
            **{name: value for name, value in more.items() if value},
        }


class ClientNotes:
    """The notes of clients of one server.

    Args:
        memory: The memory.
        scope: The scope of all calls.
        by: Who adds notes.
        limits: The limits.
        shown_texts: What each client was shown.
    """

    def __init__(
        self,
        memory: TieredMemory,
        *,
        scope: MemoryScope,
        by: DecisionActor,
        limits: McpLimits,
        shown_texts: ShownTexts,
    ) -> None:
        self._memory, self._scope, self._by = memory, scope, by
        self._limits, self._shown = limits, shown_texts
        # A model writes the notes, also where `by` names a person.
        name = by.origin.name if by.origin.kind == "agent" else scope.agent_id or "mcp"
        self._author = Origin("agent", name)
        self._nonce = memory.parts.new_id()
        self._lock = asyncio.Lock()

    async def remember(self, text: str, caller: ClientInfo) -> NoteAnswer:
        """Record a note in quarantine.

        Args:
            text: The note.
            caller: The client.

        Returns:
            The note.

        Raises:
            RequestRefused: If the client, or all clients together, have reached their limit.
        """
        key = f"{self._session(caller)}:{caller.client}:{hash_of(text)}"
        async with self._lock:
            await self._check_rate(caller)
            recorded = await self._record(text, caller, key)
        return NoteAnswer(recorded.entry, _message_of(recorded, text))

    async def correct(self, id_: str, text: str, caller: ClientInfo) -> NoteAnswer:
        """Replace a note of the client, or propose that if a person has decided about it.

        Args:
            id_: The id of the note.
            text: The new text.
            caller: The client.

        Returns:
            The new note, or the proposal.

        Raises:
            RequestRefused: If the client has no such note, if it was withdrawn or rejected, or if
                too many notes were put forward.
        """
        async with self._lock:
            note = await self._own(id_, caller)
            if note.content_hash == hash_of(text):
                return NoteAnswer(note, "The note says exactly this already.")
            await self._check_rate(caller)
            key = f"{VIA}:{note.id}:correct:{hash_of(text)}"
            metadata = {"corrects": note.id}
            recorded = await self._record(text, caller, key, metadata, note=note)
            _require_undecided(recorded.entry)
            if _is_decided(note):
                return await self._propose(recorded.entry, note)
            receipt = await self._withdraw(note, f"corrected by note {recorded.entry.id}")
        message = f"Corrected; the note before is withdrawn. {_message_of(recorded, text)}"
        return NoteAnswer(recorded.entry, message, replaces=note.id, receipt=receipt)

    async def withdraw(self, id_: str, reason: str, caller: ClientInfo) -> NoteAnswer:
        """Withdraw a note of the client, or propose that if a person has decided about it.

        Args:
            id_: The id of the note.
            reason: Why; "" if no reason is given.
            caller: The client.

        Returns:
            The withdrawn note, or the proposal.

        Raises:
            RequestRefused: If the client has no such note, if it was withdrawn or rejected, or if
                too many notes were put forward.
        """
        async with self._lock:
            note = await self._own(id_, caller)
            if not _is_decided(note):
                receipt = await self._withdraw(note, reason)
                withdrawn = replace(note, status="revoked")
                return NoteAnswer(withdrawn, _WITHDRAWN_TEXT, replaces=note.id, receipt=receipt)
            await self._check_rate(caller)
            text = _withdrawal_text(note, self._author, reason)
            key = f"{VIA}:{note.id}:withdraw:{hash_of(text)}"
            metadata = {"withdraws": note.id}
            recorded = await self._record(text, caller, key, metadata, note=note)
            _require_undecided(recorded.entry)
            return await self._propose(recorded.entry, note)

    async def list_own(
        self, caller: ClientInfo, after: str | None
    ) -> tuple[list[Entry], str | None]:
        """Return a page of the notes of a client, newest first, and the cursor after it.

        Args:
            caller: The client.
            after: The cursor of the page before.

        Returns:
            The notes, and the cursor of the next page; None at the end.

        Raises:
            RequestRefused: If the client cannot be told apart from others, or for a wrong cursor.
        """
        if caller.is_remote and not caller.session:
            raise RequestRefused(
                "this connection has no session, so that your notes cannot be told apart from"
                " those of others; use the ids that remember has returned"
            )
        quarantine = self._memory.parts.native.tiers.quarantine
        select = self._own_selection()
        notes: list[Entry] = []
        for _ in range(_PAGES):
            try:
                page = await quarantine.find(select, limit=self._limits.notes_listed, after=after)
            except SettingError as error:
                raise RequestRefused("this `after` is not one of this list") from error
            for entry, mark in zip(page.items, page.marks, strict=True):
                if self._is_own(entry, caller):
                    notes.append(entry)
                    if len(notes) == self._limits.notes_listed:
                        is_last = mark == page.marks[-1] and page.next is None
                        return notes, None if is_last else mark
            after = page.next
            if after is None:
                break
        return notes, after

    # Records.

    def _session(self, caller: ClientInfo) -> str:
        return f"{VIA}:{self._nonce}:{caller.connection}"

    async def _record(
        self,
        text: str,
        caller: ClientInfo,
        key: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        note: Entry | None = None,
    ) -> Recorded:
        """Record a text of a client in quarantine; `note` is what it corrects or withdraws.

        A call that comes again returns the entry of the first, unless the client has withdrawn
        that: then it says it anew.
        """
        items = self._shown.items(caller)
        sources = [item.id for item in items]
        roots = [CHANNEL, *self._shown.roots(caller)]
        if note is not None:
            # Not made of the note itself: a person who revokes the note keeps its correction.
            sources += note.provenance.sources
            sources = [id_ for id_ in sources if id_ not in (note.id, *note.memory_ids)]
            roots += note.provenance.roots
        if self._scope.user_id:
            roots.append(Origin("user", self._scope.user_id))
        recorded = await self._memory.arecord(
            text,
            replace(self._scope, session_id=self._scope.session_id or self._session(caller)),
            {
                "remember": True,
                "via": VIA,
                "by": self._by.name,
                "client": caller.client,
                "connection": caller.connection,
                **(metadata or {}),
            },
            provenance=Provenance(self._author, tuple(dict.fromkeys(sources)), tuple(roots)),
            key=key,
            shown=items,
            tiers=_QUARANTINE,
        )
        entry = recorded.entry
        if entry.status == "revoked" and entry.metadata.get(_WITHDRAWN):
            return await self._record(
                text, caller, f"{key}:{entry.revocation}", metadata, note=note
            )
        return recorded

    async def _propose(self, entry: Entry, note: Entry) -> NoteAnswer:
        """Propose an entry in place of what became of a note."""
        parts = self._memory.parts.native
        waits = None
        if note.memory_ids and "corrects" in entry.metadata:
            select = Select.within(self._scope, ids=note.memory_ids, live_at=parts.clock())
            current = (await parts.tiers.long_term.find(select)).items
            subject = next((memory.subject for memory in current if memory.subject), None)
            if subject:  # a person who promotes the proposal replaces the current text
                against = tuple(memory.id for memory in current)
                waits = PendingPromotion(subject=subject, against=against)
        proposal = await propose(parts, entry, self._scope, by=str(self._author), waits=waits)
        return NoteAnswer(proposal, _PROPOSED, replaces=note.id)

    async def _withdraw(self, note: Entry, reason: str) -> str:
        """Hide a note, without what others have made of it; return the id of the receipt."""
        parts = self._memory.parts.native

        def mark(entry: Entry) -> Entry:
            if _is_decided(entry):
                return entry
            return replace(entry, metadata={**entry.metadata, _WITHDRAWN: True})

        select = Select.within(self._scope, ids=(note.id,))
        (marked,) = await parts.tiers.quarantine.edit(select, mark) or (note,)
        if _WITHDRAWN not in marked.metadata:
            raise RequestRefused("a person has decided about this note just now; call it again")
        receipt = await self._memory.amark_invalid(
            note.id, self._scope, by=str(self._author), reason=reason
        )
        return receipt.id

    # Whose notes.

    def _own_selection(self, **conditions: Any) -> Select:
        scope = self._scope
        return Select.within(
            scope,
            users=(scope.user_id,),
            agents=(scope.agent_id,),
            root=str(CHANNEL),
            **conditions,
        )

    def _is_own(self, entry: Entry, caller: ClientInfo) -> bool:
        """Return whether a client has put an entry forward itself.

        A client names itself, so that the name alone proves nothing: `by` and the scope are those
        of this server, and over HTTP the session is secret.
        """
        metadata = entry.metadata
        written = (metadata.get("via"), metadata.get("by"), metadata.get("client"))
        return (
            written == (VIA, self._by.name, caller.client)
            and metadata.get("connection") == caller.connection
            and entry.provenance.origin == self._author
            and CHANNEL in entry.provenance.roots
            and entry.scope.user_id == self._scope.user_id
            and entry.scope.agent_id == self._scope.agent_id
        )

    async def _own(self, id_: str, caller: ClientInfo) -> Entry:
        """Return a note of a client that it may change, or for which it may propose a change."""
        quarantine = self._memory.parts.native.tiers.quarantine
        entries = (await quarantine.find(self._own_selection(ids=(id_,)), limit=1)).items
        if not entries or not self._is_own(entries[0], caller):
            # The same sentence for a note of somebody else: ids tell nothing about others.
            raise RequestRefused("you have put no note with this id forward")
        note = entries[0]
        if note.status == "revoked":
            raise RequestRefused("this note is withdrawn already; nothing has changed")
        if note.status == "rejected":
            raise RequestRefused("a person has rejected this note already; nothing has changed")
        return note

    # The rate.

    async def _check_rate(self, caller: ClientInfo) -> None:
        """Count the notes of the last hour in quarantine, where a restart does not reset them.

        A client could reconnect for each note to reset its count, so all clients of the group
        together have a limit as well.

        Raises:
            RequestRefused: If a limit is reached; the message says when the next note is possible.
        """
        parts = self._memory.parts.native
        now = parts.clock()
        select = Select.within(self._scope, root=str(CHANNEL), since=now - _HOUR)
        page = await parts.tiers.quarantine.find(select, limit=_COUNTED)
        notes = [
            entry
            for entry in page.items
            if entry.metadata.get("via") == VIA and entry.created_at > now - _HOUR
        ]
        own = [
            entry.created_at
            for entry in notes
            if entry.metadata.get("by") == self._by.name
            and entry.metadata.get("client") == caller.client
            and entry.metadata.get("connection") == caller.connection
        ]
        _require_below(own, self._limits.notes_per_hour, "notes", now)
        times = [entry.created_at for entry in notes]
        _require_below(times, self._limits.all_notes_per_hour, "notes of all clients", now)


def _is_decided(note: Entry) -> bool:
    """Return whether a note was promoted, in part or as a whole, or a person has taken it on."""
    is_promoted = note.status == "promoted" or bool(note.memory_ids or note.decided)
    return is_promoted or any(map(is_person, note.all_proposers))


def _require_undecided(entry: Entry) -> None:
    """Refuse a correction or a withdrawal that was decided about when it came before.

    Raises:
        RequestRefused: If it was; a client must not ask again and again.
    """
    if entry.status == "promoted":
        raise RequestRefused("a person has agreed to exactly this already; nothing has changed")
    if entry.status in ("rejected", "revoked"):
        raise RequestRefused("a person has decided against this already; nothing has changed")


def _message_of(recorded: Recorded, text: str) -> str:
    entry = recorded.entry
    if entry.status in ("rejected", "revoked"):
        return tools.REJECTED
    sentences = [tools.KEPT_FOR_REVIEW]
    if entry.content != text and "[redacted: " in entry.content:
        sentences.append(tools.REDACTED)
    if entry.echo_of or entry.duplicate_of:
        sentences.append(tools.ALREADY_KNOWN)
    return " ".join(sentences)


def _withdrawal_text(note: Entry, author: Origin, reason: str) -> str:
    """Return the proposal to withdraw a note: one sentence, whatever the note says.

    A review goes through a text sentence by sentence. A sentence of the note by itself would be
    offered for promotion.
    """
    quoted = cut(" ".join(_SENTENCE_ENDS.sub(",", one_line(note.content, None)).split()), _QUOTED)
    why = f", because {_SENTENCE_ENDS.sub(',', one_line(reason, None))}" if reason else ""
    return (
        f"The agent {author.name} has withdrawn its note of {note.created_at:%Y-%m-%d} that begins"
        f" with \u201c{quoted}\u201d{why}."
    )


def _require_below(times: list[datetime], most: int, subject: str, now: datetime) -> None:
    """Refuse a note if so many were put forward in the last hour.

    Raises:
        RequestRefused: With the time until the next note is possible.
    """
    if len(times) < most:
        return
    if most == 0:
        raise RequestRefused(f"this server takes no {subject}")
    next_at = sorted(times)[-most] + _HOUR
    minutes = max(1, -(-(next_at - now) // timedelta(minutes=1)))
    count = f"{minutes} minute{'s' if minutes > 1 else ''}"
    raise RequestRefused(
        f"too many {subject} in this hour ({len(times)} of {most}); the next is possible in"
        f" {count}, at {next_at:%H:%M} UTC"
    )


def notes_result(
    notes: list[Entry], following: str | None, chars: int
) -> tuple[str, dict[str, Any]]:
    """Return a page of notes as text and as a structured result.

    Args:
        notes: The notes.
        following: The cursor of the next page; None at the end.
        chars: Characters of one note.

    Returns:
        The text, and the structured result.
    """
    listed = [
        {
            "id": entry.id,
            "text": shown_text(entry.content, chars),
            "status": entry.status,
            "time": entry.created_at.isoformat(),
        }
        for entry in notes
    ]
    data: dict[str, Any] = {"note": tools.NOTES_NOTE, "notes": listed}
    if following is not None:
        data["next"] = following
    lines = [
        f"{entry.id} ({entry.status}; {entry.created_at:%Y-%m-%d}) {one_line(entry.content, chars)}"
        for entry in notes
    ]
    more = [f"More: call it again with after={following}"] if following is not None else []
    text = fenced(lines, note=tools.NOTES_NOTE) if lines else tools.NO_NOTES
    return "\n".join([text, *more]), data
