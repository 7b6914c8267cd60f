"""A process that pushes and edits until it is done, and says what was confirmed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from memoryware.errors import StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.testing._store import entry, within
from memoryware.tiers.stores.protocol import TierHandle
from memoryware.tiers.stores.redis import RedisSettings, RedisWorking

GROUPS = 5


def main(url: str, me: str, count: str) -> None:
    """Push entries to all groups and count up one that all share, through thick and thin."""
    store = TierHandle(RedisWorking(url, RedisSettings(timeout=2)), "working")
    for n in range(int(count)):
        scope = MemoryScope(tenant="t", group_id=f"g{n % GROUPS}")
        one = entry(f"{me} {n}", scope, id=f"{me}-{n}")
        for confirmed, ask in (
            (f"pushed {one.id}", lambda one=one: store.push(one, keep=10_000)),
            ("counted", lambda: store.edit(within(MemoryScope(group_id="all")), counted)),
        ):
            try:
                ask()
            except StoreUnavailable:
                time.sleep(0.05)
            else:
                print(confirmed, flush=True)
        time.sleep(0.005)
    store.close()


def counted(record):
    return replace(record, metadata={"count": record.metadata["count"] + 1})


if __name__ == "__main__":
    main(*sys.argv[1:])
