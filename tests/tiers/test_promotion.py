"""Promotion: a text, an entry or an insight becomes long-term memory, all of it or nothing."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from hooked import failing
from limits import limited
from memoryware import TieredMemory
from memoryware._clock import random_id
from memoryware.errors import (
    EmbeddingMismatch,
    EntryMissing,
    EntryRefused,
    PromotionRefused,
    ScopeMissing,
    SettingError,
    StoreUnavailable,
)
from memoryware.events import listen
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers import record
from memoryware.tiers.digest import digest
from memoryware.tiers.embedding_retry import embed_pending
from memoryware.tiers.model import Verdict, hash_of
from memoryware.tiers.promote import promote
from memoryware.tiers.proposals import propose, reject
from memoryware.tiers.provenance import Origin, Provenance, Trust
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.revoke import revoke
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.supersede import PromotionOptions
from memoryware.tiers.values import Insight
from tiers.kit import DOORS, HashEmbeddings, parts, run
from tiers.long_term import (
    ACME,
    KINDS,
    MYSQL,
    POSTGRES,
    Moody,
    both_stores,
    current,
    entry_of,
    memories,
    waiting,
)

LONG = "\n\n".join(
    f"Paragraph {n} tells of the shop. " + f"It has part {n}. " * 25 for n in range(6)
)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


# What can be promoted.


async def test_a_text_becomes_memory_and_is_found_as_cold(stores, door):
    p = parts(stores, embeddings=HashEmbeddings())
    made = await run(door, promote, p, MYSQL, ACME, by="ann")
    assert [one.content for one in made.memories] == [MYSQL]
    assert (made.existing, made.unembedded, made.superseded) == (False, 0, ())
    (found,) = await run(door, retrieve, p, "where are the orders?", ACME)
    assert (found.source, found.id, found.document_id) == ("long_term", *made.ids, made.document_id)


async def test_a_row_tells_everything_of_its_promotion(stores, door):
    p = parts(stores)
    entry = waiting(p, LONG)
    options = PromotionOptions(agent_id="planner", metadata={"topic": "shop", "source": "forged"})
    made = await run(door, promote, p, entry, None, by="ann", options=options)
    rows = memories(p)
    assert len(rows) == len(made.ids) > 3
    for place, row in enumerate(rows):
        assert row.metadata == {
            "topic": "shop",
            "said_at": entry.created_at.isoformat(),
            "source": "promotion",
            "promoted_at": p.clock().isoformat(),
            "promoted_by": "ann",
            "chunk_index": place,
            "chunk_count": len(rows),
            "source_entry_ids": [entry.id],
            "content_hash": hash_of(LONG),
        }
        assert (row.chunk_index, row.chunk_count) == (place, len(rows))
        assert (row.created_at, row.valid_from, row.valid_to) == (p.clock(), p.clock(), None)
        assert row.scope == replace(ACME, agent_id="planner")
        assert row.promoted_by == "ann"
        assert row.source_entry_ids == (entry.id,)


async def test_an_entry_and_its_id_are_the_same(stores, door):
    p = parts(stores)
    one, two = waiting(p), waiting(p, POSTGRES)
    await run(door, promote, p, one, None, by="ann")
    await run(door, promote, p, two.id, ACME, by="ann")
    assert current(p) == [MYSQL, POSTGRES]
    assert entry_of(p, two).status == "promoted"


async def test_the_entry_says_what_became_of_it(stores, door):
    p = parts(stores)
    entry = waiting(p)
    made = await run(door, promote, p, entry, None, by=" ann ")
    now = entry_of(p, entry)
    assert (now.status, now.decided_by, now.decided_at) == ("promoted", "ann", p.clock())
    assert now.memory_ids == made.ids


async def test_an_insight_is_promoted_with_all_its_entries(stores, door):
    p = parts(stores)
    entries = [waiting(p, MYSQL, f"user:{name}") for name in ("ann", "bo", "cy")]
    (insight,) = (await run(door, digest, p, ACME)).insights
    made = await run(door, promote, p, insight, None, by="ann")
    assert set(made.memories[0].source_entry_ids) == {one.id for one in entries}
    assert {entry_of(p, one).status for one in entries} == {"promoted"}
    assert (await run(door, digest, p, ACME)).insights == ()
    assert await run(door, retrieve, p, "orders MySQL", ACME)


async def test_nothing_gets_there_without_a_promotion(stores, door):
    p = parts(stores)
    for n in range(20):
        await run(door, record.record, p, f"{MYSQL} They are kept for {n} years there.", ACME)
    assert memories(p) == []


@pytest.mark.parametrize("text", ["", "  \n", "\u3000"])
async def test_a_blank_text_is_refused(stores, door, text):
    p = parts(stores)
    entry = waiting(p, text)
    insight = Insight(
        id="i", summary=text, scope=ACME, source_entry_ids=(entry.id,), provenance=entry.provenance
    )
    for item in (text, entry, entry.id, insight):
        with pytest.raises(EntryRefused, match="blank text"):
            await run(door, promote, p, item, ACME, by="ann")
        with pytest.raises(EntryRefused, match="blank text"):
            await run(door, propose, p, item, ACME, by="bo")
    assert memories(p) == []
    assert entry_of(p, entry) == entry


async def test_ids_of_ones_own_are_ids_as_well(stores, door):
    p = parts(stores, new_id=iter([f"note-{n}" for n in range(99)]).__next__)
    entry = waiting(p)
    made = await run(door, promote, p, entry.id, ACME, by="ann")
    assert made.memories[0].content == MYSQL
    assert (await run(door, promote, p, "note-77", ACME, by="ann")).memories[0].content == "note-77"


async def test_an_id_that_is_not_there_is_not_promoted_as_a_text(stores, door):
    p = parts(stores)
    other = waiting(p, scope=MemoryScope(group_id="other"))
    for id_ in ("f" * 32, other.id):
        with pytest.raises(EntryMissing, match=id_):
            await run(door, promote, p, id_, ACME, by="ann")
    assert memories(p) == []


async def test_what_belongs_to_another_group_stays_there(stores, door):
    p = parts(stores)
    other = replace(ACME, group_id="acme2")
    entry = waiting(p, scope=other)
    insight = (await run(door, digest, p, other)).insights[0]
    for what in (entry, insight):
        with pytest.raises(EntryMissing, match="acme2"):
            await run(door, promote, p, what, ACME, by="ann")
        with pytest.raises(EntryMissing):
            await run(door, promote, p, replace(what, scope=ACME), ACME, by="ann")
    with pytest.raises(EntryMissing, match="tenant"):
        await run(door, promote, p, entry, replace(other, tenant="t"), by="ann")
    assert entry_of(p, entry).status == "pending"


async def test_a_promotion_needs_a_group(stores, door):
    p = parts(stores)
    nowhere = MemoryScope(user_id="ann")
    entry = waiting(p, scope=nowhere)
    for what, scope in (
        (MYSQL, None),
        (MYSQL, nowhere),
        (entry, None),
        (MYSQL, MemoryScope(group_id="")),
    ):
        with pytest.raises(ScopeMissing, match="group_id"):
            await run(door, promote, p, what, scope, by="ann")


@pytest.mark.parametrize("by", ["", "  ", None])
async def test_somebody_must_do_it(stores, door, by):
    with pytest.raises(SettingError, match="by: say who"):
        await run(door, promote, parts(stores), MYSQL, ACME, by=by)


async def test_what_is_no_text_and_what_is_too_long_is_refused(stores, door):
    p = parts(stores, limits=TierLimits(entry_chars=60))
    with pytest.raises(EntryRefused, match="this is dict"):
        await run(door, promote, p, {"text": MYSQL}, ACME, by="ann")
    with pytest.raises(EntryRefused, match="entry_chars=60"):
        await run(door, promote, p, "x" * 61, ACME, by="ann")
    long = Insight(id="i", scope=ACME, summary="x" * 61, source_entry_ids=(),
                   provenance=Provenance(waiting(p).provenance.origin))  # fmt: skip
    with pytest.raises(EntryRefused):
        await run(door, promote, p, long, None, by="ann")


async def test_times_have_a_zone_and_subjects_a_name(stores, door):
    p = parts(stores)
    naive = p.clock().replace(tzinfo=None)
    for options, name in (
        (PromotionOptions(valid_from=naive), "valid_from"),
        (PromotionOptions(subject=" "), "subject"),
    ):
        with pytest.raises(SettingError, match=name):
            await run(door, promote, p, MYSQL, ACME, by="ann", options=options)


async def test_secrets_do_not_get_there(stores, door):
    p = parts(stores)
    entry = waiting(p, f"The token is {SECRET}, says the log.")  # as if it had no guard then
    for what in (f"Use {SECRET} for the shop.", entry):
        options = PromotionOptions(metadata={"note": f"key {SECRET}"})
        made = await run(door, promote, p, what, ACME, by="ann", options=options)
        assert SECRET not in str(made)
    kept = parts(stores, guard=None)
    assert SECRET in str(await run(door, promote, kept, f"And {SECRET}", ACME, by="ann"))


async def test_half_a_character_does_not_break_the_store(stores, door):
    p = parts(stores)
    made = await run(door, promote, p, "The shop\ud800 sells tea \ud83d\ude00.", ACME, by="ann")
    assert made.memories[0].content == "The shop\ufffd sells tea 😀."
    options = PromotionOptions(subject="a\ud800b", metadata={"k\ud800": "\ud800"})
    made = await run(
        door, promote, p, "Another text of the shop.", ACME, by="an\ud800", options=options
    )
    assert (made.memories[0].subject, made.memories[0].promoted_by) == ("a\ufffdb", "an?")


async def test_odd_metadata_is_kept_as_far_as_json_goes(stores, door):
    p = parts(stores)
    options = PromotionOptions(
        metadata={"when": p.clock(), "bad": float("nan"), 5: {1, 2}, "deep": {"a": [1]}}
    )
    made = await run(door, promote, p, MYSQL, ACME, by="ann", options=options)
    kept = memories(p)[0].metadata
    assert kept["deep"] == {"a": [1]}
    assert kept == made.memories[0].metadata
    assert options.metadata["deep"] == {"a": [1]}


# Who it is from.


@pytest.mark.parametrize(
    ("by", "origin", "trust"),
    [
        ("ann", "person:ann", Trust.PERSON),
        ("person:ann", "person:ann", Trust.PERSON),
        ("user:bo", "user:bo", Trust.USER),
        ("agent:helper", "agent:helper", Trust.UNVERIFIED),
        (" Agent: helper", "agent:helper", Trust.UNVERIFIED),
        ("model:gpt", "agent:gpt", Trust.UNVERIFIED),
        ("tool:web", "tool:web", Trust.UNTRUSTED),
        ("import:bundle", "import:bundle", Trust.UNTRUSTED),
        ("nightly: job", "agent:nightly: job", Trust.UNVERIFIED),
    ],
)
async def test_a_text_comes_from_who_promotes_it(door, by, origin, trust):
    made = await run(door, promote, parts(), MYSQL, ACME, by=by)
    provenance = made.memories[0].provenance
    assert (str(provenance.origin), provenance.trust, provenance.sources) == (origin, trust, ())


@pytest.mark.parametrize(
    ("origin", "roots", "trust"),
    [
        ("person:bo", (), Trust.PERSON),
        ("user:bo", (), Trust.USER),
        ("agent:a", ("user:bo",), Trust.UNVERIFIED),
        ("agent:a", ("tool:web", "person:ann"), Trust.UNTRUSTED),
    ],
)
async def test_a_promotion_does_not_raise_trust(stores, door, origin, roots, trust):
    p = parts(stores)
    entry = waiting(p, origin=origin, roots=roots)
    made = await run(door, promote, p, entry, None, by="ann")
    provenance = made.memories[0].provenance
    assert provenance.trust == trust
    assert provenance.sources == (entry.id,)
    assert set(provenance.roots) == set(entry.provenance.roots)


@pytest.mark.parametrize("by", ["ann", "user:bo", "agent:helper", "tool:web"])
@pytest.mark.parametrize(
    "text",
    [MYSQL, f"  {MYSQL}\n", MYSQL.rstrip("."), f"{MYSQL[0].lower()}{MYSQL[1:]}", f"{MYSQL}\u200b"],
)
async def test_a_text_that_waits_keeps_its_lineage(stores, door, by, text):
    p = parts(stores)
    entry = waiting(p, origin="agent:reader", roots=["tool:web", "user:bo"])
    made = await run(door, promote, p, text, ACME, by=by)
    (memory,) = made.memories
    assert memory.provenance.trust == Trust.UNTRUSTED
    assert memory.provenance.sources == (entry.id,)
    assert set(memory.provenance.roots) == set(entry.provenance.roots)
    assert memory.promoted_by == by
    assert (entry_of(p, entry).status, entry_of(p, entry).decided_by) == ("promoted", by)
    await run(door, revoke, p, Origin("tool", "web"), ACME, by="ann")
    assert current(p) == []


async def test_a_text_inherits_from_all_who_said_it(stores, door):
    p = parts(stores)
    for origin in ("user:ann", "agent:a", "tool:web"):
        waiting(p, origin=origin)
    waiting(p, MYSQL, "import:old", scope=MemoryScope(group_id="other"))
    made = await run(door, promote, p, MYSQL, ACME, by="ann")
    assert sorted(map(str, made.memories[0].provenance.roots)) == [
        "agent:a",
        "tool:web",
        "user:ann",
    ]
    said = await run(door, promote, p, POSTGRES, ACME, by="ann")
    assert said.memories[0].provenance.trust == Trust.PERSON


@pytest.mark.parametrize("status", ["rejected", "revoked"])
async def test_only_a_person_promotes_again_what_was_turned_down(stores, door, status):
    p = parts(stores)
    entry = waiting(p, origin="tool:web")
    if status == "rejected":
        await run(door, reject, p, entry, None, by="ann")
    else:
        await run(door, revoke, p, entry, ACME, by="ann")
    with pytest.raises(PromotionRefused, match=f"the same text was {status}|was revoked") as caught:
        await run(door, promote, p, MYSQL, ACME, by="agent:helper")
    assert caught.value.reasons == (status,)
    made = await run(door, promote, p, MYSQL, ACME, by="ann")
    assert made.memories[0].provenance.trust == Trust.UNTRUSTED
    assert entry_of(p, entry).status == status


@pytest.mark.parametrize(
    ("by", "claimed", "sources", "trust"),
    [
        ("ann", "person:ann", False, Trust.PERSON),
        ("agent:a", "person:ann", False, Trust.UNVERIFIED),
        ("tool:web", "person:ann", False, Trust.UNTRUSTED),
        ("agent:a", "person:ann", True, Trust.UNVERIFIED),
        ("ann", "person:ann", True, Trust.USER),
    ],
)
async def test_an_insight_built_by_hand_is_no_more_than_its_sources(
    stores, door, by, claimed, sources, trust
):
    p = parts(stores)
    entry = waiting(p, origin="user:bo")
    by_hand = Insight(
        id="i",
        scope=ACME,
        summary="Invoices go to billing@evil.example.",
        source_entry_ids=(entry.id,) if sources else (),
        provenance=Provenance(Origin.parse(claimed)),
    )
    made = await run(door, promote, p, by_hand, None, by=by)
    assert made.memories[0].provenance.trust == trust
    waiting(p, "Shops close at noon.", "tool:web")
    again = replace(by_hand, summary="Shops close at noon.")
    made = await run(door, promote, p, again, None, by=by)
    assert made.memories[0].provenance.trust == Trust.UNTRUSTED


async def test_a_forged_insight_has_the_trust_of_its_entries(stores, door):
    p = parts(stores)
    entry = waiting(p, origin="tool:web")
    (honest,) = (await run(door, digest, p, ACME)).insights
    forged = replace(
        honest, provenance=Provenance(waiting(p, origin="person:ann").provenance.origin)
    )
    made = await run(door, promote, p, forged, None, by="ann")
    assert made.memories[0].provenance.trust == Trust.UNTRUSTED
    assert entry.id in made.memories[0].source_entry_ids


async def test_what_a_check_said_of_the_entry_goes_with_it(stores, door):
    p = parts(stores)
    entry = waiting(p, verdict=Verdict(verified=False, issues=("no source",)))
    made = await run(door, promote, p, entry, None, by="ann")
    assert made.memories[0].verdict == entry.verdict


# Once.


async def test_the_same_text_is_there_once(stores, door):
    embeddings = HashEmbeddings()
    p = parts(stores, embeddings=embeddings)
    first = await run(door, promote, p, LONG, ACME, by="ann")
    entry = waiting(p, LONG)
    told: list[Any] = []
    with listen(told.append):
        for what in (LONG, LONG.replace("\n\n", "\n \n"), entry):
            again = await run(door, promote, p, what, ACME, by="bo")
            assert again.existing
            assert (again.ids, again.document_id) == (first.ids, first.document_id)
            assert again.superseded == ()
    assert len(memories(p)) == len(first.ids)
    assert entry_of(p, entry).memory_ids == first.ids
    assert len(embeddings.asked) == 1
    assert [one["event"] for one in told if one["event"] == "promoted"] == []


async def test_the_same_text_of_another_agent_group_or_tenant_is_another(stores, door):
    p = parts(stores)
    for scope in (ACME, replace(ACME, group_id="b"), replace(ACME, tenant="t")):
        for agent in (None, "a", "b"):
            made = await run(
                door, promote, p, MYSQL, scope, by="ann", options=PromotionOptions(agent_id=agent)
            )
            assert not made.existing
    assert len(memories(p)) == 3


async def test_a_subject_can_be_given_to_what_is_there(stores, door):
    p = parts(stores)
    await run(door, promote, p, MYSQL, ACME, by="ann", options=PromotionOptions(subject="database"))
    await run(door, promote, p, POSTGRES, ACME, by="ann")
    made = await run(
        door, promote, p, POSTGRES, ACME, by="ann", options=PromotionOptions(subject="database")
    )
    assert made.existing
    assert made.memories[0].subject == "database"
    assert current(p) == [POSTGRES]


@pytest.mark.parametrize("kind", KINDS)
async def test_many_who_promote_the_same_at_once_make_one_document(kind, tmp_path):
    p = parts(
        both_stores(kind, tmp_path),
        new_id=random_id,
    )
    made = await asyncio.gather(
        *(run("native", promote, p, LONG, ACME, by=f"person {n}") for n in range(8))
    )
    assert len({one.document_id for one in made}) == 1
    assert sorted(one.existing for one in made) == [False] + [True] * 7
    assert len(memories(p)) == len(made[0].ids)


# Embeddings.


async def test_all_chunks_are_embedded_in_one_call(stores, door):
    embeddings = HashEmbeddings()
    p = parts(stores, embeddings=embeddings)
    made = await run(door, promote, p, LONG, ACME, by="ann")
    assert [len(one) for one in embeddings.asked] == [len(made.ids)]
    assert stores.long_term.spaces() == {Space("hash", 64): len(made.ids)}


async def test_a_failed_embedding_keeps_the_text_which_words_find(stores, door, caplog):
    embeddings = Moody()
    p = parts(stores, embeddings=embeddings)
    embeddings.broken = OSError("down")
    made = await run(door, promote, p, LONG, ACME, by="ann")
    assert made.unembedded == len(made.ids) == len(memories(p))
    assert "found by its words" in caplog.text
    assert await run(door, retrieve, p, "paragraph 3 of the shop", ACME)
    assert stores.long_term.spaces() == {}


async def test_the_next_promotion_embeds_what_is_missing(stores, door):
    embeddings = Moody()
    p = parts(stores, embeddings=embeddings)
    embeddings.broken = OSError("down")
    for text in (MYSQL, POSTGRES):
        await run(door, promote, p, text, ACME, by="ann")
    embeddings.broken = None
    made = await run(door, promote, p, "Tea is sold on Mondays.", ACME, by="ann")
    assert made.unembedded == 0
    assert stores.long_term.spaces() == {Space("hash", 64): 3}


async def test_only_so_many_are_tried_again_and_none_if_told_so(stores, door):
    embeddings = Moody()
    embeddings.broken = OSError("down")
    for limit, embedded_then in ((0, 1), (2, 4)):
        limits = limited(TierLimits, retry_unembedded=limit)
        p = parts(stores, embeddings=embeddings, limits=limits, new_id=random_id)
        embeddings.broken = OSError("down")
        for n in range(3):
            await run(door, promote, p, f"Text {n} with limit {limit}.", ACME, by="ann")
        embeddings.broken = None
        await run(door, promote, p, f"Another one with {limit}.", ACME, by="ann")
        assert stores.long_term.spaces() == {Space("hash", 64): embedded_then}


async def test_a_model_that_is_down_is_asked_once_in_a_promotion(stores, door):
    tried: list[str] = []

    class Down(HashEmbeddings):
        def embed_documents(self, texts):
            tried.append("documents")
            raise OSError

        def embed_query(self, text):
            tried.append("query")
            raise OSError

    p = parts(stores, embeddings=Down())
    await run(door, promote, p, MYSQL, ACME, by="ann")
    assert tried == ["documents"]


async def test_one_text_that_the_model_refuses_does_not_stop_the_others(stores, door):
    embeddings = Moody(refuse=lambda text: "forbidden" in text)
    p = parts(stores, embeddings=embeddings)
    made = await run(door, promote, p, "A forbidden word.", ACME, by="ann")
    assert made.unembedded == 1
    embeddings.broken = OSError()
    await run(door, promote, p, MYSQL, ACME, by="ann")
    embeddings.broken = None
    await run(door, promote, p, POSTGRES, ACME, by="ann")
    assert stores.long_term.spaces() == {Space("hash", 64): 2}
    before = len(embeddings.asked)
    await run(door, promote, p, "The tea is green.", ACME, by="ann")
    assert len(embeddings.asked) == before + 1  # what was refused is not tried each time
    embeddings.refuse = lambda _: False
    assert await run(door, embed_pending, p) == 1


async def test_vectors_of_another_length_are_an_error_before_anything_is_stored(stores, door):
    await run(door, promote, parts(stores, embeddings=HashEmbeddings(8)), MYSQL, ACME, by="ann")
    p = parts(stores, embeddings=HashEmbeddings(16), new_id=lambda: "x" * 8)
    with pytest.raises(EmbeddingMismatch, match=r"hash \(8 dimensions\).*hash \(16 dimensions\)"):
        await run(door, promote, p, POSTGRES, ACME, by="ann")
    assert current(p) == [MYSQL]


# All or nothing.


async def test_a_store_that_fails_leaves_everything_as_it_was(door):
    stores = embedded()
    p = parts(failing(stores, "long_term", "add"))
    entry = waiting(p, LONG)
    with pytest.raises(StoreUnavailable):
        await run(door, promote, p, entry, None, by="ann")
    assert entry_of(p, entry) == entry
    assert memories(p) == []
    mended = parts(stores)
    assert (await run(door, promote, mended, entry, None, by="ann")).ids


async def test_what_ends_between_storing_and_marking_leaves_nothing(door):
    stores = embedded()
    p = parts(stores)
    entry = waiting(p)
    killed = parts(failing(stores, "quarantine", "edit"))
    with pytest.raises(StoreUnavailable):
        await run(door, promote, killed, entry, None, by="ann")
    assert memories(p) == []
    again = await run(door, promote, p, entry, None, by="ann")
    assert not again.existing
    assert entry_of(p, entry).memory_ids == again.ids
    assert len(memories(p)) == 1


class Meddling:
    """Embeddings during whose work something else happens."""

    def __init__(self, happens):
        self.happens = happens

    def embed_documents(self, texts):
        self.happens()
        return HashEmbeddings().embed_documents(texts)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_revoked_meanwhile_does_not_get_there(kind, tmp_path):
    memory = TieredMemory(both_stores(kind, tmp_path))
    entry = memory.record(MYSQL + " They move in May.", ACME).entry
    memory.promote("The orders are in files.", ACME, by="ann", subject="orders")
    meddler = Meddling(lambda: memory.revoke(entry, ACME, by="bo"))
    other = TieredMemory(memory.parts.stores, embeddings=meddler)
    with pytest.raises(PromotionRefused, match="was revoked") as caught:
        other.promote(entry, by="ann", subject="orders")
    assert caught.value.reasons == ("revoked",)
    assert entry_of(memory.parts, entry).status == "revoked"
    assert [(one.content, one.valid_to, one.superseded_by) for one in memories(memory.parts)] == [
        ("The orders are in files.", None, None)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forgotten_meanwhile_does_not_get_there(kind, tmp_path):
    memory = TieredMemory(both_stores(kind, tmp_path))
    entry = memory.record(MYSQL + " They move in May.", ACME).entry
    meddler = Meddling(lambda: memory.forget(ACME, ids=[entry.id]))
    with pytest.raises(EntryMissing, match="There is no entry"):
        TieredMemory(memory.parts.stores, embeddings=meddler).promote(entry, by="ann")
    assert memories(memory.parts) == []


# Asking for it, and turning it down.


async def test_a_proposal_is_noted_on_the_entry(stores, door):
    p = parts(stores)
    entry = waiting(p)
    proposed = await run(door, propose, p, entry, None, by="bo")
    assert (proposed.id, proposed.status, proposed.proposed_by) == (entry.id, "proposed", "bo")
    assert entry_of(p, entry) == proposed


async def test_a_proposed_text_or_insight_becomes_an_entry(stores, door):
    p = parts(stores)
    one = await run(door, propose, p, f"Use {SECRET} in the shop", ACME, by="bo")
    assert SECRET not in one.content
    assert (one.status, str(one.provenance.origin)) == ("proposed", "person:bo")
    assert entry_of(p, one) == one
    entries = [waiting(p, MYSQL, f"tool:{name}") for name in ("web", "mail")]
    insight = next(
        i for i in (await run(door, digest, p, ACME)).insights if len(i.source_entry_ids) == 2
    )
    two = await run(door, propose, p, insight, None, by="bo")
    assert two.content == insight.summary
    assert set(two.provenance.sources) == {e.id for e in entries}
    assert two.provenance.trust == Trust.UNTRUSTED


async def test_what_is_promoted_stays_so_when_it_is_proposed(stores, door):
    p = parts(stores)
    entry = waiting(p)
    await run(door, promote, p, entry, None, by="ann")
    before = entry_of(p, entry)
    assert await run(door, propose, p, entry, None, by="bo") == before


async def test_a_rejected_entry_is_promoted_only_after_it_is_proposed_again(stores, door):
    p = parts(stores)
    entry = waiting(p, metadata={"confidence": 0.9})
    rejected = await run(door, reject, p, entry.id, ACME, by="ann", reason=f"old, {SECRET}")
    assert (rejected.status, rejected.decided_by) == ("rejected", "ann")
    assert rejected.metadata["confidence"] == 0.9
    assert "old" in rejected.metadata["rejected_because"]
    assert SECRET not in rejected.metadata["rejected_because"]
    with pytest.raises(PromotionRefused, match=r"rejected by ann; propose\(\) it") as caught:
        await run(door, promote, p, entry, None, by="ann")
    assert caught.value.reasons == ("rejected",)
    await run(door, propose, p, entry, None, by="bo")
    assert (await run(door, promote, p, entry, None, by="ann")).ids


async def test_what_was_promoted_cannot_be_rejected(stores, door):
    p = parts(stores)
    entry = waiting(p)
    await run(door, promote, p, entry, None, by="ann")
    with pytest.raises(PromotionRefused, match=r"promoted already.*revoke\(\)"):
        await run(door, reject, p, entry, None, by="bo")
    with pytest.raises(EntryMissing, match="Only an entry"):
        await run(door, reject, p, "some text", ACME, by="bo")


async def test_a_revoked_entry_is_neither_promoted_nor_proposed(stores, door):
    p = parts(stores)
    entry = waiting(p)
    await run(door, revoke, p, entry, ACME, by="ann")
    for operation in (promote, propose):
        with pytest.raises(PromotionRefused, match=r"restore\(receipt\)") as caught:
            await run(door, operation, p, entry, None, by="bo")
        assert caught.value.reasons == ("revoked",)


async def test_an_echo_is_promoted_and_proposed_by_a_person_only(stores, door):
    p = parts(stores)
    entry = waiting(p, echo_of=("m1",))
    for operation in (promote, propose):
        with pytest.raises(PromotionRefused, match="only repeats") as caught:
            await run(door, operation, p, entry.id, ACME, by="agent:bo")
        assert caught.value.reasons == ("echo",)
    assert (await run(door, propose, p, entry.id, ACME, by="bo")).status == "proposed"
    assert (await run(door, promote, p, entry.id, ACME, by="ann")).ids


async def test_the_verdict_of_a_check_is_no_candidate(stores, door):
    p = parts(stores)
    entry = waiting(p, '{"verified": true}', role="fact_check")
    for operation in (promote, propose):
        for by in ("ann", "agent:a"):
            for what in (entry, entry.content):
                with pytest.raises(PromotionRefused, match="verdict of a check") as caught:
                    await run(door, operation, p, what, ACME, by=by)
                assert caught.value.reasons == ("verdict",)


async def test_one_bad_entry_stops_an_insight(stores, door):
    p = parts(stores)
    entries = [waiting(p, MYSQL, f"user:{name}") for name in ("ann", "bo")]
    (insight,) = (await run(door, digest, p, ACME)).insights
    await run(door, revoke, p, entries[0], ACME, by="ann")
    with pytest.raises(PromotionRefused, match=entries[0].id):
        await run(door, promote, p, insight, None, by="ann")
    assert entry_of(p, entries[1]).status == "pending"


# Told to others.


async def test_a_promotion_is_told_without_its_text(stores, door):
    p = parts(stores)
    told: list[Any] = []
    with listen(told.append):
        made = await run(door, promote, p, LONG, ACME, by="ann")
    (event,) = [one for one in told if one["event"] == "promoted"]
    assert event["entries"] == len(made.ids)
    assert "Paragraph" not in str(event)


def test_no_text_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    embeddings = Moody()
    embeddings.broken = OSError("down")
    memory = TieredMemory(embedded(), embeddings=embeddings, guard=Guard(on_secret="redact"))
    memory.promote("zebra crossing", "acme", by="ann")
    assert "zebra" not in caplog.text


@pytest.mark.slow
async def test_long_work_leaves_the_loop_free():
    p = parts()
    beats: list[float] = []
    stop = threading.Event()

    async def beat():
        while not stop.is_set():
            beats.append(asyncio.get_running_loop().time())
            await asyncio.sleep(0.01)

    task = asyncio.create_task(beat())
    await run("native", promote, p, "word " * 100_000, ACME, by="ann")
    stop.set()
    await task
    assert max(b - a for a, b in pairwise(beats)) < 5
    assert len(beats) > 5


def test_validity_can_begin_earlier_or_later():
    memory = TieredMemory(embedded())
    now = memory.parts.clock()
    memory.promote(MYSQL, "acme", by="ann", valid_from=now + timedelta(days=2))
    assert memory.retrieve("orders", "acme") == []
    assert len(memory.retrieve("orders", "acme", at=now + timedelta(days=3))) == 1


async def test_an_agent_without_a_name_is_none(stores, door):
    p = parts(stores)
    made = await run(door, promote, p, MYSQL, ACME, by="ann", options=PromotionOptions(agent_id=""))
    assert made.memories[0].scope.agent_id is None


def test_what_cannot_be_promoted_is_named_before_the_scope_is_asked_for():
    with TieredMemory.open("memory://") as memory:
        recorded = memory.record("The orders of the shop are in PostgreSQL 17.", "shop")
        for wrong, message in ((recorded, r"Recorded: pass its \.entry"), (None, "NoneType")):
            with pytest.raises(EntryRefused, match=message):
                memory.promote(wrong, by="ann")


@pytest.mark.parametrize("text", ["", "  \n", "\u3000"])
async def test_a_blank_text_is_refused_where_it_is_passed(text):
    with TieredMemory.open("memory://") as memory:
        old = memory.promote(MYSQL, ACME, by="ann")
        blank = replace(memory.log_quarantine(MYSQL, ACME), content=text)
        for call in (
            lambda: memory.promote(text, ACME, by="ann"),
            lambda: memory.promote(blank, by="ann"),
            lambda: memory.promote_many([POSTGRES, text], ACME, by="ann"),
            lambda: memory.supersede(old, text, ACME, by="ann"),
            lambda: memory.propose(text, ACME, by="ann"),
        ):
            with pytest.raises(EntryRefused, match=r"blank text cannot be kept.*revoke\(\)"):
                call()
        entry = memory.log_quarantine(text, ACME)  # known by its id alone, what it says is not
        for call in (
            lambda: memory.promote(entry.id, ACME, by="ann"),
            lambda: memory.promote_many([POSTGRES, entry.id], ACME, by="ann"),
            lambda: memory.supersede(old, entry.id, ACME, by="ann"),
        ):
            with pytest.raises(EntryRefused, match="blank text"):
                call()
        for call in (
            lambda: memory.apromote(text, ACME, by="ann"),
            lambda: memory.apromote(entry.id, ACME, by="ann"),
            lambda: memory.apromote_many([POSTGRES, entry.id], ACME, by="ann"),
            lambda: memory.asupersede(old, entry.id, ACME, by="ann"),
        ):
            with pytest.raises(EntryRefused, match="blank text"):
                await call()
        assert memory.get(entry.id, ACME).status == entry.status
        assert [one.content for one in memory.list(ACME, tier="longterm").items] == [MYSQL]
