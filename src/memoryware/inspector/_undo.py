"""Undo: what an action changed, signed into the URL of the next page, and its reversal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memoryware.backends import Version, acting
from memoryware.errors import EntryMissing, SettingError
from memoryware.inspector._markup import plural
from memoryware.inspector._queries import by_ids, find
from memoryware.inspector._site import Undo, Visit
from memoryware.stores import Select
from memoryware.tiers import Entry, Origin, Promotion, Receipt
from memoryware.tiers.model import WAITING, hash_of
from memoryware.tiers.reopen import EntryChange, reopen

_LABEL: Final = 70


def label_of(action: str, text: str) -> str:
    """Return the name of an action on a text, for the button that undoes it.

    Args:
        action: What was done, such as "Approved".
        text: The text.

    Returns:
        The action with the beginning of the text.
    """
    line = " ".join(text[: _LABEL * 4].split())
    line = line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}\u2026"
    return f"{action}: \u201c{line}\u201d"


def undo_revocation(receipt: str, label: str) -> Undo:
    """Return what it takes to undo a revocation.

    Args:
        receipt: The id of its receipt.
        label: What was done.

    Returns:
        The record for `Visit.redirect`.
    """
    return {"kind": "revocation", "receipt": receipt, "label": label}


def undo_restore(receipt: Receipt, label: str) -> Undo:
    """Return what it takes to undo a restoration.

    Args:
        receipt: The receipt of the revocation that was restored.
        label: What was done.

    Returns:
        The record for `Visit.redirect`.
    """
    target = receipt.what
    is_origin = ":" in target and target not in receipt.ids
    if not is_origin and target not in receipt.ids:
        target = next(iter(receipt.ids), target)
    return {"kind": "restoration", "target": target, "origin": is_origin, "label": label}


def undo_file(version: Version, before: Version, label: str) -> Undo:
    """Return what it takes to undo a change of a file.

    Args:
        version: The version that the change made.
        before: The version that was current before.
        label: What was done.

    Returns:
        The record for `Visit.redirect`.
    """
    return {
        "kind": "file",
        "path": version.path,
        "version": version.id,
        "before": before.number,
        "label": label,
    }


class ChangeLog:
    """Collects what decisions change, entry by entry.

    Args:
        visit: The request.

    Attributes:
        text: The text that was decided about last.
    """

    def __init__(self, visit: Visit) -> None:
        self.text = ""
        self._visit = visit
        self._since = visit.memory.parts.clock()
        self._before: dict[str, Entry] = {}
        self._working: set[str] = set()
        self._memories: list[str] = []
        self._new: list[str] = []
        self._receipts: list[str] = []

    async def watch(self, ids: Iterable[str], text: str) -> None:
        """Note the entries that a decision about a text may change, as they are before it.

        Args:
            ids: The entries that it names.
            text: The text; waiting entries with exactly this text are decided with them.
        """
        self.text = text
        visit, within = self._visit, Select.within(self._visit.scope)
        copies = within.also(hashes=(hash_of(text),), statuses=WAITING)
        for select in (within.also(ids=tuple(ids)), copies):
            for entry in (await find(visit, "quarantine", select)).items:
                self._before.setdefault(entry.id, entry)
        working = await find(visit, "working", within.also(ids=tuple(self._before)))
        self._working.update(entry.id for entry in working.items)

    def add(self, promotion: Promotion | None = None, entry: Entry | None = None) -> None:
        """Note the result of a decision.

        Args:
            promotion: What was promoted.
            entry: What was proposed.
        """
        if promotion is not None:
            self._memories += promotion.ids
            entry = promotion.proposal
        if entry is not None and entry.id not in self._before:
            self._new.append(entry.id)

    async def note_hidden(self, ids: Iterable[str]) -> None:
        """Note the revocations of an approval that hides records instead of adding one.

        Args:
            ids: The records.
        """
        for _, record in (await by_ids(self._visit, tuple(ids))).values():
            if record.revocation is not None:
                self._receipts.append(record.revocation)

    async def undo(self, label: str) -> Undo | None:
        """Return what it takes to undo the decisions.

        Args:
            label: What was done.

        Returns:
            The record for `Visit.redirect`; None if nothing was changed.
        """
        ids = Select.within(self._visit.scope, ids=tuple(self._before))
        after = (await find(self._visit, "quarantine", ids)).items if self._before else []
        pairs = [(self._before[entry.id], entry) for entry in after]
        changes = [change for pair in pairs if (change := EntryChange.between(*pair)) is not None]
        if not (changes or self._memories or self._new):
            return None
        rejected = {change.id for change in changes if change.status == "rejected"}
        return {
            "kind": "decision",
            "label": label,
            "since": self._since.isoformat(),
            "entries": list(map(_encoded, changes)),
            "memories": self._memories,
            "working": sorted(self._working & rejected),
            "new": self._new,
            "receipts": self._receipts,
        }


def _encoded(change: EntryChange) -> list[Any]:
    at = change.decided_at.isoformat() if change.decided_at else ""
    return [
        change.id,
        change.status,
        at,
        list(change.statements),
        change.proposer,
        change.ungrouped,
    ]


def _decoded(values: list[Any]) -> EntryChange:
    id_, status, at, statements, proposer, ungrouped = values
    return EntryChange(
        id=id_,
        status=status,
        decided_at=datetime.fromisoformat(at) if at else None,
        statements=tuple(statements),
        proposer=proposer,
        ungrouped=ungrouped,
    )


@dataclass(frozen=True)
class UndoResult:
    """The result of an undo.

    Attributes:
        message: What happened, for the person.
        changes_queue: Whether the review queue may have changed.
    """

    message: str
    changes_queue: bool = True


async def carry_out(visit: Visit, record: Mapping[str, Any]) -> UndoResult:
    """Undo an action.

    Args:
        visit: The request.
        record: What it takes; signed, so that only this server can have written it.

    Returns:
        What happened.

    Raises:
        SettingError: For a record of another version.
    """
    kind = record.get("kind")
    if kind == "decision":
        return await _undo_decision(visit, record)
    if kind == "revocation":
        return await _undo_revocation(visit, record)
    if kind == "restoration":
        target = str(record["target"])
        receipt = await visit.memory.arevoke(
            Origin.parse(target) if record["origin"] else target,
            visit.scope,
            by=visit.by,
            reason="the restoration was undone",
        )
        return UndoResult(f"Undone: {plural(receipt.counts.total, 'record')} hidden again.")
    if kind == "file":
        return await _undo_file(visit, record)
    raise SettingError("This action cannot be undone here.")


async def _undo_decision(visit: Visit, record: Mapping[str, Any]) -> UndoResult:
    changes = [_decoded(values) for values in record["entries"]]
    result = await reopen(
        visit.memory.parts.native,
        visit.scope,
        changes,
        by=visit.by,
        memories=record["memories"],
        since=datetime.fromisoformat(record["since"]),
    )
    for id_ in record["new"]:  # the proposal of an edited text is an entry of its own
        await visit.memory.arevoke(id_, visit.scope, by=visit.by, reason="the proposal was undone")
    restored = 0
    for id_ in record["receipts"]:
        receipt = await visit.memory.afind_receipt(id_, visit.scope)
        restored += (await visit.memory.arestore(receipt, by=visit.by)).total
    await _put_into_working(visit, [id_ for id_ in record["working"] if id_ in result.ids])
    if not (result.ids or result.receipt or record["new"]):
        return UndoResult("Nothing to undo: it was decided again since, or undone already.")
    parts = [f"Undone: {plural(len(result.ids), 'entry', 'entries')} to review again."]
    if result.receipt is not None:
        count = plural(result.receipt.counts.total, "record")
        parts.append(f"{count} no longer in memory; receipt {result.receipt.id}.")
        if result.receipt.reinstated:
            parts.append("The text that it had replaced is current again.")
    if restored:
        parts.append(f"{plural(restored, 'record')} restored.")
    if result.missed:
        count = plural(result.missed, "entry", "entries")
        parts.append(f"{count} changed since, and stayed.")
    return UndoResult(" ".join(parts))


async def _undo_file(visit: Visit, record: Mapping[str, Any]) -> UndoResult:
    history, path = visit.site.files, str(record["path"])
    versions = list(await history.alog(path)) if history is not None else []
    if not versions or versions[0].id != record["version"]:
        return UndoResult("Nothing to undo: the file has changed since.", changes_queue=False)
    with acting(user=visit.by, reason="undone"):
        version = await history.aundo(path, record["before"])
    return UndoResult(f"Undone as version {version.number}.", changes_queue=False)


async def _put_into_working(visit: Visit, ids: list[str]) -> None:
    """Put entries back that a rejection took out of working memory."""
    if not ids:
        return
    entries = await find(visit, "quarantine", Select.within(visit.scope, ids=tuple(ids)))
    for entry in entries.items:
        await visit.memory.aupdate_working_memory(entry)


async def _undo_revocation(visit: Visit, record: Mapping[str, Any]) -> UndoResult:
    try:
        receipt = await visit.memory.afind_receipt(str(record["receipt"]), visit.scope)
    except EntryMissing:
        return UndoResult(
            "Nothing to undo: no record is hidden by this revocation.", changes_queue=False
        )
    counts = await visit.memory.arestore(receipt, by=visit.by)
    if not counts.total:
        return UndoResult("Nothing to undo: it was restored already.", changes_queue=False)
    return UndoResult(f"Undone: {plural(counts.total, 'record')} restored.")
