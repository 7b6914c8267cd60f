"""Writes of an agent to memory files, held to the rules of their owners."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from kit import ScriptedModel, aask, ask, call, calls, say, tool_messages
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    Guard,
    MemoryMiddleware,
    Source,
)
from notes import Notes

TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
NOTES = "".join(f"- Room {n} has {n} windows and {n + 1} doors.\n" for n in range(12))
THREAD = {"configurable": {"thread_id": "1"}}


def agent_of(model, backend, sources, *, saver=None, tools=True, **options):
    """An agent with memory and file tools on one backend."""
    memory = MemoryMiddleware(backend=backend, sources=sources, **options)
    files = [FileToolsMiddleware(backend=backend)] if tools else []
    return create_agent(model, middleware=[memory, *files], checkpointer=saver)


def asked(result):
    """The one request that a run is waiting with."""
    (interrupt,) = result["__interrupt__"]
    (request,) = interrupt.value["action_requests"]
    return request


def resume(agent, *decisions):
    return agent.invoke(Command(resume={"decisions": list(decisions)}), THREAD)


def test_a_write_to_a_read_only_file_is_refused_with_the_right_file_named():
    notes = Notes({"/team.md": "- Be kind.\n", "/me.md": ""})
    sources = [Source("/team.md", owner="team", writable=False), Source("/me.md", owner="user")]
    model = ScriptedModel(
        call("append_file", file_path="./team.md", text="- Be quick."),
        call("append_file", file_path="/me.md", text="- Likes tea."),
    )
    result = ask(agent_of(model, notes, sources))
    refused, done = tool_messages(result)

    assert (refused.status, done.status) == ("error", "success")
    assert "/me.md (what holds for this user everywhere)" in refused.text
    assert notes.files == {"/team.md": "- Be kind.\n", "/me.md": "- Likes tea.\n"}


def test_the_prompt_says_which_file_takes_which_note():
    notes = Notes({"/team.md": "- Be kind.", "/me.md": "- Tea.", "/own.md": ""})
    sources = [
        Source("/team.md", owner="team", writable=False),
        Source("/me.md", owner="user", writable="ask"),
        Source("/own.md", owner="agent"),
    ]
    model = ScriptedModel()
    ask(agent_of(model, notes, sources))
    prompt = model.system()
    assert "/team.md may only be read; it holds what the team has agreed on." in prompt
    assert "/me.md takes what holds for this user everywhere. A person looks at" in prompt
    assert "/own.md is empty and takes your own notes on how to do your work." in prompt


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"file_path": "/a.md", "content": f"- x\n- token {TOKEN}\n"}),
        ("append_file", {"path": "a.md", "text": f"token {TOKEN}"}),
        ("edit_file", {"file_path": "/a.md", "old_string": "tea", "new_string": TOKEN}),
        ("edit_memory", {"old_string": "tea", "new_string": TOKEN}),
    ],
)
def test_a_secret_is_refused_by_every_tool_and_told_by_kind_and_line(tool, args):
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call(tool, **args))
    result = ask(agent_of(model, notes, ["/a.md"], tools=tool != "edit_memory"))
    (message,) = tool_messages(result)

    assert message.status == "error"
    assert "line " in message.text
    assert "secrets are never stored" in message.text
    assert TOKEN not in message.text
    assert notes.files == {"/a.md": "- likes tea\n"}


async def test_a_secret_is_refused_by_the_async_door_as_well():
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call("append_file", file_path="/a.md", text=f"token {TOKEN}"))
    (message,) = tool_messages(await aask(agent_of(model, notes, ["/a.md"])))
    assert message.status == "error"
    assert notes.files == {"/a.md": "- likes tea\n"}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"file_path": "/a.md", "content": f"- likes tea\n- key {TOKEN} of Bo\n"}),
        ("append_file", {"file_path": "/a.md", "text": f"- key {TOKEN} of Bo"}),
        ("edit_file", {"path": "/a.md", "old_string": "tea", "new_string": f"{TOKEN} of Bo"}),
    ],
)
def test_a_guard_that_redacts_lets_the_rest_of_the_text_through(tool, args):
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call(tool, **args))
    result = ask(agent_of(model, notes, ["/a.md"], guard=Guard(on_secret="redact")))
    assert "Not stored, because secrets do not belong there: line" in tool_messages(result)[0].text
    assert TOKEN not in notes.files["/a.md"]
    assert "[redacted: " in notes.files["/a.md"]
    assert " of Bo" in notes.files["/a.md"]


def test_other_files_than_memory_are_none_of_the_gates_business():
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call("write_file", file_path="/b.txt", content=f"token {TOKEN}"))
    ask(agent_of(model, notes, ["/a.md"]))
    assert TOKEN in notes.files["/b.txt"]


def test_a_link_or_another_case_of_letters_does_not_get_around_a_read_only_file(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("- Be kind.\n")
    (tmp_path / "link.md").symlink_to("AGENTS.md")
    backend = FilesystemBackend(tmp_path)
    model = ScriptedModel(
        calls(
            ("append_file", {"file_path": "/link.md", "text": "x"}),
            ("append_file", {"file_path": f"{tmp_path}/AGENTS.md", "text": "x"}),
            ("append_file", {"file_path": "/agents.MD", "text": "x"}),
            ("delete", {"file_path": "/link.md"}),
        )
    )
    result = ask(agent_of(model, backend, [Source("/AGENTS.md", writable=False)]))
    assert [one.status for one in tool_messages(result)] == ["error"] * 4
    assert (tmp_path / "AGENTS.md").read_text() == "- Be kind.\n"
    assert (tmp_path / "link.md").is_symlink()


@pytest.mark.parametrize(
    "wipe",
    [
        call("write_file", file_path="/a.md", content="- One line.\n"),
        call("edit_file", file_path="/a.md", old_string=NOTES, new_string="- One line.\n"),
        call("delete", file_path="/a.md"),
    ],
)
def test_a_change_that_loses_most_of_a_file_is_refused_where_nobody_can_be_asked(wipe):
    notes = Notes({"/a.md": NOTES})
    (message,) = tool_messages(ask(agent_of(ScriptedModel(wipe), notes, ["/a.md"])))
    assert message.status == "error"
    assert "nobody can be asked here" in message.text
    assert notes.files == {"/a.md": NOTES}


def test_a_change_that_loses_most_of_a_file_waits_for_a_person_who_sees_the_difference():
    notes = Notes({"/a.md": NOTES})
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- One line.\n"))
    agent = agent_of(model, notes, ["/a.md"], saver=InMemorySaver())
    request = asked(ask(agent, thread="1"))

    assert request["name"] == "write_file"
    assert "/a.md would lose" in request["description"]
    assert "-- Room 3 has 3 windows and 4 doors." in request["description"]
    assert "+- One line." in request["description"]
    assert notes.files == {"/a.md": NOTES}

    (message,) = tool_messages(resume(agent, {"type": "approve"}))
    assert message.status == "success"
    assert notes.files == {"/a.md": "- One line.\n"}


@pytest.mark.parametrize("tools", [True, False])
def test_each_change_of_an_ask_file_waits_for_a_person(tools):
    notes = Notes({"/a.md": "- likes tea\n"})
    name = "edit_file" if tools else "edit_memory"
    model = ScriptedModel(call(name, file_path="/a.md", old_string="tea", new_string="milk"))
    source = Source("/a.md", writable="ask")
    agent = agent_of(model, notes, [source], saver=InMemorySaver(), tools=tools)
    assert asked(ask(agent, thread="1"))["name"] == name
    assert notes.files == {"/a.md": "- likes tea\n"}
    resume(agent, {"type": "approve"})
    assert notes.files == {"/a.md": "- likes milk\n"}


async def test_a_person_is_asked_by_the_async_door_as_well():
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call("append_file", file_path="/a.md", text="- x"))
    agent = agent_of(model, notes, [Source("/a.md", writable="ask")], saver=InMemorySaver())
    assert "needs consent" in asked(await aask(agent, thread="1"))["description"]
    await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert notes.files == {"/a.md": "- likes tea\n- x\n"}


def test_a_rejected_change_is_not_made_and_the_model_hears_why():
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call("append_file", file_path="/a.md", text="- x"))
    agent = agent_of(model, notes, [Source("/a.md", writable="ask")], saver=InMemorySaver())
    ask(agent, thread="1")
    (message,) = tool_messages(resume(agent, {"type": "reject", "message": "Not true."}))
    assert message.status == "error"
    assert "Not true." in message.text
    assert notes.files == {"/a.md": "- likes tea\n"}


def test_a_person_may_change_a_call_but_secrets_stay_out():
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(
        call("append_file", file_path="/a.md", text="- x"),
        call("append_file", file_path="/a.md", text="- y"),
    )
    agent = agent_of(model, notes, [Source("/a.md", writable="ask")], saver=InMemorySaver())
    ask(agent, thread="1")

    def edited(text):
        action = {"name": "append_file", "args": {"file_path": "/a.md", "text": text}}
        return {"type": "edit", "edited_action": action}

    resume(agent, edited("- better"))
    assert notes.files == {"/a.md": "- likes tea\n- better\n"}
    refused = tool_messages(resume(agent, edited(f"- {TOKEN}")))[-1]
    assert refused.status == "error"
    assert notes.files == {"/a.md": "- likes tea\n- better\n"}


def test_a_file_that_changes_while_a_person_thinks_is_not_overwritten():
    notes = Notes({"/a.md": NOTES})
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- One line.\n"))
    agent = agent_of(model, notes, ["/a.md"], saver=InMemorySaver())
    ask(agent, thread="1")
    notes.files["/a.md"] = NOTES + "- News.\n"
    (message,) = tool_messages(resume(agent, {"type": "approve"}))
    assert message.status == "error"
    assert "changed by somebody else" in message.text
    assert notes.files == {"/a.md": NOTES + "- News.\n"}


@pytest.mark.parametrize(
    "answer",
    [
        True,
        "approve",
        {"x": 1},
        {"type": "approved"},
        {"decisions": []},
        {"decisions": [{"type": "approve"}, {"type": "approve"}]},
        {"type": "respond", "message": "done"},
        {"type": "edit"},
        {"type": "edit", "edited_action": {"name": "write_file", "args": {}}},
    ],
)
def test_an_answer_of_another_shape_is_an_error_and_the_question_stays_open(answer):
    notes = Notes({"/a.md": NOTES})
    model = ScriptedModel(call("delete", file_path="/a.md"))
    agent = agent_of(model, notes, ["/a.md"], saver=InMemorySaver())
    ask(agent, thread="1")
    with pytest.raises(ValueError, match="validation error"):
        agent.invoke(Command(resume=answer), THREAD)
    assert notes.files == {"/a.md": NOTES}
    assert len(agent.get_state(THREAD).interrupts) == 1
    resume(agent, {"type": "reject"})
    assert notes.files == {"/a.md": NOTES}


def test_one_decision_alone_is_an_answer():
    notes = Notes({"/a.md": NOTES})
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- new\n"))
    agent = agent_of(model, notes, ["/a.md"], saver=InMemorySaver())
    ask(agent, thread="1")
    agent.invoke(Command(resume={"type": "approve"}), THREAD)
    assert notes.files == {"/a.md": "- new\n"}


def test_where_nobody_can_be_asked_the_developer_hears_it_once(caplog):
    notes = Notes({"/a.md": "- a\n"})
    model = ScriptedModel(
        call("append_file", file_path="/a.md", text="- x"),
        call("append_file", file_path="/a.md", text="- y"),
    )
    result = ask(agent_of(model, notes, [Source("/a.md", writable="ask")]))
    assert all("do not try again" in one.text for one in tool_messages(result))
    assert caplog.text.count("checkpointer=InMemorySaver()") == 1


def test_two_changes_of_one_message_are_one_question_with_two_decisions():
    notes = Notes({"/a.md": "- a\n", "/b.md": "- b\n"})
    model = ScriptedModel(
        calls(
            ("append_file", {"file_path": "/a.md", "text": "- x"}),
            ("append_file", {"file_path": "/b.md", "text": "- y"}),
        )
    )
    sources = [Source("/a.md", writable="ask"), Source("/b.md", writable="ask")]
    agent = agent_of(model, notes, sources, saver=InMemorySaver())
    (waiting,) = ask(agent, thread="1")["__interrupt__"]
    requests = waiting.value["action_requests"]
    assert [one["args"]["file_path"] for one in requests] == ["/a.md", "/b.md"]
    resume(agent, {"type": "approve"}, {"type": "reject"})
    assert notes.files == {"/a.md": "- a\n- x\n", "/b.md": "- b\n"}


def test_a_folder_with_memory_files_is_not_deleted():
    notes = Notes({"/m/a.md": "- a\n", "/m/b.md": "- b\n", "/x.txt": "x"})
    model = ScriptedModel(call("delete", file_path="/m"))
    agent = agent_of(model, notes, ["/m/a.md", "/m/b.md"], saver=InMemorySaver())
    (message,) = tool_messages(ask(agent, thread="1"))
    assert message.status == "error"
    assert "/m/a.md" in message.text
    assert set(notes.files) == {"/m/a.md", "/m/b.md", "/x.txt"}


def test_hidden_regions_survive_a_whole_overwrite_and_an_edit_across_them():
    block = "<!-- BEGIN build -->\n<!-- made by a tool -->\n<!-- END build -->\n"
    notes = Notes({"/a.md": f"- likes tea\n{block}- likes milk\n"})
    model = ScriptedModel(
        call("write_file", file_path="/a.md", content="- likes tea\n- likes milk and water\n"),
        call(
            "edit_file",
            file_path="/a.md",
            old_string="<!-- made by a tool -->",
            new_string="<!-- mine -->",
        ),
    )
    result = ask(agent_of(model, notes, ["/a.md"]))
    first, second = tool_messages(result)
    assert first.status == "success"
    assert notes.files["/a.md"] == f"- likes tea\n{block}- likes milk and water\n"
    assert second.status == "error"
    assert "protected lines" in second.text


def test_a_new_memory_file_is_written_without_a_question():
    notes = Notes({})
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- likes tea\n"), say())
    ask(agent_of(model, notes, ["/a.md"]))
    assert notes.files == {"/a.md": "- likes tea\n"}


def test_without_a_guard_and_with_a_share_of_one_nothing_is_asked_or_refused():
    from memoryware import MemoryLimits

    notes = Notes({"/a.md": NOTES})
    model = ScriptedModel(call("write_file", file_path="/a.md", content=TOKEN))
    limits = MemoryLimits(lost_share=1)
    ask(agent_of(model, notes, ["/a.md"], guard=None, hidden_regions=None, limits=limits))
    assert notes.files == {"/a.md": TOKEN}


def test_a_file_of_others_tools_that_changed_during_an_approval_is_not_overwritten(tmp_path: Path):
    from deepagents.middleware.filesystem import FilesystemMiddleware
    from langchain.agents.middleware import HumanInTheLoopMiddleware

    (tmp_path / "a.md").write_text("- a\n")
    backend = FilesystemBackend(tmp_path)
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- a\n- b\n"))
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/a.md"]),
            FilesystemMiddleware(backend=backend),
            HumanInTheLoopMiddleware(interrupt_on={"write_file": True}),
        ],
        checkpointer=InMemorySaver(),
    )
    ask(agent, thread="1")
    (tmp_path / "a.md").write_text("- a\n- news\n")
    (message,) = tool_messages(resume(agent, {"type": "approve"}))
    assert message.status == "error"
    assert (tmp_path / "a.md").read_text() == "- a\n- news\n"


def test_a_warning_guard_lets_a_secret_in_and_says_so(caplog):
    notes = Notes({"/a.md": "- likes tea\n"})
    model = ScriptedModel(call("append_file", file_path="/a.md", text=f"token {TOKEN}"))
    ask(agent_of(model, notes, ["/a.md"], guard=Guard(on_secret="warn")))
    assert TOKEN in notes.files["/a.md"]
    assert "holds a secret now" in caplog.text
    assert TOKEN not in caplog.text


# What a hostile reader has found.


@pytest.mark.parametrize("door", ["sync", "async"])
async def test_calls_of_one_turn_cannot_make_a_secret_together(door):
    halves = {"AA": TOKEN[:14], "BB": TOKEN[14:]}
    for _ in range(10):
        notes = Notes({"/a.md": "- Bo wrote AABB on it\n"})
        edits = [
            ("edit_file", {"file_path": "/a.md", "old_string": old, "new_string": new})
            for old, new in halves.items()
        ]
        agent = agent_of(ScriptedModel(calls(*edits)), notes, ["/a.md"])
        await aask(agent) if door == "async" else ask(agent)
        assert TOKEN not in notes.files["/a.md"]


def test_calls_of_one_turn_cannot_wipe_a_file_together():
    lines = NOTES.splitlines(keepends=True)
    parts = "".join(lines[:6]), "".join(lines[6:])
    for _ in range(10):
        notes = Notes({"/a.md": NOTES})
        edits = [
            ("edit_file", {"file_path": "/a.md", "old_string": one, "new_string": ""})
            for one in parts
        ]
        ask(agent_of(ScriptedModel(calls(*edits)), notes, ["/a.md"]))
        assert len(notes.files["/a.md"]) >= len(NOTES) * 0.4


@pytest.mark.parametrize("flag", [False, "false", "no", "0"])
def test_an_option_of_the_tools_does_not_get_around_the_rules(flag):
    notes = Notes({"/team.md": "- one two\n- one two\n", "/own.md": "- a b\n- a b\n"})
    sources = [Source("/team.md", writable="ask"), "/own.md"]
    edit = {"old_string": "- one two", "new_string": "- evil", "replace_all": flag}
    secret = {"old_string": "- a b", "new_string": f"- {TOKEN}"}
    model = ScriptedModel(
        calls(
            ("edit_file", {"file_path": "/team.md", **edit}),
            ("edit_file", {"file_path": "/own.md", **secret}),
        )
    )
    memory = MemoryMiddleware(backend=notes, sources=sources)
    tools = FileToolsMiddleware(backend=notes, first_match=True)
    result = ask(create_agent(model, middleware=[memory, tools]))
    assert [one.status for one in tool_messages(result)] == ["error", "error"]
    assert notes.files == {"/team.md": "- one two\n- one two\n", "/own.md": "- a b\n- a b\n"}


@pytest.mark.parametrize("theirs", [True, False])
def test_a_link_does_not_get_around_the_rules_on_a_disk_of_deepagents(tmp_path: Path, theirs):
    from deepagents.backends import FilesystemBackend as TheirDisk
    from deepagents.middleware.filesystem import FilesystemMiddleware

    (tmp_path / "TEAM.md").write_text("- Be kind.\n")
    (tmp_path / "link.md").symlink_to("TEAM.md")
    (tmp_path / "dir").symlink_to(".")
    disk = TheirDisk(root_dir=tmp_path, virtual_mode=True)
    model = ScriptedModel(
        call("edit_file", file_path="/link.md", old_string="kind", new_string="evil"),
        call("write_file", file_path="/dir/TEAM.md", content="evil"),
    )
    memory = MemoryMiddleware(backend=disk, sources=[Source("/TEAM.md", writable=False)])
    tools = FilesystemMiddleware(backend=disk) if theirs else FileToolsMiddleware(backend=disk)
    result = ask(create_agent(model, middleware=[memory, tools]))
    assert ["may only be read" in one.text for one in tool_messages(result)] == [True, True]
    assert (tmp_path / "TEAM.md").read_text() == "- Be kind.\n"


def test_two_sources_that_are_one_file_are_held_to_the_stricter_rule(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("- a\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    backend = FilesystemBackend(tmp_path)
    add = call("append_file", file_path="/AGENTS.md", text="- b")
    ask(agent_of(ScriptedModel(add), backend, ["/AGENTS.md", "/CLAUDE.md"]))
    assert (tmp_path / "AGENTS.md").read_text() == "- a\n- b\n"
    strict = ["/AGENTS.md", Source("/CLAUDE.md", writable=False)]
    add = call("append_file", file_path="/AGENTS.md", text="- c")
    assert tool_messages(ask(agent_of(ScriptedModel(add), backend, strict)))[0].status == "error"


def test_a_person_is_not_shown_parts_of_a_secret():
    hidden = "correct-horse-7"
    notes = Notes({"/a.md": f"- x\nwifi password is {hidden}\n- y\n- z\n"})
    model = ScriptedModel(call("edit_file", file_path="/a.md", old_string="- z", new_string="- zz"))
    agent = agent_of(model, notes, [Source("/a.md", writable="ask")], saver=InMemorySaver())
    request = asked(ask(agent, thread="1"))
    assert hidden not in request["description"]
    assert "+- zz" in request["description"]


def test_an_edit_of_a_file_that_changed_meanwhile_is_asked_about_again():
    notes = Notes({"/a.md": "- rule alpha\n"})
    edit = {"old_string": "alpha", "new_string": "beta", "replace_all": True}
    model = ScriptedModel(call("edit_file", file_path="/a.md", **edit))
    agent = agent_of(model, notes, [Source("/a.md", writable="ask")], saver=InMemorySaver())
    ask(agent, thread="1")
    notes.files["/a.md"] = "- rule alpha\n- another alpha\n"
    (message,) = tool_messages(resume(agent, {"type": "approve"}))
    assert "changed by somebody else" in message.text
    assert notes.files["/a.md"] == "- rule alpha\n- another alpha\n"


def test_bytes_that_look_the_same_are_a_change_too(tmp_path: Path):
    (tmp_path / "a.md").write_bytes(b"- caf\xe9\n")
    model = ScriptedModel(call("write_file", file_path="/a.md", content="- caf\ufffd\n"))
    agent = agent_of(model, FilesystemBackend(tmp_path), [Source("/a.md", writable="ask")])
    assert tool_messages(ask(agent))[0].status == "error"
    assert (tmp_path / "a.md").read_bytes() == b"- caf\xe9\n"


def test_a_marker_does_not_lock_lines_that_were_open():
    text = "# Team\n- Tea. <!-- BEGIN notes -->\n- rule 1\n- rule 2\n"
    notes = Notes({"/a.md": text})
    model = ScriptedModel(call("append_file", file_path="/a.md", text="<!-- END notes -->"))
    (message,) = tool_messages(ask(agent_of(model, notes, ["/a.md"])))
    assert message.status == "error"
    assert notes.files == {"/a.md": text}
