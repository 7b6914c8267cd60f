"""What cannot be what it is given for is told at once, with what it must be."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from memoryware import MemoryScope, Origin, TieredMemory
from memoryware._warning import forget_warnings
from memoryware.errors import EntryMissing, EntryRefused, SettingError


async def opened(door, **options):
    if door == "open":
        return TieredMemory.open("memory://", **options)
    return await TieredMemory.aopen("memory://", **options)


SHOP = MemoryScope(group_id="shop")
FACT = "The orders of the shop are in PostgreSQL 17, on the server called db2."


@pytest.fixture
def memory():
    with TieredMemory.open("memory://") as made:
        yield made


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("embeddings", "text-embedding-3-small", "provider:model"),
        ("embeddings", 7, "init_embeddings"),
        ("embeddings", len, "init_embeddings"),
        ("embedding_space", 3, "name of a space"),
        ("model", "openai:gpt-5", "init_chat_model"),
        ("limits", {"working_hours": 3}, "TierLimits"),
        ("guard", False, "Guard"),
        ("filters", ["length"], "check(entry, recent)"),
        ("filters", "length", "check(entry, recent)"),
        ("policy", {"approval": True}, "PromotionPolicy"),
        ("splitter", 500, "TextSplitter"),
        ("clock", "now", "function"),
        ("new_id", 1, "function"),
    ],
)
@pytest.mark.parametrize("door", ["open", "aopen"])
async def test_an_option_of_the_wrong_kind_is_told(door, option, value, said):
    with pytest.raises(SettingError) as told:
        await opened(door, **{option: value})
    assert str(told.value).startswith(f"{option}=")
    assert said in str(told.value)


def test_a_path_is_no_address_and_an_address_no_stores(tmp_path):
    with pytest.raises(SettingError, match="sqlite:///"):
        TieredMemory.open(Path(tmp_path / "m.db"))
    with pytest.raises(SettingError, match=r"TieredMemory\.open"):
        TieredMemory("sqlite:///memory.db")


@pytest.mark.parametrize("scope", [{"group_id": "shop"}, 5, ["shop"]])
def test_what_is_no_scope_is_told(memory, scope):
    for act in (
        lambda: memory.record(FACT, scope),
        lambda: memory.retrieve("orders", scope),
        lambda: memory.forget(scope),
        lambda: memory.list(scope),
    ):
        with pytest.raises(SettingError, match="MemoryScope"):
            act()


def test_a_part_of_an_id_is_not_promoted_as_a_text():
    # Digits alone may be a date: a part of a random id would be one at times.
    numbers = itertools.count(1)
    memory = TieredMemory.open("memory://", new_id=lambda: f"a{next(numbers):031x}")
    entry = memory.record(FACT, SHOP).entry
    for part in (entry.id[:8], entry.id[:31], f"{entry.id}0"):
        with pytest.raises(EntryMissing, match="whole ones"):
            memory.promote(part, SHOP, by="ann")
    assert memory.promote("decade", SHOP, by="ann").ids
    assert memory.promote("20261128", SHOP, by="ann").ids


def test_what_holds_a_text_says_how_to_get_it(memory):
    recorded = memory.record(FACT, SHOP)
    with pytest.raises(EntryRefused, match=r"pass its \.entry"):
        memory.promote(recorded, SHOP, by="ann")
    with pytest.raises(EntryRefused, match=r"pass its \.record"):
        memory.promote(memory.list(SHOP).items[0], SHOP, by="ann")
    with pytest.raises(EntryRefused, match=r"an \.id and a \.content"):
        memory.promote(memory.retrieve("orders", SHOP)[0], SHOP, by="ann")


def test_a_receipt_and_an_origin_are_named_where_a_text_is_given_for_them(memory):
    memory.record(FACT, SHOP)
    receipt = memory.revoke(Origin("agent", ""), SHOP, by="ann")
    with pytest.raises(SettingError, match="Receipt"):
        memory.restore(receipt.id, by="ann")
    with pytest.raises(EntryMissing, match=r"Origin\(kind, name\)"):
        memory.revoke("tool:read_page", SHOP, by="ann")


def test_a_scope_without_a_group_is_told_once_and_noted_each_time(memory, caplog):
    forget_warnings()
    assert memory.retrieve("orders", None).notes == memory.retrieve("orders", None).notes != ()
    memory.record(FACT)
    told = [one for one in caplog.records if "without a group" in one.getMessage()]
    assert len(told) == 1


def test_each_tenant_and_user_whose_scope_has_no_group_is_warned_about_once(memory, caplog):
    forget_warnings()
    for _ in range(2):
        for scope in (
            MemoryScope(tenant="red"),
            MemoryScope(tenant="blue"),
            MemoryScope(tenant="blue", user_id="ann"),
        ):
            memory.record(FACT, scope)
            memory.retrieve("orders", scope)
    logged = [one.getMessage() for one in caplog.records if "without a group" in one.getMessage()]
    assert len(logged) == 3
    assert "tenant red" in logged[0]
    assert "tenant blue" in logged[1]
    assert not any("ann" in one for one in logged)
