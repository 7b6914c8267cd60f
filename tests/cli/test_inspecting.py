"""`memoryware inspect`: the real process, asked as a browser asks."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess

import httpx2
import pytest

from cli.running import COMMAND, here
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


def test_the_printed_address_works_once_and_ctrl_c_ends_it(folder):
    command = [*COMMAND, "inspect", "--no-open", "--json"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            url = json.loads(running.stdout.readline())["url"]
            with httpx2.Client(follow_redirects=True, timeout=20) as ann:
                assert ann.get(url).status_code == 200
                place = url.partition("?")[0]
                review = ann.get(f"{place}review").text
                assert FRIDAY in review
                assert "ann" in review
                files = ann.get(f"{place}files").text
                assert "AGENTS.md" in files
            assert httpx2.get(url, timeout=20).status_code == 403
            running.send_signal(signal.SIGINT)
            assert running.wait(30) == 0
            assert running.stderr.read() == ""
        finally:
            running.kill()
    assert re.match(r"http://127\.0\.0\.1:\d+/\?token=\S{32,}$", url)


def test_what_cannot_be_shown_is_said_before_anything_is_served(
    folder, tmp_path, monkeypatch, capsys
):
    without = here(monkeypatch, capsys, "inspect", "--no-open", "--group", "")
    assert (without.code, "name the group" in without.err) == (2, True)
    gone = here(monkeypatch, capsys, "inspect", "--store", f"sqlite:///{tmp_path / 'gone.db'}")
    assert (gone.code, "There is no memory at" in gone.err) == (1, True)
    assert not (tmp_path / "gone.db").exists()
    nowhere = here(monkeypatch, capsys, "inspect", "--root", str(tmp_path / "gone"))
    assert (nowhere.code, "there is no such folder" in nowhere.err) == (1, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = here(monkeypatch, capsys, "inspect", "--no-open", "--port", taken.getsockname()[1])
    assert (busy.code, "cannot be had at 127.0.0.1" in busy.err) == (2, True)
