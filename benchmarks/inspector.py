"""How soon each page of the inspector begins to come, over 100,000 memories in one file.

    .venv/bin/python -m benchmarks.inspector

Goal: under 300 ms on the second load. The figures are wall time from the request to the first
byte of the answer, over a socket of this machine, the best and the median of some loads.
"""

from __future__ import annotations

import argparse
import http.client
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memoryware import (
    Entry,
    FilesystemBackend,
    HistoryBackend,
    Memory,
    MemoryScope,
    Origin,
    Provenance,
    TieredMemory,
    acting,
)
from memoryware.inspector import inspector
from memoryware.tiers.records import hash_of

GOAL = 0.3
SHOP = MemoryScope("acme", "shop")
_THINGS = [
    "orders",
    "invoices",
    "parcels",
    "returns",
    "shelves",
    "prices",
    "staff",
    "suppliers",
    "the_database",
    "builds",
]
_PLACES = [
    "Oslo",
    "Rotterdam",
    "Lyon",
    "Porto",
    "Gdansk",
    "Turin",
    "Ghent",
    "Malmo",
    "Graz",
    "Cork",
]


def text(number: int) -> str:
    """A sentence like those that agents say."""
    thing, place = _THINGS[number % 8], _PLACES[number // 8 % 9]
    return f"What concerns {thing} of {place} is in folder {number} of shelf {number % 97}."


def fill(memory: TieredMemory, many: int) -> None:
    """Put in many memories, and as many entries of which one in fifty waits."""
    stores, batch = memory.parts.stores, 5000
    start = datetime.now(UTC) - timedelta(minutes=many)
    for begin in range(0, many, batch):
        entries, memories = [], []
        for number in range(begin, min(begin + batch, many)):
            at = start + timedelta(minutes=number)
            scope = MemoryScope("acme", "shop", f"user{number % 20}", "helper", f"s{number // 8}")
            made = Provenance(
                Origin("agent", "helper"), roots=(Origin("user", f"user{number % 20}"),)
            )
            waits, said = number % 50 == 0, text(number)
            # what is in long-term memory already is not asked about again
            heard = f"Somebody says that {said[0].lower()}{said[1:]}" if waits else said
            entries.append(
                Entry(
                    id=f"e{number}", scope=scope, content=heard, created_at=at, provenance=made,
                    status="pending" if waits else "promoted",
                    decided_by=None if waits else "ann", decided_at=None if waits else at,
                    memory_ids=() if waits else (f"m{number}",),
                )
            )  # fmt: skip
            memories.append(
                Memory(
                    id=f"m{number}", document_id=f"d{number}",
                    scope=MemoryScope("acme", "shop", scope.user_id, None, scope.session_id),
                    content=said, created_at=at, promoted_by=f"person{number % 5}", valid_from=at,
                    provenance=Provenance(made.origin, (f"e{number}",), made.roots),
                    content_hash=hash_of(said),
                )
            )  # fmt: skip
        stores.quarantine.load(entries)
        stores.long_term.load(memories)
        print(f"\r{begin + batch:,} of {many:,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def first_byte(address: str, path: str, cookie: str) -> tuple[float, int]:
    """Load a page; return seconds until its first byte, and its size."""
    host = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
    begin = time.perf_counter()
    host.request("GET", path, headers={"cookie": cookie})
    answer = host.getresponse()
    first = answer.read(1)
    took = time.perf_counter() - begin
    rest = answer.read()
    host.close()
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}")
    return took, len(first + rest)


def main() -> None:
    """Measure every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    sys.path.insert(0, "tests")
    from browser.kit import running

    with tempfile.TemporaryDirectory() as folder:
        memory = TieredMemory.open(
            f"sqlite:///{folder}/memory.db", journal=f"{folder}/memory.journal.jsonl"
        )
        fill(memory, given.memories)
        (Path(folder) / "files").mkdir()
        files = HistoryBackend(FilesystemBackend(f"{folder}/files", virtual_mode=True))
        with acting(user="ann"):
            files.write("/AGENTS.md", "# Shop\n\n- Build with npm.\n")
            files.edit("/AGENTS.md", "npm", "pnpm")
        last = given.memories - 1
        pages = {
            "overview": "/",
            "review": "/review",
            "memories": "/memories",
            "memories, far back": f"/memories?rest={given.memories // 2}",
            "search": "/memories?q=invoices+Porto+folder",
            "one memory": f"/memories/one?id=m{last}",
            "revoke, preview": f"/memories/revoke?id=m{last}",
            "files": "/files",
            "one file": "/files/show?file=/AGENTS.md",
            "sessions": "/sessions",
            "one session": f"/sessions/one?id=s{last // 8}",
            "audit": "/audit",
            "audit of one": "/audit?by=person3&kind=promoted",
        }
        app = inspector(memory, scope=SHOP, by="ann", files=files)
        keys = app.state.site.keys
        with running(app) as address:
            cookie = f"{keys.cookie}={keys.exchange(keys.token)}"
            print(f"{'page':20} {'first load':>12} {'best':>9} {'median':>9} {'size':>9}")
            for name, path in pages.items():
                cold, size = first_byte(address, path, cookie)
                again = [first_byte(address, path, cookie)[0] for _ in range(given.rounds)]
                half = statistics.median(again)
                missed = "" if half < GOAL else "  over the goal"
                print(
                    f"{name:20} {cold * 1000:9.0f} ms {min(again) * 1000:6.0f} ms"
                    f" {half * 1000:6.0f} ms {size / 1000:6.0f} kB{missed}"
                )
            begin = time.perf_counter()
            memory.retrieve("invoices Porto folder", SHOP, explain=True)
            took = (time.perf_counter() - begin) * 1000
            print(f"the library alone answers the search in {took:.0f} ms")
        memory.close()


if __name__ == "__main__":
    main()
