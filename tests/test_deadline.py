"""Calls with a deadline: workers are used again, and one that hangs is in nobody's way."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from memoryware._deadline import MOST_IDLE, call_within

NAME: ContextVar[str] = ContextVar("name", default="nobody")


def test_calls_in_turn_share_one_thread():
    names = {call_within(5, threading.get_ident) for _ in range(20)}
    assert len(names) == 1
    assert threading.get_ident() not in names


def test_what_it_raises_comes_out_as_it_is():
    with pytest.raises(ZeroDivisionError):
        call_within(5, lambda: 1 / 0)
    with pytest.raises(SystemExit):
        call_within(5, sys.exit, 3)
    assert call_within(5, int, "7") == 7


def test_a_call_that_hangs_keeps_nobody_else_from_being_answered():
    released = threading.Event()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            call_within(0.01, released.wait, 30)
    started = time.monotonic()
    assert [call_within(5, int, "1") for _ in range(50)] == [1] * 50
    assert time.monotonic() - started < 5
    released.set()


def test_a_deadline_of_nothing_and_one_without_end():
    released = threading.Event()
    with pytest.raises(TimeoutError):
        call_within(-1, released.wait, 30)
    released.set()
    assert call_within(float("inf"), int, "1") == 1


def test_calls_at_the_same_time_run_side_by_side():
    barrier = threading.Barrier(12)
    with ThreadPoolExecutor(12) as pool:
        places = list(pool.map(lambda _: call_within(20, barrier.wait, 20), range(12)))
    assert sorted(places) == list(range(12))


def test_only_so_many_workers_wait_for_a_call():
    barrier = threading.Barrier(3 * MOST_IDLE)
    with ThreadPoolExecutor(3 * MOST_IDLE) as pool:
        list(pool.map(lambda _: call_within(20, barrier.wait, 20), range(3 * MOST_IDLE)))
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        workers = [one for one in threading.enumerate() if one.name == "memoryware-worker"]
        if len(workers) <= MOST_IDLE:
            return
        time.sleep(0.01)
    pytest.fail(f"{len(workers)} workers are left")


def test_a_call_has_the_context_of_its_caller_and_leaves_none_behind():
    token = NAME.set("ann")
    assert call_within(5, NAME.get) == "ann"
    call_within(5, NAME.set, "bob")
    assert call_within(5, NAME.get) == "ann"
    NAME.reset(token)
    assert call_within(5, NAME.get) == "nobody"


@pytest.mark.slow
def test_a_worker_keeps_neither_what_it_was_given_nor_what_it_made():
    class Text: ...

    text = Text()
    made = call_within(5, lambda given: [given], text)
    watched = weakref.ref(text)
    del text, made
    gc.collect()
    deadline = time.monotonic() + 5  # the worker may still be on its way to its queue
    while watched() is not None and time.monotonic() < deadline:
        time.sleep(0.001)
    assert watched() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_does_not_wait_for_the_threads_of_its_parent():
    assert call_within(5, int, "1") == 1
    child = os.fork()
    if not child:
        os._exit(call_within(5, int, "7"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_interpreter_exits_while_a_call_hangs():
    code = (
        "import threading\n"
        "from memoryware._deadline import call_within\n"
        "call_within(5, int, '1')\n"
        "try:\n    call_within(0.01, threading.Event().wait)\n"
        "except TimeoutError:\n    print('late')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "late\n", "")
