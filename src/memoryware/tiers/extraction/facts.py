"""Values of the extraction: turns of a conversation, the facts in them, limits and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from memoryware.tiers import checking
from memoryware.tiers.model import FACT, Entry

FactKind = Literal["preference", "fact", "decision", "instruction", "event"]
"""The kind of an extracted fact."""
FactAction = Literal["add", "update", "supersede", "delete", "nothing"]
"""What an extracted fact asks for, compared with what memory has: a new text; a text that corrects
one; a text that ends one, since the world has changed; the removal of one; nothing at all."""
TurnSpeaker = Literal["user", "assistant", "outside"]
"""Who speaks in a turn. "outside" is a tool, or an answer that was made from outside sources."""
KINDS: Final[tuple[FactKind, ...]] = get_args(FactKind)
ACTIONS: Final[tuple[FactAction, ...]] = get_args(FactAction)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTurn:
    """One message of a conversation, as an extractor reads it.

    Attributes:
        id: The id of the message.
        speaker: Who speaks.
        text: The text, without secrets.
        moment: When it was said.
        entry: The entry of quarantine that holds the message, if it was recorded.
        reported_by: The name of the tool or source, for a turn from outside.
    """

    id: str
    speaker: TurnSpeaker
    text: str
    moment: datetime | None = None
    entry: Entry | None = None
    reported_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """An atomic fact that a conversation states, as a proposal for memory.

    Attributes:
        text: The fact in one sentence.
        kind: Its kind.
        subject: What it is about, such as "deploy day"; a group has one current text of a
            subject. "" if it has none.
        action: What it asks for.
        target: The id of the memory that it corrects, ends or removes; "" for none.
        confidence: From 0 to 1.
        message_ids: The messages that it comes from.
        evidence: The words of the user that state it.
        valid_from: Since when it holds, if that was said.
        valid_to: Until when it holds, if that was said.
        verbatim: Whether the text consists of words of the user only; otherwise a model wrote it.

    Raises:
        SettingError: For an unknown kind or action, or a confidence that is not from 0 to 1.
    """

    text: str
    kind: FactKind = "fact"
    subject: str = ""
    action: FactAction = "add"
    target: str = ""
    confidence: float = 0.8
    message_ids: tuple[str, ...] = ()
    evidence: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    verbatim: bool = True

    def __post_init__(self) -> None:
        checking.choice("kind", self.kind, KINDS)
        checking.choice("action", self.action, ACTIONS)
        checking.number("confidence", self.confidence, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionUsage:
    """What an extraction costs, or has cost.

    Attributes:
        calls: Calls of the model.
        input_tokens: Tokens that were sent; an estimate if the model reports none.
        output_tokens: Tokens that came back.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: ExtractionUsage) -> ExtractionUsage:
        """Return the sum of both.

        Args:
            other: The other usage.

        Returns:
            The sum.
        """
        return ExtractionUsage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The result of one extraction.

    Attributes:
        facts: The proposals.
        method: "model" or "rules"; "rules" also if the model could not be used.
        usage: What the model has cost.
        problem: Why the model was not used, or what was wrong with its answers; "" for nothing.
        entry_ids: Ids of the entries of quarantine that hold the proposals; () if nothing was
            stored.
        turns: How many messages were read.
    """

    facts: tuple[ExtractedFact, ...] = ()
    method: Literal["model", "rules"] = "rules"
    usage: ExtractionUsage = field(default_factory=ExtractionUsage)
    problem: str = ""
    entry_ids: tuple[str, ...] = ()
    turns: int = 0


def fact_metadata(fact: ExtractedFact) -> dict[str, Any]:
    """Return the metadata of an entry that holds a fact.

    Args:
        fact: The fact.

    Returns:
        The metadata; `confidence` stands beside the mapping as well, where filters look for it.
    """
    details: dict[str, Any] = {
        "kind": fact.kind,
        "action": fact.action,
        "message_ids": list(fact.message_ids),
    }
    optional: Mapping[str, Any] = {
        "subject": fact.subject,
        "target": fact.target,
        "evidence": fact.evidence,
        "valid_from": fact.valid_from and fact.valid_from.isoformat(),
        "valid_to": fact.valid_to and fact.valid_to.isoformat(),
    }
    details |= {name: value for name, value in optional.items() if value}
    return {FACT: details, "confidence": fact.confidence}
