"""Two places held against each other: what one has and the other has not, or has otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memoryware._runner import Runner
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.records import Record
from memoryware.tiers.stores.opening import FILE, aopen_stores, file_of, open_stores
from memoryware.tiers.stores.protocol import Select, Stores
from memoryware.tiers.stores.views import Tiers
from memoryware.tiers.values import LAYERS, Counts, Layer

_NOWHERE: Final = "memory://"
_AT_ONCE: Final = 500
"""Records that are held against each other at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPreview:
    """What a copy would do; vectors are not counted.

    Attributes:
        copied: Records that the target has not, or not as they are.
        surplus: Records that only the target has; `exact` removes them.
        first: The first of those, each with its tier.
    """

    copied: Counts
    surplus: Counts
    first: tuple[tuple[Layer, Record], ...] = ()


async def preview(
    runner: Runner, source: Stores | str, target: Stores | str, *, exact: bool, most: int
) -> CopyPreview:
    """Return what a copy would do, with that many texts at most; nothing is copied or removed.

    A file of the target that is not there counts as empty, and is not made.

    Raises:
        StoreUnavailable: As for `copy_stores`, like `SettingError`.
    """
    is_new = isinstance(target, str) and not _is_there(target)
    async with AsyncExitStack() as closing:
        one, other = await both(runner, source, _NOWHERE if is_new else target, closing)
        if exact:
            await must_have_something(one)
        copied, surplus = Counter[str](), Counter[str]()
        first: list[tuple[Layer, Record]] = []
        async for tier, _, mine, theirs in _beside(one, other, LAYERS, _AT_ONCE):
            copied[tier] += sum(theirs.get(id_) != record for id_, record in mine.items())
        async for tier, _, mine, theirs in _beside(other, one, LAYERS, _AT_ONCE):
            only = [record for id_, record in mine.items() if id_ not in theirs]
            surplus[tier] += len(only)
            first += [(tier, record) for record in only[: most - len(first)]]
    return CopyPreview(copied=Counts(**copied), surplus=Counts(**surplus), first=tuple(first))


async def both(
    runner: Runner, source: Stores | str, target: Stores | str, closing: AsyncExitStack
) -> tuple[Tiers, Tiers]:
    """Open what is given as an address, until the stack is closed.

    Raises:
        SettingError: If both are one place.
        StoreUnavailable: If the source is a file that is not there.
    """
    if source is target or source == target:
        raise SettingError("source and target are one place; copy into another one")
    if isinstance(source, str) and not _is_there(source):
        raise StoreUnavailable(f"There is no file {str(_file(source))!r} to copy from")
    return await _opened(runner, source, closing), await _opened(runner, target, closing)


async def must_have_something(source: Tiers) -> None:
    """Refuse to remove what a source does not have if there is nothing in it.

    Raises:
        SettingError: Then.
    """
    for tier in LAYERS:
        store = getattr(source, tier)
        if (await store.walk(limit=1)).items:
            return
    raise SettingError(
        "exact=True removes what the source does not have, and there is nothing in the source:"
        " see that its address is right"
    )


async def only_in(
    one: Tiers, other: Tiers, tiers: Sequence[Layer], *, batch: int
) -> AsyncIterator[tuple[Layer, Select]]:
    """Yield what is in one place and not in the other, by tier and group."""
    async for tier, which, mine, theirs in _beside(one, other, tiers, batch):
        if only := mine.keys() - theirs.keys():
            yield tier, which.also(ids=tuple(sorted(only)))


async def _beside(
    one: Tiers, other: Tiers, tiers: Sequence[Layer], batch: int
) -> AsyncIterator[tuple[Layer, Select, dict[str, Any], dict[str, Any]]]:
    """Yield what one place has, and the same ids of the other, by tier and group."""
    for tier in tiers:
        here, there = getattr(one, tier), getattr(other, tier)
        mark, is_ended = None, False
        while not is_ended:
            part = await here.walk(mark, limit=batch)
            for which, mine in _by_group(part.items, batch):
                page = await there.find(which)
                yield tier, which, mine, {record.id: record for record in page.items}
            mark, is_ended = part.mark, part.mark is None


def batches(records: Sequence[Any], most: int) -> Iterator[Sequence[Any]]:
    """Yield records, that many at a time."""
    return (records[start : start + most] for start in range(0, len(records), most))


def _by_group(records: Sequence[Any], most: int) -> Iterator[tuple[Select, dict[str, Any]]]:
    """Yield selections of these records, and the records by their ids, group by group."""
    groups: dict[MemoryScope, dict[str, Any]] = {}
    for one in records:
        place = MemoryScope(tenant=one.scope.tenant, group_id=one.scope.group_id)
        groups.setdefault(place, {})[one.id] = one
    for place, known in groups.items():
        for some in batches([*known], most):
            which = Select.within(place, ids=tuple(some))
            yield which, {id_: known[id_] for id_ in some}


def _file(address: str) -> Path | None:
    """Return the file at an address; None if it is no file."""
    return Path(file_of(address.partition(" + ")[0])[0]) if address.startswith(FILE) else None


def _is_there(address: str) -> bool:
    """Say whether opening finds something there, and does not only make a file."""
    file = _file(address)
    return file is None or file.exists()


async def _opened(runner: Runner, place: Stores | str, closing: AsyncExitStack) -> Tiers:
    if isinstance(place, Stores):
        return Tiers(place, runner)
    stores = await runner.call(open_stores, aopen_stores, place)
    tiers = Tiers(stores, runner)
    for tier in LAYERS:
        closing.push_async_callback(tiers.tier(tier).close)
    return tiers
