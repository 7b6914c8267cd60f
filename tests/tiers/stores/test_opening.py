"""Stores by their address."""

from __future__ import annotations

import pytest

from memoryware import StoreUnavailable, TieredMemory, aopen_stores, open_stores


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("redis://localhost", "postgresql://"),
        ("postgresql://localhost/x", "sqlite:///"),
        ("postgres://x", "sqlite:///"),
        ("mysql://x", "sqlite:///"),
        ("sqlite://", "sqlite:///memory.db"),
        ("sqlite://memory.db", "sqlite:///memory.db"),
        ("sqlite:///", "sqlite:///memory.db"),
        ("memory.db", "sqlite:///"),
        ("", "sqlite:///"),
        ("memory://x", "memory://"),
    ],
)
async def test_an_address_that_cannot_be_says_what_can(url, hint):
    with pytest.raises(StoreUnavailable, match=hint):
        open_stores(url)
    with pytest.raises(StoreUnavailable, match=hint):
        await aopen_stores(url)


async def test_memory_is_new_each_time():
    one, two = TieredMemory.open("memory://"), await TieredMemory.aopen("memory://")
    one.promote("The orders are here.", "shop", by="ann")
    assert (len(one.retrieve("orders", "shop")), len(two.retrieve("orders", "shop"))) == (1, 0)
