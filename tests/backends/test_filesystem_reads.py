"""Reading, listing and fingerprints on disk."""

from __future__ import annotations

import os
import time
from datetime import datetime

import pytest

from backends.unprivileged import as_nobody, open_folder
from limits import limited
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.settings import FileLimits


@pytest.fixture
def backend(tmp_path):
    return FilesystemBackend(tmp_path)


def token(backend, path="/a.md"):
    (value,) = backend.fingerprint([path])
    return value


def settled(path):
    """Give a file a time so old that nothing can hide in it."""
    old = time.time_ns() - 60_000_000_000
    os.utime(path, ns=(old, old))


# Reading.


def test_a_window_of_a_big_file_is_read_without_decoding_the_rest(backend, tmp_path):
    lines = "".join(f"line {n} é\r\n" for n in range(50_000))
    (tmp_path / "a.md").write_bytes(lines.encode() + b"\xff\n")
    read = backend.read("/a.md", 49_998, 10)

    assert read.file_data["content"] == "line 49998 é\nline 49999 é\n\ufffd\n"
    assert (read.total_lines, read.start_line, read.end_line) == (50_001, 49_999, 50_001)


def test_what_is_no_text_comes_as_base64_and_text_with_a_nul_as_text(backend, tmp_path):
    for name, data in (
        ("a.bin", b"\0\xff"),
        ("b.md", b"a\0b"),
        ("c.md", b"\xffa"),
        ("d.PNG", b"x"),
    ):
        (tmp_path / name).write_bytes(data)
    shown = {path: backend.read(path).file_data for path in ("/a.bin", "/b.md", "/c.md", "/d.PNG")}

    assert {path: (data["content"], data["encoding"]) for path, data in shown.items()} == {
        "/a.bin": ("AP8=", "base64"),
        "/b.md": ("a\0b", "utf-8"),
        "/c.md": ("\ufffda", "utf-8"),
        "/d.PNG": ("eA==", "base64"),
    }


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(backend, tmp_path):
    with open("/proc/self/status") as status:  # its size is said to be 0
        assert status.read()
    host = FilesystemBackend(tmp_path, virtual_mode=False)
    (answer,) = host.download_files(["/proc/self/status"])

    assert answer.content.startswith(b"Name:")


# Listing.


def test_a_listing_shows_links_as_what_they_lead_to(backend, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.md").write_text("12345")
    (tmp_path / "to-file.md").symlink_to("folder/a.md")
    (tmp_path / "to-folder").symlink_to("folder")
    (tmp_path / "to-nothing").symlink_to("nothing")
    entries = backend.ls("/").entries

    assert [(e["path"], e["is_dir"], e["size"]) for e in entries] == [
        ("/folder/", True, 0),
        ("/to-file.md", False, 5),
        ("/to-folder/", True, 0),
    ]
    assert [e["path"] for e in backend.ls("/to-folder").entries] == ["/to-folder/a.md"]
    assert [(m["path"], m["size"]) for m in backend.glob("*.md").matches] == [
        ("/folder/a.md", 5),
        ("/to-file.md", 5),
    ]
    assert [m["path"] for m in backend.glob("to-folder/*.md").matches] == ["/to-folder/a.md"]


def test_times_are_those_of_the_file_in_utc(backend, tmp_path):
    (tmp_path / "a.md").write_text("x")
    os.utime(tmp_path / "a.md", (1_700_000_000, 1_700_000_000))
    (tmp_path / "odd.md").write_text("x")
    os.utime(tmp_path / "odd.md", (10**11, 10**11))
    moments = {e["path"]: e["modified_at"] for e in backend.ls("/").entries}

    assert moments["/a.md"] == "2023-11-14T22:13:20+00:00"
    assert moments["/odd.md"] == "" or datetime.fromisoformat(moments["/odd.md"]).year > 2400


def test_a_path_below_a_file_cannot_be_listed(backend, tmp_path):
    (tmp_path / "a.md").write_text("x")

    assert "below a file" in backend.ls("/a.md/b").error
    assert backend.glob("*", "/a.md/b").matches == []
    assert backend.glob("*", "/a.md").matches == []
    assert not backend.grep("x", "/a.md/b").matches


def test_a_glob_that_takes_too_long_says_so(tmp_path):
    for n in range(20):
        (tmp_path / f"{n}").mkdir()
        (tmp_path / f"{n}" / "a.md").write_text("x")
    late = FilesystemBackend(tmp_path, limits=limited(FileLimits, glob_timeout=0, grep_timeout=0))
    found, grepped = late.glob("*.md"), late.grep("x")

    assert (found.error, found.truncated, found.truncation_reason) == (None, True, "budget")
    assert (grepped.error, grepped.truncated) == (None, True)


def test_a_glob_tells_that_a_folder_could_not_be_read():
    with open_folder() as folder:
        (folder / "open").mkdir()
        (folder / "open" / "a.md").write_text("x")
        (folder / "closed").mkdir(mode=0o000)
        (folder / "open").chmod(0o755)
        with as_nobody():
            found = FilesystemBackend(folder).glob("*.md")
            none = FilesystemBackend(folder).glob("*.md", "/closed")
    assert [m["path"] for m in found.matches] == ["/open/a.md"]
    assert (found.truncated, found.truncation_reason) == (True, "unreadable")
    assert (none.matches, none.truncated, none.truncation_reason) == ([], True, "unreadable")


# Fingerprints.


def test_a_token_is_the_same_for_every_spelling_and_instance(backend, tmp_path):
    backend.write("/f/a.md", "x")
    spellings = ["/f/a.md", "f/a.md", "./f/a.md", f"{tmp_path}/f/a.md"]

    assert len({*backend.fingerprint(spellings)}) == 1
    assert FilesystemBackend(tmp_path).fingerprint(spellings) == backend.fingerprint(spellings)


def test_a_change_in_place_of_the_same_size_is_seen_however_quick(backend, tmp_path):
    """A token must never stand for two contents, also with writers that do not know us."""
    file, seen = tmp_path / "a.md", {}
    backend.write("/a.md", "0000")
    for n in range(300):
        with open(file, "r+b") as handle:
            handle.write(b"%04d" % (n % 10_000))
        if n % 7 == 0:
            backend.write("/a.md", f"{n + 5000:04d}")
        if n % 11 == 0:
            settled(file)
        value, content = token(backend), file.read_bytes()
        if value is not None:
            assert seen.setdefault(value, content) == content
    assert len(seen) > 20


def test_a_change_in_place_with_the_old_time_put_back_is_seen(backend, tmp_path):
    backend.write("/a.md", "one")
    file, before = tmp_path / "a.md", token(backend)
    stamp = file.stat()
    time.sleep(0.02)
    file.write_text("two")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert token(backend) != before


def test_a_file_that_others_just_wrote_has_no_token_for_a_moment(backend, tmp_path):
    (tmp_path / "a.md").write_text("by an editor")
    assert token(backend) is None
    settled(tmp_path / "a.md")
    assert token(backend) is not None
    backend.write("/b.md", "by us")
    assert token(backend, "/b.md") is not None


def test_a_link_has_the_token_of_what_it_leads_to_now(backend, tmp_path):
    backend.upload_files([("/one.md", b"1"), ("/two.md", b"2")])
    link = tmp_path / "a.md"
    link.symlink_to("one.md")
    assert token(backend) == token(backend, "/one.md")
    link.unlink()
    link.symlink_to("two.md")
    assert token(backend) == token(backend, "/two.md") != token(backend, "/one.md")


def test_what_cannot_be_read_is_told_apart_from_what_is_missing(backend, tmp_path):
    backend.write("/a.md", "x")
    missing = token(backend, "/gone.md")
    (tmp_path / "loop").symlink_to("loop")

    assert None not in (missing, token(backend, "/a.md/below.md"))
    assert token(backend, "/a.md/below.md") != token(backend, "/gone/below.md")
    assert backend.fingerprint(["/loop", "/../x", "~/x", "/" + "n" * 300]) == [None] * 4


def test_a_token_follows_the_file_when_its_folder_is_exchanged(backend, tmp_path):
    backend.upload_files([("/f/a.md", b"old"), ("/g/a.md", b"new")])
    before = token(backend, "/f/a.md")
    (tmp_path / "f").rename(tmp_path / "h")
    (tmp_path / "g").rename(tmp_path / "f")

    assert token(backend, "/f/a.md") not in (None, before)
    assert token(backend, "/g/a.md") not in (None, before)


def test_one_enormous_file_leaves_the_others_of_a_batch_alone(tmp_path):
    (tmp_path / "a.md").write_text("small")
    with open(tmp_path / "huge.md", "wb") as file:
        file.truncate(1 << 42)
    backend = FilesystemBackend(tmp_path)

    one, two = backend.download_files(["/a.md", "/huge.md"])
    assert (one.content, two.error) == (b"small", "too_large")
    for result in (
        backend.read("/huge.md"),
        backend.edit("/huge.md", "a", "b"),
        backend.append("/huge.md", "x"),
    ):
        assert "'/huge.md' is too large" in result.error
    assert (tmp_path / "huge.md").stat().st_size == 1 << 42
