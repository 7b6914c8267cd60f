"""Grep answers the same with ripgrep and without, whatever lies in the tree."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from backends.unprivileged import as_nobody, open_folder
from memoryware.backends import _disk_search
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.settings import FileLimits

NEEDLE = "needle é"
WORD = NEEDLE.encode()


def nasty_tree(outer):
    """Put into a folder of a folder whatever files can be that a search may stumble over."""
    root = outer / "in"
    root.mkdir(parents=True)
    files = {
        "plain.md": b"one\n" + WORD + b"\ntwo " + WORD + b" " + WORD + b"\n",
        "crlf.md": b"one\r\n" + WORD + b"\r\n\r\nlast " + WORD,
        "cr.md": b"one\r" + WORD + b"\rlast",
        "bom.md": b"\xef\xbb\xbf" + WORD + b"\n",
        "utf16.md": ("\ufeff" + NEEDLE).encode("utf-16-le"),
        "latin1.md": b"caf\xe9 " + WORD + b"\n" + NEEDLE.encode("latin-1"),
        "invalid.md": b"\xff\xfe" + WORD + b"\xff",
        "binary.bin": b"\0" + WORD,
        "late.bin": WORD + b"\n" + b"x" * 100_000 + b"\0",
        "big.md": b"filler\n" * 20_000 + WORD + b"\n",
        "over.md": WORD + b"\n" + b"filler\n" * 80_000,
        "one-line.md": b"x" * 300_000 + WORD + b"y" * 1000,
        "empty.md": b"",
        ".hidden": WORD,
        ".agent/AGENTS.md": WORD,
        ".git/config": WORD,
        "sub/.git/config": WORD,
        "sub/.venv/x.py": WORD,
        "worktree/.git": WORD,
        "name with blanks/a b.md": WORD,
        "-rf.md": WORD,
        "--files": WORD,
        "é/ü.md": WORD,
        "new\nline.md": WORD,
        "sub\nfolder/a.md": WORD,
        "back\\slash.md": WORD,
        "case.md": NEEDLE.upper().encode(),
        "a-b/x.md": WORD,
        "a/x.md": WORD,
        "a.md": WORD,
        "[x].md": WORD,
        "{y}/$HOME.md": WORD,
        "node_modules/dep.js": WORD,
        ".plain.md.memoryware-tmp": WORD,
        ".gitignore": b"*\n",
        ".ignore": b"*.md\n",
        ".rgignore": b"!*\n/sub\n",
        "deep/" + "d/" * 50 + "a.md": WORD,
    }
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (outer.parent / "outside.md").write_bytes(WORD)
    (root / os.fsdecode(b"\xff.md")).write_bytes(WORD)
    (root / "link.md").symlink_to("plain.md")
    (root / "link").symlink_to("sub")
    (root / "out.md").symlink_to("../../outside.md")
    (root / "out").symlink_to("../..")
    (root / "nothing").symlink_to("nothing-there")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "pipe")


@pytest.fixture(params=["walk", "ripgrep"])
def way(request, monkeypatch):
    """Search by a walk only, or as soon as possible by ripgrep only."""
    if request.param == "walk":
        monkeypatch.setattr(shutil, "which", lambda name: None)
        return "walk"
    assert shutil.which("rg"), "ripgrep comes with the development extra"
    monkeypatch.setattr(_disk_search, "RIPGREP_AFTER", -1)
    return "ripgrep"


@pytest.fixture
def used(monkeypatch):
    """Note which way brought the answer."""
    ways, walk, ripgrep = [], _disk_search._by_walk, _disk_search._by_ripgrep
    monkeypatch.setattr(_disk_search, "_by_walk", lambda *a: ways.append("walk") or walk(*a))
    monkeypatch.setattr(
        _disk_search, "_by_ripgrep", lambda *a: ways.append("ripgrep") or ripgrep(*a)
    )
    return ways


EXPECTED = {
    *("/plain.md", "/crlf.md", "/cr.md", "/bom.md", "/latin1.md", "/invalid.md", "/big.md"),
    *("/one-line.md", "/.hidden", "/.agent/AGENTS.md", "/worktree/.git", "/-rf.md", "/--files"),
    *("/name with blanks/a b.md", "/é/ü.md", "/a-b/x.md", "/a/x.md", "/a.md", "/[x].md"),
    *("/{y}/$HOME.md", "/node_modules/dep.js", "/deep/" + "d/" * 50 + "a.md"),
}


def test_a_nasty_tree_gives_the_same_answer_both_ways(tmp_path, way, used):
    nasty_tree(tmp_path / "root")
    backend = FilesystemBackend(tmp_path / "root", limits=FileLimits(grep_max_bytes=500_000))
    inside = FilesystemBackend(tmp_path / "root" / "in", limits=FileLimits(grep_max_bytes=500_000))

    found = backend.grep(NEEDLE)
    assert used == (["walk"] if way == "walk" else ["walk", "ripgrep"])
    assert (found.error, found.truncated) == (None, False)
    assert {m["path"] for m in found.matches} == {f"/in{path}" for path in EXPECTED}
    stripped = [{**m, "path": m["path"].removeprefix("/in")} for m in found.matches]
    assert stripped == inside.grep(NEEDLE).matches
    backend, found = inside, inside.grep(NEEDLE)
    rows = [(m["path"], m["line"]) for m in found.matches]
    assert rows == sorted(rows)
    at = {(m["path"], m["line"]): m["text"] for m in found.matches}
    assert at["/crlf.md", 2] == at["/cr.md", 2] == at["/bom.md", 1] == NEEDLE
    assert at["/crlf.md", 4] == f"last {NEEDLE}"
    assert at["/invalid.md", 1] == f"\ufffd\ufffd{NEEDLE}\ufffd"
    assert at["/big.md", 20_001] == NEEDLE

    hidden = {m["path"] for m in backend.grep(NEEDLE, glob="**/.git/*").matches}
    assert hidden == {"/.git/config", "/sub/.git/config"}
    assert {m["path"] for m in backend.grep(NEEDLE, "/.git").matches} == {"/.git/config"}
    assert {m["path"] for m in backend.grep(NEEDLE, "/a", "*.md").matches} == {"/a/x.md"}
    assert [m["path"] for m in backend.grep(NEEDLE, max_count=3).matches] == [r[0] for r in rows][
        :3
    ]
    assert backend.grep(NEEDLE, max_count=3).truncated
    assert backend.grep(NEEDLE, max_count=0).truncated
    assert not backend.grep(NEEDLE, max_count=len(rows)).truncated
    assert {m["path"] for m in backend.grep(NEEDLE, "/link.md").matches} == {"/link.md"}
    assert {m["path"] for m in backend.grep(NEEDLE, "/link").matches} == set()
    assert backend.grep("nul \0 inside").matches == []
    assert backend.grep("x" * 300_000).error is None


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path, way):
    for size in (99, 100, 101, 1 << 16, (1 << 16) + 1):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{size}.md").write_bytes(b"needle".ljust(size))
    small = FilesystemBackend(tmp_path, limits=FileLimits(grep_max_bytes=100))
    large = FilesystemBackend(tmp_path, limits=FileLimits(grep_max_bytes=1 << 16))

    assert {m["path"] for m in small.grep("needle").matches} == {"/in/99.md", "/in/100.md"}
    assert len(large.grep("needle").matches) == 4
    assert small.grep("needle", "/in/100.md").matches
    assert not small.grep("needle", "/in/101.md").matches


def test_what_may_not_be_read_is_named_beside_what_was_found(way):
    with open_folder() as folder:
        for name in ("a.md", "b.md", "closed/c.md", "locked.md"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("needle")
        (folder / "locked.md").chmod(0o000)
        (folder / "closed").chmod(0o000)
        with as_nobody():
            found = FilesystemBackend(folder).grep("needle")
            one = FilesystemBackend(folder).grep("needle", "/locked.md")
            narrowed = FilesystemBackend(folder).grep("needle", glob="/a.md")
            closed = FilesystemBackend(folder).grep("needle", "/closed")
        assert [m["path"] for m in found.matches] == ["/a.md", "/b.md"]
        assert found.error.startswith("Error: ")
        assert "'/closed', '/locked.md'" in found.error
        assert not found.truncated
        assert "may not read '/locked.md'" in one.error
        assert "'/closed/'" in closed.error
        assert [m["path"] for m in narrowed.matches] == ["/a.md"]
        (folder / "closed").chmod(0o755)


@pytest.mark.slow
def test_a_ripgrep_that_fails_or_hangs_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "root" / "in" / "a.md").write_text("needle")
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(_disk_search, "RIPGREP_AFTER", -1)
    backend = FilesystemBackend(tmp_path / "root", limits=FileLimits(grep_timeout=2))

    for script in ("exit 2", "kill -9 $$", "not-a-program"):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert [m["path"] for m in backend.grep("needle").matches] == ["/in/a.md"]
    program.write_text("#!/no/such/shell\n")
    assert [m["path"] for m in backend.grep("needle").matches] == ["/in/a.md"]

    program.write_text("#!/bin/sh\nprintf './in/a.md\\0./b'\nexec sleep 30\n")
    began = time.monotonic()
    found = backend.grep("needle")
    assert time.monotonic() - began < 10
    assert (found.error, found.truncated) == (None, True)


def test_a_ripgrep_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("needle")
    (tmp_path / "rg").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.setattr(_disk_search, "RIPGREP_AFTER", -1)

    assert FilesystemBackend(tmp_path).grep("needle").matches
    assert not (tmp_path / "ran").exists()


def test_a_configuration_of_ripgrep_changes_nothing(tmp_path, monkeypatch, way):
    (tmp_path / "config").write_text("--invert-match\n--glob=!*.md\n--max-count=1\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("needle\nneedle\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))

    assert [m["line"] for m in FilesystemBackend(tmp_path).grep("needle").matches] == [1, 2]
