"""The packed long-term memory of one group: columns, word postings and vectors, with NumPy.

A segment is a cache of a group in this process, whatever engine the group is stored in. The
engine feeds it rows in the order of storing, checks the group's generation before each search,
and passes on what changed since. Search results are exact: large groups are scanned with 8-bit
vectors whose error is known, and whatever could be among the nearest is measured again.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.tiers.model import Memory
from memoryware.tiers.scoring import LENGTHS, SATURATION, rarity
from memoryware.tiers.stores._columns import (
    WORD,
    Column,
    Measure,
    NameIndex,
    Nearness,
    Posting,
    Vectors,
    Words,
    counts_at,
    hashes_of,
    newest_best,
    numpy,
)
from memoryware.tiers.stores._sql.dialect import micros
from memoryware.tiers.stores.protocol import (
    CandidateColumns,
    Query,
    RecallNotes,
    SearchView,
    Select,
)
from memoryware.tiers.stores.selecting import with_neighbours

ALWAYS: Final = 2**62
"""The end, in microseconds, of what has no end."""

Row: TypeAlias = Sequence[Any]
"""A memory as a segment reads it: its number, created, valid from, valid to or None, agent,
session, document, whether it is revoked, packed words, speaker or None, and its packed vector or
None."""


class Segment:
    """The rows of one group, in the order of storing.

    Attributes:
        generation: The generation of the group up to which its changes are here.
        space: The number of the embedding space whose vectors are here; 0 for none.
        records: Decoded memories by number; whoever changes a row drops its record.
        unpacked: How many rows came one by one since the engine packed them last, where it does.
        has_damaged_blocks: Whether a block could not be loaded.
    """

    def __init__(self, generation: int, space: int, expected: int = 0) -> None:
        """Make an empty segment.

        Args:
            generation: The generation of the group that is read into it.
            space: The number of the embedding space.
            expected: How many rows are read into it, if that is known: it is the faster then.
        """
        self._np = numpy()
        self.generation, self.space = generation, space
        self.records: dict[int, Memory] = {}
        self._columns = {name: Column(kind, room=expected) for name, kind in _COLUMNS.items()}
        self._notes, self._are_notes_in_use = self._np.zeros(0, "i8"), False
        self._words = Words()
        self._vectors = Vectors(expected)
        self._names = {name: NameIndex(self._columns[name]) for name in ("session", "document")}
        self._removed = self._total = 0
        self.unpacked = 0
        self.has_damaged_blocks = False
        # Derived from the columns, and dropped with each change of them.
        self._allowed: dict[Any, Any] = {}
        self._bounds: tuple[bool, int, int] | None = None
        self._norms: Any = None

    def __len__(self) -> int:
        return len(self._columns["seq"].values)

    @property
    def seq(self) -> Any:
        """The number of each row, ascending."""
        return self._columns["seq"].values

    @property
    def last(self) -> int:
        """The number of the newest row, 0 without any."""
        return int(self.seq[-1]) if len(self) else 0

    @property
    def is_worn(self) -> bool:
        """Whether so many rows were removed that reading the group anew is cheaper."""
        return self._removed > max(_WORN, len(self) // 4)

    def extend(self, rows: Sequence[Row]) -> None:
        """Add rows that are newer than all that are here."""
        if not rows:
            return
        np = numpy()
        seq, created, begins, ends, agent, session, document, revoked, words, speaker, data = zip(
            *rows, strict=True
        )
        lengths = np.fromiter(map(len, words), "i8", len(words)) // WORD
        values = {
            "seq": seq,
            "created": created,
            "begins": begins,
            "ends": [ALWAYS if end is None else end for end in ends],
            "agent": [0 if name is None else number_of(name) for name in agent],
            "session": [0 if name is None else number_of(name) for name in session],
            "document": list(map(number_of, document)),
            "speaker": list(map(number_of, speaker)),
            "alive": np.ones(len(rows), "i1"),
            "revoked": revoked,
            "size": lengths,
        }
        start = len(self)
        self.unpacked += len(rows)
        self._extend_columns(values, hashes_of(b"".join(words)), lengths)
        self._vectors.extend(start, data)

    def _extend_columns(self, values: Mapping[str, Any], hashes: Any, lengths: Any) -> None:
        for name, column in self._columns.items():
            column.extend(values[name])
        self._words.extend(hashes, lengths)
        self._total += int(lengths.sum())
        self._forget_derived()

    def update(self, row: Row) -> bool:
        """Apply a changed row; return False if its text or its thread is another now."""
        at = self.row_of(row[0])
        if at is None:
            return False
        self.records.pop(row[0], None)
        self._forget_note(at)
        column = self._columns
        same = (number_of(row[5]), number_of(row[6]), len(row[8]) // WORD)
        if same != tuple(int(column[name][at]) for name in ("session", "document", "size")):
            return False
        if not self._words.has(at, row[8]):
            return False
        end = ALWAYS if row[3] is None else row[3]
        changed = {"created": row[1], "begins": row[2], "ends": end, "revoked": row[7]}
        changed |= {"agent": number_of(row[4]), "speaker": number_of(row[9])}
        for name, value in changed.items():
            column[name][at] = value
        self._vectors.set(at, row[10])
        self._forget_derived()
        return True

    def remove(self, seq: int) -> None:
        """Remove a row; its vector is overwritten."""
        at = self.row_of(seq)
        self.records.pop(seq, None)
        if at is None or not self._columns["alive"][at]:
            return
        self._columns["alive"][at] = 0
        self._vectors.set(at, None)
        self._total -= int(self._columns["size"][at])
        self._removed += 1
        self._forget_derived()

    def _notes_of(self, count: int) -> Any:
        """Return the notes of all rows, for a search that reads and writes them."""
        if len(self._notes) < count:
            more = self._np.zeros(count + _MORE_NOTES - len(self._notes), "i8")
            self._notes = self._np.concatenate([self._notes, more])
        self._are_notes_in_use = True
        return self._notes

    def _forget_note(self, row: int) -> None:
        """Forget the note of a row that changes, whatever a search that runs may still write."""
        if self._are_notes_in_use:
            self._notes, self._are_notes_in_use = self._notes.copy(), False
        self._notes[row : row + 1] = 0  # of a newer row nothing is noted yet

    def _forget_derived(self) -> None:
        self._allowed.clear()
        self._bounds = self._norms = None

    def row_of(self, seq: int) -> int | None:
        """Return the row of a memory by its number."""
        row = int(self.seq.searchsorted(seq))
        return row if row < len(self) and self.seq[row] == seq else None

    def search(
        self,
        query: Query,
        selection: Select,
        vector: bytes | None,
        measure: Measure,
        among: Sequence[int] | None = None,
    ) -> tuple[SearchView, list[int]]:
        """Search the segment.

        Args:
            query: The words, the vector and the number of candidates.
            selection: The conditions, as far as a segment knows them; see `is_known`.
            vector: The packed vector of the query, None to search by words alone.
            measure: Returns exact cosines of memories whose vectors are not held exactly.
            among: The numbers of the memories that meet the other conditions.

        Returns:
            The view, and the numbers of its candidates.
        """
        np = self._np
        count = len(self) - self._removed
        postings = self._words.of(query.words)
        if self._removed:
            alive = self._columns["alive"].values.view(bool)
            postings = [(rows[alive[rows]], often[alive[rows]]) for rows, often in postings]
        having = tuple(len(rows) for rows, _ in postings)
        mean = float(self._total) / count if count else 0.0
        if not count or query.limit < 1:
            return SearchView((), having, count, mean), []
        fits = self._fitting(selection)
        if among is not None:
            chosen = np.isin(self.seq, np.asarray(among, "i8"))
            fits = chosen if fits is None else fits & chosen
        hits = self._by_words(query, postings, count, mean, fits)
        near = Nearness(self._vectors, self.seq, measure)
        if vector is not None and self._vectors.dimension:
            near.measure_all(vector)
            is_hit = np.zeros(len(self), bool)
            is_hit[hits] = True
            is_hit[near.nearest(fits, query.limit)] = True
            hits = is_hit.nonzero()[0]
        else:
            hits = np.sort(hits)
        rows, follows = self._shown(query, hits, fits)
        same = self._same_speaker(rows, follows)
        total = len(self)
        noted = self._notes_of(total)
        counts = [counts_at(rows, *posting, total) for posting in postings]
        sizes = self._columns["size"].values[rows]
        similarities = near.of(rows)
        seen_columns = CandidateColumns(
            counts, sizes, similarities, follows, RecallNotes(noted, rows), same
        )
        return SearchView(seen_columns, having, count, mean), self.seq[rows].tolist()

    def _fitting(self, selection: Select) -> Any:
        """Return for each row whether it is selected; None where all are."""
        masks = []
        column = {name: column.values for name, column in self._columns.items()}
        if self._removed:
            masks.append(column["alive"].view(bool))
        if selection.live_at is not None:
            live_at, begun_by = (
                micros(selection.live_at),
                micros(selection.live_at + selection.ahead),
            )
            is_any_revoked, last_begin, first_end = self._bounds or self._bound()
            if is_any_revoked:
                masks.append(column["revoked"] == 0)
            if begun_by is None or last_begin > begun_by:
                masks.append(column["begins"] <= begun_by)
            if live_at is None or first_end <= live_at:
                masks.append(column["ends"] > live_at)
        if selection.since is not None:
            masks.append(column["created"] >= micros(selection.since))
        if selection.before is not None:
            masks.append(column["created"] < micros(selection.before))
        for name, names in (("agent", selection.agents), ("session", selection.sessions)):
            if names is not None:
                key = name, names
                if key not in self._allowed:
                    if len(self._allowed) >= _ALLOWED:
                        self._allowed.clear()
                    self._allowed[key] = self._named(column[name], names)
                if self._allowed[key] is not None:
                    masks.append(self._allowed[key])
        return self._np.logical_and.reduce(masks) if masks else None

    def _bound(self) -> tuple[bool, int, int]:
        """Return what most searches need not compare row by row: extremes of the validity."""
        column = self._columns
        self._bounds = (
            bool(column["revoked"].values.any()),
            int(column["begins"].values.max()),
            int(column["ends"].values.min()),
        )
        return self._bounds

    @staticmethod
    def _named(names: Any, allowed_names: Sequence[str | None]) -> Any:
        """Return which rows have one of these names; None where all have."""
        allowed = numpy().zeros(len(names), bool)
        for name in allowed_names:
            allowed |= names == number_of(name)
        return None if allowed.all() else allowed

    def _by_words(
        self, query: Query, postings: Sequence[Posting], count: int, mean: float, fits: Any
    ) -> Any:
        """Return the rows with the best BM25 scores."""
        scores = self._np.zeros(len(self))
        if self._norms is None:
            sizes = self._columns["size"].values
            self._norms = SATURATION * (1 - LENGTHS + LENGTHS * sizes / mean) if mean else sizes
        for rows, often in postings:
            if len(rows):
                weight = rarity(len(rows), count) * (SATURATION + 1)
                scores[rows] += weight * often / (often + self._norms[rows])
        if fits is not None:
            scores[~fits] = 0
        return newest_best(scores, scores.nonzero()[0], query.limit)

    # Threads.

    def _shown(self, query: Query, hits: Any, fits: Any) -> tuple[Any, Any]:
        """Return hits with their neighbours, and whether each follows another row."""
        if query.reach < 1:
            return hits, None
        in_session = False
        if query.sessions:
            session = self._columns["session"].values[hits]
            in_session = bool(((session != 0) & (session != number_of(""))).any())
        if not in_session and not self._names["document"].is_any_shared(hits):
            return hits, None
        np = numpy()
        threads = self._threads_of(query, hits.tolist(), fits)
        shown = with_neighbours(threads, set(hits.tolist()), query.reach)
        rows = np.fromiter((row for row, _ in shown), "i8", len(shown))
        return rows, np.fromiter((follows for _, follows in shown), bool, len(shown))

    def _threads_of(self, query: Query, hits: Sequence[int], fits: Any) -> list[list[int]]:
        """Return the newest fitting rows of the threads that hits are in."""
        np = numpy()
        session, document = (self._columns[name].values for name in ("session", "document"))
        nameless = (0, number_of(""))
        names: dict[tuple[bool, int], None] = {}
        for row in hits:
            by_session = query.sessions and session[row] not in nameless
            names[by_session, int((session if by_session else document)[row])] = None
        members: list[tuple[int, int]] = []
        for thread, (by_session, name) in enumerate(names):
            rows = self._names["session" if by_session else "document"].rows_of(name)
            if fits is not None:
                rows = rows[fits[rows]]
            if query.sessions and not by_session:
                rows = rows[np.isin(session[rows], nameless)]
            members += [(row, thread) for row in rows.tolist()]
        members.sort()
        threads: list[list[int]] = [[] for _ in names]
        newest = members[max(0, len(members) - query.thread) :] if query.thread > 0 else ()
        for row, thread in newest:
            threads[thread].append(row)
        return threads

    def _same_speaker(self, rows: Any, follows: Any) -> Any:
        """Return which rows follow one of the same speaker in another document."""
        if follows is None:
            return None
        speaker, document = (self._columns[name].values[rows] for name in ("speaker", "document"))
        same = follows & (speaker != 0)
        same[1:] &= (speaker[1:] == speaker[:-1]) & (document[1:] != document[:-1])
        return same

    # Blocks.

    @property
    def is_packable(self) -> bool:
        """Whether blocks can be made of it: small groups are read quickly from their rows."""
        return self._vectors.small is not None

    def pack(self, start: int, stop: int) -> bytes:
        """Return the rows from `start` to `stop` as bytes that `load` takes."""
        np = numpy()
        rows = np.arange(start, stop)
        rows = rows[self._columns["alive"].values[rows] != 0]
        arrays = {name: self._columns[name].values[rows] for name in _PACKED if name in _COLUMNS}
        arrays |= {"hashes": self._words.at(rows), **self._vectors.at(rows)}
        data = b"".join(arrays[name].astype(kind).tobytes() for name, kind in _PACKED.items())
        head = _HEAD.pack(_FORM, len(rows), self._vectors.dimension, zlib.crc32(data))
        return head + data

    def load(self, blocks: Sequence[bytes]) -> bool:
        """Add the rows of blocks, which are newer than all that are here.

        Returns:
            False if a block is damaged or of another form; no row was added then.
        """
        is_sound = self._load(blocks)
        self.has_damaged_blocks |= not is_sound
        return is_sound

    def _load(self, blocks: Sequence[bytes]) -> bool:
        np = numpy()
        unpacked = [_unpack(block) for block in blocks]
        parts = [arrays for arrays in unpacked if arrays is not None]
        dimensions = {arrays["small"].shape[1] for arrays in parts}
        if self._vectors.dimension:
            dimensions.add(self._vectors.dimension)
        if len(parts) < len(unpacked) or len(dimensions) != 1:
            return False
        values = {name: np.concatenate([arrays[name] for arrays in parts]) for name in _PACKED}
        seq = values["seq"]
        start = len(self)
        if not len(seq) or seq[0] <= self.last or (seq[1:] <= seq[:-1]).any():
            return False
        values["alive"] = np.ones(len(seq), "i1")
        self._extend_columns(values, values["hashes"], values["size"])
        self._vectors.extend_small(start, values)
        return True


_COLUMNS: Final = {
    "seq": "i8",
    "created": "i8",
    "begins": "i8",
    "ends": "i8",
    "agent": "i8",
    "session": "i8",
    "document": "i8",
    "speaker": "i8",
    "alive": "i1",
    "revoked": "i1",
    "size": "i4",
}
_WORN: Final = 500
_MORE_NOTES: Final = 256
"""Rows that come until the array of notes grows again."""
_ALLOWED: Final = 16
"""Conditions on names whose rows are remembered."""
_KNOWN: Final = frozenset(
    {"tenant", "groups", "agents", "sessions", "live_at", "ahead", "since", "before"}
)
"""Conditions that a segment can decide for its rows."""
_unknown_of: Final = attrgetter(
    *(field.name for field in fields(Select) if field.name not in _KNOWN)
)
_NOTHING: Final = _unknown_of(Select())


def is_known(selection: Select) -> bool:
    """Return whether a segment can decide all conditions of a selection."""
    return _unknown_of(selection) == _NOTHING


def number_of(name: str | bytes | None) -> int:
    """Return a number that stands for a name, the same in all processes; 0 stands for none."""
    if name is None:
        return 0
    # A hash of every id would take a third of the time of reading a group.
    return 1 + (int.from_bytes(name) if isinstance(name, bytes) else _text_number(name)) % _PRIME


@clearable_cache(1 << 12)
def _text_number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass")).digest()[:8])


_PRIME: Final = 2**61 - 1
"""The modulus of Python's own hash of a number; all 16 bytes of an id count."""


_PACKED: Final = {
    **{name: kind for name, kind in _COLUMNS.items() if name != "alive"},
    "hashes": "u8",
    "has": "i1",
    "scale": "f4",
    "error": "f4",
    "small": "i1",
}
"""The arrays of a block, in their order."""
_HEAD: Final = struct.Struct("<4Q")
_FORM: Final = 2
"""The form of blocks; a block of another form, as of an older version, is no block."""


def _unpack(block: bytes) -> dict[str, Any] | None:
    """Return the arrays of a block; None if it is damaged or of another form."""
    np = numpy()
    if len(block) < _HEAD.size:
        return None
    form, count, dimension, checksum = _HEAD.unpack_from(block)
    if form != _FORM or zlib.crc32(memoryview(block)[_HEAD.size :]) != checksum:
        return None
    arrays, start = dict[str, Any](), _HEAD.size
    for name, kind in _PACKED.items():
        size = count
        if name == "hashes":
            size = int(arrays["size"].sum())
        elif name == "small":
            size = count * dimension
        arrays[name] = np.frombuffer(block, f"<{kind}", size, start)
        start += arrays[name].nbytes
    arrays["small"] = arrays["small"].reshape(count, dimension)
    return arrays


class Segments:
    """The segments of the groups that were searched last.

    Args:
        most: Memories that all segments hold together at most; 0 for no segment at all.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: OrderedDict[Any, Segment] = OrderedDict()
        self._sizes: dict[Any, int] = {}

    def get(self, key: Any) -> Segment | None:
        """Return the segment of a group as it was, and count it as used last."""
        segment = self._known.get(key)
        if segment is not None:
            self._known.move_to_end(key)
        return segment

    def put(self, key: Any, segment: Segment) -> None:
        """Keep a segment as it is now; those that were not used for longest go."""
        self._known[key] = segment
        self._known.move_to_end(key)
        # Sizes are kept: to ask the segments of 200 groups for theirs was a twentieth of a search.
        self._sizes[key] = len(segment)
        while len(self._known) > 1 and sum(self._sizes.values()) > self.most:
            oldest, _ = self._known.popitem(last=False)
            self._sizes.pop(oldest, None)

    def forget(self, numbers: Sequence[int]) -> None:
        """Drop decoded memories: a text that is forgotten waits for no search to be gone."""
        for segment in self._known.values():
            if not segment.records.keys().isdisjoint(numbers):
                for number in numbers:
                    segment.records.pop(number, None)

    def drop(self, key: Any) -> None:
        """Forget the segment of a group."""
        self._known.pop(key, None)
        self._sizes.pop(key, None)

    def clear(self) -> None:
        """Forget all segments."""
        self._known.clear()
        self._sizes.clear()
