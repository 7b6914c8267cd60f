"""One question for all calls of a message, though each call runs in a task of its own.

The first call that needs a decision asks for all of them. The tasks of the others stop without
a question; LangGraph runs them again when the run is resumed, and they take their decisions
from the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langgraph.errors import GraphInterrupt

from memoryware import _langchain
from memoryware._twins import Via
from memoryware.middleware._approval import Decision, decisions_in
from memoryware.middleware._bounded import LruCache

_POLL: Final = 0.005
_PATIENCE: Final = 5.0
"""Seconds to wait for the task that asks. It may be queued behind the tasks that wait."""


@dataclass(frozen=True, slots=True)
class _RoundOutcome:
    """What became of a question; None: it waits for a person."""

    decisions: Mapping[str, Decision] | None


async def _asleep(seconds: float, /) -> None:
    await asyncio.sleep(seconds)


class ApprovalRounds:
    """The questions of the messages that are being worked on in this process."""

    def __init__(self, size: int) -> None:
        self._outcomes: LruCache[Any, _RoundOutcome] = LruCache(size)
        self._finished: LruCache[Any, bool] = LruCache(4 * size)

    def publish(self, run: Any, leader: str, decisions: Mapping[str, Decision] | None) -> None:
        """Let the other tasks of a run know the decisions, or with None that a person is asked."""
        self._outcomes.put((run, leader), _RoundOutcome(decisions))

    def finish(self, run: Any, call: str) -> None:
        """Note that a call has done what it does in this run."""
        self._finished.put((run, call), True)  # noqa: FBT003 - a value

    async def decisions(
        self, via: Via, run: Any, asked: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Decision]:
        """Return the decisions about calls that another task asks about.

        Args:
            via: The blocking or the native half.
            run: Identifies the run.
            asked: The calls in question; the first of them asks.

        Raises:
            GraphInterrupt: Without a question of its own, as long as nobody has answered.
        """
        leader = asked[0]["id"]
        state, value = _langchain.resumption()
        if state == "none":
            raise GraphInterrupt(())
        if state == "value":
            answers = decisions_in(value, [one["name"] for one in asked])
            if answers is None:  # the task that asks says what is wrong with it
                raise GraphInterrupt(())
            return {one["id"]: decision for one, decision in zip(asked, answers, strict=True)}
        outcome = await self._outcome(via, (run, leader))
        if outcome is None:
            return {}
        if outcome.decisions is None:
            raise GraphInterrupt(())
        return outcome.decisions

    async def _outcome(self, via: Via, key: Any) -> _RoundOutcome | None:
        end = time.monotonic() + _PATIENCE
        while (outcome := self._outcomes.get(key)) is None and time.monotonic() < end:
            await via(time.sleep, _asleep, _POLL)
        return outcome

    async def after(self, via: Via, run: Any, calls: Sequence[str], seconds: float) -> None:
        """Wait until these calls are finished, but not for ever."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if all(self._finished.get((run, call)) for call in calls):
                return
            await via(time.sleep, _asleep, _POLL)
