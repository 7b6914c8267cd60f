"""The same facts and questions in seven languages, as data sets of one or two of them.

`python -m benchmarks.tiers.parallel FOLDER` writes them as JSON Lines, in a folder each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from memoryware.bench.datasets import (
    QUESTIONS,
    TURNS,
    Conversation,
    DatasetQuestion,
    DatasetTurn,
)

LANGUAGES: Final = ("en", "zh", "de", "es", "ja", "ar", "ru")
FACTS: Final = Path(__file__).resolve().parents[1] / "data" / "parallel" / "facts.jsonl"
_FIRST: Final = datetime(2026, 1, 6, 18, 10, tzinfo=UTC)
_GAPS: Final = (3, 8, 5, 11, 4, 2, 13, 6, 9, 3, 7, 14, 5, 10)
"""Days between one session and the next."""
_OF_SESSION: Final = 10
"""Facts of one session."""
_SPEAKER: Final = "Clara"


def pairs() -> Iterator[tuple[str, str]]:
    """Yield the languages of facts and questions: each with itself, and English with each."""
    for language in LANGUAGES:
        yield language, language
    for language in LANGUAGES[1:]:
        yield "en", language


def name_of(facts: str, questions: str) -> str:
    """Return the name of a data set, such as "parallel-de" or "parallel-en-de"."""
    return f"parallel-{facts}" if facts == questions else f"parallel-{facts}-{questions}"


def conversation(facts: str, questions: str) -> Conversation:
    """Return the facts in one language, and the questions about them in one.

    Args:
        facts: The language of the turns.
        questions: The language of the questions.
    """
    lines = FACTS.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    begins = _session_times()
    return Conversation(
        id=name_of(facts, questions),
        turns=tuple(_turn(row, at, begins, facts) for at, row in enumerate(rows)),
        questions=tuple(
            DatasetQuestion(
                id=f"q{row['id'][1:]}",
                text=row["question"][questions],
                gold=(row["id"],),
                category=row["category"],
            )
            for row in rows
        ),
    )


def _session_times() -> list[datetime]:
    times = [_FIRST]
    for days in _GAPS:
        times.append(times[-1] + timedelta(days=days, minutes=37 * (days % 4) - 40))
    return times


def _turn(
    row: Mapping[str, Any], position: int, begins: list[datetime], language: str
) -> DatasetTurn:
    session, place = divmod(position, _OF_SESSION)
    return DatasetTurn(
        id=row["id"],
        session=f"s{session + 1:02}",
        text=row["fact"][language],
        time=begins[session] + timedelta(minutes=place * 3 + (position * 7) % 3),
        role="user",
        speaker=_SPEAKER,
    )


def write(folder: Path) -> None:
    """Write each data set into a folder of its name, to measure it by the command line."""
    for facts, questions in pairs():
        made = conversation(facts, questions)
        target = folder / made.id
        target.mkdir(parents=True, exist_ok=True)
        _write(target / TURNS, [_turn_line(turn) for turn in made.turns])
        _write(target / QUESTIONS, [_question_line(asked) for asked in made.questions])


def _turn_line(turn: DatasetTurn) -> dict[str, Any]:
    return {
        "id": turn.id, "session": turn.session, "role": turn.role, "speaker": turn.speaker,
        "time": turn.time.isoformat(), "text": turn.text,
    }  # fmt: skip


def _question_line(asked: DatasetQuestion) -> dict[str, Any]:
    return {
        "id": asked.id, "question": asked.text, "gold": asked.gold, "category": asked.category,
    }  # fmt: skip


def _write(path: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(prog="python -m benchmarks.tiers.parallel")
    _parser.add_argument("folder", type=Path, help="where each data set gets a folder")
    write(_parser.parse_args().folder)
