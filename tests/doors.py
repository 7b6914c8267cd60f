"""Which halves of a suite run in `make test`; the others run in `make test-all`."""

from __future__ import annotations

import pytest


def everyday(*doors: str):
    """Run a suite through these doors in `make test`, and through the others as slow tests.

    Both doors of most backends drive one coroutine, so that the second one finds little that the
    first has not found. `@everyday()` makes the whole class slow.
    """

    def decorate(cls: type) -> type:
        cls.everyday_doors = doors
        return cls

    return decorate


def mark_slow_doors(items: list[pytest.Item]) -> None:
    """Mark the tests of each suite whose door is not an everyday one as slow."""
    for item in items:
        doors = getattr(getattr(item, "cls", None), "everyday_doors", None)
        if doors is not None:
            door = item.callspec.params.get("door") if hasattr(item, "callspec") else None
            if not doors or (door is not None and door not in doors):
                item.add_marker(pytest.mark.slow)
