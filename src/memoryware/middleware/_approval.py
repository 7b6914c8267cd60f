"""Asking a person about a change, in the shape of langchain's human-in-the-loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NotRequired

from langgraph.types import interrupt
from pydantic import Field
from typing_extensions import TypedDict

Answered = Literal["approve", "edit", "reject"]
_ALLOWED: Final = ("approve", "edit", "reject")


class Approve(TypedDict):
    """The call is carried out."""

    type: Literal["approve"]


class Reject(TypedDict):
    """Nothing is done, and the model hears why."""

    type: Literal["reject"]
    message: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has decided about one tool call.

    Attributes:
        kind: What to do.
        args: New arguments, with "edit".
        message: What the person said, with "reject".
    """

    kind: Answered
    args: Mapping[str, Any] | None = None
    message: str = ""


def ask(call: Mapping[str, Any], description: str) -> Decision:
    """Stop the run until a person has decided about a tool call.

    The interrupt's value is a `HITLRequest` with one action; it is answered by
    `Command(resume={"decisions": [{"type": "approve"}]})`, or by one decision alone. An
    answer of another shape raises an error where the run is resumed, and the question stays
    open.
    """
    name = call["name"]
    request = {
        "action_requests": [{"name": name, "args": call["args"], "description": description}],
        "review_configs": [{"action_name": name, "allowed_decisions": list(_ALLOWED)}],
    }
    answer = interrupt(request, response_schema=_shape(name))
    (one,) = answer.get("decisions") or [answer]
    args = one["edited_action"]["args"] if one["type"] == "edit" else None
    return Decision(one["type"], args, one.get("message") or "")


@lru_cache(maxsize=64)
def _shape(tool: str) -> Any:
    """Return the type of the answers about a call of a tool."""
    typed: Any = TypedDict  # made for this tool, so not as classes
    action = typed("EditedAction", {"name": Literal[tool], "args": dict[str, Any]})
    edit = typed("Edit", {"type": Literal["edit"], "edited_action": action})
    decision: Any = Annotated[Approve | Reject | edit, Field(discriminator="type")]
    one = Annotated[list[decision], Field(min_length=1, max_length=1)]
    return typed("Decisions", {"decisions": one}) | decision
