"""Who does something is one person, however the name is written."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from memoryware import MemoryScope, PromotionPolicy, PromotionRefused, SettingError, TieredMemory
from memoryware.tiers.actors import Actor
from memoryware.tiers.records import folded

TEXT = "The orders of the shop are in PostgreSQL 17, on the server db2 of the town."
SHOP = MemoryScope(group_id="shop")
SPELLINGS = [
    "Ren\u00e9",
    "Rene\u0301",
    " ren\u00e9 ",
    "REN\u00c9",
    "Re\u200bn\u00e9",
    "\u200fRen\u00e9",
    "Ren\u00e9\u202c",
    "Ren\u00e9\ufeff",
    "Re\u00adn\u00e9",
    "Ren\u00e9\ufe0f",
    "R\u2060en\u00e9",
    "Rene\u200d\u0301",
    "\uff32\uff45\uff4e\u00e9",
    "Ren\u00e9\x01",
    "Ren\u00e9\u3164",
    "person:Ren\u00e9",
    "per\u200bson: Ren\u00e9",
]


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_of_a_name_are_one_person(name):
    assert Actor.of("Ren\u00e9").is_same(name)
    assert Actor.of(name).is_same("Ren\u00e9")
    assert Actor.of(name).is_person


@pytest.mark.parametrize(
    "name", ["Rene", "Ren\u00e8", "Ren\u00e9e", "Re n\u00e9", "agent:Ren\u00e9"]
)
def test_other_names_are_other_people(name):
    assert not Actor.of("Ren\u00e9").is_same(name)


@pytest.mark.parametrize("name", SPELLINGS)
async def test_nobody_is_four_eyes_with_an_invisible_character(name):
    memory = TieredMemory.open("memory://", policy=PromotionPolicy(four_eyes=True))
    entry = memory.propose(TEXT, SHOP, by="Ren\u00e9")
    with pytest.raises(PromotionRefused) as refused:
        memory.promote(entry, by=name)
    assert refused.value.reasons == ("own_proposal",)
    with pytest.raises(PromotionRefused):
        await memory.apromote(entry, by=name)
    assert memory.promote(entry, by="bo").ids


@pytest.mark.parametrize(
    "by",
    [
        "agent:x",
        "ag\u200bent:x",
        "AGENT:x",
        "agent\uff1ax",
        "agent\u2236x",
        "\u200eagent : x",
        "tool:x",
    ],
)
def test_what_is_no_person_is_none_in_any_spelling(by):
    assert not Actor.of(by).is_person
    memory = TieredMemory.open("memory://", policy=PromotionPolicy(approval=True))
    with pytest.raises(PromotionRefused, match="a person must promote it"):
        memory.promote(TEXT, SHOP, by=by)


@pytest.mark.parametrize("by", ["", "  ", None, "\u200b", "\u200e\ufeff", "\u3164", "\x01"])
def test_who_cannot_be_seen_is_nobody(by):
    with pytest.raises(SettingError, match="say who does it"):
        Actor.of(by)


@pytest.mark.parametrize("by", [5, b"ann", ["ann"], True, "x" * 1001, "a\0b"])
def test_who_does_it_is_a_text_that_can_be_kept(by):
    with pytest.raises(SettingError, match=r"^by: ") as refused:
        Actor.of(by)
    assert "xxx" not in str(refused.value)


def test_a_folded_name_stays_as_it_is():
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            once = folded(f"a{chr(code)}b")
            assert folded(once) == once, hex(code)


def test_no_format_character_makes_another_name():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) == "Cf":
            assert folded(f"a{chr(code)}b") == "ab", hex(code)
