"""A transaction is one unit of work over all tiers of its store: all of it happens, or nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from memoryware.testing._tiers import (
    ACME,
    Asked,
    OpenStore,
    TierSuite,
    entry,
    later,
    memory,
    shout,
    within,
)
from memoryware.tiers.stores.protocol import TIERS, Space, Tier, Transaction

PLANE = Space("plane", 2)


class TierTransactionsConformance(TierSuite):
    """What holds of a transaction, in a store that keeps all three tiers."""

    async def test_a_transaction_sees_what_it_changed_and_that_stays(self, store: Asked) -> None:
        async def work(transaction: Transaction) -> dict[str, list[str]]:
            await change_all(transaction)
            return await contents(transaction)

        await store.transaction(fill_all)
        expected = {tier: ["new", "edited!"] for tier in TIERS}
        assert await store.transaction(work) == expected
        assert await store.transaction(contents, writes=False) == expected

    async def test_a_transaction_that_fails_changes_no_tier(self, store: Asked) -> None:
        async def work(transaction: Transaction) -> None:
            await change_all(transaction)
            raise LookupError("half way")

        async def everything(transaction: Transaction) -> Any:
            pages = [await transaction.find(tier, within()) for tier in TIERS]
            return pages, await transaction.vectors_of(pages[2].items, PLANE)

        await store.transaction(fill_all)
        before = await store.transaction(everything, writes=False)
        with pytest.raises(LookupError, match="half way"):
            await store.transaction(work)
        assert await store.transaction(everything, writes=False) == before

    async def test_several_selections_are_answered_like_each_by_itself(self, store: Asked) -> None:
        async def compare(transaction: Transaction) -> None:
            requests: list[tuple[Tier, Any]] = [
                (self.tier, within(contains="text 1")),
                *((tier, within()) for tier in TIERS),
                (self.tier, within(ids=("gone",))),
            ]
            pages = await transaction.find_many(requests)
            assert pages == [await transaction.find(tier, which) for tier, which in requests]
            totals = {tier: 72 if tier == self.tier else 2 for tier in TIERS}
            assert [page.total for page in pages] == [11, *totals.values(), 0]
            assert await transaction.find_many([]) == []

        await store.transaction(fill_all)
        await store.load([self.make(f"text {number}") for number in range(70)])
        await store.transaction(compare, writes=False)

    async def test_each_change_raises_the_generation(self, store: Asked, opened: OpenStore) -> None:
        async def generation(transaction: Transaction) -> int | None:
            return await transaction.generation(ACME)

        other = Asked(opened(), store.door, self.deadline) if self.persistent else store
        await store.transaction(fill_all)
        record = (await store.find(within())).items[0]
        changes: list[Any] = [
            partial(store.load, [self.make("loaded")]),
            partial(other.edit, within(contains="loaded"), shout),
            partial(other.delete, within(contains="loaded")),
            partial(self.keep, other, self.make("another")),
            *(partial(store.transaction, partial(push_or_edit, tier)) for tier in TIERS),
        ]
        if self.tier == "long_term":
            changes.append(partial(other.put_vectors, [(record, [0.0, 1.0])], PLANE))
        for change in changes:
            before = await store.transaction(generation, writes=False)
            await change()
            after = await store.transaction(generation, writes=False)
            assert (before is None) == (after is None)
            assert before is None or after is None or after > before, change


async def fill_all(transaction: Transaction) -> None:
    """Put two records into each tier."""
    await transaction.add("quarantine", [entry("edited")])
    await transaction.add("quarantine", [entry("deleted")])
    for text in ("edited", "deleted"):
        await transaction.push(entry(text, expires_at=later(hours=1)), keep=9)
        await transaction.add("long_term", [memory(text)], vectors=[[1.0, 0.0]], space=PLANE)


async def change_all(transaction: Transaction) -> None:
    """Edit one record of each tier, delete one and add one."""
    for tier in TIERS:
        await transaction.edit(tier, within(contains="edited"), shout)
        await transaction.delete(tier, within(contains="deleted"))
    await transaction.add("quarantine", [entry("new")])
    await transaction.push(entry("new"), keep=9, renew=True)
    await transaction.add("long_term", [memory("new")], vectors=[[0.0, 1.0]], space=PLANE)


async def push_or_edit(tier: Tier, transaction: Transaction) -> None:
    """Change one record of a tier."""
    if tier == "working":
        await transaction.push(entry("pushed"), keep=9)
    else:
        await transaction.edit(tier, within(contains="edited"), shout)


async def contents(transaction: Transaction) -> dict[str, list[str]]:
    """Return the contents of each tier, newest first."""
    pages = {tier: await transaction.find(tier, within()) for tier in TIERS}
    return {tier: [record.content for record in page.items] for tier, page in pages.items()}
