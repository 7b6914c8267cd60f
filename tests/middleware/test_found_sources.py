"""Memory files that are found rather than named: auto, nested, imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, calls, say, tool_messages
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    Imports,
    Layout,
    MemoryMiddleware,
    Source,
    create_deep_agent,
)
from memoryware.errors import LoadError, SettingError
from memoryware.sources.layout import ALL_NAMES
from notes import Notes


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a file at its root and one in a folder."""
    for path, text in {
        ".git/HEAD": "ref: refs/heads/main\n",
        "AGENTS.md": "- Root rule.\n",
        "api/AGENTS.md": "- Api rule.\n",
        "api/main.py": "print()\n",
        "api/v2/AGENTS.md": "- Second version rule.\n",
        "api/v2/app.py": "print(2)\n",
        "web/app.ts": "let x\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def agent_of(model, backend, *, saver=None, **options):
    memory = MemoryMiddleware(backend=backend, **options)
    tools = FileToolsMiddleware(backend=backend)
    return create_agent(model, middleware=[memory, tools], checkpointer=saver)


def shown(model, request=-1):
    """The rules in the prompt, in order."""
    lines = model.system(request).splitlines()
    return [line for line in lines if line.startswith("- ") and line.endswith("rule.")]


def test_auto_finds_the_files_from_the_root_of_the_repository_to_the_start(repo):
    model = ScriptedModel()
    ask(agent_of(model, FilesystemBackend(repo), sources="auto", start="/api"))
    assert shown(model) == ["- Root rule.", "- Api rule."]
    assert "/AGENTS.md takes facts and rules of this project." in model.system()
    assert "A person looks at each change before it is made." in model.system()


async def test_auto_works_through_the_async_door(repo):
    model = ScriptedModel()
    await aask(agent_of(model, FilesystemBackend(repo), sources="auto", start="/api"))
    assert shown(model) == ["- Root rule.", "- Api rule."]


def test_auto_without_a_backend_looks_at_the_disk(repo, monkeypatch):
    monkeypatch.setenv("HOME", str(repo / "nobody"))
    model = ScriptedModel()
    memory = MemoryMiddleware(sources="auto", start=str(repo / "api"))
    ask(create_agent(model, middleware=[memory]))
    assert shown(model) == ["- Root rule.", "- Api rule."]
    assert f"{repo}/api/AGENTS.md" in model.system()


def test_auto_sees_a_file_that_is_made_between_two_runs(repo):
    model = ScriptedModel()
    agent = agent_of(model, FilesystemBackend(repo), sources="auto", start="/web")
    ask(agent)
    assert shown(model) == ["- Root rule."]
    (repo / "web/AGENTS.md").write_text("- Web rule.\n")
    ask(agent)
    assert shown(model) == ["- Root rule.", "- Web rule."]


def test_a_found_file_is_written_only_with_consent(repo):
    model = ScriptedModel(call("append_file", file_path="/AGENTS.md", text="- Mine."))
    agent = agent_of(model, FilesystemBackend(repo), sources="auto", saver=InMemorySaver())
    assert ask(agent, thread="1")["__interrupt__"]
    assert (repo / "AGENTS.md").read_text() == "- Root rule.\n"


def test_a_layout_that_lets_the_agent_write_is_followed(repo):
    model = ScriptedModel(call("edit_memory", old_string="Root", new_string="New"))
    memory = MemoryMiddleware(
        backend=FilesystemBackend(repo), sources="auto", layout=Layout(writable=True)
    )
    (message,) = tool_messages(ask(create_agent(model, middleware=[memory])))
    assert message.status == "error"  # it must say which file
    model.script = [
        call("edit_memory", file_path="/AGENTS.md", old_string="Root", new_string="New"),
        say(),
    ]
    ask(create_agent(model, middleware=[memory]))
    assert (repo / "AGENTS.md").read_text() == "- New rule.\n"


def test_a_file_in_a_folder_joins_from_the_next_model_call_on(repo):
    model = ScriptedModel(
        call("read_file", file_path="/api/v2/app.py"),
        call("read_file", file_path="/web/app.ts"),
        say(),
    )
    agent = agent_of(model, FilesystemBackend(repo), sources=["/AGENTS.md"], nested=True)
    ask(agent)
    assert shown(model, 0) == ["- Root rule."]
    assert shown(model, 1) == ["- Root rule.", "- Api rule.", "- Second version rule."]
    assert shown(model, 2) == shown(model, 1)


async def test_nested_files_join_in_an_async_run_and_stay_in_the_thread(repo):
    model = ScriptedModel(
        calls(
            ("read_file", {"file_path": "/api/main.py"}),
            ("read_file", {"file_path": "/api/none.py"}),
        ),
        say(),
        say(),
    )
    saver = InMemorySaver()
    backend = FilesystemBackend(repo)
    agent = agent_of(model, backend, sources=["/AGENTS.md"], nested=True, saver=saver)
    await aask(agent, thread="1")
    assert shown(model, 1) == ["- Root rule.", "- Api rule."]
    await aask(agent, thread="1")
    assert shown(model) == ["- Root rule.", "- Api rule."]
    await aask(agent, thread="2")
    assert shown(model) == ["- Root rule."]


def test_without_the_option_nothing_joins(repo):
    model = ScriptedModel(call("read_file", file_path="/api/main.py"), say())
    ask(agent_of(model, FilesystemBackend(repo), sources=["/AGENTS.md"]))
    assert shown(model) == ["- Root rule."]


def test_a_nested_file_is_guarded_like_any_other(repo):
    model = ScriptedModel(
        call("read_file", file_path="/api/main.py"),
        call("append_file", file_path="/api/AGENTS.md", text="- Mine."),
        say(),
    )
    backend = FilesystemBackend(repo)
    agent = agent_of(
        model, backend, sources=["/AGENTS.md"], nested=True, layout=Layout(writable=False)
    )
    assert tool_messages(ask(agent))[1].status == "error"
    assert (repo / "api/AGENTS.md").read_text() == "- Api rule.\n"


def test_imports_are_expanded_and_followed_when_they_change():
    notes = Notes({"/AGENTS.md": "- One rule.\n@docs/more.md\n", "/docs/more.md": "- Two rule.\n"})
    model = ScriptedModel()
    agent = agent_of(model, notes, sources=["/AGENTS.md"], imports=True)
    ask(agent)
    assert shown(model) == ["- One rule.", "- Two rule."]
    notes.files["/docs/more.md"] = "- Three rule.\n"
    ask(agent)
    assert shown(model) == ["- One rule.", "- Three rule."]
    ask(agent_of(model, notes, sources=["/AGENTS.md"]))
    assert shown(model) == ["- One rule."]
    assert "@docs/more.md" in model.system()


async def test_imports_ask_before_they_leave_the_project():
    notes = Notes({"/p/AGENTS.md": "@/house/rules.md\n", "/house/rules.md": "- House rule.\n"})
    model, seen = ScriptedModel(), []

    async def approve(importing: str, imported: str) -> bool:
        seen.append((importing, imported))
        return imported == "/house/rules.md"

    await aask(agent_of(model, notes, sources=["/p/AGENTS.md"], imports=Imports(approve=approve)))
    assert shown(model) == ["- House rule."]
    assert seen == [("/p/AGENTS.md", "/house/rules.md")]
    await aask(agent_of(model, notes, sources=["/p/AGENTS.md"], imports=True))
    assert shown(model) == []


def test_an_imported_file_is_guarded_as_a_part_of_its_source():
    notes = Notes({"/a.md": "@more.md\n", "/more.md": "- Two rule.\n"})
    model = ScriptedModel(call("append_file", file_path="/more.md", text="- Mine."), say())
    source = Source("/a.md", writable=False)
    agent = agent_of(model, notes, sources=[source], imports=True)
    assert tool_messages(ask(agent))[0].status == "error"
    assert notes.files["/more.md"] == "- Two rule.\n"


def test_a_required_source_that_is_missing_stops_the_run():
    notes = Notes({"/a.md": "x"})
    sources = ["/a.md", Source("/law.md", required=True)]
    with pytest.raises(LoadError, match=r"/law\.md"):
        ask(agent_of(ScriptedModel(), notes, sources=sources))
    model = ScriptedModel()
    ask(agent_of(model, notes, sources=sources, on_error="warn"))
    assert "[not loaded: /law.md (file_not_found)]" in model.system()


def test_a_source_has_a_budget_of_its_own():
    notes = Notes({"/a.md": "word " * 500, "/b.md": "word " * 500})
    model = ScriptedModel()
    ask(agent_of(model, notes, sources=[Source("/a.md", max_tokens=50), "/b.md"]))
    assert model.system().count("truncated: about") == 1
    assert "of /a.md]" in model.system()


def test_an_agent_of_ours_takes_sources_and_finds_files(repo):
    model = ScriptedModel()
    ask(create_deep_agent(model, memory="auto", backend=FilesystemBackend(repo)))
    assert shown(model) == ["- Root rule."]
    with pytest.raises(SettingError, match="backend="):
        create_deep_agent(model, memory="auto")
    ask(
        create_deep_agent(
            model,
            memory=[Source("/api/AGENTS.md", owner="team")],
            backend=FilesystemBackend(repo),
        )
    )
    assert "/api/AGENTS.md takes what the team has agreed on." in model.system()


def test_a_link_out_of_the_project_is_judged_by_where_it_leads(tmp_path: Path):
    (tmp_path / "p/docs").mkdir(parents=True)
    (tmp_path / "diary.md").write_text("- Diary rule.\n")
    (tmp_path / "p/docs/x.md").symlink_to(tmp_path / "diary.md")
    (tmp_path / "p/AGENTS.md").write_text("@docs/x.md\n")
    model = ScriptedModel()
    ask(agent_of(model, FilesystemBackend(tmp_path), sources=["/p/AGENTS.md"], imports=True))
    assert shown(model) == []
    assert "[import refused" in model.system()


def test_a_file_that_two_sources_import_is_shown_once():
    notes = Notes({"/a.md": "@c.md\n", "/b.md": "@c.md\n", "/c.md": "- One rule.\n"})
    model = ScriptedModel()
    ask(agent_of(model, notes, sources=["/a.md", "/b.md"], imports=True))
    assert shown(model) == ["- One rule."]


def test_a_secret_in_an_imported_file_is_told_with_that_file_and_its_line(caplog):
    token = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
    notes = Notes({"/a.md": "- x\n@c.md\n", "/c.md": f"- One rule.\n- {token}\n"})
    ask(agent_of(ScriptedModel(), notes, sources=["/a.md"], imports=True))
    assert "memory source /c.md, line 2, holds" in caplog.text


TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"


@pytest.mark.parametrize(
    "first",
    [
        call("append_file", file_path="/api/AGENTS.md", text="- Ignore the team."),
        call("write_file", file_path="/api/v2/agents.md", content="- x\n"),
        call("write_file", file_path="/web/AGENTS.md", content="- A new one.\n"),
        call("delete", file_path="/api/AGENTS.md"),
        call("delete", file_path="/api"),
        call("append_file", file_path="/api/main.py/../AGENTS.md", text="- x"),
    ],
)
@pytest.mark.parametrize("found", [{"sources": "auto"}, {"sources": ["/x.md"], "nested": True}])
def test_a_file_that_would_join_is_guarded_before_it_has_joined(repo, first, found):
    before = {path: path.read_text() for path in sorted(repo.rglob("*.*")) if path.is_file()}
    backend = FilesystemBackend(repo)
    result = ask(agent_of(ScriptedModel(first), backend, layout=Layout(writable=False), **found))
    assert tool_messages(result)[0].status == "error"
    assert {
        path: path.read_text() for path in sorted(repo.rglob("*.*")) if path.is_file()
    } == before


def test_a_secret_does_not_get_into_a_file_that_would_join(repo):
    model = ScriptedModel(call("append_file", file_path="/api/AGENTS.md", text=f"- {TOKEN}"))
    backend = FilesystemBackend(repo)
    result = ask(agent_of(model, backend, sources="auto", layout=Layout(writable=True)))
    assert tool_messages(result)[0].status == "error"
    assert TOKEN not in (repo / "api/AGENTS.md").read_text()


def test_other_files_are_free_where_memory_is_found(repo):
    model = ScriptedModel(call("write_file", file_path="/api/notes.md", content=f"- {TOKEN}"))
    result = ask(agent_of(model, FilesystemBackend(repo), sources="auto"))
    assert tool_messages(result)[0].status == "success"


@pytest.mark.parametrize("run", [ask, aask])
async def test_a_link_that_was_checked_out_as_text_is_followed_into_the_prompt(tmp_path, run):
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("CLAUDE.md")
    (tmp_path / "CLAUDE.md").write_text("- Prices are in euro.\n")
    model = ScriptedModel()
    layout = Layout(names=[*ALL_NAMES], user=False)
    backend = FilesystemBackend(root_dir=tmp_path)
    memory = MemoryMiddleware(backend=backend, sources="auto", start="/", layout=layout)
    result = run(create_agent(model, middleware=[memory]))
    if run is aask:
        await result
    assert "Prices are in euro" in model.system()


def test_a_listed_source_that_is_such_a_link_is_said_once(tmp_path, caplog):
    (tmp_path / "AGENTS.md").write_text("docs/CLAUDE.md\n")
    (tmp_path / "B.md").write_text("- Read docs/CLAUDE.md\n")
    backend = FilesystemBackend(root_dir=tmp_path)
    memory = MemoryMiddleware(backend=backend, sources=["/AGENTS.md", "/B.md"])
    agent = create_agent(ScriptedModel(), middleware=[memory])
    for _ in range(2):
        ask(agent)
    assert caplog.text.count("checked out as text") == 1
    assert "/AGENTS.md holds nothing but the path docs/CLAUDE.md" in caplog.text
