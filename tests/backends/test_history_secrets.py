"""Secrets that stand in a file already do not rest in its history, and nothing is lost by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryware import FilesystemBackend, HistoryBackend
from memoryware.backends._version_store import restore_redacted
from memoryware.errors import SettingError, VersionMissing

TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
OLD = f"- tea\n- the deploy token is {TOKEN}\n- milk\n"


@pytest.fixture
def history(tmp_path: Path) -> HistoryBackend:
    (tmp_path / "a.md").write_text(OLD)
    return HistoryBackend(FilesystemBackend(tmp_path))


def everything_kept(folder: Path) -> str:
    return "".join(one.read_text() for one in (folder / ".memoryware").rglob("*") if one.is_file())


def test_a_secret_is_not_in_the_history(history, tmp_path):
    history.append("/a.md", "- water")
    assert TOKEN not in everything_kept(tmp_path)
    assert "[redacted: " in history.show("/a.md", 1)
    assert [one.redacted for one in history.log("/a.md")] == [True, True]
    assert TOKEN in (tmp_path / "a.md").read_text()


async def test_an_undo_of_another_line_keeps_the_secret_in_the_file(history, tmp_path):
    history.append("/a.md", "- water")
    history.undo("/a.md")
    assert (tmp_path / "a.md").read_text() == OLD
    await history.aundo("/a.md", to=2)
    assert (tmp_path / "a.md").read_text() == OLD + "- water\n"
    assert TOKEN not in everything_kept(tmp_path)


def test_what_is_gone_from_the_file_does_not_come_back_and_that_is_said(history, tmp_path):
    history.write("/a.md", "- tea\n- milk\n")
    with pytest.raises(VersionMissing, match=r"redacted before.*show"):
        history.undo("/a.md")
    assert (tmp_path / "a.md").read_text() == "- tea\n- milk\n"
    assert "- the deploy token is [redacted: " in history.show("/a.md", 1)


def test_who_wants_every_text_as_it_is_says_so(tmp_path):
    (tmp_path / "a.md").write_text(OLD)
    history = HistoryBackend(FilesystemBackend(tmp_path), redact=None)
    history.write("/a.md", "- tea\n- milk\n")
    history.undo("/a.md")
    assert (tmp_path / "a.md").read_text() == OLD


def test_a_key_of_many_lines_is_put_back_as_a_whole():
    there = "a\nBEGIN\nx\ny\nEND\nb\nc\n"
    assert restore_redacted("a\n[x]\nb\n", there, "a\n[x]\nb\nc\n") == "a\nBEGIN\nx\ny\nEND\nb\n"


def test_equal_looking_lines_are_put_back_in_their_order():
    there, kept = "key 1\nmid\nkey 2\n", "key [x]\nmid\nkey [x]\n"
    assert (
        restore_redacted("key [x]\nmid\nkey [x]\nmore\n", there, kept)
        == "key 1\nmid\nkey 2\nmore\n"
    )


def test_a_text_without_anything_unreadable_stays_as_it_is():
    assert restore_redacted("a\nb", "c\n", "c\n") == "a\nb"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_an_undo_keeps_the_encoding_of_a_file_with_a_secret(tmp_path, encoding):
    (tmp_path / "a.md").write_bytes(OLD.encode(encoding))
    history = HistoryBackend(FilesystemBackend(tmp_path))
    history.edit("/a.md", "milk", "water")
    history.undo("/a.md")
    assert (tmp_path / "a.md").read_bytes() == OLD.encode(encoding)
    assert TOKEN not in everything_kept(tmp_path)


def test_a_disk_of_deepagents_without_a_root_has_no_history(tmp_path):
    from deepagents.backends import FilesystemBackend as TheirDisk

    with pytest.raises(SettingError, match="virtual_mode=True"):
        HistoryBackend(TheirDisk(root_dir=tmp_path, virtual_mode=False))
