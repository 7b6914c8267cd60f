"""Adapters for other models: embedders with their spaces, embedders by name, and rerankers."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Protocol, cast, runtime_checkable

from memoryware._caching import clearable_cache
from memoryware._deadline import call_within
from memoryware._runner import Runner, in_thread
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.tiers.checking import shown
from memoryware.tiers.provenance import stated_speaker
from memoryware.tiers.stores.protocol import Space, Vector
from memoryware.tiers.text.terms import named_text

logger = logging.getLogger(__name__)

PROBE: Final = "memory"
"""A text that every model can embed: whether it answers, and how long its vectors are."""
REMEMBERED: Final = 1024
"""Texts whose vectors one embedder remembers."""
_IN_A_ROW: Final = 8
"""Texts after which a model that refused each of them is taken to be broken."""


@dataclass
class _VectorCache:
    """Vectors of texts that were embedded lately, and texts that no vector can be made of."""

    size: int
    vectors: OrderedDict[bytes, array[float]] = field(default_factory=OrderedDict)
    refused: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_behind: bool = True
    """Whether memories may be without a vector: at the start, and after each failure."""
    has_warned: bool = False
    """Whether the log says already that the model does not know the script of some texts."""

    def get(self, texts: Iterable[str]) -> list[array[float] | None]:
        """Return the vector of each text, None of one that is not known."""
        cached = []
        vectors = self.vectors
        with self.lock:
            for text in texts:
                key = _key(text)
                vector = vectors.get(key)
                if vector is not None:
                    vectors.move_to_end(key)
                cached.append(vector)
        return cached

    def put(self, texts: Sequence[str], vectors: Sequence[array[float]]) -> None:
        with self.lock:
            self.vectors.update(zip(map(_key, texts), vectors, strict=True))
            while len(self.vectors) > self.size:
                self.vectors.popitem(last=False)

    def refuse(self, text: str) -> None:
        with self.lock:
            self.refused[_key(text)] = None
            while len(self.refused) > self.size:
                self.refused.popitem(last=False)

    def has_refused(self, text: str) -> bool:
        with self.lock:
            return _key(text) in self.refused

    def clear(self) -> None:
        with self.lock:
            self.vectors.clear()


# A digest, not the text: a text that somebody forgets must not stay here.
@clearable_cache(REMEMBERED)
def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Embedder:
    """A LangChain `Embeddings` object and the name of its space.

    Attributes:
        embeddings: What makes vectors.
        name: The name of their space.
        batch: Texts in one call.
        timeout: Seconds that a call may take.
        cache: Vectors of texts that were embedded lately, so that the same text is not
            embedded again and again.
    """

    embeddings: Any
    name: str
    batch: int = 128
    timeout: float = 60.0
    cache: _VectorCache = field(
        default_factory=lambda: _VectorCache(REMEMBERED), compare=False, repr=False
    )

    @property
    def knows_scripts(self) -> bool:
        """Whether the model can tell which texts it can read."""
        return _support_of(self.embeddings) is not None

    def supports(self, text: str) -> bool:
        """Whether the model knows the script of a text, if it can tell.

        A vector of a text that the model cannot read has no meaning, but would be ranked: with
        the English model, Chinese and Russian are found worse than by words alone.

        Args:
            text: A document or a query.

        Returns:
            What the method `supports` of the model answers; True if it has none.
        """
        ask = _support_of(self.embeddings)
        return ask is None or bool(ask(text))

    def text_of(self, content: str, metadata: Mapping[str, Any]) -> str:
        """Return what is embedded of a text: `named_text`, if the model can read the name.

        Args:
            content: The text.
            metadata: Its metadata.

        Returns:
            The text to embed.
        """
        text = named_text(content, stated_speaker(metadata))
        if len(text) == len(content) or not self.knows_scripts:
            return text
        # A name must not decide whether the model knows the script of a short text.
        name = text[: len(text) - len(content)]
        return text if self.supports(name) and self.supports(content) else content

    async def documents(self, runner: Runner, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            texts: The texts.

        Returns:
            The vectors, in the order of the texts.

        Raises:
            EmbeddingFailed: If the model fails, takes too long, miscounts, or has no vector for one
                of them.
        """
        vectors = [vector for vector in await self.embed(runner, texts) if vector is not None]
        if len(vectors) < len(texts):
            raise self._without_direction()
        return vectors

    async def embed(self, runner: Runner, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector for each text, None where it has no meaning.

        That is a text in a script that the model does not know, and a vector of zeros: its cosine
        to anything would be 0, so it would say "unrelated" of a text about which the model has
        said nothing.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            texts: The texts.

        Returns:
            The vectors, in the order of the texts.

        Raises:
            EmbeddingFailed: If the model fails, takes too long or miscounts.
        """
        return [tuple(vector) or None for vector in await self._embedded(runner, texts)]

    async def _embedded(self, runner: Runner, texts: Sequence[str]) -> list[array[float]]:
        """Return a vector for each text, empty where it has no meaning."""
        cached = self.cache.get(texts)
        pairs = zip(texts, cached, strict=True)
        vectors_by_text = {text: vector for text, vector in pairs if vector is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in vectors_by_text]
        missing = self._supported(missing, vectors_by_text)
        for start in range(0, len(missing), self.batch):
            some = missing[start : start + self.batch]
            computed = self._checked(
                await self._ask_model(runner, "embed_documents", some), len(some)
            )
            vectors = [vector if any(vector) else array("d") for vector in computed]
            self.cache.put(some, vectors)
            vectors_by_text.update(zip(some, vectors, strict=True))
        self._check_lengths({len(vector) for vector in vectors_by_text.values() if vector})
        return [vectors_by_text[text] for text in texts]

    def _supported(self, texts: list[str], vectors_by_text: dict[str, array[float]]) -> list[str]:
        """Return the texts that the model is asked for; the others get an empty vector."""
        ask = _support_of(self.embeddings)
        if ask is None:
            return texts
        supported: list[str] = []
        unsupported: list[str] = []
        for text in texts:
            (supported if ask(text) else unsupported).append(text)
        if unsupported:
            self._warn_once()
            empty = [array("d")] * len(unsupported)
            self.cache.put(unsupported, empty)
            vectors_by_text.update(zip(unsupported, empty, strict=True))
        return supported

    def _warn_once(self) -> None:
        if not self.cache.has_warned:
            self.cache.has_warned = True
            logger.warning(
                "the embedding model %s does not know the script of some texts; they are found by"
                ' their words. embeddings="local:multilingual" knows more languages',
                self.name,
            )

    def describe_unsupported(self) -> str:
        """Return the note for a query in a script that the model does not know."""
        return f"the embedding model {self.name} does not know the script of the query"

    async def query(self, runner: Runner, text: str) -> Vector:
        """Return the vector of a query.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            text: The query.

        Returns:
            Its vector.

        Raises:
            EmbeddingFailed: As for `documents`.
        """
        (vector,) = self._checked([await self._ask_model(runner, "embed_query", text)], 1)
        if not any(vector):
            raise self._without_direction()
        return vector

    async def each(self, runner: Runner, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector for each text, None for one that the model cannot embed.

        What fails together is halved until what fails stands alone, so that one text that the model
        refuses does not keep the others from getting theirs.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            texts: The texts.

        Returns:
            The vectors, in the order of the texts.

        Raises:
            EmbeddingFailed: If the model does not answer in time, or fails whatever the text.
        """
        vectors = await self.packed(runner, texts)
        return [None if vector is None else tuple(vector) for vector in vectors]

    async def packed(self, runner: Runner, texts: Sequence[str]) -> list[array[float] | None]:
        """Return the vectors that `each` returns, as arrays, which NumPy reads without a copy.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            texts: The texts.

        Returns:
            The vectors, in the order of the texts; None for a text that the model cannot embed.

        Raises:
            EmbeddingFailed: As for `each`.
        """
        vectors: list[array[float] | None] = self.cache.get(texts)
        missing = [text for text, vector in zip(texts, vectors, strict=True) if vector is None]
        if missing:
            by_text = await self._embedded_apart(runner, missing)
            new = iter([by_text[text] for text in missing])
            vectors = [next(new) if vector is None else vector for vector in vectors]
        if len({len(vector) for vector in vectors if vector}) > 1:
            # The model makes other vectors now than those that are remembered.
            self.cache.clear()
            by_text = await self._embedded_apart(runner, texts)
            vectors = [by_text[text] for text in texts]
        return [vector or None for vector in vectors]

    async def _embedded_apart(
        self, runner: Runner, texts: Sequence[str]
    ) -> dict[str, array[float]]:
        """Return a vector for each text, empty for one that the model cannot embed."""
        vectors_by_text: dict[str, array[float]] = {}
        waiting = [list(dict.fromkeys(texts))]
        while waiting:
            some = waiting.pop()
            try:
                vectors = await self._embedded(runner, some)
            except EmbeddingFailed as failed:
                late = isinstance(failed.__cause__, TimeoutError)
                if late or (
                    len(vectors_by_text) >= _IN_A_ROW and not any(vectors_by_text.values())
                ):
                    raise
                if not vectors_by_text:
                    await self.query(runner, PROBE)
                if len(some) > 1:
                    waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
                    continue
                vectors = [array("d")]
            vectors_by_text.update(zip(some, vectors, strict=True))
            for text, vector in zip(some, vectors, strict=True):
                # A refused text is not tried again with each promotion.
                if not vector:
                    self.cache.refuse(text)
        return vectors_by_text

    def _without_direction(self) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"The embedding model {self.name} returned a vector of zeros, which has no direction"
        )

    def space_of(self, vector: Vector) -> Space:
        """Return the embedding space of a vector that this embedder made.

        Args:
            vector: The vector.

        Returns:
            The name of the space with the length of the vector.
        """
        return Space(self.name, len(vector))

    async def _ask_model(self, runner: Runner, method: str, argument: Any) -> Any:
        try:
            return await runner.call(
                lambda: call_within(self.timeout, getattr(self.embeddings, method), argument),
                lambda: asyncio.wait_for(
                    getattr(self.embeddings, f"a{method}")(argument), self.timeout
                ),
            )
        except TimeoutError as late:
            raise EmbeddingFailed(
                f"The embedding model {self.name} did not answer in time"
                f" (embed_timeout={self.timeout} seconds)"
            ) from late
        except EmbeddingFailed:
            raise  # of a model of ours, and it says what to do
        except Exception as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} failed: {type(error).__name__}"
            ) from error

    def _checked(self, returned: Any, count: int) -> list[array[float]]:
        """Return vectors that can be used: as many as texts, of finite numbers.

        An array takes a third of the room of a tuple, and NumPy reads it without a copy.
        """
        try:
            vectors = [array("d", vector) for vector in returned]
        except Exception as error:
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned no list of vectors"
            ) from error
        if len(vectors) != count:
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned {len(vectors)} vectors for {count} texts"
            )
        if not all(vector and _is_finite(vector) for vector in vectors):
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned an empty vector or one with no number"
            )
        self._check_lengths({len(vector) for vector in vectors})
        return vectors

    def _check_lengths(self, lengths: set[int]) -> None:
        if len(lengths) > 1:
            self.cache.clear()  # the model may make others now than those that are remembered
            raise EmbeddingFailed(
                f"The embedding model {self.name} returned vectors of different lengths:"
                f" {sorted(lengths)}"
            )


def _is_finite(vector: Sequence[float]) -> bool:
    # One number that is not finite makes the sum so; large ones may as well, and are looked at.
    return math.isfinite(sum(vector)) or all(map(math.isfinite, vector))


def _support_of(embeddings: Any) -> Callable[[str], object] | None:
    """Return the method `supports` of a model, perhaps of the one inside a cache."""
    method: Any = getattr(embeddings, "supports", None)
    if callable(method):
        return cast("Callable[[str], object]", method)
    inner = getattr(embeddings, "underlying_embeddings", None)
    return None if inner is None else _support_of(inner)


def space_name(embeddings: Any) -> str:
    """Return the name of the space of an `Embeddings` object: its model, else its class.

    Args:
        embeddings: A LangChain `Embeddings` object, perhaps a cache around another one.

    Returns:
        The name.
    """
    for attribute in ("model", "model_name", "model_id", "deployment"):
        name = getattr(embeddings, attribute, None)
        if isinstance(name, str) and name:
            return name
    inner = getattr(embeddings, "underlying_embeddings", None)  # a cache around others
    return space_name(inner) if inner is not None else type(embeddings).__name__


# Embedders by name.


LOCAL: Final = "local"
"""The provider of the models that run in this process."""
FORMS = '"local", "local:multilingual", "provider:model" or a LangChain Embeddings object'
"""What may be given as `embeddings=`."""


def named_embeddings(embeddings: Any) -> Any:
    """Return the embedding model that a text names; any other value is returned as it is.

    Args:
        embeddings: "local", "local:multilingual", "provider:model", or a LangChain `Embeddings`
            object.

    Returns:
        The model.

    Raises:
        SettingError: If it does not name a model, or its package is not installed.
    """
    if not isinstance(embeddings, str):
        return embeddings
    provider, _, model = embeddings.partition(":")
    if embeddings == LOCAL or (provider == LOCAL and model.strip()):
        from memoryware.local import LocalEmbeddings

        try:
            return LocalEmbeddings(model=model or "english")
        except SettingError as error:
            raise SettingError(f"embeddings={shown(embeddings)}: {error}") from error
    if not provider.strip() or not model.strip():
        raise SettingError(f"embeddings={shown(embeddings)}: must be {FORMS}")
    return _of_provider(embeddings)


async def anamed_embeddings(embeddings: Any) -> Any:
    """Return the embedding model that a text names; any other value is returned as it is.

    It imports packages, so it runs in a thread.

    Args:
        embeddings: "local", "local:multilingual", "provider:model", or a LangChain `Embeddings`
            object.

    Returns:
        The model.

    Raises:
        SettingError: If it does not name a model, or its package is not installed.
    """
    if not isinstance(embeddings, str):
        return embeddings
    return await in_thread(named_embeddings, embeddings)


def _of_provider(name: str) -> Any:
    from langchain.embeddings import init_embeddings

    try:
        return init_embeddings(name)
    except ImportError as error:  # it says which package to install
        raise SettingError(f"embeddings={shown(name)}: {error}") from error
    except Exception as error:
        # a plain ValueError is of langchain; what a provider says may show a key
        is_ours = type(error) is ValueError
        reason = (
            str(error) if is_ours else f"{type(error).__name__}, which is the cause of this error"
        )
        raise SettingError(f"embeddings={shown(name)}: cannot be made: {reason}") from error


# Rerankers.


@runtime_checkable
class Reranker(Protocol):
    """Scores how well texts answer a query, reading query and text together.

    One that waits for something has `arerank` as well, a coroutine with the same arguments;
    without it `rerank` is called in a thread by async runs.
    """

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score for each text, in their order; higher is better, on any scale.

        Args:
            query: The query.
            texts: The texts that compete.

        Returns:
            The scores.
        """
        ...


class RerankFailed(Exception):
    """A reranker failed; recall adds a note and keeps its own order."""


@dataclass(frozen=True, slots=True)
class Rescorer:
    """A reranker, or a cross-encoder of LangChain, and how long it may take.

    Attributes:
        reranker: What gives the scores.
        timeout: Seconds that a call may take.
    """

    reranker: Any
    timeout: float = 30.0

    async def scores(self, runner: Runner, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in their order.

        Args:
            runner: Runs calls of the model, blocking or on the event loop.
            query: The query.
            texts: The texts that compete.

        Returns:
            The scores; higher is better.

        Raises:
            RerankFailed: If the model fails, takes too long, miscounts or gives no numbers.
        """
        name = type(self.reranker).__name__
        try:
            returned = await runner.call(self._in_time, self._ain_time, query, list(texts))
        except TimeoutError as late:
            raise RerankFailed(
                f"The reranker {name} did not answer in time"
                f" (rerank_timeout={self.timeout} seconds)"
            ) from late
        except Exception as error:
            raise RerankFailed(f"The reranker {name} failed: {type(error).__name__}") from error
        if len(returned) != len(texts):
            raise RerankFailed(
                f"The reranker {name} returned {len(returned)} scores for {len(texts)} texts"
            )
        try:
            scores = [float(score) for score in returned]
        except (TypeError, ValueError, OverflowError) as error:
            raise RerankFailed(
                f"The reranker {name} returned a score that is not a number"
            ) from error
        if not all(map(math.isfinite, scores)):
            raise RerankFailed(f"The reranker {name} returned a score that is not a number")
        return scores

    def _in_time(self, query: str, texts: list[str]) -> list[Any]:
        return call_within(self.timeout, self._ask_model, query, texts)

    async def _ain_time(self, query: str, texts: list[str]) -> list[Any]:
        if callable(getattr(self.reranker, "arerank", None)):
            waiting = self.reranker.arerank(query, texts)
            return list(await asyncio.wait_for(waiting, self.timeout))
        # waits in a thread of the pool for no longer than the timeout, so that a model that
        # hangs does not keep it
        return await in_thread(self._in_time, query, texts)

    def _ask_model(self, query: str, texts: list[str]) -> list[Any]:
        try:
            if callable(getattr(self.reranker, "rerank", None)):
                return list(self.reranker.rerank(query, texts))
            return list(self.reranker.score([(query, text) for text in texts]))
        except StopIteration as ended:
            raise RuntimeError from ended  # no future takes it, and who waits would wait for ever
