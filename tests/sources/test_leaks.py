"""Looking for secrets in memory that is there already."""

from __future__ import annotations

import logging

import pytest
from langchain.agents import create_agent

from kit import ScriptedModel, aask, ask
from memoryware import FilesystemBackend, Guard, MemoryMiddleware, Source
from memoryware.errors import LoadError, SettingError
from memoryware.sources import Leak, ascan, scan
from notes import Notes

TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"


async def test_a_scan_tells_file_line_and_kind_and_never_the_secret(tmp_path):
    (tmp_path / "a.md").write_text(f"- tea\n- token {TOKEN}\n")
    (tmp_path / "b.md").write_text("- nothing here\n")
    backend = FilesystemBackend(tmp_path)
    sources = ["/a.md", Source("/b.md"), "/missing.md"]
    (leak,) = scan(backend, sources)
    assert (leak.path, leak.line) == ("/a.md", 2)
    assert "GitHub" in leak.kind
    assert TOKEN not in repr(leak)
    assert await ascan(backend, sources) == [leak]
    assert scan(backend, sources, guard=Guard(allow=[TOKEN])) == []


def test_patterns_and_auto_stand_for_the_files_that_are_there(tmp_path, caplog):
    (tmp_path / "notes").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes/x.md").write_text(f"{TOKEN}\n")
    (tmp_path / "AGENTS.md").write_text(f"- a\n- {TOKEN}\n")
    backend = FilesystemBackend(tmp_path)
    assert [one.path for one in scan(backend, ["/notes/*.md", "/AGENTS.md"])] == [
        "/notes/x.md",
        "/AGENTS.md",
    ]
    assert [(one.path, one.line) for one in scan(backend, "auto")] == [("/AGENTS.md", 2)]
    assert scan(backend, ["/Notes/x.md"]) == []
    assert "no file /Notes/x.md to be scanned" in caplog.text


def test_what_cannot_be_read_is_an_error_because_it_may_hold_anything(tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(LoadError, match="/d"):
        scan(FilesystemBackend(tmp_path), ["/d"])
    with pytest.raises(SettingError):
        scan("nowhere", ["/a.md"])


def test_personal_data_is_looked_for_on_request():
    notes = Notes({"/a.md": "- write to bo@example.com\n"})
    assert scan(notes, ["/a.md"]) == []
    (leak,) = scan(notes, ["/a.md"], guard=Guard(personal=["email"]))
    assert isinstance(leak, Leak)
    assert leak.line == 1


@pytest.mark.parametrize("size", [10, 40_000])
async def test_at_load_a_secret_is_warned_of_once_by_line_and_kind(caplog, size):
    caplog.set_level(logging.WARNING, logger="memoryware")
    notes = Notes({"/a.md": "- tea\n" * (size // 6) + f"- token {TOKEN}\n"})
    model = ScriptedModel()
    agent = create_agent(model, middleware=[MemoryMiddleware(backend=notes, sources=["/a.md"])])
    ask(agent)
    await aask(agent)
    warnings = [one.getMessage() for one in caplog.records]
    assert len([one for one in warnings if "looks like a secret" in one]) == 1
    assert f"line {size // 6 + 1}" in caplog.text
    assert TOKEN not in caplog.text
    assert TOKEN in model.system()
