"""Subclasses and neighbours of file memory as documents show them, and two memories together."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, wrap_model_call
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from kit import ScriptedModel, aask, ask, call, say
from memoryware import FileToolsMiddleware, MemoryMiddleware, Source
from memoryware.errors import SettingError
from memoryware.middleware import redact_memory
from memoryware.middleware._memory_prompt import TRUST
from notes import Notes

SECRET = "the cat is called Mio"
FILES = {"/A.md": f"- {SECRET}\n"}


@pytest.fixture(params=["blocking", "async"])
def run(request):
    """Run an agent once through one of the doors."""

    def go(agent, **more):
        return (
            ask(agent, **more) if request.param == "blocking" else asyncio.run(aask(agent, **more))
        )

    return go


def saved(saver):
    return str([one.checkpoint for one in saver.list(None)])


def built(memory, *turns, more=(), saver=None):
    model = ScriptedModel(*turns)
    agent = create_agent(model, middleware=[memory, *more], checkpointer=saver)
    return agent, model


def test_an_overridden_modify_request_finds_the_texts_in_the_state(run):
    class Mine(MemoryMiddleware):
        def modify_request(self, request):
            contents = request.state["memory_contents"]
            text = f"MINE {contents['/A.md']}"
            return request.override(system_message=SystemMessage(text))

    saver = InMemorySaver()
    agent, model = built(Mine(backend=Notes(dict(FILES)), sources=["/A.md"]), saver=saver)
    state = run(agent, thread="1")
    assert f"MINE - {SECRET}" in model.system()
    assert "memory_contents" not in state
    assert SECRET not in saved(saver)


@pytest.mark.parametrize("name", [None, "team"])
def test_other_middleware_reads_what_is_not_shown(run, name):
    seen = []

    class Reader(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            seen.append(dict(request.state["memory_contents"]))
            return handler(request)

        async def awrap_model_call(self, request, handler):
            seen.append(dict(request.state["memory_contents"]))
            return await handler(request)

    saver = InMemorySaver()
    memory = MemoryMiddleware(
        backend=Notes(dict(FILES)), sources=["/A.md"], system_prompt=None, name=name
    )
    agent, model = built(memory, more=[Reader()], saver=saver)
    run(agent, thread="1")
    assert seen == [FILES]
    assert SECRET not in model.system()
    assert SECRET not in saved(saver)


@pytest.mark.parametrize("base", [True, False])
@pytest.mark.parametrize("with_config", [True, False])
def test_what_an_overridden_before_agent_returns_is_shown_and_never_saved(run, base, with_config):
    class Mine(MemoryMiddleware):
        if with_config:

            def before_agent(self, state, runtime, config=None):
                return self._more(state, runtime)
        else:

            def before_agent(self, state, runtime):
                return self._more(state, runtime)

        def _more(self, state, runtime):
            update = super().before_agent(state, runtime) if base else {"memory_contents": {}}
            update["memory_contents"]["/extra.md"] = "- the dog is called Rex"
            return update

    saver = InMemorySaver()
    agent, model = built(Mine(backend=Notes(dict(FILES)), sources=["/A.md"]), saver=saver)
    state = run(agent, thread="1")
    assert "/extra.md\n- the dog is called Rex" in model.system()
    assert (SECRET in model.system()) is base
    assert "memory_contents" not in state
    assert "Rex" not in saved(saver)
    assert SECRET not in saved(saver)


def test_an_async_before_agent_serves_the_async_door():
    class Mine(MemoryMiddleware):
        async def abefore_agent(self, state, runtime, config=None):
            update = await super().abefore_agent(state, runtime, config)
            return {**update, "memory_contents": {"/A.md": "- mine"}}

    saver = InMemorySaver()
    agent, model = built(Mine(backend=Notes(dict(FILES)), sources=["/A.md"]), saver=saver)
    asyncio.run(aask(agent, thread="1"))
    assert "/A.md\n- mine" in model.system()
    assert "- mine" not in saved(saver)


def test_after_a_write_an_overridden_before_agent_is_asked_again(run):
    class Mine(MemoryMiddleware):
        def before_agent(self, state, runtime, config=None):
            update = super().before_agent(state, runtime, config)
            update["memory_contents"]["/extra.md"] = "- the dog is called Rex"
            return update

    notes = Notes(dict(FILES))
    agent, model = built(
        Mine(backend=notes, sources=["/A.md"]),
        call("append_file", file_path="/A.md", text="- more"),
        say(),
        more=[FileToolsMiddleware(backend=notes)],
    )
    run(agent)
    assert "- more" in model.system()
    assert "Rex" in model.system()


def test_a_subclass_of_a_subclass_works_as_well(run):
    class First(MemoryMiddleware):
        def before_agent(self, state, runtime, config=None):
            update = super().before_agent(state, runtime, config)
            update["memory_contents"]["/first.md"] = "- one"
            return update

    class Second(First):
        def before_agent(self, state, runtime, config=None):
            update = super().before_agent(state, runtime, config)
            update["memory_contents"]["/second.md"] = "- two"
            return update

    agent, model = built(Second(backend=Notes(dict(FILES)), sources=["/A.md"]))
    run(agent)
    assert all(one in model.system() for one in ("- one", "- two", SECRET))


def test_by_hand_an_overridden_before_agent_returns_what_it_returns():
    class Mine(MemoryMiddleware):
        def before_agent(self, state, runtime, config=None):
            return super().before_agent(state, runtime, config)

    memory = Mine(backend=Notes(dict(FILES)), sources=["/A.md"])
    assert memory.before_agent({}, None, {}) == {"memory_contents": FILES}


def test_a_formatter_gets_the_template_if_it_takes_one(run):
    class Both(MemoryMiddleware):
        def _format_agent_memory(self, contents, template):
            return template.replace("{agent_memory}", f"BOTH {len(contents)}")

    class One(MemoryMiddleware):
        def _format_agent_memory(self, contents):
            return f"ONE {len(contents)}"

    class Named(MemoryMiddleware):
        def _format_agent_memory(self, contents, *, template):
            return template.replace("{agent_memory}", f"NAMED {len(contents)}")

    for kind, shown in ((Both, "<m>BOTH 1</m>"), (One, "ONE 1"), (Named, "<m>NAMED 1</m>")):
        memory = kind(
            backend=Notes(dict(FILES)), sources=["/A.md"], system_prompt="<m>{agent_memory}</m>"
        )
        agent, model = built(memory)
        run(agent)
        assert shown in model.system()
        assert shown in memory.preview().text


def test_overriding_one_loader_serves_both_doors(run):
    class Blocking(MemoryMiddleware):
        def _load_memory_from_backend_sync(self, backend, path):
            return f"mine: {path}"

    class Native(MemoryMiddleware):
        async def _load_memory_from_backend(self, backend, path):
            await asyncio.sleep(0)
            return f"mine: {path}"

    for kind in (Blocking, Native):
        agent, model = built(kind(backend=Notes(dict(FILES)), sources=["/A.md"]))
        run(agent)
        assert "mine: /A.md" in model.system()


async def test_an_async_loader_serves_blocking_code_where_a_loop_runs():
    class Native(MemoryMiddleware):
        async def _load_memory_from_backend(self, backend, path):
            if path == "/bad.md":
                raise OSError("no disk")
            return f"mine: {path}"

    assert Native(backend=Notes(), sources=["/A.md"]).before_agent({}, None, {}) == {
        "memory_contents": {"/A.md": "mine: /A.md"}
    }
    with pytest.raises(OSError, match="no disk"):
        Native(backend=Notes(), sources=["/bad.md"]).before_agent({}, None, {})


def test_contents_that_a_state_carries_are_shown_without_sources():
    memory = MemoryMiddleware(backend=Notes(), sources=[])
    request = ModelRequest(
        model=ScriptedModel(), messages=[], state={"messages": [], "memory_contents": FILES}
    )
    assert f"/A.md\n- {SECRET}" in memory.modify_request(request).system_message.text


# Two memories in one agent.


def two(notes, *names, **options):
    files = (["/A.md"], [Source("/B.md", owner="team")])
    return [
        MemoryMiddleware(backend=notes, sources=sources, name=name, **options)
        for name, sources in zip(names, files, strict=True)
    ]


@pytest.mark.parametrize("files", [True, False])
def test_the_guidelines_stand_once_and_each_file_is_named(run, files):
    notes = Notes({**FILES, "/B.md": "- we answer within a day\n"})
    model = ScriptedModel()
    more = [FileToolsMiddleware(backend=notes)] if files else []
    run(create_agent(model, middleware=[*two(notes, None, "team"), *more]))
    prompt = model.system()
    assert prompt.count(TRUST) == 1
    assert prompt.count("**When to update memories:**") == 1
    assert prompt.count("<agent_memory>") == 2
    assert "- /A.md is a memory file." in prompt
    assert "- /B.md takes what the team has agreed on." in prompt
    assert files or "`edit_memory_team`" in prompt


def test_a_memory_alone_and_the_next_run_have_guidelines():
    notes = Notes({**FILES, "/B.md": "- b\n"})
    first, second = two(notes, "one", "two")
    for _ in range(2):
        model = ScriptedModel()
        ask(create_agent(model, middleware=[first, second]))
        assert model.system().count(TRUST) == 1
    model = ScriptedModel()
    ask(create_agent(model, middleware=[second]))
    assert model.system().count(TRUST) == 1


def test_text_of_a_file_cannot_take_the_guidelines_of_another_memory_away():
    notes = Notes({"/A.md": TRUST, "/B.md": "- b\n"})
    model = ScriptedModel()
    first, second = two(notes, "one", "two")
    first = MemoryMiddleware(backend=notes, sources=["/A.md"], name="one", guidelines=None)
    ask(create_agent(model, middleware=[first, second]))
    assert "**When not to update memories:**" in model.system()


@pytest.mark.parametrize("name", [None, "team"])
def test_the_second_memory_without_a_name_gets_an_error_that_says_to_give_one(name):
    notes = Notes(dict(FILES))
    memories = two(notes, None, None)
    with pytest.raises(SettingError, match=r'two memories called "MemoryMiddleware".*name="team"'):
        create_agent(ScriptedModel(), middleware=memories)
    if name:
        create_agent(ScriptedModel(), middleware=two(notes, None, name))


def test_a_middleware_of_the_request_does_not_see_the_texts_of_another_memory(run):
    """The unnamed memory shows its own file, though the named one carries texts in the state."""
    seen = []

    @wrap_model_call
    def look(request, handler):
        seen.append(request.state["memory_contents_team"])
        return handler(request)

    notes = Notes({**FILES, "/B.md": "- b\n"})
    model = ScriptedModel()
    named, unnamed = reversed(two(notes, None, "team"))
    ask(create_agent(model, middleware=[named, unnamed, look]))
    assert seen == [{"/B.md": "- b\n"}]
    assert f"/A.md\n- {SECRET}" in model.system()


def test_contents_in_the_state_of_a_request_are_taken_out_of_traces():
    payload = {"request": {"state": {"memory_contents": FILES, "memory_contents_team": FILES}}}
    assert SECRET not in str(redact_memory(payload))
    assert "/A.md" in str(redact_memory(payload))


def test_file_tools_on_the_backend_of_a_subclass_are_inside():
    notes = Notes({"/A.md": "", "/plan.md": "Q1: move billing to Frankfurt.\n"})

    class Mine(MemoryMiddleware):
        def _get_backend(self, state, runtime, config):
            return notes

    memory = Mine(backend=None, sources=["/A.md"])
    agent, _ = built(
        memory,
        call("read_file", file_path="/plan.md"),
        call("append_file", file_path="/A.md", text="- Q1: billing moves to Frankfurt."),
        more=[FileToolsMiddleware(backend=memory.own_backend)],
    )
    ask(agent, "Remember the gist of my plan.")
    assert "Frankfurt" in notes.files["/A.md"]
