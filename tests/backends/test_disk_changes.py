"""One writer at a time, and a file that is whole at every moment, however the lock is held."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from limits import limited
from memoryware.backends._atomic import AtomicWriter, WriteClaim
from memoryware.backends._disk import Disk
from memoryware.backends._folder import HeldFolder
from memoryware.errors import FileMissing, FileTooLarge, LockTimeout, WriteFailed
from memoryware.settings import FileLimits

TEMPORARY = ".a.md.memoryware-tmp"
WAYS = {
    "held folder, draft": (True, "temporary"),
    "held folder, no flock here": (True, "no flock"),
    "held folder, second file": (True, "native"),
    "named folder, second file": (False, "native"),
    "named folder, soft lock": (False, "soft"),
}


@pytest.fixture(params=WAYS)
def changes(request, tmp_path, monkeypatch):
    holds, lock = WAYS[request.param]
    if lock == "no flock":
        lock = "temporary"
        monkeypatch.setattr(fcntl, "flock", _refuse_flock)
    limits = FileLimits(lock_timeout=20)
    return AtomicWriter(Disk(str(tmp_path), limits, supports_dir_fd=holds), lock=lock)


def _refuse_flock(fd, how):
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def names(folder):
    """Return the names in a folder, without files that are only locks."""
    return sorted(one.name for one in folder.iterdir() if ".lock." not in one.name)


def write(changes, data, path="/a.md"):
    changes.change(path, path, lambda old: data, create=True)


def test_a_change_gets_the_old_bytes_and_leaves_the_new_ones(changes, tmp_path):
    seen = []
    for data in (b"one", b"two", b"", b"three"):
        note = partial(lambda new, old: seen.append(old) or new, data)
        changes.change("/f/a.md", "/f/a.md", note, create=True)

    assert seen == [None, b"one", b"two", b""]
    assert (tmp_path / "f" / "a.md").read_bytes() == b"three"
    assert names(tmp_path / "f") == ["a.md"]


def test_a_missing_file_is_created_only_if_asked(changes, tmp_path):
    for path in ("/a.md", "/f/a.md"):
        with pytest.raises(FileMissing):
            changes.change(path, path, lambda old: b"x", create=False)
    assert names(tmp_path) == []


def test_a_change_that_raises_changes_nothing(changes, tmp_path):
    write(changes, b"old")
    for create in (True, False):
        with pytest.raises(ZeroDivisionError):
            changes.change("/a.md", "/a.md", lambda old: b"x" * (1 // 0), create=create)
    with pytest.raises(ZeroDivisionError):
        changes.change("/new.md", "/new.md", lambda old: b"x" * (1 // 0), create=True)

    assert (tmp_path / "a.md").read_bytes() == b"old"
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_system_that_fails_leaves_the_old_file(changes, tmp_path, monkeypatch, call, code):
    write(changes, b"old")
    real, calls = getattr(os, call), []

    def fails(*args, **kwargs):
        calls.append(call)
        if call == "write" and len(calls) == 1:
            return real(args[0], args[1][:1])  # some bytes are written, then no more
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(WriteFailed, match="old text is still there") as failed:
        write(changes, b"new and longer")
    monkeypatch.undo()

    assert calls
    assert failed.value.code == "write_failed"
    assert (tmp_path / "a.md").read_bytes() == b"old"
    write(changes, b"new")
    assert (tmp_path / "a.md").read_bytes() == b"new"
    assert names(tmp_path) == ["a.md"]


def test_a_folder_that_cannot_be_flushed_is_said_to_the_writer(changes, tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def fails(fd):
        calls.append(fd)
        if len(calls) > 1:  # first the file, then its folder
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(fd)

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(WriteFailed, match="was written, but may not outlive a power cut"):
        write(changes, b"new")
    assert (tmp_path / "a.md").read_bytes() == b"new"


def test_a_folder_that_no_system_flushes_is_fine(changes, tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def fails(fd):
        calls.append(fd)
        if len(calls) > 1:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(fd)

    monkeypatch.setattr(os, "fsync", fails)
    write(changes, b"new")
    assert (tmp_path / "a.md").read_bytes() == b"new"
    assert len(calls) == 2


def test_a_file_is_flushed_before_it_gets_its_name_and_the_folder_after(
    changes, tmp_path, monkeypatch
):
    write(changes, b"old")
    order, fsync, replace = [], os.fsync, os.replace

    def flushing(fd):
        order.append("file" if os.path.isfile(f"/proc/self/fd/{fd}") else "folder")
        fsync(fd)

    def naming(*args, **kwargs):
        order.append("name")
        replace(*args, **kwargs)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(os, "replace", naming)
    write(changes, b"new")

    assert order == ["file", "name", "folder"]


PLANTED = {
    "the rest of a killed writer": lambda at, out: at.write_text("half a te"),
    "a second name of a file outside": lambda at, out: os.link(out, at),
    "a pipe": lambda at, out: os.mkfifo(at),
    "a file that may not be read": lambda at, out: at.touch(0o000),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("planted", PLANTED)
def test_whatever_lies_where_the_draft_goes_is_removed_and_not_written_to(
    changes, tmp_path, planted
):
    folder, outside = tmp_path / "f", tmp_path / "outside.md"
    folder.mkdir()
    outside.write_text("mine")
    PLANTED[planted](folder / TEMPORARY, outside)
    write(changes, b"new", "/f/a.md")

    assert (folder / "a.md").read_bytes() == b"new"
    assert not (folder / "a.md").is_symlink()
    assert outside.read_text() == "mine"
    assert names(folder) == ["a.md"]


@pytest.mark.parametrize("target", ["outside.md", "nothing"])
def test_a_link_where_the_draft_goes_is_never_written_through(changes, tmp_path, target):
    folder, outside = tmp_path / "f", tmp_path / "outside.md"
    folder.mkdir()
    outside.write_text("mine")
    (folder / TEMPORARY).symlink_to(tmp_path / target)
    if changes._lock == "temporary" and fcntl.flock is not _refuse_flock:
        with pytest.raises(WriteFailed, match=r"is in the way of '/f/a\.md'; remove it"):
            write(changes, b"new", "/f/a.md")
        (folder / TEMPORARY).unlink()
    with suppress(WriteFailed):
        write(changes, b"new", "/f/a.md")
        assert (folder / "a.md").read_bytes() == b"new"
    assert outside.read_text() == "mine"
    assert names(tmp_path) == ["f", "outside.md"]


def test_a_folder_where_the_draft_goes_is_put_aside_with_all_that_is_in_it(changes, tmp_path):
    for content in ("one", "two"):
        (tmp_path / TEMPORARY).mkdir()
        (tmp_path / TEMPORARY / "inside.md").write_text(content)
        write(changes, content.encode())
        assert (tmp_path / "a.md").read_text() == content

    kept = [one.read_text() for one in tmp_path.glob(".*.aside.memoryware-tmp/inside.md")]
    assert sorted(kept) == ["one", "two"]
    assert TEMPORARY not in names(tmp_path)


def test_the_draft_of_a_faster_writer_is_not_put_aside(tmp_path):
    folder = HeldFolder.at(str(tmp_path))
    claim = WriteClaim("/a.md", folder, "a.md", 0o600)
    (tmp_path / TEMPORARY).write_text("live")
    assert claim._put_aside()  # there is no folder any more, so it is worth another try
    folder.close()

    assert names(tmp_path) == [TEMPORARY]
    assert (tmp_path / TEMPORARY).read_text() == "live"


def _appended(path):
    with open(path, "ab") as file:
        file.write(b"person\n")


def _renamed_over(path):
    new = path.with_name("swap")
    new.write_bytes(path.read_bytes() + b"person\n")
    new.replace(path)


@pytest.mark.parametrize("save", [_appended, _renamed_over])
def test_what_another_program_saves_after_the_reading_is_not_lost(changes, tmp_path, save):
    file, tries = tmp_path / "a.md", []
    file.write_bytes(b"one\n")

    def change(old):
        tries.append(old)
        if len(tries) < 4:
            save(file)
        return old + b"ours\n"

    changes.change("/a.md", "/a.md", change, create=False)

    assert file.read_bytes() == b"one\n" + b"person\n" * 3 + b"ours\n"
    assert len(tries) == 4
    assert names(tmp_path) == ["a.md"]


def test_a_file_that_another_program_creates_or_removes_meanwhile_is_noticed(changes, tmp_path):
    file, seen = tmp_path / "a.md", []

    def created(old):
        seen.append(old)
        if old is None:
            file.write_bytes(b"person\n")
        return (old or b"") + b"ours\n"

    changes.change("/a.md", "/a.md", created, create=True)
    assert seen == [None, b"person\n"]
    assert file.read_bytes() == b"person\nours\n"

    def removed(old):
        file.unlink()
        return b"back from the dead"

    with pytest.raises(FileMissing):
        changes.change("/a.md", "/a.md", removed, create=False)
    assert names(tmp_path) == []


def test_a_file_that_never_stays_as_it_is_ends_in_an_error_that_says_so(changes, tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"")

    def change(old):
        _appended(file)
        return old + b"ours"

    with pytest.raises(WriteFailed, match=r"another program keeps changing it; try again"):
        changes.change("/a.md", "/a.md", change, create=False)
    assert set(file.read_bytes().split()) == {b"person"}
    assert names(tmp_path) == ["a.md"]


def test_a_file_above_the_limit_is_neither_read_nor_changed(tmp_path):
    disk = Disk(str(tmp_path), limited(FileLimits, read_max_bytes=10))
    (tmp_path / "a.md").write_bytes(b"x" * 10)
    (tmp_path / "b.md").write_bytes(b"x" * 11)
    assert disk.read("/a.md", "/a.md") == b"x" * 10
    for work in (
        lambda: disk.read("/b.md", "/b.md"),
        lambda: AtomicWriter(disk).change("/b.md", "/b.md", lambda old: b"", create=False),
    ):
        with pytest.raises(FileTooLarge, match=r"'/b\.md' is too large .* less than 10 bytes"):
            work()
    assert names(tmp_path) == ["a.md", "b.md"]


def test_two_files_with_long_names_have_two_locks(changes, tmp_path):
    one, two = "/" + "n" * 200 + "1.md", "/" + "n" * 200 + "2.md"
    inside, done = threading.Event(), threading.Event()

    def slow(old):
        inside.set()
        assert done.wait(10)
        return b"one"

    with ThreadPoolExecutor() as pool:
        first = pool.submit(changes.change, one, one, slow, create=True)
        assert inside.wait(10)
        write(changes, b"two", two)
        done.set()
        first.result()
    assert (tmp_path / one[1:]).read_bytes() == b"one"
    assert (tmp_path / two[1:]).read_bytes() == b"two"


@pytest.mark.slow
def test_a_second_writer_waits_and_gives_up_in_time(changes, tmp_path):
    write(changes, b"old")
    hasty = AtomicWriter(
        Disk(
            str(tmp_path),
            FileLimits(lock_timeout=0.3),
            supports_dir_fd=changes._disk.supports_dir_fd,
        ),
        lock=changes._lock,
    )
    inside, done = threading.Event(), threading.Event()

    def slow(old):
        inside.set()
        assert done.wait(20)
        return b"slow"

    with ThreadPoolExecutor() as pool:
        first = pool.submit(changes.change, "/a.md", "/a.md", slow, create=True)
        assert inside.wait(20)
        began = time.monotonic()
        for attempt in (
            lambda: write(hasty, b"hasty"),
            lambda: hasty.delete("/a.md", "/a.md"),
        ):
            with pytest.raises(LockTimeout, match=r"0\.3 seconds"):
                attempt()
        assert 0.5 < time.monotonic() - began < 15
        assert (tmp_path / "a.md").read_bytes() == b"old"
        second = pool.submit(changes.change, "/a.md", "/a.md", lambda old: old + b"!", create=True)
        time.sleep(0.05)
        done.set()
        first.result()
        second.result()
    assert (tmp_path / "a.md").read_bytes() == b"slow!"


def test_a_link_and_its_file_have_one_lock(changes, tmp_path):
    write(changes, b"0")
    (tmp_path / "link.md").symlink_to("a.md")

    def add(path):
        for _ in range(10):
            changes.change(path, path, lambda old: b"%d" % (int(old) + 1), create=False)

    with ThreadPoolExecutor() as pool:
        [*pool.map(add, ["/a.md", "/link.md", "/a.md", "/link.md"])]
    assert (tmp_path / "a.md").read_bytes() == b"40"
    assert (tmp_path / "link.md").is_symlink()


@pytest.mark.slow
def test_counting_by_threads_and_processes_loses_nothing(changes, tmp_path, request):
    write(changes, b"0")
    # Another process has flock even where this one is made to have none.
    others = 0 if "no flock" in request.node.name else 3
    code = (
        "import sys; from memoryware.backends._atomic import *;"
        "from memoryware.backends._disk import Disk;"
        "from memoryware.settings import FileLimits;"
        "root, holds, lock = sys.argv[1:];"
        "changes = AtomicWriter(Disk(root, FileLimits(), supports_dir_fd=holds == 'True'), lock=lock);"
        "[changes.change('/a.md', '/a.md', lambda old: b'%d' % (int(old) + 1), create=False)"
        " for _ in range(25)]"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(changes._disk.supports_dir_fd)]
    running = [subprocess.Popen([*command, changes._lock]) for _ in range(others)]

    def add():
        for _ in range(25):
            changes.change("/a.md", "/a.md", lambda old: b"%d" % (int(old) + 1), create=False)

    with ThreadPoolExecutor() as pool:
        [one.result() for one in [pool.submit(add) for _ in range(3)]]
    assert [one.wait(50) for one in running] == [0] * others
    assert (tmp_path / "a.md").read_bytes() == b"%d" % (25 * (3 + others))
    assert names(tmp_path) == ["a.md"]


def test_a_file_deleted_while_an_edit_waits_stays_deleted(changes, tmp_path):
    write(changes, b"old")
    inside, done = threading.Event(), threading.Event()

    def slow(old):
        inside.set()
        assert done.wait(10)
        return b"edited"

    with ThreadPoolExecutor() as pool:
        edit = pool.submit(changes.change, "/a.md", "/a.md", slow, create=False)
        assert inside.wait(10)
        delete = pool.submit(changes.delete, "/a.md", "/a.md")
        time.sleep(0.05)
        assert not delete.done()
        done.set()
        edit.result()
        delete.result()
    assert names(tmp_path) == []


def test_a_folder_that_is_deleted_under_a_writer_is_made_again(changes, tmp_path, monkeypatch):
    times, replace = [2], os.replace

    def slow(*args, **kwargs):
        if times[0]:
            times[0] -= 1
            shutil.rmtree(tmp_path / "f")
        replace(*args, **kwargs)

    monkeypatch.setattr(os, "replace", slow)
    write(changes, b"new", "/f/g/a.md")
    assert (tmp_path / "f" / "g" / "a.md").read_bytes() == b"new"
    assert times == [0]

    times[0] = 1000
    with pytest.raises(WriteFailed, match="keeps deleting its folder"):
        write(changes, b"newer", "/f/g/a.md")


def test_an_edit_of_a_file_that_is_deleted_meanwhile_is_an_error(changes, tmp_path, monkeypatch):
    write(changes, b"old", "/f/a.md")

    def gone(old):
        shutil.rmtree(tmp_path / "f")
        return b"edited"

    with pytest.raises(FileMissing):
        changes.change("/f/a.md", "/f/a.md", gone, create=False)
    assert names(tmp_path) == []


def test_a_single_mounted_file_is_told_what_to_do(changes, tmp_path, monkeypatch):
    write(changes, b"old")

    def busy(*args, **kwargs):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", busy)
    with pytest.raises(WriteFailed, match="mount its folder instead"):
        write(changes, b"new")


def test_no_descriptor_is_left_open(changes, tmp_path):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "link").symlink_to("../f")
    (tmp_path / "out").symlink_to("..")
    os.mkfifo(tmp_path / "pipe")

    read, change, delete = changes._disk.read, changes.change, changes.delete

    def work():
        write(changes, b"%d" % time.monotonic_ns(), "/f/link/a.md")
        for at in ("/f/a.md", "/f/gone", "/out/x", "/pipe", "/f/a.md/x", "/f", "/f/link/link/a.md"):
            with suppress(ValueError, OSError):
                read(at, at)
            with suppress(ValueError, OSError):
                change(at, at, lambda old: old or b"", create=False)
            with suppress(ValueError, OSError):
                delete(f"{at}/gone", f"{at}/gone")

    work()
    before = os.listdir("/proc/self/fd")
    for _ in range(5):
        work()
    assert len(os.listdir("/proc/self/fd")) == len(before)
