"""Plays a suite of a tier over a store, without a run of pytest for each, to the first failure."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from conformance import (
    long_term_faults,
    paging_faults,
    search_faults,
    store_faults,
    tier_faults,
)
from memoryware.conformance import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.conformance._tiers import Asked, TierSuite
from memoryware.tiers.stores.embedded import (
    EmbeddedLongTerm,
    EmbeddedQuarantine,
    EmbeddedWorking,
)

TIERS: dict[str, tuple[type[TierSuite], type]] = {
    "quarantine": (QuarantineStoreConformance, EmbeddedQuarantine),
    "working": (WorkingStoreConformance, EmbeddedWorking),
    "long_term": (LongTermStoreConformance, EmbeddedLongTerm),
}
FAULTS: dict[str, list[type]] = {
    "quarantine": [*store_faults.FAULTS, *paging_faults.FAULTS, *tier_faults.QUARANTINE],
    "working": [*store_faults.FAULTS, *paging_faults.FAULTS, *tier_faults.WORKING],
    "long_term": [
        *store_faults.FAULTS,
        *paging_faults.FAULTS,
        *long_term_faults.FAULTS,
        *search_faults.FAULTS,
    ],
}


def opening(kind: type) -> Callable[[], Any]:
    """Return what opens a store again and again on the same data, as if it were in a file."""
    data: dict[str, Any] = {}

    def opened() -> Any:
        store = kind(5.0)
        if getattr(kind, "lasts", True):
            vars(store).update(data)
            data.update(vars(store))
        return store

    return opened


def tests_of(suite: TierSuite) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every test with its arguments, as pytest would make them."""
    for name in dir(suite):
        if not name.startswith("test_"):
            continue
        test = getattr(suite, name)
        axes: dict[str, Any] = {}
        if {"door", "store"} & {*inspect.signature(test).parameters}:
            axes["door"] = suite.doors
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                axes[mark.args[0]] = mark.args[1]
        for values in itertools.product(*axes.values()):
            yield name, dict(zip(axes, values, strict=True))


def play(suite: TierSuite, kind: type, name: str, arguments: dict[str, Any]) -> None:
    """Play one test; it raises if it fails."""
    opened = opening(kind)
    target = opened()
    known = {"opened": opened, "target": target, **arguments}
    if "door" in arguments:
        known["store"] = Asked(target, arguments["door"], suite.deadline)
    test = getattr(suite, name)
    asyncio.run(test(**{one: known[one] for one in inspect.signature(test).parameters}))
    target.close()


@cache
def in_order(tier: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tests of a tier, the quick ones first; all of them pass without a fault."""
    suite, store = _suite(tier, deadline=60), TIERS[tier][1]
    taken = []
    for number, (name, arguments) in enumerate(tests_of(suite)):
        start = time.perf_counter()
        play(suite, store, name, arguments)
        taken.append((time.perf_counter() - start, number, name, arguments))
    return [(name, arguments) for _, _, name, arguments in sorted(taken, key=lambda one: one[:2])]


def first_failure(tier: str, fault: type) -> str | None:
    """Return the first test that a faulty store fails, None if it passes all."""
    kind = type(fault.__name__, (fault, TIERS[tier][1]), {})
    suite = _suite(tier, deadline=5 if fault.__name__ != "Nothing" else 60)
    for name, arguments in in_order(tier):
        try:
            play(suite, kind, name, arguments)
        except (Exception, pytest.fail.Exception) as error:
            return f"{name} {arguments}: {type(error).__name__}: {str(error)[:200]}"
    return None


def _suite(tier: str, deadline: float) -> TierSuite:
    space = {"deadline": deadline, "__module__": __name__}
    return type("Played", (TIERS[tier][0],), space)()
