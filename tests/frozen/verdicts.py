"""What filters, digest and promotion say of the pairs of texts on which they were measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frozen.sample import START, Clock, new_ids
from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from tiers.waiting_months import museum_month, office_month

PAIRS = Path(__file__).parents[1] / "tiers" / "pairs"
ANN = MemoryScope(group_id="shop", user_id="ann", agent_id="helper", session_id="s1")
BOB = MemoryScope(group_id="shop", user_id="bob", agent_id="researcher", session_id="s2")


def verdicts() -> list[str]:
    """Return a line for each pair of texts, and for each order of a month of talk."""
    lines = [
        f"{name} {number}: {answer}"
        for name, verdict in (("echoes", echo), ("statements", relation), ("attacks", relation))
        for number, pair in enumerate(pairs(name), 1)
        for answer in [verdict(*pair)]
    ]
    return [*lines, *months()]


def pairs(name: str) -> Iterator[tuple[str, str]]:
    """Yield the two texts of each line of a file of pairs."""
    for line in (PAIRS / f"{name}.tsv").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            first, second = line.split("\t")[-2:]
            yield _plain(first), _plain(second)


def opened(**options: Any) -> TieredMemory:
    """Return an empty memory in this process."""
    return TieredMemory.open("memory://", clock=Clock(START), new_id=new_ids(), **options)


def echo(shown: str, said: str) -> str:
    """Say whether an agent that was shown a text repeats it, and whether one that was not does."""
    with opened() as memory:
        memory.promote(shown, "shop", by="carol")
        recalled = memory.retrieve(shown[:300], ANN)
        knowing = memory.record(said, ANN, shown=recalled)
    with opened() as memory:
        memory.record(shown, BOB)
        unknowing = memory.record(said, ANN)
    return f"{_refusal(knowing)}, {_refusal(unknowing)}"


def relation(first: str, second: str) -> str:
    """Say how a digest and promotions relate two texts."""
    found = []
    for similarity in (1.0, 0.6):
        with opened(policy=PromotionPolicy(similarity=similarity)) as memory:
            for text, scope in ((first, ANN), (second, BOB)):
                memory.log_quarantine(text, scope)
            insights = memory.digest("shop").insights
            is_one = any(len(one.entry_ids) > 1 for one in insights)
            in_conflict = any(one.conflicts_with for one in insights)
            found.append(
                f"{len(insights)}{' one' if is_one else ''}{' conflict' if in_conflict else ''}"
            )
    with opened() as memory:
        memory.promote(first, "shop", by="carol")
        promoted = memory.promote(second, "shop", by="dora")
        recalled = memory.retrieve(second[:300], "shop")
        found.append("contradicts" if promoted.contradictions else "stands beside")
        found += ["recalled as contradicting"] if recalled.contradictions else []
    return ", ".join(found)


def months() -> Iterator[str]:
    """Yield the statements of each month of talk in the order in which a reviewer sees them."""
    for name, make in (("museum", museum_month), ("office", office_month)):
        with opened() as memory:
            for number, text in enumerate(make(1).texts):
                memory.record(text, ANN if number % 2 else BOB)
            for place, insight in enumerate(memory.digest("shop", limit=60).insights, 1):
                yield f"month {name} {place}: {len(insight.entry_ids)} x {insight.summary[:100]!r}"


def _plain(text: str) -> str:
    characters = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text)
    return characters.replace("\\n", "\n")


def _refusal(recorded: Any) -> str:
    entry = recorded.entry
    marks = [name for name in ("echo_of", "duplicate_of") if getattr(entry, name)]
    return "+".join([recorded.refused or "kept", *marks])
