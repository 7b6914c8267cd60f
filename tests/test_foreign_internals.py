"""Internals of other packages that we depend on: each is named here and fails here when it changes.

What they do for us is tested where it is used; here is what to look at after an upgrade.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from deepagents import backends as theirs
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain.agents import factory as agent_factory
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langgraph.pregel import _algo
from langgraph.runtime import Runtime
from uvicorn.protocols.http.h11_impl import H11Protocol

from memoryware import _langchain
from memoryware._http_heads import head_timeout

SOURCES = Path(_langchain.__file__).parent
PRIVATE_IMPORTS = {
    "langchain.agents.middleware._redaction.BUILTIN_DETECTORS",
    "langgraph._internal._constants.CONFIG_KEY_CHECKPOINTER",
    "langgraph._internal._constants.CONFIG_KEY_DURABILITY",
    "langgraph._internal._constants.CONFIG_KEY_READ",
    "langgraph._internal._constants.CONFIG_KEY_RESUME_MAP",
    "langgraph._internal._constants.CONFIG_KEY_SCRATCHPAD",
    "langgraph._internal._constants.CONFIG_KEY_SEND",
    "langgraph._internal._runnable.RunnableCallable",
}
"""Every private name of another package that a file of ours imports."""


def private_imports() -> set[str]:
    """Return the private names of other packages that are imported anywhere in the package."""
    names: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
    return {
        name
        for name in names
        if name.split(".")[0] not in ("memoryware", "__future__")
        and any(part.startswith("_") for part in name.split("."))
    }


def test_no_other_private_name_is_imported():
    assert private_imports() == PRIVATE_IMPORTS


@pytest.mark.parametrize("name", sorted(PRIVATE_IMPORTS))
def test_a_private_name_is_still_there(name):
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute)


# langgraph.


def test_a_run_without_a_custom_stream_has_a_writer_that_does_nothing():
    assert _langchain.stream_writer_of(Runtime()) is None
    assert _langchain.stream_writer_of(Runtime(stream_writer=print)) is print


def test_a_task_counts_its_interrupts_and_keeps_the_value_of_a_resumed_run():
    from langgraph._internal._scratchpad import PregelScratchpad

    fields = set(inspect.signature(PregelScratchpad).parameters)
    assert {"interrupt_counter", "get_null_resume"} <= fields
    counter = _algo.LazyAtomicCounter()
    assert counter._counter is None, "no interrupt of this task has asked for a number yet"
    counter()
    assert counter._counter is not None


def test_a_function_becomes_a_step_without_a_trace():
    from langgraph._internal._runnable import RunnableCallable

    parameters = inspect.signature(RunnableCallable).parameters
    assert list(parameters)[:2] == ["func", "afunc"]
    assert {"name", "trace"} <= set(parameters)


# langchain.


def test_detectors_of_personal_data_say_where():
    detectors = _langchain.personal_detectors()
    assert {"email", "credit_card", "ip", "mac_address"} <= set(detectors)
    (match,) = detectors["email"]("to ann@example.org")
    assert (match["start"], match["end"]) == (3, 18)


def test_the_todo_tool_is_told_from_a_namesake():
    (tool,) = TodoListMiddleware().tools
    assert _langchain.is_todo_tool(tool)
    assert not _langchain.is_todo_tool(SimpleNamespace(name="write_todos"))


def test_create_agent_has_the_names_that_are_read_while_it_builds():
    parameters = inspect.signature(create_agent).parameters
    assert {"middleware", "tools"} <= set(parameters)
    assert create_agent.__module__ == agent_factory.__name__ == "langchain.agents.factory"
    assert create_agent.__name__ == "create_agent"


def test_an_agent_says_that_it_is_one(scripted_agent):
    assert _langchain.is_agent(scripted_agent)


@pytest.fixture
def scripted_agent():
    from langchain_core.language_models import FakeListChatModel

    return create_agent(FakeListChatModel(responses=["yes"]))


def test_the_human_in_the_loop_keeps_what_is_read_of_it():
    reviewer = HumanInTheLoopMiddleware({"edit_file": True}, interrupt_mode="per_call")
    assert reviewer.interrupt_mode == "per_call"
    assert set(reviewer.interrupt_on) == {"edit_file"}
    assert _langchain.HITL_EDITS in reviewer.state_schema.__annotations__


@pytest.mark.parametrize("module", sorted(_langchain._RETRYING))
def test_middleware_that_repeats_model_calls_is_where_it_was(module):
    assert import_module(module).__name__ == module


# deepagents.


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (theirs.FilesystemBackend, "_real_path"),
        (theirs.FilesystemBackend, "_resolve_path"),
        (theirs.CompositeBackend, "_get_backend_and_key"),
        (theirs.StoreBackend, "_get_namespace"),
    ],
)
def test_a_backend_of_theirs_has_the_method_that_is_asked(kind, name):
    assert callable(getattr(kind, name))


def test_the_backend_of_a_file_tool_of_theirs_is_seen():
    backend = theirs.StateBackend()
    tools = FilesystemMiddleware(backend=backend).tools
    seen = {tool.name: _langchain.backend_of_deepagents_tool(tool.func) for tool in tools}
    assert seen.pop("execute", None) is None
    assert set(seen.values()) == {backend}


# uvicorn.


def test_the_protocol_that_times_heads_is_built_from_what_uvicorn_has():
    assert issubclass(H11Protocol, asyncio.Protocol)
    for name in ("connection_made", "data_received", "connection_lost"):
        assert name in vars(H11Protocol), name


@pytest.mark.slow
async def test_an_answer_may_take_longer_than_a_head():
    """A protocol that fails inside would close this connection as well."""

    async def slow(scope, receive, send):
        await asyncio.sleep(0.6)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(slow, http=head_timeout(0.2), log_level="error", lifespan="off")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)

    def made():
        return config.http_protocol_class(config, server.server_state, app_state={})

    listening = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    async with listening, asyncio.timeout(20):
        port = listening.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 204 " in await reader.readline()
        writer.close()
