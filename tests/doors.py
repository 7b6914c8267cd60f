"""Which halves of a suite run in `make test`; the others run in `make test-all`."""

from __future__ import annotations

import pytest

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
