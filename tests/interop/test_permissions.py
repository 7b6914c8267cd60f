"""deepagents' permission rules hold for our backends, links included."""

from __future__ import annotations

import pytest
from deepagents import FilesystemPermission, create_deep_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from kit import ScriptedModel, ask, call, tool_messages
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.state import StateBackend

NO_SECRETS = FilesystemPermission(operations=["read", "write"], paths=["/m/secret/**"], mode="deny")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.md").write_text("the key\n")
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "a.md").write_text("public text\n")
    (tmp_path / "public" / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    (tmp_path / "public" / "door").symlink_to(tmp_path / "secret")
    return tmp_path


def mounted(folder):
    return CompositeBackend(StateBackend(), {"/m/": FilesystemBackend(root_dir=folder)})


def texts(result):
    return [(one.status, one.text) for one in tool_messages(result)]


@pytest.mark.parametrize("path", ["/m/secret/key.md", "/m/public/link.md", "/m/public/door/key.md"])
def test_a_denied_file_stays_closed_under_every_name(folder, path):
    model = ScriptedModel(
        call("read_file", file_path=path),
        call("edit_file", file_path=path, old_string="key", new_string="stolen"),
        call("grep", pattern="key", output_mode="content"),
    )
    result = ask(create_deep_agent(model=model, backend=mounted(folder), permissions=[NO_SECRETS]))
    read, edit, grep = texts(result)
    assert (read[0], edit[0]) == ("error", "error")
    assert "permission denied" in read[1]
    assert "permission denied" in edit[1]
    assert "the key" not in grep[1]
    assert (folder / "secret" / "key.md").read_text() == "the key\n"


def test_what_is_not_denied_works_as_before(folder):
    model = ScriptedModel(
        call("read_file", file_path="/m/public/a.md"),
        call("edit_file", file_path="/m/public/a.md", old_string="public", new_string="open"),
        call("delete", file_path="/m/public/a.md"),
    )
    result = ask(create_deep_agent(model=model, backend=mounted(folder), permissions=[NO_SECRETS]))
    assert [status for status, _ in texts(result)] == ["success", "success", "success"]
    assert not (folder / "public" / "a.md").exists()


def test_a_mount_is_not_deleted_by_their_tool(folder):
    model = ScriptedModel(call("delete", file_path="/m"), call("delete", file_path="/"))
    result = ask(create_deep_agent(model=model, backend=mounted(folder)))
    assert [status for status, _ in texts(result)] == ["error", "error"]
    assert "mounted at '/m'" in texts(result)[0][1]
    assert (folder / "public" / "a.md").exists()


def test_a_rule_that_asks_a_human_stops_the_run_before_the_write(folder):
    ask_first = FilesystemPermission(operations=["write"], paths=["/m/**"], mode="interrupt")
    model = ScriptedModel(
        call("edit_file", file_path="/m/public/a.md", old_string="public", new_string="approved")
    )
    agent = create_deep_agent(
        model=model, backend=mounted(folder), permissions=[ask_first], checkpointer=InMemorySaver()
    )
    paused = ask(agent, thread="one")
    assert "__interrupt__" in paused
    assert (folder / "public" / "a.md").read_text() == "public text\n"
    decision = {"decisions": [{"type": "approve"}]}
    result = agent.invoke(Command(resume=decision), {"configurable": {"thread_id": "one"}})
    assert texts(result)[0][0] == "success"
    assert (folder / "public" / "a.md").read_text() == "approved text\n"
