"""`memoryware mcp`: the real process, spoken to by the package's own client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from cli.running import COMMAND, here
from memoryware import MemoryScope, TieredMemory
from memoryware._install import install_command
from memoryware.cli.mcp import _limits
from memoryware.config import MCP_KEYS, CommandConfig
from memoryware.settings import McpLimits

TEAM = MemoryScope(group_id="team")
DEPLOY = "The deployment of the shop runs on Tuesday, never on Friday, says the operations team."
SOURCES = Path(__file__).parents[2] / "src"
TOKEN = "only-the-clients-of-this-test-know-it"


@pytest.fixture
def folder(tmp_path):
    return filled(tmp_path)


def filled(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\nUse tabs.\n", encoding="utf-8")
    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.promote(DEPLOY, TEAM, by="ann")
        memory.promote("The others deploy on Friday, as they always did.", "others", by="bob")
    return tmp_path


def waiting(folder, scope=TEAM):
    with TieredMemory.open(f"sqlite:///{folder / 'memory.db'}") as memory:
        return [one.record for one in memory.list(scope, tier="quarantine").items]


async def called(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    return result.content[0].text, not result.is_error


@pytest.mark.slow
async def test_a_printed_entry_starts_a_server_that_recalls_remembers_and_reads(
    folder, tmp_path_factory, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    more = ["mcp", "--group", "team", "--by", "agent:editor", "--source", "AGENTS.md"]
    ran = here(monkeypatch, capsys, *more, "--print-config", "cursor")
    entry = json.loads(ran.out)["mcpServers"]["memory"]
    server = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={"PYTHONPATH": str(SOURCES), "PATH": os.environ["PATH"]},
        cwd=tmp_path_factory.mktemp("elsewhere"),
    )
    async with Client(stdio_client(server)) as client:
        assert client.server_info.name == "memoryware"
        found, _ = await called(client, "recall", query="when is the deployment?")
        _, kept = await called(client, "remember", text="The shop is tested every night at two.")
        text, _ = await called(client, "read_source", path="/AGENTS.md")
        _, wrong = await called(client, "recall", query="deploy", group="others")
    assert DEPLOY in found
    assert "others" not in found
    assert kept
    assert "Use tabs." in text
    assert not wrong
    (entry,) = waiting(folder)
    assert str(entry.provenance.origin) == "agent:editor"
    assert (entry.metadata["via"], entry.status) == ("mcp", "pending")
    assert waiting(folder, MemoryScope(group_id="others")) == []


@pytest.mark.slow
async def test_the_limits_are_those_of_the_configuration_and_then_of_the_options(folder):
    said = {"scope": {"group_id": "team"}, "mcp": {"note_chars": 50, "most_recalled": 5}}
    (folder / "memoryware.json").write_text(json.dumps(said))
    command, *args = COMMAND
    more = ["mcp", "--no-files", "--limit", "most_recalled=3", "--limit", "notes_per_hour=1"]
    server = StdioServerParameters(command=command, args=[*args, *more], cwd=folder)
    async with Client(stdio_client(server)) as client:
        _, most = await called(client, "recall", query="deployment", limit=4)
        _, long = await called(client, "remember", text="x" * 51)
        _, first = await called(client, "remember", text="The shop is tested at two.")
        second, kept = await called(client, "remember", text="The shop is open at ten.")
    assert (most, long, first, kept) == (False, False, True, False)
    assert "hour" in second


@pytest.mark.parametrize(
    ("said", "args", "code", "told"),
    [
        ({"notes": 3}, (), 3, "line 3"),
        ({"notes_per_hour": "3"}, (), 3, "line 3"),
        ({"notes_per_hour": True}, (), 3, "line 3"),
        ({"notes_per_hour": 1.5}, (), 3, "whole number"),
        ({"call_timeout": 0}, (), 3, "at least 0.01"),
        ({}, ("--limit", "notes=3"), 2, "notes_per_hour"),
        ({}, ("--limit", "notes_per_hour"), 2, "--limit notes_per_hour"),
        ({}, ("--limit", "notes_per_hour=-1"), 2, "at least 0"),
        ({}, ("--limit", "notes_per_hour=1.5"), 2, "whole number"),
        ({}, ("--limit", "call_timeout=soon"), 2, "call_timeout"),
        ({}, ("--limit", "call_timeout=nan"), 2, "call_timeout"),
        ({}, ("--limit", "notes_per_hour=1_0"), 2, "notes_per_hour"),
        ({}, ("--limit", "notes_per_hour=\uff11\uff10"), 2, "notes_per_hour"),
        ({}, ("--limit", "call_timeout=1e3"), 2, "call_timeout"),
        ({}, ("--limit", "call_timeout= 5"), 2, "call_timeout"),
    ],
)
def test_a_limit_that_cannot_be_is_told(folder, monkeypatch, capsys, said, args, code, told):
    monkeypatch.chdir(folder)
    (folder / "memoryware.json").write_text(json.dumps({"mcp": said}, indent=1))
    ran = here(monkeypatch, capsys, "mcp", "--group", "team", *args)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_an_option_wins_over_the_configuration():
    config = CommandConfig(mcp={"note_chars": 50, "most_recalled": 5})
    limits = _limits(config, ["most_recalled=3", "notes_per_hour=1"])
    assert limits == replace(McpLimits(), note_chars=50, most_recalled=3, notes_per_hour=1)


def test_a_configuration_may_set_every_limit():
    assert [one.name for one in fields(McpLimits)] == [*MCP_KEYS]


over_http = pytest.mark.xdist_group("mcp over http")  # in one worker, which starts one server


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server over HTTP that only reads; its address."""
    folder = filled(tmp_path_factory.mktemp("mcp"))
    more = ["mcp", "--group", "team", "--read-only", "--no-files", "--http", "127.0.0.1:0"]
    more += ["--limit", "head_seconds=2"]
    with subprocess.Popen(
        [*COMMAND, *more],
        cwd=folder,
        env={**os.environ, "MEMORYWARE_MCP_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as running:
        try:
            yield re.search(r"http://\S+", running.stderr.readline())[0]
        finally:
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=30)


@over_http
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="ends the server by a signal of Unix")
async def test_over_http_only_who_knows_the_token_is_answered(address):
    wanted = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=wanted, timeout=30) as http:
        async with Client(streamable_http_client(address, http_client=http)) as client:
            assert [one.name for one in (await client.list_tools()).tools] == ["recall"]
            found, _ = await called(client, "recall", query="deployment")
        assert DEPLOY in found
        refused = await http.post(address, json={}, headers={"Authorization": "Bearer wrong"})
    assert refused.status_code == 401


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "--group"),
        (("--group", "team", "--http", "8765"), "HOST:PORT"),
        (("--group", "team", "--http", "0.0.0.0:0"), "host names that they may use"),
        (("--group", "team", "--by", ""), "by"),
    ],
)
def test_a_wrong_call_is_told_before_anything_is_served(folder, monkeypatch, capsys, args, said):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MEMORYWARE_MCP_TOKEN", TOKEN)
    ran = here(monkeypatch, capsys, "mcp", *args)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_short_token_is_refused(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "token").write_text("short\n", encoding="utf-8")
    args = ("--group", "team", "--http", "127.0.0.1:0", "--token-file", "token")
    ran = here(monkeypatch, capsys, "mcp", *args)
    assert (ran.code, "16 characters" in ran.err) == (2, True)
    assert "short" not in ran.err


def line(**message):
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@pytest.mark.slow
def test_lines_that_are_no_messages_do_not_end_the_server(folder):
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hostile = [
        b"not json\n",
        b"{}\n",
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\x00\n",
        b'"' + b"a" * 1_000_000 + b'"\n',
        line(id=1, method="tools/call", params={"name": "recall", "arguments": {"query": "x"}}),
        line(
            id=2,
            method="initialize",
            params={**about, "clientInfo": {"name": "\u202e\n" * 10_000, "version": "1"}},
        ),
        line(method="notifications/initialized"),
        line(id=3, method="tools/call", params={"name": "recall", "arguments": "x"}),
        line(id=4, method="tools/call", params={"name": ["recall"], "arguments": {}}),
        line(id=5, method="tools/call", params={"name": "remember", "arguments": {"text": DEPLOY}}),
        line(id=6, method="tools/list"),
    ]
    with subprocess.Popen(
        [*COMMAND, "mcp", "--group", "team", "--no-files"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as running:
        running.stdin.write(b"".join(hostile))
        running.stdin.flush()
        answers = {}
        while not {5, 6} <= answers.keys():
            answer = json.loads(running.stdout.readline())
            answers[answer["id"]] = answer
        running.communicate(timeout=30)
    assert running.returncode == 0
    assert all("error" in answers[one] for one in (1, 3, 4))
    assert "remember" in [one["name"] for one in answers[6]["result"]["tools"]]
    (entry,) = waiting(folder)
    assert len(entry.metadata["client"]) <= 100
    assert entry.metadata["client"].isprintable()


def test_without_the_package_it_says_what_to_install(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = here(monkeypatch, capsys, "mcp", "--group", "team")
    assert ran.code == 2
    assert install_command("mcp") in ran.err


@over_http
@pytest.mark.slow
async def test_over_http_a_head_that_never_ends_is_hung_up_on(address):
    host, port = address.removeprefix("http://").removesuffix("/mcp").rsplit(":", 1)
    loop = asyncio.get_running_loop()
    reader, writer = await asyncio.open_connection(host, int(port))
    begun = loop.time()
    writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    async with asyncio.timeout(20):
        while not reader.at_eof():  # a line now and then does not keep it open
            await asyncio.sleep(0.2)
            if not writer.is_closing():
                writer.write(b"X: y\r\n")
            with suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(0.01):
                    await reader.read(1)
    assert loop.time() - begun < 15
    writer.close()
