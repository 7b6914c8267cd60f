"""A pytest plugin: each class runs until its first failure, which is told at the end."""

from __future__ import annotations

import json

import pytest

_failed: dict[str, str] = {}
_passed: dict[str, int] = {}


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
