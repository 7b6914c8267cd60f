"""Embedding spaces: held against the store, and moved to another while reads go on."""

from __future__ import annotations

import asyncio

import pytest

from hooked import hooked
from limits import limited
from memoryware import TieredMemory
from memoryware._clock import random_id
from memoryware._runner import run_blocking
from memoryware.errors import EmbeddingFailed, EmbeddingMismatch, SettingError
from memoryware.scope import MemoryScope
from memoryware.settings import TierLimits
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.embedding_retry import embed_pending
from memoryware.tiers.promote import promote
from memoryware.tiers.recall.query import RetrieveOptions
from memoryware.tiers.recall.search import retrieve
from memoryware.tiers.reindex import check_space, reindex
from memoryware.tiers.stores.protocol import Space
from tiers.kit import DOORS, HashEmbeddings, parts, run
from tiers.long_term import ACME, KINDS, MYSQL, POSTGRES, Moody, both_stores, current

TEXTS = [f"Shelf {n} of the shop holds goods of kind {n * 7}." for n in range(7)]
OTHER = MemoryScope(tenant="t", group_id="b")


@pytest.fixture(params=KINDS)
def stores(request, tmp_path):
    made = both_stores(request.param, tmp_path)
    yield made
    made.long_term.close()


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


def with_model(stores, name="old", size=8, *, embeddings=None, **more):
    """Parts with an embedder of this name, whose vectors have this length."""
    model = embeddings or HashEmbeddings(size)
    embedder = Embedder(model, name, batch=more.pop("batch", 128))
    return parts(stores, embedder=embedder, new_id=random_id, **more)


async def fill(door, p, texts=TEXTS, scope=ACME):
    for text in texts:
        await run(door, promote, p, text, scope, by="ann")


# Held against the store.


async def test_another_model_is_an_error_that_names_both(stores, door):
    await fill(door, with_model(stores))
    p = with_model(stores, "new", 16)
    with pytest.raises(EmbeddingMismatch, match=r"old \(8 dimensions\).*of new") as caught:
        await run(door, check_space, p, "raise")
    assert "reindex()" in str(caught.value)


async def test_words_serve_if_that_is_wanted(stores, door, caplog):
    await fill(door, with_model(stores))
    p = with_model(stores, "new", 16, on_mismatch="words")
    await run(door, check_space, p, "words")
    assert "words alone find until reindex()" in caplog.text
    found = await run(door, retrieve, p, "kind 21 on shelf 3", ACME)
    assert found[0].content == TEXTS[3]


async def test_the_same_model_none_and_an_empty_store_are_no_error(stores, door):
    await run(door, check_space, with_model(stores), "raise")
    await fill(door, with_model(stores))
    await run(door, check_space, with_model(stores), "raise")
    await run(door, check_space, parts(stores), "raise")


async def test_another_length_of_the_same_model_is_seen_at_the_first_vector(stores, door):
    await fill(door, with_model(stores))
    p = with_model(stores, "old", 16)
    await run(door, check_space, p, "raise")
    with pytest.raises(EmbeddingMismatch, match=r"old \(8 dimensions\).*old \(16 dimensions\)"):
        await run(door, promote, p, MYSQL, ACME, by="ann")
    words = with_model(stores, "old", 16, on_mismatch="words")
    made = await run(door, promote, words, MYSQL, ACME, by="ann")
    assert made.unembedded == 1
    assert (await run(door, retrieve, words, "orders MySQL", ACME))[0].content == MYSQL


async def test_a_store_that_was_not_checked_is_held_against_the_model_as_well(stores, door):
    await fill(door, with_model(stores))
    with pytest.raises(EmbeddingMismatch):
        await run(door, promote, with_model(stores, "new"), MYSQL, ACME, by="ann")
    assert MYSQL not in current(with_model(stores))


@pytest.mark.parametrize("door", ["blocking"])
def test_opening_holds_the_model_against_the_file(tmp_path, door):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with TieredMemory.open(url, embeddings=HashEmbeddings(8), embedding_space="old") as memory:
        memory.promote(MYSQL, ACME, by="ann")
    with pytest.raises(EmbeddingMismatch):
        TieredMemory.open(url, embeddings=HashEmbeddings(16))
    with TieredMemory.open(url, embeddings=HashEmbeddings(16), on_mismatch="words") as memory:
        memory.promote(POSTGRES, ACME, by="ann")
        assert len(memory.retrieve("orders of the shop", ACME)) == 2
        assert memory.reindex().embedded == 1
        assert memory.spaces() == {Space("HashEmbeddings", 16): 2}
    TieredMemory.open(url, embeddings=HashEmbeddings(16)).close()


# Moving.


async def test_everything_of_all_tenants_moves_and_the_old_vectors_go(stores, door):
    old = with_model(stores)
    await fill(door, old)
    await fill(door, old, [MYSQL], OTHER)
    p = with_model(stores, "new", 16, batch=3)
    done = await run(door, reindex, p)
    assert (done.space, done.embedded, done.failed) == ("new (16 dimensions)", 8, 0)
    assert stores.long_term.spaces() == {Space("new", 16): 8}
    await run(door, check_space, p, "raise")
    (found, *_) = await run(door, retrieve, p, TEXTS[2], ACME)
    assert found.content == TEXTS[2]
    assert found.similarity == pytest.approx(1, abs=0.01)


async def test_a_second_time_does_nothing(stores, door):
    await fill(door, with_model(stores))
    model = HashEmbeddings(16)
    p = with_model(stores, "new", embeddings=model)
    await run(door, reindex, p)
    asked = len(model.asked)
    done = await run(door, reindex, p)
    assert (done.embedded, done.failed) == (0, 0)
    assert len(model.asked) == asked


async def test_an_interrupted_move_goes_on_where_it_stopped(stores, door):
    await fill(door, with_model(stores))
    model = Moody(16)
    p = with_model(stores, "new", embeddings=model, batch=3, on_mismatch="words")
    embed, calls = model.embed_documents, []

    def killed(texts):
        calls.append(texts)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return embed(texts)

    model.embed_documents = killed
    with pytest.raises(KeyboardInterrupt):
        await run("blocking", reindex, p)
    assert stores.long_term.spaces() == {Space("old", 8): 7, Space("new", 16): 3}
    # Reads and promotions of both go on meanwhile.
    for one in (with_model(stores), p):
        assert (await run(door, retrieve, one, TEXTS[5], ACME))[0].content == TEXTS[5]
    await run(door, promote, p, MYSQL, ACME, by="ann")
    await run(door, promote, with_model(stores), POSTGRES, ACME, by="ann")
    assert (await run(door, retrieve, p, "orders MySQL", ACME))[0].content == MYSQL
    with pytest.raises(EmbeddingMismatch):
        await run(door, check_space, p, "raise")
    done = await run(door, reindex, p)
    assert (done.embedded, done.failed) == (5, 0)  # not the three, nor what came in meanwhile
    assert stores.long_term.spaces() == {Space("new", 16): 9}


async def test_a_promotion_in_the_middle_of_a_move_is_not_lost(stores):
    await fill("blocking", with_model(stores))
    model = HashEmbeddings(16)
    p = with_model(stores, "new", embeddings=model, batch=2, on_mismatch="words")
    old = with_model(stores)
    embed = model.embed_documents

    def meanwhile(texts):
        if texts == TEXTS[2:4]:
            run_sync(promote, p, MYSQL, ACME, by="ann")
            run_sync(promote, old, POSTGRES, ACME, by="ann")
        return embed(texts)

    model.embed_documents = meanwhile
    done = run_sync(reindex, p)
    assert done.failed == 0
    assert stores.long_term.spaces() == {Space("new", 16): 9}


def run_sync(operation, *args, **kwargs):
    given, *rest = args
    return run_blocking(operation(given, *rest, **kwargs))


async def test_a_promotion_at_the_last_moment_of_a_move_gets_its_vector(stores):
    old = with_model(stores)
    await fill("blocking", old)

    def late(_, name):
        if name == "adopt":
            run_sync(promote, old, MYSQL, ACME, by="ann")

    done = run_sync(reindex, with_model(hooked(stores, late), "new", 16))
    assert (done.embedded, done.failed) == (8, 0)
    assert stores.long_term.spaces() == {Space("new", 16): 8}


async def test_reads_go_on_while_everything_moves(stores):
    old = with_model(stores)
    await fill("native", old)
    p = with_model(stores, "new", 16, batch=1, on_mismatch="words")
    moving = asyncio.create_task(run("native", reindex, p))
    rounds = 0
    while not moving.done():
        for one in (p, old):
            found = await run("native", retrieve, one, TEXTS[4], ACME)
            assert found[0].content == TEXTS[4]
        rounds += 1
    assert (await moving).embedded == 7
    assert rounds


async def test_two_who_move_at_the_same_time_come_to_the_same(stores):
    await fill("native", with_model(stores))
    both = [with_model(stores, "new", 16, batch=2) for _ in range(2)]
    done = await asyncio.gather(*(run("native", reindex, one) for one in both))
    assert [one.failed for one in done] == [0, 0]
    assert stores.long_term.spaces() == {Space("new", 16): 7}


async def test_a_model_that_fails_underway_keeps_the_old_vectors(stores, door):
    await fill(door, with_model(stores))
    model = Moody(16)
    p = with_model(stores, "new", embeddings=model, batch=3)
    embed = model.embed_documents

    def fails(texts):
        if TEXTS[3] in texts:
            model.broken = OSError("down")
        return embed(texts)

    model.embed_documents = fails
    done = await run(door, reindex, p)
    assert (done.embedded, done.failed) == (3, 4)
    assert stores.long_term.spaces() == {Space("old", 8): 7, Space("new", 16): 3}
    with pytest.raises(EmbeddingFailed):
        await run(door, reindex, p)


async def test_one_text_that_the_model_refuses_does_not_stop_the_move(stores, door):
    await fill(door, with_model(stores))
    picky = Moody(16, refuse=lambda text: text == TEXTS[0])
    done = await run(door, reindex, with_model(stores, "new", embeddings=picky, batch=3))
    assert (done.embedded, done.failed) == (6, 1)
    assert stores.long_term.spaces() == {Space("new", 16): 6}
    p = with_model(stores, "new", 16)
    assert (await run(door, retrieve, p, "shelf 0", ACME))[0].content == TEXTS[0]
    assert await run(door, embed_pending, p) == 1


async def test_a_model_whose_vectors_got_longer_needs_another_name(stores, door):
    await fill(door, with_model(stores))
    p = with_model(stores, "old", 16, batch=3, on_mismatch="words")
    with pytest.raises(EmbeddingMismatch, match=r"embedding_space= another name.*reindex"):
        await run(door, reindex, p)
    assert stores.long_term.spaces() == {Space("old", 8): 7}
    assert len(await run(door, retrieve, p, "kind 21 on shelf 3", ACME))
    renamed = with_model(stores, "old, longer", 16, batch=3, on_mismatch="words")
    done = await run(door, reindex, renamed)
    assert (done.space, done.embedded, done.failed) == ("old, longer (16 dimensions)", 7, 0)
    assert stores.long_term.spaces() == {Space("old, longer", 16): 7}


# Half moved.

SAYS_WORDS = "words alone were searched in long-term memory"


def ways(recall):
    return {way for one in recall.candidates for way in one.ranks}


async def half_moved(stores, door):
    """Old vectors of everything, and new ones of the first three texts."""
    old, p = with_model(stores), with_model(stores, "new", 16, batch=3, on_mismatch="words")
    await fill(door, old)
    first = stores.long_term.unembedded(Space("new", 16), limit=3)
    vectors = [p.embedder.embeddings.embed_query(one.content) for one in first]
    stores.long_term.put_vectors([*zip(first, vectors, strict=True)], Space("new", 16))
    return old, p


async def test_words_find_everything_until_the_new_model_has_all_of_it(stores, door):
    old, p = await half_moved(stores, door)
    wanted = RetrieveOptions(explain=True)
    for text in TEXTS:
        found = await run(door, retrieve, p, text, ACME, options=wanted)
        assert found[0].content == text
        assert "vectors" not in ways(found)
        assert [SAYS_WORDS in one for one in found.notes] == [True]
    alone = await run(door, retrieve, parts(stores), "goods of the shop", ACME)
    found = await run(door, retrieve, p, "goods of the shop", ACME)
    assert [one.score for one in found] == [one.score for one in alone]
    assert "vectors" in ways(await run(door, retrieve, old, TEXTS[6], ACME, options=wanted))
    await run(door, reindex, p)
    found = await run(door, retrieve, p, TEXTS[6], ACME, options=wanted)
    assert (found[0].content, found.notes) == (TEXTS[6], ())
    assert "vectors" in ways(found)


async def test_who_asks_with_the_old_model_after_a_move_is_told(stores, door, caplog):
    old, p = await half_moved(stores, door)
    assert (await run(door, retrieve, old, TEXTS[5], ACME)).notes == ()
    await run(door, reindex, p)
    found = await run(door, retrieve, old, TEXTS[5], ACME)
    assert found[0].content == TEXTS[5]
    (note,) = found.notes
    assert "embeddings of new (16 dimensions)" in note
    assert SAYS_WORDS in note
    assert SAYS_WORDS in caplog.text


def test_another_process_that_moves_is_noticed_in_the_next_answer(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    old = {"embeddings": HashEmbeddings(8), "embedding_space": "old"}
    new = {"embeddings": HashEmbeddings(16), "embedding_space": "new", "on_mismatch": "words"}
    with TieredMemory.open(url, **old) as reader, TieredMemory.open(url, **new) as mover:
        for text in TEXTS:
            reader.promote(text, ACME, by="ann")
        assert reader.retrieve(TEXTS[2], ACME).notes == ()
        assert SAYS_WORDS in mover.retrieve(TEXTS[2], ACME).notes[0]
        mover.reindex()
        assert SAYS_WORDS in reader.retrieve(TEXTS[2], ACME).notes[0]
        assert mover.retrieve(TEXTS[2], ACME).notes == ()


async def test_an_empty_memory_takes_the_new_model(stores, door):
    p = with_model(stores, "new", 16)
    done = await run(door, reindex, p)
    assert (done.embedded, done.failed) == (0, 0)
    assert stores.long_term.spaces() == {Space("new", 16): 0}


async def test_without_a_model_there_is_nothing_to_do(stores, door):
    for operation in (reindex, embed_pending):
        with pytest.raises(SettingError, match="no embedding model"):
            await run(door, operation, parts(stores))


# What is missing.


async def test_what_has_no_vector_gets_one(stores, door):
    await fill(door, parts(stores, new_id=random_id))
    model = HashEmbeddings(8)
    p = with_model(stores, embeddings=model, batch=3)
    assert await run(door, embed_pending, p, 4) == 4
    assert [len(one) for one in model.asked] == [3, 1]
    assert await run(door, embed_pending, p) == 3
    assert await run(door, embed_pending, p) == 0
    assert stores.long_term.spaces() == {Space("old", 8): 7}


async def test_nothing_is_embedded_for_a_store_of_another_model(stores, door):
    await fill(door, with_model(stores))
    assert await run(door, embed_pending, with_model(stores, "new", 16)) == 0
    assert await run(door, embed_pending, with_model(stores, "old", 16)) == 0
    assert stores.long_term.spaces() == {Space("old", 8): 7}


async def test_a_model_that_is_down_is_told(stores, door):
    await fill(door, parts(stores, new_id=random_id))
    down = Moody(8)
    down.broken = OSError("down")
    with pytest.raises(EmbeddingFailed):
        await run(door, embed_pending, with_model(stores, embeddings=down))


async def test_texts_that_are_refused_at_the_front_do_not_block_the_rest(stores, door):
    await fill(door, parts(stores, new_id=random_id))
    picky = Moody(8, refuse=lambda text: text in TEXTS[:3])
    p = with_model(stores, embeddings=picky, limits=limited(TierLimits, retry_unembedded=2))
    assert await run(door, embed_pending, p) == 4
    await run(door, promote, p, MYSQL, ACME, by="ann")
    assert stores.long_term.spaces() == {Space("old", 8): 5}


async def test_reindexing_tells_how_far_it_is():
    seen = []
    with TieredMemory.open("memory://") as memory:
        for text in TEXTS:
            memory.promote(text, OTHER, by="ann")
        model = TieredMemory(
            memory.parts.stores, embeddings=HashEmbeddings(8), limits=TierLimits(embed_batch=3)
        )
        await model.areindex(on_progress=seen.append)
        assert model.reindex(on_progress=seen.append).embedded == 0
    assert seen == [3, 6, 7]
