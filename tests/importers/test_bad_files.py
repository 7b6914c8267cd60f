"""Files that are damaged, or were made to do harm: a typed error with the line, and no entry."""

from __future__ import annotations

import base64
import json
import os
import pickle
import sqlite3
import zipfile

import pytest

from importers.sources import FILES, refusals, texts
from memoryware import TieredMemory
from memoryware.errors import ImportRefused
from memoryware.importers import import_memories

GOOD = '{"results": [\n  {"id": "1", "memory": "a b c"},\n  {"id": "2", "memory": "d e f"}\n]}'
BAD = {
    "empty": ("mem0", b"", "is empty", 0),
    "blank": ("mem0", b" \n\n", "is empty", 0),
    "cut off": ("mem0", GOOD[:-12].encode(), "cut off", 3),
    "cut within a text": ("mem0", GOOD[:60].encode(), "cut off", 3),
    "comma": ("mem0", b'[{"id": "1", "memory": "a"}\n{"id": 2}]', "not valid JSON", 2),
    "rest": ("mem0", b"[]\n[]", "after the end", 2),
    "number": ("mem0", b'[{"memory": 1e999}]', "too large", 1),
    "twice": ("mem0", b'[\n\n{"memory": "a", "memory": "b"}]', "twice", 3),
    "twice at the top": ("mem0", b'{"a": 1,\n"a": 2}', "twice", 2),
    "deep": ("mem0", b"[" * 100_000, "cut off", 1),
    "deep and whole": ("mem0", b"[" * 100_000 + b"]" * 100_000, "nested too deep", 1),
    "latin-1": ("mem0", '[\n{"memory": "M\u00fcnchen"}]'.encode("latin-1"), "not UTF-8", 2),
    "odd utf-16": ("mem0", "\ufeff[]".encode("utf-16-le") + b"x", "not valid UTF-16", 0),
    "no list": ("mem0", b'{"count": 0}', "no list of memories", 0),
    "results": ("mem0", b'{"results": "none"}', "no list of memories", 1),
    "text": ("mem0", b"hello", "must begin with", 1),
    "image": ("mem0", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "must begin with", 1),
    "lines": ("mcp", b'{"type": "entity", "name": "a"}\n{"type":\n', "not valid JSON", 2),
    "not letta": ("letta", b'{"tools": []}', "no memory of Letta", 0),
    "conversations": (
        "claude",
        b'[{"uuid": "1", "chat_messages": []}]',
        "no memories of Claude",
        1,
    ),
    "no memories": ("chatgpt", b"- \n- \n", "must have one a line", 0),
    "binary": ("claude", b"abc\0\0", "NUL", 0),
    "zip": ("chatgpt", b"PK\x03\x04 cut off", "not a complete zip", 0),
    "sqlite": ("langgraph", b"SQLite format 3\0" + b"x" * 2000, "cannot be read", 0),
}


@pytest.mark.parametrize("case", BAD)
def test_a_damaged_file_is_refused_with_its_line_and_imports_nothing(tmp_path, case):
    system, content, problem, line = BAD[case]
    file = tmp_path / "file.txt"
    file.write_bytes(content)
    with TieredMemory.open("memory://") as memory:
        with pytest.raises(ImportRefused, match=problem) as refused:
            import_memories(memory, file, "shop", system=system)
        assert (refused.value.line, refused.value.path) == (line, str(file))
        assert pickle.loads(pickle.dumps(refused.value)).line == line
        assert memory.list("shop").total == 0


def test_records_that_cannot_be_read_are_refused_and_the_others_are_read(tmp_path):
    file = tmp_path / "mem0.json"
    file.write_text(
        '[5, {"id": "1"}, {"id": "2", "memory": 5},\n{"id": "3", "memory": " "},'
        '{"id": "4", "memory": "a b"}, {"id": "5", "memory": "a", "metadata": []}]'
    )
    assert texts(file, "mem0") == ["a b"]
    assert refusals(file, "mem0") == [
        "line 1: is a number, and must be an object",
        "line 1: has no text: the field 'memory' is missing or empty",
        "line 1: the field 'memory' is a number, and must be text",
        "line 2: the field 'memory' is text, and must be text",
        "line 2: the field 'metadata' is a list, and must be an object",
    ]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_every_unicode_encoding_is_read(tmp_path, encoding):
    file = tmp_path / "mem0.json"
    file.write_bytes(json.dumps([{"id": "1", "memory": "in Zürich 🏔"}]).encode(encoding))
    assert texts(file) == ["in Zürich 🏔"]


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/imported-code-ran",)


def test_a_pickle_of_a_qdrant_folder_runs_nothing(tmp_path):
    folder = tmp_path / "collection" / "mem0"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "storage.sqlite") as database:
        database.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        key = base64.b64encode(pickle.dumps("1")).decode()
        database.execute("INSERT INTO points VALUES (?, ?)", (key, pickle.dumps(Evil())))
    database.close()
    with pytest.raises(ImportRefused, match=r"it would run posix\.system"):
        texts(tmp_path)
    assert not os.path.exists("/tmp/imported-code-ran")


@pytest.mark.parametrize(
    "blob", [b"", b"\x80\x04N.", b"x" * 50, pickle.dumps({"id": 1}), None, "text"]
)
def test_a_damaged_point_is_refused(tmp_path, blob):
    with sqlite3.connect(tmp_path / "storage.sqlite") as database:
        database.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        database.execute("INSERT INTO points VALUES ('1', ?)", (blob,))
    database.close()
    with pytest.raises(ImportRefused, match="point 1"):
        texts(tmp_path)


def test_links_out_of_a_folder_are_not_followed(tmp_path):
    (tmp_path / "secret.md").write_text("The key is under the mat.")
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("- one two\n\n@../secret.md\n@sub/inside.md\n@sub/gone.md\n")
    (folder / "sub" / "inside.md").write_text("three four")
    (folder / "sub" / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    (folder / "sub" / "GEMINI.md").symlink_to(folder / "AGENTS.md")
    (folder / "sub" / "loop").symlink_to(folder)
    read = texts(folder)
    assert read == ["one two", "one two", "three four"]
    assert refusals(folder) == [
        "AGENTS.md, line 3: imports a file that is not in the folder",
        "AGENTS.md, line 5: imports a file that is not in the folder",
        *["sub/GEMINI.md, line 3: imports a file that is not in the folder"],
        *["sub/GEMINI.md, line 4: imports a file that is not in the folder"],
        *["sub/GEMINI.md, line 5: imports a file that is not in the folder"],
        "sub/CLAUDE.md: is a link out of the folder",
    ]


def test_a_file_of_a_folder_that_is_no_text_is_refused_alone(tmp_path):
    (tmp_path / "AGENTS.md").write_bytes(b"caf\xe9\n")
    (tmp_path / "CLAUDE.md").write_text("- one two")
    assert texts(tmp_path) == ["one two"]
    assert refusals(tmp_path) == ["AGENTS.md: is not UTF-8; save it as UTF-8"]


def test_names_of_strangers_are_printable_in_messages(tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a\x1b[31m/memories.json", b"{")
    with pytest.raises(ImportRefused) as refused:
        texts(archive, "claude")
    assert str(refused.value).isprintable()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / os.fsdecode(b"caf\xe9\n.md")).write_text("- one two")
    with TieredMemory.open("memory://") as memory:
        assert import_memories(memory, tmp_path / "notes", "g", system="agents-md").recorded == 1
        (item,) = memory.list("g").items
    assert item.record.metadata["agents-md"] == {"file": "caf\ufffd\ufffd.md"}


def test_pipes_missing_files_and_folders_without_memories_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, problem in [
        ("pipe", "neither a file nor a folder"),
        ("gone", "check the path"),
        ("nul\0name", "not a path"),
        (".", "cannot be recognised"),
    ]:
        with pytest.raises(ImportRefused, match=problem):
            texts(os.path.join(tmp_path, name))
    for system in ("mem0", "letta", "chatgpt", "claude", "basic-memory", "agents-md", "mcp"):
        with pytest.raises(ImportRefused):
            texts(tmp_path, system)


def test_an_archive_is_read_by_the_names_in_it_and_writes_nowhere_else(tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("../../memories.json", json.dumps([{"conversations_memory": "Likes tea."}]))
        packed.writestr("/memories.json", json.dumps([{"conversations_memory": "Likes rye."}]))
    assert texts(archive) == ["Likes tea.", "Likes rye."]
    assert [path.name for path in tmp_path.rglob("*")] == ["export.zip"]


def test_a_damaged_member_of_an_archive_is_refused(tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("memories.json", json.dumps([{"conversations_memory": "Likes tea. " * 50}]))
    raw = bytearray(archive.read_bytes())
    raw[60] ^= 255
    archive.write_bytes(raw)
    with pytest.raises(ImportRefused, match="cannot be unpacked"):
        texts(archive, "claude")


def test_a_file_of_another_system_is_refused_by_name(tmp_path):
    for name, system in [
        ("mem0.json", "letta"),
        ("letta.af", "mem0"),
        ("langgraph-store.db", "mem0"),
        ("mem0-qdrant/history.db", "langgraph"),
        ("mcp-memory.jsonl", "mem0"),
        ("mem0.json", "langgraph"),
    ]:
        with pytest.raises(ImportRefused):
            texts(FILES / name, system)
