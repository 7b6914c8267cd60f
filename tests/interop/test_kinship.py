"""deepagents takes our classes for its own, whenever it was imported, and we never import it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest
from deepagents.backends import composite as their_composite
from deepagents.backends import filesystem as their_filesystem
from deepagents.backends import protocol as theirs
from deepagents.backends import state as their_state

from memoryware.backends import protocol as ours
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.state import StateBackend
from memoryware.backends.store import StoreBackend

RESULTS = [
    ours.LsResult(entries=[{"path": "/a"}]),
    ours.ReadResult(
        file_data={"content": "x\n", "encoding": "utf-8"}, total_lines=1, start_line=1, end_line=1
    ),
    ours.WriteResult(path="/a"),
    ours.EditResult(path="/a", occurrences=1),
    ours.DeleteResult(path="/a"),
    ours.GrepResult(matches=[{"path": "/a", "line": 1, "text": "x"}]),
    ours.GlobResult(matches=[{"path": "/a"}]),
    ours.FileDownloadResponse(path="/a", content=b"x"),
    ours.FileUploadResponse(path="/a", error="invalid_path"),
]
every_result = pytest.mark.parametrize("result", RESULTS, ids=lambda one: type(one).__name__)


@every_result
def test_a_result_is_also_one_of_theirs(result):
    assert isinstance(result, getattr(theirs, type(result).__name__))
    assert isinstance(result, type(result))
    assert not isinstance(result, theirs.ExecuteResponse)


@every_result
def test_a_result_has_every_field_that_theirs_has(result):
    their_kind = getattr(theirs, type(result).__name__)
    names = [one.name for one in dataclasses.fields(their_kind)]
    assert [one.name for one in dataclasses.fields(result)][: len(names)] == names


@every_result
def test_a_result_equals_its_like_and_survives_a_copy(result):
    fields = {one.name: getattr(result, one.name) for one in dataclasses.fields(result)}
    assert result == type(result)(**fields)
    for twin in (
        copy.copy(result),
        copy.deepcopy(result),
        pickle.loads(pickle.dumps(result)),
        dataclasses.replace(result),
    ):
        assert twin == result
        assert isinstance(twin, type(result))
    assert pickle.loads(pickle.dumps(dataclasses.replace(result))) == result
    assert repr(dataclasses.replace(result)) == repr(result)


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        (StateBackend(), their_state.StateBackend),
        (CompositeBackend(StateBackend(), {}), their_composite.CompositeBackend),
        (StoreBackend(namespace=lambda _: ("a",)), theirs.BackendProtocol),
        (ours.BackendProtocol(), theirs.BackendProtocol),
        (FilesystemBackend("/tmp"), theirs.BackendProtocol),
    ],
    ids=lambda one: getattr(one, "__name__", type(one).__name__),
)
def test_a_backend_is_also_one_of_theirs(backend, kind):
    assert isinstance(backend, kind)
    assert type(backend) is backend.__class__
    assert not isinstance(backend, theirs.SandboxBackendProtocol)


def test_a_backend_that_somebody_derived_from_ours_is_one_of_theirs_too():
    class Mine(StateBackend):
        pass

    assert isinstance(Mine(), their_state.StateBackend)
    assert not isinstance(Mine(), their_composite.CompositeBackend)


def test_a_disk_is_taken_for_theirs_only_because_it_can_tell_real_paths(tmp_path):
    backend = FilesystemBackend(tmp_path)
    assert isinstance(backend, their_filesystem.FilesystemBackend) == hasattr(backend, "_real_path")


LATE = """
import sys
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.state import StateBackend
from memoryware.backends.protocol import LsResult, BackendProtocol

state, result = StateBackend(), LsResult(entries=[])
composite = CompositeBackend(state, {})
assert isinstance(state, BackendProtocol)
assert result == LsResult(entries=[])
assert not [name for name in sys.modules if name.startswith(("deepagents", "langchain"))]

from deepagents.backends import state as s, composite as c, protocol as p
assert isinstance(state, s.StateBackend)
assert isinstance(composite, c.CompositeBackend)
assert isinstance(result, p.LsResult)
assert result == LsResult(entries=[])
print("ok")
"""


@pytest.mark.slow
def test_it_does_not_matter_that_deepagents_is_imported_later():
    done = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ok\n", done.stderr


def test_their_results_are_not_ours():
    assert not isinstance(theirs.LsResult(), ours.LsResult)
    assert theirs.LsResult() != ours.LsResult()
