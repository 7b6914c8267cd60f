"""The part of the demo with three tiers, on servers: PostgreSQL with pgvector, and Valkey.

For everybody who wants to see it before there are servers of their own: both are started here,
from packages of the dev extra, and gone at the end. `DEMO_URL` names others:
`DEMO_URL="postgresql://user@host/database + redis://host" make demo-servers`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from langchain.chat_models import init_chat_model

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the model that the examples share
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # for the servers

from scripted import ScriptedModel
from stage import Stage

import tiers
from memoryware import TieredMemory
from servers import postgres  # type: ignore[import-not-found]
from servers.redis import redis_server  # type: ignore[import-not-found]


@contextmanager
def servers() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the address of both, and what starts them anew with what they have."""
    database = postgres.started()
    try:
        with redis_server("--appendonly", "yes", "--appendfsync", "always") as cache:

            def again() -> None:
                database.stop()
                cache.restart()
                database.start()

            yield f"{database.url} + {cache.url}", again
    finally:
        database.remove()


def main() -> int:
    """Play the demo; 0 if everything is as it claims."""
    name, given = os.environ.get("MEMORYWARE_MODEL", ""), os.environ.get("DEMO_URL", "")
    model = init_chat_model(name) if name else ScriptedModel(tiers.play)
    stage = Stage()
    stage.part("memoryware: three tiers in PostgreSQL and Redis")
    if given:
        tiers.perform(model, given, stage)
    else:
        with servers() as (address, again):
            stage.tell(f"Both were started for this demo: {address}")
            tiers.perform(model, address, stage)
            survives(address, again, stage)
    print()
    return 1 if stage.failed else 0


def survives(address: str, again: Callable[[], None], stage: Stage) -> None:
    """Start both servers anew under an open memory, and see what it still knows."""
    stage.scene("Both servers are started anew while the memory is open")
    with TieredMemory.open(address) as memory:
        before = [one.content for one in memory.retrieve("the orders", tiers.SHOP)]
        again()
        after = [one.content for one in memory.retrieve("the orders", tiers.SHOP)]
    for text in after:
        stage.quote(text)
    print()
    stage.check("what was known is known, without opening it again", holds=before == after != [])


if __name__ == "__main__":
    sys.exit(main())
