"""Which events there are, and what each of them says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import memoryware
from events.wellformed import faults_of
from memoryware.events import EVENT_NAMES, EventName, emit, facts, listen

PACKAGE = Path(memoryware.__file__).parent
TEXT = "remember the milk"
ONE_OF_EACH = {
    "loaded": {
        "backend": "FilesystemBackend",
        "sources": ["/AGENTS.md"],
        "missing": ["/b.md"],
        "failed": ["/c.md"],
        "codes": ["is_directory"],
        "suspect": [],
        "characters": 12,
        "ms": 0.4,
    },
    "injected": {"sources": ["/AGENTS.md"], "cut": [], "characters": 24, "tokens": 6},
    "written": {
        "path": "/AGENTS.md",
        "tool": "edit_file",
        "tool_call": "call-1",
        "lines_added": 1,
        "lines_removed": 0,
        "characters": 40,
        "digest_before": "",
        "digest_after": "9f",
        "redacted": [],
    },
    "write_blocked": {
        "path": "/AGENTS.md",
        "tool": "edit_file",
        "tool_call": "call-1",
        "reason": "secret",
        "kinds": ["password"],
        "lines": [3],
    },
    "approval_asked": {
        "path": "/AGENTS.md",
        "tool": "delete",
        "tool_call": "call-1",
        "reason": "lost_text",
    },
    "recorded": {"tier": "quarantine", "entries": 1, "characters": 10},
    "rejected": {"tier": "quarantine", "reason": "echo"},
    "retrieved": {"working": 3, "long_term": 2, "best": 0.9, "ms": 12.0},
    "retrieval_error": {"error": "TimeoutError", "ms": 12.0},
    "promoted": {"tier": "long_term", "entries": 2},
    "node_state": {"status": "completed", "characters": 10},
}


def told(event, **given):
    """Tell an event to nobody but a listener; return what it got."""
    heard = []
    with listen(heard.append):
        emit(None, event, **given)
    (one,) = heard
    return one


def test_every_event_has_a_class_and_every_class_an_event():
    assert set(facts.KINDS) == set(EVENT_NAMES) == set(get_args(EventName)) == set(ONE_OF_EACH)
    assert len(EVENT_NAMES) == len(set(EVENT_NAMES)) == 11


@pytest.mark.parametrize("event", EVENT_NAMES)
def test_an_event_has_exactly_the_keys_of_its_class(event):
    one = told(event, **ONE_OF_EACH[event])
    assert faults_of(one) == []
    assert {key: one[key] for key in ONE_OF_EACH[event]} == ONE_OF_EACH[event]


@pytest.mark.parametrize("event", EVENT_NAMES)
def test_a_key_that_a_caller_forgets_is_there_and_empty(event):
    one = told(event)
    assert set(one) == set(told(event, **ONE_OF_EACH[event]))
    assert all(one[key] in ([], None) for key in ONE_OF_EACH[event])


@pytest.mark.parametrize("event", EVENT_NAMES)
def test_a_key_that_an_event_does_not_have_does_not_get_in(event):
    one = told(event, **ONE_OF_EACH[event], text=TEXT, contents={"/AGENTS.md": TEXT})
    assert faults_of(one) == []
    assert TEXT not in str(one)


def test_the_check_notices_an_event_that_is_not_as_its_class_says():
    good = told("written", **ONE_OF_EACH["written"])
    assert faults_of({**good, "path": None}) != []
    assert faults_of({**good, "redacted": [1]}) != []
    assert faults_of({**good, "text": TEXT}) != []
    assert faults_of({key: one for key, one in good.items() if key != "user"}) != []
    assert faults_of({"event": "eaten"}) != []
    assert faults_of({**told("write_blocked"), "reason": "bad mood"}) != []


def test_the_message_of_a_foreign_backend_is_no_code():
    one = told("loaded", codes=["permission_denied", "cannot reach db://bo:hunter2@host", "404"])
    assert one["codes"] == ["permission_denied", "other", "other"]


def test_a_text_in_an_event_is_cut_and_a_value_that_is_not_plain_left_out():
    one = told("write_blocked", path="/" + "x" * 5000, tool=b"edit_file", kinds=[object(), "key"])
    assert len(one["path"]) == 1000
    assert one["tool"] is None
    assert one["kinds"] == [None, "key"]


def _events_in(tree: ast.Module):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "emit":
            event = node.args[1]
            keys = {one.arg for one in node.keywords if one.arg} - {"content", "within"}
            yield node.lineno, event.value if isinstance(event, ast.Constant) else None, keys


@pytest.mark.slow
def test_wherever_an_event_is_told_it_is_one_of_these_with_keys_of_its_own():
    known = {name: {*keys, "user", "agent", "thread"} for name, keys in facts.OWN_KEYS.items()}
    places = [
        (path.relative_to(PACKAGE).as_posix(), *one)
        for path in sorted(PACKAGE.rglob("*.py"))
        for one in _events_in(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(places) >= 3
    assert [one for one in places if one[2] not in known or one[3] - known[one[2]]] == []
