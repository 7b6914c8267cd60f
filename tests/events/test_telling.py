"""To whom an event is told: the writer, the log, and only with the switch with content."""

from __future__ import annotations

import io
import json
import logging
from contextlib import contextmanager

import pytest

from memoryware.events import Counters, EventContext, emit, is_heard, listen, logger
from memoryware.scope import MemoryScope

CANARY = "the canary sings at noon"
WRITTEN = {"path": "/AGENTS.md", "tool": "edit_file", "tool_call": "call-1", "lines_added": 1}
BLOCKED = {"path": "/AGENTS.md", "tool": "edit_file", "tool_call": "call-2"}


@pytest.fixture(autouse=True)
def as_it_was():
    """Leave the logger as it was."""
    before = logger.level
    yield
    logger.setLevel(before)


class JsonLines(logging.Formatter):
    """The formatter of an application: one JSON object for a record, nothing parsed."""

    def format(self, record):
        facts = getattr(record, "memory_facts", {})
        return json.dumps({"level": record.levelname, "said": record.getMessage(), **facts})


@contextmanager
def json_log(at):
    """Log in JSON from a level on; yield what gives the lines so far."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    logger.setLevel(at)
    try:
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    finally:
        logger.removeHandler(handler)


# The writer.


def test_a_writer_gets_the_event_as_one_flat_dictionary():
    chunks = []
    emit(chunks.append, "written", **WRITTEN)
    (chunk,) = chunks
    assert (chunk["type"], chunk["event"], chunk["path"]) == ("memory", "written", "/AGENTS.md")
    assert json.loads(json.dumps(chunk)) == chunk


def test_a_teller_says_on_whose_behalf_it_happened():
    chunks = []
    scope = MemoryScope(user_id="ann", agent_id="writer", session_id="thread-1")
    emit(EventContext(chunks.append, by=scope, memory="team"), "written", **WRITTEN)
    who = {key: chunks[0][key] for key in ("memory", "user", "agent", "thread")}
    assert who == {"memory": "team", "user": "ann", "agent": "writer", "thread": "thread-1"}


def test_who_did_it_may_be_said_with_the_facts_as_well():
    chunks = []
    emit(
        EventContext(chunks.append, by=MemoryScope(user_id="ann")), "written", **WRITTEN, user="bo"
    )
    assert (chunks[0]["user"], chunks[0]["agent"]) == ("bo", None)


def test_what_one_receiver_does_to_an_event_is_not_seen_by_the_next():
    def spoil(event):
        event["path"] = "spoilt"
        event["kinds"].append("spoilt")

    kinds, chunks = ["password"], []
    with listen(spoil), json_log(logging.DEBUG) as lines:
        emit(chunks.append, "write_blocked", **BLOCKED, reason="secret", kinds=kinds, lines=[1])
    for one in (chunks[0], lines()[0]):
        assert (one["path"], one["kinds"]) == ("/AGENTS.md", ["password"])
    assert kinds == ["password"]


# The log.


def test_a_record_of_the_log_has_the_event_and_its_facts_as_values(caplog):
    caplog.set_level(logging.DEBUG, "memoryware")
    emit(None, "written", **WRITTEN)
    (record,) = caplog.records
    assert record.memory_event == "written"
    assert record.memory_facts["path"] == "/AGENTS.md"
    assert record.memory_facts["lines_added"] == 1
    assert record.getMessage() == "memory written path='/AGENTS.md' tool='edit_file' lines_added=1"


def test_a_structured_log_needs_no_parsing():
    with json_log(logging.INFO) as lines:
        emit(None, "loaded", sources=["/AGENTS.md"])
        emit(None, "written", **WRITTEN)
    (line,) = lines()
    assert (line["level"], line["event"], line["tool"]) == ("INFO", "written", "edit_file")


@pytest.mark.parametrize(
    ("event", "facts", "level"),
    [
        ("loaded", {}, "DEBUG"),
        ("injected", {}, "DEBUG"),
        ("written", WRITTEN, "INFO"),
        ("approval_asked", {"reason": "consent"}, "INFO"),
        ("write_blocked", {"reason": "read_only"}, "INFO"),
        ("write_blocked", {"reason": "rules"}, "INFO"),
        ("write_blocked", {"reason": "not_approved"}, "INFO"),
        ("write_blocked", {"reason": "secret"}, "WARNING"),
        ("write_blocked", {"reason": "lost_text"}, "WARNING"),
        ("write_blocked", {"reason": "hidden_region"}, "WARNING"),
        ("retrieval_error", {}, "WARNING"),
    ],
)
def test_what_a_person_should_look_at_is_louder_than_routine(event, facts, level):
    with json_log(logging.DEBUG) as lines:
        emit(None, event, **facts)
    assert [one["level"] for one in lines()] == [level]


def test_a_path_that_a_model_has_made_up_cannot_forge_a_line_of_the_log(caplog):
    caplog.set_level(logging.DEBUG, "memoryware")
    emit(None, "write_blocked", path="/a\nERROR all is lost\u2028\x1b[31m", reason="rules")
    said = caplog.records[0].getMessage()
    assert len(said.splitlines()) == 1
    assert said.isprintable()


# Content.


@pytest.mark.parametrize("event", ["loaded", "injected", "written", "approval_asked"])
def test_content_is_not_even_made_unless_it_was_asked_for(event):
    def content():
        raise AssertionError("the content was looked at")

    heard, chunks = [], []
    with listen(heard.append), json_log(logging.DEBUG) as lines:
        emit(EventContext(chunks.append), event, content=content)
        emit(chunks.append, event, content=content)
    assert [one for one in (*heard, *chunks, *lines()) if "content" in one] == []
    assert [one["level"] for one in lines() if one["level"] == "WARNING"] == []


def test_content_is_told_everywhere_where_it_was_asked_for():
    heard, chunks = [], []
    with listen(heard.append), json_log(logging.DEBUG) as lines:
        event_context = EventContext(chunks.append, trace_content=True)
        emit(event_context, "loaded", content=lambda: {"/AGENTS.md": CANARY})
    for one in (*heard, *chunks, *lines()):
        assert one["content"] == {"/AGENTS.md": CANARY}
    assert CANARY not in lines()[0]["said"]


def test_content_is_told_without_its_secrets_or_not_at_all():
    def breaks(text):
        raise RuntimeError

    chunks = []
    for redact in (lambda text: text.replace(CANARY, "[redacted]"), breaks):
        event_context = EventContext(chunks.append, trace_content=True, redact=redact)
        emit(event_context, "loaded", content=lambda: {"/AGENTS.md": f"- {CANARY}"})
    assert [one["content"] for one in chunks] == [{"/AGENTS.md": "- [redacted]"}, {}]


@pytest.mark.parametrize("event", ["write_blocked", "rejected"])
def test_a_text_that_was_refused_is_never_told(event):
    heard, chunks = [], []
    with listen(heard.append), json_log(logging.DEBUG) as lines:
        event_context = EventContext(chunks.append, trace_content=True)
        emit(event_context, event, reason="secret", content=lambda: {"/AGENTS.md": CANARY})
    assert len(heard) == len(chunks) == len(lines()) == 1
    assert CANARY not in str((heard, chunks, lines()))


# Nobody listens, or badly.


def test_it_is_known_whether_anybody_listens():
    logger.setLevel(logging.WARNING)
    assert not is_heard(None)
    assert not is_heard(EventContext())
    assert is_heard(print)
    assert is_heard(EventContext(print))
    with listen(Counters()):
        assert is_heard(None)
    assert not is_heard(None)
    logger.setLevel(logging.DEBUG)
    assert is_heard(None)


def _fails(_):
    raise RuntimeError(CANARY)


class FailingHandler(logging.Handler):
    """A log handler that lets its error out."""

    def emit(self, record):
        raise RuntimeError(CANARY)


def test_a_receiver_that_fails_is_logged_once_and_the_others_get_the_event(caplog):
    def unlucky(event):
        raise RuntimeError(CANARY)

    heard = []
    with listen(unlucky), listen(heard.append):
        for _ in range(3):
            emit(None, "written", **WRITTEN)
    assert len(heard) == 3
    said = [one.getMessage() for one in caplog.records if "failed" in one.getMessage()]
    assert len(said) == 1
    assert "unlucky" in said[0]
    assert f"RuntimeError at {__file__}:" in said[0]
    assert CANARY not in said[0]


def test_a_writer_that_fails_does_not_end_the_work(caplog):
    heard = []
    with listen(heard.append):
        emit(_fails, "written", **WRITTEN)
        emit(_fails, "written", **WRITTEN)
    assert len(heard) == 2
    said = [one.getMessage() for one in caplog.records if "the stream writer" in one.getMessage()]
    assert len(said) == 1
    assert CANARY not in said[0]


def test_a_log_handler_that_fails_does_not_end_the_work():
    handler, chunks = FailingHandler(), []
    logger.addHandler(handler)
    try:
        emit(chunks.append, "write_blocked", **BLOCKED, reason="secret")
    finally:
        logger.removeHandler(handler)
    assert len(chunks) == 1


def test_content_that_cannot_be_made_does_not_end_the_work():
    chunks = []
    event_context = EventContext(chunks.append, trace_content=True)
    emit(event_context, "loaded", content=lambda: {}["missing"])
    assert chunks[0]["content"] == {}
