"""A pytest plugin: each class runs until its first failure, which is told at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

_failed: dict[str, str] = {}
_passed: dict[str, int] = {}


def played(suite: str, folder: Path) -> Any:
    """Play a suite in a run of its own; return the first failure of each class, and the passes."""
    told = folder / "told.json"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(HERE / suite)),
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tell", help="file for the first failure of each class")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.parent is not None and item.parent.name in _failed:
        pytest.skip("this class has failed already")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    kind, _, name = report.nodeid.split("::", 1)[1].partition("::")
    if report.failed:
        _failed.setdefault(kind, name)
    elif report.when == "call" and report.passed:
        _passed[kind] = _passed.get(kind, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    with open(session.config.getoption("--tell"), "w") as file:
        json.dump({"failed": _failed, "passed": _passed}, file)
