"""`python -m benchmarks.inspector`: how soon each page of the inspector answers.

Fills a SQLite file with 100 thousand memories of one group, with the entries that they were made
of and what waits beside them, and asks each page for its first byte: once, and a second time.
Run it with PYTHONPATH=tests, where the server of the browser tests comes from:

    PYTHONPATH=tests python -m benchmarks.inspector --memories 100000 --waiting 2000
"""

from __future__ import annotations

import argparse
import http.client
import random
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks._memories import NOW, Texts
from browser.kit import running
from memoryware import (
    Entry,
    FilesystemBackend,
    HistoryBackend,
    Memory,
    MemoryScope,
    Origin,
    Provenance,
    TieredMemory,
)
from memoryware.inspector import inspector
from memoryware.tiers.model import hash_of

GOAL = 300
"""Milliseconds in which the first byte of every page shall be there, on its second load."""
_SCOPE = MemoryScope(tenant="acme", group_id="shop")
_BATCH = 2000
_SESSIONS = 1000
_TIMEOUT = 600
_QUERIES = ("shand", "when been which")
"""A word that few texts have, and three that many have."""


def main() -> None:
    """Fill, ask, print."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--memories", type=int, default=100_000)
    asked.add_argument("--waiting", type=int, default=2000, help="entries nobody has decided about")
    asked.add_argument("--folder", type=Path, help="where it is kept, and was if it is full")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        full = (folder / "memory.db").exists()
        memory, files = _opened(folder)
        if not full:
            start = time.perf_counter()
            _fill(memory, options.memories, options.waiting)
            memory.close()  # as for a person: the inspector opens what an app has filled
            memory, files = _opened(folder)
            print(f"filled in {time.perf_counter() - start:.0f} s")
        print(f"{options.memories:,} memories, {options.waiting:,} entries that wait\n", flush=True)
        app = inspector(memory, scope=_SCOPE, by="ann", files=files)
        with running(app) as address:
            _measure(address, app.state.site.keys.token, _pages(options.memories))
        _library(memory)
        memory.close()


def _opened(folder: Path) -> tuple[TieredMemory, HistoryBackend]:
    memory = TieredMemory.open(
        f"sqlite:///{folder / 'memory.db'}", journal=folder / "memory.journal.jsonl"
    )
    root = folder / "repository"
    root.mkdir(parents=True, exist_ok=True)
    files = HistoryBackend(FilesystemBackend(root, virtual_mode=True))
    if not (root / "AGENTS.md").exists():
        lines = [f"- Part {one} of the shop has prices in cents." for one in range(300)]
        files.write("/AGENTS.md", "\n".join(["# Shop", "", *lines, ""]))
        files.edit("/AGENTS.md", "0 of the shop has prices in cents",
                   "0 of the shop has prices in euros", replace_all=True)  # fmt: skip
    return memory, files


def _fill(memory: TieredMemory, count: int, waiting: int) -> None:
    """Keep memories, the entries that they were made of, and entries that wait, in that order."""
    dice = random.Random(1)
    texts, stores = Texts(dice), memory.parts.stores
    for first in range(0, count, _BATCH):
        pairs = [_pair(number, count, texts) for number in range(first, min(count, first + _BATCH))]
        stores.quarantine.load([one for one, _ in pairs])
        stores.long_term.load([one for _, one in pairs])
    for first in range(0, waiting, _BATCH):
        some = range(first, min(waiting, first + _BATCH))
        stores.quarantine.load([_entry(count + one, count, texts.text()) for one in some])
    for one in range(200):
        memory.note_shown([f"m{one}"], _scope(count - 1), tokens=90)


def _scope(number: int) -> MemoryScope:
    return MemoryScope(
        tenant="acme",
        group_id="shop",
        user_id=f"user{number % 40}",
        agent_id="helper",
        session_id=f"s{number % _SESSIONS}",
    )


def _entry(number: int, count: int, text: str, **more: Any) -> Entry:
    made = NOW - timedelta(minutes=max(0, count - number))
    roots = (Origin("user", f"user{number % 40}"),)
    return Entry(
        id=f"e{number}", scope=_scope(number), content=text, created_at=made,
        provenance=Provenance(Origin("agent", "helper"), (), roots), **more,
    )  # fmt: skip


def _pair(number: int, count: int, texts: Texts) -> tuple[Entry, Memory]:
    text, when = texts.text(), NOW - timedelta(minutes=count - number)
    entry = _entry(
        number, count, text, status="promoted", decided_by="ann", decided_at=when,
        memory_ids=(f"m{number}",),
    )  # fmt: skip
    memory = Memory(
        id=f"m{number}", document_id=f"d{number}", scope=entry.scope, content=text,
        created_at=when, valid_from=when, promoted_by=("ann", "bob")[number % 2],
        content_hash=hash_of(text), subject=f"subject {number}",
        provenance=Provenance.derived(Origin("agent", "helper"), [entry]),
    )  # fmt: skip
    return entry, memory


def _pages(count: int) -> dict[str, str]:
    memory, entry, session = f"m{count // 2}", f"e{count // 2}", _scope(count - 1).session_id
    return {
        "overview": "/",
        "review": "/review",
        "memories, the first page": "/memories",
        "memories, a page in the middle": f"/memories?rest={count // 2}",
        "memories, quarantine": "/memories?tier=quarantine",
        **{f"memories, search: {one}": f"/memories?q={quote(one)}" for one in _QUERIES},
        "a memory": f"/memories/one?id={memory}",
        "an entry": f"/memories/one?id={entry}",
        "what goes with a memory": f"/memories/revoke?id={memory}",
        "files": "/files",
        "a file": "/files/show?file=/AGENTS.md",
        "a file beside an older one": "/files/compare?file=/AGENTS.md&a=1&b=now",
        "sessions": "/sessions",
        "a session": f"/sessions/one?id={session}",
        "audit": "/audit",
        "audit of one person": "/audit?by=bob",
        "audit of rejections": "/audit?kind=rejected",
    }


def _measure(address: str, token: str, pages: dict[str, str]) -> None:
    place = urlsplit(address)
    link = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT)
    link.request("GET", f"/?token={token}")
    answer = link.getresponse()
    answer.read()
    cookie = (answer.getheader("set-cookie") or "").split(";")[0]
    print("| page | first load, ms (CPU) | second | third | |\n|---|---:|---:|---:|---|")
    for name, path in pages.items():
        loads = [_first_byte(link, path, cookie) for _ in range(3)]
        mark = "" if loads[1][0] < GOAL else "slow"
        told = " | ".join(f"{wall:,.0f} ({cpu:,.0f})" for wall, cpu in loads)
        print(f"| {name} | {told} | {mark} |", flush=True)
    link.close()


def _library(memory: TieredMemory) -> None:
    """Ask the library what the searches asked, to compare."""
    for one in _QUERIES:
        start = time.perf_counter()
        memory.retrieve(one, _SCOPE, explain=True)
        print(f"the library alone, {one}: {(time.perf_counter() - start) * 1000:,.0f} ms")


def _first_byte(link: http.client.HTTPConnection, path: str, cookie: str) -> tuple[float, float]:
    """Return the milliseconds until the first byte: on the wall, and of the processor."""
    start, worked = time.perf_counter(), time.process_time()
    link.request("GET", path, headers={"cookie": cookie})
    answer = link.getresponse()
    answer.read(1)
    taken, cpu = time.perf_counter() - start, time.process_time() - worked
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path} answered {answer.status}")
    return taken * 1000, cpu * 1000


if __name__ == "__main__":
    main()
