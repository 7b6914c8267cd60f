"""Human approval of tool calls, in the request format of langchain's human-in-the-loop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NotRequired

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from memoryware import _langchain
from memoryware._caching import LruCache
from memoryware._runner import Runner

DecisionKind = Literal["approve", "edit", "reject"]
_ALLOWED: Final = ("approve", "edit", "reject")
SOURCE: Final = "memoryware"
"""Marks our requests, so that they are not taken for those of another middleware."""


class Approve(TypedDict):
    """The call is carried out."""

    type: Literal["approve"]


class Reject(TypedDict):
    """Nothing is done; the model gets the reason."""

    type: Literal["reject"]
    message: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a person about one tool call.

    Attributes:
        kind: What to do.
        args: New arguments, with "edit".
        message: The reason, with "reject".
    """

    kind: DecisionKind
    args: Mapping[str, Any] | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A tool call that a person has to decide about.

    Attributes:
        call: The tool call.
        description: What the person is shown: the reason and the difference.
    """

    call: Mapping[str, Any]
    description: str


def ask(questions: Sequence[ApprovalRequest]) -> list[Decision]:
    """Stop the run until a person has decided about some tool calls; return a decision for each.

    The interrupt's value is a `HITLRequest` with one action for each call. It is answered by
    `Command(resume={"decisions": [...]})` with as many decisions in the same order; a single
    question also by one decision alone. An answer of another shape raises an error where the
    run is resumed, and the question stays open.

    Args:
        questions: At least one.
    """
    names = tuple(str(question.call["name"]) for question in questions)
    request = {
        "action_requests": [
            {
                "name": question.call["name"],
                "args": question.call["args"],
                "description": question.description,
            }
            for question in questions
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": list(_ALLOWED)} for name in names
        ],
        "source": SOURCE,
    }
    return _read(interrupt(request, response_schema=_schema(names)))


def decisions_in(answer: Any, names: Sequence[str]) -> list[Decision] | None:
    """Return the decisions of an answer, None if it does not fit the calls.

    Args:
        answer: What the run was resumed with.
        names: The tools of the calls that were asked about.
    """
    try:
        return _read(_adapter(tuple(names)).validate_python(answer))
    except ValidationError:
        return None


def _read(answer: Any) -> list[Decision]:
    decisions = []
    for decision in answer.get("decisions") or [answer]:
        args = decision["edited_action"]["args"] if decision["type"] == "edit" else None
        decisions.append(Decision(decision["type"], args, decision.get("message") or ""))
    return decisions


@lru_cache(maxsize=64)
def _adapter(names: tuple[str, ...]) -> TypeAdapter[Any]:
    return TypeAdapter(_schema(names))


@lru_cache(maxsize=64)
def _schema(names: tuple[str, ...]) -> Any:
    """Return the type of the answers about calls of these tools, in this order."""
    # The schema goes into the interrupt, so that a client can build its form from it. The names
    # of tools are literals in it: an answer for other calls fails where the run is resumed.
    typed: Any = TypedDict
    each: list[Any] = []
    for name in names:
        action = typed("EditedAction", {"name": Literal[name], "args": dict[str, Any]})
        edit = typed("Edit", {"type": Literal["edit"], "edited_action": action})
        each.append(Annotated[Approve | Reject | edit, Field(discriminator="type")])
    if len(each) > 1:
        return typed("Decisions", {"decisions": tuple[tuple(each)]})  # type: ignore[misc]
    decision: Any = each[0]
    single: Any = Annotated[list[decision], Field(min_length=1, max_length=1)]
    return typed("Decisions", {"decisions": single}) | decision


# Seconds between looks at an outcome. The tasks of a message are threads or tasks of an event
# loop, which have no kind of event in common.
_POLL: Final = 0.005
# Seconds to wait for the task that asks. It may be queued behind the tasks that wait.
_PATIENCE: Final = 5.0


@dataclass(frozen=True, slots=True)
class _RoundOutcome:
    """The decisions about a question; None while it waits for a person."""

    decisions: Mapping[str, Decision] | None


class ApprovalRounds:
    """One question for all calls of a message, though each call runs in a task of its own.

    The first call that needs a decision asks for all of them. The tasks of the others stop
    without a question; LangGraph runs them again when the run is resumed, and then they take
    their decisions from the answer.
    """

    # Not one interrupt for each call: with several open, langgraph takes answers only by the ids
    # of the interrupts, which clients of langchain's human-in-the-loop do not send.

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
        self, runner: Runner, run: Any, calls: Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Decision]:
        """Return the decisions about calls that another task asks about.

        Args:
            runner: Calls what may block.
            run: Identifies the run.
            calls: The calls in question; the first of them asks.

        Raises:
            GraphInterrupt: Without a question of its own, until a person has answered.
        """
        leader = calls[0]["id"]
        state, value = _langchain.resumption()
        if state == "none":
            raise GraphInterrupt(())
        if state == "value":
            answers = decisions_in(value, [call["name"] for call in calls])
            if answers is None:  # the task that asks says what is wrong with it
                raise GraphInterrupt(())
            return {call["id"]: decision for call, decision in zip(calls, answers, strict=True)}
        outcome = await self._outcome(runner, (run, leader))
        if outcome is None:
            return {}
        if outcome.decisions is None:
            raise GraphInterrupt(())
        return outcome.decisions

    async def _outcome(self, runner: Runner, key: Any) -> _RoundOutcome | None:
        end = time.monotonic() + _PATIENCE
        while (outcome := self._outcomes.get(key)) is None and time.monotonic() < end:
            await runner.sleep(_POLL)
        return outcome

    async def after(self, runner: Runner, run: Any, calls: Sequence[str], seconds: float) -> None:
        """Wait until these calls are finished, but not for ever."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if all(self._finished.get((run, call)) for call in calls):
                return
            await runner.sleep(_POLL)
