"""A memory file that is mounted alone, as into a container: real bind mounts in a namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from memoryware import FilesystemBackend
from memoryware.errors import SettingError

CODE = """
import asyncio, os, sys, threading
from pathlib import Path
from memoryware.backends.filesystem import FilesystemBackend
app, host, tmp = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
backend = FilesystemBackend(root_dir=app, write_in_place=True)
plain = FilesystemBackend(root_dir=app)
copy = app / ".AGENTS.md.before.memoryware-tmp"
"""
ONE_FILE = ["touch {app}/AGENTS.md", "mount --bind {host} {app}/AGENTS.md"]
READ_ONLY = [
    *ONE_FILE[:1],
    "mount --bind {app} {app}",
    "mount -o remount,bind,ro {app}",
    *ONE_FILE[1:],
]


def can_mount():
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return tried.returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="only root may mount in a namespace")


@pytest.fixture
def mounted(tmp_path):
    """Return what runs code where the file of the host is mounted alone into a folder."""
    app, tmp, host = tmp_path / "app", tmp_path / "tmp", tmp_path / "host.md"
    for folder in (app, tmp):
        folder.mkdir()
    host.write_text("- tea\n- milk\n")

    def run(code, mounts=ONE_FILE, prepared=""):
        script = tmp_path / "child.py"
        script.write_text(CODE + textwrap.dedent(code))
        filled = [one.format(app=app, host=host) for one in mounts]
        command = " && ".join([*filled, prepared or "true", f"exec {sys.executable} {script}"])
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", f"{command} {app} {host} {tmp}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, "TMPDIR": str(tmp)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run.host, run.app, run.tmp = host, app, tmp
    return run


@needs_mounts
@pytest.mark.parametrize("mounts", [ONE_FILE, READ_ONLY])
def test_every_change_reaches_the_file_of_the_host(mounted, mounts):
    mounted(
        """
        inode = os.stat(host).st_ino
        assert backend.edit("/AGENTS.md", "tea", "cocoa").error is None
        assert asyncio.run(backend.aappend("/AGENTS.md", "- cake")).error is None
        assert host.read_text() == "- cocoa\\n- milk\\n- cake\\n"
        assert backend.upload_files([("/AGENTS.md", b"short")])[0].error is None
        assert host.read_text() == "short"
        assert backend.write("/AGENTS.md", "- a longer text than before\\n").error is None
        assert host.read_text() == backend.read("/AGENTS.md").file_data["content"]
        assert os.stat(host).st_ino == inode
        """,
        mounts,
    )
    assert mounted.host.read_text() == "- a longer text than before\n"


@needs_mounts
def test_without_the_option_it_is_an_error_that_names_it(mounted):
    mounted(
        """
        error = plain.edit("/AGENTS.md", "tea", "cocoa").error
        assert "write_in_place=True" in error, error
        assert host.read_text() == "- tea\\n- milk\\n"
        assert not copy.exists()
        """
    )


@needs_mounts
def test_a_copy_of_the_old_text_is_kept_first(mounted):
    mounted(
        """
        backend.write("/AGENTS.md", "new")
        assert copy.read_text() == "- tea\\n- milk\\n"
        assert copy.stat().st_mode & 0o777 == 0o600
        backend.write("/AGENTS.md", "newer")
        assert copy.read_text() == "new"
        listed = [one["path"] for one in backend.ls("/").entries]
        assert listed == ["/AGENTS.md"], listed
        """
    )
    kept = mounted.app / ".AGENTS.md.before.memoryware-tmp"
    assert kept.read_text() == "new"


@needs_mounts
def test_where_the_folder_is_read_only_the_copy_is_in_the_temporary_folder(mounted):
    mounted('backend.write("/AGENTS.md", "new")', READ_ONLY)
    (copy,) = mounted.tmp.glob("memoryware-locks-*/*.AGENTS.md.before")
    assert copy.read_text() == "- tea\n- milk\n"
    assert mounted.host.read_text() == "new"


@needs_mounts
def test_without_a_copy_nothing_is_written(mounted):
    mounted(
        """
        error = backend.write("/AGENTS.md", "new").error
        assert "no copy of the old text" in error, error
        """,
        READ_ONLY,
        f"touch {mounted.tmp}/memoryware-locks-0",
    )
    assert mounted.host.read_text() == "- tea\n- milk\n"


@pytest.mark.slow
@needs_mounts
def test_a_full_disk_leaves_the_old_text_there(mounted):
    mounted(
        """
        error = backend.write("/AGENTS.md", "x" * 300_000).error
        assert "is kept in" in error or "no copy" in error, error
        assert (app / "AGENTS.md").read_text() == "- old\\n"
        """,
        [
            "mkdir -p {app}/../small",
            "mount -t tmpfs -o size=64k none {app}/../small",
            "printf -- '- old\\n' > {app}/../small/a.md",
            "touch {app}/AGENTS.md",
            "mount --bind {app}/../small/a.md {app}/AGENTS.md",
        ],
    )


@pytest.mark.slow
@needs_mounts
@pytest.mark.parametrize("mounts", [ONE_FILE, READ_ONLY])
def test_writers_side_by_side_lose_nothing(mounted, mounts):
    mounted(
        """
        def add(name):
            mine = FilesystemBackend(root_dir=app, write_in_place=True)
            for number in range(20):
                error = mine.append("/AGENTS.md", f"- {name} {number}").error
                assert error is None, error
        threads = [threading.Thread(target=add, args=[name]) for name in "abcd"]
        [one.start() for one in threads], [one.join() for one in threads]
        """,
        mounts,
    )
    lines = mounted.host.read_text().splitlines()
    assert sorted(lines) == sorted(
        ["- tea", "- milk", *(f"- {name} {number}" for name in "abcd" for number in range(20))]
    )


@pytest.mark.slow
@needs_mounts
def test_wrappers_and_the_loader_see_the_change(mounted):
    mounted(
        """
        from memoryware import GuardedBackend, HistoryBackend, MemoryMiddleware
        history = HistoryBackend(GuardedBackend(backend, ["/AGENTS.md"]))
        memory = MemoryMiddleware(backend=backend, sources=["/AGENTS.md"])
        assert "- tea" in memory.preview().text
        assert history.edit("/AGENTS.md", "tea", "cocoa").error is None
        assert "- cocoa" in memory.preview().text
        history.undo("/AGENTS.md")
        assert host.read_text() == "- tea\\n- milk\\n"
        assert "- tea" in memory.preview().text
        """
    )


@needs_mounts
def test_another_file_is_still_replaced_and_a_refused_edit_changes_nothing(mounted):
    mounted(
        """
        backend.write("/other.md", "one")
        inode = os.stat(app / "other.md").st_ino
        backend.write("/other.md", "two")
        assert os.stat(app / "other.md").st_ino != inode
        assert not (app / ".other.md.before.memoryware-tmp").exists()
        assert backend.edit("/AGENTS.md", "coffee", "x").error
        assert backend.delete("/AGENTS.md").error
        assert not copy.exists()
        """
    )


def test_the_option_is_a_flag(tmp_path):
    with pytest.raises(SettingError, match="write_in_place="):
        FilesystemBackend(root_dir=tmp_path, write_in_place="yes")
    backend = FilesystemBackend(root_dir=tmp_path, write_in_place=True)
    backend.write("/a.md", "x")
    backend.write("/a.md", "y")
    assert [one.name for one in Path(tmp_path).iterdir()] == ["a.md"]
