"""Read folders of Markdown: notes of basic-memory, and memory files such as AGENTS.md."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memoryware.errors import ImportRefused, PathRefused
from memoryware.importers._fields import Read, as_text, as_time, refuse, rest_of
from memoryware.importers._files import SourceFolder, is_zip, printable, read_text
from memoryware.importers._markdown_statements import (
    MarkdownStatement,
    front_matter,
    statements_of,
)
from memoryware.importers.records import SourceRecord
from memoryware.sources._import_lines import import_lines
from memoryware.sources.imports import DEFAULT_SUFFIXES
from memoryware.sources.layout import ALL_NAMES, Layout
from memoryware.sources.markdown import spans

_TASK: Final = re.compile(r"\[[ xX/>?-]\]")
_OBSERVATION: Final = re.compile(r"\[(?P<category>[^\[\]()\n]+)\][ \t]+(?P<text>.+)$", re.DOTALL)
_CLOCK: Final = re.compile(r"\d{1,3}:\d{2}")
_RELATION: Final = re.compile(
    r"(?P<type>[^\s\[\]]+|\"[^\"]+\"|'[^']+')[ \t]+\[\[(?P<target>[^\[\]\n]+)\]\]"
    r"(?:[ \t]*\((?P<context>[^\n]*)\))?$"
)
_CONTEXT: Final = re.compile(r"[ \t]\((?P<context>[^()\n]*)\)$")
_TAG: Final = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_LINK: Final = re.compile(r"\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]+)\]\]")
AUTO_MEMORY: Final = "MEMORY.md"
"""The index of the folder in which Claude Code keeps what it learns."""
_FRONT_FIELDS: Final = ("title", "permalink", "created", "modified")


# basic-memory.


def read_basic_memory(path: Path) -> Read:
    """Read notes of basic-memory: observations, relations, and the paragraphs beside them.

    Args:
        path: A folder of notes, its zip, or one note.

    Yields:
        The records.

    Raises:
        ImportRefused: If it has no notes.
    """
    if not (path.is_dir() or is_zip(path)):
        yield from _note(path, path.name, must_be_readable=True)
        return
    with SourceFolder(path) as folder:
        names = folder.names(".md")
        if not names:
            raise ImportRefused(str(path), "has no notes of basic-memory: they are Markdown, *.md")
        for name in names:
            yield from _note(folder.file(name), name)
        yield from (refuse(name, reason) for name, reason in folder.skipped)


def _note(path: Path, name: str, *, must_be_readable: bool = False) -> Read:
    name = printable(name)
    try:
        fields, text, before = front_matter(read_text(path, name))
    except ImportRefused as error:
        if must_be_readable:
            raise
        yield refuse(name, error.message)
        return
    title = as_text(fields.get("title")) or Path(name).stem
    id_ = as_text(fields.get("permalink")) or name.removesuffix(".md")
    said_at = as_time(fields.get("created")) or datetime.fromtimestamp(path.stat().st_mtime, UTC)
    metadata = {"title": title, "file": name, **rest_of(fields, *_FRONT_FIELDS)}
    for statement in statements_of(text, before + 1):
        content, more = _note_statement(statement, title)
        yield SourceRecord(
            id=id_,
            text=content,
            said_at=said_at,
            metadata=metadata | more,
            location=f"{name}, line {statement.line}",
        )


def _note_statement(statement: MarkdownStatement, title: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a statement of a note, and what it is."""
    section = [heading for heading in statement.headings if heading != title]
    more: dict[str, Any] = {"section": " > ".join(section)} if section else {}
    text = statement.text
    if not statement.is_item or _TASK.match(text):
        return _plain_links(text), more
    if relation := _RELATION.match(text):
        kind = relation["type"].strip("\"'")
        target, _, alias = relation["target"].partition("|")
        context = f" ({relation['context']})" if relation["context"] else ""
        words = f"{title} {kind.replace('_', ' ')} {alias or target}{context}"
        return words, {"kind": "relation", "relation": kind, "target": target}
    return _observation(text, title, more)


def _observation(text: str, title: str, more: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return an observation: an item with a category, with tags, or both."""
    match = _OBSERVATION.match(text)
    if match is not None and _CLOCK.match(match["category"]):
        match = None
    content = match["text"].strip() if match else text
    tags = _TAG.findall(content)
    if match is None and not tags:
        return _plain_links(text), more
    content = re.sub(r"[ \t]{2,}", " ", _TAG.sub("", content)).strip() or content
    context = _CONTEXT.search(content)
    fields = {
        "kind": "observation",
        "category": match["category"].strip() if match else "",
        "tags": tags,
        "context": context["context"] if context else "",
    }
    return f"{title}: {_plain_links(content)}", more | rest_of(fields)


def _plain_links(text: str) -> str:
    return _LINK.sub(r"\1", text)


# AGENTS.md, CLAUDE.md and their relatives.


def read_agents_md(path: Path) -> Read:
    """Read memory files of a folder and below: their statements, with their headings.

    Files that they import with `@path` are read as well, if they are in the folder. A folder
    without any known name is one of notes, of which all Markdown files are read.

    Args:
        path: A folder, its zip, or one file.

    Yields:
        The records.

    Raises:
        ImportRefused: If it has no memory files.
    """
    if not (path.is_dir() or is_zip(path)):
        yield from _memory_file(path, path.name, must_be_readable=True)
        return
    layout = Layout(names=ALL_NAMES)
    with SourceFolder(path) as folder:
        names = folder.names()
        queue = deque(name for name in names if layout.name_of(f"/{name}"))
        # Claude Code keeps what it learns in MEMORY.md and in files beside it.
        queue = queue or deque(name for name in names if name.lower().endswith(".md"))
        if not queue:
            raise ImportRefused(
                str(path), "has no memory files: AGENTS.md, CLAUDE.md or others in Markdown"
            )
        listed, taken_paths = set(names), set(queue)
        while queue:
            name = queue.popleft()
            yield from _memory_file(folder.file(name), name)
            for imported, line in _imports(folder.file(name), name):
                if imported not in listed:
                    yield refuse(f"{name}, line {line}", "imports a file that is not in the folder")
                elif imported not in taken_paths:
                    taken_paths.add(imported)
                    queue.append(imported)
        yield from (refuse(name, reason) for name, reason in folder.skipped)


def _imports(path: Path, name: str) -> list[tuple[str, int]]:
    """Return the files that a memory file imports, by their paths in the folder, with lines."""
    try:
        text = read_text(path, name)
    except ImportRefused:
        return []
    folder = posixpath.dirname(name)
    imported = []
    for line in import_lines(text, list(spans(text)), DEFAULT_SUFFIXES, _MOST_IMPORTS):
        number = text.count("\n", 0, line.start) + 1
        imported += [
            (posixpath.normpath(posixpath.join(folder, target)), number) for target in line.paths
        ]
    return imported


_MOST_IMPORTS: Final = 1000


def _memory_file(path: Path, name: str, *, must_be_readable: bool = False) -> Read:
    name = printable(name)
    try:
        whole = read_text(path, name)
        fields, text, before = front_matter(whole)
        text = _without_imports(text)
    except PathRefused:
        yield refuse(name, "has an import whose path is not valid")
        return
    except ImportRefused as error:
        if must_be_readable:
            raise
        yield refuse(name, error.message)
        return
    said_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    for statement in statements_of(text, before + 1):
        yield SourceRecord(
            id=name,
            text=_with_heading(statement),
            said_at=said_at,
            metadata=_file_metadata(name, statement, fields),
            location=f"{name}, line {statement.line}",
        )


def _without_imports(text: str) -> str:
    """Blank the lines that only import files; the files are read by themselves."""
    for line in reversed(import_lines(text, list(spans(text)), DEFAULT_SUFFIXES, _MOST_IMPORTS)):
        text = text[: line.start] + text[line.end :]
    return text


def _with_heading(statement: MarkdownStatement) -> str:
    """Return a statement that can be read alone: an item says little without its heading."""
    # The first heading is the title of the file.
    if not statement.is_item or len(statement.headings) < 2:
        return statement.text
    return f"{statement.headings[-1]}: {statement.text}"


def _file_metadata(
    name: str, statement: MarkdownStatement, fields: Mapping[str, Any]
) -> dict[str, Any]:
    section = " > ".join(statement.headings)
    return {"file": name, **({"section": section} if section else {}), **rest_of(fields)}
