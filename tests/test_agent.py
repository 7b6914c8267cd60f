"""`create_deep_agent`: what is in it, in which order, and what it refuses."""

from __future__ import annotations

import json

import pytest
from langchain.agents.middleware import dynamic_prompt
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
    create_deep_agent,
    file_memory,
)
from memoryware.errors import ModelMissing, SettingError


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


DOCUMENTED = ["~/.deepagents/AGENTS.md", "./.deepagents/AGENTS.md"]


@pytest.fixture
def home_and_project(tmp_path, monkeypatch):
    files = []
    for name in ("home", "project"):
        file = tmp_path / name / ".deepagents" / "AGENTS.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"- tea in {name}\n")
        files.append(file)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project")
    return files


@pytest.mark.parametrize("run", [ask, aask])
@pytest.mark.parametrize(
    "wrapped", [lambda disk: disk, HistoryBackend, lambda disk: lambda _: disk]
)
async def test_the_tools_save_into_the_memory_of_a_middleware_of_ones_own(
    home_and_project, wrapped, run
):
    script = [
        call("edit_file", file_path=DOCUMENTED[0], old_string="tea", new_string="milk"),
        call("append_file", file_path=DOCUMENTED[1], text="- cocoa"),
    ]
    model = ScriptedModel(*script)
    disk = wrapped(FilesystemBackend(root_dir="/"))
    agent = create_deep_agent(
        model, middleware=[MemoryMiddleware(backend=disk, sources=DOCUMENTED)]
    )
    result = run(agent)
    if run is aask:
        await result

    assert home_and_project[0].read_text() == "- milk in home\n"
    assert home_and_project[1].read_text() == "- tea in project\n- cocoa\n"
    assert "tea in home" in model.system(0)
    assert "milk in home" in model.system(1)


def test_memory_reads_where_file_tools_of_ones_own_write(tmp_path, backend):
    model = ScriptedModel(
        call("edit_file", file_path="/AGENTS.md", old_string="tea", new_string="milk")
    )
    tools = FileToolsMiddleware(backend=backend)
    ask(create_deep_agent(model, memory=["/AGENTS.md"], middleware=[tools]))

    assert "Prefers tea." in model.system(0)
    assert "Prefers milk." in model.system(1)
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers milk."

    model = ScriptedModel()
    ask(create_deep_agent(model, memory="auto", middleware=[tools]))
    assert "Prefers milk." in model.system(0)


def test_the_tools_use_what_an_overridden_get_backend_returns(tmp_path, backend):
    class Own(MemoryMiddleware):
        def _get_backend(self, state, runtime, config):
            return backend

    model = ScriptedModel(
        call("edit_file", file_path="/AGENTS.md", old_string="tea", new_string="milk")
    )
    ask(create_deep_agent(model, middleware=[Own(backend=None, sources=["/AGENTS.md"])]))
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers milk."


def test_two_memories_with_two_backends_are_warned_of(tmp_path, backend, caplog):
    other = FilesystemBackend(root_dir=tmp_path / "other")
    memories = [
        MemoryMiddleware(backend=one, sources=["/AGENTS.md"], name=name)
        for one, name in ((backend, "first"), (other, "second"))
    ]
    create_deep_agent(ScriptedModel(), middleware=memories)
    assert "2 different backends" in caplog.text

    caplog.clear()
    create_deep_agent(ScriptedModel(), middleware=memories, backend=backend)
    create_deep_agent(ScriptedModel(), middleware=memories[:1])
    assert "different backends" not in caplog.text


def test_a_disk_that_nobody_named_is_not_given_to_the_tools(tmp_path, monkeypatch, caplog):
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    (tmp_path / "secret.txt").write_text("deep water")
    monkeypatch.chdir(tmp_path)
    model = ScriptedModel(call("read_file", file_path=str(tmp_path / "secret.txt")))
    result = ask(create_deep_agent(model, middleware=[MemoryMiddleware(sources="auto")]))

    assert "Prefers tea." in model.system(0)
    assert "deep water" not in tool_messages(result)[0].text
    assert "do not get" in caplog.text


def test_the_prompt_of_an_anthropic_model_has_the_cache_marks_of_the_peer(tmp_path, backend):
    anthropic = pytest.importorskip("langchain_anthropic")
    deepagents = pytest.importorskip("deepagents")
    from deepagents.backends import FilesystemBackend as TheirDisk
    from langchain_core.outputs import ChatGeneration, ChatResult

    payloads = []

    class Claude(anthropic.ChatAnthropic):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            payloads.append(self._get_request_payload(messages, stop=stop, **kwargs))
            return ChatResult(generations=[ChatGeneration(message=say())])

    model = Claude(model="claude-sonnet-4-5", api_key="none")
    theirs = TheirDisk(root_dir=tmp_path, virtual_mode=True)
    for make, files in ((create_deep_agent, backend), (deepagents.create_deep_agent, theirs)):
        ask(make(model, memory=["/AGENTS.md"], backend=files, system_prompt="base"))

    marked = [
        (
            [block["text"] for block in payload["system"] if "cache_control" in block],
            "cache_control" in payload["tools"][-1],
            payload.get("cache_control"),
        )
        for payload in payloads
    ]
    (ours, *others), (their_blocks, *their_others) = marked
    assert others == their_others == [True, {"type": "ephemeral", "ttl": "5m"}]
    assert len(ours) == len(their_blocks) == 2
    assert "Prefers tea." in ours[-1]

    from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware

    mine = AnthropicPromptCachingMiddleware(ttl="1h")
    ask(create_deep_agent(model, memory=["/AGENTS.md"], backend=backend, middleware=[mine]))
    assert payloads[-1]["cache_control"]["ttl"] == "1h"
