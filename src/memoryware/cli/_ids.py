"""Ids as people type them: whole ids, prefixes of ids, and statements of an entry (`ID#2`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Final

from memoryware.cli import _output
from memoryware.cli._errors import AmbiguousId
from memoryware.cli._layout import short_id, short_ids
from memoryware.errors import EntryMissing, SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory, Record
from memoryware.tiers.proposals import insight_of_statement, statements_in
from memoryware.tiers.reopen import ReopenTarget
from memoryware.tiers.revoke import marks_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS, Insight

# Stores have an index for the beginning of generated ids. For other ids, such as those that an
# application chose, and for receipts, records are read. A whole id needs no search.

MIN_PREFIX: Final = 4
"""Characters that a prefix of an id must have."""
ID_LENGTH: Final = 32
"""Characters of a generated id; a text of this length is no prefix."""
SEARCHED: Final = 2_000
"""How many of the newest records of each tier are searched for the beginning of other ids."""
LISTED_MATCHES: Final = 10
"""How many matches an ambiguous prefix lists."""
STATEMENT_MARK: Final = "#"
"""Separates an entry from the number of a statement: `ENTRY#2`."""
PREFIX_HELP: Final = "its beginning is enough"
"""For the help of a command: prefixes are accepted."""


def resolve_id(
    memory: TieredMemory,
    select: Select,
    prefix: str,
    *,
    other_texts: Callable[[], Mapping[str, str]] | None = None,
) -> str:
    """Expand a prefix to the whole id.

    Args:
        memory: The memory.
        select: The records to search.
        prefix: The id, or a prefix of it.
        other_texts: Returns further ids with their texts; called if no record has exactly this id.

    Returns:
        The id. One that no store has is returned as well if it has the length of an id.

    Raises:
        EntryMissing: If no recent record has such an id.
        SettingError: If the prefix is ambiguous; the message lists the matches.
    """
    is_whole = len(prefix) >= ID_LENGTH or ":" in prefix
    if (is_whole and other_texts is None) or _exists(memory, select, prefix):
        return prefix  # the caller reports what is no id, such as an origin
    matches = {} if is_whole else _matches(memory, select, prefix)
    texts = other_texts() if other_texts is not None and not matches else {}
    if is_whole or prefix in texts:
        return prefix
    if len(prefix) >= MIN_PREFIX:
        matches |= {id_: text for id_, text in texts.items() if id_.startswith(prefix)}
    return _only(prefix, matches)


def split_statement_id(memory: TieredMemory, select: Select, id_: str) -> tuple[str, str]:
    """Split the id of a statement, such as `ENTRY#2`.

    Args:
        memory: The memory.
        select: The records to search; an imported entry may have an id that ends like this.
        id_: The id, or a prefix of it.

    Returns:
        The id of the entry and the number of the statement, "" for an id without a number.
    """
    entry, separator, number = id_.rpartition(STATEMENT_MARK)
    if separator and number.isdecimal() and not _exists(memory, select, id_):
        return entry, number
    return id_, ""


def require_id(memory: TieredMemory, select: Select, prefix: str) -> str:
    """Expand a prefix to the id of a record that exists.

    Args:
        memory: The memory.
        select: The records to search.
        prefix: The id, or a prefix of it.

    Returns:
        The id.

    Raises:
        EntryMissing: If no record has it.
        SettingError: If the prefix is ambiguous; the message lists the matches.
    """
    id_ = resolve_id(memory, select, prefix)
    if not _exists(memory, select, id_):
        raise EntryMissing(f"no record has the id {id_!r:.200}; nothing was done")
    return id_


def resolve_receipt(memory: TieredMemory, select: Select, prefix: str) -> str:
    """Expand a prefix to the id of a revocation.

    Args:
        memory: The memory.
        select: The records to search.
        prefix: The id that `revoke` printed, or a prefix of it.

    Returns:
        The id.

    Raises:
        EntryMissing: If no recent record was revoked under such an id.
        SettingError: If the prefix is ambiguous; the message lists the matches.
    """
    if len(prefix) >= ID_LENGTH:
        return prefix
    matches: Mapping[str, str] = {}
    for limit in (SEARCHED, None):  # most revocations that are undone are new
        matches = matches or _read_matches(memory, select, prefix, marks_of, limit)
    if not matches:
        hint = _length_hint(prefix)
        raise EntryMissing(
            f"no revocation has an id that is or begins with {prefix!r:.200}{hint}, or it was"
            " restored already; revoke prints the id, and show prints it after "
            '"revoked by"'
        )
    return prefix if prefix in matches else _only(prefix, matches)


def _exists(memory: TieredMemory, select: Select, id_: str) -> bool:
    exact = select.also(ids=(id_,))
    return any(store.find(exact, limit=1).items for store in _stores(memory))


def _matches(memory: TieredMemory, select: Select, prefix: str) -> dict[str, str]:
    """Return the ids of records that begin so, with their texts; of very many, the newest."""
    if len(prefix) < MIN_PREFIX:
        return {}
    begun = select.also(prefix=prefix)
    pages = (store.find(begun, limit=LISTED_MATCHES + 1) for store in _stores(memory))
    matches = {record.id: record.content for page in pages for record in page.items}
    return matches or _read_matches(memory, select, prefix, lambda record: (record.id,), SEARCHED)


def _read_matches(
    memory: TieredMemory,
    select: Select,
    prefix: str,
    ids_of: Callable[[Record], Iterable[str]],
    limit: int | None,
) -> dict[str, str]:
    """Read records and return each id with this prefix, with the text of a record that has it."""
    if len(prefix) < MIN_PREFIX:
        return {}
    pages = (store.find(select, limit=limit) for store in _stores(memory))
    return {
        id_: record.content
        for page in pages
        for record in page.items
        for id_ in ids_of(record)
        if id_.startswith(prefix)
    }


def _stores(memory: TieredMemory) -> Iterator[Any]:
    return (getattr(memory.parts.stores, tier) for tier in LAYERS)


def _only(prefix: str, matches: Mapping[str, str]) -> str:
    if len(matches) == 1:
        return next(iter(matches))
    if not matches:
        raise EntryMissing(
            f"no id is or begins with {prefix!r:.200}{_length_hint(prefix)}; list and search print"
            " ids"
        )
    listed = dict([*matches.items()][:LISTED_MATCHES])
    names = short_ids(matches)
    lines = [
        f"  {_output.one_line(names[id_])}  {_output.one_line(text, 80)}"
        for id_, text in listed.items()
    ]
    rest = ["  ... and more"] if len(matches) > LISTED_MATCHES else []
    message = f"several ids begin with {prefix}; type more characters:"
    raise AmbiguousId("\n".join([message, *lines, *rest]), tuple(listed))


def _length_hint(prefix: str) -> str:
    return f"; a prefix needs {MIN_PREFIX} characters" if len(prefix) < MIN_PREFIX else ""


ALL: Final = timedelta.max
"""A digest of everything in quarantine, whatever the limits of the memory are."""


@dataclass(frozen=True, slots=True)
class DecisionTarget:
    """The entry or statement that an id of the command line names.

    Attributes:
        id: The whole id.
        target: The entry, or the insight for one statement.
        status: Its decision, "pending" if there is none yet.
    """

    id: str
    target: Entry | Insight
    status: str

    @property
    def decided_ids(self) -> tuple[str, ...]:
        """The ids that later commands know: an insight of several entries has none of its own."""
        if isinstance(self.target, Entry) or STATEMENT_MARK in self.id:
            return (self.id,)
        return self.target.source_entry_ids

    def as_shown(self) -> Entry | Insight:
        """Return the one statement that `digest` shows.

        Raises:
            SettingError: For an entry of several statements; the message lists them.
        """
        if not isinstance(self.target, Entry):
            return self.target
        statements = statements_in(self.target)
        if len(statements) > 1:
            raise SettingError(
                f"entry {short_id(self.id)} has {len(statements)} statements; nothing was promoted."
                " Name one of them, or promote the whole entry with"
                f" --whole:\n{_listed(self.target)}"
            )
        for digest, text in statements.items():
            if text != self.target.content:  # `digest` leaves out greetings around it
                return insight_of_statement(self.target, digest)
        return self.target

    def as_whole(self) -> Entry:
        """Return the whole entry.

        Raises:
            SettingError: If the id names one statement.
        """
        if isinstance(self.target, Entry):
            return self.target
        raise SettingError(
            f"{self.id} is one statement; --whole needs the id of an entry:"
            f" {', '.join(self.target.source_entry_ids)}"
        )


class TargetResolver:
    """Resolves the ids of one command.

    Args:
        memory: The memory.
        scope: The scope of the quarantine.
    """

    def __init__(self, memory: TieredMemory, scope: MemoryScope) -> None:
        self._memory = memory
        self._scope = scope

    def resolve(self, id_: str) -> DecisionTarget:
        """Find the entry or statement that an id names.

        Args:
            id_: The id of an entry, of a statement (`ENTRY#2`) or of an insight, or a prefix.

        Returns:
            The entry, or the insight for one statement.

        Raises:
            EntryMissing: If nothing that can be decided has such an id.
            SettingError: If the prefix is ambiguous; the message lists the matches.
        """
        select = Select.within(self._scope)
        prefix, number = split_statement_id(self._memory, select, id_)
        if number:
            return self._statement(prefix, number)
        whole = resolve_id(self._memory, select, id_, other_texts=self._texts)
        try:
            record = self._memory.get(whole, self._scope)
        except EntryMissing:
            if whole in self._insights:
                return DecisionTarget(whole, self._insights[whole], "pending")
            raise
        if isinstance(record, Memory):
            raise EntryMissing(
                f"{record.id} is in long-term memory already; use revoke to remove it"
            )
        return DecisionTarget(record.id, record, record.status)

    def resolve_decided(self, id_: str) -> ReopenTarget:
        """Find the entry, statement or memory that an id names, to undo what was decided.

        Args:
            id_: The id of an entry, of a statement (`ENTRY#2`) or of a memory, or a prefix.

        Returns:
            What it names.

        Raises:
            EntryMissing: If nothing has such an id.
            SettingError: If the prefix is ambiguous; the message lists the matches.
        """
        select = Select.within(self._scope)
        prefix, number = split_statement_id(self._memory, select, id_)
        if not number:
            return ReopenTarget(resolve_id(self._memory, select, prefix))
        entry, _, digest = self._find_statement(prefix, number)
        return ReopenTarget(entry.id, digest if len(statements_in(entry)) > 1 else "")

    def _statement(self, prefix: str, number: str) -> DecisionTarget:
        entry, index, digest = self._find_statement(prefix, number)
        return DecisionTarget(
            f"{entry.id}{STATEMENT_MARK}{index}",
            insight_of_statement(entry, digest),
            entry.decided.get(digest, entry.status),
        )

    def _find_statement(self, prefix: str, number: str) -> tuple[Entry, int, str]:
        """Return an entry with the number and the digest of a statement of it."""
        id_ = resolve_id(self._memory, Select.within(self._scope), prefix)
        entry = self._memory.get(id_, self._scope)
        if isinstance(entry, Memory):
            raise EntryMissing(f"{entry.id} is in long-term memory and has no numbered statements")
        digests = [*statements_in(entry)]
        index = int(number) if len(number) < len(str(len(digests))) + 1 else 0
        if not 1 <= index <= len(digests):
            raise EntryMissing(
                f"entry {entry.id} has no statement {number}; these are its"
                f" statements:\n{_listed(entry)}"
            )
        return entry, index, digests[index - 1]

    def _texts(self) -> dict[str, str]:
        return {id_: insight.summary for id_, insight in self._insights.items()}

    @cached_property
    def _insights(self) -> dict[str, Insight]:
        page = self._memory.digest(self._scope, since=ALL)
        return {insight.id: insight for insight in page.insights}


def listed_ids(
    memory: TieredMemory, scope: MemoryScope, insights: Sequence[Insight]
) -> dict[str, str]:
    """Return the id under which `digest` lists each insight.

    Args:
        memory: The memory.
        scope: The scope of the quarantine.
        insights: A page of a digest.

    Returns:
        By the id of the insight:
        `ENTRY` for the only statement of an entry, `ENTRY#2` for one of several, and the id of
        the insight itself where several entries are decided with it.
    """
    parts = {
        insight.source_entry_ids[0] for insight in insights if insight.covers and _is_alone(insight)
    }
    entries: dict[str, Entry] = {}
    if parts:
        select = Select.within(scope, ids=tuple(parts))
        entries = {entry.id: entry for entry in memory.parts.stores.quarantine.find(select).items}
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
    if id_ not in entries:  # deleted meanwhile
        return insight.id
    statements = statements_in(entries[id_])
    numbers = {digest: number for number, digest in enumerate(statements, 1)}
    # Two equal statements of one entry are one line.
    same = [digest for digest in covered if statements.get(digest) == insight.summary]
    number = next((numbers[digest] for digest in (*same, *covered) if digest in numbers), None)
    return insight.id if number is None else f"{id_}{STATEMENT_MARK}{number}"


def _listed(entry: Entry) -> str:
    lines = []
    for number, (digest, text) in enumerate(statements_in(entry).items(), 1):
        decided = f"  ({entry.decided[digest]})" if digest in entry.decided else ""
        name = f"{short_id(entry.id)}{STATEMENT_MARK}{number}"
        lines.append(f"  {name}  {_output.one_line(text, 200)}{decided}")
    return "\n".join(lines)
