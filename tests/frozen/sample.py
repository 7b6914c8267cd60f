"""Sample data with every kind of record, written through the public operations.

`made.py data` ran this with memoryware 0.1.0 (commit 393ca13) and kept the stores that came of it
in `data/`. Later versions read those, and run it again: both must give the reads in `reads.json`.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_core.embeddings import Embeddings

from memoryware import MemoryScope, Origin, Provenance, TieredMemory, TierLimits
from memoryware.errors import EntryRefused, PromotionRefused
from memoryware.tiers import Verdict

START = datetime(2026, 2, 1, 9, tzinfo=UTC)
NOW = datetime(2026, 2, 3, 20, tzinfo=UTC)
"""When the data is read."""
SHOP = MemoryScope(group_id="shop")
ANN = MemoryScope(group_id="shop", user_id="ann", agent_id="helper", session_id="s-ann-1")
BOB = MemoryScope(group_id="shop", user_id="bob", agent_id="researcher", session_id="s-bob-1")
ACME_SHOP = MemoryScope(tenant="acme", group_id="shop")
ACME_OPS = MemoryScope(tenant="acme", group_id="Ops", user_id="Ann", agent_id="helper")
ODD = MemoryScope(
    tenant="Größe 🛒", group_id="订单/группа 'x' %_", user_id='o"brien', session_id="a\\b"
)
NOBODY = MemoryScope(user_id="ann", agent_id="helper")
SCOPES = (SHOP, ACME_SHOP, ACME_OPS, ODD)
"""Every tenant and group with memory."""


class WordVectors(Embeddings):
    """A vector of hashed words, made without any code of the package.

    Attributes:
        failing: Texts with one of these words cannot be embedded.
    """

    def __init__(self, size: int, salt: str) -> None:
        self.size, self.salt = size, salt
        self.failing: tuple[str, ...] = ()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if any(word in text for word in self.failing for text in texts):
            raise ConnectionError("the model is away")
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        sums = [0.0] * self.size
        for word in text.lower().split():
            digest = hashlib.blake2b(f"{self.salt} {word}".encode("utf-8", "replace")).digest()
            sums[int.from_bytes(digest[:4], "big") % self.size] += 1 - 2 * (digest[4] & 1)
        length = math.sqrt(math.fsum(one * one for one in sums)) or 1.0
        return [one / length for one in sums]


class Clock:
    """A clock that stands still until it is moved: how often it is asked changes nothing."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


class Ticking:
    """A memory before whose every operation a second passes, so that no two are of one moment."""

    def __init__(self, memory: Any, clock: Clock) -> None:
        self._memory, self._clock = memory, clock

    def __getattr__(self, name: str) -> Any:
        self._clock.forward(seconds=1)
        return getattr(self._memory, name)


def new_ids() -> Callable[[], str]:
    """Return a function that makes ids that look random and are the same in every run."""
    numbers = itertools.count(1)
    return lambda: hashlib.blake2b(str(next(numbers)).encode(), digest_size=16).hexdigest()


@dataclass
class Sample:
    """Writes the sample data.

    Attributes:
        open_memory: Opens a memory over one set of stores, with the options it is passed.
        clock: The clock of all of them.
        labels: What each id is called in what is compared.
    """

    open_memory: Callable[..., Any]
    clock: Clock = field(default_factory=Clock)
    labels: dict[str, str] = field(default_factory=dict)
    first: WordVectors = field(default_factory=lambda: WordVectors(24, "first"))
    second: WordVectors = field(default_factory=lambda: WordVectors(16, "second"))

    def write(self) -> dict[str, str]:
        """Write everything and return the labels of the ids."""
        new_id = new_ids()
        options = {"clock": self.clock, "new_id": new_id, "embeddings": self.first}
        with self._opened(embedding_space="first", **options) as memory:
            self._record_and_decide(memory)
            self.clock.forward(days=1)
            self._promote(memory)
            self.clock.forward(hours=6)
            self._take_back(memory)
            self._echo_and_refuse(memory)
            self._other_tenants(memory)
            self.clock.forward(hours=14)
            self._today(memory)
        self._interrupted_reindex(**options)
        return self.labels

    @contextmanager
    def _opened(self, **options: Any) -> Iterator[Any]:
        memory = self.open_memory(**options)
        try:
            yield Ticking(memory, self.clock)
        finally:
            memory.close()

    def call(self, label: str, result: Any) -> Any:
        """Give a label to an entry, a receipt, or the memories of a promotion."""
        memories = result if isinstance(result, tuple) else getattr(result, "memories", None)
        if memories is not None:
            for memory in memories:
                number = f"#{memory.chunk_index}" if memory.chunk_count > 1 else ""
                self.labels.setdefault(memory.id, f"{label}{number}")
                self.labels.setdefault(memory.document_id, f"document of {label}")
            if getattr(result, "proposal", None) is not None:
                self.labels.setdefault(result.proposal.id, f"proposal of {label}")
            return result
        record = getattr(result, "entry", result)
        self.labels.setdefault(record.id, label)
        return result

    # Parts of the sample. Each method is one kind of use.

    def _record_and_decide(self, memory: Any) -> None:
        """Entries in every status, with every origin; decisions on single statements."""
        call = self.call
        user = Provenance(Origin("user", "ann"))
        call(
            "pending-agent",
            memory.record(
                "The supplier Norda delivers on Tuesdays before noon.",
                ANN,
                {"confidence": 0.95, "nested": {"list": [1, 2.5, None, True], "текст": "значение"}},
            ),
        )
        call(
            "pending-user",
            memory.record(
                "Please keep answers short for the board meeting.",
                ANN,
                role="other",
                provenance=user,
            ),
        )
        call(
            "pending-tool",
            memory.record(
                "Web result: the parcel tariff rises by 4.5 % in March.",
                BOB,
                role="tool",
                provenance=Provenance(Origin("tool", "web_search")),
            ),
        )
        call(
            "no-confidence",
            memory.record("Perhaps the warehouse closes at five.", BOB, {"confidence": 0.3}),
        )
        call(
            "verify-pending",
            memory.record("The invoice total was 1,204.50 euros.", BOB, {"verify_pending": True}),
        )
        call("keyed", memory.record("Order 4711 was shipped with DHL.", ANN, key="message-17"))
        call("keyed", memory.record("Order 4711 was shipped with UPS.", ANN, key="message-17"))
        call(
            "quarantine-only",
            memory.log_quarantine(
                "Draft: discount of ten percent for schools.", BOB, {"draft": True}
            ),
        )
        call("ungroup-1", memory.record("The backup runs at 02:30 every night.", ANN))
        call("ungroup-2", memory.record("The backup runs at 02:30 every night.", BOB))
        memory.ungroup(self.id_of("ungroup-2"), SHOP)
        call("rejected", memory.record("Customers never read the newsletter.", BOB))
        memory.reject(self.id_of("rejected"), SHOP, by="carol", reason="an opinion, 不是事实")
        call(
            "proposed",
            memory.propose("The returns window is thirty days.", SHOP, by="agent:helper"),
        )
        memory.propose(self.id_of("proposed"), SHOP, by="bob")
        call(
            "several-statements",
            memory.record(
                "Facts of the day:\n- The loading ramp of gate 7 is broken.\n- Maria leads the night shift since January.\n- Pallets are counted on Fridays.",
                ANN,
            ),
        )
        insights = [
            one
            for one in memory.digest(SHOP, since=START).insights
            if self.id_of("several-statements") in one.entry_ids
        ]
        by_text = {one.summary: one for one in insights}
        ramp = next(one for text, one in by_text.items() if "ramp" in text)
        pallets = next(one for text, one in by_text.items() if "Pallets" in text)
        call("memory-ramp", memory.promote(ramp, by="carol"))
        memory.reject(pallets, by="carol", reason="known already")
        call(
            "imported",
            memory.import_bundle(self._bundle(), SHOP, name="branch-west")
            and self._imported(memory),
        )
        entry = call(
            "checked-entry", memory.record("The mobile app needs iOS 17 or later.", ANN)
        ).entry
        memory.attach_verdict(
            entry,
            Verdict(
                verified=False,
                confidence=0.9,
                issues=("the page says iOS 16", "no source"),
                by="fact_check",
                at=self.clock(),
            ),
            SHOP,
        )
        call("without-group", memory.record("What has no group stays in quarantine.", NOBODY))

    def _promote(self, memory: Any) -> None:
        """Long-term memory: texts, entries, chunks, subjects, chains, several promotions."""
        call = self.call
        entry = call(
            "promoted-entry", memory.record("Refunds above 200 euros need two signatures.", ANN)
        ).entry
        call(
            "memory-refund",
            memory.promote(
                entry,
                by="carol",
                subject="Refund Limit",
                metadata={"source": "handbook", "page": 12},
            ),
        )
        call(
            "memory-refund-2",
            memory.supersede(
                self.id_of("memory-refund"),
                "Refunds above 300 euros need two signatures.",
                SHOP,
                by="carol",
            ),
        )
        self.clock.forward(hours=1)
        call(
            "memory-refund-3",
            memory.promote(
                "Refunds above 400 euros need two signatures.",
                SHOP,
                by="dora",
                subject="  refund   LIMIT ",
            ),
        )
        call(
            "memory-refund-agent",
            memory.promote(
                "Refunds above 900 euros need two signatures.",
                SHOP,
                by="agent:helper",
                subject="refund LIMIT",
            ),
        )
        call(
            "memory-language",
            memory.promote(
                "The shop answers in German and French.",
                SHOP,
                by="carol",
                subject="语言 und Sprache",
            ),
        )
        call(
            "memory-parcel",
            memory.promote(
                "Parcels go with the Blue Line.",
                SHOP,
                by="bob",
                subject="parcel service",
                valid_from=START - timedelta(days=300),
            ),
        )
        call(
            "memory-future",
            memory.promote(
                "From May on parcels go with Norda Express.",
                SHOP,
                by="carol",
                subject="parcel service",
                valid_from=NOW + timedelta(days=80),
            ),
        )
        call(
            "memory-own",
            memory.promote(
                "Long answers lost the reader twice.", SHOP, by="carol", agent_id="helper"
            ),
        )
        call(
            "memory-other-agent",
            memory.promote(
                "Search results older than a year were wrong.",
                SHOP,
                by="carol",
                agent_id="researcher",
            ),
        )
        text = "\n\n".join(
            f"Chapter {n}. The storage rule number {n} of the depot says that shelf {n * 3} holds goods of class {chr(64 + n)}, and that whoever takes the last box from it tells the office on the same day. "
            * 2
            for n in range(1, 5)
        )
        call("memory-chunks", memory.promote(text, SHOP, by="carol", metadata={"file": "depot.md"}))
        entries = [
            call(
                f"ground-{name}", memory.record("The alarm code is changed each quarter.", scope)
            ).entry
            for name, scope in (("ann", ANN), ("bob", BOB))
        ]
        call("memory-grounds", memory.promote(entries[0], by="carol"))
        call("memory-grounds", memory.promote(entries[1], by="dora"))
        call(
            "memory-grounds",
            memory.promote("The alarm code is changed each quarter.", SHOP, by="eve"),
        )
        first = call(
            "memory-checked",
            memory.promote("Invoices are due within fourteen days.", SHOP, by="carol"),
        ).memories[0]
        memory.attach_verdict(
            first, Verdict(verified=True, confidence=1.0, by="fact_check", at=self.clock()), SHOP
        )
        call("memory-tool", memory.promote(self.id_of("pending-tool"), SHOP, by="carol"))
        self.first.failing = ("Unembedded",)
        call(
            "memory-unembedded",
            memory.promote("Unembedded: the cellar key hangs behind the door.", SHOP, by="carol"),
        )
        for number, text in enumerate(ODD_TEXTS):
            call(f"odd-entry-{number}", memory.record(text, ANN))
            call(
                f"memory-odd-{number}",
                memory.promote(text, SHOP, by="carol", metadata={"odd": text}),
            )

    def _take_back(self, memory: Any) -> None:
        """Revocations: one, several, put back, by origin, of one of several promotions."""
        call = self.call
        call("revoked-source", memory.record("The coupon SPRING gives fifty percent.", BOB))
        call("memory-coupon", memory.promote(self.id_of("revoked-source"), SHOP, by="bob"))
        call(
            "made-of-coupon",
            memory.record(
                "Customers with SPRING pay half.",
                BOB,
                provenance=Provenance(
                    Origin("agent", "researcher"), (self.id_of("memory-coupon"),)
                ),
            ),
        )
        call(
            "receipt-coupon",
            memory.revoke(self.id_of("revoked-source"), SHOP, by="carol", reason="it was a joke"),
        )
        self.clock.forward(minutes=7)
        call(
            "receipt-coupon-2",
            memory.revoke(self.id_of("memory-coupon"), SHOP, by="dora", reason="twice is better"),
        )
        call("restored-source", memory.record("The lift is inspected in June.", ANN))
        call("memory-lift", memory.promote(self.id_of("restored-source"), SHOP, by="bob"))
        receipt = call("receipt-lift", memory.revoke(self.id_of("memory-lift"), SHOP, by="carol"))
        memory.restore(receipt, by="dora")
        call(
            "receipt-ground",
            memory.revoke(self.id_of("ground-ann"), SHOP, by="carol", reason="Ann was not sure"),
        )
        call("mistaken", memory.record("The fire drill is on Monday.", ANN))
        call("receipt-mistaken", memory.mark_invalid(self.id_of("mistaken"), SHOP, by="carol"))
        call(
            "outside",
            memory.record(
                "A blog says the tariff is free on Sundays.",
                BOB,
                role="tool",
                provenance=Provenance(Origin("tool", "blog reader")),
            ),
        )
        call(
            "receipt-origin",
            memory.revoke(Origin("tool", "blog reader"), SHOP, by="carol", reason="not a source"),
        )
        call(
            "memory-successor",
            memory.promote("The canteen opens at eleven.", SHOP, by="carol", subject="Canteen"),
        )
        call(
            "memory-successor-2",
            memory.promote("The canteen opens at noon.", SHOP, by="carol", subject="canteen"),
        )
        call("receipt-successor", memory.revoke(self.id_of("memory-successor-2"), SHOP, by="dora"))
        call(
            "receipt-successor-2",
            memory.revoke(
                self.id_of("memory-refund-2"), SHOP, by="dora", reason="in the middle of a chain"
            ),
        )
        call("to-forget", memory.record("The door code is four three two one.", BOB))
        call("memory-to-forget", memory.promote(self.id_of("to-forget"), SHOP, by="bob"))
        call(
            "receipt-forgotten",
            memory.forget(
                SHOP, ids=[self.id_of("to-forget")], by="carol", reason="asked for by Bob"
            ),
        )

    def _echo_and_refuse(self, memory: Any) -> None:
        """Echoes of what was shown, repeats of what was there, and what filters refuse."""
        shown = memory.retrieve("When are invoices due?", BOB)
        memory.note_shown([one.id for one in shown], BOB, tokens=321)
        self.call("echo", memory.record("Invoices are due within fourteen days.", BOB, shown=shown))
        self.call(
            "duplicate", memory.record("The supplier Norda delivers on Tuesdays before noon.", BOB)
        )
        self.call(
            "made-of-shown",
            memory.record(
                "As invoices are due within fourteen days, remind customers after ten.",
                BOB,
                shown=shown,
            ),
        )
        self.call("says-nothing", memory.record("ok", BOB))
        for attempt in ("\x00", "x" * 1_000_001):
            try:
                self.call("blank", memory.record(attempt, BOB))
            except EntryRefused:
                continue
        try:
            memory.promote(self.id_of("rejected"), SHOP, by="bob")
        except PromotionRefused:
            return
        raise AssertionError("a rejected entry was promoted")

    def _other_tenants(self, memory: Any) -> None:
        """The same texts elsewhere: nothing of it may come to anybody else."""
        for number, scope in enumerate((ACME_SHOP, ACME_OPS, ODD)):
            entry = self.call(
                f"other-{number}-entry",
                memory.record("Refunds above 50 euros need a manager.", scope),
            ).entry
            self.call(
                f"other-{number}-memory", memory.promote(entry, by="carol", subject="Refund limit")
            )
            self.call(
                f"other-{number}-waits",
                memory.record(
                    f"Tenant {number} keeps its stock list in a table.", scope, key="message-17"
                ),
            )

    def _today(self, memory: Any) -> None:
        """What is still in working memory when the data is read."""
        for number, scope in enumerate((ANN, BOB, ACME_OPS, ODD)):
            self.call(
                f"today-{number}",
                memory.record(
                    f"Today the queue at counter {number + 3} was long.", scope, {"n": number}
                ),
            )
        receipt = self.call(
            "today-revoked", memory.record("Today the till was short of coins.", ANN)
        ).entry
        self.call("receipt-today", memory.revoke(receipt, SHOP, by="carol"))

    def _interrupted_reindex(self, **options: Any) -> None:
        """A change of the model that broke off after two batches: vectors in two spaces."""

        def progress(done: int) -> None:
            if done >= 10:
                raise KeyboardInterrupt

        options |= {"embeddings": self.second, "limits": TierLimits(embed_batch=5)}
        with (
            self._opened(embedding_space="second", **options) as memory,
            suppress(KeyboardInterrupt),
        ):
            memory.reindex(on_progress=progress)
            raise AssertionError("the reindexing was to break off")

    # Help.

    def id_of(self, label: str) -> str:
        """Return the id that has a label."""
        return next(id_ for id_, name in self.labels.items() if name == label)

    def _bundle(self) -> list[str]:
        other = TieredMemory.open("memory://", clock=self.clock, new_id=new_ids())
        other.record(
            "The west branch is open on Sundays.", MemoryScope(group_id="west", user_id="zoe")
        )
        lines = other.export("west")
        other.close()
        return lines

    @staticmethod
    def _imported(memory: Any) -> Any:
        return next(
            one.record
            for one in memory.list(SHOP, tier="quarantine", limit=50).items
            if "west branch" in one.content
        )


ODD_TEXTS = (
    "A NUL \x00 stands in this text about crates.",
    "Half a character \ud83d stands in this text about barrels.",
    "订单数据保存在PostgreSQL数据库里，备份保留九十天。",
    "🎉👩‍👩‍👧 The party is on the roof 🏠 at 19:00; İstanbul, ﬁne, Straße, e\u0301te\u0301.",
    "Tabs\tand\r\nline ends\u2028and \u202eright to left\u202c and a zero\u200bwidth blank.",
    "SELECT * FROM record WHERE content LIKE '%_\\%' -- \"quoted\" {braces} |pipes|",
    "مرحبا بالعالم: الطلبات في المستودع الثاني.",
)
"""Texts that stores have lost or changed before."""
