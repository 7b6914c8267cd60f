"""Filters, pages and searches over records in memory: the reference, in plain Python.

A store of your own may use all of it; the suites compare every store with it.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, TypeVar

from memoryware.errors import SettingError
from memoryware.tiers.model import Entry, Memory, lineages
from memoryware.tiers.provenance import attribution_of
from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores.protocol import (
    Batch,
    Hit,
    Page,
    Query,
    SearchCandidate,
    SearchView,
    Select,
)

# Selections.


_VALUES: Final[Mapping[str, str]] = {
    "groups": "scope.group_id",
    "users": "scope.user_id",
    "agents": "scope.agent_id",
    "sessions": "scope.session_id",
    "ids": "id",
    "documents": "document_id",
    "statuses": "status",
    "hashes": "content_hash",
    "subjects": "subject",
    "superseded_by": "superseded_by",
    "revocations": "revocation",
}
"""Where a record has the value that each condition asks for."""
_ID_LENGTH: Final = 32
_GENERATED: Final = re.compile(f"[0-9a-f]{{{_ID_LENGTH}}}")
_BEGINNING: Final = re.compile(f"[0-9a-f]{{1,{_ID_LENGTH}}}")
_GETTERS: Final = {name: attrgetter(path) for name, path in _VALUES.items()}


def is_selected(record: Entry | Memory, selection: Select) -> bool:
    """Return whether a record meets every condition of a selection.

    Args:
        record: An entry or a memory.
        selection: The selection.

    Returns:
        Whether it is selected.
    """
    return _is_selected(record, selection, _given(selection))


def predicate_of(selection: Select) -> Callable[[Entry | Memory], bool]:
    """Return a predicate for many records, faster than `is_selected` for each.

    Args:
        selection: The selection.

    Returns:
        A function that decides whether a record is selected.
    """
    conditions = [*_given(selection)]
    return lambda record: _is_selected(record, selection, conditions)


def _is_selected(
    record: Entry | Memory,
    selection: Select,
    conditions: Iterable[tuple[str, tuple[str | None, ...]]],
) -> bool:
    if record.scope.tenant != selection.tenant:
        return False
    for name, values in conditions:
        if not _has_one_of(record, name, values):
            return False
    if selection.since is not None and record.created_at < selection.since:
        return False
    if selection.before is not None and record.created_at >= selection.before:
        return False
    if not _comes_from(record, selection):
        return False
    if selection.contains and selection.contains.casefold() not in record.content.casefold():
        return False
    if selection.prefix and not _begins_with(record.id, selection.prefix):
        return False
    return selection.live_at is None or is_live(record, selection.live_at, selection.ahead)


def _begins_with(id_: str, prefix: str) -> bool:
    low, high = id_range(prefix)
    return low <= id_ <= high and _GENERATED.fullmatch(id_) is not None


def id_range(prefix: str) -> tuple[str, str]:
    """Return the lowest and the highest generated id that begins with a text.

    Args:
        prefix: The beginning.

    Returns:
        Both ids; a range without any id if generated ids cannot begin so.
    """
    if not _BEGINNING.fullmatch(prefix):
        return "1", "0"
    return prefix.ljust(_ID_LENGTH, "0"), prefix.ljust(_ID_LENGTH, "f")


def _comes_from(record: Entry | Memory, selection: Select) -> bool:
    """Return whether what is asked for is in the lineage of a record, by any of its promotions."""
    if selection.root is None and selection.made_of is None:
        return True
    provenances = lineages(record)
    if selection.root is not None and selection.root not in {
        str(root) for provenance in provenances for root in provenance.roots
    }:
        return False
    made_of = selection.made_of
    return made_of is None or any(
        not set(made_of).isdisjoint(provenance.sources) for provenance in provenances
    )


def is_live(record: Entry | Memory, moment: datetime, ahead: timedelta = timedelta(0)) -> bool:
    """Return whether a record may be shown at a moment: valid, not revoked, not expired.

    Args:
        record: An entry or a memory.
        moment: The moment.
        ahead: How much later than the moment a memory may become valid.

    Returns:
        Whether it may be shown.
    """
    if isinstance(record, Memory):
        return record.holds_at(moment, ahead)
    expired = record.expires_at is not None and record.expires_at <= moment
    return record.revocation is None and not expired


def _given(selection: Select) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    for name in _VALUES:
        values = getattr(selection, name)
        if values is not None:
            yield name, values


def _has_one_of(record: Entry | Memory, name: str, values: tuple[str | None, ...]) -> bool:
    """Return whether a record has one of these values; what is asked for is looked at, not more."""
    return _GETTERS[name](record) in values if _has(record, name) else None in values


def _has(record: Entry | Memory, name: str) -> bool:
    """Return whether a record of this kind can have such a value at all."""
    if isinstance(record, Memory):
        return name != "statuses"
    return name not in ("documents", "subjects", "superseded_by")


def best_of(hits: list[Hit], limit: int) -> list[Hit]:
    """Return the hits with the highest scores; of equal ones the newest first.

    Args:
        hits: The hits; they are sorted in place.
        limit: How many at most.

    Returns:
        The best hits, best first.
    """
    hits.sort(key=lambda hit: (-hit.value, -hit.memory.created_at.timestamp(), hit.memory.id))
    return hits[:limit]


def same_document(memories: Iterable[Memory], new: Memory) -> list[Memory]:
    """Return the chunks of a stored document that a new one would duplicate.

    Args:
        memories: The stored memories, in the order of storing.
        new: A chunk of the document that is about to be stored. A document with its
            `content_hash`, tenant, group and agent is a duplicate if it is not revoked and has
            no end of validity; of several, the one that was stored first.

    Returns:
        The chunks in their order; empty if the document is new.
    """
    equal = [memory for memory in memories if _is_equal(memory, new)]
    chunks = [memory for memory in equal if memory.document_id == equal[0].document_id]
    return sorted(chunks, key=lambda memory: memory.chunk_index)


def _is_equal(memory: Memory, new: Memory) -> bool:
    """Return whether a memory is of a current document with the same text and owner."""
    return (
        memory.content_hash == new.content_hash
        and memory.valid_to is None
        and memory.revocation is None
        and memory.scope.tenant == new.scope.tenant
        and memory.scope.group_id == new.scope.group_id
        and memory.scope.agent_id == new.scope.agent_id
    )


# Pages and walks.


_LONGEST_IN_PYTHON: Final = 40
"""Digits of the first number that no store over Python integers has."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page that a caller asks for; see `Transaction.find`.

    Attributes:
        limit: The size of the page; None for no limit.
        offset: How many records to skip.
        after: The mark behind which the page starts; None for the beginning.
    """

    limit: int | None = None
    offset: int = 0
    after: str | None = None


def page_of(numbered: Sequence[tuple[int, R]], part: PageRequest) -> Page[R]:
    """Cut a page out of records.

    Args:
        numbered: The records with their numbers in the order of storing, the highest first.
        part: The page.

    Returns:
        The page, whose marks are the numbers.

    Raises:
        SettingError: If the mark of the request is not a number.
    """
    start = part.offset
    if part.after is not None:
        mark = parse_mark(part.after, _LONGEST_IN_PYTHON)
        start += bisect_right(numbered, -mark, key=lambda pair: -pair[0])
    some = numbered[start:] if part.limit is None else numbered[start : start + part.limit]
    marks = [str(number) for number, _ in some]
    return Page([record for _, record in some], len(numbered), min(start, len(numbered)), marks)


R = TypeVar("R", Entry, Memory)
_LONGEST_NUMBER: Final = 19
"""Digits of the first number that no database can be asked for."""


def single_batch(records: list[R], mark: str | None) -> Batch[R]:
    """Return all records as the only batch of a walk, in a store without marks.

    Args:
        records: All records.
        mark: The mark that the caller passed.

    Returns:
        The batch.

    Raises:
        SettingError: If there is a mark.
    """
    if mark is not None:
        raise SettingError(f"mark={mark!r}: this store returns all at once and gives no marks")
    return Batch(records, None, len(records))


def parse_mark(mark: str | None, longest: int = _LONGEST_NUMBER) -> int:
    """Parse a mark that is a number.

    Args:
        mark: The mark; None for the beginning.
        longest: Digits of the shortest number that is too large.

    Returns:
        The number, 0 without a mark.

    Raises:
        SettingError: If it is not a number, or too large.
    """
    is_number = isinstance(mark, str) and mark.isascii() and mark.isdigit() and len(mark) < longest
    if mark is not None and not is_number:
        raise SettingError(f"mark={mark!r:.200} is not one that this store has returned")
    return int(mark or 0)


def without_duplicates(entries: Sequence[Entry], stored: Iterable[Entry]) -> list[Entry]:
    """Drop the entries whose `key` another entry of their group has already.

    Args:
        entries: New entries, in their order.
        stored: The stored entries that have one of their keys.

    Returns:
        The entries to store.
    """
    owners = {key: entry.id for entry in stored if (key := _key_of(entry)) is not None}
    unique = []
    for entry in entries:
        key = _key_of(entry)
        if key is None or owners.setdefault(key, entry.id) == entry.id:
            unique.append(entry)
    return unique


def _key_of(entry: Entry) -> tuple[str | None, str | None, str] | None:
    scope = entry.scope
    return None if entry.key is None else (scope.tenant, scope.group_id, entry.key)


# Searches.


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """A selected memory with what a search needs to know of it.

    Attributes:
        thread: Its thread; see `thread_key`.
        words: How often it has each of its words.
        size: How many words it has.
        similarity: Its cosine to the query; None without a vector.
        document: Its `document_id`.
        speaker: Who said it; see `speaker_key`.
    """

    thread: Hashable
    words: Mapping[str, int]
    size: int
    similarity: float | None
    document: str = ""
    speaker: str | None = None


def thread_key(memory: Memory, query: Query) -> Hashable:
    """Return the thread of a memory: its document, or its session if the query asks for these.

    Args:
        memory: The memory.
        query: The query.

    Returns:
        A key that is equal for the memories of one thread.
    """
    scope = memory.scope
    session = scope.session_id if query.sessions else None
    return scope.group_id, bool(session), session or memory.document_id


def speaker_key(record: Entry | Memory) -> str | None:
    """Return the key of who said a text: `speaker` of its metadata, or else a name or the origin.

    The name is one that the text begins with: "Ann: I am back" is how chats are often stored.

    Args:
        record: The entry or memory.

    Returns:
        A key that is equal for the texts of one speaker; None if nobody knows who said it, as of
        an imported text.
    """
    return attribution_of(record).key


def build_view(
    items: Sequence[IndexedMemory], query: Query, corpus: Iterable[Mapping[str, int]]
) -> tuple[SearchView, list[int]]:
    """Build the view of a search over memories.

    Args:
        items: The selected memories, in the order of storing.
        query: The query.
        corpus: The word counts of all memories of the tenant and groups.

    Returns:
        The view, and for each candidate its position among the items.
    """
    sizes, having = [], dict.fromkeys(query.words, 0)
    for words in corpus:
        sizes.append(sum(words.values()))
        for word in having:
            having[word] += word in words
    mean = sum(sizes) / len(sizes) if sizes else 0.0
    by_words = {
        position: bm25(item.words, having, len(sizes), mean)
        for position, item in enumerate(items)
        if not having.keys().isdisjoint(item.words)
    }
    near = {
        position: item.similarity
        for position, item in enumerate(items)
        if item.similarity is not None
    }
    hits = {*newest_best(by_words, query.limit), *newest_best(near, query.limit)}
    threads: dict[Hashable, list[int]] = {items[hit].thread: [] for hit in sorted(hits)}
    joined = [position for position, item in enumerate(items) if item.thread in threads]
    most = query.thread if query.reach > 0 else 0
    for position in joined[max(0, len(joined) - most) :]:
        threads[items[position].thread].append(position)
    shown = with_neighbours(threads.values(), hits, query.reach)
    same = same_speakers(shown, lambda at: (items[at].document, items[at].speaker))
    candidates = [
        SearchCandidate(
            tuple(items[position].words.get(word, 0) for word in query.words),
            items[position].size,
            items[position].similarity,
            follows,
            is_same,
        )
        for (position, follows), is_same in zip(shown, same, strict=True)
    ]
    view = SearchView(candidates, tuple(having.values()), len(sizes), mean)
    return view, [position for position, _ in shown]


def newest_best(scores: Mapping[int, float], most: int) -> list[int]:
    """Return the positions with the best scores; of equal ones the last.

    Args:
        scores: Scores by position.
        most: How many at most.

    Returns:
        The positions, best first.
    """
    return heapq.nlargest(max(0, most), scores, key=lambda position: (scores[position], position))


def with_neighbours(
    threads: Iterable[Sequence[int]], hits: set[int], reach: int
) -> list[tuple[int, bool]]:
    """Return hits with their neighbours, thread by thread.

    Args:
        threads: The numbers of the memories of each thread, in their order.
        hits: The numbers of the hits; those without a thread come last.
        reach: How many neighbours on each side of a hit.

    Returns:
        Numbers, each with whether it directly follows the one before it.
    """
    shown: list[tuple[int, bool]] = []
    alone = set(hits)
    for thread in threads:
        near: set[int] = set()
        for at, number in enumerate(thread):
            if number in hits:
                near.update(range(max(0, at - reach), min(len(thread), at + reach + 1)))
        shown += [(thread[at], at - 1 in near) for at in sorted(near)]
        alone.difference_update(thread)
    return shown + [(number, False) for number in sorted(alone)]


def same_speakers(
    shown: Iterable[tuple[int, bool]], said_by: Callable[[int], tuple[Hashable, Hashable]]
) -> list[bool]:
    """Decide which texts follow one of the same speaker in another document.

    The chunks of one document are one text, which is not said by somebody again.

    Args:
        shown: Numbers, each with whether it directly follows the one before it; see
            `with_neighbours`.
        said_by: Returns the document and the speaker of a number; the speaker is None if nobody
            knows who that is.

    Returns:
        An answer for each number, in the same order.
    """
    answers: list[bool] = []
    before: tuple[Hashable, Hashable] = None, None
    for number, follows in shown:
        document, speaker = own = said_by(number)
        is_same = follows and speaker is not None and speaker == before[1]
        answers.append(is_same and document != before[0])
        before = own
    return answers
