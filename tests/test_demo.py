"""The model of the pages follows its rules with every kind of memory."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    MemoryScope,
    TieredMemory,
    TieredMemoryMiddleware,
)
from memoryware.demo import DemoModel


def ask(agent, text):
    return agent.invoke({"messages": text})["messages"][-1].text


@pytest.fixture
def backend(tmp_path):
    return FilesystemBackend(root_dir=tmp_path)


@pytest.mark.parametrize("tools", [["append_file"], ["write_file", "edit_file"], None])
def test_it_saves_what_it_is_told_to_remember_and_answers_with_it(backend, tmp_path, tools):
    middleware = [MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])]
    if tools:
        middleware.append(FileToolsMiddleware(backend=backend, tools=["read_file", *tools]))
    agent = create_agent(DemoModel(), middleware=middleware, checkpointer=None)
    assert ask(agent, "When do we release?") == "I do not know."
    assert ask(agent, "Please remember: releases are on Tuesdays.") == "Noted."
    assert ask(agent, "Remember that the till is emptied at six.") == "Noted."
    assert (tmp_path / "AGENTS.md").read_text().splitlines() == [
        "- Releases are on Tuesdays.",
        "- The till is emptied at six.",
    ]
    assert ask(agent, "When do we release?") == "Releases are on Tuesdays."
    assert ask(agent, "Who empties the till?") == "The till is emptied at six."
    assert ask(agent, "Thank you.") == "Noted."


def test_it_answers_with_recalled_memories_and_saves_with_the_remember_tool():
    memory = TieredMemory.open("memory://")
    middleware = TieredMemoryMiddleware(
        memory, scope=MemoryScope(group_id="shop"), remember_tool=True
    )
    agent = create_agent(DemoModel(), middleware=[middleware])
    memory.promote("The orders are in PostgreSQL 17.", "shop", by="ann")
    assert ask(agent, "Where are the orders?") == "The orders are in PostgreSQL 17."
    assert ask(agent, "Please remember: the till is emptied at six.") == "Noted."
    assert "the till is emptied at six." in [
        entry.content for entry in memory.list("shop", tier="quarantine").items
    ]


def test_without_a_tool_it_says_so():
    answer = DemoModel().invoke("Remember: the kettle is new.")
    assert answer.text == "I have no tool that saves this."


async def test_it_works_asynchronously_and_as_a_stream():
    prompt = [
        SystemMessage("<agent_memory>\n/AGENTS.md\n# Shop\n- Tea at four.\n</agent_memory>"),
        HumanMessage("When is tea?"),
    ]
    assert (await DemoModel().ainvoke(prompt)).text == "Tea at four."
    assert "".join([chunk.text async for chunk in DemoModel().astream(prompt)]) == "Tea at four."


def test_two_agents_with_different_tools_share_one_model(backend):
    model = DemoModel()
    memory = [MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])]
    with_files = create_agent(
        model,
        middleware=[*memory, FileToolsMiddleware(backend=backend)],
        checkpointer=InMemorySaver(),
    )
    without = create_agent(model, middleware=memory)
    thread = {"configurable": {"thread_id": "1"}}
    with_files.invoke({"messages": "Remember: tea at four."}, thread)
    without.invoke({"messages": "Remember: cake at five."})
    ran = with_files.invoke({"messages": "When is cake?"}, thread)
    assert ran["messages"][-1].text == "Cake at five."
