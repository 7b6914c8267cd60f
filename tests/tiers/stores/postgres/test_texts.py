"""PostgreSQL: any text can be kept, compared and looked for, and nothing of it stays behind."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from memoryware import MemoryScope
from memoryware.testing._store import ACME, FLAT, document, entry, later, memory, within
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.postgres._schema import TABLES
from memoryware.tiers.stores.protocol import Space
from servers import postgres

ODD = ["a\0b", "a\0c", "\ud800", "\udfff\ud800", "\x01", "\x01\\u0000", "\x01\x02", "🜁", "%s ? %"]


@pytest.mark.parametrize("text", [*ODD, "x" * 100_000, "ä" * 3000, "\0" * 3000])
def test_any_text_can_stand_anywhere(stores, text):
    names = text.translate({0: "0"}).encode("utf-8", "replace").decode()[:900]  # a scope has no NUL
    scope = MemoryScope(
        tenant=names + "t",
        group_id=names + "g",
        user_id=names + "u",
        agent_id=names + "a",
        session_id=names + "s",
    )
    one = entry(text, scope, key=text, revocation=text, metadata={text: text})
    stores.quarantine.add(one)
    assert stores.quarantine.add(replace(entry("again", scope), key=text)) == one
    two = memory(text, scope, subject=text, document_id=text, content_hash=text)
    stores.long_term.add([two], [[1, 0, 0]], Space(text, 3))
    which = within(scope, users=(names + "u",), sessions=(names + "s",), agents=(names + "a",))
    assert stores.quarantine.find(which.also(revocations=(text,))).items == [one]
    found = stores.long_term.find(which.also(subjects=(text,), documents=(text,), contains=text))
    assert found.items == [two]
    assert stores.long_term.spaces() == {Space(text, 3): 1}
    near = replace(scope, group_id=names + "G")
    assert stores.quarantine.find(within(near)).total == 0


def test_texts_that_begin_alike_are_not_the_same(stores):
    long = "x" * 999
    for n in range(3):
        stores.quarantine.add(entry(scope=replace(ACME, group_id=f"{long}{n}")))
    found = [
        stores.quarantine.find(within(replace(ACME, group_id=f"{long}{n}"))).total for n in range(4)
    ]
    assert found == [1, 1, 1, 0]


def test_texts_that_no_index_can_have_are_told_apart(stores):
    dice = random.Random(5)
    one, other = ("".join(chr(dice.randrange(256, 40_000)) for _ in range(5000)) for _ in range(2))
    for text in (one, other, one[:-1]):
        stores.long_term.add([memory(text, subject=text, document_id=text, content_hash=text)])
    for text in (one, other, one[:-1]):
        which = within(subjects=(text,), documents=(text,), hashes=(text,), contains=text[-99:])
        assert [found.content for found in stores.long_term.find(which).items] == [text]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("Straße 7", "STRASSE"), ("ÄRGER", "ärger"), ("a\0B", "A\0b"), ("İstanbul", "i̇STANBUL"),
        ("数据库", "据"), ("\ud800X", "\ud800x"), ("100%", "0%"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ],
)  # fmt: skip
def test_a_part_of_a_text_is_found_whatever_its_case(stores, content, part):
    stores.quarantine.add(entry(content))
    stores.quarantine.add(entry("something else"))
    assert [one.content for one in stores.quarantine.find(within(contains=part)).items] == [content]


def test_nothing_of_what_was_deleted_is_left_in_any_table(stores, address):
    made = Provenance(Origin("tool", "x"), ("e1", "e2"))
    every = " UNION ALL ".join(f"SELECT count(*) FROM {one}" for one in TABLES)
    stores.quarantine.add(entry(provenance=made))
    for n in range(4):  # pushed out, pushed again, expired, and deleted
        stores.working.push(entry(f"{n}", provenance=made, expires_at=later(hours=n)), keep=3)
    one = stores.working.find(within()).items[0]
    stores.working.push(one, keep=3)
    stores.long_term.add(document("one", "two", provenance=made), [[1, 0, 0]] * 2, FLAT)
    assert min(count for (count,) in postgres.asked(address, every)) > 0
    assert stores.working.purge(later(hours=1)) == 1
    assert stores.quarantine.delete(within()) == 1
    assert stores.working.delete(within()) == 2
    assert stores.long_term.delete(within()) == 2
    assert postgres.asked(address, every) == [(0,)] * len(TABLES)
