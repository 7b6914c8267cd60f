"""The public names, the command line, events and prompts change on purpose only."""

from __future__ import annotations

import asyncio
import difflib
from pathlib import Path

import pytest

from frozen.happenings import happenings
from frozen.prompts import prompts
from frozen.reads import AsyncDoor
from frozen.surface import command_line, surface

HERE = Path(__file__).parent
AGAIN = "If this is meant: python tests/frozen/made.py, and a line in docs/changelog.d"


def changed(frozen: str, today: str, name: str) -> str:
    """Return the lines that differ, as a diff."""
    lines = difflib.unified_diff(
        frozen.splitlines(), today.splitlines(), f"frozen/{name}", "today", n=0, lineterm=""
    )
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "today"),
    [("surface.txt", surface), ("commands.txt", command_line), ("happenings.txt", happenings)],
)
def test_names_signatures_and_events_are_those_that_are_frozen(name, today):
    frozen = (HERE / name).read_text("utf-8")
    difference = changed(frozen, "\n".join(today()), name)
    assert not difference, f"{difference}\n{AGAIN}"


def test_the_asynchronous_half_tells_the_same():
    with asyncio.Runner() as runner:
        today = happenings(lambda memory: AsyncDoor(memory, runner))
    assert today == (HERE / "happenings.txt").read_text("utf-8").splitlines()


def test_the_surface_has_what_it_must_have():
    lines = (HERE / "surface.txt").read_text("utf-8").splitlines()
    methods = {line.partition(" = ")[0] for line in lines}
    for name in ("record", "promote", "retrieve", "revoke", "forget", "digest", "open"):
        assert {f"memoryware.TieredMemory.{name}", f"memoryware.TieredMemory.a{name}"} <= methods
    assert len(lines) > 1000


def test_what_models_are_shown_is_what_is_frozen():
    today = prompts()
    frozen = {path.stem: path.read_text("utf-8") for path in (HERE / "prompts").glob("*.txt")}
    assert sorted(frozen) == sorted(today)
    for name, text in today.items():
        difference = changed(frozen[name], text, f"{name}.txt")
        assert not difference, f"{difference}\n{AGAIN}"
