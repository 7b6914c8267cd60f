"""The index that a process keeps of a group: it says what the file says, whatever happens."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from itertools import count

import pytest

from memoryware.errors import EmbeddingMismatch
from memoryware.testing._store import ACME, document, later, within
from memoryware.tiers.stores import _columns as columns
from memoryware.tiers.stores import _segment as segment
from memoryware.tiers.stores.protocol import Query, Select, Space
from memoryware.tiers.stores.sqlite import _search as search
from memoryware.tiers.stores.sqlite import _transaction as transaction
from memoryware.tiers.text.terms import query_words
from tiers.stores.test_sqlite import assert_counts_are_kept

SPACE, OTHER = Space("wide", 8), Space("other", 4)
WORDS = [f"word{n}" for n in range(12)]
NUMBERS = count()


class Close(float):
    """A number that is equal to one that rounding makes of it."""

    def __eq__(self, other):
        return isinstance(other, Close) and abs(float(self) - float(other)) < 1e-5

    __hash__ = None


def seen(store, query, which=None):
    """Return everything that a search says, by memory."""
    found = store.search(query, which or within(), lambda view: range(len(view.candidates)))
    view = found.view
    assert len(found.memories) == len(view.candidates)
    rows = [
        (
            found.memories[place].id,
            found.memories[place].content,
            found.memories[place].revocation,
            one.counts,
            one.size,
            None if one.similarity is None else Close(one.similarity),
            found.memories[place - 1].id if one.follows else None,
            one.same_speaker,
        )
        for place, one in enumerate(view.candidates)
    ]
    return sorted(rows), view.having, view.count, round(view.mean, 6)


def vector(dice, space=SPACE):
    return [dice.gauss(0, 1) for _ in range(space.dimension)]


def text(dice):
    return " ".join(dice.choices(WORDS, k=dice.randint(1, 8))) + f" n{next(NUMBERS)}"


def asked(dice, space=SPACE, **more):
    words = query_words(" ".join(dice.sample(WORDS, 3)))
    found = Query(words=words, vector=vector(dice, space), space=space, limit=5, reach=2, **more)
    return replace(found, vector=None, space=None) if dice.random() < 0.3 else found


def selections(dice):
    yield within()
    yield within(live_at=later(hours=dice.randint(0, 48)))
    yield within(agents=(None,), live_at=later(hours=1))
    yield within(agents=("helper", None), sessions=("s1", None))
    yield within(since=later(hours=1), before=later(hours=30))
    yield within(replace(ACME, group_id="another"))


def add(store, dice):
    session = dice.choice([None, "s1", "s2"])
    scope = replace(
        ACME,
        group_id=dice.choice([ACME.group_id, ACME.group_id, "another"]),
        agent_id=dice.choice([None, "helper"]),
        session_id=session,
    )
    said = dice.choice([{}, {"speaker": "ann"}, {"speaker": "bob"}])
    given = document(*(text(dice) for _ in range(dice.randint(1, 4))), scope=scope, metadata=said)
    given = [replace(one, created_at=later(hours=dice.randint(0, 40))) for one in given]
    vectors = [vector(dice) if dice.random() < 0.8 else None for _ in given]
    store.add(given, vectors, SPACE)


def some(store, dice):
    every = store.find(within()).items
    return Select.within(every[0].scope, ids=(dice.choice(every).id,)) if every else within()


def revoke(store, dice):
    store.edit(some(store, dice), lambda one: replace(one, revocation="r"))


def end(store, dice):
    store.edit(some(store, dice), lambda one: replace(one, valid_to=later(hours=5)))


def rewrite(store, dice):
    store.edit(some(store, dice), lambda one: replace(one, content=text(dice)))


def move(store, dice):
    store.edit(some(store, dice), lambda one: replace(one, document_id="moved"))


def speak(store, dice):
    store.edit(some(store, dice), lambda one: replace(one, metadata={"speaker": "ann"}))


def forget(store, dice):
    store.delete(some(store, dice))


def embed(store, dice):
    store.put_vectors([(one, vector(dice)) for one in store.unembedded(SPACE, limit=3)], SPACE)


def fail(store, dice):
    """Change something, look at it from inside, and undo it."""

    def change(one):
        seen(store, asked(dice))
        raise OSError("midway")

    add(store, dice)
    with pytest.raises(OSError, match="midway"):
        store.edit(within(), change)


CHANGES = [*[add] * 8, revoke, end, rewrite, move, speak, forget, embed, fail]


WAYS = {
    "as it is": {},
    "indexed from the beginning": {"_SCANNED": 0, "_APART": 0},
    "small from the beginning": {"_EXACT": 0},
    "on the way from one to the other": {
        "_SCANNED": 10,
        "_APART": 5,
        "_LOOKS": 20,
        "_EXACT": 20,
        "_WORN": 3,
    },
}
"""Limits that say how a segment keeps words and vectors."""


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_the_index_says_what_the_file_says(opened, path, seed, way, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setattr(segment if name == "_WORN" else columns, name, value)
    dice = random.Random(f"{seed} {way}")
    mine, others, plain = opened(), opened(), opened(indexed=0)
    for one in (mine, others) * 3:
        add(one, dice)
    for _ in range(60):
        for _ in range(dice.randint(0, 3)):
            dice.choice(CHANGES)(dice.choice([mine, others]), dice)
        query = asked(dice, sessions=dice.random() < 0.3)
        for which in selections(dice):
            assert seen(mine, query, which) == seen(plain, query, which)
        for which in selections(dice):
            found = plain.find(which)
            assert mine.find(which, limit=0).total == found.total == len(found.items)
    with sqlite3.connect(path) as db:
        assert_counts_are_kept(db)


def test_the_nearest_are_the_nearest_however_close_they_are(opened):
    dice = random.Random(1)
    wide = Space("wide", 64)
    middle = vector(dice, wide)
    near = [[one + dice.gauss(0, 0.01) for one in middle] for _ in range(400)]
    store, plain = opened(), opened(indexed=0)
    store.add(document(*(f"text {n}" for n in range(400))), near, wide)
    query = Query(words=(), vector=middle, space=wide, limit=20, reach=0)
    for _ in range(2):
        assert seen(store, query) == seen(plain, query)
        assert len(seen(store, query)[0]) == 20


def test_what_nobody_can_follow_anymore_is_read_anew(opened, path):
    dice = random.Random(2)
    mine, others, plain = opened(), opened(), opened(indexed=0)
    for _ in range(20):
        add(mine, dice)
    query = asked(dice)
    seen(mine, query)
    for _ in range(10):
        revoke(others, dice)
    with sqlite3.connect(path) as db:  # as if there had been many more
        db.execute("DELETE FROM change WHERE generation < (SELECT max(generation) FROM change)")
    assert seen(mine, query) == seen(plain, query)


def test_a_file_knows_so_many_changes_of_a_group_and_no_more(opened, path, monkeypatch):
    monkeypatch.setattr(transaction, "CHANGES", 7)
    monkeypatch.setattr(transaction, "PRUNED_EVERY", 1)
    dice = random.Random(3)
    store = opened()
    for _ in range(30):
        add(store, dice)
    with sqlite3.connect(path) as db:
        kept = dict(db.execute("SELECT grp, count(*) FROM change GROUP BY grp"))
    assert max(kept.values()) == 7


def test_a_write_that_touches_very_many_is_not_followed(opened, monkeypatch):
    monkeypatch.setattr(transaction, "TOUCHED", 3)
    monkeypatch.setattr(search, "TOUCHED", 3)
    dice = random.Random(4)
    mine, others, plain = opened(), opened(), opened(indexed=0)
    for _ in range(10):
        add(mine, dice)
    query = asked(dice)
    seen(mine, query)
    others.edit(within(), lambda one: replace(one, revocation="r"))
    assert seen(mine, query) == seen(plain, query)


def test_groups_that_were_not_asked_lately_have_no_index(opened):
    dice = random.Random(5)
    mine, plain = opened(indexed=10), opened(indexed=0)
    for n in range(6):
        scope = replace(ACME, group_id=f"g{n}")
        mine.add(document(*(text(dice) for _ in range(6)), scope=scope), (), None)
    for _ in range(2):
        for n in range(6):
            which = within(replace(ACME, group_id=f"g{n}"))
            query = Query(words=WORDS[:3], limit=4, reach=1)
            assert seen(mine, query, which) == seen(plain, query, which)


def test_the_space_that_is_searched_is_the_current_one(opened):
    dice = random.Random(6)
    mine, others = opened(), opened()
    memories = mine.add(document("word1", "word2"), [vector(dice), vector(dice)], SPACE)
    query = Query(words=(), vector=vector(dice), space=SPACE)
    assert len(seen(mine, query)[0]) == 2
    others.put_vectors([(one, vector(dice, OTHER)) for one in memories[:1]], OTHER)
    others.adopt(OTHER, drop_others=True)
    with pytest.raises(EmbeddingMismatch):
        seen(mine, query)
    now = Query(words=(), vector=vector(dice, OTHER), space=OTHER, reach=0)
    assert len(seen(mine, now)[0]) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_child_sees_what_its_parent_has_stored_and_what_it_stores_later(opened):
    dice = random.Random(7)
    store, query = opened(), Query(words=["word1"])
    store.add(document("word1"), [vector(dice)], SPACE)
    seen(store, query)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        store.add(document("word1 of a child"), (), None)
        os._exit(0 if len(seen(store, query)[0]) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(seen(store, query)[0]) == 2


@pytest.mark.slow
def test_without_numpy_everything_is_found_all_the_same(opened, path):
    dice = random.Random(8)
    store = opened()
    for _ in range(30):
        add(store, dice)
    query = Query(words=["word1", "word2"], vector=vector(dice), space=SPACE, limit=5)
    program = (
        "import sys; sys.modules['numpy'] = None; sys.path.insert(0, 'tests')\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'numpy' else real(name, *more)\n"
        "from memoryware.tiers.stores.sqlite import sqlite_stores\n"
        "from tiers.stores.test_sqlite_index import *\n"
        f"query = Query(words=['word1', 'word2'], vector={query.vector}, space=SPACE, limit=5)\n"
        "store = sqlite_stores(sys.argv[1]).long_term\n"
        "print([row[0] for row in seen(store, query)[0]])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str([row[0] for row in seen(store, query)[0]])


def test_a_file_that_was_put_back_is_not_taken_for_the_one_that_was_known(opened, path):
    """Changes are counted, and a copy of before goes on counting from where it was."""
    dice = random.Random(9)
    store, plain = opened(), opened(indexed=0)
    other = replace(ACME, tenant="stranger", group_id="bank")
    for _ in range(10):
        add(store, dice)
    copy = sqlite3.connect(path.with_name("copy.db"))
    with sqlite3.connect(path) as now:
        now.backup(copy)
    store.add(document("printer word1"), (), None)
    query = Query(words=["printer", "account"], limit=5)
    assert len(seen(store, query)[0]) >= 1
    with sqlite3.connect(path) as now:
        copy.backup(now)
    copy.close()
    plain.add(document("account of a stranger", scope=other), (), None)
    assert seen(store, query) == seen(plain, query)
    assert not any("stranger" in row[1] for row in seen(store, query)[0])


def test_who_was_interrupted_does_not_keep_the_next_from_searching(opened):
    store, plain = opened(), opened(indexed=0)
    store.add(document("word1"), (), None)
    query, kept = Query(words=["word1"]), []

    def interrupted(_):
        frame = sys._getframe()
        while frame is not None:
            kept.append(dict(frame.f_locals))
            frame = frame.f_back
        raise KeyboardInterrupt

    for n in range(3):
        with pytest.raises(KeyboardInterrupt):
            store.search(query, within(), interrupted)
        kept.append([memoryview(one) for one in _arrays(kept)])
        store.add(document(f"word1 {n}"), (), None)
        assert seen(store, query) == seen(plain, query)


def _arrays(kept):
    found = (value for some in kept if isinstance(some, dict) for value in some.values())
    return [one.seq for one in found if isinstance(one, segment.Segment)]
