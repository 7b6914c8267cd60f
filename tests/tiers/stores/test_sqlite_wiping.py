"""What was deleted from a SQLite file is in none of its files, whoever has it open."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from memoryware.testing._store import entry, memory, within
from memoryware.tiers.stores.sqlite import _database as database
from memoryware.tiers.stores.sqlite import sqlite_stores
from tiers.kit import bytes_on_disk


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["quarantine", "working", "long_term"])
def test_a_deleted_text_is_gone_though_another_process_has_the_file_open(path, stores, tier):
    store = getattr(stores, tier)
    with other_process(path) as other:
        for text in ("Zebraword is here", "Another one is kept"):
            keep(store, text)
        assert ask(other, "count") == str(2 * int(tier == "long_term"))
        assert store.delete(within(contains="zebra")) == 1
        assert b"ebraword" not in bytes_on_disk(path)
        assert ask(other, "count") == str(int(tier == "long_term"))


def test_what_a_reader_keeps_from_being_wiped_is_wiped_with_the_next_change(path, monkeypatch):
    monkeypatch.setattr(database, "_WIPING", 0.01)
    for at in ("change", "close", "open"):
        stores = sqlite_stores(path)
        stores.quarantine.add(entry("Zebraword is here"))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM record").fetchall()
            stores.quarantine.delete(within())
            assert b"ebraword" in bytes_on_disk(path)
            reader.execute("COMMIT")
            if at == "change":
                stores.working.push(entry("More"), keep=1)
            elif at == "close":
                stores.quarantine.close()
            else:
                sqlite_stores(path).quarantine.close()
            assert b"ebraword" not in bytes_on_disk(path), at
        stores.quarantine.close()


def test_what_a_change_deletes_is_wiped_when_all_of_it_is_done(stores, path):
    stores.quarantine.add(entry("Zebraword is here"))
    one = stores.working

    def change(record):
        stores.quarantine.delete(within())
        return replace(record, refused="no")

    one.push(entry("One"), keep=1)
    one.edit(within(), change)
    assert stores.quarantine.find(within()).total == 0
    assert b"ebraword" not in bytes_on_disk(path)


def keep(store, text):
    """Keep a text in a store of any tier."""
    if hasattr(store, "push"):
        store.push(entry(text), keep=9)
    elif hasattr(store, "by_words"):
        store.add([memory(text)])
    else:
        store.add(entry(text))


@contextmanager
def other_process(path):
    """A process that has a memory open and reads when it is asked to."""
    script = (
        "import sys\n"
        "from memoryware.testing._store import within\n"
        "from memoryware.tiers.stores.sqlite import sqlite_stores\n"
        "stores = sqlite_stores(sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    print(stores.long_term.find(within()).total, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        yield other
        other.stdin.close()


def ask(other, what):
    """Let another process read; return how many memories it sees."""
    other.stdin.write(f"{what}\n")
    other.stdin.flush()
    return other.stdout.readline().strip()
