"""The log lines of the page "Where is my memory?" are those of the code."""

from __future__ import annotations

import re

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt

from docs.pages import ROOT
from memoryware import (
    FilesystemBackend,
    FileToolsMiddleware,
    MemoryMiddleware,
    StateBackend,
    TieredMemory,
    create_deep_agent,
)
from memoryware._warning import forget_warnings
from memoryware.backends import state
from memoryware.demo import DemoModel

PAGE = ROOT / "docs" / "guides" / "where.md"
SHOWN = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(), re.MULTILINE)


@pytest.fixture
def disk(tmp_path):
    return FilesystemBackend(root_dir=tmp_path)


def _memory(backend, **options):
    return MemoryMiddleware(backend=backend, sources=["/AGENTS.md"], **options)


def _run(*middleware, text="Hello."):
    create_agent(DemoModel(), middleware=middleware).invoke({"messages": text})


def _missing(disk):
    _run(_memory(disk))


def _folder(disk):
    disk.write("/AGENTS.md/a.md", "- one\n")
    _run(_memory(disk, on_error="warn"))


def _replaced(disk):
    disk.write("/AGENTS.md", "- one\n")
    _run(_memory(disk), dynamic_prompt(lambda _: "You help."))


def _two_backends(disk):
    disk.write("/AGENTS.md", "- one\n")
    _run(_memory(disk), FileToolsMiddleware(backend=StateBackend()), text="Please remember: two.")


def _no_checkpointer(_):
    create_deep_agent(DemoModel(), memory=["/AGENTS.md"])


def _state_is_lost(_):
    state._log_files_are_lost.cache_clear()
    backend = StateBackend()
    _run(_memory(backend), FileToolsMiddleware(backend=backend), text="Please remember: two.")


def _too_long(disk):
    disk.write("/AGENTS.md", "- one\n" * 1000)
    _run(_memory(disk, max_tokens=100))


def _no_group(_):
    forget_warnings()
    TieredMemory.open("memory://").retrieve("orders", None)


MISTAKES = [
    _missing,
    _folder,
    _replaced,
    _two_backends,
    _no_checkpointer,
    _state_is_lost,
    _too_long,
    _no_group,
]


def test_the_page_has_a_line_for_each_mistake():
    assert len(SHOWN) == len(MISTAKES)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_is_told_in_the_line_that_the_page_shows(number, disk, caplog):
    MISTAKES[number](disk)
    assert SHOWN[number] in [record.getMessage() for record in caplog.records]
