"""Where files are looked at: on the event loop if that is quick, else in a thread."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from memoryware import FilesystemBackend, MemoryMiddleware
from memoryware.backends import filesystem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for its mounts")


class Counting(ThreadPoolExecutor):
    """The threads of an event loop, which count what they are given."""

    count = 0

    def submit(self, *args, **kwargs):
        self.count += 1
        return super().submit(*args, **kwargs)


@pytest.fixture
async def threads():
    executor = Counting(2)
    asyncio.get_running_loop().set_default_executor(executor)
    return executor


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    """Say of what kind the file system of a folder is."""

    def write(**kinds):
        lines = ["22 1 8:1 / / rw - ext4 /dev/sda1 rw"]
        for number, (name, kind) in enumerate(kinds.items(), 30):
            point = str(tmp_path if name == "root" else tmp_path / name).replace(" ", "\\040")
            lines.append(f"{number} 22 0:{number} / {point} rw shared:1 - {kind} x rw")
        table = tmp_path / "mountinfo"
        table.write_text("\n".join(lines))
        monkeypatch.setattr(filesystem, "_MOUNTS", str(table))

    write(root="ext4")
    return write


async def test_a_file_that_is_known_is_looked_at_without_a_thread(tmp_path, mounts, threads):
    (tmp_path / "a.md").write_text("one")
    backend = FilesystemBackend(tmp_path)
    first = await backend.afingerprint(["/a.md", "/none.md"])
    assert threads.count == 1
    for _ in range(3):
        assert await backend.afingerprint(["/none.md"]) == first[1:]
        assert await backend.afingerprint(["/a.md"]) == backend.fingerprint(["/a.md"])
    assert threads.count == 1
    assert await backend.afingerprint(["/b.md"]) == backend.fingerprint(["/b.md"])
    assert threads.count == 2


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "cifs", "9p", "autofs"])
@pytest.mark.parametrize("name", ["root", "far away"])
async def test_on_other_file_systems_a_thread_looks(tmp_path, mounts, threads, kind, name):
    (tmp_path / "far away").mkdir()
    (tmp_path / "far away" / "a.md").write_text("one")
    (tmp_path / "link.md").symlink_to(tmp_path / "far away" / "a.md")
    mounts(**{name: kind})
    backend = FilesystemBackend(tmp_path)
    for _ in range(3):
        await backend.afingerprint(["/far away/a.md"])
        await backend.afingerprint(["/link.md"])
    assert threads.count == 6


async def test_where_the_system_does_not_tell_a_thread_looks(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(filesystem, "_MOUNTS", str(tmp_path / "none"))
    backend = FilesystemBackend(tmp_path)
    for _ in range(3):
        await backend.afingerprint(["/a.md"])
    assert threads.count == 3


async def test_a_guard_of_the_event_loop_is_heeded(tmp_path, mounts, threads):
    backend = FilesystemBackend(tmp_path)
    await backend.afingerprint(["/a.md"])
    with blockbuster_ctx():
        guarded = await backend.afingerprint(["/a.md"])
    assert guarded == backend.fingerprint(["/a.md"])
    await backend.afingerprint(["/a.md"])
    assert threads.count == 3


async def test_no_file_is_read_on_the_loop(tmp_path, mounts):
    (tmp_path / "a.md").write_text("- tea\n")
    memory = MemoryMiddleware(backend=FilesystemBackend(tmp_path), sources=["/a.md"])
    await memory.abefore_agent({}, None, {})
    guard = BlockBuster()
    guard.activate()
    guard.functions["os.stat"].deactivate()  # the one exception
    try:
        for text in ("- tea\n", "- coffee\n", "- water\n"):
            await asyncio.to_thread((tmp_path / "a.md").write_text, text)
            update = await memory.abefore_agent({}, None, {})
            assert update == {"memory_contents": {"/a.md": text}}
    finally:
        guard.deactivate()


async def test_a_subclass_with_fingerprints_of_its_own_gets_a_thread(tmp_path, mounts, threads):
    class Own(FilesystemBackend):
        def fingerprint(self, paths):
            return ["own" for _ in paths]

    backend = Own(tmp_path)
    for _ in range(3):
        assert await backend.afingerprint(["/a.md"]) == ["own"]
    assert threads.count == 3


async def test_many_files_are_looked_at_in_a_thread(tmp_path, mounts, threads):
    backend = FilesystemBackend(tmp_path)
    paths = [f"/{number}.md" for number in range(200)]
    for _ in range(3):
        await backend.afingerprint(paths)
    assert threads.count == 3


def test_after_a_slow_look_a_thread_is_used_for_a_while(tmp_path, mounts, monkeypatch):
    now = 100.0
    monkeypatch.setattr(filesystem.time, "monotonic", lambda: now)
    local = filesystem._LocalFiles()
    local.note([("/a.md", str(tmp_path / "a.md"))], 100)
    assert local.may_look(["/a.md"])
    pauses = []
    for _ in range(9):
        local.took(0.2)
        began = now
        while not local.may_look(["/a.md"]):
            now += 0.5
        pauses.append(now - began)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    local.took(0.00001)
    local.took(0.2)
    now += 1
    assert local.may_look(["/a.md"])
