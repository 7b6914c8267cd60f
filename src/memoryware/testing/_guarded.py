"""What every suite has: its doors, and a guard over its tests."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Literal

import pytest

Door = Literal["blocking", "native"]
"""A half of the twins: `op`, called without an event loop, or `aop`, awaited."""


class Guarded:
    """A suite whose tests cannot be replaced, run through every door."""

    doors: ClassVar[tuple[Door, ...]] = ("blocking", "native")
    """The halves of the twins that are there; what is async only says so here."""
    deadline: ClassVar[float] = 30
    """Seconds that one call may take."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a replaced test, and mark the tests for pytest-asyncio's strict mode."""
        super().__init_subclass__(**kwargs)
        ours = [base for base in cls.__mro__[1:] if base.__module__.startswith(__package__ or "?")]
        tests = [name for base in {cls, *ours} for name in vars(base) if name.startswith("test_")]
        replaced = sorted({name for name in tests if tests.count(name) > 1})
        if not cls.doors or not {*cls.doors} <= {"blocking", "native"}:
            raise TypeError(
                f"{cls.__name__}.doors={cls.doors!r}: name 'blocking', 'native' or both"
            )
        if replaced:
            raise TypeError(f"{cls.__name__}: a conformance test cannot be replaced: {replaced}")
        for name, test in vars(cls).items():
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                pytest.mark.asyncio(test)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test that has a door through every door."""
        if "door" in metafunc.fixturenames:
            metafunc.parametrize("door", self.doors)
