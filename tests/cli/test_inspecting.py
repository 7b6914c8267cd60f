"""`memoryware inspect`: what is refused before anything is served."""

from __future__ import annotations

import socket

import pytest

from cli.running import here
from memoryware import TieredMemory

FRIDAY = "The shop is never deployed on a Friday, the operations team has decided in spring."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.record(FRIDAY, "team")
    (tmp_path / "AGENTS.md").write_text("# Rules\nUse tabs.\n", encoding="utf-8")
    (tmp_path / "memoryware.json").write_text('{"scope": {"group_id": "team"}, "by": "ann"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_cannot_be_shown_is_said_before_anything_is_served(
    folder, tmp_path, monkeypatch, capsys
):
    without = here(monkeypatch, capsys, "inspect", "--no-open", "--group", "")
    assert (without.code, "a group is required" in without.err) == (2, True)
    gone = here(monkeypatch, capsys, "inspect", "--store", f"sqlite:///{tmp_path / 'gone.db'}")
    assert (gone.code, "There is no memory at" in gone.err) == (1, True)
    assert not (tmp_path / "gone.db").exists()
    nowhere = here(monkeypatch, capsys, "inspect", "--root", str(tmp_path / "gone"))
    assert (nowhere.code, "there is no such folder" in nowhere.err) == (1, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = here(monkeypatch, capsys, "inspect", "--no-open", "--port", taken.getsockname()[1])
    assert (busy.code, "not available at 127.0.0.1" in busy.err) == (2, True)
