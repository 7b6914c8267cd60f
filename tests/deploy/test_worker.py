"""The background worker of `examples/deploy`: does its jobs, outlives failures, ends when told."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from deploy.running import DEPLOY, FACT, program, wait_until
from memoryware import MemoryScope, TieredMemory
from servers import postgres

WORKER = (sys.executable, str(DEPLOY / "worker.py"))
LONG_AGO = datetime.now(UTC) - timedelta(days=30)


@pytest.fixture
def worker(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DEPLOY))
    monkeypatch.setenv("ALIVE_FILE", str(tmp_path / "alive"))
    yield importlib.import_module("worker")
    sys.modules.pop("worker", None)


def filled(address: str) -> None:
    """Put an entry into memory that has expired in working memory since."""
    with TieredMemory.open(address, clock=lambda: LONG_AGO) as memory:
        memory.record(FACT, "shop")


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_job_is_done_when_it_is_due_and_a_failing_one_does_not_stop_the_others(
    worker, monkeypatch, capsys
):
    stop, done = threading.Event(), []
    monkeypatch.setenv("REPORT_GROUPS", "shop acme/bakery")

    def fail(memory):
        raise OSError("the server is away")

    def last(memory):
        done.append(1)
        if len(done) == 3:
            stop.set()
        return {}

    with TieredMemory.open("memory://") as memory:
        memory.record(FACT, "shop")
        jobs = [worker.Job("fail", 60, fail), worker.Job("report", 60, worker.report)]
        worker.run(memory, [*jobs, worker.Job("often", 0, last)], stop)

    first, second, *often = lines(capsys.readouterr().out)
    assert first == {"job": "fail", "error": "OSError", "message": "the server is away"}
    assert second["waiting"] == {"shop": 1, "bakery": 0}
    assert [line["job"] for line in often] == ["often"] * 3


def test_a_mistake_in_a_job_ends_the_worker_so_that_it_is_noticed(worker):
    with TieredMemory.open("memory://") as memory, pytest.raises(ZeroDivisionError):
        worker.do(worker.Job("wrong", 1, lambda _: {"n": 1 / 0}), memory)


@pytest.mark.slow
def test_two_workers_propose_the_facts_of_a_conversation_once_and_promote_nothing(in_memory):
    address = f"sqlite:///{in_memory / 'memory.db'}"
    ann = MemoryScope(group_id="shop", user_id="ann", session_id="monday")
    with TieredMemory.open(address) as memory:
        memory.record("Hello! I prefer metric units. How are you?", ann, role="user")
    environ = {"MEMORY_URL": address, "REPORT_GROUPS": "shop", "ALIVE_FILE": "alive"}
    environ |= {"LEARN": "rules", "LEARN_DELAY": "0", "EVERY": "0.1"}
    with (
        program(*WORKER, cwd=in_memory, **environ) as one,
        program(*WORKER, cwd=in_memory, **environ) as other,
    ):
        wait_until(lambda: '"facts": 1' in one.output + other.output)
        for worker in (one, other):
            seen = len(worker.output)
            wait_until(lambda worker=worker, seen=seen: worker.output.count("learn", seen) > 2)
            assert worker.stop() == 0
    assert (one.output + other.output).count('"facts": 1') == 1
    with TieredMemory.open(address) as memory:
        (insight,) = memory.digest("shop").insights
        assert insight.summary == "I prefer metric units."
        assert not any(line.status == "current" for line in memory.list("shop").items)


@pytest.mark.slow
def test_what_a_policy_accepts_by_itself_is_promoted_once_by_two_workers(in_memory):
    address = f"sqlite:///{in_memory / 'memory.db'}"
    ann = MemoryScope(group_id="shop", user_id="ann")
    with TieredMemory.open(address) as memory:
        memory.record("I prefer metric units.", ann, role="user")
    environ = {"MEMORY_URL": address, "REPORT_GROUPS": "shop", "ALIVE_FILE": "alive"}
    environ |= {"POLICY": "automatic", "POLICY_DAYS": "0.000001", "EVERY": "0.05"}
    with (
        program(*WORKER, cwd=in_memory, **environ) as one,
        program(*WORKER, cwd=in_memory, **environ) as other,
    ):
        for worker in (one, other):
            wait_until(lambda worker=worker: worker.output.count('"promoted": 0') > 3)
            assert worker.stop() == 0
    assert '"promoted": 1' in one.output + other.output
    assert '"error"' not in one.output + other.output
    with TieredMemory.open(address) as memory:
        found = memory.retrieve("Which units?", ann, tiers=("long_term",))
        assert [item.content for item in found] == ["I prefer metric units."]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_worker_does_its_jobs_and_exits_with_0_when_it_is_told_to_stop(in_memory, number):
    address = f"sqlite:///{in_memory / 'memory.db'}"
    filled(address)
    alive = in_memory / "alive"
    environ = {"MEMORY_URL": address, "REPORT_GROUPS": "shop", "ALIVE_FILE": str(alive)}
    with program(*WORKER, cwd=in_memory, **environ) as started:
        started.wait_for('"report"')
        wait_until(alive.exists)
        assert started.stop(number) == 0
    begin, cleanup, promote, report, end = lines(started.output)
    assert (begin["worker"], end) == ("started", {"worker": "stopped"})
    assert cleanup["deleted"] == 1
    assert promote["promoted"] == 0
    assert report["waiting"] == {"shop": 1}
    assert FACT not in started.output


@pytest.mark.slow
def test_a_worker_that_is_killed_at_any_moment_leaves_a_whole_memory(in_memory):
    address = f"sqlite:///{in_memory / 'memory.db'}"
    filled(address)
    environ = {"MEMORY_URL": address, "REPORT_GROUPS": "shop", "EVERY": "0", "ALIVE_FILE": "alive"}
    for pause in (0.0, 0.01, 0.05, 0.2):
        with program(*WORKER, cwd=in_memory, **environ) as started:
            started.wait_for('"started"')
            time.sleep(pause)
            assert started.stop(signal.SIGKILL) == -signal.SIGKILL
        with TieredMemory.open(address) as memory:
            assert memory.count_waiting("shop") == 1
    with TieredMemory.open(address) as memory:
        assert memory.cleanup_working_memory() == 0


@pytest.mark.slow
def test_the_worker_goes_on_when_the_database_is_back(in_memory):
    server = postgres.started()
    try:
        address = f"{server.url}&pool_timeout=1"
        filled(address)
        environ = {"MEMORY_URL": address, "EVERY": "0.2", "ALIVE_FILE": "alive"}
        with program(*WORKER, cwd=in_memory, **environ) as started:
            started.wait_for('"deleted": 1')
            server.stop(signal.SIGQUIT)
            started.wait_for('"error": "StoreUnavailable"')
            server.start()
            seen = started.output.count('"deleted": 0')
            wait_until(lambda: started.output.count('"deleted": 0') > seen)
            assert started.stop() == 0
    finally:
        server.remove()


@pytest.mark.slow
def test_a_job_at_hand_is_finished_before_the_worker_ends(in_memory):
    import psycopg

    with postgres.schema_at(postgres.url()) as address:
        filled(address)
        schema = address.rpartition("schema=")[2]
        with psycopg.connect(postgres.url()) as other:
            other.execute(f'SELECT 1 FROM "{schema}".record FOR UPDATE')
            environ = {"MEMORY_URL": address, "ALIVE_FILE": "alive"}
            with program(*WORKER, cwd=in_memory, **environ) as started:
                started.wait_for('"started"')
                started.process.send_signal(signal.SIGTERM)
                time.sleep(1)
                assert started.running  # the job waits for the row
                other.rollback()
                assert started.process.wait(20) == 0
        cleanup, end = lines(started.output)[1:]
        assert cleanup["deleted"] == 1
        assert end == {"worker": "stopped"}
