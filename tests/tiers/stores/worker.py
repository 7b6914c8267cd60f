"""Processes that record and promote in a loop and say what was confirmed.

Given steps, this one works. Without, it starts a child for each line that it reads, so that
a child which is killed costs no imports, and says "gone" when the child is.
"""

from __future__ import annotations

import os
import sys
import uuid

from memoryware import MemoryScope, TieredMemory
from tiers.kit import HashEmbeddings

SHOP = MemoryScope(group_id="shop")
CHUNKS = 4


def text(step: str) -> str:
    """What is promoted: as many chunks as `CHUNKS`."""
    return "\n\n".join(f"promotion {step} part {n} " + "word " * 80 for n in range(CHUNKS))


def work(path: str, steps: int) -> None:
    url = path if "://" in path else f"sqlite:///{path}"
    memory = TieredMemory.open(url, embeddings=HashEmbeddings(), embedding_space="h")
    for _ in range(steps):
        one, two = uuid.uuid4().hex, uuid.uuid4().hex
        said = memory.record(
            f"Order {one} was sent to customer {two} by the first train today.", SHOP
        )
        tell(f"recorded {said.entry.id}")
        tell(f"promoted {memory.promote(text(one), SHOP, by='ann').document_id}")
        done = memory.promote(said.entry, by="ann")
        tell(f"decided {said.entry.id} {done.document_id}")


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def keep(path: str) -> None:
    work(f"{path}.warm", 1)  # what is loaded on first use is loaded before the children begin
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            os.close(0)
            tell(f"pid {os.getpid()}")
            work(path, 10_000)
            os._exit(1)
        os.waitpid(child, 0)
        tell("gone")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        work(sys.argv[1], int(sys.argv[2]))
    else:
        keep(sys.argv[1])
