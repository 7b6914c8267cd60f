"""LoCoMo: ten long conversations of two people each, with questions in five categories.

Its licence (CC BY-NC 4.0) keeps the file out of this package; get it from its authors. Both
forms are read: one list of ten (`locomo10.json`), or a file for each conversation, in a folder
or a zip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from memoryware.bench.datasets.reading import Fields, moment, parsed, whole
from memoryware.bench.datasets.values import Conversation, Question, Split, Turn
from memoryware.errors import DatasetRefused

TUNED: Final = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
"""Conversations that settings may be tuned on; what is reported is what the others give."""
CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open",
    4: "single-hop",
    5: "adversarial",
}
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")
_TIMES: Final = ("%I:%M %p on %d %B, %Y", "%d %B, %Y")


def read(path: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, folder or zip, in the order of their ids.

    Raises:
        DatasetRefused: If it cannot be read, or is something else.
    """
    found = [one for name, text in _files(path) for one in _conversations(name, text)]
    if not found:
        raise DatasetRefused(str(path), "has no conversation of LoCoMo in it")
    return sorted(found, key=lambda one: one.id)


def evidence_of(given: Iterable[Any], there: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of turns that are meant, each once, of those that are there.

    Some entries of the data set hold several ids, or spell one otherwise: "D8:6; D9:17",
    "D9:1 D4:4", "D:11:26", "D30:05".
    """
    said = [pair for one in given for pair in _EVIDENCE.findall(str(one))]
    known = set(there)
    ids = (f"D{int(session)}:{int(turn)}" for session, turn in said)
    return tuple(dict.fromkeys(one for one in ids if one in known))


def _files(path: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield the name and the text of each JSON file at a path."""
    if path.is_dir():
        for one in sorted(path.rglob("*.json")):
            yield str(one), whole(one)
    elif path.suffix == ".zip":
        try:
            with ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        yield f"{path}/{name}", archive.read(name)
        except (BadZipFile, OSError) as error:
            raise DatasetRefused(str(path), f"is no zip that can be read: {error}") from None
    else:
        yield str(path), whole(path)


def _conversations(name: str, text: str | bytes) -> Iterator[Conversation]:
    whole = parsed(text, name)
    for one in whole if isinstance(whole, list) else [whole]:
        outer = Fields(one, name, what="a conversation")
        id_ = outer.get("sample_id", str, f"conv-{Path(name).stem}")
        outer.what = id_
        inner = Fields(outer.get("conversation", dict, dict(outer.value)), name, what=id_)
        turns = tuple(_turns(inner))
        if not turns:
            raise inner.refused("has no session_1, session_2, ... with turns in it")
        there = [turn.id for turn in turns]
        questions = tuple(_questions(outer, there))
        split: Split = "tuned" if id_ in TUNED else "held"
        yield Conversation(id=id_, turns=turns, questions=questions, split=split)


def _turns(talk: Fields) -> Iterator[Turn]:
    sessions = [(int(named[1]), key) for key in talk.value if (named := _SESSION.fullmatch(key))]
    for number, key in sorted(sessions):
        began = _time(talk, f"{key}_date_time")
        for place, value in enumerate(talk.get(key, list)):
            said = Fields(value, talk.path, what=f"a turn of {key}")
            caption = said.get("blip_caption", str, "")
            text = said.get("text", str, "")
            yield Turn(
                id=said.get("dia_id", str),
                session=f"D{number}",
                text=f"{text} [{caption}]" if caption else text,
                time=began + timedelta(seconds=place),
                role="user",
                speaker=said.get("speaker", str),
            )


def _time(talk: Fields, name: str) -> datetime:
    text = talk.get(name, str)
    found = moment(text, *_TIMES)
    if found is None:
        raise talk.refused(f'"{name}" is {text!r}, and no time such as "4:04 pm on 20 May, 2023"')
    return found


def _questions(talk: Fields, there: list[str]) -> Iterator[Question]:
    for number, value in enumerate(talk.get("qa", list), 1):
        asked = Fields(value, talk.path, what=f"question {number}")
        category = asked.get("category", int)
        gold = evidence_of(asked.get("evidence", list, []), there)
        yield Question(
            id=f"q{number}",
            text=asked.get("question", str),
            gold=gold,
            category=CATEGORIES.get(category, str(category)),
        )
