"""What the error says of an id that is not there, or of something else in place of an id."""

from __future__ import annotations

import asyncio

import pytest

from limits import limited
from memoryware import MemoryScope, TieredMemory
from memoryware.errors import EntryMissing, SettingError
from memoryware.settings import TierLimits
from memoryware.tiers.model import Verdict

SHOP, OTHER = MemoryScope(group_id="shop"), MemoryScope(group_id="other")
TEXT = "We deploy on Fridays."


@pytest.fixture(params=["memory", "sqlite"])
def memory(request, tmp_path):
    address = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/memory.db"
    with TieredMemory.open(address) as opened:
        yield opened


@pytest.fixture(params=["blocking", "native"])
def call(request, memory):
    """Call an operation by its name, through one of both clients."""

    def called(name, *args, **options):
        if request.param == "blocking":
            return getattr(memory, name)(*args, **options)
        return asyncio.run(getattr(memory, f"a{name}")(*args, **options))

    return called


OPERATIONS = {
    "get": lambda call, id_, scope: call("get", id_, scope),
    "revoke": lambda call, id_, scope: call("revoke", id_, scope, by="ann"),
    "mark_invalid": lambda call, id_, scope: call("mark_invalid", id_, scope, by="ann"),
    "promote": lambda call, id_, scope: call("promote", id_, scope, by="ann"),
    "reject": lambda call, id_, scope: call("reject", id_, scope, by="ann"),
    "propose": lambda call, id_, scope: call("propose", id_, scope, by="ann"),
    "attach_verdict": lambda call, id_, scope: call(
        "attach_verdict", id_, Verdict(verified=True), scope
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_forgotten_id_is_said_to_be_forgotten_in_its_group(memory, call, name):
    entry = memory.log_quarantine(TEXT, SHOP)
    call("forget", SHOP, ids=[entry.id])
    with pytest.raises(EntryMissing, match="it was forgotten, which deletes for good"):
        OPERATIONS[name](call, entry.id, SHOP)
    for scope in (OTHER, MemoryScope(tenant="acme", group_id="shop")):
        with pytest.raises(EntryMissing) as stranger:  # it is not told what another group had
            OPERATIONS[name](call, entry.id, scope)
        assert "forgotten" not in str(stranger.value)


def test_an_id_that_never_was_is_not_said_to_be_forgotten(memory, call):
    call("forget", SHOP, ids=[memory.log_quarantine(TEXT, SHOP).id])
    with pytest.raises(EntryMissing) as error:
        call("revoke", "0" * 32, SHOP, by="ann")
    assert "forgotten" not in str(error.value)


def test_ids_that_are_too_many_are_not_kept_in_mind():
    memory = TieredMemory.open("memory://", limits=limited(TierLimits, forgotten_ids=0))
    entry = memory.log_quarantine(TEXT, SHOP)
    memory.forget(SHOP, ids=[entry.id])
    with pytest.raises(EntryMissing) as error:
        memory.revoke(entry.id, SHOP, by="ann")
    assert "forgotten" not in str(error.value)


def test_the_text_of_a_memory_in_place_of_its_id_is_told_its_id(memory, call):
    (old,) = memory.promote(TEXT, SHOP, by="ann").ids
    with pytest.raises(EntryMissing, match=f"takes its id: pass '{old}'"):
        call("supersede", TEXT, "We deploy on Mondays.", SHOP, by="ann")
    call("supersede", old, "We deploy on Mondays.", SHOP, by="ann")
    for text, scope in ((TEXT, SHOP), ("We deploy never.", SHOP), (TEXT, OTHER)):
        with pytest.raises(EntryMissing, match="pass the id of a memory") as error:
            call("supersede", text, "We deploy on Sundays.", scope, by="ann")
        assert old not in str(error.value)


def test_the_id_of_a_receipt_in_its_place_is_told_how_to_get_it(memory, call):
    entry = memory.log_quarantine(TEXT, SHOP)
    receipt = call("revoke", entry.id, SHOP, by="ann")
    with pytest.raises(SettingError, match=r"find_receipt\(id, scope\) returns the receipt"):
        call("restore", receipt.id, by="ann")
    assert call("restore", call("find_receipt", receipt.id, SHOP), by="ann").quarantine == 1
