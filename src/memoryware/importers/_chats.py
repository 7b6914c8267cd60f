"""Read the memories in data exports of ChatGPT and Claude, and in lists copied from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from memoryware.errors import ImportRefused
from memoryware.importers._fields import Read, as_text, as_time, kind_of, refuse, refuse_text
from memoryware.importers._files import (
    SourceFolder,
    is_zip,
    mapped,
    printable,
    read_text,
)
from memoryware.importers._json_stream import JsonFile
from memoryware.importers._markdown_statements import statements_of
from memoryware.importers.records import SourceRecord

# Lists of memories as text: what the settings show, or what the assistant was asked to write.

_LISTED: Final = re.compile(
    r"(?:[-*+\u2022][ \t]+|\d{1,5}[.)][ \t]*)?"
    r"(?:\[(?P<date>[^\[\]\n]{0,40})\](?!\()[.:]?[ \t]*(?:[-\u2013\u2014:][ \t]+)?)?(?P<text>.+)$"
)
_SECTION: Final = re.compile(r"#{1,6}[ \t]+(?P<a>.+?)[ \t]*#*$|(\*\*|__)(?P<b>[^*_]+?):?\2:?$")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")


def read_list(path: Path, label: str = "") -> Read:
    """Read a list of memories: one a line, perhaps with a date.

    Such as "[2026-05-01] - Likes tea." or "3. Likes tea.".
    Lines that are indented go on from the line before. Headings become metadata.

    Args:
        path: A text file.
        label: Its name in messages, if that is not the path.

    Yields:
        The records.

    Raises:
        ImportRefused: If it is no text, or has none.
    """
    section, is_empty = "", True
    for number, line in _listed_lines(read_text(path, label)):
        heading = _SECTION.fullmatch(line.strip())
        if heading:
            section = (heading["a"] or heading["b"]).strip()
            continue
        match = _LISTED.match(line)
        text = match["text"].strip() if match else ""
        if match is None or not any(character.isalnum() for character in text):
            continue
        is_empty = False
        yield SourceRecord(
            id="list",
            text=text,
            said_at=as_time(match["date"]) if match["date"] else None,
            metadata={"section": section} if section else {},
            location=f"line {number}",
        )
    if is_empty:
        raise ImportRefused(label or str(path), "has no memories in it: it must have one a line")


def _listed_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a list; indented lines are joined to the one before."""
    number, parts = 0, list[str]()
    for at, line in enumerate(text.split("\n"), 1):
        if not line.strip() or _FENCE.match(line):
            if parts:
                yield number, " ".join(parts)
            parts = []
        elif parts and line[:1].isspace():
            parts.append(line.strip())
        else:
            if parts:
                yield number, " ".join(parts)
            number, parts = at, [line.strip()]
    if parts:
        yield number, " ".join(parts)


# ChatGPT.

_CONVERSATIONS: Final = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_MEMORIES: Final = ("memories.json", "memory.json")
_JSON_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*[\[{\"\]])")
_SHOWN_FENCE: Final = re.compile(r"```(?:[a-z]*\n)?(.*?)```", re.DOTALL)


def read_chatgpt(path: Path) -> Read:
    """Read what ChatGPT kept: calls of its memory tool, its list of memories, instructions.

    A data export has no list of memories. They are in the conversations: each call of the tool
    `bio`, and the list as the model was shown it, of which the newest counts.

    Args:
        path: The zip of a data export, its folder, `conversations.json`, or a text file with one
            memory a line.

    Yields:
        The records.

    Raises:
        ImportRefused: If it is no such file.
    """
    if path.is_dir() or is_zip(path):
        with SourceFolder(path) as folder:
            names = [name for name in folder.names() if _CONVERSATIONS.fullmatch(name)]
            lists = folder.named(*_MEMORIES)
            if not names and not lists:
                raise ImportRefused(
                    str(path), "is no data export of ChatGPT: it has no conversations.json"
                )
            shown = _ShownContext()
            for name in names:
                yield from _conversations(folder.file(name), f"{path}: {printable(name)}", shown)
            yield from shown.records()
            for name in lists:
                yield from _memory_objects(folder.file(name), f"{path}: {printable(name)}")
        return
    if _is_json(path):
        shown = _ShownContext()
        yield from _conversations(path, str(path), shown)
        yield from shown.records()
        return
    yield from read_list(path)


def _is_json(path: Path) -> bool:
    """Return whether a file is JSON; a list of memories may begin with "[" as well, for a date."""
    with mapped(path) as data:
        return _JSON_START.match(data) is not None


def _conversations(path: Path, label: str, shown: _ShownContext) -> Read:
    with mapped(path, label) as data:
        for element in JsonFile(data, label).elements():
            conversation = element.value
            nodes = conversation.get("mapping") if isinstance(conversation, Mapping) else None
            location = f"line {element.line}"
            if not isinstance(nodes, Mapping):
                yield refuse(location, "is no conversation of ChatGPT: it has no mapping")
                continue
            id_ = as_text(conversation.get("conversation_id") or conversation.get("id")) or ""
            updated_at = as_time(conversation.get("update_time"))
            for node in nodes.values():
                message = node.get("message") if isinstance(node, Mapping) else None
                if isinstance(message, Mapping):
                    yield from _message(message, id_, location)
                    shown.note(message, updated_at, id_, location)


def _message(message: Mapping[str, Any], conversation: str, location: str) -> Read:
    """Yield what a call of the memory tool keeps; one call may keep several, one a line."""
    if message.get("recipient") != "bio":
        return
    for text in _content_text(message.get("content")).split("\n"):
        if text.strip():
            yield SourceRecord(
                id=as_text(message.get("id")) or "",
                text=text.strip(),
                said_at=as_time(message.get("create_time")),
                session=conversation or None,
                metadata={"kind": "saved memory"},
                location=location,
            )


def _content_text(content: Any) -> str:
    if not isinstance(content, Mapping):
        return ""
    if isinstance(content.get("text"), str):
        return str(content["text"])
    parts = content.get("parts")
    return (
        "\n".join(part for part in parts if isinstance(part, str))
        if isinstance(parts, list)
        else ""
    )


_SHOWN_FIELDS: Final = {
    "model_set_context": "",
    "user_profile": "about_user_message",
    "user_instructions": "about_model_message",
}
"""Fields of what the model was shown, and where else their texts may be."""


class _ShownContext:
    """The newest list of memories and the newest instructions that conversations show."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[float, str, str, str]] = {}

    def note(
        self, message: Mapping[str, Any], updated_at: datetime | None, id_: str, location: str
    ) -> None:
        """Note the texts of a message if they are newer than those that are noted."""
        content, metadata = message.get("content"), message.get("metadata")
        if not isinstance(content, Mapping):
            return
        # Where the texts of instructions are depends on the year.
        other = metadata.get("user_context_message_data") if isinstance(metadata, Mapping) else None
        other = other if isinstance(other, Mapping) else {}
        time = updated_at or as_time(message.get("create_time"))
        order = time.timestamp() if time else 0.0
        for field, older in _SHOWN_FIELDS.items():
            text = content.get(field) or other.get(older)
            if (
                isinstance(text, str)
                and text.strip()
                and order >= self._newest.get(field, (0.0,))[0]
            ):
                self._newest[field] = (order, text, id_, location)

    def records(self) -> Read:
        """Yield a record for each memory of the list, and for each kind of instructions."""
        for field, (_, text, conversation, location) in self._newest.items():
            if field == "model_set_context":
                for _, line in _numbered_lines(text):
                    match = _LISTED.match(line)
                    if match is not None and match["text"].strip():
                        yield SourceRecord(
                            id="memory list",
                            text=match["text"].strip(),
                            said_at=as_time(match["date"]) if match["date"] else None,
                            metadata={"kind": "saved memory", "conversation": conversation},
                            location=location,
                        )
                continue
            fenced = _SHOWN_FENCE.search(text)
            yield SourceRecord(
                id=field,
                text=(fenced[1] if fenced else text).strip(),
                metadata={"kind": "custom instructions", "conversation": conversation},
                location=location,
            )


_NUMBERED: Final = re.compile(r"^[ \t]*\d{1,5}\.[ \t]+", re.MULTILINE)


def _numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items of a numbered list, each with its further lines; else each line."""
    starts = [match.start() for match in _NUMBERED.finditer(text)]
    if not starts:
        yield from _listed_lines(text)
        return
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1):
        yield number, " ".join(text[start:end].split())


def _memory_objects(path: Path, label: str) -> Read:
    """Read a list of memories as JSON: texts, or objects with the text in "content"."""
    with mapped(path, label) as data:
        for element in JsonFile(data, label).elements():
            value, location = element.value, f"line {element.line}"
            if isinstance(value, str) and value.strip():
                yield SourceRecord(id="memory list", text=value.strip(), location=location)
            elif isinstance(value, Mapping):
                field = next(
                    (name for name in ("content", "memory", "text") if name in value), "content"
                )
                text = value.get(field)
                if not isinstance(text, str) or not text.strip():
                    yield refuse_text(location, field, text, value.get("id"))
                    continue
                yield SourceRecord(
                    id=as_text(value.get("id")) or "memory list",
                    text=text.strip(),
                    said_at=as_time(value.get("created_at") or value.get("updated_at")),
                    location=location,
                )
            elif element.in_list:
                yield refuse(location, f"is {kind_of(value)}, and must be text or an object")


# Claude.

_CLAUDE_MEMORY: Final = re.compile(r"(?:.*/)?(?:memories\.json|memories/[^/]+\.json)")
_CLAUDE_PROJECTS: Final = re.compile(r"(?:.*/)?(?:projects\.json|projects/[^/]+\.json)")


def read_claude(path: Path) -> Read:
    """Read what Claude remembers of conversations and projects, split into statements.

    Args:
        path: The zip of a data export, its folder, its `memories.json`, or a text file with one
            memory a line, as Claude's page for moving memories asks for.

    Yields:
        The records.

    Raises:
        ImportRefused: If it is no such file, or the export has no memories.
    """
    if path.is_dir() or is_zip(path):
        with SourceFolder(path) as folder:
            names = [name for name in folder.names() if _CLAUDE_MEMORY.fullmatch(name)]
            if not names:
                raise ImportRefused(
                    str(path),
                    "is no data export of Claude with memories: it has no memories.json; ask"
                    " Claude to list what it remembers, and import that text",
                )
            projects = _project_names(folder)
            for name in names:
                yield from _claude_memories(
                    folder.file(name), f"{path}: {printable(name)}", projects
                )
        return
    if _is_json(path):
        yield from _claude_memories(path, str(path), {})
        return
    yield from read_list(path)


def _project_names(folder: SourceFolder) -> dict[str, str]:
    """Return the names of projects by their ids, as far as the export has them."""
    names: dict[str, str] = {}
    for name in folder.names():
        if not _CLAUDE_PROJECTS.fullmatch(name):
            continue
        file = folder.file(name)
        with mapped(file, name) as data:
            value = JsonFile(data, name).whole() if data else None
        for project in value if isinstance(value, list) else [value]:
            if isinstance(project, Mapping) and isinstance(project.get("uuid"), str):
                names[project["uuid"]] = as_text(project.get("name")) or ""
    return names


def _claude_memories(path: Path, label: str, projects: Mapping[str, str]) -> Read:
    with mapped(path, label) as data:
        file = JsonFile(data, label)
        if file.first_byte() == b"{":
            accounts = [(1, file.whole())]
        else:
            accounts = [(element.line, element.value) for element in file.elements()]
        for line, account in accounts:
            if not isinstance(account, Mapping) or not (_CLAUDE_FIELDS & account.keys()):
                fields = '"conversations_memory" or "project_memories"'
                raise file.error(f"has no memories of Claude: an account has {fields}", line)
            yield from _account(account, f"line {line}", projects)


_CLAUDE_FIELDS: Final = frozenset({"conversations_memory", "project_memories", "memory_files"})


def _account(account: Mapping[str, Any], location: str, projects: Mapping[str, str]) -> Read:
    yield from _statements(account.get("conversations_memory"), "conversations", location, {})
    of_projects = account.get("project_memories")
    for id_, text in of_projects.items() if isinstance(of_projects, Mapping) else ():
        metadata = {"project": id_, "project_name": projects.get(id_, "")}
        yield from _statements(text, f"project {id_}", location, metadata)
    files = account.get("memory_files")
    for file in files if isinstance(files, list) else ():
        name = as_text(file.get("path") or file.get("name")) if isinstance(file, Mapping) else None
        text = (file.get("content") or file.get("text")) if isinstance(file, Mapping) else file
        yield from _statements(text, f"file {name or ''}".strip(), location, {"file": name or ""})


def _statements(text: Any, id_: str, location: str, metadata: Mapping[str, str]) -> Read:
    if text is None or text == "":
        return
    if not isinstance(text, str):
        yield refuse(location, f"the memory of {id_} is {kind_of(text)}, and must be text", id_)
        return
    for statement in statements_of(text.replace("\r\n", "\n")):
        section = " > ".join(statement.headings)
        yield SourceRecord(
            id=id_,
            text=statement.text,
            metadata={
                name: value for name, value in {**metadata, "section": section}.items() if value
            },
            location=location,
        )
