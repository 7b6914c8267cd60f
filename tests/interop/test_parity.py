"""What deepagents 0.3.12 did, ours does with the option values of that version."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from interop.parity_play import play
from memoryware import (
    CompositeBackend,
    FilesystemBackend,
    MemoryMiddleware,
    StateBackend,
    create_deep_agent,
)
from memoryware.middleware.memory import MemoryState, MemoryStateUpdate

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("parity")]

HERE = Path(__file__).parent
WHEEL = HERE.parents[1] / ".wheels" / "deepagents-0.3.12"

of_that_time = partial(
    MemoryMiddleware,
    refresh="thread",
    strip_comments=False,
    guidelines="immediate",
    when_empty="prompt",
    tools=False,
)
"""The options that give what that version did."""


@pytest.fixture(scope="module")
def theirs():
    if not (WHEEL / "deepagents").is_dir():
        pytest.fail(f"{WHEEL} is missing; run `make .wheels/.old-peer`, which fetches it")
    path = os.pathsep.join([str(WHEEL), str(HERE.parent)])
    done = subprocess.run(
        [sys.executable, str(HERE / "parity_play.py")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert Path(told["where"]).is_relative_to(WHEEL)
    return told["played"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    library = SimpleNamespace(
        memory=of_that_time,
        state=MemoryState,
        update=MemoryStateUpdate,
        disk=lambda root: FilesystemBackend(root_dir=root),
        composite=CompositeBackend,
        state_backend=lambda runtime: StateBackend(runtime),
        agent=create_deep_agent,
    )
    return json.loads(json.dumps(play(library, tmp_path_factory.mktemp("parity"))))


FACTS = [
    "update",
    "update is the same in the async door",
    "keys of the update",
    "loaded when the state has the key",
    "block",
    "block in another order of the mapping",
    "block of nothing",
    "block without the key",
    "blocks of the system message",
    "system message of the request afterwards",
    "one source",
    "a missing source",
    "text of contents",
    "state annotations",
    "update annotations",
    "error of a folder",
    "error of a folder, async",
    "error of a wrong count",
    "error of a wrong count, async",
    "update of a factory",
    "what a factory is given",
    "tool call id that a factory is given",
    "state that a factory is given",
    "memory in each request",
    "tools that were answered",
    "file afterwards",
    "memory that the thread keeps",
    "keys of the results",
    "answers",
    "memory from the state",
]


def shown(block):
    """Blank lines at the end of a text: ours shows none, so sections are one blank line apart."""
    return block.replace("\n\n\n", "\n\n")


def without_empty(contents):
    """An empty file: ours knows that it is there, theirs forgot it; neither shows it."""
    return {path: text for path, text in contents.items() if text}


def without_advice(error):
    """An error: ours says more after the same words."""
    kind, message = error
    return [kind, re.split(r"[.] | [(]", message)[0]]


DIFFERENCES = {
    "update": lambda update: {key: without_empty(one) for key, one in update.items()},
    "memory that the thread keeps": without_empty,
    "block": shown,
    "memory in each request": lambda blocks: [shown(one) for one in blocks],
    **{fact: without_advice for fact in FACTS if fact.startswith("error of ")},
}
"""The facts that differ on purpose, and what has to be taken away to compare them."""


@pytest.mark.parametrize("fact", FACTS)
def test_it_is_as_it_was(fact, theirs, ours):
    same = DIFFERENCES.get(fact, lambda value: value)
    assert same(ours[fact]) == same(theirs[fact])


@pytest.mark.parametrize("fact", DIFFERENCES)
def test_every_difference_is_still_one(fact, theirs, ours):
    assert ours[fact] != theirs[fact]


def test_every_fact_that_was_played_is_compared(theirs, ours):
    assert sorted(theirs) == sorted(ours) == sorted(FACTS)


def test_a_missing_wheel_fails_and_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules[__name__], "WHEEL", tmp_path / "nothing")
    with pytest.raises(pytest.fail.Exception, match="run `make"):
        theirs.__wrapped__()
