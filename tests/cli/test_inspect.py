"""`memoryware inspect`: the real process, asked as a browser asks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from contextlib import contextmanager

import httpx2
import pytest

from cli.running import COMMAND, here
from memoryware import MemoryScope, TieredMemory

TEAM = MemoryScope(group_id="team")
FACT = "The deployment of the shop runs on Tuesday, never on Friday, says the operations team."


@pytest.fixture
def folder(tmp_path):
    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.record(FACT, TEAM)
        memory.record("The others deploy on Friday, as they always did before.", "others")
    return tmp_path


@contextmanager
def inspected(folder, *options):
    """The address that the command prints; it is ended as a person ends it."""
    with subprocess.Popen(
        [*COMMAND, "inspect", "--group", "team", "--by", "ann", "--json", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        text=True,
    ) as process:
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        assert (process.returncode, said) == (0, "")


@pytest.mark.slow
def test_the_printed_address_opens_the_memory_of_the_group_and_no_other(folder):
    with inspected(folder, "--port", "0") as url:
        host = url.partition("?")[0]
        assert host.startswith("http://127.0.0.1:")
        assert httpx2.get(host).status_code == 401
        with httpx2.Client(base_url=host, follow_redirects=True) as browser:
            assert browser.get(url).status_code == 200
            page = browser.get("/review").text
        assert "never on Friday" in page
        assert "The others" not in page
        assert httpx2.get(url).status_code == 403  # the token was used


@pytest.mark.slow
def test_read_only_says_so_and_what_was_shown_is_read_from_a_journal_beside_the_store(folder):
    said = MemoryScope(group_id="team", session_id="tuesday")
    kept = {"journal": folder / "memory.journal.jsonl"}
    with TieredMemory.open(f"sqlite:///{folder / 'memory.db'}", **kept) as memory:
        entry = memory.list("team").items[0].record
        memory.note_shown([entry.id], said, tokens=20)
    with (
        inspected(folder, "--read-only") as url,
        httpx2.Client(follow_redirects=True) as browser,
    ):
        page = browser.get(url)
        host = str(page.url).partition("?")[0]
        shown = browser.get(f"{host}sessions/one?id=tuesday").text
    assert "read-only" in page.text
    assert "never on Friday" in shown
    assert "20 tokens" in shown


def test_a_group_is_needed(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MEMORYWARE_GROUP", raising=False)
    ran = here(monkeypatch, capsys, "inspect")
    assert ran.code == 2
    assert "--group" in ran.err


def test_a_port_that_is_taken_is_told(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = here(monkeypatch, capsys, "inspect", "--group", "team", "--port", port)
    assert ran.code == 2
    assert f"port={port}" in ran.err
