"""Large files, killed processes, two importers at once, and stores on a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from langgraph.store.postgres import PostgresStore

from importers.sources import records
from memoryware import TieredMemory
from memoryware.errors import StoreUnavailable
from memoryware.importers import detect_system, import_memories
from servers import postgres

pytestmark = pytest.mark.slow

PROGRAM = """
import sys, tracemalloc
from memoryware import TieredMemory
from memoryware.importers import import_memories

if "measured" in sys.argv:
    tracemalloc.start()
with TieredMemory.open(sys.argv[2]) as memory:
    shown = lambda summary: print("batch", summary.recorded, flush=True)
    summary = import_memories(memory, sys.argv[1], "shop", batch=int(sys.argv[3]), on_progress=shown)
peak = tracemalloc.get_traced_memory()[1] >> 20  # pages of the mapped file are not its own
print("done", summary.read, summary.recorded, summary.existing, peak, flush=True)
"""


def started(source, store, batch=200, *more):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(source), store, str(batch), *more],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def finished(process):
    out, _ = process.communicate(timeout=280)
    assert process.returncode == 0
    return [int(number) for number in out.split("done ")[1].split()]


def graph(path, entities):
    with path.open("w") as file:
        for number in range(entities):
            entity = {
                "type": "entity",
                "name": f"n{number}",
                "entityType": "t",
                "observations": ["is red"],
            }
            file.write(json.dumps(entity) + "\n")
    return path


@pytest.mark.timeout(300)
def test_an_export_of_a_hundred_megabytes_is_read_in_little_memory(tmp_path):
    file = tmp_path / "conversations.json"
    filler = {"content_type": "text", "parts": ["All work and no play. " * 40_000]}
    with file.open("w") as out:
        for number in range(120):
            bio = {"content_type": "text", "parts": [f"User owns boat number {number}."]}
            nodes = {
                "a": {"message": {"id": "a", "content": filler, "recipient": "all"}},
                "b": {"message": {"id": f"b{number}", "content": bio, "recipient": "bio"}},
            }
            conversation = {"conversation_id": f"c{number}", "mapping": nodes}
            out.write(("[" if not number else ",\n") + json.dumps(conversation))
        out.write("]")
    assert file.stat().st_size > 100_000_000
    read, recorded, existing, peak = finished(started(file, "memory://", 200, "measured"))
    assert (read, recorded, existing) == (120, 120, 0)
    assert peak < 40, f"{peak} MB"


@pytest.mark.timeout(200)
def test_a_killed_import_goes_on(tmp_path):
    source, store = graph(tmp_path / "graph.jsonl", 600), f"sqlite:///{tmp_path}/memory.db"
    process = started(source, store, batch=20)
    for _ in range(5):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    process.stdout.close()
    with TieredMemory.open(store) as memory:
        before = memory.list("shop").total
        assert 100 <= before < 600
        summary = import_memories(memory, source, "shop")
        assert (summary.recorded, summary.existing) == (600 - before, before)
        assert memory.list("shop").total == 600


@pytest.mark.timeout(200)
def test_two_imports_at_once_record_each_memory_once(tmp_path):
    source, store = graph(tmp_path / "graph.jsonl", 400), f"sqlite:///{tmp_path}/memory.db"
    with TieredMemory.open(store) as memory:
        both = [started(source, store, batch=10) for _ in range(2)]
        counts = [finished(process) for process in both]
        assert [read for read, *_ in counts] == [400, 400]
        assert sum(recorded for _, recorded, *_ in counts) == 400
        assert all(recorded + existing == 400 for _, recorded, existing, _ in counts)
        assert memory.list("shop").total == 400


@pytest.mark.timeout(200)
def test_many_records_are_found_again_on_a_server(tmp_path):
    source = graph(tmp_path / "graph.jsonl", 1200)
    with postgres.emptied_schema() as address, TieredMemory.open(address) as memory:
        assert import_memories(memory, source, "shop").recorded == 1200
        assert import_memories(memory, source, "shop", dry_run=True).existing == 1200
        assert import_memories(memory, source, "shop").existing == 1200


@pytest.mark.timeout(200)
def test_a_postgres_store_is_read_by_its_url():
    with postgres.emptied_schema() as address:
        whole, _, schema = address.rpartition("schema=")
        url = f"{whole}options=-csearch_path%3D{schema}"
        import psycopg

        with psycopg.connect(whole.rstrip("?&"), autocommit=True) as database:
            database.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        with pytest.raises(StoreUnavailable, match="no PostgresStore of LangGraph"):
            records(url)
        with PostgresStore.from_conn_string(url) as store:
            store.setup()
            for number in range(450):
                store.put(
                    ("memories", "ann"), f"k{number:03}", {"content": f"Room {number} is red."}
                )
            store.put(("memories", "bo"), "gone", {"content": "Expired."}, ttl=0.00001)
        time.sleep(0.1)
        assert detect_system(url) == "langgraph"
        read = records(url)
        assert len(read) == 450
        assert (read[7].text, read[7].user, read[7].id) == (
            "Room 7 is red.",
            "ann",
            "memories/ann/k007",
        )
        assert read[7].said_at.tzinfo is not None
        with TieredMemory.open("memory://") as memory:
            summary = import_memories(memory, url, "shop")
            assert (summary.read, summary.recorded, summary.refused) == (451, 450, 1)
            assert "expired" in str(summary.refusals[0])


def test_a_server_that_is_not_there_is_a_typed_error_without_the_password():
    with pytest.raises(StoreUnavailable) as gone:
        records("postgresql://ann:hunter22@127.0.0.1:1/none")
    assert "hunter22" not in str(gone.value)
