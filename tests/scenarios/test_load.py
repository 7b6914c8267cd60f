"""Many processes on one PostgreSQL and one Redis that are killed: a small run of the load script."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # `benchmarks` is no part of the package
    sys.path.append(str(ROOT))

from benchmarks.load.check import check_ours, read  # noqa: E402
from benchmarks.load.making import groups  # noqa: E402
from benchmarks.load.servers import running  # noqa: E402
from benchmarks.load.sides import Tiers  # noqa: E402
from benchmarks.load.worker import Worker  # noqa: E402

from memoryware.tiers.stores.opening import open_stores  # noqa: E402
from memoryware.tiers.stores.protocol import Select  # noqa: E402


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_was_confirmed_is_there_once_after_both_servers_were_killed_under_load():
    run = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.load"),
            *("--seconds", "4", "--processes", "2", "--groups", "6"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "tests"},
        capture_output=True,
        text=True,
        timeout=220,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "memoryware: " in run.stdout
    assert "every one is there, once, in the right place" in run.stdout
    if not {"TEST_POSTGRES_URL", "TEST_REDIS_URL"} & {*os.environ}:
        assert run.stdout.count("the servers were away") == 2


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_check_after_a_load_names_what_is_lost_doubled_or_misplaced(tmp_path):
    known = groups(2)
    with running() as servers, (tmp_path / "journal-0").open("a") as journal:
        side = Tiers(servers.ours)
        worker = Worker(0, side, known, journal, random.Random(3))
        for _ in range(60):
            worker.step()
        side.close()
        journals = read(tmp_path)[Tiers.name]
        assert not check_ours(servers, journals, known).wrong
        stores = open_stores(servers.ours)
        here = Select(tenant=known[0][0], groups=(known[0][1],))
        first, second, third = stores.quarantine.find(here, limit=3).items
        memory = stores.long_term.find(here).items[0]
        hot = stores.working.find(here).items[0]
        moved = replace(third, scope=replace(third.scope, tenant=known[1][0]))
        stores.quarantine.delete(here.also(ids=(first.id,)))
        stores.quarantine.add(replace(second, id="another", key=None))
        stores.quarantine.add(moved)
        stores.long_term.delete(here.also(ids=(memory.id,)))
        stores.working.delete(here.also(ids=(hot.id,)))
        stores.working.push(replace(moved, id="stranger"), keep=50)
        for one in (stores.quarantine, stores.working, stores.long_term):
            one.close()
        wrong = "\n".join(check_ours(servers, journals, known).wrong)
    assert f"entry {first.id} of {known[0]}: lost" in wrong
    assert "entry another: nobody recorded it" in wrong
    assert f"entry {moved.id}: there 2 times" in wrong
    assert f"entry {moved.id}: misplaced in {known[1]}" in wrong
    assert f"memory {memory.id} of {known[0]}: lost" in wrong
    assert f"working memory of {known[0]}: {hot.id} is lost" in wrong
    assert "working memory stranger: misplaced" in wrong
