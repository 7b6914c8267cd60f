"""The graph of `examples/deploy` on LangGraph's server, as `langgraph dev` runs it.

The server checks for blocking calls on its event loop; `control` shows that it does.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import sys
import tempfile
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from deploy.running import DEPLOY, FACT, ROOT, Program, free_port, program, wait_until
from memoryware import TieredMemory
from servers import postgres
from servers.redis import redis_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("langgraph-server"),
]

QUESTION = "Where are the orders?"
UNKNOWN = "I do not know."


class Served:
    """The server in a folder, which may be stopped and started again."""

    def __init__(self, folder: pathlib.Path, **environ: str) -> None:
        self.folder, self.environ, self.port = folder, environ, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._clients: dict[str, Any] = {}
        self._block = None
        self.web: Program

    def start(self) -> None:
        self._block = program(
            *(python_of_server(), "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"),
            *("--port", str(self.port)),
            cwd=self.folder,
            LANGGRAPH_CLI_NO_ANALYTICS="1",
            LANGSMITH_TRACING="false",
            NO_COLOR="1",
            **self.environ,
        )
        self.web = self._block.__enter__()
        wait_until(self._answers, timeout=90)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        self.web.stop(number)
        self._block.__exit__(None, None, None)
        while self._clients:
            self._clients.popitem()[1].http.client.close()

    def client(self, name: str):
        if name not in self._clients:
            headers = {"authorization": f"Bearer {name}-token"}
            self._clients[name] = get_sync_client(url=self.url, headers=headers)
        return self._clients[name]

    def ask(self, name: str, text: str, *, graph: str = "agent", **more) -> str:
        """Run a graph without a thread; return what it answers."""
        message = {"messages": [{"role": "user", "content": text}]}
        result = self.client(name).runs.wait(None, graph, input=message, **more)
        return result["messages"][-1]["content"]

    def _answers(self) -> bool:
        assert self.web.running, self.web.output[-3000:]
        try:
            return httpx.get(f"{self.url}/ok", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False


def python_of_server() -> str:
    path = ROOT / ".wheels" / "langgraph-server" / "bin" / "python"
    if not path.exists():
        pytest.fail(f"{path} is missing; run `make .wheels/.langgraph-server`, which installs it")
    return str(path)


def copied(*names: str) -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp())
    for name in names:
        shutil.copy(DEPLOY / name, folder)
    return folder


@pytest.fixture(scope="module")
def served():
    """The example as it is."""
    folder = copied("langgraph.json", "graph.py", "auth.py", "offline.py")
    server = Served(folder)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def served_graphs():
    """The graphs of the tests: files, SQLite, PostgreSQL and Valkey, nodes, and a control."""
    folder = copied("auth.py")
    shutil.copy(pathlib.Path(__file__).with_name("served_graphs.py"), folder)
    shutil.copy(DEPLOY.parent / "scripted.py", folder)
    names = ("control", "files", "servers", "nodes")
    config = json.loads((DEPLOY / "langgraph.json").read_text())
    config["graphs"] = {name: f"./served_graphs.py:{name}" for name in names}
    (folder / "langgraph.json").write_text(json.dumps(config))
    with postgres.schema_at(postgres.url()) as database, redis_server() as cache:
        server = Served(folder, SERVERS_URL=f"{database} + {cache.url}")
        server.start()
        yield server
        server.stop()
    shutil.rmtree(folder)


def test_a_group_shares_what_one_of_it_has_said_and_nobody_else_is_shown_it(served):
    assert served.ask("ann", FACT) == "Noted."
    assert served.ask("bo", QUESTION) == FACT
    assert served.ask("eve", QUESTION) == UNKNOWN


@pytest.mark.parametrize(
    "claim",
    [
        {"context": {"user_id": "ann", "group_id": "shop"}},
        {"config": {"configurable": {"user_id": "ann", "group_id": "shop", "project_id": "shop"}}},
        {"config": {"configurable": {"langgraph_auth_user": {"identity": "ann"}}}},
        {"metadata": {"user_id": "ann", "group_id": "shop"}},
    ],
)
def test_a_client_cannot_say_that_it_is_somebody_else(served, claim):
    served.ask("ann", FACT)
    assert served.ask("eve", QUESTION, **claim) == UNKNOWN


def test_without_a_token_nothing_runs_and_the_header_of_the_studio_is_none(served):
    body = {"assistant_id": "agent", "input": {"messages": []}}
    for headers in ({}, {"authorization": "Bearer guessed"}, {"x-auth-scheme": "langsmith"}):
        answer = httpx.post(f"{served.url}/runs/wait", json=body, headers=headers, timeout=20)
        assert answer.status_code == 401


def test_memory_cannot_be_read_past_the_agent(served):
    served.ask("ann", FACT)
    eve = {"authorization": "Bearer eve-token"}
    for path, body in (
        ("/store/items/search", {"namespace_prefix": ["memoryware"]}),
        ("/store/namespaces", {"prefix": []}),
        ("/assistants", {"graph_id": "agent", "context": {"group_id": "shop"}}),
        ("/runs/crons", {"assistant_id": "agent", "schedule": "* * * * *"}),
    ):
        answer = httpx.post(f"{served.url}{path}", json=body, headers=eve, timeout=20)
        assert answer.status_code == 403, path
    put = {"namespace": ["memoryware", "x"], "key": "k", "value": {}}
    assert httpx.put(f"{served.url}/store/items", json=put, headers=eve).status_code == 403


def test_a_thread_is_seen_and_continued_by_its_owner_alone(served):
    ann, bo = served.client("ann"), served.client("bo")
    thread = ann.threads.create()["thread_id"]
    question = {"messages": [{"role": "user", "content": "Hello"}]}
    ann.runs.wait(thread, "agent", input=question)
    assert len(ann.threads.get_state(thread)["values"]["messages"]) == 2
    for attempt in (
        lambda: bo.threads.get_state(thread),
        lambda: bo.runs.wait(thread, "agent", input=question),
    ):
        with pytest.raises(Exception, match="not found"):
            attempt()
    assert bo.threads.search() == []


def test_events_stream_and_recalled_texts_are_in_no_state(served):
    served.ask("ann", FACT)
    bo = served.client("bo")
    thread = bo.threads.create()["thread_id"]
    question = {"messages": [{"role": "user", "content": QUESTION}]}
    stream = bo.runs.stream(thread, "agent", input=question, stream_mode=["custom", "messages"])
    parts = list(stream)
    names = [part.data["event"] for part in parts if part.event == "custom"]
    assert {"retrieved", "injected", "recorded"} <= set(names)
    assert [part for part in parts if part.event.startswith("messages")]
    assert "recalled_memory" not in json.dumps(bo.threads.get_history(thread))


def test_what_was_said_is_there_after_a_restart_of_the_server(served):
    served.ask("ann", FACT)
    served.stop()
    served.start()
    assert served.ask("bo", QUESTION) == FACT


def test_the_server_refuses_blocking_calls(served_graphs):
    with pytest.raises(Exception, match="BlockingError"):
        served_graphs.ask("ann", "Hello", graph="control")


@pytest.mark.parametrize("graph", ["files", "servers"])
def test_no_hook_and_no_tool_of_memory_blocks_the_event_loop(served_graphs, graph):
    for question in ("Begin.", QUESTION, "And now?"):
        answer = served_graphs.ask("ann", question, graph=graph)
        assert answer == "The results are: success, success, success, success, success."
    folder = "files" if graph == "files" else "server-files"
    assert "- The shop sells tea." in (served_graphs.folder / folder / "AGENTS.md").read_text()
    address = f"sqlite:///{served_graphs.folder / 'memory.db'}"
    if graph == "servers":
        address = served_graphs.environ["SERVERS_URL"]
    with TieredMemory.open(address) as memory:
        kinds = {line.origin.kind for line in memory.list("shop").items}
    assert {"agent", "tool"} <= kinds


def test_no_node_of_memory_blocks_the_event_loop(served_graphs):
    served_graphs.ask("ann", "When are the invoices sent?", graph="nodes")
    with TieredMemory.open(f"sqlite:///{served_graphs.folder / 'memory.db'}") as memory:
        texts = [line.content for line in memory.list("shop").items]
    assert "The invoices of the shop are sent on the last day of each month." in texts


def test_the_server_is_the_one_of_this_python():
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert (pathlib.Path(python_of_server()).parents[1] / "lib" / version).is_dir()
