"""Somebody exchanges folders and files for links to the outside while the backend works."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from memoryware.backends import _disk_search, _folder
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.errors import PathRefused

ATTACKER = """
import ctypes, os, sys
root, outside = sys.argv[1:]
os.chdir(root)
os.symlink(outside, "folder-out")
os.symlink(outside + "/note.md", "file-out")
exchange = ctypes.CDLL(None, use_errno=True).renameat2
print("ready", flush=True)
while True:
    for name, other in ((b"folder", b"folder-out"), (b"file.md", b"file-out")):
        if exchange(-100, name, -100, other, 2):  # both get the name of the other, in one step
            sys.exit(os.strerror(ctypes.get_errno()))
"""


@contextmanager
def attacked(root, outside):
    command = [sys.executable, "-c", ATTACKER, str(root), str(outside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attacker:
        try:
            assert attacker.stdout.readline() == "ready\n"
            yield
            assert attacker.poll() is None, "the attacker gave up"
        finally:
            attacker.kill()


@pytest.fixture(params=["straight", "walked"])
def places(request, tmp_path, monkeypatch):
    monkeypatch.setattr(_folder, "_missing", request.param == "walked")
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder" / "deep").mkdir(parents=True)
    outside.mkdir()
    for folder, text in ((root / "folder", "inside"), (outside, "SECRET")):
        (folder / "deep").mkdir(exist_ok=True)
        (folder / "note.md").write_text(text)
        (folder / "deep" / "note.md").write_text(text)
    (root / "file.md").write_text("inside")
    (outside / "name-of-a-secret.md").write_text("SECRET")
    return root, outside


def snapshot(folder):
    return {
        str(one.relative_to(folder)): one.read_text() if one.is_file() else "folder"
        for one in sorted(folder.rglob("*"))
    }


@pytest.mark.slow
def test_no_read_and_no_write_ever_gets_through_to_the_outside(places):
    root, outside = places
    backend, before = FilesystemBackend(root), snapshot(outside)
    seen = {"inside": 0, "refused": 0}
    paths = ["/folder/note.md", "/folder/deep/note.md", "/file.md"]
    with attacked(root, outside):
        end = time.monotonic() + 4
        while time.monotonic() < end:
            for answer in backend.download_files(paths):
                assert answer.content in (None, b"inside")
                seen["inside" if answer.content else "refused"] += 1
            for path in paths:
                try:
                    assert backend.edit(path, "inside", "inside").error != "impossible"
                    backend.write(path, "inside")
                    backend.append("/folder/new.md", "inside")
                    backend.write("/folder/made/new.md", "inside")
                    backend.delete("/folder/made")
                    backend.delete("/folder/new.md")
                except PathRefused:
                    seen["refused"] += 1

    assert snapshot(outside) == before
    assert seen["inside"] > 20
    assert seen["refused"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("way", ["walk", "ripgrep"])
def test_no_search_and_no_listing_ever_shows_the_outside(places, monkeypatch, way):
    root, outside = places
    if way == "ripgrep":
        monkeypatch.setattr(_disk_search, "RIPGREP_AFTER", -1)
    backend, found = FilesystemBackend(root), 0
    with attacked(root, outside):
        end = time.monotonic() + 4
        while time.monotonic() < end:
            for path in ("/", "/folder"):
                try:
                    listed = backend.ls(path).entries or []
                except PathRefused:
                    listed = []
                named = backend.glob("**/*.md", path).matches or []
                lines = backend.grep("e", path).matches or []
                assert "secret" not in repr([listed, named, lines])
                assert "SECRET" not in repr(lines)
                found += len(named)
            assert not backend.grep("SECRET").matches

    assert found > 20


def test_the_attack_does_get_through_where_nobody_looks(places):
    """Without this the tests above would prove nothing."""
    root, outside = places
    seen = set()
    with attacked(root, outside):
        end = time.monotonic() + 10
        while time.monotonic() < end and len(seen) < 2:
            try:
                with open(os.path.join(root, "folder", "note.md")) as file:
                    seen.add(file.read())
            except FileNotFoundError:
                pass
    assert seen == {"inside", "SECRET"}
