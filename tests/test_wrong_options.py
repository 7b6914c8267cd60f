"""Options of a wrong kind are refused where they are given, with an error that names them."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import pytest
from deepagents.backends import FilesystemBackend as TheirDisk
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel
from memoryware import (
    AgentConfig,
    CompositeBackend,
    DeepMemoryMiddleware,
    FileLimits,
    FilesystemBackend,
    FileToolsMiddleware,
    Guard,
    GuardedBackend,
    HistoryBackend,
    Imports,
    Layout,
    MemoryLimits,
    MemoryMiddleware,
    MemorywareError,
    Source,
    StateBackend,
    StoreBackend,
    create_deep_agent,
)
from memoryware.errors import SettingError


class Other:
    """Something that no option takes."""


NEVER = [5, 1.5, b"bytes", {"a": 1}, [1], Other, Other(), float("nan")]
BACKEND = StateBackend()
REQUIRED = {
    MemoryMiddleware: {"backend": BACKEND, "sources": ["/A.md"]},
    DeepMemoryMiddleware: {"backend": BACKEND},
    FileToolsMiddleware: {"backend": BACKEND},
    FilesystemBackend: {},
    StateBackend: {},
    StoreBackend: {"namespace": ("memory",)},
    CompositeBackend: {"default": BACKEND, "routes": {}},
    HistoryBackend: {"inner": BACKEND},
    GuardedBackend: {"inner": BACKEND},
    Layout: {},
    Imports: {},
    Source: {"path": "/A.md"},
    AgentConfig: {},
}
TAKES = {  # what of NEVER an option does take
    (MemoryMiddleware, "max_tokens"): [5],
    (DeepMemoryMiddleware, "max_tokens"): [5],
    (Source, "max_tokens"): [5],
    (FilesystemBackend, "max_file_size_mb"): [5, 1.5],
    (StateBackend, "runtime"): [{"a": 1}, Other()],
    (StoreBackend, "runtime"): [{"a": 1}, Other()],
    (AgentConfig, "response_format"): [{"a": 1}],
}
OPTIONS = [(kind, name) for kind in REQUIRED for name in inspect.signature(kind).parameters]


@pytest.mark.parametrize(("kind", "option"), OPTIONS, ids=lambda one: getattr(one, "__name__", one))
def test_no_option_takes_what_it_cannot_be(kind, option):
    taken = [repr(type(one)) for one in TAKES.get((kind, option), [])]
    for value in NEVER:
        is_nan = isinstance(value, float) and math.isnan(value)
        if repr(type(value)) in taken and not is_nan:
            kind(**{**REQUIRED[kind], option: value})
            continue
        kinds = (MemorywareError, TypeError) if option == "system_prompt" else MemorywareError
        with pytest.raises(kinds) as caught:
            kind(**{**REQUIRED[kind], option: value})
        assert len(str(caught.value)) < 400


FLAGS = [
    (MemoryMiddleware, "strip_comments"),
    (MemoryMiddleware, "show_paths"),
    (MemoryMiddleware, "add_cache_control"),
    (MemoryMiddleware, "trace_content"),
    (MemoryMiddleware, "nested"),
    (FileToolsMiddleware, "first_match"),
    (FilesystemBackend, "virtual_mode"),
    (Layout, "user"),
    (Layout, "outside_links"),
    (Source, "required"),
    (Guard, "secrets"),
]


@pytest.mark.parametrize(("kind", "option"), FLAGS)
@pytest.mark.parametrize("value", ["no", "yes", "false", 0, 1])
def test_a_flag_is_true_or_false_and_nothing_else(kind, option, value):
    with pytest.raises(SettingError, match=f"{option}=.*must be True or False"):
        kind(**{**REQUIRED.get(kind, {}), option: value})


@pytest.mark.parametrize("value", [FilesystemBackend, "notes", Path("notes"), 7, InMemoryStore()])
@pytest.mark.parametrize(
    "make",
    [
        lambda backend: MemoryMiddleware(backend=backend, sources=["/A.md"]),
        lambda backend: MemoryMiddleware(backend=backend, sources="auto"),
        lambda backend: DeepMemoryMiddleware(backend),
        lambda backend: FileToolsMiddleware(backend=backend),
        lambda backend: create_deep_agent(ScriptedModel(), backend=backend),
        lambda backend: HistoryBackend(backend),
        lambda backend: GuardedBackend(backend),
        lambda backend: CompositeBackend(default=backend, routes={}),
        lambda backend: CompositeBackend(default=BACKEND, routes={"/m/": backend}),
    ],
)
def test_what_is_no_backend_is_refused_with_what_to_pass(make, value):
    with pytest.raises(SettingError, match=r"StateBackend\(\)|FilesystemBackend|pass a backend"):
        make(value)


@pytest.mark.parametrize("routes", [None, [], "x", [("/m/", BACKEND)]])
def test_routes_are_a_dict(routes):
    with pytest.raises(SettingError, match="routes="):
        CompositeBackend(default=BACKEND, routes=routes)


@pytest.mark.parametrize("separator", [5, None, b"\n", ["\n"]])
def test_a_separator_is_text(separator):
    with pytest.raises(SettingError, match="path_separator="):
        MemoryMiddleware(backend=BACKEND, sources=["/A.md"], path_separator=separator)


@pytest.mark.parametrize(
    "options",
    [
        {"middleware": [MemoryMiddleware]},
        {"middleware": "x"},
        {"middleware": None},
        {"memory": 5},
        {"memory": {"/A.md": 1}},
        {"tools": 5},
        {"interrupt_on": ["delete"]},
        {"system_prompt": 5},
        {"enable_memory": "no"},
        {"config": 5},
        {"model": 5},
        {"model": ScriptedModel},
        {"name": 5},
    ],
)
def test_an_agent_says_which_argument_is_wrong(options):
    with pytest.raises(SettingError) as caught:
        create_deep_agent(**{"model": ScriptedModel(), "backend": BACKEND, **options})
    assert next(iter(options)) in str(caught.value)


def test_limits_are_whole_where_they_count():
    assert FileLimits(grep_max_bytes=10e6).grep_max_bytes == 10_000_000
    assert type(FileLimits(grep_max_bytes=10e6).grep_max_bytes) is int
    assert FileLimits(lock_timeout=0.5).lock_timeout == 0.5
    with pytest.raises(SettingError, match="whole number"):
        MemoryLimits(total_tokens=1.5)


def test_a_long_value_is_not_printed_whole():
    with pytest.raises(SettingError) as caught:
        MemoryMiddleware(backend="x" * 100_000, sources=["/A.md"])
    assert len(str(caught.value)) < 300


def test_backends_of_others_and_functions_are_taken(tmp_path):
    theirs = TheirDisk(root_dir=tmp_path, virtual_mode=True)
    for backend in (theirs, lambda runtime: theirs):
        MemoryMiddleware(backend=backend, sources=["/A.md"])
        FileToolsMiddleware(backend=backend)
        create_deep_agent(ScriptedModel(), backend=backend)
