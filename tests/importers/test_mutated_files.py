"""Files with random damage: records, refusals or `ImportRefused`, and never another error."""

from __future__ import annotations

import random
import zipfile
from contextlib import suppress

import pytest

from doors import everyday_and_slow
from importers.sources import FILES
from memoryware import TieredMemory
from memoryware.errors import ImportRefused
from memoryware.importers import SYSTEMS, detect_system, import_memories

SEEDS = {
    "mem0.json": "mem0",
    "letta.af": "letta",
    "mcp-memory.jsonl": "mcp",
    "langgraph-store.db": "langgraph",
    "mem0-qdrant/history.db": "mem0",
    "mem0-qdrant/collection/mem0/storage.sqlite": "mem0",
    "basic-memory/coffee/Coffee Brewing.md": "basic-memory",
    "agents-md/AGENTS.md": "agents-md",
    "export.zip": "claude",
}
INSERTED = [
    b"\0",
    b'"',
    b"{",
    b"]",
    b"\n",
    b"- ",
    b"```",
    b"[[",
    b"#",
    b"null",
    b"\xff",
    b"\\ud800",
]


def damaged(content: bytes, random: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 5, 20])):
        at = random.randrange(len(changed))
        kind = random.random()
        if kind < 0.5:
            changed[at] = random.randrange(256)
        elif kind < 0.75:
            del changed[at : at + random.randrange(1, 30)]
        else:
            changed[at:at] = random.choice(INSERTED)
    return bytes(changed)


def content_of(name: str, folder) -> bytes:
    if name != "export.zip":
        return (FILES / name).read_bytes()
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("memories.json", '[{"conversations_memory": "Likes tea. Has a cat."}]')
        packed.writestr("AGENTS.md", "- one two\n- three four")
    return (folder / name).read_bytes()


@pytest.mark.parametrize("seed", everyday_and_slow(1, *range(2, 12)))
def test_damage_is_a_typed_error_or_a_counted_refusal(tmp_path, seed):
    chance = random.Random(seed)
    with TieredMemory.open("memory://") as memory:
        for name, system in SEEDS.items():
            content = content_of(name, tmp_path)
            for _ in range(4):
                file = tmp_path / f"damaged{name[name.rindex('.') :]}"
                file.write_bytes(damaged(content, chance))
                for chosen in (system, chance.choice(SYSTEMS)):
                    try:
                        summary = import_memories(memory, file, "shop", system=chosen)
                    except ImportRefused:
                        continue
                    parts = summary.recorded + summary.existing + summary.refused
                    assert summary.read == parts
                with suppress(ImportRefused):
                    detect_system(file)
