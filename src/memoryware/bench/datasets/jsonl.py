"""A user's own conversations: one JSON Lines file of turns, one of questions.

A turn is `{"id", "session", "text", "time", "role"}` and may have `speaker` and `group`; a
question is `{"id", "question", "gold"}` and may have `category`, `time` and `group`. Each group
is a conversation of its own. `docs/guides/measuring.md` shows both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from memoryware.bench.datasets.reading import Fields, moment, opened, parsed
from memoryware.bench.datasets.values import Conversation, Question, Turn, TurnRole
from memoryware.errors import DatasetRefused

TURNS: Final = "turns.jsonl"
QUESTIONS: Final = "questions.jsonl"
"""The names of the two files in a folder."""
_ROLES: Final[dict[str, TurnRole]] = {
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "agent": "agent",
    "ai": "agent",
}


def read(path: Path, questions: Path | None = None) -> list[Conversation]:
    """Return the conversations of two files, in the order in which their groups come.

    Args:
        path: The file of turns, or a folder with `turns.jsonl` and `questions.jsonl`.
        questions: The file of questions; by default `questions.jsonl` beside the turns.

    Raises:
        DatasetRefused: If a line cannot be read: with its file and number.
    """
    turns_file = path / TURNS if path.is_dir() else path
    questions_file = questions or turns_file.parent / QUESTIONS
    turns = _turns(turns_file)
    asked = _questions(questions_file, turns)
    return [
        Conversation(
            id=group, turns=tuple(said.values()), questions=tuple(asked.get(group, {}).values())
        )
        for group, said in turns.items()
    ]


def _lines(path: Path) -> Iterator[Fields]:
    with opened(path) as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield Fields(parsed(line, path, number), path, number, "the line")
        except UnicodeDecodeError:
            raise DatasetRefused(str(path), "is not UTF-8") from None


def _turns(path: Path) -> dict[str, dict[str, Turn]]:
    """Return turns by group and id; turns of one sitting come one after the other."""
    groups: dict[str, dict[str, Turn]] = {}
    last: dict[tuple[str, str], datetime] = {}
    for line in _lines(path):
        group, turn = line.get("group", str, "all"), _turn(line)
        said = groups.setdefault(group, {})
        if turn.id in said:
            raise line.refused(f'the turn "{turn.id}" has been there before; ids must be unique')
        before = last.get((group, turn.session))
        if before is not None and turn.time <= before:
            turn = replace(turn, time=before + timedelta(seconds=1))
        last[group, turn.session] = turn.time
        said[turn.id] = turn
    if not groups:
        raise DatasetRefused(str(path), "has no turns in it")
    return groups


def _turn(line: Fields) -> Turn:
    role = line.get("role", str)
    if role.casefold() not in _ROLES:
        raise line.refused(f'"role" is {role!r}; it must be "user" or "assistant"')
    return Turn(
        id=line.get("id", str),
        session=line.get("session", str),
        text=line.get("text", str),
        time=_time(line),
        role=_ROLES[role.casefold()],
        speaker=line.get("speaker", str, role),
    )


def _time(line: Fields) -> datetime:
    text = line.get("time", str)
    found = moment(text)
    if found is None:
        raise line.refused(f'"time" is {text!r}; it must be a time such as 2026-05-20T16:04:00Z')
    return found


def _questions(path: Path, turns: dict[str, dict[str, Turn]]) -> dict[str, dict[str, Question]]:
    groups: dict[str, dict[str, Question]] = {}
    for line in _lines(path):
        group = line.get("group", str, "all")
        if group not in turns:
            raise line.refused(f'there are no turns of the group "{group}"')
        gold = tuple(dict.fromkeys(line.texts("gold")))
        unknown = [one for one in gold if one not in turns[group]]
        if unknown:
            raise line.refused(f'"gold" names {unknown[0]!r}, and there is no such turn')
        question = Question(
            id=line.get("id", str),
            text=line.get("question", str),
            gold=gold,
            category=line.get("category", str, ""),
            asked=_time(line) if line.value.get("time") is not None else None,
        )
        asked = groups.setdefault(group, {})
        if question.id in asked:
            raise line.refused(f'the question "{question.id}" has been there before')
        asked[question.id] = question
    return groups
