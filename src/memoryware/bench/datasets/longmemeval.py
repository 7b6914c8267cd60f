"""LongMemEval: five hundred questions, each with a history of sittings of its own.

Read from the S, M or oracle file of its authors, one question at a time: the M file does not fit
into memory. As in their evaluation, what a user said is searched and nothing else, unless the
roles are "all"; questions that have no answer (`_abs`) are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from memoryware.bench.datasets.reading import Fields, items_of, moment
from memoryware.bench.datasets.values import Conversation, Question, Turn, TurnRole

Roles = Literal["user", "all"]
"""Whose turns are searched: those of the user, as the authors do, or everybody's."""
Granularity = Literal["turn", "session"]
"""What is one memory: a turn, or all turns of a sitting together."""
_TIMES: Final = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_ROLES: Final[dict[str, TurnRole]] = {"user": "user", "assistant": "agent"}


def read(
    path: Path, *, roles: Roles = "user", granularity: Granularity = "turn"
) -> Iterator[Conversation]:
    """Yield one conversation for each question, in the order of the file.

    Raises:
        DatasetRefused: If it cannot be read, or is something else.
    """
    for number, value in enumerate(items_of(path), 1):
        entry = Fields(value, path, what=f"entry {number}")
        id_ = entry.get("question_id", str)
        if "_abs" not in id_:
            yield _conversation(entry, id_, roles, granularity)


def _conversation(entry: Fields, id_: str, roles: Roles, granularity: Granularity) -> Conversation:
    turns: list[Turn] = []
    gold: list[str] = []
    taken: set[str] = set()
    for session, began, said in _sessions(entry, id_):
        answers = session in entry.get("answer_session_ids", list)
        some, telling = _turns(entry, said, _once(session, taken), began, roles)
        if granularity == "session" and some:
            turns.append(_joined(some, session))
            gold += [some[0].session] if answers and telling else []
        else:
            turns += some
            gold += telling if answers else []
    asked = moment(entry.get("question_date", str, ""), *_TIMES)
    question = Question(
        id=id_,
        text=entry.get("question", str),
        gold=tuple(gold),
        category=entry.get("question_type", str, ""),
        asked=asked,
    )
    return Conversation(id=id_, turns=tuple(turns), questions=(question,))


def _sessions(entry: Fields, id_: str) -> Iterator[tuple[str, datetime, list[Any]]]:
    """Yield the name, the beginning and the turns of each sitting."""
    names, dates = entry.texts("haystack_session_ids"), entry.texts("haystack_dates")
    talks = entry.get("haystack_sessions", list)
    if not len(names) == len(dates) == len(talks):
        raise entry.refused(f"{id_} has {len(talks)} sessions, and not as many ids and dates")
    for name, date, talk in zip(names, dates, talks, strict=True):
        began = moment(date, *_TIMES)
        if began is None:
            raise entry.refused(f"{id_}: {date!r} is no date such as 2023/05/20 (Sat) 02:21")
        if not isinstance(talk, list):
            raise entry.refused(f"{id_}: the session {name} is no list of turns")
        yield name, began, talk


def _once(name: str, taken: set[str]) -> str:
    """Return a name that no other sitting of the history has."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}#{number}"
    taken.add(free)
    return free


def _turns(
    entry: Fields, talk: list[Any], session: str, began: datetime, roles: Roles
) -> tuple[list[Turn], list[str]]:
    """Return the turns of a sitting that are searched, and the ids of those that answer."""
    turns, telling = [], []
    for place, value in enumerate(talk):
        said = Fields(value, entry.path, what=f"a turn of {session}")
        role = said.get("role", str)
        if role != "user" and roles == "user":
            continue
        turn = Turn(
            id=f"{session}_{place + 1}",
            session=session,
            text=said.get("content", str),
            time=began + timedelta(seconds=place),
            role=_ROLES.get(role, "agent"),
            speaker=role,
        )
        turns.append(turn)
        if said.value.get("has_answer") is True:
            telling.append(turn.id)
    return turns, telling


def _joined(turns: list[Turn], session: str) -> Turn:
    """Return a whole sitting as one turn."""
    return Turn(
        id=turns[0].session,
        session=session,
        text=" ".join(one.text for one in turns),
        time=turns[0].time,
        role="user",
        speaker=turns[0].speaker,
    )
