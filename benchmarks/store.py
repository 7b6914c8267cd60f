"""Goal 17: listing and searching files in a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents.backends import StoreBackend as PeerStore
from langgraph.store.memory import InMemoryStore

from benchmarks._goals import Claim, Goal
from benchmarks._turns import Scale, in_turns
from memoryware import StoreBackend

_COUNTS = (1_000, 10_000)
_NAMESPACE = ("memories", "somebody")
_RARE = "a rare remark"
_OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "ls": lambda backend: backend.ls("/").entries,
    "glob": lambda backend: backend.glob("**/*7.md", "/").matches,
    "grep": lambda backend: backend.grep(_RARE, "/").matches,
}


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 17."""
    ours = {count: _filled(StoreBackend, _NAMESPACE, count) for count in _COUNTS}
    peer = {count: _filled(PeerStore, lambda _: _NAMESPACE, count) for count in _COUNTS}
    store, claims = ours[10_000]._store, []
    for name, operation in _OPERATIONS.items():
        mine, theirs = ({one["path"] for one in operation(side[1_000])} for side in (ours, peer))
        if mine != theirs:
            raise AssertionError(f"the answers of {name} differ")
        times = in_turns(
            {
                "ours": lambda o=operation: o(ours[10_000]),
                "ours of 1,000": lambda o=operation: o(ours[1_000]),
                "peer": lambda o=operation: o(peer[10_000]),
                "floor": lambda: store.search(_NAMESPACE, limit=10_000),
            },
            scale.share(0.7),
            calls=3,
        )
        note = (
            f"{times.text('peer')} against {times.text('ours')};"
            f" one `search` of the store {times.text('floor')}"
        )
        ratio = times.ratio("peer", "ours")
        claims.append(Claim(f"`{name}`, 10,000 files, faster than the peer", ratio, 8, note=note))
        growth = times.ratio("ours", "ours of 1,000")
        claims.append(Claim(f"`{name}`, 10,000 files against 1,000", growth, at_most=15))
    return [Goal(17, "`StoreBackend` over `InMemoryStore`", claims)]


def _filled(kind: Any, namespace: Any, count: int) -> Any:
    backend = kind(namespace=namespace, store=InMemoryStore())
    rows = [f"- note {number}\n" * 20 for number in range(count)]
    files = [
        (f"/topic{number // 50:04d}/note{number:05d}.md", text.encode())
        for number, text in enumerate(rows)
    ]
    files[7] = (files[7][0], _RARE.encode())
    backend.upload_files(files)
    return backend
