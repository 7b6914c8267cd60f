"""Ctrl-C and forks in the middle of a call: everything was done or nothing, and nobody waits."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from dataclasses import replace
from functools import partial

import pytest

from memoryware.testing._store import entry, later, memory, within
from memoryware.tiers.stores._locking import ThreadQueue
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.protocol import Space
from memoryware.tiers.stores.sqlite import sqlite_stores

pytestmark = pytest.mark.slow

FLAT, OTHER = Space("flat", 2), Space("other", 3)
PLACES = ("/memoryware/tiers/stores/", "/contextlib.py")
AHEAD = {"embedded": 1, "sqlite": 5}
"""Lines from one interruption to the next: a file is slow."""


@pytest.fixture(params=["embedded", "sqlite"])
def kind(request):
    return request.param


@pytest.fixture
def opened(kind, tmp_path):
    made = []

    def opened():
        path = tmp_path / f"{len(made)}.db"
        made.append(embedded(lock_timeout=1) if kind == "embedded" else sqlite_stores(path))
        return made[-1]

    yield opened
    for one in made:
        one.quarantine.close()


class Interrupter:
    """Raises KeyboardInterrupt before the nth line of the stores and of context managers."""

    def __init__(self, line):
        self.left = line

    def __call__(self, frame, event, _):
        if not any(place in frame.f_code.co_filename for place in PLACES):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.fixture(autouse=True)
def dropped_coroutines():
    """Ctrl-C may come between making a coroutine and awaiting it: that is no fault to report."""
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited")
        gc.collect()


def interrupted(line, work):
    """Do something that is interrupted; return the error, which holds on to all frames."""
    sys.settrace(Interrupter(line))
    try:
        work()
    except KeyboardInterrupt as error:
        return error
    finally:
        sys.settrace(None)
    return None


def filled(stores):
    stores.quarantine.add(entry("one", key="k"))
    for n in range(3):
        stores.working.push(entry(f"text {n}", expires_at=later(hours=1)), keep=3)
    stores.long_term.add([memory("green tea")], [[1, 0]], FLAT)
    stores.long_term.add([memory("black tea")], [[0, 1]], FLAT)


def seen(stores):
    """Everything that another thread sees."""
    found = []

    def look():
        long_term = stores.long_term
        found.append(
            (
                tuple(one.find(within()).items for one in (stores.quarantine, stores.working)),
                long_term.find(within()).items,
                [hit.memory.content for hit in long_term.by_words(["tea"], within(), limit=9)],
                long_term.unembedded(FLAT, limit=9),
                [*long_term.spaces().items()],
            )
        )

    other = threading.Thread(target=look)
    other.start()
    other.join(10)
    assert found, "somebody was kept out"
    return found[0]


NEW = entry("new")
TWO = [memory("herbal tea"), memory("ice tea")]


def renamed(one):
    return replace(one, content="no coffee")


CALLS = {
    "add": lambda stores: stores.quarantine.add(NEW),
    "push": lambda stores: stores.working.push(NEW, keep=2, renew=True),
    "purge": lambda stores: stores.working.purge(later(hours=2)),
    "edit": lambda stores: stores.long_term.edit(within(), renamed),
    "delete": lambda stores: stores.long_term.delete(within(contains="tea")),
    "promote": lambda stores: stores.long_term.add(TWO[:1], [[1, 1]], FLAT),
    "adopt": lambda stores: stores.long_term.adopt(OTHER, drop_others=True),
    "find": lambda stores: stores.long_term.find(within(contains="tea"), limit=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_interrupted_anywhere_is_done_or_not(kind, opened, name):
    stores, errors = opened(), []
    filled(stores)
    line, before = 0, seen(stores)
    while True:
        line += AHEAD[kind]
        error = interrupted(line, partial(CALLS[name], stores))
        errors.append(error)
        now = seen(stores)
        if error is None:
            break
        if now != before:  # the interruption came when all was done
            stores = opened()
            filled(stores)
            before = seen(stores)
    assert len(errors) > 3
    if name != "find":
        assert now != before


@pytest.mark.slow
def test_a_frame_that_is_let_go_later_undoes_nothing_of_others(kind, opened):
    stores = opened()
    filled(stores)
    for line in range(1, 400, 29):
        error = interrupted(line, lambda: stores.long_term.delete(within(contains="green")))
        if error is None:
            break

        def change(one, error=error):
            error.__traceback__ = None
            gc.collect()
            return replace(one, subject="s")

        stores.long_term.edit(within(), change)
        assert {one.subject for one in stores.long_term.find(within()).items} == {"s"}
        stores.long_term.edit(within(), lambda one: replace(one, subject=None))
    assert stores.quarantine.find(within()).total == 1


def test_ctrl_c_in_the_middle_of_a_search_by_text_is_no_error_of_the_store(opened):
    stores = opened()
    filled(stores)

    class Text(str):
        __slots__ = ()

        def casefold(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stores.long_term.edit(within(contains=Text("tea")), renamed)
    assert len(seen(stores)[2]) == 2


def test_who_waits_is_let_in_when_the_one_inside_is_interrupted():
    turns, inside, done = ThreadQueue(10, RuntimeError), threading.Event(), threading.Event()

    def work():
        inside.set()
        done.wait(10)
        raise KeyboardInterrupt

    def first():
        with pytest.raises(KeyboardInterrupt):
            turns.alone(work)

    one = threading.Thread(target=first)
    one.start()
    inside.wait(10)
    order = []
    other = threading.Thread(target=turns.alone, args=(lambda: order.append(1),))
    other.start()
    done.set()
    for thread in (one, other):
        thread.join(10)
    assert order == [1]


def test_nobody_waits_longer_than_was_said():
    turns, inside, done = ThreadQueue(0.02, lambda: TimeoutError("late")), threading.Event(), []
    stop = threading.Event()

    def hold():
        inside.set()
        stop.wait(10)

    holder = threading.Thread(target=turns.alone, args=(hold,))
    holder.start()
    inside.wait(10)
    with pytest.raises(TimeoutError, match="late"):
        turns.alone(lambda: done.append(1))
    stop.set()
    holder.join(10)
    turns.alone(lambda: turns.alone(lambda: done.append(2)))
    assert done == [2]


# Forks.


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_the_child_of_a_fork_can_use_what_a_thread_was_changing(kind, opened):
    stores = opened()
    filled(stores)
    stop, begun = threading.Event(), threading.Event()

    def write():
        n = 0
        while not stop.is_set():
            n += 1
            stores.working.push(entry(f"of a thread {n}"), keep=3)
            stores.long_term.add([memory("white tea", content_hash=f"{n}")])
            stores.long_term.delete(within(contains="white"))
            begun.set()
            stop.wait(0.005)  # SQLite is not fair to another process

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait(10)
    for _ in range(12):
        child = os.fork()
        if not child:
            signal.alarm(20)  # a child that hangs is ended
            try:
                own = f"of {os.getpid()}"  # the numbers of a child are those of its parent
                stores.quarantine.add(entry("of a child", id=own))
                stores.working.push(entry("of a child", id=own), keep=3)
                stores.long_term.add([memory("mint tea", id=own, content_hash=own)])
                found = {one.content for one in stores.long_term.find(within()).items}
                hits = stores.long_term.by_words(["mint"], within(), limit=99)
                os._exit(0 if hits and found >= {"green tea", "mint tea"} else 2)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    thread.join()
    stores.long_term.find(within())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_does_not_see_half_of_what_a_thread_was_changing():
    stores, begun, done = embedded(lock_timeout=1), threading.Event(), threading.Event()
    filled(stores)

    def change(one):
        stores.long_term.delete(within(contains="green"))
        begun.set()
        done.wait(20)
        return one

    thread = threading.Thread(target=stores.long_term.edit, args=(within(), change))
    thread.start()
    begun.wait(10)
    child = os.fork()
    if not child:
        signal.alarm(20)
        try:
            os._exit(0 if stores.long_term.find(within()).total == 2 else 2)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    thread.join()
    assert stores.long_term.find(within()).total == 1
