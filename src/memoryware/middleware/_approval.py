"""Asking a person about a change, in the shape of langchain's human-in-the-loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from langgraph.types import interrupt

Answered = Literal["approve", "edit", "reject", "respond"]
_ALLOWED: Final = ("approve", "edit", "reject")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has decided about one tool call.

    Attributes:
        kind: What to do.
        args: New arguments, with "edit".
        message: What the person said, with "reject" and "respond".
    """

    kind: Answered
    args: Mapping[str, Any] | None = None
    message: str = ""


def ask(call: Mapping[str, Any], description: str) -> Decision:
    """Stop the run until a person has decided about a tool call.

    The interrupt's value is a `HITLRequest` with one action; it is answered by
    `Command(resume={"decisions": [{"type": "approve"}]})`, or by one decision alone.
    An answer that is not understood is a rejection that says so.
    """
    name = call["name"]
    request = {
        "action_requests": [{"name": name, "args": call["args"], "description": description}],
        "review_configs": [{"action_name": name, "allowed_decisions": list(_ALLOWED)}],
    }
    return _read(interrupt(request), name)


def _read(answer: Any, name: str) -> Decision:
    if isinstance(answer, Mapping) and isinstance(answer.get("decisions"), list):
        answer = answer["decisions"][0] if len(answer["decisions"]) == 1 else None
    kind = answer.get("type") if isinstance(answer, Mapping) else answer
    message = str(answer.get("message") or "") if isinstance(answer, Mapping) else ""
    if kind == "edit":
        action = answer.get("edited_action") if isinstance(answer, Mapping) else None
        if isinstance(action, Mapping) and action.get("name") == name:
            args = action.get("args")
            if isinstance(args, Mapping):
                return Decision("edit", args)
        return Decision("reject", message=f"the edited action must be a call of {name}")
    if kind in ("approve", "reject", "respond"):
        return Decision(kind, message=message)
    return Decision("reject", message="the answer was not understood; nothing was changed")
