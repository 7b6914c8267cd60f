"""Who does something is one person, however the name is written."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware._caching import clear_caches
from memoryware.errors import PromotionRefused, SettingError
from memoryware.tiers.actors import DecisionActor, authority_of, is_person
from memoryware.tiers.model import folded
from memoryware.tiers.provenance import Trust

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
    assert DecisionActor.of("Ren\u00e9").is_same(name)
    assert DecisionActor.of(name).is_same("Ren\u00e9")
    assert DecisionActor.of(name).is_person


@pytest.mark.parametrize(
    "name", ["Rene", "Ren\u00e8", "Ren\u00e9e", "Re n\u00e9", "agent:Ren\u00e9"]
)
def test_other_names_are_other_people(name):
    assert not DecisionActor.of("Ren\u00e9").is_same(name)


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
    assert not DecisionActor.of(by).is_person
    memory = TieredMemory.open("memory://", policy=PromotionPolicy(approval=True))
    with pytest.raises(PromotionRefused, match="a person must promote it"):
        memory.promote(TEXT, SHOP, by=by)


MACHINES = [
    *("assistant:x", "ai:x", "bot:x", "llm:x", "mcp:x", "system:x", "service:x", "model:x"),
    *("import:x", "Assistant: x", "AI :x", "b\u200bot:x", "\uff21I:x"),
    # Prefixes that nobody knows, also those that look like one of a person.
    *("cron:nightly", "nightly: job", "team/ann", "p\u0435rson:ann", "us\u0435r:ann", ":ann"),
    *("pers0n:ann", "person1:ann", "users:ann", "people:ann", "https://ann.example"),
    # A word for a machine, and what it is joined with.
    *("agent/helper", "agent-helper", "agent_helper", "agent.helper", "agent helper", "agent#1"),
    *("agent\u2014helper", "agent\u2215helper", "agent7", "Agent", "bot", "ai", "[agent] helper"),
    *("@agent-helper", "helper-agent", "helper_bot", "renovate[bot]", "bot-7", "service_mail"),
    *("sub-agent-1", "sub-agent_1", "ChatGPT", "gemini", "github-copilot", "dependabot", "jenkins"),
    # Letters of other alphabets.
    *(
        "\u0430gent:helper",
        "\u0430gent-helper",
        "ag\u0435nt/x",
        "\u0430\u0456-helper",
        "b\u043et-7",
    ),
    *("a\u0261ent helper", "ass\u0456stant_x", "\uff41\uff47\uff45\uff4e\uff54-x"),
    # What looks like a colon.
    *("agent\u05c3x", "agent\u0589x", "agent\ua4fdx", "agent\ufe55x", "agent\u205ax"),
]
PEOPLE = [
    *("Claude", "Claude Monet", "person:jenkins"),
    *("ann", "Ann-Marie O'Neil", "ann@example.com", "CORP\\ann", "auth0|5f7c", "Ai Tanaka", "Jan Bot"),
    *("agentina", "Aileen", "Botond", "Systema", "user:bot", "person:agent-x", "person: Ai", "user:7"),
    *("\u0410\u043d\u043d\u0430", "\u0410\u0433\u0435\u043d\u0442\u0430", "\u674e\u96f7", "7", "a1", "J. R. R. Tolkien"),
]  # fmt: skip


@pytest.mark.parametrize("by", MACHINES)
def test_only_two_prefixes_are_people(by):
    assert not DecisionActor.of(by).is_person
    assert DecisionActor.of(by).origin.trust < Trust.USER
    memory = TieredMemory.open("memory://", policy=PromotionPolicy(approval=True))
    with pytest.raises(PromotionRefused, match="is a machine"):
        memory.promote(TEXT, SHOP, by=by)


@pytest.mark.parametrize("by", PEOPLE)
def test_names_of_people_are_people(by):
    assert DecisionActor.of(by).is_person
    memory = TieredMemory.open("memory://", policy=PromotionPolicy(approval=True))
    assert memory.promote(TEXT, SHOP, by=by).ids


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("agent:helper", "assistant:helper"),
        ("agent:helper", "agent/helper"),
        ("agent:helper", "agent-helper"),
        ("agent:helper", "agent"),
        ("agent:", "bot:x"),
        ("user:", "ann"),
        ("user:ann", "person:\u0430nn"),
    ],
)
def test_who_may_be_the_same_is_the_same(one, other):
    assert DecisionActor.of(one).is_same(other)
    assert DecisionActor.of(other).is_same(one)


@pytest.mark.parametrize(
    "by",
    ["person:person:ann", "user:person:ann", "person:user:ann", '"ann"', "(ann)", "ann.", "ann-"],
)
def test_prefixes_and_punctuation_make_no_other_person(by):
    assert DecisionActor.of(by).is_same("ann")
    assert DecisionActor.of("ann").is_same(by)
    assert not DecisionActor.of(by).is_same("bo")


@pytest.mark.parametrize("by", ["none", "Null", "unknown", "-", ".", "0"])
def test_a_name_of_nobody_is_refused(by):
    with pytest.raises(SettingError, match="names nobody; pass a name"):
        DecisionActor.of(by)


@pytest.mark.parametrize("by", ["", "  ", None, "\u200b", "\u200e\ufeff", "\u3164", "\x01"])
def test_who_cannot_be_seen_is_nobody(by):
    with pytest.raises(SettingError, match="say who does it"):
        DecisionActor.of(by)


@pytest.mark.parametrize("by", [5, b"ann", ["ann"], True, "x" * 1001, "a\0b"])
def test_who_does_it_is_a_text_that_can_be_kept(by):
    with pytest.raises(SettingError, match=r"^by: ") as refused:
        DecisionActor.of(by)
    assert "xxx" not in str(refused.value)


@pytest.mark.slow
def test_a_folded_name_stays_as_it_is():
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            once = folded(f"a{chr(code)}b")
            assert folded(once) == once, hex(code)


def test_no_format_character_makes_another_name():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) == "Cf":
            assert folded(f"a{chr(code)}b") == "ab", hex(code)


@pytest.mark.parametrize(
    ("by", "trust"),
    [
        ("ann", Trust.PERSON),
        ("user:ann", Trust.USER),
        ("agent:helper", Trust.UNTRUSTED),
        ("", Trust.UNTRUSTED),
        ("a" * 5000, Trust.UNTRUSTED),
    ],
)
def test_the_authority_of_a_noted_name(by, trust):
    assert authority_of(by) is trust
    assert is_person(by) == (trust > Trust.UNTRUSTED)


def test_names_of_actors_are_not_remembered_after_forgetting():
    assert authority_of("somebody") is Trust.PERSON
    clear_caches()
    assert authority_of.cache_info().currsize == 0
