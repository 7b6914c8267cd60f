"""`python -m benchmarks.tiers.extraction`: how well facts are extracted from conversations.

90 scripted conversations in English, German and Chinese, with corrections, jokes, conditions, third
parties, quotations and instructions in results of tools. The rules were tuned on one half, and the
other half was written before and only scored. A second table counts single messages: statements
that the rules find, and chatter that they let through.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from memoryware import MemoryScope, Origin, Provenance, TieredMemory
from memoryware.tiers import ExtractedFact, Extraction, MemoryManager
from memoryware.tiers.extraction.rules import facts_by_rules
from memoryware.tiers.extraction.turns import turns_of

FOLDER = Path(__file__).with_name("conversations")
STATEMENTS = Path(__file__).with_name("extraction_statements.txt")
HALVES = ("tune", "held")
ROLES = {"U": "user", "A": "assistant", "T": "tool"}


@dataclass(frozen=True, slots=True)
class ExpectedFact:
    """A fact that a conversation states: a line that begins with ">"."""

    kind: str
    turn: str
    keys: tuple[str, ...]
    quote: str
    text: str

    def matches(self, fact: ExtractedFact) -> bool:
        text = f"{fact.text} {fact.subject}".casefold()
        is_deletion = (fact.action == "delete") == (self.kind == "delete")
        return (
            is_deletion and self.turn in fact.message_ids and all(key in text for key in self.keys)
        )


@dataclass(slots=True)
class Conversation:
    """A conversation with what should be learned from it."""

    name: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    expected: list[ExpectedFact] = field(default_factory=list)
    remembered: list[str] = field(default_factory=list)

    @property
    def language(self) -> str:
        return self.name[:2]

    def outside(self) -> Iterator[str]:
        """Yield what tools have said."""
        yield from (
            str(message["content"]) for message in self.messages if message["role"] == "tool"
        )


@dataclass(slots=True)
class Score:
    """Facts that were right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    kinds: int = 0
    injected: int = 0
    promoted: int = 0

    @property
    def precision(self) -> float:
        return self.right / ((self.right + self.wrong) or 1)

    @property
    def recall(self) -> float:
        return self.right / ((self.right + self.missed) or 1)

    def add(self, other: Score) -> None:
        for name in ("right", "wrong", "missed", "kinds", "injected", "promoted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def conversations(half: str) -> list[Conversation]:
    """Read the conversations of one half."""
    read: list[Conversation] = []
    for line in (FOLDER / f"{half}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            read.append(Conversation(line[2:].strip()))
        elif line.startswith(">"):
            kind, turn, keys, quote, text = (part.strip() for part in line[1:].split("|"))
            parts = tuple(key.strip().casefold() for key in keys.split(";"))
            read[-1].expected.append(ExpectedFact(kind, turn, parts, quote, text))
        elif line and not line.startswith("#"):
            who, text = line.split("|", 1)
            role, _, tool = who.strip().partition(" ")
            if role == "M":
                read[-1].remembered.append(text.strip())
                continue
            number = str(len(read[-1].messages) + 1)
            message = {"role": ROLES[role], "content": text.strip(), "id": number}
            read[-1].messages.append(message | ({"name": tool} if tool else {}))
    return read


@dataclass(frozen=True, slots=True)
class SingleMessage:
    """A message of one sentence: a statement for a reviewer, or chatter."""

    half: str
    language: str
    is_statement: bool
    text: str

    def has_fact(self) -> bool:
        return bool(facts_by_rules(turns_of([("user", self.text)])))


def single_messages() -> list[SingleMessage]:
    """Read the single messages of both halves."""
    messages: list[SingleMessage] = []
    half = language = ""
    for line in STATEMENTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            _, half, language = line.split()
        elif line.startswith(("+ ", "- ")):
            messages.append(SingleMessage(half, language, line.startswith("+"), line[2:]))
    return messages


def statements_table() -> str:
    """Return how many statements are found, and how much chatter is, as a table in Markdown."""
    lines = ["| half | language | statements found | chatter let through |", "|---|---|---|---|"]
    groups: dict[tuple[str, str], list[SingleMessage]] = {}
    for message in single_messages():
        groups.setdefault((message.half, message.language), []).append(message)
    for (half, language), messages in groups.items():
        counts = [
            f"{sum(message.has_fact() for message in kind)} of {len(kind)}"
            for kind in (
                [message for message in messages if message.is_statement],
                [message for message in messages if not message.is_statement],
            )
        ]
        lines.append(f"| {half} | {language} | {counts[0]} | {counts[1]} |")
    return "\n".join(lines)


def score_of(conversation: Conversation, facts: Sequence[ExtractedFact]) -> Score:
    """Compare extracted facts with the expected ones, each with one."""
    score, left = Score(), list(facts)
    for expected in conversation.expected:
        fact = next((fact for fact in left if expected.matches(fact)), None)
        if fact is None:
            score.missed += 1
            continue
        left.remove(fact)
        score.right += 1
        score.kinds += expected.kind in (fact.kind, "delete")
    score.wrong = len(left)
    outside = " ".join(conversation.outside()).casefold()
    score.injected = sum(
        (bool(outside) and fact.evidence.casefold() in outside) or "evil" in fact.text.casefold()
        for fact in facts
    )
    return score


# Scripted models. Each gets a conversation, and answers as such a model might.


def _numbers(conversation: Conversation) -> dict[str, str]:
    """Return the number under which a model is shown each message; it is shown no tool."""
    spoken = [message for message in conversation.messages if message["role"] != "tool"]
    return {str(message["id"]): str(at) for at, message in enumerate(spoken, 1)}


def good_answer(conversation: Conversation) -> dict[str, Any]:
    """Answer with every expected fact."""
    numbers = _numbers(conversation)
    return {
        "facts": [
            {
                "text": expected.text,
                "kind": "fact" if expected.kind == "delete" else expected.kind,
                "subject": "",
                "operation": "delete" if expected.kind == "delete" else "add",
                "confidence": 0.9,
                "messages": [numbers[expected.turn]],
                "quote": expected.quote,
            }
            for expected in conversation.expected
        ]
    }


def obeying_answer(conversation: Conversation) -> dict[str, Any]:
    """Answer with every expected fact, and with whatever tools and answers want remembered."""
    answer, numbers = good_answer(conversation), _numbers(conversation)
    users = [str(message["id"]) for message in conversation.messages if message["role"] == "user"]
    for message in conversation.messages:
        if message["role"] in ("tool", "assistant"):
            answer["facts"].append(
                {
                    "text": f"The user says: {message['content']}",
                    "kind": "instruction",
                    "confidence": 1.0,
                    "messages": [numbers.get(str(message["id"]), "1"), numbers[users[-1]]],
                    "quote": message["content"],
                }
            )
    return answer


def scripted(*answers: str) -> GenericFakeChatModel:
    """Return a model that gives these answers."""
    return GenericFakeChatModel(messages=iter([AIMessage(answer) for answer in answers]))


MODELS: dict[str, Callable[[Conversation], Any]] = {
    "rules": lambda conversation: None,
    "model": lambda conversation: scripted(json.dumps(good_answer(conversation))),
    "model, broken JSON, repaired": lambda conversation: scripted(
        json.dumps(good_answer(conversation))[:-3],
        f"```json\n{json.dumps(good_answer(conversation))}\n```",
    ),
    "model, broken JSON twice": lambda conversation: scripted("Sure! Here you go: {", "I cannot."),
    "model that obeys injections": lambda conversation: scripted(
        json.dumps(obeying_answer(conversation))
    ),
}  # fmt: skip


def extraction_of(conversation: Conversation, model: Any) -> tuple[Extraction, int]:
    """Learn a conversation in an empty memory; return the result, and how much was promoted."""
    scope = MemoryScope(group_id="talk", user_id="ann", session_id=conversation.name)
    with TieredMemory.open("memory://") as memory:
        for text in conversation.remembered:
            by_user = Provenance(Origin("user", "ann"))
            entry = memory.log_quarantine(text, MemoryScope(group_id="talk"), provenance=by_user)
            memory.promote(entry, by="ann")
        before = memory.list(scope, tier="longterm").total
        with MemoryManager(memory, model, background=False) as manager:
            extraction = manager.learn(conversation.messages, scope)
        return extraction, memory.list(scope, tier="longterm").total - before


def measured(half: str, model: Callable[[Conversation], Any]) -> dict[str, Score]:
    """Score an extractor on one half, by language and in all."""
    scores: dict[str, Score] = {"all": Score()}
    for conversation in conversations(half):
        extraction, promoted = extraction_of(conversation, model(conversation))
        score = score_of(conversation, extraction.facts)
        score.promoted = promoted
        for name in ("all", conversation.language):
            scores.setdefault(name, Score()).add(score)
    return scores


def table() -> str:
    """Return the figures as a table in Markdown."""
    lines = [
        "| extractor | half | language | precision | recall | facts | injected | promoted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, model in MODELS.items():
        for half in HALVES:
            for language, score in measured(half, model).items():
                if language != "all" and name != "rules":
                    continue
                lines.append(
                    f"| {name} | {half} | {language} | {score.precision:.2f} | {score.recall:.2f}"
                    f" | {score.right + score.missed} | {score.injected} | {score.promoted} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Print how many conversations there are, and both tables."""
    every = [conversation for half in HALVES for conversation in conversations(half)]
    counts = Counter(conversation.language for conversation in every)
    print(f"{len(every)} conversations: {dict(counts)}\n\n{table()}\n\n{statements_table()}")


if __name__ == "__main__":
    main()
