"""Write the frozen files anew, after a change that is on purpose; the tests name the command.

python tests/frozen/made.py            the public names, the command line, prompts and events
python tests/frozen/made.py reads      what reads and commands answer on the kept data
python tests/frozen/made.py verdicts   what filters, digest and promotion say of pairs of texts
python tests/frozen/made.py figures    what recall is worth (needs MEMORYWARE_LOCOMO)
python tests/frozen/made.py data       the kept data, and its reads, with the version that is
                                       installed, or that PYTHONPATH names

What changes is listed in the changelog. The data in `data/` was written by memoryware 0.1.0
(commit 393ca13) and stays as it is: later versions must read it.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path[:0] = [str(ROOT / "tests")]
if "data" not in sys.argv:  # the version that is frozen is another one
    sys.path[:0] = [str(ROOT / "src")]

from frozen import engines  # noqa: E402 - the folders above are on the path now
from frozen.commands import outputs  # noqa: E402
from frozen.figures import EXAMPLE, VARIABLE, figures, locomo_path  # noqa: E402
from frozen.happenings import happenings  # noqa: E402
from frozen.reads import as_lines, read_all, readable  # noqa: E402
from frozen.sample import Sample  # noqa: E402
from frozen.surface import command_line, surface  # noqa: E402
from frozen.verdicts import verdicts  # noqa: E402
from memoryware import TieredMemory  # noqa: E402
from memoryware.stores import langgraph_stores, open_stores  # noqa: E402


def write_names() -> None:
    """Write the public names, the command line, the prompts and the events."""
    from frozen.prompts import prompts  # its helpers are of this version, whatever is installed

    write("surface.txt", "\n".join(surface()) + "\n")
    write("happenings.txt", "\n".join(happenings()) + "\n")
    write("commands.txt", "\n".join(command_line()) + "\n")
    texts = prompts()
    for old in (HERE / "prompts").glob("*.txt"):
        if old.stem not in texts:
            old.unlink()
    for name, text in texts.items():
        write(f"prompts/{name}.txt", text + "\n")


def write_reads() -> None:
    """Write what reads and commands answer on the kept SQLite file, and reads on a new one."""
    labels = engines.labels()
    with tempfile.TemporaryDirectory() as name:
        path = engines.place_sqlite(Path(name))
        journal = path.with_suffix(".journal.jsonl")
        with readable(
            lambda **more: TieredMemory(open_stores(f"sqlite:///{path}"), journal=journal, **more),
            Sample(None),
        ) as memory:
            write("reads.json", as_lines(read_all(memory, labels)) + "\n")
    with tempfile.TemporaryDirectory() as name:
        engines.place_sqlite(Path(name))
        write("outputs.json", as_lines(outputs(Path(name), labels)) + "\n")

    with tempfile.TemporaryDirectory() as name:
        address, journal = f"sqlite:///{name}/memory.db", Path(name) / "journal"

        def opened(**options: Any) -> TieredMemory:
            return TieredMemory(open_stores(address), journal=journal, **options)

        sample = Sample(opened)
        labels = sample.write()
        with readable(opened, sample) as memory:
            write("written.json", as_lines(read_all(memory, labels)) + "\n")


def write_verdicts() -> None:
    """Write what filters, digest and promotion say of pairs of texts."""
    write("verdicts.txt", "\n".join(verdicts()) + "\n")


def write_figures() -> None:
    """Write what recall is worth; needs the local model, and LoCoMo."""
    path = locomo_path()
    if path is None:
        sys.exit(f"Set {VARIABLE} to the file of LoCoMo, which is not in this repository")
    found: dict[str, Any] = {}
    for name, dataset, where in (("example", "jsonl", EXAMPLE), ("locomo", "locomo", path)):
        for embeddings in (None, "local"):
            found.setdefault(name, {})[embeddings or "words"] = figures(dataset, where, embeddings)
    write("figures.json", as_lines(found) + "\n")


def write_data() -> None:
    """Write the kept data of every engine, with the version that is installed."""
    from langgraph.store.memory import InMemoryStore

    from memoryware.tiers.stores.postgres import _schema as schema
    from memoryware.tiers.stores.sqlite._schema import STEPS
    from servers import postgres
    from servers.redis import redis_server

    if any(engines.DATA.glob("*.gz")):
        sys.exit(f"{engines.DATA} has data of an older version, which must stay: delete it first")
    engines.DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = _sample(lambda: open_stores(f"sqlite:///{folder}/memory.db"), folder / "journal")
        (engines.DATA / "labels.json").write_text(json.dumps(labels, indent=0) + "\n")
        (engines.DATA / "journal.jsonl").write_bytes((folder / "journal").read_bytes())
        engines.keep("sqlite-3.db", (folder / "memory.db").read_bytes())
        for version in (1, 2):
            older = folder / f"{version}.db"
            engines.sqlite_of_version(folder / "memory.db", older, STEPS[:version])
            engines.keep(f"sqlite-{version}.db", older.read_bytes())
        store = InMemoryStore()
        _sample(lambda: langgraph_stores(store), folder / "2")
        engines.keep("langgraph.json", engines.dump_langgraph(store))
        with redis_server() as server, postgres.schema_at(postgres.url()) as address:
            _sample(lambda: open_stores(f"{address} + {server.url}?prefix=x:"), folder / "3")
            engines.keep("redis.json", engines.dump_redis(server.url, "x:"))
        with postgres.schema_at(postgres.url()) as address:
            _sample(lambda: open_stores(address), folder / "4")
            tables = schema.step_sql(schema.STEPS[0], "@pgvector", 0)
            indexes = (schema.vector_index(n, size, "@pgvector") for n, size in ((1, 24), (2, 16)))
            statements = tables + "".join(f"{one};\n" for one in indexes)
            engines.keep("postgres.sql", engines.dump_postgres(address, statements).encode())


def _sample(stores: Any, journal: Path) -> dict[str, str]:
    return Sample(lambda **more: TieredMemory(stores(), journal=journal, **more)).write()


def write(name: str, text: str) -> None:
    """Write a frozen file, and say so if it changes."""
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    commands = {
        "names": write_names,
        "reads": write_reads,
        "verdicts": write_verdicts,
        "figures": write_figures,
        "data": lambda: (write_data(), write_reads()),
    }
    for command in sys.argv[1:] or ["names"]:
        commands[command]()
