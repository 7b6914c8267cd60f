"""What every data set is read as: conversations, their turns, and questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

TurnRole = Literal["user", "agent"]
"""Who said something: a person, or the program that the person talks to."""
Split = Literal["tuned", "held", ""]
"""Whether settings were tuned on a conversation; "" where nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said.

    Attributes:
        id: Unique in its conversation.
        session: The sitting that it belongs to.
        text: What was said, and what was shown with it.
        time: When, with a time zone; later turns of a sitting have later times.
        role: Who said it, as a part.
        speaker: Who said it, by name.
    """

    id: str
    session: str
    text: str
    time: datetime
    role: TurnRole
    speaker: str

    @property
    def content(self) -> str:
        """The text as it is kept: with the name of who said it."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the turns that answer it.

    Attributes:
        id: Unique in its conversation.
        text: What is asked.
        gold: Ids of turns of the conversation, each once.
        category: Its kind, as the data set calls it.
        asked: When, with a time zone; None where the data set does not say.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    category: str = ""
    asked: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is searched as a whole, and the questions that are asked of it.

    Attributes:
        id: Unique in its data set.
        turns: In the order of the talk.
        questions: In the order of the data set.
        split: Whether settings were tuned on it.
    """

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    split: Split = ""


DATASETS: Final = ("locomo", "longmemeval", "jsonl")
"""Every kind of data set that can be read."""
