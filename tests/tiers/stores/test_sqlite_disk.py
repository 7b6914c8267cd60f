"""What happens to the file under a memory: deleted, replaced, restored, read-only, backed up."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import traceback

import pytest

from backends.unprivileged import as_nobody, open_folder
from memoryware import MemoryScope, TieredMemory
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.testing._store import document, entry
from memoryware.tiers.stores.langgraph import langgraph_stores
from memoryware.tiers.stores.sqlite import _database as database
from memoryware.tiers.text.terms import WORDS_VERSION

pytestmark = pytest.mark.slow

FIRST = "The orders of the shop are kept in PostgreSQL 17 on the server db2."
SECOND = "The nightly backup of the orders goes to the bucket cold-7."
ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts and other users need root"
)


def opened(path):
    return TieredMemory.open(f"sqlite:///{path}")


def cold(memory, query="orders backup"):
    return {item.content for item in memory.retrieve(query, "shop", tiers=("long_term",))}


def killed_after(path, text):
    """Keep a text in a process that is killed, so that the log keeps it.

    It opens the store alone: an import of the whole package would take most of the time.
    """
    script = (
        "import os, pickle, signal, sys\n"
        "from memoryware.tiers.stores.sqlite import sqlite_stores\n"
        "stores = sqlite_stores(sys.argv[1])\n"
        "stores.long_term.add(pickle.load(sys.stdin.buffer))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(path)],
        input=pickle.dumps(document(text, scope=MemoryScope(group_id="shop"))),
        timeout=50,
        check=False,
    )
    assert database.log_of(path).stat().st_size


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    with opened(folder / "m.db") as memory:
        memory.promote(FIRST, "shop", by="ann")
    return folder / "m.db"


# Deleted or replaced while it is open.


def delete(path):
    for file in path.parent.iterdir():
        file.unlink()


def delete_the_database_alone(path):
    path.unlink()


def replace(path):
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def move_the_folder(path):
    path.parent.rename(path.parent.with_name("moved"))


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("happens", [delete, delete_the_database_alone, replace, move_the_folder])
async def test_a_file_that_was_deleted_or_replaced_is_said_at_every_call(path, happens):
    memory = opened(path)
    assert cold(memory) == {FIRST}
    happens(path)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="deleted or replaced while it was open"):
            memory.promote(SECOND, "shop", by="ann")
        with pytest.raises(StoreUnavailable, match="Close this memory and open it again"):
            await memory.alist("shop")
    assert memory.retrieve("orders", "shop").notes
    memory.close()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
@pytest.mark.parametrize("ending", ["closes", "just ends"])
def test_who_held_the_old_file_does_not_touch_the_log_of_the_new_one(path, ending):
    script = (
        "import sys\n"
        "from memoryware import TieredMemory\n"
        "memory = TieredMemory.open(f'sqlite:///{sys.argv[1]}')\n"
        "print(len(memory.retrieve('orders', 'shop')), flush=True)\n"
        "sys.stdin.readline()\n"
        "if sys.argv[2] == 'closes': memory.close()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path), ending],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as old:
        assert old.stdout.readline() == "1\n"
        replace(path)
        for name in (f"{path}-wal", f"{path}-shm"):
            os.remove(name)
        killed_after(path, SECOND)
        log = database.log_of(path).read_bytes()
        old.communicate("\n", timeout=50)
    assert database.log_of(path).read_bytes() == log
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


# Restored from a backup.


def restore_as_cp(backup, path):
    shutil.copyfile(backup, path)


def restore_as_mv(backup, path):
    time.sleep(0.1)
    shutil.copy2(backup, path.with_name("new"))
    path.with_name("new").replace(path)


@pytest.mark.parametrize("restore", [restore_as_cp, restore_as_mv])
def test_a_log_beside_a_restored_backup_brings_nothing_back(path, tmp_path, restore):
    backup = tmp_path / "backup.db"
    shutil.copyfile(path, backup)
    killed_after(path, SECOND)
    restore(backup, path)
    with pytest.raises(StoreUnavailable, match=r"delete .*m\.db-wal") as refused:
        opened(path)
    assert "touch" in str(refused.value)
    for suffix in ("-wal", "-shm"):
        os.remove(f"{path}{suffix}")
    with opened(path) as memory:
        assert cold(memory) == {FIRST}


def test_if_nobody_restored_anything_the_log_is_taken_after_a_touch(path):
    killed_after(path, SECOND)
    later = time.time() + 5
    os.utime(path, (later, later))
    with pytest.raises(StoreUnavailable, match=r"keep the log and call: touch .*m\.db-wal"):
        opened(path)
    os.utime(database.log_of(path), (later, later))
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


def test_a_log_that_is_in_the_database_already_is_no_reason_to_refuse(path):
    """As after a kill between a checkpoint and the next change."""
    killed_after(path, SECOND)
    log = database.log_of(path).read_bytes()
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}
    database.log_of(path).write_bytes(log)
    os.utime(database.log_of(path), (1, 1))
    os.utime(path)
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


def test_a_clock_that_was_set_back_is_no_reason_to_refuse(path):
    ahead = time.time() + 3600
    os.utime(path, (ahead, ahead))
    killed_after(path, SECOND)
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


def test_the_first_remedy_after_a_chmod_loses_nothing(path):
    killed_after(path, SECOND)
    time.sleep(0.2)
    path.chmod(0o640)
    with pytest.raises(StoreUnavailable) as refused:
        opened(path)
    remedy = str(refused.value)
    assert remedy.index("touch ") < remedy.index("delete ")
    subprocess.run(["touch", database.log_of(path)], check=True, timeout=50)
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


FILLED = """
import sys
from memoryware import TieredMemory
from memoryware.errors import StoreUnavailable
memory = TieredMemory.open(f"sqlite:///{sys.argv[1]}")
confirmed = 0
try:
    while True:
        memory.record(f"The server r{confirmed} is in the hall {confirmed}.", "shop")
        confirmed += 1
except StoreUnavailable as error:
    assert "the disk is full" in str(error), error
memory.close()
print(confirmed)
"""


@ROOT
@pytest.mark.parametrize("size", ["700k", "900k", "1200k", "2000k"])
def test_a_full_disk_and_a_close_leave_a_file_that_opens_with_all_that_was_confirmed(
    tmp_path, size
):
    """In a mount namespace of its own: nothing is left when the test is killed."""
    script = (
        f"mount -t tmpfs -o size={size} tmpfs {tmp_path} && {sys.executable} - {tmp_path}/m.db"
        f" && mount -o remount,size=50m {tmp_path}"
        f" && {sys.executable} -c 'import sys; from memoryware import TieredMemory;"
        " print(TieredMemory.open(sys.argv[1]).list("
        f'"shop", tier="quarantine").total)\' sqlite:///{tmp_path}/m.db'
    )
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        input=FILLED,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    confirmed, there = (int(line) for line in ran.stdout.split()) if not ran.returncode else (0, -1)
    assert confirmed == there > 0, ran.stderr


def test_a_kill_in_the_middle_of_a_checkpoint_is_no_reason_to_refuse(path):
    script = (
        "import os, signal, sqlite3, sys\n"
        "from memoryware import TieredMemory\n"
        "from memoryware.tiers.stores.sqlite import _database as database\n"
        "memory = TieredMemory.open(f'sqlite:///{sys.argv[1]}')\n"
        "memory.promote(sys.argv[2], 'shop', by='ann')\n"
        "class Dying:\n"
        "    def execute(self, sql):\n"
        "        with open(sys.argv[1], 'r+b') as file:\n"
        "            page = file.read(4096); file.seek(0); file.write(page)\n"  # some of it is written
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "database.checkpoint(Dying(), memory.parts.stores.quarantine._database.path, 'PASSIVE')\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path), SECOND], timeout=50, check=False)
    with opened(path) as memory:
        assert cold(memory) == {FIRST, SECOND}


def test_a_long_log_goes_into_the_database_and_starts_again(path):
    with opened(path) as memory:
        quarantine = memory.parts.stores.quarantine
        for number in range(400):
            quarantine.add(entry(f"Row {number}: {'tea ' * 6000}"))
        assert database.log_of(path).stat().st_size < 8 * 1024 * 1024
        assert path.stat().st_size > 1024 * 1024


# In a place that cannot be written.


def in_a_read_only_place(path, code):
    """Run code where the folder of the database is mounted read-only."""
    script = (
        f"mount --bind {path.parent} {path.parent} &&"
        f" mount -o remount,ro,bind {path.parent} && exec {sys.executable} - {path}"
    )
    head = (
        "import sys\nfrom memoryware import TieredMemory\nfrom memoryware.errors import StoreUnavailable\npath = sys.argv[1]\n"
        "memory = TieredMemory.open(f'sqlite:///{path}')\n"
        "cold = lambda q: [i.content for i in memory.retrieve(q, 'shop', tiers=('long_term',))]\n"
    )
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        input=head + code,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return ran.stdout + ran.stderr


@ROOT
def test_a_memory_in_a_read_only_place_can_be_read_and_says_why_it_is_not_written(path, tmp_path):
    said = in_a_read_only_place(
        path,
        "print(cold('orders'), len(memory.list('shop').items), len(memory.digest('shop').insights))\n"
        f"memory.backup({str(tmp_path / 'copy.db')!r})\n"
        "try: memory.promote('New text of the shop.', 'shop', by='ann')\n"
        "except StoreUnavailable as error: print('refused:', error)\n"
        "print(memory.record('New text of the shop, said by an agent.', 'shop').entry)\n",
    )
    assert FIRST in said
    assert "refused: " in said
    assert "it may not be written" in said
    with opened(tmp_path / "copy.db") as memory:
        assert cold(memory) == {FIRST}


@pytest.mark.slow
@ROOT
def test_words_of_an_older_version_are_made_anew_in_memory_where_nothing_can_be_written(path):
    with sqlite3.connect(path) as db:
        db.execute("UPDATE about SET value = ? WHERE name = 'words'", [WORDS_VERSION - 1])
        db.execute("UPDATE record SET words = x'000000000000' WHERE tier = 1")
    db.close()
    before = path.read_bytes()
    assert FIRST in in_a_read_only_place(path, "print(cold('orders'))")
    assert path.read_bytes() == before


@ROOT
def test_a_log_that_cannot_be_read_there_is_said(path):
    killed_after(path, SECOND)
    os.remove(f"{path}-shm")
    said = in_a_read_only_place(path, "print(cold('orders'))")
    assert "copy both files to a place that can be written" in said


@ROOT
def test_who_may_only_read_a_file_can_read_it():
    with open_folder() as folder:
        with opened(folder / "m.db") as memory:
            memory.promote(FIRST, "shop", by="ann")
        (folder / "m.db").chmod(0o644)
        folder.chmod(0o755)
        with as_nobody(), opened(folder / "m.db") as memory:
            assert cold(memory) == {FIRST}
            with pytest.raises(StoreUnavailable, match="may not be written"):
                memory.promote(SECOND, "shop", by="ann")


# Backups.


def test_a_backup_is_one_private_file_with_all_of_it(path, tmp_path):
    target = tmp_path / "backup.db"
    with opened(path) as memory:
        memory.promote(SECOND, "others", by="ann")
        memory.backup(target)
        memory.promote("Later than the backup.", "shop", by="ann")
    assert [*tmp_path.glob("*backup*")] == [target]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with opened(target) as copy:
        assert cold(copy) == {FIRST}
        assert [item.content for item in copy.retrieve("backup", "others")] == [SECOND]
        assert [item.content for item in copy.retrieve("later", "shop")] == []


def test_what_was_deleted_is_not_in_a_backup(path, tmp_path):
    with opened(path) as memory:
        memory.promote("The password of old times was swordfish-seven.", "shop", by="ann")
        memory.forget("shop", query="swordfish")
        memory.backup(tmp_path / "backup.db")
    assert b"swordfish" not in (tmp_path / "backup.db").read_bytes()


async def test_a_backup_replaces_a_file_only_if_it_is_told_to(path, tmp_path):
    target = tmp_path / "backup.db"
    target.write_text("mine")
    with opened(path) as memory:
        with pytest.raises(StoreUnavailable, match="overwrite=True"):
            memory.backup(target)
        with pytest.raises(StoreUnavailable, match="overwrite=True"):
            await memory.abackup(target)
        assert target.read_text() == "mine"
        await memory.abackup(target, overwrite=True)
    with opened(target) as copy:
        assert cold(copy) == {FIRST}


def test_a_backup_of_a_memory_that_is_being_written_is_of_one_moment(path, tmp_path):
    done = threading.Event()

    def write():
        with opened(path) as other:
            number = 0
            while not done.is_set():
                other.promote(f"Delivery {number} is on its way.", "shop", by="ann")
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with opened(path) as memory:
            for number in range(5):
                memory.backup(tmp_path / f"{number}.db")
    finally:
        done.set()
        writer.join(50)
    counts = []
    for number in range(5):
        with opened(tmp_path / f"{number}.db") as copy:
            counts.append(copy.list("shop", tier="longterm").total)
    assert counts == sorted(counts)


def test_a_damaged_memory_gives_no_backup(path, tmp_path):
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 6] = b"x" * (4096 * 3)
    path.write_bytes(data)
    with opened(path) as memory, pytest.raises(StoreUnavailable, match="damaged"):
        memory.backup(tmp_path / "backup.db")
    assert [*tmp_path.glob("*backup*")] == []


def test_a_text_that_is_no_text_gives_no_backup_and_is_in_no_message(path, tmp_path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b"orders of the shop", b"orders of \xff\xffe shop"))
    with opened(path) as memory:
        for call in (
            lambda: memory.list("shop", tier="longterm"),
            lambda: memory.export("shop"),
            lambda: memory.backup(tmp_path / "backup.db"),
        ):
            with pytest.raises(
                StoreUnavailable, match="damaged: a text in it is not UTF-8"
            ) as error:
                call()
            assert "PostgreSQL 17" not in "".join(traceback.format_exception(error.value))
    assert [*tmp_path.glob("*backup*")] == []


def test_a_damaged_schema_is_said(path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE about", b"CREATE TABL\xc0 about"))
    with pytest.raises(StoreUnavailable, match="damaged"):
        opened(path)


def test_other_stores_say_what_to_use_instead(tmp_path):
    from langgraph.store.memory import InMemoryStore

    for memory in (
        TieredMemory.open("memory://"),
        TieredMemory(langgraph_stores(InMemoryStore())),
    ):
        with pytest.raises(SettingError, match=r"pg_dump.*copy_stores"):
            memory.backup(tmp_path / "backup.db")
    with opened(tmp_path / "m.db") as memory, pytest.raises(SettingError, match="path"):
        memory.backup(7)


def test_modes_of_new_and_of_existing_files(tmp_path):
    with opened(tmp_path / "new.db") as memory:
        memory.promote(FIRST, "shop", by="ann")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == dict.fromkeys(["new.db", "new.db-wal", "new.db-shm"], 0o600)
    (tmp_path / "new.db").chmod(0o640)
    with opened(tmp_path / "new.db") as memory:
        memory.promote(SECOND, "shop", by="ann")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == dict.fromkeys(["new.db", "new.db-wal", "new.db-shm"], 0o640)
