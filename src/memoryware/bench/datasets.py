"""Data sets of questions about long conversations: LoCoMo, LongMemEval, and your own as JSON Lines.

None of them is in the package; each function reads files that you have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeVar
from zipfile import BadZipFile, ZipFile

from memoryware._json_reading import JsonInvalid, decoder, parse_json
from memoryware.errors import DatasetRefused

# What every reader returns.

TurnRole = Literal["user", "agent"]
"""The role of a speaker: a person, or the program that the person talks to."""
Split = Literal["tuned", "held", ""]
"""Whether settings were tuned on a conversation; "" where nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetTurn:
    """One message of a conversation.

    Attributes:
        id: Unique in its conversation.
        session: The id of its session.
        text: The message, with the caption of a picture that was sent with it.
        time: With a time zone; later turns of a session have later times.
        role: "user" or "agent".
        speaker: The name of who said it, or a role such as "assistant" where there is none.
        named: Whether it is stored with the name of its speaker before the text.
    """

    id: str
    session: str
    text: str
    time: datetime
    role: TurnRole
    speaker: str
    named: bool = False

    @property
    def name(self) -> str:
        """The name of its speaker; "" if only the role is known."""
        return "" if self.speaker.casefold() in _JSONL_ROLES else self.speaker

    @property
    def content(self) -> str:
        """The text as it is stored."""
        return f"{self.speaker}: {self.text}" if self.named else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetQuestion:
    """A question and the turns that answer it.

    Attributes:
        id: Unique in its conversation.
        text: The question.
        gold: Ids of the turns that answer it, each once.
        category: Its kind, as the data set calls it.
        asked_at: With a time zone; None where the data set has no time.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    category: str = ""
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns that are searched together, and questions about them.

    Attributes:
        id: Unique in its data set.
        turns: In the order of the talk.
        questions: In the order of the data set.
        split: Whether settings were tuned on it.
    """

    id: str
    turns: tuple[DatasetTurn, ...]
    questions: tuple[DatasetQuestion, ...]
    split: Split = ""


# JSON that is refused with its file and line.

T = TypeVar("T")
_CHUNK: Final = 1 << 20
"""Characters of a long list that are read at once."""


class _JsonFields:
    """A JSON object whose fields are read by name and type."""

    def __init__(self, value: Any, path: Path | str, line: int = 0, label: str = "") -> None:
        self.path, self.line, self.label = str(path), line, label
        if not isinstance(value, dict):
            raise self.error(f"{label or 'this'} must be a JSON object")
        self.value: Mapping[str, Any] = value

    def error(self, message: str) -> DatasetRefused:
        """Return the error that names the file and line."""
        return DatasetRefused(self.path, message, self.line)

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """Return a field; with a default it may be missing or null.

        Raises:
            DatasetRefused: If it is missing or of another kind.
        """
        value = self.value.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind):
            of = f" of {self.label}" if self.label else ""
            problem = "is missing" if value is None else f"is {type(value).__name__}"
            raise self.error(f'"{name}"{of} must be {_KINDS[kind]}; it {problem}')
        return value

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of texts."""
        values = self.get(name, list)
        if not all(isinstance(value, str) for value in values):
            raise self.error(f'"{name}" must be a list of texts')
        return values


_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    int: "a whole number",
}


def _parse(text: str | bytes, path: Path | str, line: int = 0) -> Any:
    """Parse a JSON text.

    Raises:
        DatasetRefused: If it is not valid JSON.
    """
    try:
        return parse_json(text)
    except UnicodeDecodeError:
        raise DatasetRefused(str(path), "is not UTF-8", line) from None
    except JsonInvalid as error:
        raise DatasetRefused(str(path), error.problem, line or error.line or 0) from None


def _open_text(path: Path) -> IO[str]:
    """Open a text file.

    Raises:
        DatasetRefused: If it cannot be read.
    """
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise DatasetRefused(str(path), f"cannot be read: {error.strerror}") from None


def _read_whole(path: Path) -> bytes:
    """Read a whole file.

    Raises:
        DatasetRefused: If it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetRefused(str(path), f"cannot be read: {error.strerror}") from None


def _iter_items(path: Path) -> Iterator[Any]:
    """Yield the items of a file that is one JSON list of objects, holding one at a time.

    Raises:
        DatasetRefused: If it is no such file.
    """
    reader, buffer, step, is_first = decoder(), "", _CHUNK, True
    with _open_text(path) as file:
        while True:
            buffer = _strip_prefix(buffer, "[" if is_first else ",")
            try:
                item, end = reader.raw_decode(buffer)
            except RecursionError:
                raise DatasetRefused(str(path), "has too many lists inside each other") from None
            except JsonInvalid as error:
                raise DatasetRefused(str(path), error.problem) from None
            except json.JSONDecodeError:
                more = _more(file, step, path)
                step *= 2  # an unfinished item is decoded again: doubling keeps this linear
                if more:
                    buffer += more
                    continue
                if buffer.strip() not in ("]", "[]", "[ ]"):
                    raise DatasetRefused(str(path), "is no JSON list, or is cut off") from None
                return
            yield item
            buffer, step, is_first = buffer[end:], _CHUNK, False


def _more(file: IO[str], size: int, path: Path) -> str:
    try:
        return file.read(size)
    except UnicodeDecodeError:
        raise DatasetRefused(str(path), "is not UTF-8") from None


def _strip_prefix(buffer: str, prefix: str) -> str:
    """Return the text without white space and one prefix at its start."""
    text = buffer.lstrip()
    return text[1:].lstrip() if text.startswith(prefix) else text


def _parse_time(text: str, *forms: str) -> datetime | None:
    """Parse a time, in UTC where it names no zone; None if it is no time."""
    for form in forms:
        try:
            time = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the zone comes next
        except ValueError:
            continue
        return time.replace(tzinfo=UTC)
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# Your own data, as JSON Lines.

TURNS: Final = "turns.jsonl"
QUESTIONS: Final = "questions.jsonl"
"""The names of the two files in a folder."""
_JSONL_ROLES: Final[dict[str, TurnRole]] = {
    "user": "user",
    "human": "user",
    "assistant": "agent",
    "agent": "agent",
    "ai": "agent",
}


def read_jsonl(path: Path, questions: Path | None = None) -> list[Conversation]:
    """Read your own conversations: one JSON Lines file of turns, and one of questions.

    A turn is `{"id", "session", "text", "time", "role"}` and may have `speaker` and `group`; a
    question is `{"id", "question", "gold"}` and may have `category`, `time` and `group`. Each
    group is a conversation of its own. `docs/guides/measuring.md` shows both.

    Args:
        path: The file of turns, or a folder with `turns.jsonl` and `questions.jsonl`.
        questions: The file of questions; by default `questions.jsonl` next to the turns.

    Returns:
        The conversations, in the order in which their groups first come.

    Raises:
        DatasetRefused: If a line cannot be read: with its file and number.
    """
    turns_file = path / TURNS if path.is_dir() else path
    questions_file = questions or turns_file.parent / QUESTIONS
    turns = _jsonl_turns(turns_file)
    questions_by_group = _jsonl_questions(questions_file, turns)
    return [
        Conversation(
            id=group,
            turns=tuple(turns_of_group.values()),
            questions=tuple(questions_by_group.get(group, {}).values()),
        )
        for group, turns_of_group in turns.items()
    ]


def _jsonl_lines(path: Path) -> Iterator[_JsonFields]:
    with _open_text(path) as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _JsonFields(_parse(line, path, number), path, number, "the line")
        except UnicodeDecodeError:
            raise DatasetRefused(str(path), "is not UTF-8") from None


def _jsonl_turns(path: Path) -> dict[str, dict[str, DatasetTurn]]:
    """Return turns by group and id; turns of one session come one after the other."""
    groups: dict[str, dict[str, DatasetTurn]] = {}
    last: dict[tuple[str, str], datetime] = {}
    for line in _jsonl_lines(path):
        group, turn = line.get("group", str, "all"), _jsonl_turn(line)
        members = groups.setdefault(group, {})
        if turn.id in members:
            raise line.error(f'the turn "{turn.id}" has been there before; ids must be unique')
        before = last.get((group, turn.session))
        if before is not None and turn.time <= before:
            turn = replace(turn, time=before + timedelta(seconds=1))
        last[group, turn.session] = turn.time
        members[turn.id] = turn
    if not groups:
        raise DatasetRefused(str(path), "has no turns in it")
    return groups


def _jsonl_turn(line: _JsonFields) -> DatasetTurn:
    role = line.get("role", str)
    if role.casefold() not in _JSONL_ROLES:
        raise line.error(f'"role" is {role!r}; it must be "user" or "assistant"')
    return DatasetTurn(
        id=line.get("id", str),
        session=line.get("session", str),
        text=line.get("text", str),
        time=_jsonl_time(line),
        role=_JSONL_ROLES[role.casefold()],
        speaker=line.get("speaker", str, role),
    )


def _jsonl_time(line: _JsonFields) -> datetime:
    text = line.get("time", str)
    time = _parse_time(text)
    if time is None:
        raise line.error(f'"time" is {text!r}; it must be a time such as 2026-05-20T16:04:00Z')
    return time


def _jsonl_questions(
    path: Path, turns: dict[str, dict[str, DatasetTurn]]
) -> dict[str, dict[str, DatasetQuestion]]:
    groups: dict[str, dict[str, DatasetQuestion]] = {}
    for line in _jsonl_lines(path):
        group = line.get("group", str, "all")
        if group not in turns:
            raise line.error(f'there are no turns of the group "{group}"')
        gold = tuple(dict.fromkeys(line.texts("gold")))
        unknown = [id_ for id_ in gold if id_ not in turns[group]]
        if unknown:
            raise line.error(f'"gold" names {unknown[0]!r}, and there is no such turn')
        question = DatasetQuestion(
            id=line.get("id", str),
            text=line.get("question", str),
            gold=gold,
            category=line.get("category", str, ""),
            asked_at=_jsonl_time(line) if line.value.get("time") is not None else None,
        )
        members = groups.setdefault(group, {})
        if question.id in members:
            raise line.error(f'the question "{question.id}" has been there before')
        members[question.id] = question
    return groups


# LoCoMo. Its licence (CC BY-NC 4.0) keeps the file out of this package; get it from its authors.

TUNED: Final = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
"""Conversations that settings may be tuned on; published figures are of the others."""
CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open",
    4: "single-hop",
    5: "adversarial",
}
_SESSION: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")
_LOCOMO_TIMES: Final = ("%I:%M %p on %d %B, %Y", "%d %B, %Y")


def read_locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo: ten long conversations, with questions in five categories.

    Args:
        path: `locomo10.json`, which is one list of ten, or a folder or zip with a file for each
            conversation.

    Returns:
        The conversations, sorted by id.

    Raises:
        DatasetRefused: If it cannot be read, or is something else.
    """
    conversations = [
        conversation
        for name, text in _locomo_files(path)
        for conversation in _locomo_conversations(name, text)
    ]
    if not conversations:
        raise DatasetRefused(str(path), "has no conversation of LoCoMo in it")
    return sorted(conversations, key=lambda conversation: conversation.id)


def _evidence_of(evidence: Iterable[Any], turn_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the turns that a list of evidence names, each once, without unknown ones.

    Some entries of the data set hold several ids, or write one in another way: "D8:6; D9:17",
    "D9:1 D4:4", "D:11:26", "D30:05".
    """
    pairs = [pair for id_ in evidence for pair in _EVIDENCE.findall(str(id_))]
    existing = set(turn_ids)
    ids = (f"D{int(session)}:{int(turn)}" for session, turn in pairs)
    return tuple(dict.fromkeys(id_ for id_ in ids if id_ in existing))


def _locomo_files(path: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yield the name and the text of each JSON file at a path."""
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield str(file), _read_whole(file)
    elif path.suffix == ".zip":
        try:
            with ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        yield f"{path}/{name}", archive.read(name)
        except (BadZipFile, OSError) as error:
            raise DatasetRefused(str(path), f"is no zip that can be read: {error}") from None
    else:
        yield str(path), _read_whole(path)


def _locomo_conversations(name: str, text: str | bytes) -> Iterator[Conversation]:
    value = _parse(text, name)
    for item in value if isinstance(value, list) else [value]:
        outer = _JsonFields(item, name, label="a conversation")
        id_ = outer.get("sample_id", str, f"conv-{Path(name).stem}")
        outer.label = id_
        inner = _JsonFields(outer.get("conversation", dict, dict(outer.value)), name, label=id_)
        turns = tuple(_locomo_turns(inner))
        if not turns:
            raise inner.error("has no session_1, session_2, ... with turns in it")
        turn_ids = [turn.id for turn in turns]
        questions = tuple(_locomo_questions(outer, turn_ids))
        split: Split = "tuned" if id_ in TUNED else "held"
        yield Conversation(id=id_, turns=turns, questions=questions, split=split)


def _locomo_turns(talk: _JsonFields) -> Iterator[DatasetTurn]:
    sessions = [(int(match[1]), key) for key in talk.value if (match := _SESSION.fullmatch(key))]
    for number, key in sorted(sessions):
        start = _locomo_time(talk, f"{key}_date_time")
        for index, value in enumerate(talk.get(key, list)):
            fields = _JsonFields(value, talk.path, label=f"a turn of {key}")
            caption = fields.get("blip_caption", str, "")
            text = fields.get("text", str, "")
            yield DatasetTurn(
                id=fields.get("dia_id", str),
                session=f"D{number}",
                text=f"{text} [{caption}]" if caption else text,
                time=start + timedelta(seconds=index),
                role="user",
                speaker=fields.get("speaker", str),
            )


def _locomo_time(talk: _JsonFields, name: str) -> datetime:
    text = talk.get(name, str)
    time = _parse_time(text, *_LOCOMO_TIMES)
    if time is None:
        raise talk.error(f'"{name}" is {text!r}, and no time such as "4:04 pm on 20 May, 2023"')
    return time


def _locomo_questions(talk: _JsonFields, turn_ids: list[str]) -> Iterator[DatasetQuestion]:
    for number, value in enumerate(talk.get("qa", list), 1):
        fields = _JsonFields(value, talk.path, label=f"question {number}")
        category = fields.get("category", int)
        gold = _evidence_of(fields.get("evidence", list, []), turn_ids)
        yield DatasetQuestion(
            id=f"q{number}",
            text=fields.get("question", str),
            gold=gold,
            category=CATEGORIES.get(category, str(category)),
        )


# LongMemEval.

Roles = Literal["user", "all"]
"""Whose turns are searched: those of the user, or all."""
Granularity = Literal["turn", "session"]
"""Whether one memory is a turn or a whole session."""
_LONGMEMEVAL_TIMES: Final = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_LONGMEMEVAL_ROLES: Final[dict[str, TurnRole]] = {"user": "user", "assistant": "agent"}


def read_longmemeval(
    path: Path, *, roles: Roles = "user", granularity: Granularity = "turn"
) -> Iterator[Conversation]:
    """Read LongMemEval: five hundred questions, each with a history of sessions of its own.

    One question is held at a time, because the M file does not fit into memory. Questions that
    have no answer (`_abs`) are left out.

    Args:
        path: The S, M or oracle file of its authors.
        roles: Whose turns are searched: those of the user, as in the authors' evaluation, or all.
        granularity: Whether one memory is a turn or a whole session.

    Yields:
        One conversation for each question, in the order of the file.

    Raises:
        DatasetRefused: If it cannot be read, or is something else.
    """
    for number, value in enumerate(_iter_items(path), 1):
        entry = _JsonFields(value, path, label=f"entry {number}")
        id_ = entry.get("question_id", str)
        if "_abs" not in id_:
            yield _longmemeval_conversation(entry, id_, roles, granularity)


def _longmemeval_conversation(
    entry: _JsonFields, id_: str, roles: Roles, granularity: Granularity
) -> Conversation:
    turns: list[DatasetTurn] = []
    gold: list[str] = []
    used: set[str] = set()
    for session, start, talk in _longmemeval_sessions(entry, id_):
        answers = session in entry.get("answer_session_ids", list)
        session_turns, answering = _longmemeval_turns(
            entry, talk, _once(session, used), start, roles
        )
        if granularity == "session" and session_turns:
            turns.append(_joined(session_turns, session))
            gold += [session_turns[0].session] if answers and answering else []
        else:
            turns += session_turns
            gold += answering if answers else []
    asked_at = _parse_time(entry.get("question_date", str, ""), *_LONGMEMEVAL_TIMES)
    question = DatasetQuestion(
        id=id_,
        text=entry.get("question", str),
        gold=tuple(gold),
        category=entry.get("question_type", str, ""),
        asked_at=asked_at,
    )
    return Conversation(id=id_, turns=tuple(turns), questions=(question,))


def _longmemeval_sessions(
    entry: _JsonFields, id_: str
) -> Iterator[tuple[str, datetime, list[Any]]]:
    """Yield the name, the beginning and the turns of each session."""
    names, dates = entry.texts("haystack_session_ids"), entry.texts("haystack_dates")
    talks = entry.get("haystack_sessions", list)
    if not len(names) == len(dates) == len(talks):
        raise entry.error(f"{id_} has {len(talks)} sessions, and not as many ids and dates")
    for name, date, talk in zip(names, dates, talks, strict=True):
        start = _parse_time(date, *_LONGMEMEVAL_TIMES)
        if start is None:
            raise entry.error(f"{id_}: {date!r} is no date such as 2023/05/20 (Sat) 02:21")
        if not isinstance(talk, list):
            raise entry.error(f"{id_}: the session {name} is no list of turns")
        yield name, start, talk


def _once(name: str, used: set[str]) -> str:
    """Return a name that no other session of the history has."""
    number, unique = 1, name
    while unique in used:
        number += 1
        unique = f"{name}#{number}"
    used.add(unique)
    return unique


def _longmemeval_turns(
    entry: _JsonFields, talk: list[Any], session: str, start: datetime, roles: Roles
) -> tuple[list[DatasetTurn], list[str]]:
    """Return the turns of a session that are searched, and the ids of those that answer."""
    turns, answering = [], []
    for index, value in enumerate(talk):
        fields = _JsonFields(value, entry.path, label=f"a turn of {session}")
        role = fields.get("role", str)
        if role != "user" and roles == "user":
            continue
        turn = DatasetTurn(
            id=f"{session}_{index + 1}",
            session=session,
            text=fields.get("content", str),
            time=start + timedelta(seconds=index),
            role=_LONGMEMEVAL_ROLES.get(role, "agent"),
            speaker=role,
        )
        turns.append(turn)
        if fields.value.get("has_answer") is True:
            answering.append(turn.id)
    return turns, answering


def _joined(turns: list[DatasetTurn], session: str) -> DatasetTurn:
    """Return a whole session as one turn."""
    return DatasetTurn(
        id=turns[0].session,
        session=session,
        text=" ".join(turn.text for turn in turns),
        time=turns[0].time,
        role="user",
        speaker=turns[0].speaker,
    )
