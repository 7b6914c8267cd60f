"""What users get wrong, and what happens then."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, ask, call, say, tool_messages
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    StateBackend,
    create_deep_agent,
)
from memoryware.errors import LoadError, SettingError
from notes import Notes


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    return FilesystemBackend(root_dir=tmp_path)


def edit(path="/AGENTS.md", old="tea", new="coffee"):
    return call("edit_file", file_path=path, old_string=old, new_string=new)


def test_a_save_that_goes_to_another_backend_is_noticed(disk, caplog):
    memory = MemoryMiddleware(backend=disk, sources=["/AGENTS.md"])
    model = ScriptedModel(call("append_file", file_path="/AGENTS.md", text="new"), say())
    ask(create_agent(model, middleware=[memory, FileToolsMiddleware(backend=StateBackend())]))

    assert "append_file reported a change of /AGENTS.md" in caplog.text
    assert "the same backend" in caplog.text


def test_a_save_that_arrives_is_not_complained_about(disk, caplog):
    memory = MemoryMiddleware(backend=disk, sources=["/AGENTS.md"])
    model = ScriptedModel(edit(), edit(old="absent"), say())
    ask(create_agent(model, middleware=[memory, FileToolsMiddleware(backend=disk)]))

    assert "reported a change" not in caplog.text


@pytest.mark.parametrize(
    "tools", [{}, {"read_only": True}, {"read_only": ["/AGENTS.md"]}, {"tools": ["read_file"]}]
)
def test_edit_memory_does_nothing_where_it_is_hidden(disk, tmp_path, tools):
    memory = MemoryMiddleware(backend=disk, sources=["/AGENTS.md"])
    model = ScriptedModel(call("edit_memory", old_string="tea", new_string="x"), say())
    agent = create_agent(model, middleware=[memory, FileToolsMiddleware(backend=disk, **tools)])
    (message,) = tool_messages(ask(agent))

    assert "edit_memory" not in model.offered[0]
    assert "edit_memory" not in model.system(0)
    assert message.status == "error"
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers tea."


def test_approval_of_the_file_tools_cannot_be_passed_by(disk, tmp_path):
    memory = MemoryMiddleware(backend=disk, sources=["/AGENTS.md"])
    approval = HumanInTheLoopMiddleware(interrupt_on={"edit_file": True})
    model = ScriptedModel(call("edit_memory", old_string="tea", new_string="x"), say())
    agent = create_agent(
        model,
        middleware=[memory, FileToolsMiddleware(backend=disk), approval],
        checkpointer=InMemorySaver(),
    )
    ask(agent, thread="t")

    assert (tmp_path / "AGENTS.md").read_text() == "Prefers tea."


def test_edit_memory_can_wait_for_a_person_and_then_works_in_another_process(disk, tmp_path):
    saver = InMemorySaver()

    def agent_with(*turns):
        return create_agent(
            ScriptedModel(*turns),
            middleware=[
                MemoryMiddleware(backend=disk, sources=["/AGENTS.md"]),
                HumanInTheLoopMiddleware(interrupt_on={"edit_memory": True}),
            ],
            checkpointer=saver,
        )

    from langgraph.types import Command

    config = {"configurable": {"thread_id": "t"}}
    first = agent_with(call("edit_memory", old_string="tea", new_string="coffee"))
    assert ask(first, thread="t")["__interrupt__"]
    agent_with(say()).invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)

    assert (tmp_path / "AGENTS.md").read_text() == "Prefers coffee."


def test_a_source_that_could_not_be_read_is_not_called_empty(caplog):
    notes = Notes(errors={"/AGENTS.md": "permission_denied"})
    memory = MemoryMiddleware(backend=notes, sources=["/AGENTS.md"], on_error="warn")
    model = ScriptedModel()
    ask(create_agent(model, middleware=[memory]))

    assert "/AGENTS.md could not be read just now; leave it alone" in model.system()
    assert "is empty" not in model.system()
    assert "no memory file was found" not in caplog.text


def test_a_backend_that_fails_in_a_tool_does_not_end_the_run():
    class Down(Notes):
        def edit(self, *args, **kwargs):
            raise ConnectionError("db down")

    memory = MemoryMiddleware(backend=Down({"/A.md": "tea"}), sources=["/A.md"])
    model = ScriptedModel(call("edit_memory", old_string="tea", new_string="x"), say())
    (message,) = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert message.status == "error"
    assert "ConnectionError" in message.text


def test_a_backend_that_raises_while_loading_is_named_with_the_file():
    class Down(Notes):
        def download_files(self, paths):
            raise ConnectionError("db down")

    with pytest.raises(LoadError, match=r"/A.md: ConnectionError: db down. Down raised it") as why:
        MemoryMiddleware(backend=Down(), sources=["/A.md"]).before_agent({}, None, {})
    assert isinstance(why.value.__cause__, ConnectionError)


def test_edit_memory_never_shreds_a_text():
    class Naive(Notes):
        def edit(self, file_path, old_string, new_string, replace_all=False):
            self.files[file_path] = self.files[file_path].replace(old_string, new_string)

    notes = Naive({"/A.md": "abc"})
    memory = MemoryMiddleware(backend=notes, sources=["/A.md"])
    model = ScriptedModel(call("edit_memory", old_string="", new_string="-", replace_all=True))
    (message,) = tool_messages(ask(create_agent(model, middleware=[memory])))

    assert message.status == "error"
    assert notes.files == {"/A.md": "abc"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"sources": None},
        {"sources": Path("/A.md")},
        {"guidelines": "balance"},
        {"guidelines": True},
        {"max_tokens": "100"},
        {"max_tokens": 1.5},
        {"limits": {}},
        {"guard": True},
        {"layout": {}},
    ],
)
def test_an_option_of_the_wrong_kind_says_so_when_built(wrong):
    name = next(iter(wrong))
    with pytest.raises(SettingError, match=name):
        MemoryMiddleware(backend=Notes(), **{"sources": ["/A.md"], **wrong})


def test_sources_may_be_any_iterable_of_paths():
    made = (path for path in ["/A.md", Path("/B.md")])

    assert MemoryMiddleware(backend=Notes(), sources=made).sources == ["/A.md", "/B.md"]


def test_max_tokens_also_opens_the_limit_of_one_source():
    text = "word " * 40_000
    model = ScriptedModel()
    memory = MemoryMiddleware(backend=Notes({"/A.md": text}), sources=["/A.md"], max_tokens=200_000)
    ask(create_agent(model, middleware=[memory]))

    assert "[truncated" not in model.system()


def test_own_file_tools_take_the_place_of_the_built_in_ones(disk, tmp_path):
    own = FileToolsMiddleware(backend=disk, read_only=["/AGENTS.md"], name="mine")
    model = ScriptedModel(edit(), say())
    agent = create_deep_agent(model, memory=["/AGENTS.md"], backend=disk, middleware=[own])
    (message,) = tool_messages(ask(agent))

    assert message.status == "error"
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers tea."
    with pytest.raises(SettingError, match="more than one FileToolsMiddleware"):
        create_deep_agent(model, backend=disk, middleware=[own, FileToolsMiddleware(backend=disk)])


def test_writing_tools_that_do_not_wait_are_told(disk, caplog):
    create_deep_agent(ScriptedModel(), backend=disk, interrupt_on={"edit_file": True})
    assert "interrupt_on covers edit_file, but append_file, delete, write_file" in caplog.text
    caplog.clear()
    every = dict.fromkeys(["edit_file", "append_file", "delete", "write_file"], True)
    create_deep_agent(ScriptedModel(), backend=disk, interrupt_on=every)
    assert caplog.text == ""


@pytest.mark.parametrize(
    "wrong", [{"backend": None}, {"backend": "/x"}, {"name": 3}, {"name": ""}, {"count_tokens": 3}]
)
def test_a_part_that_cannot_work_is_refused_when_built(wrong):
    name = next(iter(wrong))
    with pytest.raises(SettingError, match=name):
        MemoryMiddleware(**{"backend": Notes(), "sources": ["/A.md"], **wrong})


@pytest.mark.parametrize("tokens", [None, [], ["a", "b"]])
def test_a_backend_that_fails_at_fingerprints_is_read(tokens):
    class Odd(Notes):
        def fingerprint(self, paths):
            if tokens is None:
                raise ConnectionError("away")
            return tokens

        async def afingerprint(self, paths):
            return self.fingerprint(paths)

    memory = MemoryMiddleware(backend=Odd({"/A.md": "tea"}), sources=["/A.md"])

    assert memory.before_agent({}, None, {}) == {"memory_contents": {"/A.md": "tea"}}


def test_two_sets_of_file_tools_do_not_end_a_run(disk, tmp_path):
    model = ScriptedModel(call("write_file", file_path="/new.md", content="x"), say())
    sets = [FileToolsMiddleware(backend=disk), FileToolsMiddleware(backend=disk, name="more")]
    (message,) = tool_messages(ask(create_agent(model, middleware=sets)))

    assert message.status == "success"
    assert (tmp_path / "new.md").read_text() == "x"
