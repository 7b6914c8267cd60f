"""Everything that the public operations return for the sample data, as JSON that compares.

Ids are written as the labels of the sample, so that a difference says which record it is about,
and so that stores in which other ids stand can be compared as well.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Self

from frozen.sample import NOW, ODD, SCOPES, SHOP, START, Clock, Sample
from memoryware import ContextBuilder, MemoryScope, Origin, TieredMemory, Trust
from memoryware.errors import TierError

QUERIES = (
    "When are invoices due, and who signs refunds?",
    "refund limit",
    "storage rule of the depot",
    "数据库 备份",
    "When does the canteen open?",
    "party 🎉 roof",
    "zzz nothing of it",
)
_SHORT = re.compile(r"\[([0-9a-f]{8});")
"""A recalled text in a prompt is labelled with the beginning of its id."""
DIGITS = 6
"""Digits of a score that are compared: vectors may be kept with 16 bits."""
LATER = {"replaces", "removes", "personal"}
"""Fields of a `PendingPromotion` and an `Insight` that are younger than the reads: left out where nothing is set."""


def reading_clock() -> Clock:
    """Return a clock that stands at the moment at which the data is read."""
    return Clock(NOW)


def read_all(memory: TieredMemory, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return what each public read returns, for each tenant and group; nothing is changed."""
    reader = Reader(memory, labels)
    found: dict[str, Any] = {"spaces": {str(space): n for space, n in memory.spaces().items()}}
    for scope in SCOPES:
        found[f"{scope.tenant or '-'} / {scope.group_id}"] = dict(reader.of_group(scope))
    found["forget dry runs"] = reader.forgets()
    return found


class Reader:
    """Reads a memory and writes the answers with labels in place of ids."""

    def __init__(self, memory: TieredMemory, labels: Mapping[str, str]) -> None:
        self.memory, self.labels = memory, dict(labels)

    def of_group(self, scope: MemoryScope) -> Iterator[tuple[str, Any]]:
        """Yield each kind of read of one tenant and group."""
        group = MemoryScope(tenant=scope.tenant, group_id=scope.group_id)
        records = self._listed(group)
        yield (
            "records",
            {
                layer: [self.plain(one.record) for one in listed]
                for layer, listed in records.items()
            },
        )
        yield (
            "listed",
            {
                layer: [f"{self.label(one.id)}: {one.status}, {one.trust.name}" for one in listed]
                for layer, listed in records.items()
            },
        )
        yield (
            "word listings",
            {
                words: [
                    self.plain([one.id, one.tier, one.score])
                    for one in self.memory.list(group, query=words, limit=50).items
                ]
                for words in (
                    "refund",
                    "Refunds euros",
                    "订单数据",
                    "signatures table stock",
                    "stands in this text",
                )
            },
        )
        yield "recalled", dict(self._recalled(group))
        yield "contexts", dict(self._contexts(group))
        yield "digest", self._digest(group)
        yield "sessions", self._sessions(group)
        acts = self._pages(lambda after: self.memory.audit(group, limit=7, after=after), "acts")
        yield "audit", [self.plain(replace(one, mark="")) for one in acts]
        yield "lineage", self._lineage(group, records)
        yield "receipts", self._receipts(group)
        yield "bundle", self._bundle(group)

    def _listed(self, group: MemoryScope) -> dict[str, list[Any]]:
        return {
            layer: self._pages(
                lambda after, layer=layer: self.memory.list(
                    group, tier=layer, limit=9, after=after
                ),
                "items",
            )
            for layer in ("quarantine", "working", "longterm")
        }

    def _pages(self, page: Any, name: str) -> list[Any]:
        """Return what all pages of a read hold."""
        found, after = [], None
        while True:
            part = page(after)
            found += getattr(part, name)
            after = part.next
            if after is None:
                return found

    def _recalled(self, group: MemoryScope) -> Iterator[tuple[str, Any]]:
        past, ahead = (
            datetime(2026, 2, 2, 9, 30, tzinfo=NOW.tzinfo),
            datetime(2026, 6, 1, tzinfo=NOW.tzinfo),
        )
        ways: dict[str, dict[str, Any]] = {
            "now": {},
            "cold, at the time of the first promotions": {"at": past, "tiers": ("long_term",)},
            "cold, in summer": {"at": ahead, "tiers": ("long_term",)},
            "trusted": {"min_trust": Trust.USER},
            "helper": {"agent_id": "helper", "max_results": 4},
            "session": {"session_id": "s-ann-1"},
            "last day": {"time_range_days": 1.0},
            "near": {"score_threshold": 0.41},
        }
        for query in QUERIES:
            for way, options in ways.items():
                found = self.memory.retrieve(query, group, explain=True, **options)
                yield (
                    f"{query} ({way})",
                    {
                        "items": [
                            self.plain(
                                [one.id, one.source, one.score, one.similarity, one.verified]
                            )
                            for one in found
                        ],
                        "left out": sorted(
                            f"{self.label(one.item.id)}: {one.left_out}"
                            for one in found.candidates
                            if one.left_out
                        ),
                        "reasons": {
                            self.label(one.item.id): one.reason
                            for one in found.candidates
                            if not one.left_out
                        },
                        "contradictions": self.plain(found.contradictions),
                        "notes": list(found.notes),
                        "failed": list(found.failed),
                    },
                )

    def _contexts(self, group: MemoryScope) -> Iterator[tuple[str, Any]]:
        for budget in (None, 150):
            builder = ContextBuilder(self.memory, persona="You are a clerk.", max_tokens=budget)
            scope = MemoryScope(tenant=group.tenant, group_id=group.group_id, agent_id="helper")
            door = self.memory
            build = door.through(builder.abuild) if isinstance(door, AsyncDoor) else builder.build
            built = build(QUERIES[0], scope, attachments=["a file"])
            yield (
                str(budget),
                {
                    "text": self.text(built.text),
                    "tokens": built.tokens,
                    "dropped": list(built.dropped),
                    "notes": list(built.notes),
                },
            )

    def _digest(self, group: MemoryScope) -> dict[str, Any]:
        whole = self.memory.digest(group, since=START)
        pages = self._pages(
            lambda after: self.memory.digest(group, since=START, limit=3, after=after), "insights"
        )
        names = {
            one.id: f"insight of {', '.join(map(self.label, one.source_entry_ids))}"
            for one in whole.insights
        }
        labelled = Reader(self.memory, {**self.labels, **names})
        return {
            "insights": [labelled.plain(one) for one in whole.insights],
            "by pages": [names.get(one.id, one.id) for one in pages],
            "by agents": [
                names[one.id]
                for one in self.memory.digest(group, since=START, trust="unverified").insights
            ],
            "of tools": [
                names[one.id]
                for one in self.memory.digest(group, since=START, origin="tool").insights
            ],
            "of ann": [
                one.summary for one in self.memory.digest(group, since=START, user="ann").insights
            ],
            "counts": [
                whole.entries,
                whole.more,
                whole.total,
                whole.waiting,
                self.memory.count_waiting(group),
            ],
        }

    def _sessions(self, group: MemoryScope) -> dict[str, Any]:
        sessions = self._pages(lambda after: self.memory.sessions(group, after=after), "items")
        stories = {one.id: self.plain(self.memory.session(one.id, group)) for one in sessions}
        for story in stories.values():  # the records themselves are compared above
            for turn in story["turns"]:
                turn["entry"] = turn["entry"] and turn["entry"]["id"]
                turn["memories"] = [one["id"] for one in turn["memories"]]
                for shown in turn["shown"]:
                    shown["record"] = shown["record"] and shown["record"]["id"]
        return {"sessions": self.plain(sessions), "stories": stories}

    def _lineage(self, group: MemoryScope, records: Mapping[str, Iterable[Any]]) -> dict[str, Any]:
        """Return what a revocation of each record would take back, and what each looks like alone."""
        found = {}
        for listed in records.values():
            for one in listed:
                assert self.memory.get(one.id, group).id == one.id
                try:
                    receipt = self.memory.revoke(one.id, group, by="reader", dry_run=True)
                    found[self.label(one.id)] = {
                        "goes": self.plain(receipt.ids),
                        "counts": self.plain(receipt.counts),
                        "again": self.plain(receipt.reinstated),
                    }
                except TierError as error:
                    found[self.label(one.id)] = type(error).__name__
        for origin in (
            Origin("tool", "web_search"),
            Origin("user", "ann"),
            Origin("import", "branch-west"),
        ):
            try:
                receipt = self.memory.revoke(origin, group, by="reader", dry_run=True)
                found[str(origin)] = sorted(map(self.label, receipt.ids))
            except TierError as error:
                found[str(origin)] = type(error).__name__
        return found

    def _bundle(self, group: MemoryScope) -> dict[str, str]:
        """Return a digest of each exported line: the records themselves are compared already."""
        found = {}
        for line in self.memory.export(group)[1:]:
            record = json.loads(line)
            key = f"{record['tier']} {self.label(record['id'])}"
            found[key] = hashlib.blake2b(self.text(line).encode(), digest_size=8).hexdigest()
        return found

    def _receipts(self, group: MemoryScope) -> dict[str, Any]:
        found = {}
        for id_, label in self.labels.items():
            if label.startswith("receipt"):
                try:
                    receipt = self.plain(self.memory.find_receipt(id_, group))
                    found[label] = receipt | {"ids": sorted(receipt["ids"])}
                except TierError as error:
                    found[label] = type(error).__name__
        return found

    def forgets(self) -> dict[str, Any]:
        """Return what would be deleted, by several conditions."""
        conditions: dict[str, tuple[MemoryScope, dict[str, Any]]] = {
            "ann": (MemoryScope(user_id="ann"), {}),
            "bob's session": (MemoryScope(group_id="shop", session_id="s-bob-1"), {}),
            "agent": (MemoryScope(group_id="shop", agent_id="researcher"), {}),
            "a group": (MemoryScope(tenant="acme", group_id="shop"), {}),
            "odd": (ODD, {}),
            "origin": (SHOP, {"origin": Origin("tool", "web_search")}),
            "words": (SHOP, {"query": "refunds euros"}),
            "words alone": (SHOP, {"query": "invoices", "derived": False}),
            "nothing": (SHOP, {"query": "zzz"}),
        }
        return {
            name: self.plain(self.memory.forget(scope, dry_run=True, **more).counts)
            for name, (scope, more) in conditions.items()
        }

    # Writing answers down.

    def label(self, id_: str) -> str:
        """Return the label of an id."""
        return self.labels.get(id_, id_)

    def text(self, text: str) -> str:
        """Return a text with labels in place of the ids in it."""
        for id_, label in self.labels.items():
            text = text.replace(id_, f"<{label}>")
        short = {id_[:8]: label for id_, label in self.labels.items()}
        return _SHORT.sub(lambda found: f"[<{short.get(found[1], found[1])}>;", text)

    def plain(self, value: Any) -> Any:
        """Return a value as JSON: ids as labels, scores with few digits."""
        if isinstance(value, (str, Enum)):
            return self.label(value) if isinstance(value, str) else value.name
        if isinstance(value, float):
            return round(value, DIGITS) + 0.0
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, (MemoryScope, Origin)):
            return (
                str(value)
                if isinstance(value, Origin)
                else {
                    f.name: held
                    for f in fields(value)
                    if (held := getattr(value, f.name)) is not None
                }
            )
        if is_dataclass(value):
            return {
                one.name: self.plain(getattr(value, one.name))
                for one in fields(value)
                if one.name not in LATER or getattr(value, one.name) != one.default
            }
        if isinstance(value, Mapping):
            return {
                str(self.plain(key)): self.plain(held)
                for key, held in sorted(value.items(), key=str)
            }
        if isinstance(value, (list, tuple)):
            return [self.plain(one) for one in value]
        return value


def readable(open_memory: Any, sample: Sample, **options: Any) -> TieredMemory:
    """Open a memory as it is read: with the first model, at the moment of reading."""
    return open_memory(
        embeddings=sample.first, embedding_space="first", clock=reading_clock(), **options
    )


def as_lines(value: Any, depth: int = 0) -> str:
    """Return JSON in which each record and each answer has a line of its own."""
    inner = " " * (depth + 1)
    if depth < 4 and isinstance(value, dict) and value:
        parts = (
            f"{inner}{json.dumps(key)}: {as_lines(held, depth + 1)}" for key, held in value.items()
        )
        return "{\n" + ",\n".join(parts) + "\n" + " " * depth + "}"
    if (
        depth < 4
        and isinstance(value, list)
        and value
        and not isinstance(value[0], (str, int, float))
    ):
        parts = (f"{inner}{json.dumps(one)}" for one in value)
        return "[\n" + ",\n".join(parts) + "\n" + " " * depth + "]"
    return json.dumps(value)


def differences(expected: Any, found: Any, tolerance: float, path: str = "") -> Iterator[str]:
    """Yield where two answers differ, so that a failing test names the read and the record.

    Args:
        expected: The frozen answer.
        found: The answer of today.
        tolerance: How far two numbers may be apart: engines keep vectors with 16 bits or more.
        path: Where in the answers these are.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in {**expected, **found}:
            yield from differences(
                expected.get(key, "nothing"), found.get(key, "nothing"), tolerance, f"{path}/{key}"
            )
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, tolerance, f"{path}[{number}]")
    elif expected != found and not is_close(expected, found, tolerance):
        yield f"{path}: expected {json.dumps(expected)[:300]}, found {json.dumps(found)[:300]}"


def is_close(one: Any, other: Any, tolerance: float) -> bool:
    """Say whether two values are numbers that are near each other."""
    numbers = all(isinstance(value, (int, float)) for value in (one, other))
    return numbers and abs(one - other) <= tolerance


class AsyncDoor:
    """A memory whose operations all run through their asynchronous half.

    Attributes:
        memory: The memory.
    """

    def __init__(self, memory: TieredMemory, runner: asyncio.Runner) -> None:
        self.memory, self._runner = memory, runner

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self.memory, f"a{name}", None)
        if not inspect.iscoroutinefunction(operation):
            return getattr(self.memory, name)
        return self.through(operation)

    def through(self, operation: Any) -> Any:
        """Return a coroutine function as a function that waits for it."""
        return lambda *args, **more: self._runner.run(operation(*args, **more))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
