"""The ids of `digest`: of an entry, of one statement of an entry, or of an insight.

An entry of quarantine may make several statements, each of which is a line of its own. `ID#2` is
the second statement of an entry. What several entries say is decided under the id of the insight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Final

from memoryware.cli import showing
from memoryware.cli._ids import MARK, entry_and_number, whole_id
from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.proposals import statements_in
from memoryware.tiers.review.insights import insight_of_statement
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import Insight

ALL: Final = timedelta.max
"""How far back a digest has to look for all that waits, whatever the limits of the memory say."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What an id of the command line means.

    Attributes:
        id: The whole id.
        target: The entry, or the insight for one statement.
        status: What was decided about it: "pending" if nothing was.
    """

    id: str
    target: Entry | Insight
    status: str

    def as_shown(self) -> Entry | Insight:
        """Return what a promotion of it keeps: the one statement that `digest` shows.

        Raises:
            SettingError: For an entry of several statements; the message names them.
        """
        if not isinstance(self.target, Entry):
            return self.target
        statements = statements_in(self.target)
        if len(statements) > 1:
            raise SettingError(
                f"entry {self.id} makes {len(statements)} statements; nothing was promoted. Name"
                f" one of them, or take the whole entry with --whole:\n{_listed(self.target)}"
            )
        for digest, text in statements.items():
            if text != self.target.content:  # courtesy around the statement is not shown
                return insight_of_statement(self.target, digest)
        return self.target

    def as_whole(self) -> Entry:
        """Return the entry with everything it says.

        Raises:
            SettingError: If the id is of one statement.
        """
        if isinstance(self.target, Entry):
            return self.target
        raise SettingError(
            f"{self.id} is one statement; --whole takes the id of an entry:"
            f" {', '.join(self.target.source_entry_ids)}"
        )


class DecidableIds:
    """Finds what the ids of one command mean.

    Args:
        memory: The memory.
        scope: Whose quarantine it is.
    """

    def __init__(self, memory: TieredMemory, scope: MemoryScope) -> None:
        self._memory = memory
        self._scope = scope

    def choose(self, id_: str) -> Choice:
        """Return what an id, or the beginning of one, means.

        Raises:
            EntryMissing: If nothing that can be decided has such an id.
            SettingError: If several begin so; the message names them.
        """
        which = Select.within(self._scope)
        named, number = entry_and_number(self._memory, which, id_)
        if number:
            return self._statement(named, number)
        whole = whole_id(self._memory, which, id_, others=self._texts)
        try:
            record = self._memory.get(whole, self._scope)
        except EntryMissing:
            if whole in self._insights:
                return Choice(whole, self._insights[whole], "pending")
            raise
        if isinstance(record, Memory):
            raise EntryMissing(f"{record.id} is in long-term memory already; revoke takes it back")
        return Choice(record.id, record, record.status)

    def _statement(self, named: str, number: str) -> Choice:
        id_ = whole_id(self._memory, Select.within(self._scope), named)
        entry = self._memory.get(id_, self._scope)
        if isinstance(entry, Memory):
            raise EntryMissing(f"{entry.id} is in long-term memory already; revoke takes it back")
        digests = [*statements_in(entry)]
        wanted = int(number) if len(number) < len(str(len(digests))) + 1 else 0
        if not 1 <= wanted <= len(digests):
            raise EntryMissing(
                f"entry {entry.id} has no statement {number}; it makes these:\n{_listed(entry)}"
            )
        digest = digests[wanted - 1]
        return Choice(
            f"{entry.id}{MARK}{wanted}",
            insight_of_statement(entry, digest),
            entry.decided.get(digest, entry.status),
        )

    def _texts(self) -> dict[str, str]:
        return {id_: insight.summary for id_, insight in self._insights.items()}

    @cached_property
    def _insights(self) -> dict[str, Insight]:
        page = self._memory.digest(self._scope, since=ALL)
        return {insight.id: insight for insight in page.insights}


def shown_ids(
    memory: TieredMemory, scope: MemoryScope, insights: Sequence[Insight]
) -> dict[str, str]:
    """Return the id under which each insight is listed, by the id of the insight.

    Returns:
        `ENTRY` for the only statement of an entry, `ENTRY#2` for one of several, and the id of
        the insight itself where several entries are decided with it.
    """
    parts = {
        insight.source_entry_ids[0] for insight in insights if insight.covers and _is_alone(insight)
    }
    entries: dict[str, Entry] = {}
    if parts:
        which = Select.within(scope, ids=tuple(parts))
        entries = {entry.id: entry for entry in memory.parts.stores.quarantine.find(which).items}
    return {insight.id: _shown_id(insight, entries) for insight in insights}


def _is_alone(insight: Insight) -> bool:
    return len(insight.entry_ids) == 1 and insight.extractive


def _shown_id(insight: Insight, entries: dict[str, Entry]) -> str:
    if not _is_alone(insight):
        return insight.id
    (id_,) = insight.entry_ids
    covered = insight.covers.get(id_, ())
    if not covered:
        return id_
    if id_ not in entries:  # forgotten meanwhile
        return insight.id
    statements = statements_in(entries[id_])
    numbers = {digest: number for number, digest in enumerate(statements, 1)}
    # Of two statements of one entry that say the same, the line shows one.
    same = [digest for digest in covered if statements.get(digest) == insight.summary]
    number = next((numbers[digest] for digest in (*same, *covered) if digest in numbers), None)
    return insight.id if number is None else f"{id_}{MARK}{number}"


def _listed(entry: Entry) -> str:
    lines = []
    for number, (digest, text) in enumerate(statements_in(entry).items(), 1):
        decided = f"  ({entry.decided[digest]})" if digest in entry.decided else ""
        lines.append(f"  {entry.id}{MARK}{number}  {showing.one_line(text, 200)}{decided}")
    return "\n".join(lines)
