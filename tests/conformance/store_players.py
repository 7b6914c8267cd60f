"""Plays a suite of a tier over a store, without a run of pytest for each, to the first failure."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import pytest

from conformance import (
    long_term_faults,
    paging_faults,
    search_faults,
    store_faults,
    tier_faults,
    transaction_faults,
)
from memoryware.testing import (
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)
from memoryware.testing._store import StoreProxy, StoreSuite
from memoryware.tiers.stores.embedded import (
    EmbeddedLongTerm,
    EmbeddedQuarantine,
    EmbeddedStore,
    EmbeddedTransaction,
    EmbeddedWorking,
)
from memoryware.tiers.stores.protocol import TIERS, Space, Store, Tier, TierHandle

SUITES: dict[str, tuple[type[StoreSuite], type]] = {
    "quarantine": (QuarantineStoreConformance, EmbeddedQuarantine),
    "working": (WorkingStoreConformance, EmbeddedWorking),
    "long_term": (LongTermStoreConformance, EmbeddedLongTerm),
}
FAULTS: dict[str, list[type]] = {
    "quarantine": [
        *store_faults.FAULTS,
        *paging_faults.FAULTS,
        *tier_faults.QUARANTINE,
        *transaction_faults.FAULTS,
    ],
    "working": [*store_faults.FAULTS, *paging_faults.FAULTS, *tier_faults.WORKING],
    "long_term": [
        *store_faults.FAULTS,
        *paging_faults.FAULTS,
        *long_term_faults.FAULTS,
        *search_faults.FAULTS,
        *transaction_faults.FAULTS,
    ],
}


class _KnowingTransaction(EmbeddedTransaction):
    """Asks the faulty tier which spaces it knows, where nobody counts their vectors."""

    async def spaces(self, *, counted: bool = True) -> dict[Space, int]:
        if counted:
            return await super().spaces(counted=counted)
        known: Any = self._store.long_term
        return dict.fromkeys(known.known_spaces(), 0)


class FaultyStore(EmbeddedStore):
    """A store of which one tier, and perhaps how its transactions run, is faulty.

    Args:
        tier: The name of the tier.
        kind: Its class; see `Fault` for what it may say about the store.
    """

    def __init__(self, tier: str, kind: type) -> None:
        super().__init__(5.0)
        self.tier, self.kind = tier, kind
        setattr(self, tier, kind(5.0))
        usual = _KnowingTransaction if hasattr(kind, "known_spaces") else EmbeddedTransaction
        self.transaction_type = getattr(kind, "transaction_type", usual)
        self.other: EmbeddedStore | None = None

    def halves(self) -> tuple[Store, Store]:
        return (self.other or self), self

    async def transaction(self, work: Any, *, about: Any = None, writes: bool = True) -> Any:
        if not getattr(self.kind, "isolated", True):
            return await work(self.transaction_type(self))
        undone, became = getattr(self.kind, "undone", TIERS), {}

        async def noted(transaction: Any) -> Any:
            try:
                return await work(transaction)
            except BaseException:
                became.update({tier: getattr(self, tier).snapshot() for tier in TIERS})
                if getattr(transaction, "swallows", False):
                    return None
                raise

        try:
            return await super().transaction(noted, about=about, writes=writes)
        except BaseException:
            for tier in {*became} - {*undone}:
                getattr(self, tier).roll_back(became[tier])
            raise

    async def close(self) -> None:
        """Close the faulty tier only: others must not hide that it works on."""
        getattr(self, self.tier).close()


class _RightHalf(FaultyStore):
    """The blocking half of a store whose other half is faulty."""

    def __init__(self, faulty: FaultyStore) -> None:
        super().__init__(faulty.tier, SUITES[faulty.tier][1])
        self.faulty = faulty
        ours = vars(getattr(self, self.tier))
        ours.update({name: vars(getattr(faulty, self.tier))[name] for name in ours})

    async def close(self) -> None:
        await super().close()
        await self.faulty.close()


def opening(tier: str, kind: type) -> Callable[[], TierHandle]:
    """Return what opens a store again and again on the same data, as if it were in a file."""
    data: dict[str, Any] = {}

    def opened() -> TierHandle:
        store = FaultyStore(tier, kind)
        if getattr(kind, "lasts", True):
            held = vars(getattr(store, tier))
            held.update(data)
            data.update(held)
        store.suspends = getattr(kind, "on_the_loop", False)
        if getattr(kind, "one_half", False):
            store.other = _RightHalf(store)
        return TierHandle(store, cast("Tier", tier))

    return opened


def tests_of(suite: StoreSuite) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every test with its arguments, as pytest would make them."""
    for name in dir(suite):
        if not name.startswith("test_"):
            continue
        test = getattr(suite, name)
        axes: dict[str, Any] = {}
        if {"mode", "store"} & {*inspect.signature(test).parameters}:
            axes["mode"] = suite.modes
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                axes[mark.args[0]] = mark.args[1]
        for values in itertools.product(*axes.values()):
            yield name, dict(zip(axes, values, strict=True))


def play(suite: StoreSuite, tier: str, kind: type, name: str, arguments: dict[str, Any]) -> None:
    """Play one test; it raises if it fails."""
    opened = opening(tier, kind)
    target = opened()
    known = {"opened": opened, "target": target, **arguments}
    if "mode" in arguments:
        known["store"] = StoreProxy(target, arguments["mode"], suite.deadline)
    test = getattr(suite, name)
    asyncio.run(test(**{one: known[one] for one in inspect.signature(test).parameters}))
    target.close()


@cache
def in_order(tier: str, isolated: bool = True) -> list[tuple[str, dict[str, Any]]]:
    """Return the tests of a tier, the quick ones first; all of them pass without a fault.

    Args:
        tier: The name of the tier.
        isolated: Whether the store isolates its transactions. If it does not, its tiers still do
            each call as a whole, and the tests that need more than that are left out: what
            notices a fault is then the fault, not the missing isolation.
    """
    suite = _suite(tier, deadline=60)
    kind = type("Right", (SUITES[tier][1],), {"isolated": isolated})
    taken = []
    for number, (name, arguments) in enumerate(tests_of(suite)):
        start = time.perf_counter()
        try:
            play(suite, tier, kind, name, arguments)
        except (Exception, pytest.fail.Exception):
            if isolated:
                raise
            continue
        taken.append((time.perf_counter() - start, number, name, arguments))
    return [(name, arguments) for _, _, name, arguments in sorted(taken, key=lambda one: one[:2])]


def first_failure(tier: str, fault: type) -> str | None:
    """Return the first test that a faulty store fails, None if it passes all."""
    kind = type(fault.__name__, (fault, SUITES[tier][1]), {})
    suite = _suite(tier, deadline=5 if fault.__name__ != "Nothing" else 60)
    masked = not getattr(fault, "isolated", True) and not getattr(fault, "noticed_by_any", False)
    for name, arguments in in_order(tier, isolated=not masked):
        try:
            play(suite, tier, kind, name, arguments)
        except (Exception, pytest.fail.Exception) as error:
            return f"{name} {arguments}: {type(error).__name__}: {str(error)[:200]}"
    return None


def _suite(tier: str, deadline: float) -> StoreSuite:
    space = {"deadline": deadline, "__module__": __name__}
    return type("Played", (SUITES[tier][0],), space)()
