"""Many records at once in a SQLite file: kept as one by one, in a fraction of the statements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoryware.testing._store import entry, memory, within
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Space

MANY = 83
SPACE = Space("model", 2)


def statements(stores, work):
    """Return each statement that SQLite was told to do."""
    db, told = stores.long_term.store._database._db, []
    db.set_trace_callback(told.append)
    try:
        work()
    finally:
        db.set_trace_callback(None)
    return told


def numbered(count):
    made = [Provenance(Origin("tool", f"t{n}"), (f"s{n}", "all")) for n in range(count)]
    return [memory(f"word{n} for all", provenance=one) for n, one in enumerate(made)]


def is_whole(stores, given):
    """Say that everything is there in order, and found by words, lineage and vector."""
    long_term = stores.long_term
    assert long_term.find(within()).items == given[::-1]
    assert long_term.find(within(made_of=("all",))).total == len(given)
    for number, one in enumerate(given):
        assert long_term.find(within(root=f"tool:t{number}")).items == [one]
        assert long_term.find(within(made_of=(f"s{number}",))).items == [one]
        assert [hit.memory for hit in long_term.by_words([f"word{number}"], within(), limit=2)] == [
            one
        ]


def test_what_is_kept_at_once_is_kept_as_one_by_one(stores):
    given = numbered(MANY)
    vectors = [[1.0, float(n)] if n % 3 else None for n in range(MANY)]
    assert stores.long_term.load(given[:-7]) == given[:-7]
    stores.long_term.add(given[-7:], vectors[-7:], SPACE)
    pairs = [(one, vector) for one, vector in zip(given, vectors, strict=True) if vector]
    assert stores.long_term.put_vectors(pairs, SPACE) == len(pairs)
    is_whole(stores, given)
    kept = stores.long_term.vectors_of(given, SPACE)
    assert [one is None for one in kept] == [one is None for one in vectors]
    for one, vector in zip(kept, vectors, strict=True):
        assert vector is None or one[1] / one[0] == pytest.approx(vector[1], rel=0.01)
    entries = [entry(f"entry {n}", key=f"k{n}") for n in range(MANY)]
    assert stores.quarantine.load(entries) == entries
    assert stores.quarantine.find(within()).items == entries[::-1]


def test_many_at_once_take_few_statements_beside_one_for_each_row(stores):
    few, many = numbered(3), numbered(MANY)
    ours = [replace(one, id=f"other {n}", document_id=f"other {n}") for n, one in enumerate(few)]
    stores.long_term.load(ours)
    told = statements(stores, lambda: stores.long_term.load(many))
    # Each has a row of its own, two sources, and an origin that no other record has.
    assert len([one for one in told if "FROM provenance" not in one]) < 10 + 5 * MANY
    pairs = [(one, [1.0, 0.0]) for one in many]
    told = statements(stores, lambda: stores.long_term.put_vectors(pairs, SPACE))
    assert len(told) < 20 + MANY
