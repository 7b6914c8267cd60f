"""Folders by descriptor, by name, in one step or walked: one behaviour."""

from __future__ import annotations

import errno

import pytest

from memoryware.backends import _disk, _folder
from memoryware.backends._disk import Disk
from memoryware.errors import FileMissing, PathRefused
from memoryware.settings import FileLimits


@pytest.fixture(params=["straight", "walked", "named"])
def disk(request, tmp_path, monkeypatch):
    if request.param == "walked":
        monkeypatch.setattr(_folder, "_missing", True)
    (tmp_path / "root").mkdir()
    return Disk(str(tmp_path / "root"), FileLimits(), supports_dir_fd=request.param != "named")


def test_every_way_to_open_follows_links_inside_and_refuses_those_that_leave(disk, tmp_path):
    root = tmp_path / "root"
    (root / "f" / "g").mkdir(parents=True)
    (root / "f" / "g" / "a.md").write_text("inside")
    (tmp_path / "secret.md").write_text("outside")
    (root / "inside").symlink_to("f/g")
    (root / "f" / "back").symlink_to("../f/g/a.md")
    (root / "absolute").symlink_to(root / "f")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")

    for at in ("/f/g/a.md", "/inside/a.md", "/f/back", "/absolute/g/a.md", "/absolute/back"):
        assert disk.read(at, at) == b"inside"
        assert disk.real(at, at) == "/f/g/a.md"
    for at in ("/out.md", "/up/secret.md"):
        for attempt in (disk.read, disk.real):
            with pytest.raises(PathRefused):
                attempt(at, at)
    assert disk.real("/inside/new/b.md", "/inside/new/b.md") == "/f/g/new/b.md"
    for at in ("/loop", "/loop/a.md", "/f/g/a.md/b"):
        with pytest.raises(OSError, match=r"loop|below a file"):
            disk.read(at, at)


def test_a_system_without_the_shortcut_is_asked_only_once(monkeypatch, tmp_path):
    asked = []

    def refuses(path, flags):
        asked.append(path)
        return -errno.ENOSYS

    monkeypatch.setattr(_folder, "_missing", False)
    monkeypatch.setattr(_folder, "_system", lambda: refuses)
    (tmp_path / "a.md").write_text("x")
    disk = Disk(str(tmp_path), FileLimits())

    assert [disk.read("/a.md", "/a.md") for _ in range(3)] == [b"x"] * 3
    assert len(asked) == 1


def test_a_shortcut_that_is_not_allowed_is_done_without(monkeypatch, tmp_path):
    monkeypatch.setattr(_folder, "_missing", False)
    monkeypatch.setattr(_folder, "_system", lambda: lambda path, flags: -errno.EPERM)
    (tmp_path / "a.md").write_text("x")

    assert Disk(str(tmp_path), FileLimits()).read("/a.md", "/a.md") == b"x"


def test_windows_names_of_devices_streams_and_twins_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(_disk, "_WINDOWS", True)
    disk = Disk(str(tmp_path), FileLimits(), supports_dir_fd=False)
    for name in (
        "con",
        "NUL.txt",
        "com1",
        "LPT9.md",
        "a.md:stream",
        "a.md.",
        "a.md ",
        "a?.md",
        "a|b",
    ):
        with pytest.raises(PathRefused, match="Windows does not allow"):
            disk.read(f"/{name}", f"/f/{name}")
    for name in ("console.md", "nullable", "com.md", "a b.md", ".agent"):
        with pytest.raises(FileMissing):
            disk.read(f"/{name}", f"/{name}")
