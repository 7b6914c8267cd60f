"""What a search by words finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoryware.testing._documents import document
from memoryware.testing._guarded import Door
from memoryware.testing._tiers import (
    ACME,
    NEIGHBOURS,
    Asked,
    OpenStore,
    TierSuite,
    later,
    within,
)
from memoryware.tiers.model import Origin, Provenance
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import words_of


async def by_words(
    store: Asked, text: str, which: Select | None = None, limit: int = 10
) -> list[str]:
    """Return what is found by the words of a text, best first."""
    hits = await store.by_words(words_of(text), which or within(), limit=limit)
    return [hit.memory.content for hit in hits]


class WordsConformance(TierSuite):
    """What `by_words` does."""

    async def test_words_are_those_of_the_library(self, store: Asked) -> None:
        texts = [
            "\u6570\u636e\u5e93\u7528\u7684\u662fPostgreSQL",
            "M\u00fcller & S\u00f6hne",
            "id x_17-b",
            "C'est \u00e7a",
        ]
        for text in texts:
            await store.add(document(text))
        for query, text in zip(("\u6570\u636e\u5e93", "muller", "X_17", "est"), texts, strict=True):
            assert text in await by_words(store, query)

    @pytest.mark.parametrize(
        "query", ['"', "tea OR", "NOT tea", "tea*", "NEAR(tea)", "-tea", "a:b", "'", "^tea"]
    )
    async def test_no_query_is_a_language(self, store: Asked, query: str) -> None:
        await store.add(document("tea"))
        assert set(await by_words(store, query)) <= {"tea"}
        hits = await store.by_words([query, "tea"], within(), limit=5)
        assert [hit.memory.content for hit in hits] == ["tea"]

    async def test_words_are_found_in_their_group_only(self, store: Asked) -> None:
        for place, scope in enumerate(NEIGHBOURS):
            await store.add(document(f"tea {place}", scope=scope))
        found = {scope: await by_words(store, "tea", within(scope)) for scope in NEIGHBOURS}
        assert found == {scope: [f"tea {place}"] for place, scope in enumerate(NEIGHBOURS)}

    async def test_scores_of_a_group_do_not_depend_on_others(self, store: Asked) -> None:
        for text in ("rare word", "common word", "common talk"):
            await store.add(document(text))
        before = await store.by_words(["rare", "common"], within(), limit=5)
        for n in range(9):
            text = f"rare rare {n} and many words"
            await store.add(document(text, scope=replace(ACME, group_id=f"acme{n}")))
            await store.add(document(text, scope=replace(ACME, tenant=f"t{n}")))
        after = await store.by_words(["rare", "common"], within(), limit=5)
        values = [hit.value for hit in before]
        assert [hit.memory for hit in after] == [hit.memory for hit in before]
        assert [hit.value for hit in after] == pytest.approx(values)

    async def test_what_was_deleted_does_not_count_anymore(self, store: Asked) -> None:
        for text in ("rare word", "common word", "common talk"):
            await store.add(document(text))
        before = await store.by_words(["rare", "common"], within(), limit=5)
        for n in range(9):
            (one,) = document(f"rare rare {n} and many words")
            await store.add([one])
            await store.edit(within(ids=(one.id,)), lambda old: replace(old, content="rare again"))
            await store.delete(within(ids=(one.id,)))
        after = await store.by_words(["rare", "common"], within(), limit=5)
        assert [hit.memory for hit in after] == [hit.memory for hit in before]
        assert [hit.value for hit in after] == pytest.approx([hit.value for hit in before])

    async def test_words_keep_to_every_condition(self, store: Asked) -> None:
        made = Provenance(Origin("tool", "x"), ("e1",))
        scope = replace(ACME, user_id="bob", session_id="s2")
        known: dict[str, dict[str, Any]] = {
            "plain tea": {},
            "bob's tea": {"scope": scope, "provenance": made, "subject": "s"},
            "agent's tea": {"agent": "a", "created_at": later(days=2)},
            "revoked tea": {"revocation": "r"},
            "old tea": {"valid_to": later(hours=1)},
        }
        kept = {text: document(text, **more)[0] for text, more in known.items()}
        for one in kept.values():
            await store.add([one])
        live = {"plain tea", "bob's tea", "agent's tea"}
        cases: tuple[tuple[dict[str, Any], set[str]], ...] = (
            ({"live_at": later(hours=1)}, live),
            ({"users": ("bob",)}, {"bob's tea"}),
            ({"sessions": ("s2",), "subjects": ("s",)}, {"bob's tea"}),
            ({"agents": (None,)}, {*known} - {"agent's tea"}),
            ({"agents": ("a",), "since": later(days=2)}, {"agent's tea"}),
            ({"before": later(days=2), "revocations": (None,), "contains": "OLD"}, {"old tea"}),
            ({"root": "tool:x", "made_of": ("e1",)}, {"bob's tea"}),
            ({"ids": (kept["old tea"].id,)}, {"old tea"}),
            ({"documents": (kept["old tea"].document_id, "x")}, {"old tea"}),
            ({"hashes": (kept["plain tea"].content_hash,)}, {"plain tea"}),
            ({"groups": ()}, set()),
            ({"users": ()}, set()),
            ({"statuses": ("pending",)}, set()),
        )
        for conditions, wanted in cases:
            which = within().also(**conditions)
            assert {*await by_words(store, "tea", which)} == wanted, conditions

    async def test_what_is_found_is_the_record_as_it_is_now(self, store: Asked) -> None:
        (one,) = document("green tea")
        await store.add([one])
        new = replace(one, subject="s", metadata={"seen": 1})
        await store.edit(within(), lambda _: new)
        assert [hit.memory for hit in await store.by_words(["tea"], within(), limit=5)] == [new]

    async def test_words_are_there_when_the_store_is_opened_again(
        self, opened: OpenStore, door: Door
    ) -> None:
        first = Asked(opened(), door, self.deadline)
        await first.add(document("green tea", "black coffee"))
        await first.close()
        again = Asked(opened(), door, self.deadline)
        assert await by_words(again, "tea") == (["green tea"] if self.persistent else [])
