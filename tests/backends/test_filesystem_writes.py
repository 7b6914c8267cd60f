"""A write on disk happens whole or not at all, and keeps what it does not change."""

from __future__ import annotations

import errno
import os
import stat
import subprocess

import pytest

from backends.unprivileged import NOBODY, as_nobody, open_folder
from memoryware import HistoryBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.settings import FileLimits

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


@pytest.fixture
def backend(tmp_path):
    return FilesystemBackend(tmp_path)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def left_over(folder):
    return [one.name for one in folder.rglob("*") if one.name.endswith("-tmp")]


def change_in_every_way(backend, path):
    assert backend.edit(path, "one", "two").error is None
    assert backend.append(path, "three").error is None
    assert backend.write(path, "four").error is None
    assert backend.upload_files([(path, b"five")])[0].error is None


def test_an_overwrite_and_an_edit_keep_the_mode(backend, tmp_path):
    for bits in (0o600, 0o640, 0o664, 0o755, 0o600 | stat.S_ISGID):
        file = tmp_path / f"{bits:o}.md"
        file.write_text("one")
        file.chmod(bits)
        change_in_every_way(backend, f"/{bits:o}.md")
        assert mode(file) == bits
        assert file.read_text() == "five"


@pytest.mark.usefixtures("umask")
def test_a_new_file_and_a_new_folder_have_the_usual_mode(backend, tmp_path):
    backend.write("/folder/a.md", "new")

    assert mode(tmp_path / "folder" / "a.md") == 0o640
    assert mode(tmp_path / "folder") == 0o750


@pytest.mark.usefixtures("umask")
def test_what_a_killed_process_left_behind_does_not_decide_the_mode(backend, tmp_path):
    rest = tmp_path / ".a.md.memoryware-tmp"
    rest.write_text("half a te")
    rest.chmod(0o600)
    assert backend.write("/a.md", "new").error is None

    assert (mode(tmp_path / "a.md"), (tmp_path / "a.md").read_text()) == (0o640, "new")
    assert left_over(tmp_path) == []


@as_root
def test_an_edit_keeps_the_owner_and_the_group(backend, tmp_path):
    file = tmp_path / "a.md"
    file.write_text("one")
    os.chown(file, NOBODY, 12345)
    file.chmod(0o640)
    change_in_every_way(backend, "/a.md")

    assert (file.stat().st_uid, file.stat().st_gid, mode(file)) == (NOBODY, 12345, 0o640)


@as_root
def test_a_file_of_a_foreign_group_is_not_opened_to_the_own_group():
    with open_folder() as folder:
        file = folder / "a.md"
        file.write_text("one")
        os.chown(file, NOBODY, 12345)
        file.chmod(0o664)
        with as_nobody():
            assert FilesystemBackend(folder).edit("/a.md", "one", "two").error is None
        assert file.stat().st_uid == NOBODY
        assert mode(file) == 0o644  # the group of the writer has what everybody has


def test_an_edit_keeps_extended_attributes(backend, tmp_path):
    file = tmp_path / "a.md"
    file.write_text("one")
    try:
        os.setxattr(file, "user.origin", b"by hand")
    except OSError as error:
        pytest.skip(f"this file system has no extended attributes: {error}")
    change_in_every_way(backend, "/a.md")

    assert os.getxattr(file, "user.origin") == b"by hand"


def test_a_write_of_what_is_there_already_touches_nothing(backend, tmp_path):
    backend.write("/a.md", "same")
    before = (tmp_path / "a.md").stat()
    backend.write("/a.md", "same")
    backend.upload_files([("/a.md", b"same")])
    backend.edit("/a.md", "same", "same")

    assert (tmp_path / "a.md").stat() == before
    assert left_over(tmp_path) == []


def test_somebody_who_reads_sees_the_old_file_to_its_end(backend, tmp_path):
    backend.write("/a.md", "old text")
    with open(tmp_path / "a.md") as reader:
        backend.write("/a.md", "new")
        assert reader.read() == "old text"


@pytest.mark.parametrize("half", ["\ud800", "x\udfffy"])
def test_half_a_character_changes_nothing_and_makes_no_folder(backend, tmp_path, half):
    backend.write("/a.md", "old")
    for result in (
        backend.write("/a.md", half),
        backend.edit("/a.md", "old", half),
        backend.append("/a.md", half),
        backend.write("/folder/b.md", half),
        backend.append("/folder/b.md", half),
    ):
        assert "surrogate" in result.error
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.md", "old")]


def test_a_refused_edit_leaves_no_trace(backend, tmp_path):
    backend.write("/a.md", "tea, tea")
    before = (tmp_path / "a.md").stat()
    for old, new in (("milk", "x"), ("tea", "x"), ("", "x")):
        assert backend.edit("/a.md", old, new).error

    after = (tmp_path / "a.md").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [one.name for one in tmp_path.iterdir()] == ["a.md"]


def test_a_file_that_may_not_be_written_is_not_replaced():
    with open_folder() as folder:
        (folder / "a.md").write_text("one")
        (folder / "a.md").chmod(0o444)
        with as_nobody():
            backend = FilesystemBackend(folder)
            for result in (
                backend.edit("/a.md", "one", "two"),
                backend.write("/a.md", "two"),
                backend.append("/a.md", "two"),
            ):
                assert result.error.startswith("Error: This process may not write '/a.md'")
            assert backend.upload_files([("/a.md", b"x")])[0].error == "permission_denied"
        assert (folder / "a.md").read_text() == "one"
        assert left_over(folder) == []


def test_a_folder_that_may_not_be_written_or_passed_is_said():
    with open_folder() as folder:
        for name, bits in (("read-only", 0o555), ("closed", 0o000)):
            (folder / name).mkdir()
            (folder / name / "a.md").write_text("one")
            (folder / name / "a.md").chmod(0o666)
            (folder / name).chmod(bits)
        with as_nobody():
            backend = FilesystemBackend(folder)
            for path in ("/read-only/a.md", "/closed/a.md", "/read-only/new/b.md"):
                assert backend.upload_files([(path, b"x")])[0].error == "permission_denied"
            for path in ("/read-only/a.md", "/closed/a.md", "/closed"):
                assert "may not delete" in backend.delete(path).error
            assert backend.download_files(["/closed/a.md"])[0].error == "permission_denied"
            assert backend.download_files(["/read-only/a.md"])[0].content == b"one"
            assert "may not read" in backend.read("/closed/a.md").error
            assert "may not read" in backend.ls("/closed").error


def test_a_folder_that_may_be_passed_but_not_listed_is_passed():
    with open_folder() as folder:
        (folder / "pass").mkdir()
        (folder / "pass" / "inner").mkdir()
        (folder / "pass" / "inner" / "a.md").write_text("one")
        (folder / "pass" / "inner" / "link.md").symlink_to("../inner/a.md")
        (folder / "pass" / "inner" / "a.md").chmod(0o666)
        (folder / "pass" / "inner").chmod(0o777)
        (folder / "pass").chmod(0o711)
        with as_nobody():
            backend = FilesystemBackend(folder)
            assert backend.edit("/pass/inner/link.md", "one", "two").error is None
            assert backend.download_files(["/pass/inner/a.md"])[0].content == b"two"
            assert "may not read" in backend.ls("/pass").error


def test_a_folder_is_deleted_with_all_that_is_in_it(backend, tmp_path):
    backend.write("/folder/deep/er/a.md", "x")
    (tmp_path / "folder" / ".b.md.memoryware-tmp").write_text("left over")
    os.mkfifo(tmp_path / "folder" / "pipe")

    assert backend.delete("/folder").error is None
    assert [*tmp_path.iterdir()] == []
    assert backend.delete("/folder").error == "Error: '/folder' not found"
    assert backend.delete("/folder/a.md").error == "Error: '/folder/a.md' not found"


@pytest.mark.parametrize("path", ["/f/a.md", "/f", "/"])
def test_an_unlink_that_fails_is_an_error(backend, tmp_path, monkeypatch, path):
    backend.write("/f/a.md", "x")
    backend.write("/f/b.md", "x")
    unlink = os.unlink

    def refuse(name, *args, **kwargs):
        if str(name).endswith("a.md"):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        return unlink(name, *args, **kwargs)

    monkeypatch.setattr(os, "unlink", refuse)
    assert backend.delete(path).error
    assert HistoryBackend(backend).delete(path).error
    assert (tmp_path / "f" / "a.md").exists()


def test_a_folder_in_which_others_delete_is_deleted_all_the_same(backend, tmp_path, monkeypatch):
    for number in range(5):
        backend.write(f"/f/{number}.md", "x")
    unlink, others = os.unlink, []

    def be_late(name, *args, **kwargs):
        unlink(name, *args, **kwargs)
        if not others:
            others.append(name)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)

    monkeypatch.setattr(os, "unlink", be_late)
    assert backend.delete("/f").error is None
    assert not (tmp_path / "f").exists()
    assert backend.delete("/f").error == "Error: '/f' not found"


def test_folders_far_inside_each_other_end_in_a_sentence_and_not_a_crash(backend, tmp_path):
    (tmp_path / "deep").mkdir()
    before = os.getcwd()
    try:
        os.chdir(tmp_path / "deep")
        with open("a.md", "w") as file:
            file.write("needle")
        for _ in range(1500):  # more than Python calls inside each other
            os.mkdir("d")
            os.chdir("d")
        found, grepped = backend.glob("*.md"), backend.grep("needle")
        assert [m["path"] for m in found.matches] == ["/deep/a.md"]
        assert (found.truncated, found.truncation_reason) == (True, "budget")
        assert ([m["path"] for m in grepped.matches], grepped.truncated) == (["/deep/a.md"], True)
        error = backend.delete("/deep").error
        assert error is None or "inside each other" in error or "was not deleted" in error
    finally:
        os.chdir(before)
        subprocess.run(["rm", "-rf", str(tmp_path / "deep")], check=True)  # shutil could not


@pytest.mark.slow
def test_a_lock_that_is_held_too_long_is_an_error_and_nothing_is_written(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    backend = FilesystemBackend(tmp_path, limits=FileLimits(lock_timeout=0.2))
    backend.write("/a.md", "old")
    with open(tmp_path / ".a.md.memoryware-tmp", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        for result in (
            backend.edit("/a.md", "old", "new"),
            backend.write("/a.md", "new"),
            backend.append("/a.md", "new"),
            backend.delete("/a.md"),
        ):
            assert "locked by another writer for 0.2 seconds" in result.error
        assert backend.upload_files([("/a.md", b"new")])[0].error == "lock_timeout"
        assert backend.read("/a.md").file_data["content"] == "old"  # readers do not wait
        assert backend.write("/b.md", "another file").error is None
    assert backend.edit("/a.md", "old", "new").error is None
    assert left_over(tmp_path) == []
