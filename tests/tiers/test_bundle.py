"""A bundle is data of strangers: it is read whole, or refused with the line that is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hooked import hooked
from memoryware import MemoryScope, Origin, TieredMemory, TierLimits, Trust
from memoryware.errors import BundleRefused, SettingError, StoreUnavailable
from memoryware.stores import ImportReport
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Stores
from memoryware.tiers.stores.sqlite import sqlite_stores

SHOP = MemoryScope(group_id="shop", agent_id="helper")
TEXTS = [
    "The orders of the shop are in PostgreSQL 17, on the server db2 of the town.",
    "The invoices of the shop are in a drawer of the old desk in the back room.",
    "Deliveries come on Tuesdays before nine, except in August when the harbour is closed.",
]


@pytest.fixture(params=["embedded", "sqlite"])
def memory(request, tmp_path):
    stores = embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "m.db")
    with TieredMemory(stores) as made:
        yield made


@pytest.fixture(params=["blocking", "native"])
def take(request, memory):
    """Import lines through one of the two doors."""

    async def taken(lines: Any, **options: Any) -> ImportReport:
        given = {"scope": SHOP, "name": "old", **options}
        if request.param == "native":
            return await memory.aimport_bundle(lines, **given)
        return memory.import_bundle(lines, **given)

    return taken


@pytest.fixture(scope="module")
def lines():
    with TieredMemory.open("memory://") as source:
        for text in TEXTS:
            source.record(text, SHOP)
        source.promote(TEXTS[0], SHOP, by="ann")
        yield tuple(source.export(SHOP))


def changed(line: str, **changes: Any) -> str:
    return json.dumps({**json.loads(line), **changes})


def without(line: str, name: str) -> str:
    return json.dumps({key: one for key, one in json.loads(line).items() if key != name})


BAD = {
    "no JSON": lambda _: "{",
    "a list": lambda _: "[1]",
    "a number": lambda _: "5",
    "deep in lists": lambda _: "[" * 100_000 + "]" * 100_000,
    "deep in objects": lambda _: '{"a":' * 100_000 + "1" + "}" * 100_000,
    "deep metadata": lambda line: line[:-1] + ',"metadata":' + '{"a":' * 5000 + "1" + "}" * 5001,
    "bytes": lambda line: line.encode(),
    "None": lambda _: None,
    "a dict": json.loads,
    "NaN": lambda line: changed(line, metadata={"a": float("nan")}),
    "infinite": lambda line: changed(line, metadata={"a": float("inf")}),
    "a number of 5000 digits": lambda line: line[:-1] + ',"x":' + "9" * 5000 + "}",
    "too long a line": lambda _: '"' + "x" * 2_000_001 + '"',
    "too long a text": lambda line: changed(line, content="x" * 100_001),
    "no id": lambda line: without(line, "id"),
    "a number as id": lambda line: changed(line, id=5),
    "no content": lambda line: without(line, "content"),
    "a list as content": lambda line: changed(line, content=["a"]),
    "no tier": lambda line: without(line, "tier"),
    "an unknown tier": lambda line: changed(line, tier="warm"),
    "a list as tier": lambda line: changed(line, tier=["working"]),
    "no scope": lambda line: without(line, "scope"),
    "a text as scope": lambda line: changed(line, scope="shop"),
    "a number in the scope": lambda line: changed(line, scope={"user_id": 5}),
    "NUL in the scope": lambda line: changed(line, scope={"user_id": "a\0b"}),
    "too long in the scope": lambda line: changed(line, scope={"user_id": "x" * 1001}),
    "no provenance": lambda line: without(line, "provenance"),
    "a list as provenance": lambda line: changed(line, provenance=[]),
    "an unknown origin": lambda line: changed(line, provenance={"origin": "boss:x"}),
    "a number as origin": lambda line: changed(line, provenance={"origin": 5}),
    "numbers as sources": lambda line: changed(
        line, provenance={"origin": "user:x", "sources": [[1]]}
    ),
    "half a character": lambda line: changed(line, provenance={"origin": "user:\ud800"}),
    "no time": lambda line: changed(line, created_at="yesterday"),
    "a number as time": lambda line: changed(line, created_at=5),
    "a list as metadata": lambda line: changed(line, metadata=[1]),
    "a verdict that is none": lambda line: changed(line, verdict={"confidence": 7}),
    "a number as echo": lambda line: changed(line, echo_of=[5]),
    "a number as duplicate": lambda line: changed(line, duplicate_of=[5]),
}


@pytest.mark.parametrize("place", [1, 3])
@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_line_is_told_by_its_number_and_nothing_is_imported(
    memory, take, lines, bad, place
):
    memory.parts = replace(memory.parts, limits=TierLimits(entry_chars=100_000))
    given = list(lines)
    given[place] = BAD[bad](given[place])
    with pytest.raises(BundleRefused, match=rf"^Line {place + 1}\b") as refused:
        await take(given)
    assert refused.value.line == place + 1
    assert len(str(refused.value)) < 300
    assert memory.list(SHOP).total == 0


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ([], 0),
        (["", "  "], 0),
        (["{}"], 1),
        (["", '{"format": "other"}'], 2),
        (['{"format": "memoryware-bundle", "version": 2}'], 1),
        (['{"format": "memoryware-bundle", "version": true}'], 1),
        (['{"format": "memoryware-bundle", "version": [1]}'], 1),
        (['{"format": ["memoryware-bundle"], "version": 1}'], 1),
    ],
)
async def test_what_has_no_head_is_no_bundle(memory, take, lines, head, line):
    with pytest.raises(BundleRefused) as refused:
        await take([*head, *(lines[1:] if head and head[0] else [])])
    assert refused.value.line == line
    assert memory.list(SHOP).total == 0


@pytest.mark.parametrize("wrong", ["a text", b"bytes", None, 5, {"a": 1}])
async def test_what_is_no_list_of_lines_is_refused(memory, take, wrong):
    with pytest.raises(BundleRefused, match=r"^lines: ") as refused:
        await take(wrong)
    assert refused.value.line == 0


async def test_a_file_that_is_no_text_is_told(take, tmp_path, lines):
    path = tmp_path / "b.jsonl"
    path.write_bytes(lines[0].encode() + b"\n\xff\xfe\n")
    with path.open(encoding="utf-8") as file, pytest.raises(BundleRefused, match="not UTF-8"):
        await take(file)
    with path.open("rb") as file, pytest.raises(BundleRefused, match="open the file as text"):
        await take(file)


@pytest.mark.parametrize("name", [None, 5, b"x", "", "  ", "x" * 1001, "a\0b"])
async def test_a_bundle_needs_a_name(memory, take, lines, name):
    with pytest.raises(SettingError, match="name"):
        await take(lines, name=name)
    assert memory.list(SHOP).total == 0


async def test_two_records_with_one_id_are_refused_and_the_same_twice_is_one(memory, take, lines):
    other = changed(lines[1], content="Something else.")
    with pytest.raises(BundleRefused, match=r"Line 9 has the id") as refused:
        await take([*lines, other])
    assert (refused.value.line, len(lines)) == (9, 8)
    assert memory.list(SHOP).total == 0
    report = await take([*lines, lines[1]])
    assert report.added == 4, "three texts in two tiers each, and one memory"


async def test_nothing_is_trusted_whatever_a_bundle_says_of_itself(memory, take, lines):
    proud = changed(
        lines[1],
        provenance={"origin": "person:ann", "roots": ["person:ann"]},
        status="promoted",
        trust=3,
        decided_by="ann",
        proposed_by="ann",
        verdict={"verified": True, "by": "ann"},
        metadata={"trust": "PERSON", "imported_as": "mine"},
        role="boss",
        refused="x" * 500,
        key="k",
    )
    await take([without(lines[0], "counts"), proud])
    (entry,) = (one.record for one in memory.list(SHOP).items)
    assert entry.provenance.trust == Trust.UNTRUSTED
    assert entry.provenance.origin == Origin("import", "old")
    assert (entry.status, entry.decided_by, entry.proposed_by) == ("pending", None, None)
    assert (entry.verdict, entry.role, entry.refused) == (None, "other", None)
    assert entry.metadata["imported_as"] == "old"
    assert memory.retrieve("orders", SHOP) == []


async def test_what_is_odd_and_harmless_is_kept(memory, take, lines):
    odd = changed(
        lines[1],
        id="a\ud800\0",
        content="half \ud83d a character\0",
        metadata={"\ud800": "\udfff", "deep": json.loads('{"a":' * 200 + "1" + "}" * 200)},
    )
    report = await take([without(lines[0], "counts"), odd])
    assert report.added == 1
    (entry,) = memory.list(SHOP).items
    assert entry.content.startswith("half \ufffd a character")


def with_room_for(stores: Stores, room: int) -> Stores:
    """Stores of which quarantine takes so many entries and then has no room."""
    left = room

    def before(tier: str, name: str) -> None:
        nonlocal left
        if (tier, name) == ("quarantine", "add"):
            if left == 0:
                raise StoreUnavailable("disk full")
            left -= 1

    return hooked(stores, before)


async def test_a_store_that_fails_halfway_keeps_nothing_of_it(memory, take, lines):
    first = await take([without(lines[0], "counts"), *lines[1:3]])
    whole = memory.parts
    memory.parts = replace(whole, stores=with_room_for(whole.stores, 3))
    with pytest.raises(StoreUnavailable):
        await take(lines)
    memory.parts = whole
    assert {one.id for one in memory.list(SHOP).items} == set(first.ids.values())
    assert (await take(lines)).added == 2


@pytest.mark.parametrize("kept", [1, 3])
def test_a_bundle_that_was_cut_at_the_end_of_a_line_is_refused(kept):
    """The head says how many records there are; bundles without counts are taken as they are."""
    source, target = TieredMemory.open("memory://"), TieredMemory.open("memory://")
    for number in range(5):
        source.promote(f"The server s{number} stands in the hall {number}.", "g", by="ann")
    lines = source.export("g")
    with pytest.raises(
        BundleRefused, match=rf"truncated: {6 - kept} records .*nothing was imported"
    ):
        target.import_bundle(lines[:kept], "g", name="b")
    assert target.list("g").total == 0
    old = [without(lines[0], "counts"), *lines[1:kept]]
    assert target.import_bundle(old, "g", name="b").added == kept - 1
