"""What is recorded: what the model really said, once, and nothing else."""

from __future__ import annotations

from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    hook_config,
)
from langchain.agents.middleware.types import AgentMiddleware, ModelResponse
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.caches import InMemoryCache
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from kit import ScriptedModel, call, say
from memoryware import MemoryScope
from memoryware.middleware.tiered import TieredMemoryMiddleware
from middleware.tiered.rig import (
    ANSWER,
    FACT,
    OTHER,
    a_memory,
    an_agent,
    aturn,
    entries,
    known,
    roots,
    texts,
    turn,
)


@tool
def look_up(word: str) -> str:
    """Look something up."""
    return f"{word} means something else in another country"


class Failing(ScriptedModel):
    def _generate(self, *args, **kwargs):
        super()._generate(*args, **kwargs)
        raise ConnectionError("no model today")


def with_text(text, message):
    return message.model_copy(update={"content": text})


def test_the_last_answer_goes_to_quarantine_and_to_working_memory():
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(ANSWER)), name="clerk")
    result = turn(agent, "When do deliveries leave?", "t", user_id="ann")

    assert result["messages"][-1].text == ANSWER
    (entry,) = entries(memory)
    assert entry.content == ANSWER
    assert entry.scope == MemoryScope(
        tenant=None,
        group_id="shop",
        user_id="ann",
        agent_id="clerk",
        session_id="t",
        node_id="model",
    )
    assert entry.role == "agent"
    assert entry.metadata["node_id"] == "model"
    assert entry.metadata["agent_id"] == "clerk"
    assert entry.metadata["created_at"]
    assert texts(memory, "working") == [ANSWER]
    assert texts(memory, "longterm") == []


async def test_the_async_door_records_the_same():
    memory = a_memory()
    await aturn(an_agent(memory, ScriptedModel(say(ANSWER))), "When do deliveries leave?")

    assert texts(memory) == texts(memory, "working") == [ANSWER]


def test_the_text_before_a_tool_call_is_no_final_answer():
    memory = a_memory()
    turns = with_text("I will look that up.", call("look_up", word="x")), say(ANSWER)
    turn(an_agent(memory, ScriptedModel(*turns), tools=[look_up]), "hello")

    assert texts(memory) == [ANSWER]


def test_a_run_that_ends_with_a_tool_has_no_final_answer():
    @tool(return_direct=True)
    def show(word: str) -> str:
        """Show something to the person."""
        return f"{word} is shown"

    memory = a_memory()
    turn(
        an_agent(memory, ScriptedModel(with_text(ANSWER, call("show", word="x"))), tools=[show]),
        "x",
    )

    assert texts(memory) == []


def test_each_model_call_is_recorded_on_request_but_no_bare_tool_call():
    memory = a_memory()
    turns = with_text("I will look that up.", call("look_up", word="x")), call("look_up", word="y")
    agent = an_agent(
        memory,
        ScriptedModel(*turns, say(ANSWER)),
        tools=[look_up],
        record="each_model_call",
        checkpointer=InMemorySaver(),
    )
    turn(agent, "hello", "t")
    turn(agent, "hello", "t")

    assert texts(memory) == ["I will look that up.", ANSWER, "done"]


def test_with_record_none_nothing_is_recorded_and_nothing_is_kept_in_mind():
    memory, saver = known(), InMemorySaver()
    agent = an_agent(memory, ScriptedModel(say(ANSWER)), record=None, checkpointer=saver)
    turn(agent, "Where are the orders?", "t")

    assert texts(memory) == []
    held = agent.get_state({"configurable": {"thread_id": "t"}}).values
    assert set(held) == {"messages"}


class Blocks(AgentMiddleware):
    @hook_config(can_jump_to=["end"])
    def before_model(self, state, runtime):
        return {
            "messages": [AIMessage(content=f"blocked: {OTHER}", id="made")],
            "jump_to": "end",
        }


class Appends(AgentMiddleware):
    def after_agent(self, state, runtime):
        return {"messages": [AIMessage(content=f"By the way: {OTHER}")]}


class AnswersItself(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        return ModelResponse(result=[AIMessage(content=f"Cached: {OTHER}", id="cached")])

    async def awrap_model_call(self, request, handler):
        return self.wrap_model_call(request, handler)


class Replaces(AgentMiddleware):
    def wrap_model_call(self, request, handler):
        handler(request)
        return AIMessage(content=f"Mine instead: {OTHER}")


@pytest.mark.parametrize("record", ["final", "each_model_call"])
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("maker", [Blocks, Appends, AnswersItself, Replaces])
def test_what_a_middleware_made_is_not_recorded(maker, side, record):
    memory = a_memory()
    agent = an_agent(memory, ScriptedModel(say(ANSWER)), **{side: [maker()]}, record=record)
    result = turn(agent, "hello")

    assert OTHER in result["messages"][-1].text
    # Who stands before us speaks after us: then our model had the last word when we recorded.
    first = maker is Appends and (side == "before" or record == "each_model_call")
    assert texts(memory) == ([ANSWER] if first else [])


@pytest.mark.parametrize("side", ["before", "after"])
def test_the_message_of_a_call_limit_is_not_recorded(side):
    memory = a_memory()
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    model = ScriptedModel(with_text("I will look.", call("look_up", word="x")), say(ANSWER))
    agent = an_agent(memory, model, tools=[look_up], **{side: [limit]})
    result = turn(agent, "hello")

    assert "limit" in result["messages"][-1].text
    assert texts(memory) == []


@pytest.mark.parametrize("side", ["before", "after"])
def test_the_apology_of_a_retry_is_not_recorded(side):
    memory = a_memory()
    retry = ModelRetryMiddleware(max_retries=1, on_failure="continue", initial_delay=0)
    result = turn(an_agent(memory, Failing(), **{side: [retry]}), "hello")

    assert isinstance(result["messages"][-1], AIMessage)
    assert texts(memory) == []


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_fallback_is_shown_memory_once_and_recorded_once(side):
    memory = known(FACT)
    asked = []
    retrieve = memory.retrieve
    memory.retrieve = lambda *a, **k: asked.append(a) or retrieve(*a, **k)
    first, second = Failing(), ScriptedModel(say(ANSWER))
    fallback = ModelFallbackMiddleware(second)
    turn(an_agent(memory, first, **{side: [fallback]}), "Where are the orders kept?")

    assert [sum(FACT in one.text for one in model.requests[0]) for model in (first, second)] == [
        1,
        1,
    ]
    assert len(asked) == 1
    assert texts(memory) == [ANSWER]


@pytest.mark.parametrize("retrieve", ["run", "call"])
def test_a_retry_of_a_step_asks_memory_once(retrieve):
    memory = known(FACT)
    asked = []
    inner = memory.retrieve
    memory.retrieve = lambda *a, **k: asked.append(a) or inner(*a, **k)

    class Once(ScriptedModel):
        def _generate(self, *args, **kwargs):
            result = super()._generate(*args, **kwargs)
            if len(self.requests) == 1:
                raise ConnectionError("once")
            return result

    model = Once(say("lost"), say(ANSWER))
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0)
    turn(an_agent(memory, model, before=[retry], retrieve=retrieve), "Where are the orders kept?")

    assert len(model.requests) == 2
    assert len(asked) == 1
    assert texts(memory) == [ANSWER]


def test_a_model_that_raises_leaves_nothing():
    memory = a_memory()
    with pytest.raises(ConnectionError):
        turn(an_agent(memory, Failing(say(ANSWER)), record="each_model_call"), "hello")

    assert texts(memory) == []


def test_a_tool_that_raises_leaves_nothing():
    @tool
    def explode() -> str:
        """Explode."""
        raise RuntimeError("bang")

    memory = a_memory()
    model = ScriptedModel(with_text(ANSWER, call("explode")))
    with pytest.raises(RuntimeError):
        turn(an_agent(memory, model, tools=[explode]), "hello")

    assert texts(memory) == []


async def test_an_answer_that_was_streamed_is_recorded_whole_and_once():
    for door in ("stream", "astream"):
        memory = known(FACT)
        model = GenericFakeChatModel(messages=iter([AIMessage(ANSWER)]))
        agent = an_agent(memory, model, recall_tool=False)
        given, more = {"messages": [HumanMessage("hello")]}, {"context": {"group_id": "shop"}}
        if door == "stream":
            chunks = list(agent.stream(given, stream_mode="messages", **more))
        else:
            chunks = [one async for one in agent.astream(given, stream_mode="messages", **more)]
        assert len(chunks) > 5
        assert texts(memory) == [ANSWER]


def test_an_answer_from_the_cache_of_langchain_is_recorded_in_each_thread():
    memory = a_memory()
    model = ScriptedModel(say(ANSWER), cache=InMemoryCache())
    agent = an_agent(memory, model, retrieve=None, checkpointer=InMemorySaver())
    for thread in ("one", "two"):
        turn(agent, "hello", thread)

    assert len(model.requests) == 1
    assert texts(memory) == [ANSWER, ANSWER]
    assert texts(memory, "working") == [ANSWER]


def test_two_memories_of_one_agent_record_one_answer_once():
    memory = a_memory()
    agent = create_agent(
        ScriptedModel(say(ANSWER)),
        middleware=[
            TieredMemoryMiddleware(memory, record_user=False),
            TieredMemoryMiddleware(memory, record_user=False, name="two"),
        ],
        context_schema=dict,
    )
    turn(agent, "hello", "t")

    assert texts(memory) == texts(memory, "working") == [ANSWER]


def test_text_parts_are_recorded_and_pictures_are_noted():
    memory = a_memory()
    content = [
        {"type": "text", "text": ANSWER},
        {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"},
        {"type": "reasoning", "reasoning": "I must not say this aloud."},
        {"type": "text", "text": " That is all."},
    ]
    turn(an_agent(memory, ScriptedModel(AIMessage(content=content))), "hello")

    (entry,) = entries(memory)
    assert entry.content == f"{ANSWER} That is all."
    assert entry.metadata["media"] == {"image": 1}


@pytest.mark.parametrize(
    "content", ["", "  \n", [], [{"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}]]
)
def test_a_message_without_text_is_no_content(content):
    memory = a_memory()
    turn(an_agent(memory, ScriptedModel(AIMessage(content=content))), "hello")

    assert texts(memory) == []


def test_a_question_of_a_picture_alone_is_no_query_and_no_error():
    memory = known(FACT)
    model = ScriptedModel(say(ANSWER))
    picture = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}
    turn(an_agent(memory, model), [HumanMessage([picture])])

    assert model.requests[0][-1].content == [picture]
    assert texts(memory) == [ANSWER]


class Price(BaseModel):
    article: str
    euros: int


def structured(asked, model, response_format, **more):
    memory = a_memory()
    agent = an_agent(
        memory, model, response_format=response_format, record_structured=asked, **more
    )
    return memory, agent


@pytest.mark.parametrize("record", ["final", "each_model_call"])
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_a_structured_response_is_recorded_as_json_if_asked(strategy, asked, record):
    plain = '{"article": "tea", "euros": 3}'
    said = call("Price", article="tea", euros=3) if strategy is ToolStrategy else say(plain)
    memory, agent = structured(asked, ScriptedModel(said), strategy(Price), record=record)
    result = turn(agent, "What is tea?", "t")

    assert result["structured_response"] == Price(article="tea", euros=3)
    assert texts(memory) == ([plain] if asked else [])
    if asked:
        assert entries(memory)[0].metadata["structured"] is True


def test_a_structured_response_does_not_make_later_answers_untrusted():
    turns = [call("Price", article="tea", euros=3) for _ in range(3)]
    memory, agent = structured(
        True, ScriptedModel(*turns), ToolStrategy(Price), checkpointer=InMemorySaver()
    )
    for n in range(3):
        turn(agent, f"What is tea today, day {n}?", "t", user_id="ann")

    assert [roots(one) for one in entries(memory)] == [["agent:", "user:ann"]] * 3


def test_what_others_noted_of_a_message_goes_with_it():
    class Doubts(AgentMiddleware):
        def after_model(self, state, runtime):
            last = state["messages"][-1]
            noted = {"verify_pending": True, "confidence": 0.9, "other": 1}
            return {"messages": [last.model_copy(update={"additional_kwargs": noted})]}

    memory = a_memory()
    turn(an_agent(memory, ScriptedModel(say(ANSWER)), after=[Doubts()]), "hello")

    (entry,) = entries(memory)
    assert entry.metadata["verify_pending"] is True
    assert entry.metadata["confidence"] == 0.9
    assert "other" not in entry.metadata
    assert texts(memory, "working") == []


def test_what_another_middleware_has_cut_out_of_an_answer_is_not_recorded():
    class Redacts(AgentMiddleware):
        def after_model(self, state, runtime):
            last = state["messages"][-1]
            shorter = last.model_copy(update={"content": last.text.replace("Norway", "***")})
            return {"messages": [shorter]}

    for side in ("before", "after"):
        memory = a_memory()
        turn(an_agent(memory, ScriptedModel(say(ANSWER)), **{side: [Redacts()]}), "hello")
        assert texts(memory) == [ANSWER.replace("Norway", "***")]


@pytest.mark.parametrize(
    ("role", "quarantine", "working"),
    [
        ("agent", 1, 1),
        ("fact_check", 1, 0),
        ("other", 1, 0),
        ("memory_retrieval", 0, 0),
        ("tool", 1, 0),
    ],
)
def test_the_role_says_where_an_answer_goes(role, quarantine, working):
    memory = a_memory()
    turn(an_agent(memory, ScriptedModel(say(ANSWER)), role=role), "hello")

    assert (len(texts(memory)), len(texts(memory, "working"))) == (quarantine, working)
    assert all(one.role == role for one in entries(memory))


def test_a_node_of_a_graph_says_the_role_and_gives_its_name():
    from langgraph.graph import MessagesState, StateGraph

    memory = a_memory()
    graph = StateGraph(MessagesState, context_schema=dict)
    agent = an_agent(memory, ScriptedModel(say(ANSWER)))
    graph.add_node("checker", agent, metadata={"memory_role": "fact_check"})
    graph.set_entry_point("checker")
    turn(graph.compile(), "hello")

    (entry,) = entries(memory)
    assert (entry.role, entry.scope.node_id) == ("fact_check", "checker")
    assert texts(memory, "working") == []


def test_a_fact_check_recalls_what_was_promoted_and_little_of_it():
    memory = known(*(f"{FACT} Shelf number {n}." for n in range(4)))
    memory.record(ANSWER, "shop")
    model = ScriptedModel()
    turn(an_agent(memory, model, role="fact_check"), "Where are the orders of the shop?")

    text = model.requests[0][-1].text
    assert text.count("long-term memory") == 2
    assert ANSWER not in text


def test_results_of_tools_go_to_quarantine_on_request():
    memory = a_memory()
    model = ScriptedModel(call("look_up", word="gift"), say(ANSWER))
    turn(an_agent(memory, model, tools=[look_up], record_tools=True), "hello", user_id="ann")

    result, answer = entries(memory)
    assert result.content == "gift means something else in another country"
    assert (result.role, str(result.provenance.origin)) == ("tool", "tool:look_up")
    assert result.metadata["tool"] == "look_up"
    assert answer.content == ANSWER
    assert texts(memory, "working") == [ANSWER]


async def test_a_tool_that_returns_a_command_is_recorded_in_the_async_door():
    @tool
    def fetch(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Fetch something."""
        return Command(update={"messages": [ToolMessage(OTHER, tool_call_id=tool_call_id)]})

    memory = a_memory()
    model = ScriptedModel(call("fetch"), say(ANSWER))
    await aturn(an_agent(memory, model, tools=[fetch], record_tools=True), "hello")

    assert texts(memory) == [OTHER, ANSWER]
    assert roots(entries(memory)[0]) == ["tool:fetch"]
    assert "tool:fetch" in roots(entries(memory)[1])
