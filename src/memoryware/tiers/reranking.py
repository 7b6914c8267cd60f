"""A second look at what was found, by a model that reads the query and a text together."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from memoryware._deadline import call_within
from memoryware._runner import Runner, in_thread


@runtime_checkable
class Reranker(Protocol):
    """Says how well texts answer a query, after it has read both together.

    One that waits for something has `arerank` as well, a coroutine with the same arguments;
    without it `rerank` is called in a thread by async runs.
    """

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score for each text, in their order; higher is better, on any scale."""
        ...


class RerankFailed(Exception):
    """Why a reranker was of no help; recall notes it and goes on without."""


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

        Raises:
            RerankFailed: If the model fails, takes too long, miscounts or gives no numbers.
        """
        name = type(self.reranker).__name__
        try:
            made = await runner.call(self._in_time, self._ain_time, query, list(texts))
        except TimeoutError as late:
            raise RerankFailed(
                f"The reranker {name} did not answer in time"
                f" (rerank_timeout={self.timeout} seconds)"
            ) from late
        except Exception as error:
            raise RerankFailed(f"The reranker {name} failed: {type(error).__name__}") from error
        if len(made) != len(texts):
            raise RerankFailed(
                f"The reranker {name} returned {len(made)} scores for {len(texts)} texts"
            )
        try:
            scores = [float(one) for one in made]
        except (TypeError, ValueError, OverflowError) as error:
            raise RerankFailed(f"The reranker {name} returned a score that is no number") from error
        if not all(map(math.isfinite, scores)):
            raise RerankFailed(f"The reranker {name} returned a score that is no number")
        return scores

    def _in_time(self, query: str, texts: list[str]) -> list[Any]:
        return call_within(self.timeout, self._asked, query, texts)

    async def _ain_time(self, query: str, texts: list[str]) -> list[Any]:
        if callable(getattr(self.reranker, "arerank", None)):
            asked = self.reranker.arerank(query, texts)
            return list(await asyncio.wait_for(asked, self.timeout))
        # waits in a thread of the pool for no longer than the timeout, so that a model that
        # hangs does not keep it
        return await in_thread(self._in_time, query, texts)

    def _asked(self, query: str, texts: list[str]) -> list[Any]:
        try:
            if callable(getattr(self.reranker, "rerank", None)):
                return list(self.reranker.rerank(query, texts))
            return list(self.reranker.score([(query, text) for text in texts]))
        except StopIteration as ended:
            raise RuntimeError from ended  # no future takes it, and who waits would wait for ever
