"""Records as JSON: nothing is lost on the way there and back."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import for_all
from memoryware import MemoryScope
from memoryware.testing._store import NOON, entry
from memoryware.tiers.model import Entry, Memory, PendingPromotion, PromotionRecord, Verdict
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores._sql.dialect import flat, unflat
from memoryware.tiers.stores.codec import (
    entry_from_json,
    memory_from_json,
    record_to_json,
    record_to_text,
)

texts = st.text(max_size=8) | st.sampled_from(["\0", "\ud800", "\x01", "\x01\\u0000", "null", ""])
times = st.datetimes(timezones=st.just(UTC))
names = texts.map(lambda one: one.replace("\0", "").encode("utf-8", "replace").decode())
maybe_text, maybe_time = st.none() | texts, st.none() | times
many = st.lists(texts, max_size=3).map(tuple)
origins = st.builds(Origin, st.sampled_from(["person", "user", "agent", "tool", "import"]), names)
provenances = st.builds(Provenance, origins, many, st.lists(origins, max_size=3).map(tuple))
verdicts = st.builds(
    Verdict,
    verified=st.booleans(),
    confidence=st.floats(0, 1),
    issues=many,
    by=names,
    at=maybe_time,
)
metadata = st.dictionaries(
    texts, st.recursive(st.none() | st.booleans() | st.integers() | texts, st.lists), max_size=3
)
scopes = st.builds(MemoryScope, **{part.name: st.none() | names for part in fields(MemoryScope)})
COMMON = {
    "id": texts,
    "scope": scopes,
    "content": texts,
    "created_at": times,
    "provenance": provenances,
    "metadata": metadata,
    "verdict": st.none() | verdicts,
    "revocation": maybe_text,
    "revocations": many,
}
ONLY_ENTRY = {
    "role": st.sampled_from(["agent", "fact_check", "tool"]),
    "key": maybe_text,
    "status": st.sampled_from(["pending", "proposed", "promoted", "rejected", "revoked"]),
    "refused": maybe_text,
    "echo_of": many,
    "duplicate_of": many,
    "proposed_by": maybe_text,
    "proposers": many,
    "waits": st.none()
    | st.builds(
        PendingPromotion, subject=texts, against=many, agent_id=maybe_text, valid_from=maybe_time
    ),
    "decided_by": maybe_text,
    "decided_at": maybe_time,
    "memory_ids": many,
    "expires_at": maybe_time,
    "decided": st.dictionaries(texts, st.sampled_from(["promoted", "rejected"]), max_size=3),
    "ungrouped": st.booleans(),
}
ONLY_MEMORY = {
    "document_id": texts,
    "promoted_by": texts,
    "chunk_index": st.integers(0, 9),
    "chunk_count": st.integers(1, 9),
    "content_hash": texts,
    "subject": maybe_text,
    "valid_from": times,
    "valid_to": maybe_time,
    "superseded_by": maybe_text,
    "further": st.lists(
        st.builds(
            PromotionRecord,
            scope=scopes,
            provenance=provenances,
            promoted_by=texts,
            promoted_at=times,
            revocations=many,
        ),
        max_size=2,
    ).map(tuple),
}
entries = st.builds(Entry, **COMMON, **ONLY_ENTRY)
memories = st.builds(Memory, **COMMON, **ONLY_MEMORY)


@pytest.mark.parametrize(("kind", "own"), [(Entry, ONLY_ENTRY), (Memory, ONLY_MEMORY)])
def test_every_field_of_a_record_is_tried_here(kind, own):
    assert {field.name for field in fields(kind)} == {*COMMON, *own}


@for_all(entries, examples=25, slow_examples=200)
def test_an_entry_comes_back_as_it_was(one):
    assert entry_from_json(json.loads(json.dumps(record_to_json(one)))) == one


@for_all(memories, examples=25, slow_examples=200)
def test_a_memory_comes_back_as_it_was(one):
    assert memory_from_json(json.loads(json.dumps(record_to_json(one)))) == one


@for_all(entries | memories, examples=25, slow_examples=200)
def test_a_record_as_text_is_the_same_without_its_content(one):
    data = record_to_json(one)
    del data["content"]
    assert json.loads(record_to_text(one)) == json.loads(json.dumps(data))
    assert record_to_text(one) == json.dumps(data, separators=(",", ":"))


def test_what_a_newer_version_adds_is_passed_over():
    data = record_to_json(entry("a text"))
    data |= {"mood": "good", "scope": {**data["scope"], "planet": "earth"}}
    assert entry_from_json(data).content == "a text"


def test_a_time_with_another_zone_stays_the_same_moment():
    one = entry(created_at=NOON + timedelta(microseconds=1))
    assert entry_from_json(record_to_json(one)).created_at == one.created_at


@given(texts, texts)
def test_a_flat_text_is_another_one_for_each_text(one, other):
    assert unflat(flat(one)) == one
    assert (flat(one) == flat(other)) == (one == other)
    flat(one).encode()
    assert "\0" not in flat(one)
