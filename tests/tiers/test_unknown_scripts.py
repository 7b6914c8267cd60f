"""Texts in a script that the embedding model does not know get no vector: words find them."""

from __future__ import annotations

import logging

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from memoryware import TieredMemory
from memoryware.tiers.embedding import Embedder

FACT = "Пекарня на углу закрыта по вторникам."


class LatinModel(Embeddings):
    """A model that knows ASCII, and counts what it is asked for."""

    def __init__(self):
        self.asked = []
        self._model = DeterministicFakeEmbedding(size=8)

    def supports(self, text):
        return text.isascii()

    def embed_documents(self, texts):
        self.asked += texts
        return self._model.embed_documents(texts)

    def embed_query(self, text):
        self.asked.append(text)
        return self._model.embed_query(text)


class Cached(LatinModel):
    """A cache around a model, as `CacheBackedEmbeddings` is one."""

    supports = None

    def __init__(self, inner):
        super().__init__()
        self.underlying_embeddings = inner


@pytest.fixture(params=[False, True], ids=["model", "cache"])
def model(request):
    return Cached(LatinModel()) if request.param else LatinModel()


@pytest.mark.parametrize("url", ["memory://", "sqlite:///{}/memory.db"])
def test_such_texts_and_queries_are_found_by_words_and_a_recall_says_so(
    url, model, tmp_path, caplog
):
    caplog.set_level(logging.WARNING)
    with TieredMemory.open(url.format(tmp_path), embeddings=model) as memory:
        promotion = memory.promote(FACT, "home", by="ann")
        memory.promote("Мой брат чинит часы.", "home", by="ann")
        memory.promote("The bakery is open on Mondays.", "home", by="ann")
        assert promotion.unembedded == 1
        found = memory.retrieve("когда закрыта пекарня", "home")
        assert found[0].content == FACT
        assert found[0].similarity is None
        (note,) = found.notes
        assert note.endswith("does not know the script of the query; words alone were searched")
        assert memory.retrieve("bakery open", "home").notes == ()
    assert not [text for text in model.asked if not text.isascii()]
    (warning,) = [record.getMessage() for record in caplog.records]
    assert 'embeddings="local:multilingual" knows more languages' in warning


async def test_the_async_twin_does_the_same(model):
    async with await TieredMemory.aopen("memory://", embeddings=model) as memory:
        await memory.apromote(FACT, "home", by="ann")
        found = await memory.aretrieve("пекарня", "home")
        assert [item.content for item in found] == [FACT]
        assert "does not know the script" in found.notes[0]
    assert not [text for text in model.asked if not text.isascii()]


def test_such_a_text_is_not_tried_again_and_reindex_counts_it(model):
    with TieredMemory.open("memory://", embeddings=model) as memory:
        memory.promote("The bakery is open.", "home", by="ann")  # looks for what has no vector
        assert not memory.parts.embedder.cache.is_behind
        memory.promote(FACT, "home", by="ann")
        assert not memory.parts.embedder.cache.is_behind
        memory.promote("Мой брат чинит часы.", "home", by="ann")
        outcome = memory.reindex()
        assert (outcome.embedded, outcome.failed) == (0, 2)


def test_working_memory_is_compared_by_what_has_a_vector(model):
    with TieredMemory.open("memory://", embeddings=model) as memory:
        memory.record(FACT, "home")
        memory.record("The bakery is open.", "home")
        similarities = {item.content: item.similarity for item in memory.retrieve("bakery", "home")}
        assert similarities[FACT] is None
        assert similarities["The bakery is open."] is not None


def test_it_is_not_asked_about_the_same_text_again_and_again():
    model, asked = LatinModel(), []
    model.supports = lambda text: asked.append(text) or text.isascii()
    with TieredMemory.open("memory://", embeddings=model) as memory:
        memory.record(FACT, "home")
        for _ in range(5):
            assert memory.retrieve("bakery", "home")[0].content == FACT
    assert asked.count(FACT) == 1


def test_a_model_that_cannot_tell_gets_every_text():
    embedder = Embedder(DeterministicFakeEmbedding(size=4), "fake")
    assert not embedder.knows_scripts
    assert embedder.supports(FACT)
