"""A vector of zeros is no vector: words find the text, and a recall says when it was the query."""

from __future__ import annotations

import pytest
from langchain_core.embeddings import Embeddings

from memoryware import MemoryScope, TieredMemory
from memoryware.errors import EmbeddingFailed
from memoryware.tiers import NearDuplicate
from memoryware.tiers.embedding import Embedder
from tiers.kit import DOORS, HashEmbeddings, parts
from tiers.known import cold, hot, recall, texts
from tiers.long_term import KINDS, both_stores
from tiers.test_embedding import documents, each, query

SHOP = MemoryScope(group_id="shop")
NOTHING = [0.0] * 64


class Blank(Embeddings):
    """Embeddings that know nothing of a text with "odd" in it, and say so with zeros."""

    def __init__(self) -> None:
        self.inner = HashEmbeddings(64)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return NOTHING if "odd" in text else self.inner.embed_query(text)


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


@pytest.mark.parametrize("kind", KINDS)
async def test_a_document_with_a_vector_of_zeros_is_found_by_words_alone(door, kind, tmp_path):
    stores = both_stores(kind, tmp_path)
    memory = TieredMemory(stores, embeddings=Blank(), embedding_space="m")
    odd = memory.promote("An odd wombat sleeps in the barn.", SHOP, by="ann")
    memory.promote("A plain wombat sleeps in the garden.", SHOP, by="ann")
    assert odd.unembedded == 1
    found = await recall(door, memory.parts, "Where does the wombat sleep?", SHOP)
    near = {one.content: one.similarity for one in found}
    assert near["An odd wombat sleeps in the barn."] is None
    assert near["A plain wombat sleeps in the garden."] > 0
    assert memory.embed_pending() == 0  # the model was asked, and has none
    assert memory.reindex().failed == 1
    assert [space.name for space in memory.spaces()] == ["m"]


async def test_a_text_in_chunks_keeps_the_vectors_that_there_are(door):
    given = parts(embeddings=Blank())
    memory = TieredMemory(given.stores, embeddings=Blank())
    text = "\n\n".join(f"{word} wombat " * 30 for word in ("plain", "odd", "other"))
    made = memory.promote(text, SHOP, by="ann")
    assert (len(made.memories) > 2, made.unembedded) == (True, 1)
    found = await recall(door, memory.parts, "wombat", SHOP, tiers=("long_term",))
    assert sorted(one.similarity is None for one in found).count(True) == 1


async def test_a_query_with_a_vector_of_zeros_falls_back_to_words_and_says_so(door):
    given = parts(embeddings=Blank())
    cold(given, "The wombat sleeps.")
    hot(given, "A wombat was seen.")
    for wanted in ({}, {"query_vector": NOTHING}):
        found = await recall(door, given, "odd wombat", **wanted)
        assert texts(found) == ["The wombat sleeps.", "A wombat was seen."]
        assert {one.similarity for one in found} == {None}
        assert len(found.notes) == 1
        assert "words alone were searched" in found.notes[0]


async def test_an_entry_of_working_memory_with_a_vector_of_zeros_keeps_its_place_by_words(door):
    given = parts(embeddings=Blank())
    hot(given, "An odd wombat.")
    hot(given, "Tea is ready.")
    found = await recall(door, given, "wombat", score_threshold=0.9)
    assert texts(found) == ["An odd wombat."]
    assert found[0].similarity is None


@pytest.mark.slow
async def test_zeros_are_asked_for_once_and_never_returned(door):
    model = Blank()
    embedder = Embedder(model, "m")
    assert await each(door, embedder, "odd", "plain") == [None, tuple(model.embed_query("plain"))]
    asked = len(model.inner.queries)
    assert (await each(door, embedder, "odd", "plain"))[0] is None
    assert len(model.inner.queries) == asked
    for ask in (documents, query):
        with pytest.raises(EmbeddingFailed, match="vector of zeros"):
            await ask(door, embedder, "odd")


@pytest.mark.slow
def test_zeros_are_near_to_nothing_when_doubles_are_looked_for():
    memory = TieredMemory.open("memory://", filters=[NearDuplicate(Blank())])
    for text in (
        "An odd wombat sleeps behind the barn of the old mill.",
        "The odd invoices of March were paid by Ines on a Tuesday.",
        "Tea is served at four in the kitchen on the second floor.",
    ):
        assert memory.record(text, SHOP).refused is None
