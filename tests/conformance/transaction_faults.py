"""Stores whose transactions have one fault each, which the suites of the tiers have to notice."""

from __future__ import annotations

from dataclasses import replace

from conformance.store_faults import Fault
from memoryware.tiers.stores.embedded import EmbeddedTransaction
from memoryware.tiers.stores.protocol import TIERS

FAULTS: list[type] = []


def fault(kind):
    FAULTS.append(kind)
    return kind


def of(kind):
    """Make a fault of a transaction one of a store."""
    FAULTS.append(
        type(kind.__name__, (Fault,), {"transaction_type": kind, "__doc__": kind.__doc__})
    )
    return kind


# Long lists.


@fault
class FindsFiftyInOneHalf(Fault):
    """A list is cut at fifty, where nobody asked for that."""

    one_half = True

    def find(self, which, *, limit=None, offset=0, after=None):
        page = super().find(which, limit=limit, offset=offset, after=after)
        return replace(page, items=page.items[:50], marks=page.marks[:50])


@fault
class CountsFiftyAtMost(Fault):
    """A list ends after fifty and says that this is all."""

    def _fitting(self, which):
        return super()._fitting(which)[:50]


@fault
class TakesALimitOfAHundredForTheMost(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        most = None if limit is None else min(limit, 100)
        return super().find(which, limit=most, offset=offset, after=after)


# Several selections.


@of
class AnswersInAnotherOrder(EmbeddedTransaction):
    async def find_many(self, requests):
        return (await super().find_many(requests))[::-1]


@of
class AnswersFiftyOfEach(EmbeddedTransaction):
    async def find_many(self, requests):
        return [await self.find(tier, which, limit=50) for tier, which in requests]


@of
class AnswersEveryTierFromTheFirst(EmbeddedTransaction):
    async def find_many(self, requests):
        return [await self.find(requests[0][0], which) for _, which in requests]


@of
class LeavesOutEmptyAnswers(EmbeddedTransaction):
    async def find_many(self, requests):
        return [page for page in await super().find_many(requests) if page.items]


# Generations.


@of
class NeverRaisesTheGeneration(EmbeddedTransaction):
    async def generation(self, scope):
        return 7


def _blind_to(tier):
    async def generation(self, scope):
        stores = [getattr(self._store, one) for one in TIERS if one != tier]
        return sum(one.changes for one in stores)

    return generation


for _tier in TIERS:
    of(
        type(
            f"SeesNoChangeOf{_tier.title().replace('_', '')}",
            (EmbeddedTransaction,),
            {"generation": _blind_to(_tier)},
        )
    )


@of
class CountsRecordsInPlaceOfChanges(EmbeddedTransaction):
    """Edits change no number."""

    async def generation(self, scope):
        return sum(len(getattr(self._store, tier).snapshot().records) for tier in TIERS)


@of
class KnowsAGenerationForChangesOnly(EmbeddedTransaction):
    """What is read of a group has no number once nothing has changed it for a while."""

    async def generation(self, scope):
        changes = await super().generation(scope)
        return changes if changes % 2 else None


@of
class CountsChangesBackwards(EmbeddedTransaction):
    async def generation(self, scope):
        return -(await super().generation(scope))


@fault
class LoadsUnseen(Fault):
    """What is loaded raises no generation."""

    def load(self, records):
        result = super().load(records)
        self._data.changes -= 1
        return result


# Undoing.


class _Undoes(Fault):
    """Undoes some tiers only."""

    undone = ()


@fault
class UndoesQuarantineOnly(_Undoes):
    undone = ("quarantine",)


@fault
class UndoesLongTermMemoryOnly(_Undoes):
    undone = ("long_term",)


@fault
class LeavesWorkingMemoryAsItBecame(_Undoes):
    undone = ("quarantine", "long_term")


@fault
class LeavesQuarantineAsItBecame(_Undoes):
    undone = ("working", "long_term")


@fault
class UndoesNothing(_Undoes):
    pass


@of
class SwallowsWhatWorkRaises(EmbeddedTransaction):
    """The error of a unit of work does not come out."""

    swallows = True


@of
class SeesTheStateOfItsBeginning(EmbeddedTransaction):
    """A transaction does not see its own changes."""

    def __init__(self, store):
        super().__init__(store)
        self._before = {tier: getattr(store, tier).snapshot() for tier in TIERS}

    async def find(self, tier, which, *, limit=None, offset=0, after=None):
        target = getattr(self._store, tier)
        now = target.snapshot()
        target.roll_back(self._before[tier])
        try:
            return await super().find(tier, which, limit=limit, offset=offset, after=after)
        finally:
            target.roll_back(now)
