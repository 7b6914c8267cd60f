"""Secrets get into no tier: texts lose them, and names that have one are refused."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, fields

import pytest

from memoryware import Guard, MemoryScope, Origin, Provenance, TieredMemory
from memoryware.errors import SettingError
from memoryware.tiers import Insight, Passed, Refusal, Verdict
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.sqlite import sqlite_stores

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
TEXT = "The orders of the shop are in PostgreSQL 17, on the server db2 of the town."
SHOP = MemoryScope(group_id="shop", agent_id="helper", user_id="ann")
SNOWFLAKE = "4111111111111111110"  # an id of a chat platform that has the check digit of a card


@pytest.fixture(params=["embedded", "sqlite"])
def stores(request, tmp_path):
    made = embedded() if request.param == "embedded" else sqlite_stores(tmp_path / "m.db")
    yield made
    made.quarantine.close()


@pytest.fixture(params=["blocking", "native"])
def door(request):
    return request.param


async def call(memory, door, name, /, *args, **options):
    if door == "native":
        return await getattr(memory, f"a{name}")(*args, **options)
    return getattr(memory, name)(*args, **options)


def everything(memory, scope=SHOP):
    return "\n".join(memory.export(scope))


def test_no_key_of_metadata_keeps_a_secret_however_deep_it_is(stores):
    memory = TieredMemory(stores)
    given = {f"key {TOKEN}": 1, "a": {"b": [{TOKEN: {TOKEN: "x"}, f"{TOKEN} ": 2}]}}
    entry = memory.record(TEXT, SHOP, given).entry
    memory.promote(entry, by="ann", metadata=given)
    assert TOKEN not in everything(memory)
    assert len(entry.metadata["a"]["b"][0]) == 2, "two keys stay two"


def test_a_secret_that_is_a_number_goes_by_its_name(stores):
    memory = TieredMemory(stores)
    given = {"password": 12345678, "tokens": 12345678, "confidence": 0.9, "a": {"pin": [4711]}}
    kept = memory.record(TEXT, SHOP, given).entry.metadata
    assert "12345678" not in str(kept["password"])
    assert "4711" not in str(kept["a"])
    assert (kept["tokens"], kept["confidence"]) == (12345678, 0.9)


def test_no_log_says_the_secret_of_a_key_that_is_not_kept(stores, caplog):
    class Odd:
        def __str__(self):
            raise RuntimeError(TOKEN)

    with caplog.at_level(logging.DEBUG):
        TieredMemory(stores).record(TEXT, SHOP, {TOKEN: Odd()})
    assert "was not kept" in caplog.text
    assert TOKEN not in caplog.text


async def test_a_verdict_loses_its_secrets(stores, door):
    memory = TieredMemory(stores)
    entry = memory.record(TEXT, SHOP).entry
    said = Verdict(verified=False, issues=("It is 16.", f"The log says {TOKEN}."), by="check")
    kept = await call(memory, door, "attach_verdict", entry, said)
    assert kept.verdict.issues[0] == "It is 16."
    assert TOKEN not in everything(memory)
    named = Verdict(verified=True, by=TOKEN)
    with pytest.raises(SettingError, match="by: has a secret") as refused:
        await call(memory, door, "attach_verdict", entry, named)
    assert TOKEN not in str(refused.value)


async def test_a_reason_and_a_subject_lose_their_secrets(stores, door):
    memory = TieredMemory(stores)
    one = memory.record(TEXT, SHOP).entry
    two = memory.record("The invoices of the shop are in a drawer of the old desk.", SHOP).entry
    await call(memory, door, "reject", one, by="ann", reason=f"it has {TOKEN}")
    await call(memory, door, "promote", two, by="ann", subject=f"the token {TOKEN}")
    for name in ("revoke", "mark_invalid"):
        receipt = await call(memory, door, name, two.id, SHOP, by="ann", reason=f"see {TOKEN}")
        assert TOKEN not in repr(receipt)
        memory.restore(receipt, by="ann")
    assert TOKEN not in everything(memory)


async def test_nobody_who_does_something_is_called_like_a_secret(stores, door):
    memory = TieredMemory(stores)
    entry = memory.record(TEXT, SHOP).entry
    kept = memory.promote("The shop opens at nine.", SHOP, by="ann")
    receipt = memory.revoke(memory.promote("It opens at ten.", SHOP, by="ann"), SHOP, by="ann")
    before = everything(memory).split("\n")[1:]
    for name, *args in (
        ("promote", entry),
        ("propose", entry),
        ("reject", entry),
        ("supersede", kept, "The shop opens at eight."),
        ("revoke", entry, SHOP),
        ("mark_invalid", entry, SHOP),
        ("restore", receipt),
    ):
        for by in (TOKEN, f"agent:{TOKEN}"):
            with pytest.raises(SettingError, match="by: has a secret") as refused:
                await call(memory, door, name, *args, by=by)
            assert TOKEN not in str(refused.value)
    assert everything(memory).split("\n")[1:] == before


@pytest.mark.parametrize("part", [one.name for one in fields(MemoryScope)])
async def test_no_part_of_a_scope_is_a_secret(stores, door, part):
    memory = TieredMemory(stores)
    scope = MemoryScope(**{"group_id": "shop", part: TOKEN})
    bundle = memory.export(SHOP)
    for name, args, options in (
        ("record", (TEXT, scope), {}),
        ("log_quarantine", (TEXT, scope), {}),
        ("update_working_memory", (TEXT, scope), {}),
        ("promote", (TEXT, scope), {"by": "ann"}),
        ("propose", (TEXT, scope), {"by": "ann"}),
        ("import_bundle", (bundle, scope), {"name": "b"}),
    ):
        with pytest.raises(SettingError, match=f"^{part}: has a secret") as refused:
            await call(memory, door, name, *args, **options)
        assert TOKEN not in str(refused.value)
    assert memory.retrieve("orders", scope) == [], "who only reads is not stored"
    assert memory.forget(scope).total == 0, "what was stored before can be forgotten"
    assert memory.list(scope).total == 0


async def test_no_origin_and_no_source_is_a_secret(stores, door):
    memory = TieredMemory(stores)
    for made in (
        Provenance(Origin("tool", TOKEN)),
        Provenance(Origin("agent", "helper"), roots=(Origin("user", f"ann {TOKEN}"),)),
        Provenance(Origin("agent", "helper"), sources=(TOKEN,)),
    ):
        with pytest.raises(SettingError, match="has a secret") as refused:
            await call(memory, door, "record", TEXT, SHOP, provenance=made)
        assert TOKEN not in str(refused.value)
    forged = Insight(
        id="x",
        scope=SHOP,
        summary=TEXT,
        source_entry_ids=(),
        provenance=Provenance(Origin("tool", TOKEN)),
    )
    for name in ("promote", "propose"):
        with pytest.raises(SettingError, match="has a secret"):
            await call(memory, door, name, forged, by="ann")
    with pytest.raises(SettingError, match="agent_id: has a secret"):
        await call(memory, door, "promote", TEXT, SHOP, by="ann", agent_id=TOKEN)
    assert memory.list(SHOP).total == 0


def test_a_key_with_a_secret_still_knows_the_same_output_again(stores):
    memory = TieredMemory(stores)
    first = memory.record(TEXT, SHOP, key=f"run {TOKEN}").entry
    assert memory.record("Something else.", SHOP, key=f"run {TOKEN}").entry.id == first.id
    assert memory.record(TEXT, SHOP, key=f"walk {TOKEN}").entry.id != first.id
    assert TOKEN not in everything(memory)


def test_what_a_filter_says_has_no_secret(stores):
    @dataclass
    class Says:
        answer: Passed | Refusal

        def check(self, entry, recent):
            return self.answer

    for answer in (Passed({TOKEN: f"see {TOKEN}"}), Refusal(f"no_{TOKEN}")):
        TieredMemory(stores, filters=[Says(answer)]).record(TEXT, SHOP)
    assert TOKEN not in everything(TieredMemory(stores))


def test_a_bundle_loses_its_secrets_names_as_well(stores):
    made = Provenance(Origin("tool", TOKEN), sources=("s",), roots=(Origin("user", TOKEN),))
    careless = TieredMemory(embedded(), guard=None)
    leaky = MemoryScope(group_id="shop", user_id=TOKEN, session_id=f"s {TOKEN}", agent_id=TOKEN)
    careless.record(f"{TEXT} {TOKEN}", leaky, {TOKEN: {"a": TOKEN}}, provenance=made, key=TOKEN)
    careless.promote(f"The token is {TOKEN}.", leaky, by=TOKEN, subject=TOKEN)
    lines = careless.export(leaky)
    assert TOKEN in "\n".join(lines), "who switches the guard off has them"
    memory = TieredMemory(stores)
    assert memory.import_bundle(lines, SHOP, name="old").added == 2
    assert TOKEN not in everything(memory)
    with pytest.raises(SettingError, match="name: has a secret"):
        memory.import_bundle(lines, SHOP, name=TOKEN)


@pytest.mark.parametrize(
    "name",
    [
        "ann@shop.example",
        "auth0|5f7c8ec7c33c6c004bbafe82",
        "google-oauth2|107691503500061508710",
        "29fcd2fd-aa0a-4df5-bfa6-c58201b85524",
        "e139652c42dc46e7b150e4d2df2c1514",
        "arn:aws:iam::123456789012:user/ann",
        "thread_kwzflcbxWLtcvuBUOGnCvgz4yr2YXxu6",
        SNOWFLAKE,
        f"discord:{SNOWFLAKE}",
        f"ann {SNOWFLAKE}",
    ],
)
def test_ids_that_people_have_are_no_secrets(stores, name):
    memory = TieredMemory(stores, guard=Guard(on_secret="redact", personal=["email"]))
    scope = MemoryScope(
        tenant=name, group_id=name, user_id=name, agent_id=name, session_id=name, node_id=name
    )
    made = Provenance(Origin("user", name))
    assert memory.record(TEXT, scope, provenance=made).working
    assert memory.promote("The shop opens at nine.", scope, by=name).ids
    bundle = memory.export(scope)
    other = TieredMemory(embedded())
    assert other.import_bundle(bundle, scope, name=name).added
    assert f'"session_id":"{name}"' in everything(other, scope)


@pytest.mark.parametrize("name", ["4111 1111 1111 1111", f"card {SNOWFLAKE}"])
def test_a_name_with_a_card_in_it_is_refused(stores, name):
    with pytest.raises(SettingError, match=r"has a secret in it \(credit card number\)"):
        TieredMemory(stores).record(TEXT, MemoryScope(group_id=name))


def test_an_allowed_name_is_none_either(stores):
    memory = TieredMemory(stores, guard=Guard(allow=[TOKEN]))
    assert memory.record(TEXT, MemoryScope(group_id=TOKEN)).working


def test_without_a_guard_nothing_is_refused(stores):
    memory = TieredMemory(stores, guard=None)
    memory.record(TEXT, MemoryScope(group_id=TOKEN), {TOKEN: TOKEN}, key=TOKEN)
    assert TOKEN in everything(memory, MemoryScope(group_id=TOKEN))


def test_no_record_that_a_person_sees_in_a_listing_has_a_secret(stores):
    memory = TieredMemory(stores)
    memory.record(f"{TEXT} The token is {TOKEN}.", SHOP, {TOKEN: TOKEN})
    assert all(TOKEN not in json.dumps(one) for one in memory.export(SHOP))
    assert TOKEN not in repr(memory.list(SHOP))


def test_a_detector_of_ones_own_looks_at_names_as_well(stores):
    @dataclass
    class Finds:
        word: str

        def __call__(self, text):
            at = text.find(self.word)
            return [("badge", at, at + len(self.word))] if at >= 0 else []

    finds = Finds("B-17")
    memory = TieredMemory(stores, guard=Guard(detectors=[finds]))
    for _ in range(2):
        with pytest.raises(SettingError, match=r"user_id: has a secret in it \(badge\)"):
            memory.record(TEXT, MemoryScope(group_id="shop", user_id="B-17"))
    finds.word = "B-18"
    assert memory.record(TEXT, MemoryScope(group_id="shop", user_id="B-17")).working
