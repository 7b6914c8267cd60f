"""Real clients over HTTP and standard input: versions, cancelled calls, two clients, kills."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
import uvicorn
from langchain_core.embeddings import Embeddings
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from cli.running import COMMAND
from doors import everyday_and_slow
from limits import limited
from mcp_server.speaking import DEPLOY, TEAM, called, data_of, waiting
from memoryware import MemoryScope, TieredMemory
from memoryware.mcp import MemoryServer, http_app
from memoryware.settings import McpLimits

TOKEN = "only-the-clients-of-this-test-know-it"
NIGHT = "The tests of the shop run at night, before the deployment goes out."
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
}
ROOT = Path(__file__).parents[2]


class Waiting(Embeddings):
    """A model that answers after a while, to queries that say so."""

    async def aembed_query(self, text):
        if "slow" in text:
            await asyncio.sleep(30 if "very" in text else 0.5)
        return [1.0, 0.0]

    def embed_query(self, text):
        return [1.0, 0.0]

    def embed_documents(self, texts):
        return [[1.0, 0.0] for _ in texts]


# HTTP: one server for the module, in a thread.


@pytest.fixture(scope="module")
def served():
    """A memory that is served over HTTP, and the address."""
    limits = limited(McpLimits, calls=2, resources_listed=40)
    with TieredMemory.open("memory://", embeddings=Waiting(), embedding_space="waiting") as memory:
        memory.promote(DEPLOY, TEAM, by="ann")
        app = http_app(MemoryServer(memory, scope=TEAM, limits=limits), token=TOKEN)
        config = uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            threading.Event().wait(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield memory, f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            thread.join(timeout=30)


@asynccontextmanager
async def over_http(address, name="editor", mode="legacy"):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    about = Implementation(name=name, version="1")
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode, client_info=about) as client:
            yield client


async def test_over_http_only_who_knows_the_token_and_calls_this_machine_is_answered(served):
    _, address = served
    async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:
        refused = [
            await http.post(address, json={}, headers={"Authorization": given})
            for given in ("", "Bearer", "Bearer wrong", f"bearer {TOKEN}", f"Bearer {TOKEN}x")
        ]
        assert {one.status_code for one in refused} == {401}
        assert all(DEPLOY not in one.text for one in refused)
        foreign = await http.post(address, json={}, headers={"Host": "evil.example:80"})
        cross = await http.post(address, json={}, headers={"Origin": "https://evil.example"})
        large = await http.post(address, content=b"x" * 1_000_000)
    assert [one.status_code for one in (foreign, cross, large)] == [421, 403, 413]


async def test_two_clients_over_http_change_only_their_own_notes(served):
    memory, address = served
    async with over_http(address) as one, over_http(address) as two:
        first = await data_of(one, "remember", text=NIGHT)
        second = await data_of(two, "remember", text=NIGHT.replace("night", "noon"))
        refused = await called(two, "withdraw_note", id=first["id"])
        listed = [await data_of(client, "list_notes") for client in (one, two)]
        gone = await data_of(one, "withdraw_note", id=first["id"])
    assert refused == ("Error: you have put no note with this id forward.", False)
    assert [[note["id"] for note in page["notes"]] for page in listed] == [
        [first["id"]],
        [second["id"]],
    ]
    assert gone["status"] == "revoked"
    assert {entry.id: entry.status for entry in waiting(memory)} == {
        first["id"]: "revoked",
        second["id"]: "pending",
    }


async def test_without_a_session_the_id_of_a_note_is_needed(served):
    _, address = served
    async with over_http(address, "modern", LATEST_MODERN_VERSION) as client:
        note = await data_of(client, "remember", text=f"{NIGHT} It is so since May.")
        text, ok = await called(client, "list_notes")
        gone = await data_of(client, "withdraw_note", id=note["id"])
    assert (ok, "no session" in text) == (False, True)
    assert gone["status"] == "revoked"


async def test_a_cancelled_call_frees_its_turn_and_the_next_ones_are_answered(served):
    _, address = served
    async with over_http(address) as client:
        for _ in range(3):  # more than there are turns
            with anyio.move_on_after(0.15) as waited:
                await called(client, "recall", query="a very slow question")
            assert waited.cancelled_caught
        with anyio.fail_after(10):
            text, ok = await called(client, "recall", query="deployment")
    assert ok
    assert DEPLOY in text


async def test_clients_are_answered_while_another_one_waits(served):
    _, address = served
    async with over_http(address) as one, over_http(address) as two:
        slow = asyncio.create_task(called(one, "recall", query="a slow question"))
        await asyncio.sleep(0.05)
        texts = await asyncio.gather(*(called(two, "recall", query=DEPLOY) for _ in range(8)))
        is_waiting = not slow.done()
        texts.append(await slow)
    assert is_waiting
    assert all(ok and DEPLOY in text for text, ok in texts)


async def test_many_long_memories_are_listed_in_pages_of_a_bounded_size(served):
    memory, address = served
    long = "A window looks at the river. " * 15
    scope = MemoryScope(tenant="acme", group_id="team")
    memory.promote_many([f"House {number}. {long}" for number in range(90)], scope, by="ann")
    pages, cursor = [], None
    async with over_http(address) as client:
        while True:
            page = await client.list_resources(cursor=cursor)
            pages.append(page)
            cursor = page.next_cursor
            if cursor is None:
                break
        last = page.resources[-1]
        (contents,) = (await client.read_resource(last.uri)).contents
    uris = [resource.uri for page in pages for resource in page.resources]
    assert [len(page.resources) for page in pages] == [40, 40, len(uris) - 80]
    assert len({*uris}) == len(uris) >= 91
    assert max(len(page.model_dump_json()) for page in pages) < 40_000
    assert contents.uri == last.uri


def message(id_, method, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def hello(version):
    about = {"name": "raw", "version": "1"}
    return message(1, "initialize", protocolVersion=version, capabilities={}, clientInfo=about)


@pytest.mark.parametrize(
    "version", everyday_and_slow("2025-06-18", "2024-11-05", "2025-03-26", "2025-11-25")
)
async def test_each_version_with_a_handshake_is_spoken_over_http(served, version):
    assert version in HANDSHAKE_PROTOCOL_VERSIONS
    _, address = served
    async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:
        first = await http.post(address, json=hello(version))
        assert first.json()["result"]["protocolVersion"] == version
        assert {"tools", "resources", "prompts"} <= {*first.json()["result"]["capabilities"]}
        http.headers["mcp-session-id"] = first.headers["mcp-session-id"]
        http.headers["mcp-protocol-version"] = version
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await http.post(address, json=done)).status_code == 202
        tools = await http.post(address, json=message(2, "tools/list"))
        arguments = {"query": "when is the deployment?"}
        call = message(3, "tools/call", name="recall", arguments=arguments)
        result = (await http.post(address, json=call)).json()["result"]
        wrong = await http.post(address, json=message(4, "resources/read", uri="memoryware://x"))
        gone = await http.delete(address)
        late = await http.post(address, json=message(5, "tools/list"))
    recall = tools.json()["result"]["tools"][0]
    assert recall["name"] == "recall"
    assert DEPLOY in result["content"][0]["text"]
    if version >= "2025-06-18":
        assert recall["outputSchema"]["type"] == "object"
        assert any(text["text"] == DEPLOY for text in result["structuredContent"]["memories"])
    assert wrong.json()["error"]["code"] == -32602
    assert gone.status_code == 200
    assert late.status_code == 404


@pytest.mark.parametrize("mode", everyday_and_slow("auto", "legacy", LATEST_MODERN_VERSION))
async def test_the_package_s_client_speaks_over_http(served, mode):
    _, address = served
    async with over_http(address, mode=mode) as client:
        text, ok = await called(client, "recall", query="deployment")
        prompt = await client.get_prompt("recall_first", {"question": "When is the deployment?"})
        page = await client.list_resources()
        templates = await client.list_resource_templates()
    assert ok
    assert DEPLOY in text
    assert DEPLOY in prompt.messages[1].content.text
    assert page.resources
    assert templates.resource_templates


# Standard input and output: processes.


def parameters(folder, *more):
    command, *args = COMMAND
    options = ["mcp", "--group", "team", "--tenant", "acme", "--no-files", *more]
    variables = {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"]}
    return StdioServerParameters(command=command, args=[*args, *options], env=variables, cwd=folder)


@asynccontextmanager
async def over_stdio(folder, *more, mode="auto"):
    about = Implementation(name="editor", version="1")
    transport = stdio_client(parameters(folder, *more))
    async with Client(transport, mode=mode, client_info=about) as client:
        yield client


def stored(folder):
    with TieredMemory.open(f"sqlite:///{folder / 'memory.db'}") as memory:
        return waiting(memory)


@pytest.mark.slow
@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_each_version_with_a_handshake_is_spoken_over_standard_input(tmp_path, version):
    given = parameters(tmp_path)
    lines = [
        hello(version),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        message(2, "tools/call", name="remember", arguments={"text": NIGHT}),
        message(3, "tools/call", name="list_notes", arguments={}),
    ]
    with subprocess.Popen(
        [given.command, *given.args],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        answers = {}
        for line in lines:
            running.stdin.write(json.dumps(line) + "\n")
            running.stdin.flush()
            if "id" in line:
                answer = json.loads(running.stdout.readline())
                answers[answer["id"]] = answer["result"]
        running.communicate(timeout=30)
    assert running.returncode == 0
    assert answers[1]["protocolVersion"] == version
    assert NIGHT in answers[3]["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
async def test_a_note_is_the_client_s_own_after_a_restart_and_counts(tmp_path, mode):
    limit = ("--limit", "notes_per_hour=2")
    async with over_stdio(tmp_path, *limit, mode=mode) as client:
        note = await data_of(client, "remember", text=NIGHT)
    async with over_stdio(tmp_path, *limit, mode=mode) as client:
        (listed,) = (await data_of(client, "list_notes"))["notes"]
        new = await data_of(client, "correct_note", id=note["id"], text=f"{NIGHT} Always.")
        text, ok = await called(client, "remember", text=DEPLOY)
    assert listed["id"] == note["id"]
    assert (ok, "too many notes in this hour (2 of 2)" in text) == (False, True)
    assert {entry.id: entry.status for entry in stored(tmp_path)} == {
        note["id"]: "revoked",
        new["id"]: "pending",
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
async def test_a_killed_server_loses_no_note_that_it_has_confirmed(tmp_path):
    script = tmp_path / "server.py"  # writes its id down, so that the test can kill it
    script.write_text(
        "import os, sys\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "from memoryware.cli.main import main\n"
        "main()\n"
    )
    given = parameters(tmp_path)
    killed = given.model_copy(update={"args": [str(script), *given.args[2:]]})
    confirmed = []
    async with Client(stdio_client(killed), read_timeout_seconds=20) as client:
        while len(confirmed) < 5:
            text = f"House {len(confirmed)} has a door and a window to the south."
            confirmed.append((await data_of(client, "remember", text=text))["id"])
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        with pytest.raises(MCPError):
            await called(client, "remember", text=DEPLOY)
    assert {*confirmed} <= {entry.id for entry in stored(tmp_path)}
    async with over_stdio(tmp_path) as client:
        assert (await called(client, "remember", text=NIGHT))[1]


@pytest.mark.slow
async def test_a_call_over_standard_input_is_cancelled(tmp_path):
    async with over_stdio(tmp_path, mode="legacy") as client:
        for _ in range(20):
            with anyio.move_on_after(0):
                await called(client, "recall", query="deployment")
        with anyio.fail_after(20):
            assert (await called(client, "recall", query="deployment"))[1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_in_a_terminal_it_says_what_it_waits_for_and_ctrl_c_ends_it(tmp_path):
    given = parameters(tmp_path)
    leader, follower = os.openpty()
    with subprocess.Popen(
        [given.command, *given.args],
        cwd=tmp_path,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        hint = running.stderr.readline()
        threading.Event().wait(0.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    os.close(leader)
    os.close(follower)
    assert "--print-config CLIENT" in hint
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err


@pytest.mark.slow
async def test_two_servers_share_one_store_and_one_count(tmp_path):
    limit = ("--limit", "notes_per_hour=3")
    async with over_stdio(tmp_path, *limit) as one, over_stdio(tmp_path, *limit) as two:
        outcomes = [
            await called(client, "remember", text=f"House {number} has {number} doors.")
            for number, client in enumerate((one, two, one, two, one))
        ]
    assert [ok for _, ok in outcomes] == [True, True, True, False, False]
