"""Everything that a database in SQL has, read from end to end, and kept as it came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryware.events import logger
from memoryware.tiers.records import Memory
from memoryware.tiers.stores._loading import number_of_mark, without_doubles
from memoryware.tiers.stores.protocol import Select, Space, Stretch, Vector
from memoryware.tiers.stores.sql.operations import held, numbers_of, place_of
from memoryware.tiers.stores.sql.port import Port, Transaction
from memoryware.tiers.stores.sql.searching import number_of


async def walk(port: Port, tier: str, mark: str | None, limit: int) -> Stretch[Any]:
    """Return records of all tenants in the order of their numbers, after that of the mark."""
    last = number_of_mark(mark)
    async with port.transaction(None) as tx:
        rows = await tx.execute(
            f"SELECT seq, {port.rows.read}{port.rows.owner} FROM record"
            f" WHERE {port.rows.in_tier(tier, loose=True)} AND seq > ? ORDER BY seq LIMIT ?",
            last, max(1, limit),
        )  # fmt: skip
        total = None
        if mark is None:
            total = await tx.count(tier, None)
    more = str(rows[-1][0]) if len(rows) == max(1, limit) else None
    found = [(port.rows.record(tier, row), row) for row in rows]
    own = [one for one, row in found if port.rows.is_own(one, row[-1:])]
    if len(own) < len(found):
        logger.warning(
            "%d records of %s are passed over: somebody has written them by hand, and they say that"
            " they are of another tenant than whose they are",
            len(found) - len(own),
            tier,
        )
    return Stretch(own, more, total)


async def load(port: Port, tier: str, records: Sequence[Any]) -> list[Any]:
    """Keep records as they are, tenant by tenant; return those that were not there so."""
    kept, by_tenant = [], dict[str | None, dict[tuple[str | None, str], Any]]()
    for one in records:
        by_tenant.setdefault(one.scope.tenant, {})[_key(one)] = one
    for tenant, mine in by_tenant.items():
        kept += await _load(port, tier, tenant, list(mine.values()))
    return kept


async def _load(port: Port, tier: str, tenant: str | None, records: Sequence[Any]) -> list[Any]:
    groups = tuple(dict.fromkeys(one.scope.group_id for one in records))
    # Of several groups by ids alone: each id would be looked for in each of the groups.
    some = groups if len(groups) == 1 else None
    which = Select(tenant=tenant, groups=some, ids=tuple(one.id for one in records))
    other_text = False
    async with port.transaction(Select(tenant=tenant), writes=True) as tx:
        found = await held(tx, port, tier, which)
        known = {
            _key(one): (one, row[0]) for row in found for one in (port.rows.record(tier, row),)
        }
        if tier == "quarantine":
            records = await _without_doubles(tx, port, groups, records)
        new = [one for one in records if _key(one) not in known]
        both = [(*known[_key(one)], one) for one in records if _key(one) in known]
        differing = [(old, seq, one) for old, seq, one in both if old != one]
        await tx.insert(tier, new, {})
        for old, seq, one in differing:
            await tx.replace(tier, seq, old, one)
            other_text = other_text or old.content != one.content
    if other_text:
        await port.wipe()
    return [*new, *(one for _, _, one in differing)]


async def _without_doubles(
    tx: Transaction, port: Port, groups: Sequence[str | None], entries: Sequence[Any]
) -> list[Any]:
    """Return entries but those whose key another one has, here or among them."""
    rows, keys = port.rows, [one.key for one in entries if one.key is not None]
    if not keys:
        return list(entries)
    which = Select(tenant=entries[0].scope.tenant, groups=tuple(groups))
    (mine, values), (once, more) = (
        rows.condition("quarantine", which),
        rows.any_of(rows.loose("once"), [rows.key(one) for one in keys]),
    )
    if len(groups) > 1:  # each key would be looked for in each of the groups
        once = once.replace(rows.loose("once"), "once", 1)
    found = await tx.execute(
        f"SELECT seq, {rows.read} FROM record WHERE {mine} AND {once}", *values, *more
    )
    return without_doubles(entries, [rows.record("quarantine", row) for row in found])


async def vectors_of(port: Port, memories: Sequence[Memory], space: Space) -> list[Vector | None]:
    """Return the vectors of memories that are there and say the same."""
    async with port.transaction(None) as tx:
        number = await number_of(tx, space)
        if number is None or not memories:
            return [None] * len(memories)
        places = [place_of(port.rows, one) for one in memories]
        there = await numbers_of(tx, port.rows, {one: one for one in places}, held="")
        known = await tx.vectors(number, [seq for seq, _ in there])
    found = {place: known.get(seq) for seq, place in there}
    return [found.get(place) for place in places]


def _key(record: Any) -> tuple[str | None, str]:
    return record.scope.group_id, record.id
