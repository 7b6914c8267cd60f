"""What is read out of messages, states and updates."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph.types import Command, Send
from pydantic import BaseModel

from memoryware.tiers.messages import (
    content_of,
    first_text,
    has_user,
    kind_of,
    last_human_text,
    media_in,
    messages_in,
    outside_tools,
    text_of,
)

IMAGE = {"type": "image", "url": "https://example.org/x.png"}
CALL = {"name": "web", "args": {}, "id": "1", "type": "tool_call"}


class Report(BaseModel):
    title: str = "Orders"


@dataclass
class Data:
    content: str = "of a dataclass"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (HumanMessage("x"), "human"),
        (AIMessageChunk("x"), "ai"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        ({"role": "user", "content": "x"}, "human"),
        ({"role": "assistant", "content": "x"}, "ai"),
        ({"type": "ai", "content": "x"}, "ai"),
        (("user", "x"), "human"),
        (("ai", "x"), "ai"),
        (RemoveMessage(id="1"), "remove"),
        ({"type": "report", "content": "x"}, ""),
        ({"role": "user"}, ""),
        (("messages", []), ""),
        ("user", ""),
        (None, ""),
    ],
)
def test_messages_are_known_in_every_form_that_langchain_reads(message, kind):
    assert kind_of(message) == kind


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (" plain ", "plain"),
        (AIMessage([{"type": "text", "text": "one "}, IMAGE, "two"]), "one two"),
        ([{"type": "text", "text": "block"}, IMAGE], "block"),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "of a mapping"}]},
            "of a mapping",
        ),
        (("ai", "of a pair"), "of a pair"),
        (AIMessage([{"type": "reasoning", "reasoning": "hm"}]), ""),
        (AIMessage("", tool_calls=[CALL]), ""),
        ([{"type": "text", "text": None}], ""),
        (7, ""),
        (None, ""),
    ],
)
def test_text_parts_are_taken_and_nothing_else(content, text):
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"messages": [HumanMessage("q"), AIMessage("one"), AIMessage("two")]}, "two"),
        ({"messages": [AIMessage("one"), AIMessage("", tool_calls=[CALL])]}, "one"),
        ({"messages": {"role": "assistant", "content": "one"}}, "one"),
        ({"messages": [("ai", "one")]}, "one"),
        ({"messages": ("ai", "one")}, "one"),
        ([AIMessage("one")], "one"),
        (AIMessage("one"), "one"),
        ({"content": [{"type": "text", "text": "one"}, IMAGE]}, "one"),
        ({"messages": [], "agent_output": "one"}, "one"),
        ({"type": "report", "content": "one"}, "one"),
        ({"content": " ", "final_report": " one "}, "one"),
        (Command(update={"content": "one"}, goto="x"), "one"),
        (Command(update=[("topic", "no"), ("content", "one")]), "one"),
        (Command(update={"content": AIMessage("one")}), "one"),
        ([Command(update={"content": "no"}), Command(update={"content": "one"})], "one"),
        ([Command(update={"content": "one"}), Send("x", {"content": "no"})], "one"),
        (Data("one"), "one"),
        ("one", "one"),
    ],
)
def test_the_text_of_a_node_is_found(result, text):
    found = content_of(result)
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    "result",
    [
        None,
        {},
        7,
        [],
        {"content": 7},
        {"content": {"title": "structured, and nobody has asked for it"}},
        {"content": True},
        {"messages": [HumanMessage("q")]},
        {"messages": [ToolMessage("page", tool_call_id="1")]},
        {"messages": [RemoveMessage(id="1")]},
        {"messages": [AIMessage([IMAGE])]},
        Command(goto="x"),
        [Send("x", {"content": "no"})],
    ],
)
def test_what_is_no_text_of_a_node_is_left_alone(result):
    assert content_of(result) is None


def test_a_message_that_was_there_before_is_not_said_again():
    old, same = AIMessage("old", id="1"), AIMessage("old")
    assert content_of({"messages": [HumanMessage("q"), old]}, before=[old]) is None
    assert content_of({"messages": [AIMessage("changed", id="1")]}, before=[old]) is None
    assert content_of({"messages": [same]}, before=[AIMessage("old")]) is None
    new = content_of({"messages": [old, AIMessage("new", id="2")]}, before=[old])
    assert new is not None
    assert new.text == "new"


def test_a_structured_answer_is_json_where_it_is_asked_for():
    for value in (Report(), {"title": "Orders"}):
        found = content_of({"structured_response": value}, "structured_response")
        assert found is not None
        assert found.text == '{"title": "Orders"}'
    listed = content_of({"rows": [{"a": 1}]}, "rows")
    assert listed is not None
    assert listed.text == '[{"a": 1}]'
    assert content_of({"structured_response": None}, "structured_response") is None


def test_what_a_node_says_of_its_text_goes_along():
    said = AIMessage(
        [{"type": "text", "text": "x"}, IMAGE, IMAGE], additional_kwargs={"verify_pending": True}
    )
    metadata = {"mine": 1}
    found = content_of({"messages": [said], "confidence": 0.5, "metadata": metadata})
    assert found is not None
    assert found.metadata == {
        "confidence": 0.5,
        "mine": 1,
        "verify_pending": True,
        "media": {"image": 2},
    }
    assert metadata == {"mine": 1}


def test_a_function_says_where_the_text_is():
    found = content_of({"a": 1}, lambda update: f" {update['a']} ")
    assert found is not None
    assert found.text == "1"
    assert content_of({"a": 1}, lambda update: None) is None


def test_the_newest_words_of_a_person_are_the_question():
    messages = [HumanMessage("first"), ("user", "second"), AIMessage("no")]
    assert last_human_text(messages) == "second"
    assert last_human_text([HumanMessage([IMAGE])]) == ""
    assert last_human_text([]) == ""
    assert has_user(messages)
    assert not has_user([AIMessage("x")])


def test_tools_are_named_by_their_messages_their_calls_or_the_provider():
    asked = AIMessage("", tool_calls=[CALL])
    assert outside_tools([asked, ToolMessage("page", tool_call_id="1")]) == {"web"}
    assert outside_tools([ToolMessage("page", tool_call_id="9", name="db")]) == {"db"}
    assert outside_tools([ToolMessage("page", tool_call_id="9")]) == {""}
    todos = ToolMessage("x", tool_call_id="9", name="write_todos")
    assert outside_tools([todos]) == {"write_todos"}
    assert outside_tools([ToolMessage("x", tool_call_id="9", name="db")], inside=("db",)) == set()
    mapping = {"role": "tool", "content": "page", "tool_call_id": "1"}
    assert outside_tools([asked, mapping]) == {"web"}
    cited = {"type": "text", "text": "x", "annotations": [{"type": "citation", "url": "http://x"}]}
    assert outside_tools([AIMessage([cited])]) == {"server_tool"}


def test_states_of_every_kind_are_read():
    assert first_text({"topic": " ", "content": " x "}, ("topic", "content")) == "x"
    assert first_text(Data("x"), ("topic", "content")) == "x"
    assert first_text({"topic": 7}, ("topic",)) == ""
    assert first_text(None, ("topic",)) == ""
    assert messages_in({"messages": "text"}) == []
    assert messages_in([HumanMessage("x"), 7]) == [HumanMessage("x")]
    assert media_in(AIMessage([IMAGE, {"type": "input_file"}])) == {"image": 1, "file": 1}
