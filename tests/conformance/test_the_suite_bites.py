"""A suite is worth what it catches: each seeded fault has to make it fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.dict_backend import DictBackend
from conformance.more_faults import FAULTS

HERE = Path(__file__).parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1000), pytest.mark.xdist_group("bites")]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The first failure of the suite over each faulty backend, from one run of its own."""
    told = tmp_path_factory.mktemp("bites") / "told.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(HERE / "faulty_suite.py")),
            *("-p", "conformance.first_failures", f"--tell={told}", "--tb=no", "-q"),
        ],
        cwd=HERE.parents[1],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert told.exists(), run.stdout[-3000:] + run.stderr[-3000:]
    return json.loads(told.read_text())


def test_without_a_fault_everything_passes(outcome):
    name = f"Test{DictBackend.__name__}"
    assert name not in outcome["failed"]
    assert outcome["passed"][name] > 400


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_the_suite_notices_a_backend_that(fault, outcome):
    assert f"Test{fault.__name__}" in outcome["failed"], fault.__doc__
