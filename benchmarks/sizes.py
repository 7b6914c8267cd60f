"""`python -m benchmarks.sizes`: how much room memories take, and how long it takes to find them.

Fills a SQLite file and a PostgreSQL with 10 thousand, 100 thousand and 1 million memories, and
measures disk, RAM, the time to fill, that to build the index of vectors, and that of each call.
Run it with PYTHONPATH=tests, where the server comes from:

    PYTHONPATH=tests python -m benchmarks.sizes --memories 10000 --stores sqlite postgres

The server keeps what it confirms (fsync, synchronous_commit and full_page_writes are on). A
hundred thousand memories and more are poured into it by COPY, with the indexes made afterwards:
`add`, which goes in one by one, is measured for the last thousands of them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._asking import Asker, recall
from benchmarks._filling import WORKERS, Postgres, fill, sizes_of_file
from benchmarks._memories import BIG, NOW, SPACE, Everything
from benchmarks._turns import Cpu
from memoryware import MemoryScope
from memoryware.stores import open_stores
from memoryware.tiers.model import Entry
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.redis import RedisWorking

SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "2GB", "max_wal_size": "8GB"}
"""What the server is started with; the rest is as PostgreSQL has it, such as work_mem = 4MB."""
POURED = 50_000
"""From so many memories on a PostgreSQL is filled by COPY."""
_KEPT = 50
"""Entries of a group in working memory."""
_ADDED = 2000
"""Memories that are then added one document at a time."""


def main() -> None:
    """Measure what was asked for, and print it."""
    options = _options()
    if options.opened:
        print(json.dumps(opened(options.opened, options.memories[0])))
        return
    results = []
    for count in options.memories:
        for store in options.stores:
            _said(f"{store}, {count:,} memories, load {os.getloadavg()[0]:.1f}")
            figures = _MEASURED[store](count)
            results.append({"store": store, "memories": count, **figures})
            show(results[-1])
    if options.write:
        about = {"numpy": find_spec("numpy") is not None, "cores": os.cpu_count()}
        text = json.dumps({**about, "server": SETTINGS, "results": results}, indent=1)
        Path(options.write).write_text(text + "\n", encoding="utf-8")


def in_sqlite(count: int) -> dict[str, Any]:
    """Return the figures of a file."""
    with tempfile.TemporaryDirectory(prefix="sizes-") as folder:
        path, everything, cpu = Path(folder) / "memory.db", Everything(count), Cpu()
        url = f"sqlite:///{path}"
        store = open_stores(url).long_term
        filled = fill(store, everything.documents(), cpu)
        store.close()
        _said("filled")
        asker = Asker(url, everything, cpu)
        calls = {name: asdict(one) for name, one in asker.all().items()}
        asker.memory.close()
        return {"disk": sizes_of_file(path), **filled, "calls": calls, "ram": _alone(url, count)}


def in_postgres(count: int) -> dict[str, Any]:
    """Return the figures of a server of its own."""
    everything = Everything(count)
    with _server() as (url, cpu):
        store, by_hand = open_stores(url).long_term, Postgres(url)
        figures: dict[str, Any] = {}
        if count >= POURED:
            poured, indexes = by_hand.pour(everything)
            _said(f"poured, indexes in {sum(indexes.values()):.0f} s")
            figures["COPY, s per 1,000"] = poured / count * 1000
            figures["other indexes"] = indexes
        else:
            figures |= fill(store, everything.documents(), cpu)
            _said("filled")
        before = cpu()
        figures["HNSW build, s"] = by_hand.build_vectors()
        figures["HNSW build, CPU s"] = cpu() - before
        _said(f"HNSW index built in {figures['HNSW build, s']:.0f} s")
        figures["VACUUM ANALYZE, s"] = by_hand.settle()
        figures["disk"] = by_hand.sizes()
        if count >= POURED:
            more = islice(everything.documents(WORKERS, WORKERS + 1), _ADDED // 50)
            figures |= fill(store, more, cpu)
            _said("some more added")
            by_hand.settle()
        asker = Asker(url, everything, cpu)
        figures["calls"] = {name: asdict(one) for name, one in asker.all().items()}
        asker.memory.close()
        _said("calls measured")
        figures["recall"] = recall(url, everything)
        figures["ram"] = _alone(url, count)
        store.close()
        by_hand.close()
        return figures


def in_redis(count: int) -> dict[str, Any]:
    """Return the figures of working memory, with full lists."""
    import redis

    from servers.redis import redis_server

    everything = Everything(1)
    with redis_server() as server, redis.Redis.from_url(server.url) as client:
        store = RedisWorking(server.url)
        before = client.info("memory")["used_memory"]
        groups = max(1, count // _KEPT)
        start = time.perf_counter()
        for number in range(groups * _KEPT):
            scope = MemoryScope(
                tenant="tenant", group_id=f"group {number % groups}", session_id="a session"
            )
            one = Entry(
                id=f"{number:032x}", scope=scope, content=everything.texts.text(), created_at=NOW,
                provenance=Provenance(Origin("agent", "helper")),
                expires_at=NOW + timedelta(days=1),
            )  # fmt: skip
            store.push(one, keep=_KEPT)
        taken = time.perf_counter() - start
        used = client.info("memory")["used_memory"] - before
        store.close()
        return {
            "disk": {}, "ram": {"a group of 50": used // groups, "all": used},
            "push, s per 1,000": taken / (groups * _KEPT) * 1000,
        }  # fmt: skip


_MEASURED: dict[str, Callable[[int], dict[str, Any]]] = {
    "sqlite": in_sqlite,
    "postgres": in_postgres,
    "redis": in_redis,
}


def opened(url: str, count: int) -> dict[str, int]:
    """Return the resident bytes of this process before it opens a store, then, and at most."""
    vector = Everything(1).vectors.vector()
    before = _resident()
    store = open_stores(url).long_term
    after = _resident()
    store.by_vector(vector, Select.within(BIG, live_at=NOW), space=SPACE, limit=50)
    group = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    store.by_vector(vector, Select(tenant="t0", live_at=NOW), space=SPACE, limit=50)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    store.close()
    return {
        "before opening": before, "opened": after, "most, asked for a group of 10 %": group,
        "most, asked for a tenant of 40 %": most,
    }  # fmt: skip


def show(result: dict[str, Any]) -> None:
    """Print the figures of a store."""
    print(f"\n{result['store']}, {result['memories']:,} memories")
    for name in ("disk", "ram"):
        parts = (f"{what} {size / 1e6:,.3f} MB" for what, size in result.get(name, {}).items())
        print(f"  {name}: {'; '.join(parts)}")
    for name, value in result.items():
        if name.endswith(("s", "1,000")) and isinstance(value, float):
            print(f"  {name}: {value:.2f}")
    for name, one in result.get("calls", {}).items():
        print(
            f"  {name:40} p50 {one['p50']:9.2f} ms  p95 {one['p95']:9.2f} ms"
            f"  CPU {one['cpu']:9.2f} ms  {one['times']:7.1f}x  ({one['calls']})"
        )
    for name, one in result.get("recall", {}).items():
        print(f"  recall, {name}: " + ", ".join(f"{what} {n:.3g}" for what, n in one.items()))


@contextmanager
def _server() -> Iterator[tuple[str, Cpu]]:
    from servers import postgres

    server = postgres.started(durable=True, **SETTINGS)
    try:
        yield server.url, Cpu(server.pid)
    finally:
        server.remove()


def _alone(url: str, count: int) -> dict[str, int]:
    """Return what `opened` finds in a process that has done nothing else."""
    command = [sys.executable, "-m", "benchmarks.sizes", "--opened", url, "--memories", str(count)]
    ran = subprocess.run(command, capture_output=True, check=True, timeout=600, text=True)
    figures: dict[str, int] = json.loads(ran.stdout)
    return figures


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def _said(text: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _options(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--memories", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--stores", nargs="+", choices=_MEASURED, default=["sqlite", "postgres"])
    parser.add_argument("--write", metavar="FILE.json", default="")
    parser.add_argument("--opened", metavar="URL", default="", help=argparse.SUPPRESS)
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
