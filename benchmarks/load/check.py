"""What must be true at the end of the load run, read over new connections."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.load.making import Group, tag_of
from benchmarks.load.servers import Servers
from benchmarks.load.sides import LangGraph, Tiers
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.stores.opening import open_stores
from memoryware.tiers.stores.protocol import Select, Stores

_KEPT = 50
"""Entries that working memory keeps of a group."""


@dataclass
class Journals:
    """What all workers wrote down of one side.

    Attributes:
        done: What was confirmed.
        failed: Attempts that raised.
        embedded: How many texts were embedded.
    """

    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    embedded: int = 0

    def confirmed(self, kind: str) -> Iterator[dict[str, Any]]:
        return (one for one in self.done if one["kind"] == kind)

    def asked(self, kind: str) -> set[str]:
        """Return the keys of everything of a kind that was asked for, confirmed or not."""
        return {one["key"] for one in (*self.done, *self.failed) if one["kind"] == kind}


def read(folder: Path) -> dict[str, Journals]:
    """Return the journals of both sides."""
    sides = {Tiers.name: Journals(), LangGraph.name: Journals()}
    for file in sorted(folder.glob("journal-*")):
        for line in file.read_text().splitlines():
            one = json.loads(line)
            journals = sides[one["side"]]
            if "embedded" in one:
                journals.embedded += one["embedded"]
                continue
            one["group"] = tuple(one["group"])
            (journals.failed if "error" in one else journals.done).append(one)
    return sides


@dataclass
class Checked:
    """What was found.

    Attributes:
        counts: How many records were looked at, by tier.
        wrong: A sentence for everything that is lost, doubled or misplaced.
    """

    counts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def check_ours(servers: Servers, journals: Journals, groups: Sequence[Group]) -> Checked:
    """Hold our stores against what was confirmed."""
    stores = open_stores(servers.ours)
    try:
        tenants = [*dict.fromkeys(tenant for tenant, _ in groups), None]
        found = Checked()
        entries = _all(stores.quarantine, tenants)
        working, memories = _all(stores.working, tenants), _all(stores.long_term, tenants)
        found.counts = {
            "quarantine": len(entries), "working memory": len(working),
            "long-term memory": len(memories),
        }  # fmt: skip
        found.wrong += _uncounted(servers, found.counts)
        found.wrong += _entries(entries, journals)
        found.wrong += _memories(memories, entries, journals)
        found.wrong += _working(stores, working, journals, groups)
        found.wrong += _answers(journals)
        return found
    finally:
        for one in (stores.quarantine, stores.working, stores.long_term):
            one.close()


def check_theirs(servers: Servers, journals: Journals) -> Checked:
    """Hold LangGraph's store against what was confirmed; a row cannot be there twice."""
    with psycopg.connect(servers.theirs) as db:
        rows = set(db.execute("SELECT prefix, key FROM store").fetchall())
        vectors = set(db.execute("SELECT prefix, key FROM store_vectors").fetchall())
    found = Checked({"rows": len(rows), "vectors": len(vectors)})
    for kind, part, there in (("record", "notes", rows), ("promote", "memories", rows & vectors)):
        wanted = {(".".join((*one["group"], part)), one["id"]) for one in journals.confirmed(kind)}
        found.wrong += [f"lost: {key} of {prefix}" for prefix, key in sorted(wanted - there)]
    return Checked(found.counts, [*found.wrong, *_answers(journals)])


def _all(store: Any, tenants: Iterable[str | None]) -> list[Any]:
    return [one for tenant in tenants for one in store.find(Select(tenant=tenant)).items]


def _uncounted(servers: Servers, counts: dict[str, int]) -> Iterator[str]:
    """Say if there is more than the stores show: something of a stranger, or in a wrong place."""
    import redis

    with psycopg.connect(servers.database) as db:
        rows = dict(
            db.execute(
                f'SELECT tier, count(*) FROM "{servers.schema}".record GROUP BY tier'
            ).fetchall()
        )
    with redis.Redis.from_url(servers.redis) as client:
        lists = client.scan_iter(f"{servers.prefix}*", count=1000, _type="list")
        hot = sum(client.llen(one) for one in lists)
    there = {"quarantine": rows.pop("quarantine", 0), "working memory": hot}
    there["long-term memory"] = rows.pop("long_term", 0)
    yield from (
        f"{tier}: the server has {there[tier]} records, of our tenants are {count}"
        for tier, count in counts.items()
        if there[tier] != count
    )
    yield from (f"the database has {count} records of {tier}" for tier, count in rows.items())


def _place(one: Entry | Memory) -> Group:
    return (str(one.scope.tenant), str(one.scope.group_id))


def _once(what: str, records: Sequence[Any], name: Any) -> Iterator[str]:
    twice = Counter(map(name, records))
    yield from (f"{what} {one}: there {count} times" for one, count in twice.items() if count > 1)


def _strange(what: str, records: Iterable[Any]) -> Iterator[str]:
    yield from (
        f"{what} {one.id}: misplaced in {_place(one)}: {one.content[:40]}"
        for one in records
        if tag_of(_place(one)) not in one.content
    )


def _missing(
    what: str, wanted: Iterable[tuple[str, Group]], there: dict[str, Any]
) -> Iterator[str]:
    for id_, group in wanted:
        if id_ not in there:
            yield f"{what} {id_} of {group}: lost"
        elif _place(there[id_]) != group:
            yield f"{what} {id_} of {group}: is in {_place(there[id_])}"


def _entries(entries: Sequence[Entry], journals: Journals) -> Iterator[str]:
    by_id, keys = {one.id: one for one in entries}, journals.asked("record")
    wanted = [(one["id"], one["group"]) for one in journals.confirmed("record")]
    yield from _missing("entry", wanted, by_id)
    yield from _once("entry", entries, lambda one: one.id)
    yield from _once("the entry with key", entries, lambda one: one.key)
    yield from _strange("entry", entries)
    yield from (f"entry {one.id}: nobody recorded it" for one in entries if one.key not in keys)
    known = {one["key"]: one["id"] for one in journals.confirmed("record")}
    yield from (
        f"entry {one.id}: key {one.key} was confirmed as {known[one.key]}"
        for one in entries
        if known.get(one.key, one.id) != one.id
    )


def _memories(
    memories: Sequence[Memory], entries: Sequence[Entry], journals: Journals
) -> Iterator[str]:
    by_id = {one.id: one for one in memories}
    promoted = list(journals.confirmed("promote"))
    yield from _missing(
        "memory", [(id_, one["group"]) for one in promoted for id_ in one["ids"]], by_id
    )
    yield from _once("memory", memories, lambda one: one.id)
    yield from _once("the memory", memories, lambda one: (_place(one), one.content))
    yield from _strange("memory", memories)
    wanted = {one["id"]: one["ids"] for one in promoted}
    for one in entries:
        if one.id in wanted and (one.status, list(one.memory_ids)) != ("promoted", wanted[one.id]):
            yield f"entry {one.id}: was promoted and is {one.status} with {one.memory_ids}"
    texts = {(_place(one), one.content) for one in entries}
    yield from (
        f"memory {one.id}: no entry has its text"
        for one in memories
        if (_place(one), one.content) not in texts
    )


def _working(
    stores: Stores, working: Sequence[Entry], journals: Journals, groups: Sequence[Group]
) -> Iterator[str]:
    """Say what working memory has too much of, and what is missing that is new enough."""
    yield from _strange("working memory", working)
    yield from _once("working memory", working, lambda one: one.id)
    there: dict[Group, list[Entry]] = defaultdict(list)
    for one in working:
        there[_place(one)].append(one)
    spans: dict[Group, dict[str, tuple[float, float]]] = defaultdict(dict)
    for said in journals.confirmed("record"):
        if said["working"]:
            spans[said["group"]][said["id"]] = (said["begin"], said["end"])
    # What raised, or is said not to be there as Redis failed, may be there all the same.
    unsure = [*journals.failed, *(one for one in journals.done if "degraded" in one)]
    tried = Counter(one["group"] for one in unsure if one["kind"] == "record")
    for group in groups:
        yield from _list(group, there[group], spans[group], tried[group])


def _list(
    group: Group, listed: Sequence[Entry], spans: dict[str, tuple[float, float]], tried: int
) -> Iterator[str]:
    """Say what is wrong with the list of one group.

    Two writers may come in either order while their calls overlap; who came back before
    another had begun is certainly older.
    """
    if len(listed) > _KEPT or len(listed) < min(_KEPT, len(spans)):
        yield f"working memory of {group}: {len(listed)} entries, {len(spans)} were confirmed"
    ids = {one.id for one in listed}
    oldest_end = min((spans.get(id_, (0.0, inf))[1] for id_ in ids), default=inf)
    ends = sorted(end for _, end in spans.values())
    for id_, (begin, _) in spans.items():
        if id_ in ids:
            continue
        later = len(ends) - bisect_right(ends, begin) - 1  # itself is one of them
        if later + tried < _KEPT:
            others = len(ids - {*spans})
            yield (
                f"working memory of {group}: {id_} is lost, {later} came after it,"
                f" {tried} may have, and {others} of {len(ids)} there were not confirmed"
            )
        if oldest_end < begin:
            yield f"working memory of {group}: {id_} is gone, and an older one is there"


def _answers(journals: Journals) -> Iterator[str]:
    for one in journals.confirmed("retrieve"):
        if not one["right"]:
            yield f"an answer to {one['group']} had something of another group"
