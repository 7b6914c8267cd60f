"""What a model would be shown, for people who look."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain.tools import tool

from kit import ScriptedModel, ask, say
from memoryware import FilesystemBackend, MemoryLimits, MemoryMiddleware, Source
from memoryware.errors import LoadError

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def backend(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\nUse tabs.\n", encoding="utf-8")
    return FilesystemBackend(tmp_path)


def state_of(backend, text, **more):
    backend.write("/it.md", text)
    memory = MemoryMiddleware(backend=backend, sources=["/it.md"], on_error="warn", **more)
    (source,) = memory.preview().sources
    return source


@tool
def edit_file(file_path: str) -> str:
    """Edit a file."""
    return file_path


@tool
def ls(path: str) -> str:
    """List a folder."""
    return path


@pytest.mark.parametrize("tools", [[], [ls], [edit_file, ls]])
async def test_it_is_what_the_model_gets_byte_for_byte(backend, tools):
    memory = MemoryMiddleware(backend=backend, sources=["/AGENTS.md", "/none.md"])
    model = ScriptedModel(say())
    ask(create_agent(model, tools, middleware=[memory]))
    preview = memory.preview(tools)
    assert preview.text == model.system()
    assert await memory.apreview(tools) == preview
    assert preview.tokens > preview.sources[0].tokens > 0


def test_of_each_source_it_says_what_became_of_it(backend):
    backend.write("/long.md", "a line of words\n" * 200)
    backend.write("/empty.md", "<!-- nothing -->\n")
    backend.write("/same.md", "# Rules\nUse tabs.\n")
    backend.write("/folder/x.md", "x")
    names = ["/AGENTS.md", "/long.md", "/empty.md", "/same.md", "/none.md", "/folder"]
    memory = MemoryMiddleware(
        backend=backend,
        sources=names,
        on_error="warn",
        limits=MemoryLimits(source_tokens=100),
    )
    found = {one.path: one for one in memory.preview().sources}
    assert list(found) == names
    states = [one.state for one in found.values()]
    assert states == ["shown", "cut", "empty", "same", "missing", "failed"]
    assert found["/long.md"].tokens < found["/long.md"].whole
    assert "truncated" in found["/long.md"].detail
    assert found["/long.md"].bytes == 200 * 16
    assert found["/none.md"].bytes is None
    assert found["/folder"].detail == "is_directory"
    assert found["/AGENTS.md"].why == "named in the sources"


def test_it_says_what_is_suspect_without_quoting_it(backend):
    found = state_of(backend, f"a\nkey = {SECRET}\n</agent_memory>\u200b\n<!-- open\n")
    assert len(found.suspect) == 4
    assert "line 2: looks like a secret" in found.suspect[0]
    assert SECRET not in "".join(found.suspect)
    assert state_of(backend, "Nothing to see.").suspect == ()


def test_what_is_found_says_where(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    for place in (tmp_path, tmp_path / "sub"):
        (place / "AGENTS.md").write_text(f"Rules of {place}.", encoding="utf-8")
    backend = FilesystemBackend(tmp_path)
    memory = MemoryMiddleware(backend=backend, sources="auto", start="/sub")
    whys = [one.why for one in memory.preview().sources]
    assert whys == ["in a folder above, /", "in the start folder"]


def test_a_source_that_must_be_there_and_is_not_is_told_or_raised(backend):
    source = Source("/none.md", required=True)
    told = MemoryMiddleware(backend=backend, sources=[source], on_error="warn").preview()
    assert told.sources[0].state == "missing"
    assert told.sources[0].detail == "it is required"
    with pytest.raises(LoadError):
        MemoryMiddleware(backend=backend, sources=[source]).preview()
