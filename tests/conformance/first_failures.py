"""A pytest plugin: each class runs until its first failure, which is told at the end.

The first class has no fault. It shows how long each test takes, and the others try the quick ones
first: most faults are noticed by one of those.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

_took: dict[str, float] = {}
_failed: dict[str, str] = {}
_passed: dict[str, int] = {}


def played(suite: str, folder: Path) -> Any:
    """Play a suite in a run of its own; return the first failure of each class, and the passes.

    Workers of pytest-xdist that ask for the same suite play it once, however tests are dealt out.
    """
    own = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    told = (folder.parents[1] / f"{own}-{suite}.json") if own else folder / "told.json"
    with open(told.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            _play(suite, told)
    return json.loads(told.read_text())


def _play(suite: str, told: Path) -> None:
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tell", help="file for the first failure of each class")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave out the rest of a class that has failed already; skips would take far longer."""
    items = item.session.items
    if item.parent is not items[0].parent and _took:
        start = items.index(item) + 1  # of each class at once, so that they stay together
        places = {id(one.parent): place for place, one in enumerate(reversed(items))}
        items[start:] = sorted(
            items[start:], key=lambda one: (-places[id(one.parent)], _took.get(one.name, 0))
        )
        _took.clear()
    if item.parent is None or item.parent.name not in _failed:
        return None
    start = items.index(item) + 1
    items[start:] = [one for one in items[start:] if one.parent is not item.parent]
    item.session._setupstate.teardown_exact(next(iter(items[start:]), None))
    return True


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    kind, _, name = report.nodeid.split("::", 1)[1].partition("::")
    if not _failed and len(_passed) < 2:
        _took[name] = _took.get(name, 0) + report.duration
    if report.failed:
        _failed.setdefault(kind, name)
    elif report.when == "call" and report.passed:
        _passed[kind] = _passed.get(kind, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    with open(session.config.getoption("--tell"), "w") as file:
        json.dump({"failed": _failed, "passed": _passed}, file)
