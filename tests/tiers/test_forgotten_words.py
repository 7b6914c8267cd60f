"""After `forget` no word of a text stays in the process."""

from __future__ import annotations

import gc

import pytest
from langgraph.store.memory import InMemoryStore

from memoryware import MemoryScope, Origin, Provenance, TieredMemory
from memoryware.middleware._provenance import asks_to_be_saved
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.langgraph import langgraph_stores
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import HashEmbeddings

SHOP = MemoryScope(group_id="shop", session_id="s")


class Forgetful(HashEmbeddings):
    """What makes vectors and does not note what it was asked."""

    def embed_documents(self, texts):
        return [self._vector(one) for one in texts]

    def embed_query(self, text):
        return self._vector(text)


def stores_of(kind, tmp_path):
    if kind == "langgraph":
        return langgraph_stores(InMemoryStore())
    return embedded() if kind == "embedded" else sqlite_stores(tmp_path / "m.db")


def where_it_is(word: str) -> list[object]:
    """Return the texts in this process that have a word, and none of which only this test has."""
    gc.collect()
    held = {id(one): one for o in gc.get_objects() for one in gc.get_referents(o)}
    texts = (one for one in held.values() if isinstance(one, str | bytes) and one is not word)
    return [
        one
        for one in texts
        if word in (one if isinstance(one, str) else one.decode("utf-8", "replace")).casefold()
    ]


def use(memory: TieredMemory, word: str) -> None:
    """Let a text with this word go through everything that looks at words."""
    text = f"The {word}_key of the shop is in Rome; the {word} is blue."
    memory.record(text, SHOP)
    said = Provenance(Origin("agent", "helper"))
    memory.record(f"The {word} moved to Madrid. Thanks for the {word}!", SHOP, provenance=said)
    assert any(word in one.summary for one in memory.digest("shop").insights)
    memory.promote(text, SHOP, by=f"{word}@shop.example")
    asks_to_be_saved(f"Remember the {word} of the shop.")
    memory.promote(text.replace("Rome", "Berlin"), SHOP, by="ann")
    memory.promote("We sell tea.", SHOP, by="ann")
    found = memory.retrieve(f"What is the {word} of the shop?", SHOP)
    assert any(word in one.content for one in found)
    assert found.contradictions


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "sqlite", "langgraph"])
def test_what_was_forgotten_is_in_no_cache_of_the_process(kind, tmp_path):
    word = "nrouqxyz"[::-1]  # not as a constant, which the code itself would hold
    memory = TieredMemory(stores_of(kind, tmp_path), embeddings=Forgetful(), embedding_space="hash")
    use(memory, word)
    assert where_it_is(word)
    memory.forget("shop")
    memory.retrieve("Where is the tea?", SHOP)
    assert where_it_is(word) == []
    memory.close()
