"""What a SQLite file keeps and what not: odd texts, deleted texts, changes that fail."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from memoryware import MemoryScope
from memoryware.errors import PromotionRefused, StoreUnavailable
from memoryware.testing._store import ACME, NOON, entry, later, memory, within
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores._columns import word_hash
from memoryware.tiers.stores.protocol import Select, Space
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.text.terms import words_of
from tiers.kit import bytes_on_disk

ODD = ["a\0b", "a\0c", "\ud800", "\udfff\ud800", "\x01", "\x01\\u0000", "a\nb", "🜁", "'\"]%_\\"]


@pytest.mark.parametrize("odd", ODD)
def test_a_text_that_sqlite_cannot_hold_is_kept_and_found(stores, odd):
    name = odd.replace("\0", "0").encode("utf-8", "replace").decode()
    scope = MemoryScope(
        tenant=name, group_id=name, user_id=name, agent_id=name, session_id=name, node_id=name
    )
    made = Provenance(Origin("tool", name), (odd,))
    given = {"scope": scope, "id": odd, "provenance": made, "revocation": odd}
    one = entry(f"An entry {odd}", key=odd, metadata={odd: odd}, **given)
    other = memory(f"A memory {odd}", subject=odd, document_id=odd, content_hash=odd, **given)
    stores.quarantine.add(one)
    stores.long_term.add([other], [[1.0, 0.0]], Space(odd, 2))
    for pair in ((odd,), (odd, "another")):
        names = dict.fromkeys(("ids", "revocations"), pair)
        names |= dict.fromkeys(("users", "agents", "sessions"), (name, *pair[1:]))
        which = Select.within(scope, **names, root=f"tool:{name}", made_of=pair, contains=odd)
        assert stores.quarantine.find(which).items == [one]
        assert stores.long_term.find(which.also(subjects=pair, documents=pair)).items == [other]
    assert stores.quarantine.add(replace(one, id="again")) == one
    current = replace(other, id="current", revocation=None)
    for again in (current, replace(current, id="again")):
        assert stores.long_term.add([again]) == [current]
    assert stores.long_term.spaces() == {Space(odd, 2): 1}
    for stranger in ("another", f"{name} ", f"x{name}"):
        assert stores.quarantine.find(Select.within(replace(scope, group_id=stranger))).total == 0


def test_strangers_may_have_the_same_ids(stores):
    one, other = MemoryScope(tenant="a", group_id="g"), MemoryScope(tenant="b", group_id="g")
    for scope in (one, other):
        stores.quarantine.add(entry(f"of {scope.tenant}", scope, id="same"))
        stores.working.push(entry(f"of {scope.tenant}", scope, id="same"), keep=5)
        stores.long_term.add([memory(f"of {scope.tenant}", scope, id="same")])
    stores.long_term.delete(Select.within(one, ids=("same",)))
    for store, left in ((stores.quarantine, 1), (stores.working, 1), (stores.long_term, 0)):
        assert store.find(Select.within(one)).total == left
        assert [x.content for x in store.find(Select.within(other)).items] == ["of b"]


def test_an_id_is_stored_once(stores):
    stores.quarantine.add(entry("one", id="same"))
    with pytest.raises(StoreUnavailable, match="exists already"):
        stores.quarantine.add(entry("two", id="same"))
    assert [one.content for one in stores.quarantine.find(within()).items] == ["one"]


@pytest.mark.parametrize("word", ["", " ", "!", '"', "*", "a b", "OR", "AND", "NEAR", "TEXT", "\0"])
def test_what_is_no_word_finds_nothing(stores, word):
    stores.long_term.add([memory("a b text or and near")])
    assert stores.long_term.by_words([word], within(), limit=5) == []
    assert len(stores.long_term.by_words([word, "text"], within(), limit=5)) == 1


def test_a_question_may_have_thousands_of_words_and_a_tenant_thousands_of_groups(stores):
    stores.long_term.add([memory("text")])
    words = [f"w{n}" for n in range(4000)]
    assert len(stores.long_term.by_words([*words, "text"], within(), limit=5)) == 1
    which = Select(tenant="t", groups=("acme", *(f"g{n}" for n in range(4000))))
    assert len(stores.long_term.by_words(["text"], which, limit=5)) == 1
    assert stores.long_term.find(which).total == 1


def test_times_are_exact_to_the_ends_of_the_calendar(stores):
    for moment in (NOON.min, NOON.max, NOON.max.replace(microsecond=999998)):
        moment = moment.replace(tzinfo=NOON.tzinfo)
        stores.quarantine.add(entry(created_at=moment))
        assert stores.quarantine.find(within(since=moment)).items[0].created_at == moment
    end = NOON.max.replace(tzinfo=NOON.tzinfo)
    assert stores.quarantine.find(within(before=end)).total == 2


# Deleting.


def test_a_deleted_text_is_nowhere_in_the_files(stores, path):
    for n in range(40):
        stores.long_term.add([memory(f"Zebraword number {n} and others", metadata={"z": "zebra"})])
    stores.quarantine.add(entry("Zebraword in quarantine"))
    stores.working.push(entry("Zebraword at hand"), keep=5)
    stores.long_term.add([memory("Something else is kept")])
    assert b"ebraword" in bytes_on_disk(path)
    for store in (stores.long_term, stores.working, stores.quarantine):
        store.delete(within(contains="zebraword"))
    assert b"ebra" not in bytes_on_disk(path)
    assert b"omething else" in bytes_on_disk(path)
    assert len(stores.long_term.by_words(words_of("kept"), within(), limit=5)) == 1


def test_a_changed_text_is_nowhere_in_the_files(stores, path):
    stores.long_term.add([memory("Zebraword is here", content_hash="1")])
    stores.long_term.edit(within(), lambda one: replace(one, content="Nothing is here"))
    assert b"ebraword" not in bytes_on_disk(path)


def test_nothing_is_left_and_nothing_lost_however_often_something_is_deleted(stores, path):
    for n in range(6):
        stores.long_term.add([memory(f"Zebraword {n}", content_hash="1", agent=f"a{n}")])
        stores.long_term.add([memory(f"Something {n}", agent=f"a{n}")])
        assert stores.long_term.delete(within(contains="zebra")) == 1
    assert b"ebraword" not in bytes_on_disk(path)
    assert len(stores.long_term.by_words(words_of("something"), within(), limit=9)) == 6


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_thousands_of_changes_and_deletions_leave_the_file_readable(stores, path):
    for n in range(700):
        kept, gone = memory(f"kept {n}"), memory(f"gone {n}")
        stores.long_term.add([kept])
        stores.long_term.add([gone])
        which = within(ids=(kept.id,))
        stores.long_term.edit(which, lambda one: replace(one, content=f"{one.content} changed"))
        stores.long_term.delete(within(ids=(gone.id,)))
    stores.long_term.close()
    again = sqlite_stores(path)
    assert len(again.long_term.by_words(words_of("changed"), within(), limit=800)) == 700
    again.long_term.close()


def test_nothing_of_the_words_of_a_deleted_text_is_left(stores, path):
    stores.long_term.add([memory("Zebraword of somebody")])
    stores.long_term.add([memory("Something else")])
    words = [word_hash(one) for one in words_of("Zebraword somebody")]
    assert all(one in bytes_on_disk(path) for one in words)
    stores.long_term.delete(within(contains="zebraword"))
    assert not any(one in bytes_on_disk(path) for one in words)
    assert word_hash(words_of("something")[0]) in bytes_on_disk(path)


def test_names_in_a_lineage_that_nobody_has_any_more_are_gone(stores, path):
    made = Provenance(Origin("user", "Annabella"))
    one, other = (memory(f"text {n}", provenance=made) for n in range(2))
    stores.long_term.load([one, other])
    stores.long_term.delete(within(ids=(one.id,)))
    assert stores.long_term.find(within(root="user:Annabella")).items == [other]
    stores.long_term.edit(within(), lambda old: replace(old, promoted_by="somebody"))
    assert stores.long_term.find(within(root="user:Annabella")).total == 1
    stores.long_term.delete(within())
    assert b"Annabella" not in bytes_on_disk(path)
    again = memory("text", provenance=made)
    stores.long_term.add([again])
    assert stores.long_term.find(within(root="user:Annabella")).items == [again]


def test_a_group_that_has_nothing_is_gone_with_its_name(stores, path):
    scope = replace(ACME, group_id="Annabella")
    given = entry(scope=scope)
    stores.quarantine.add(given)
    stores.quarantine.delete(Select.within(scope))
    assert b"Annabella" not in bytes_on_disk(path)
    stores.quarantine.add(given)
    assert stores.quarantine.find(Select.within(scope)).items == [given]


def test_deleting_works_while_somebody_reads(path):
    stores = sqlite_stores(path, lock_timeout=0.1)
    stores.long_term.add([memory("Zebraword is here")])
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM record").fetchall()
        assert stores.long_term.delete(within()) == 1
        reader.execute("COMMIT")
    stores.long_term.add([memory("More")])
    stores.long_term.delete(within())
    assert b"ebraword" not in bytes_on_disk(path)
    stores.long_term.close()


# Changes.


def test_an_error_of_a_change_stays_what_it_is(stores):
    stores.quarantine.add(entry("before"))
    for error in (PromotionRefused("no"), FileNotFoundError("x"), KeyboardInterrupt()):

        def fail(_, error=error):
            raise error

        with pytest.raises(type(error)) as raised:
            stores.quarantine.edit(within(), fail)
        assert raised.value is error
    assert stores.quarantine.find(within()).items[0].content == "before"


def test_a_change_may_use_the_store_itself(stores):
    stores.quarantine.add(entry("one"))

    def change(record):
        assert stores.quarantine.find(within()).total == 1
        stores.working.push(record, keep=5)
        with pytest.raises(StoreUnavailable):
            stores.quarantine.add(replace(record, content="again"))
        return replace(record, content="two")

    stores.quarantine.edit(within(), change)
    assert stores.quarantine.find(within()).items[0].content == "two"
    assert stores.working.find(within()).total == 1


def test_what_a_failed_change_did_to_the_store_is_undone_as_well(stores):
    stores.quarantine.add(entry("one"))

    def change(record):
        stores.working.push(record, keep=5)
        raise ZeroDivisionError

    with suppress(ZeroDivisionError):
        stores.quarantine.edit(within(), change)
    assert stores.working.find(within()).total == 0


def test_a_change_of_metadata_in_place_counts(stores):
    stores.quarantine.add(entry("one", metadata={"a": [1]}))

    def change(record):
        record.metadata["a"].append(2)
        return record

    assert len(stores.quarantine.edit(within(), change)) == 1
    assert stores.quarantine.find(within()).items[0].metadata == {"a": [1, 2]}


def test_only_the_vectors_of_a_changed_text_are_dropped(stores):
    space = Space("m", 2)
    pair = [memory("one", document_id="d"), memory("two", document_id="d", chunk_index=1)]
    stores.long_term.add(pair, [[1.0, 0.0], [0.0, 1.0]], space)
    stores.long_term.edit(within(), lambda one: replace(one, valid_to=later(days=1)))
    assert stores.long_term.unembedded(space, limit=5) == []
    (changed,) = stores.long_term.edit(
        within(contains="one"), lambda one: replace(one, content="three")
    )
    assert stores.long_term.unembedded(space, limit=5) == [changed]
    stores.long_term.put_vectors([(changed, [1.0, 1.0])], Space("other", 2))
    assert stores.long_term.unembedded(space, limit=5) == [changed]
    stores.long_term.adopt(space, drop_others=True)
    assert stores.long_term.unembedded(space, limit=5) == [changed]
    assert stores.long_term.unembedded(Space("other", 2), limit=1)[0].id == pair[0].id


@pytest.mark.parametrize("scale", [1e-300, 1e-7, 1.0, 7e4, 1.7e308])
def test_vectors_of_any_length_are_compared_by_their_direction(stores, scale):
    space = Space("m", 3)
    stores.long_term.add([memory("one")], [[scale, 0.5 * scale, -scale]], space)
    (hit,) = stores.long_term.by_vector([2.0, 1.0, -2.0], within(), space=space, limit=1)
    assert hit.value == pytest.approx(1, abs=0.001)


# Forks.


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_forks_in_the_middle_of_writing_threads_lose_nothing(stores):
    stop, failed = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            try:
                stores.quarantine.add(entry("of a thread"))
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for one in threads:
        one.start()
    for n in range(10):
        child = os.fork()
        if not child:
            try:
                stores.quarantine.add(entry("of a child", id=f"child {n}"))
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    for one in threads:
        one.join()
    assert failed == []
    found = stores.quarantine.find(within()).items
    assert sum(one.content == "of a child" for one in found) == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_of_a_change_waits_as_any_other_process(path):
    stores = sqlite_stores(path, lock_timeout=0.2)
    stores.quarantine.add(entry("one"))

    def change(record):
        child = os.fork()
        if not child:
            try:
                stores.quarantine.add(entry("of the child"))
            except StoreUnavailable:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        return replace(record, content="two")

    stores.quarantine.edit(within(), change)
    assert [one.content for one in stores.quarantine.find(within()).items] == ["two"]
    stores.quarantine.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_many_who_make_a_file_at_once_make_one(tmp_path):
    for turn in range(10):
        path, (begin, go) = tmp_path / f"{turn}.db", os.pipe()
        children = []
        for n in range(8):
            child = os.fork()
            if not child:
                try:
                    os.close(go)
                    os.read(begin, 1)  # until everybody is there
                    sqlite_stores(path).quarantine.add(entry(id=str(n)))
                    os._exit(0)
                finally:
                    os._exit(1)
            children.append(child)
        os.close(begin)
        os.close(go)
        assert [os.waitpid(one, 0)[1] for one in children] == [0] * 8
        made = sqlite_stores(path)
        assert made.quarantine.find(within()).total == 8
        made.quarantine.close()


def test_numbers_of_what_was_deleted_are_given_to_nobody(tmp_path):
    store = sqlite_stores(tmp_path / "memory.db").long_term
    loaded = [memory(f"text {n}") for n in range(3)]
    store.load(loaded)
    assert store.delete(within(ids=tuple(one.id for one in loaded[1:]))) == 2
    store.add([memory("one by itself")])
    store.load([memory("many"), memory("more")])
    store.close()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        assert db.execute("SELECT seq FROM record ORDER BY seq").fetchall() == [
            (1,), (4,), (5,), (6,)
        ]  # fmt: skip
