"""The vocabulary of the pages: labels of trust and of actions.

A record has three facts that are independent of each other, and no word is used for two of them:
its state (what was decided), its trust (where it is from), and the verdict of a fact check.
"""

from __future__ import annotations

from typing import Final

from memoryware.tiers import Trust

TRUST: Final = {
    Trust.UNTRUSTED: "from outside",
    Trust.UNVERIFIED: "said by an agent",
    Trust.USER: "said by a user",
    Trust.PERSON: "written by a person",
}
"""Labels of trust: the least trusted source of a text, never a judgement about its truth."""
_ACTIONS: Final = {"checked": "fact check"}
"""Labels of actions that are not the name of the state to which they lead."""


def state_label(code: str) -> str:
    """Return the label of a state, or of an action.

    States have the names of the API, as on the command line.

    Args:
        code: The code of the API, such as "promoted".

    Returns:
        The label.
    """
    return _ACTIONS.get(code, code)
