"""Embeddings: in batches, in time, and nothing that cannot be compared."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from memoryware._deadline import call_within
from memoryware._runner import ASYNC, BLOCKING, run_blocking
from memoryware.errors import EmbeddingFailed
from memoryware.tiers.embedding import REMEMBERED, Embedder, space_name
from memoryware.tiers.stores.protocol import Space
from tiers.kit import DOORS, HashEmbeddings
from tiers.long_term import Moody


class Answering(Embeddings):
    """Embeddings that answer whatever they are told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed_documents(self, texts: list[str]) -> Any:
        return self.answer(texts) if callable(self.answer) else self.answer

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])


async def documents(door, embedder, *texts):
    if door == "native":
        return await embedder.documents(ASYNC, texts)
    return run_blocking(embedder.documents(BLOCKING, texts))


async def query(door, embedder, text):
    if door == "native":
        return await embedder.query(ASYNC, text)
    return run_blocking(embedder.query(BLOCKING, text))


async def each(door, embedder, *texts):
    if door == "native":
        return await embedder.each(ASYNC, texts)
    return run_blocking(embedder.each(BLOCKING, texts))


pytestmark = pytest.mark.parametrize("door", DOORS)


async def test_texts_are_embedded_in_batches_of_the_set_size(door):
    made = HashEmbeddings()
    vectors = await documents(door, Embedder(made, "hash", batch=2), "a", "b", "c", "d", "e")
    assert made.asked == [["a", "b"], ["c", "d"], ["e"]]
    assert vectors == [tuple(HashEmbeddings().embed_query(one)) for one in "abcde"]


async def test_no_text_asks_nobody(door):
    assert await documents(door, Embedder(Moody(), "m")) == []


async def test_a_text_that_was_embedded_is_not_embedded_again(door):
    made = HashEmbeddings()
    embedder = Embedder(made, "hash")
    first = await documents(door, embedder, "a", "b", "a")
    assert await documents(door, embedder, "b", "a", "c") == [
        first[1],
        first[0],
        *(await documents(door, embedder, "c")),
    ]
    assert made.asked == [["a", "b"], ["c"]]


async def test_only_so_many_vectors_are_remembered(door):
    made = HashEmbeddings(4)
    embedder = Embedder(made, "hash", batch=5000)
    await documents(door, embedder, *(f"one text {n}" for n in range(REMEMBERED + 10)))
    await documents(door, embedder, "one text 0", f"one text {REMEMBERED}")
    assert made.asked[1:] == [["one text 0"]]
    assert len(embedder.cache.vectors) == REMEMBERED


async def test_texts_that_differ_in_blanks_are_two(door):
    made = HashEmbeddings()
    await documents(door, Embedder(made, "hash"), "a b", "a  b")
    assert made.asked == [["a b", "a  b"]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: [[1.0]], "1 vectors for 2 texts"),
        ([], "0 vectors for 2 texts"),
        (None, "no list of vectors"),
        (["x", "y"], "no list of vectors"),
        ([[1, None], [1, 2]], "no list of vectors"),
        ([[10**400], [1]], "no list of vectors"),
        ([[1.0], [1.0, 2.0]], r"different lengths: \[1, 2\]"),
        ([[], []], "an empty vector"),
        ([[float("nan")], [1.0]], "no number"),
        ([[float("inf")], [1.0]], "no number"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_typed_error(door, answer, said):
    with pytest.raises(EmbeddingFailed, match=said):
        await documents(door, Embedder(Answering(answer), "m"), "a", "b")


async def test_whatever_the_model_raises_is_the_cause(door):
    broken = Moody()
    broken.broken = OSError("no network, key sk-123")
    for asked in (documents, query):
        with pytest.raises(EmbeddingFailed, match="model m failed: OSError") as caught:
            await asked(door, Embedder(broken, "m"), "a")
        assert caught.value.__cause__ is broken.broken
        assert "sk-123" not in str(caught.value)


async def test_an_object_without_the_method_is_a_typed_error(door):
    with pytest.raises(EmbeddingFailed, match="AttributeError"):
        await documents(door, Embedder(object(), "m"), "a")


async def test_a_model_that_hangs_is_left_after_the_timeout(door):
    free = threading.Event()

    class Hanging(HashEmbeddings):
        def embed_documents(self, texts):
            free.wait(20)
            return super().embed_documents(texts)

        async def aembed_documents(self, texts):
            await asyncio.sleep(20)
            return []

    started = time.monotonic()
    with pytest.raises(EmbeddingFailed, match=r"in time \(embed_timeout=0.05 seconds\)") as caught:
        await documents(door, Embedder(Hanging(), "m", timeout=0.05), "a")
    assert time.monotonic() - started < 10
    assert isinstance(caught.value.__cause__, TimeoutError)
    free.set()


async def test_what_is_no_failure_of_the_model_is_not_hidden(door):
    broken = Moody()
    broken.broken = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        call_within(5, broken.embed_documents, ["a"])


async def test_a_model_whose_vectors_got_longer_is_told_from_what_is_remembered(door):
    made = HashEmbeddings(8)
    embedder = Embedder(made, "hash")
    await documents(door, embedder, "a")
    made.size = 16
    with pytest.raises(EmbeddingFailed, match=r"different lengths: \[8, 16\]"):
        await documents(door, embedder, "a", "b")
    assert {len(one) for one in await documents(door, embedder, "a", "b")} == {16}


async def test_one_text_that_the_model_refuses_does_not_cost_the_others_theirs(door):
    picky = Moody(refuse=lambda text: text in ("bad", "worse"))
    texts = ["a", "bad", "b", "c", "worse", "d", "e"]
    made = await each(door, Embedder(picky, "m"), *texts)
    assert [one is None for one in made] == [text in ("bad", "worse") for text in texts]


async def test_a_model_that_is_down_is_not_asked_for_every_text(door):
    down = Moody()
    down.broken = OSError()
    with pytest.raises(EmbeddingFailed, match="OSError"):
        await each(door, Embedder(down, "m"), *"abcdefgh")
    refusing = Moody(refuse=lambda _: True)
    with pytest.raises(EmbeddingFailed, match="ValueError"):
        await each(door, Embedder(refusing, "m"), *(f"text {n}" for n in range(100)))
    assert len(refusing.asked) < 30


async def test_a_model_that_hangs_is_asked_once(door):
    asked: list[int] = []

    class Hanging(HashEmbeddings):
        def embed_documents(self, texts):
            asked.append(len(texts))
            time.sleep(0.5)
            return super().embed_documents(texts)

    with pytest.raises(EmbeddingFailed, match="in time"):
        await each(door, Embedder(Hanging(), "m", timeout=0.05), *"abcdefgh")
    assert asked == [8]


async def test_the_vector_of_a_query_names_its_space(door):
    embedder = Embedder(HashEmbeddings(8), "hash")
    assert embedder.space_of(await query(door, embedder, "tea")) == Space("hash", 8)


async def test_a_space_is_named_by_the_model_else_by_the_class(door):
    class Named:
        model = "minilm"

    class Cached:
        underlying_embeddings = Named()

    class Odd:
        model = object()
        model_name = "ada"

    assert [space_name(one) for one in (Named(), Cached(), Odd(), HashEmbeddings())] == [
        "minilm",
        "minilm",
        "ada",
        "HashEmbeddings",
    ]
