"""Which halves of a suite run in `make test`; the others run in `make test-all`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

NOT_SLOW = "not slow"
"""The selection of `make test`, which is the one of a bare pytest as well."""


class Selection:
    """What this run of the tests has been asked for; set before anything is collected."""

    slow = True

    @classmethod
    def configure(cls, config: pytest.Config) -> None:
        cls.slow = config.getoption("markexpr") != NOT_SLOW


def everyday(*modes: str):
    """Run a suite in these modes in `make test`, and in the others as slow tests.

    Both modes of most backends drive one coroutine, so that the second one finds little that the
    first has not found. `@everyday()` makes the whole class slow. What is not selected is not even
    made into tests: pytest takes as long to collect a thousand of them as to run them.
    """

    def decorate(cls: type) -> type:
        def pytest_generate_tests(self: object, metafunc: pytest.Metafunc) -> None:
            if "mode" in metafunc.fixturenames:
                marks = {mode: () if mode in modes else pytest.mark.slow for mode in self.modes}
                chosen = [mode for mode in self.modes if Selection.slow or not marks[mode]]
                metafunc.parametrize(
                    "mode", [pytest.param(mode, marks=marks[mode]) for mode in chosen]
                )

        cls.pytest_generate_tests = pytest_generate_tests
        if not modes:
            cls.pytestmark = [*getattr(cls, "pytestmark", []), pytest.mark.slow]
            cls.__test__ = Selection.slow
        return cls

    return decorate


def everyday_and_slow(everyday_value: Any, *slow_values: Any) -> list[Any]:
    """Return values to parametrize a test with: one for `make test`, the others as slow tests."""
    slow = [pytest.param(value, marks=pytest.mark.slow) for value in slow_values]
    return [everyday_value, *(slow if Selection.slow else ())]


def some_everyday(everyday_rows: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> list[Any]:
    """Return rows to parametrize a test with: some for `make test`, all others as slow tests."""
    others = [row for row in rows if row not in everyday_rows]
    slow = [pytest.param(*row, marks=pytest.mark.slow) for row in others]
    return [*everyday_rows, *(slow if Selection.slow else ())]


def for_all(
    *strategies: Any, examples: int, slow_examples: int, **named: Any
) -> Callable[[Any], Any]:
    """Check a property with some examples in `make test`, and with more as a slow test.

    Args:
        *strategies: What `hypothesis.given` takes.
        examples: How many examples `make test` makes.
        slow_examples: How many the slow test makes.
        **named: What `hypothesis.given` takes by name.
    """

    def decorate(test: Any) -> Any:
        @pytest.mark.parametrize("examples", everyday_and_slow(examples, slow_examples))
        def check(examples: int) -> None:
            settings(max_examples=examples)(given(*strategies, **named)(test))()

        check.__name__, check.__doc__ = test.__name__, test.__doc__
        return check

    return decorate
