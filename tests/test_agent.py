"""`create_deep_agent`: what is in it, in which order, and what it refuses."""

from __future__ import annotations

import json

import pytest
from langchain.agents.middleware import dynamic_prompt
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware import (
    FilesystemBackend,
    MemoryMiddleware,
    ModelMissing,
    SettingError,
    create_deep_agent,
    file_memory,
)


@pytest.fixture
def backend(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    return FilesystemBackend(root_dir=tmp_path)


async def test_what_the_agent_learns_is_on_disk_and_in_the_next_run(tmp_path, backend):
    for run, drink in ((ask, "coffee"), (aask, "water")):
        (tmp_path / "AGENTS.md").write_text("Prefers tea.")
        model = ScriptedModel(
            call("edit_file", file_path="/AGENTS.md", old_string="tea", new_string=drink), say()
        )
        agent = create_deep_agent(
            model, memory=["/AGENTS.md"], backend=backend, checkpointer=InMemorySaver()
        )
        for thread in ("t", "t", "other"):
            result = run(agent, thread=thread)
            if run is aask:
                await result

        assert (tmp_path / "AGENTS.md").read_text() == f"Prefers {drink}."
        assert [f"Prefers {drink}." in model.system(n) for n in range(4)] == [
            False,
            True,
            True,
            True,
        ]


def test_memory_text_stands_before_the_text_of_the_file_tools(backend):
    model = ScriptedModel()
    ask(create_deep_agent(model, system_prompt="base", memory=["/AGENTS.md"], backend=backend))
    text = model.system()

    assert text.startswith("base")
    assert 0 < text.index("<agent_memory>") < text.index("</memory_guidelines>")
    tools_text = text.partition("</memory_guidelines>")[2]
    assert "file" in tools_text
    assert "edit_memory" not in model.offered[-1]


def test_a_middleware_that_replaces_the_prompt_does_not_wipe_memory(backend):
    @dynamic_prompt
    def replaced(request):
        return "mine alone"

    model = ScriptedModel()
    ask(create_deep_agent(model, memory=["/AGENTS.md"], backend=backend, middleware=[replaced]))

    assert "mine alone" in model.system()
    assert "Prefers tea." in model.system()


@pytest.mark.parametrize("off", [{"memory": None}, {"memory": []}, {"enable_memory": False}])
def test_memory_can_be_off(backend, off):
    model = ScriptedModel()
    ask(create_deep_agent(model, backend=backend, **{"memory": ["/AGENTS.md"], **off}))

    assert "agent_memory" not in model.system()


def test_the_helper_gives_no_middleware_or_one(backend):
    assert file_memory(None, backend) == []
    assert file_memory([], backend) == []
    assert [type(one) for one in file_memory(["/AGENTS.md"], backend)] == [MemoryMiddleware]


def test_two_memories_of_one_name_are_refused_and_of_two_names_work(backend):
    own = MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])
    with pytest.raises(SettingError, match=r'MemoryMiddleware\(name="team"'):
        create_deep_agent(ScriptedModel(), memory=["/B.md"], backend=backend, middleware=[own])
    named = MemoryMiddleware(backend=backend, sources=["/AGENTS.md"], name="own")
    model = ScriptedModel()
    ask(create_deep_agent(model, memory=["/B.md"], backend=backend, middleware=[named]))

    assert "Prefers tea." in model.system()


def test_a_single_string_for_memory_is_refused(backend):
    with pytest.raises(SettingError, match="give a list of paths"):
        create_deep_agent(ScriptedModel(), memory="/AGENTS.md", backend=backend)


def test_without_a_model_the_environment_is_asked_and_else_the_error_says_what_to_pass(
    backend, monkeypatch
):
    monkeypatch.delenv("MEMORYWARE_MODEL", raising=False)
    with pytest.raises(ModelMissing, match="MEMORYWARE_MODEL"):
        create_deep_agent(backend=backend)
    monkeypatch.setenv("MEMORYWARE_MODEL", "nosuchprovider:x")
    with pytest.raises(ValueError, match="nosuchprovider"):
        create_deep_agent(backend=backend)


def test_state_files_without_a_checkpointer_warn(caplog):
    create_deep_agent(ScriptedModel())
    assert "gone after each run" in caplog.text
    caplog.clear()
    create_deep_agent(ScriptedModel(), checkpointer=InMemorySaver())
    assert caplog.text == ""


def test_a_write_can_wait_for_a_person(tmp_path, backend):
    model = ScriptedModel(
        call("edit_file", file_path="/AGENTS.md", old_string="tea", new_string="coffee")
    )
    agent = create_deep_agent(
        model,
        memory=["/AGENTS.md"],
        backend=backend,
        interrupt_on={"edit_file": True},
        checkpointer=InMemorySaver(),
    )
    result = ask(agent, thread="t")

    assert result["__interrupt__"]
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers tea."


def test_a_config_file_mounts_memories_and_skills_on_disk(tmp_path):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "pdf.md").write_text("how to")
    (tmp_path / "config.json").write_text(json.dumps({"react_prompt": "From the file."}))
    model = ScriptedModel(
        call("write_file", file_path="/memories/AGENTS.md", content="Likes lists."),
        call("write_file", file_path="/temp/notes.txt", content="short-lived"),
        call("ls", path="/skills"),
        say(),
    )
    agent = create_deep_agent(model, config=tmp_path / "config.json", checkpointer=InMemorySaver())
    result = ask(agent, thread="t")
    ask(agent, thread="new")

    assert (tmp_path / "memories" / "AGENTS.md").read_text() == "Likes lists."
    assert list(tmp_path.rglob("notes.txt")) == []
    assert list(result["files"]) == ["/temp/notes.txt"]
    assert "/skills/pdf.md" in tool_messages(result)[2].text
    assert model.system(0).startswith("From the file.")
    assert "/skills/" in model.system(0)
    assert "Likes lists." in model.system()
