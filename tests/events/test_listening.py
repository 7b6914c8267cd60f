"""Functions of the application that hear every event, and counting."""

from __future__ import annotations

import sys
import threading

import pytest

from memoryware.events import Counters, _emission, emit, listen

WRITTEN = {"path": "/AGENTS.md", "tool": "edit_file"}


def test_a_listener_hears_events_until_its_block_ends():
    heard = []
    emit(None, "written", **WRITTEN)
    with listen(heard.append):
        emit(None, "written", **WRITTEN)
    emit(None, "written", **WRITTEN)
    assert [one["event"] for one in heard] == ["written"]


def test_a_listener_without_a_block_hears_events_until_it_is_closed():
    heard = []
    listening = listen(heard.append)
    emit(None, "written", **WRITTEN)
    listening.close()
    listening.close()
    emit(None, "written", **WRITTEN)
    assert len(heard) == 1


def test_the_same_function_listens_twice_if_it_is_given_twice():
    heard = []
    with listen(heard.append):
        with listen(heard.append):
            emit(None, "written", **WRITTEN)
        emit(None, "written", **WRITTEN)
    assert len(heard) == 3


def test_a_listener_may_end_its_own_listening_and_tell_events_itself():
    heard = []

    def once(event):
        listening.close()
        heard.append(event["event"])
        emit(None, "loaded")

    listening = listen(once)
    emit(None, "written", **WRITTEN)
    assert heard == ["written"]


def test_a_coroutine_function_is_refused_because_nobody_would_await_it():
    async def later(event): ...

    class Later:
        async def __call__(self, event): ...

    for one in (later, Later()):
        with pytest.raises(TypeError, match="plain function"):
            listen(one)


def test_counters_count_events_reasons_numbers_and_lists():
    counters = Counters()
    with listen(counters):
        emit(None, "injected", sources=["/a.md", "/b.md"], cut=["/b.md"], tokens=10)
        emit(None, "injected", sources=["/a.md"], tokens=5)
        emit(None, "write_blocked", **WRITTEN, reason="secret", kinds=["password"], lines=[7])
        emit(None, "write_blocked", **WRITTEN, reason="read_only")
    assert counters["injected"] == 2
    assert counters["promoted"] == 0
    assert counters.counts() == {
        "injected": 2,
        "injected.cut": 1,
        "injected.sources": 3,
        "injected.tokens": 15,
        "write_blocked": 2,
        "write_blocked.kinds": 1,
        "write_blocked.lines": 1,
        "write_blocked.read_only": 1,
        "write_blocked.secret": 1,
    }
    counters.clear()
    assert counters.counts() == {}


@pytest.fixture
def hasty():
    """Threads take turns as often as they can, so that two meet where they may not."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_may_share_counters_and_listen_and_leave_at_the_same_time(hasty):
    counters, ready = Counters(), threading.Barrier(8)

    def work():
        ready.wait()
        for _ in range(200):
            with listen(lambda event: None):
                emit(None, "written", **WRITTEN, lines_added=2)

    with listen(counters):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert (counters["written"], counters["written.lines_added"]) == (1600, 3200)
    assert _emission._subscriptions == [()]
