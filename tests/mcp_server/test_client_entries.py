"""Entries for the configuration of clients: each is parsed, and the command in it is started."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from cli.running import here
from mcp_server.speaking import DEPLOY, called
from memoryware import TieredMemory

ROOT = Path(__file__).parents[2]
CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "opencode")
FILES = {
    ".mcp.json": "claude-code",
    "claude_desktop_config.json": "claude-desktop",
    ".cursor/mcp.json": "cursor",
    ".vscode/mcp.json": "vscode",
    "opencode.json": "opencode",
}
"""The files of the guide, and whose they are."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\nUse tabs.\n", encoding="utf-8")
    with TieredMemory.open(f"sqlite:///{tmp_path / 'memory.db'}") as memory:
        memory.promote(DEPLOY, "team", by="ann")
    return tmp_path


def read_as(client, document):
    """Read a configuration as a client does: the command, its arguments and its environment."""
    if client == "opencode":
        entry = document["mcp"]["memory"]
        assert entry["type"] == "local"
        assert entry["enabled"] is True
        command, *args = entry["command"]
        return command, args, entry.get("environment", {})
    entry = document["servers" if client == "vscode" else "mcpServers"]["memory"]
    if client != "claude-desktop":
        assert entry["type"] == "stdio"
    return entry["command"], entry["args"], entry.get("env", {})


def examples():
    guide = (ROOT / "docs" / "guides" / "mcp.md").read_text(encoding="utf-8")
    for title, text in re.findall(r'```json title="([^"]+)"\n(.*?)```', guide, re.DOTALL):
        if title in FILES:
            yield FILES[title], json.loads(text)


async def recalled(command, args, variables, cwd):
    """Start the command as a client does, in another folder; return what it recalls."""
    server = StdioServerParameters(command=command, args=args, env=variables, cwd=cwd)
    async with Client(stdio_client(server)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        text, ok = await called(client, "recall", query="when is the deployment?")
    assert ok
    return names, text


def inherited():
    """The variables that every client passes on, and where the package of this checkout is."""
    return {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"]}


def printed(monkeypatch, capsys, folder, *args):
    monkeypatch.chdir(folder)
    return here(monkeypatch, capsys, "mcp", *args)


def test_the_guide_has_an_entry_for_each_client():
    assert {client for client, _ in examples()} == {*CLIENTS}
    for client, document in examples():
        command, args, _ = read_as(client, document)
        assert (command, args[0]) == ("memoryware", "mcp")


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
async def test_an_entry_of_the_guide_works(folder, client):
    command, args, variables = read_as(client, dict(examples())[client])

    def here_it_is(text):
        return text.replace("/srv/memory.db", str(folder / "memory.db")).replace(
            "${workspaceFolder}", str(folder)
        )

    names, text = await recalled(
        sys.executable,
        ["-m", command, *map(here_it_is, args)],
        {**inherited(), **{name: here_it_is(value) for name, value in variables.items()}},
        folder,
    )
    assert DEPLOY in text
    assert ("read_source" in names) is (client != "claude-desktop")


@pytest.mark.slow  # tests/cli/test_mcp.py starts the one of Cursor every day
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_printed_entry_works_from_another_folder(
    folder, tmp_path_factory, monkeypatch, capsys, client
):
    ran = printed(monkeypatch, capsys, folder, "--group", "team", "--print-config", client)
    assert ran.code == 0
    assert "reads this from" in ran.err
    command, args, variables = read_as(client, json.loads(ran.out))
    assert Path(command).is_absolute()
    assert args[args.index("--by") + 1] == f"agent:{client}"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    names, text = await recalled(command, args, {**inherited(), **variables}, elsewhere)
    assert DEPLOY in text
    assert {"remember", "read_source"} <= {*names}
    assert not any(elsewhere.iterdir())


@pytest.mark.parametrize("client", CLIENTS)
def test_a_printed_entry_repeats_the_options(folder, monkeypatch, capsys, client):
    (folder / "notes").mkdir()
    (folder / "memoryware.json").write_text(json.dumps({"store": "sqlite:///memory.db"}))
    options = ["--group", "t 1", "--tenant", "acme", "--user", "ann", "--agent", "helper"]
    flags = ["--read-only", "--limit", "notes_per_hour=5"]
    more = ["--by", "agent:me", "--root", "notes", "--source", "A.md"]
    ran = printed(monkeypatch, capsys, folder, *options, *more, *flags, "--print-config", client)
    _, args, variables = read_as(client, json.loads(ran.out))
    where = ["--config", str(folder / "memoryware.json")]
    root = ["--root", str(folder / "notes"), "--source", "A.md"]
    start = args.index("mcp")
    assert args[start:] == ["mcp", *where, *options, "--by", "agent:me", *root, *flags]
    assert variables == {}


PASSWORD = "postgresql://ann:hunter2@db/memory"


@pytest.mark.parametrize(
    ("client", "reference"),
    [
        ("claude-code", "${MEMORYWARE_STORE}"),
        ("cursor", "${env:MEMORYWARE_STORE}"),
        ("vscode", "${input:MEMORYWARE_STORE}"),
        ("opencode", "{env:MEMORYWARE_STORE}"),
    ],
)
def test_a_password_stays_out_of_the_entry(folder, monkeypatch, capsys, client, reference):
    args = ("--store", PASSWORD, "--group", "team", "--print-config", client)
    ran = printed(monkeypatch, capsys, folder, *args)
    document = json.loads(ran.out)
    _, args, variables = read_as(client, document)
    assert "hunter2" not in ran.out
    assert "--store" not in args
    assert variables == {"MEMORYWARE_STORE": reference}
    if client == "vscode":
        (asked,) = document["inputs"]
        assert (asked["id"], asked["password"]) == ("MEMORYWARE_STORE", True)


@pytest.mark.parametrize(
    ("store", "has_password"),
    [
        ("postgresql://ann@db/memory", False),
        ("postgresql://db/memory?user=ann&password=x", True),
        ("postgresql://ann@db/memory + redis://:x@cache", True),
        ("sqlite:////srv/memory.db?durability=normal", False),
    ],
)
def test_an_address_without_a_password_is_in_the_entry(
    folder, monkeypatch, capsys, store, has_password
):
    args = ("--store", store, "--group", "team", "--print-config", "cursor")
    ran = printed(monkeypatch, capsys, folder, *args)
    assert (store in ran.out) is not has_password
    assert ("--user NAME" in ran.err) is store.startswith("postgresql")


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        (
            "claude-code",
            {
                "type": "http",
                "url": "http://127.0.0.1:8765/mcp",
                "headers": {"Authorization": "Bearer ${MEMORYWARE_MCP_TOKEN}"},
            },
        ),
        (
            "opencode",
            {
                "type": "remote",
                "url": "http://127.0.0.1:8765/mcp",
                "headers": {"Authorization": "Bearer {env:MEMORYWARE_MCP_TOKEN}"},
                "enabled": True,
            },
        ),
    ],
)
def test_an_entry_may_call_a_server_over_http(folder, monkeypatch, capsys, client, entry):
    args = ("--group", "team", "--http", "127.0.0.1:8765", "--print-config", client)
    ran = printed(monkeypatch, capsys, folder, *args)
    document = json.loads(ran.out)
    assert document["mcp" if client == "opencode" else "mcpServers"]["memory"] == entry


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--print-config", "emacs"), "the clients are claude-code"),
        (("--print-config", "claude-desktop", "--store", PASSWORD), "memoryware.json"),
        (("--print-config", "claude-desktop", "--http", "127.0.0.1:80"), "without --http"),
        (("--print-config", "cursor", "--http", "127.0.0.1:0"), "needs the port"),
        (("--print-config", "cursor", "--root", "store+postgresql://a:b@db/x"), "--root"),
        (("--print-config", "cursor", "--limit", "notes=1"), "notes_per_hour"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(folder, monkeypatch, capsys, args, message):
    ran = printed(monkeypatch, capsys, folder, "--group", "team", *args)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "hunter2" not in ran.err


@pytest.mark.slow
def test_an_entry_is_printed_without_loading_langchain(folder):
    script = (
        "import sys; from memoryware.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('langchain_core' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, "mcp", "--group", "team", "--print-config", "cursor"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr.splitlines()[-1] == "False"
