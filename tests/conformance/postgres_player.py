"""Plays one check over stores in PostgreSQL, where a fault may have been seeded."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

from memoryware.testing import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.testing._store import StoreProxy
from memoryware.tiers.stores.postgres import _connection as connection
from memoryware.tiers.stores.postgres import _schema as tables
from memoryware.tiers.stores.postgres import _search as search
from memoryware.tiers.stores.postgres import postgres_stores
from servers import postgres
from tiers.stores.postgres import kit

SUITES = {
    "quarantine": QuarantineStoreConformance,
    "working": WorkingStoreConformance,
    "long_term": LongTermStoreConformance,
}
CLUMSY = (TypeError, AttributeError, NameError, LookupError, SyntaxError)
"""Errors of a fault that was seeded badly, not of a check that noticed it."""
Seed = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Fault:
    """A fault, and the check that has to notice it.

    Attributes:
        seed: Makes everything faulty.
        where: A tier, for a test of its suite; or a file of tests of PostgreSQL.
        check: The name of the test.
        given: Its arguments; a test of a suite goes in blocking mode unless they say another.
        clumsy: Whether the check notices it by an error like that of a fault seeded badly.
    """

    seed: Seed
    where: str
    check: str
    given: dict[str, Any] = field(default_factory=dict)
    clumsy: bool = False


# How a fault is seeded.


def code(place: Any, name: str, wrong: Any) -> Seed:
    """Return what puts something wrong in a place."""
    return lambda: patch.object(place, name, wrong)


def text(place: Any, name: str, right: str, wrong: str) -> Seed:
    """Return what puts something wrong in a text, where it must stand."""

    @contextmanager
    def seeded() -> Iterator[None]:
        was = getattr(place, name)
        assert was.count(right) == 1, f"{right!r} stands {was.count(right)} times in {name}"
        with patch.object(place, name, was.replace(right, wrong)):
            yield

    return seeded


def schema(right: str, wrong: str) -> Seed:
    """Return what makes wrong tables."""

    @contextmanager
    def seeded() -> Iterator[None]:
        was = tables.STEPS
        found = sum(step.count(right) for step in was)
        assert found == 1, f"{right!r} stands {found} times in the schema"
        with patch.object(tables, "STEPS", tuple(one.replace(right, wrong) for one in was)):
            yield

    return seeded


def sql(right: str, wrong: str) -> Seed:
    """Return what changes every statement in which something stands; there must be one."""

    @contextmanager
    def seeded() -> Iterator[None]:
        was, changed = connection.numbered, []

        def numbered(statement: str) -> bytes:
            if right in statement:
                changed.append(statement)
            return was(statement.replace(right, wrong))

        with patch.object(connection, "numbered", numbered):
            yield
        assert changed, f"nothing that was done has {right!r}"

    return seeded


def begins(right: str, wrong: str) -> Seed:
    """Return what changes how transactions begin: a statement, or a value in it."""

    @contextmanager
    def seeded() -> Iterator[None]:
        was, changed = connection.Pipeline.begin, []

        def replaced(text: Any) -> Any:
            if not isinstance(text, str) or right not in text:
                return text
            changed.append(text)
            return text.replace(right, wrong)

        def begin(self: Any, mode: str, statements: Any) -> Any:
            commands = [(replaced(sql), [*map(replaced, values)]) for sql, values in statements]
            return was(self, replaced(mode), commands)

        with patch.object(connection.Pipeline, "begin", begin):
            yield
        assert changed, f"no transaction began with {right!r}"

    return seeded


def both(*seeds: Seed) -> Seed:
    """Return what seeds all of these."""

    @contextmanager
    def seeded() -> Iterator[None]:
        with ExitStack() as stack:
            for one in seeds:
                stack.enter_context(one())
            yield

    return seeded


# How a check is played.


def noticed(fault: Fault) -> BaseException | None:
    """Return how a check notices a fault, None if it does not."""
    with fault.seed():
        return _failure(fault.where, fault.check, fault.given, deadline=5)


def passes(fault: Fault) -> None:
    """Make sure that the check of a fault passes without it; each is played once."""
    _passes(fault.where, fault.check, tuple(sorted(fault.given.items())))


@cache
def _passes(where: str, check: str, given: tuple[tuple[str, Any], ...]) -> None:
    failure = _failure(where, check, dict(given), deadline=60)
    if failure is not None:
        raise failure


def _failure(where: str, check: str, given: dict[str, Any], deadline: int) -> BaseException | None:
    # Faults are in what the server searches, but for those of segments.
    largest = search._LARGEST if where == "test_segments" else 0
    try:
        with patch.object(search, "_LARGEST", largest):
            if where in SUITES:
                _play_suite(where, check, {"mode": "blocking", **given}, deadline)
            else:
                _play_test(where, check, given)
    except (Exception, pytest.fail.Exception) as error:
        return error
    return None


def _play_suite(tier: str, name: str, given: dict[str, Any], deadline: int) -> None:
    space = {"deadline": deadline, "__module__": __name__}
    test = getattr(type("Played", (SUITES[tier],), space)(), name)
    wanted = {*inspect.signature(test).parameters}
    known: list[Any] = []

    async def played(address: str) -> None:
        def opened() -> Any:
            known.append(getattr(postgres_stores(f"{address}&pool_timeout=5&indexed=0"), tier))
            return known[-1]

        try:
            all_ = {"opened": opened, "target": opened(), **given}
            all_["store"] = StoreProxy(all_["target"], given["mode"], deadline)
            await test(**{one: all_[one] for one in wanted})
        finally:
            for one in known:
                await one.aclose()

    with postgres.schema_at(postgres.url()) as address:
        asyncio.run(played(address))


def _play_test(where: str, name: str, given: dict[str, Any]) -> None:
    test = getattr(importlib.import_module(f"tiers.stores.postgres.{where}"), name)
    made = dict(given)
    with ExitStack() as stack:
        try:
            for one in inspect.signature(test).parameters:
                _make(one, made, stack)
            done = test(**{one: made[one] for one in inspect.signature(test).parameters})
            if inspect.iscoroutine(done):
                asyncio.run(done)
        except BaseException as error:
            failure = error
        else:
            return
        stack.close()  # as after any test: nothing is thrown into what made its arguments
    raise failure


def _make(name: str, made: dict[str, Any], stack: ExitStack) -> None:
    """Make an argument as the fixture of this name does."""
    if name in made:
        return
    if name == "monkeypatch":
        made[name] = stack.enter_context(pytest.MonkeyPatch.context())
        return
    maker = getattr(kit, name)
    needs = [*inspect.signature(maker).parameters]
    for one in needs:
        _make(one, made, stack)
    made[name] = stack.enter_context(contextmanager(maker)(**{one: made[one] for one in needs}))
