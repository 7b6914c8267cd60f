"""What an entry repeats of records that were read already, and what that costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from counting import walk
from memoryware import Guard, MemoryScope, Origin, Provenance, TieredMemory
from memoryware._caching import clear_caches
from memoryware.tiers.echo import (
    NO_REPETITION,
    Repetition,
    echo_query,
    is_compared,
    repetition_of,
)
from memoryware.tiers.entry import EntryOrigin, build_entry
from memoryware.tiers.filters import (
    MinLength,
    NearDuplicate,
    Passed,
    Refusal,
    check_filters,
    default_filters,
    waiting_filters,
)
from tiers.kit import HashEmbeddings

SCOPE = MemoryScope(tenant="acme", group_id="support", agent_id="helper")
ROADS = "The bridge at Selby is closed for lorries until the end of May."
TRAMS = "Trams between Dunmore and the harbour run every twelve minutes."
NO_TEXT: tuple[()] = ()


@pytest.fixture
def parts():
    with TieredMemory.open("memory://") as memory:
        yield memory.parts


def entry(parts, text, origin="agent", **metadata):
    made = EntryOrigin(provenance=Provenance(Origin(origin, "x")))
    return build_entry(parts, text, SCOPE, metadata, made)


def repeated(parts, text, recent=(), hits=(), shown=(), *, origin="agent", echo_chars=4000):
    return repetition_of(
        entry(parts, text, origin), recent, hits, frozenset(shown), echo_chars=echo_chars
    )


def test_an_agent_echoes_what_it_was_shown_and_duplicates_what_it_was_not(parts):
    hot, cold = entry(parts, ROADS), entry(parts, TRAMS)
    said = f"As I recall, {TRAMS}"
    assert repeated(parts, said, [hot], [cold], [cold.id]) == Repetition(echo_of=(cold.id,))
    assert repeated(parts, said, [hot], [cold], [hot.id]) == Repetition(duplicate_of=(cold.id,))
    assert repeated(parts, said, [hot], [cold]) == Repetition(duplicate_of=(cold.id,))
    assert repeated(parts, said, [hot]) == NO_REPETITION
    both = Repetition(echo_of=(hot.id, cold.id))
    assert repeated(parts, f"{ROADS} {TRAMS}", [hot], [cold], [hot.id, cold.id]) == both


def test_a_person_confirms_and_a_tool_is_not_compared(parts):
    hot = entry(parts, ROADS)
    for origin in ("user", "person"):
        assert repeated(parts, ROADS, [hot], shown=[hot.id], origin=origin) == Repetition(
            duplicate_of=(hot.id,)
        )
    for origin in ("tool", "file"):
        assert not is_compared(entry(parts, ROADS, origin))
        assert repeated(parts, ROADS, [hot], shown=[hot.id], origin=origin) == NO_REPETITION


def test_only_the_beginning_of_a_record_is_compared(parts):
    hot = entry(parts, f"{TRAMS} {ROADS}")
    assert repeated(parts, ROADS, [hot]).duplicate_of == (hot.id,)
    assert repeated(parts, ROADS, [hot], echo_chars=len(TRAMS)) == NO_REPETITION


@pytest.mark.parametrize(
    "news",
    [
        "The bridge at Selby is closed for lorries until the end of June.",
        "The bridge at Selby is not closed for lorries until the end of May.",
        "The bridge at Selby is closed for lorries until the end of May, says Mrs Okafor.",
        "1. The bridge at Selby is closed for 40 lorries until the end of May.",
        "Only the bridge at Selby is closed for lorries until the end of May.",
    ],
)
def test_a_word_that_no_record_has_makes_it_news(parts, news):
    assert repeated(parts, news, [entry(parts, ROADS)], [entry(parts, TRAMS)]) == NO_REPETITION


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("The shop is managed by Maria.", "Maria manages the shop."),
        ("Maria manages the shop.", "The shop is managed by Maria."),
        ("The archive is kept by Ana Silva.", "Ana Silva keeps the archive."),
        ("The report is copied by Tom.", "Tom copies the report."),
        ("If the lamp is red, then call Ana.", "Call Ana if the lamp is red."),
        ("The orders live in PostgreSQL.", "The orders are kept in PostgreSQL."),
        ("The door opens at nine. Keys are with Eve.", "1. The door opens at nine. 2. Keys are with Eve."),
        ("We have two cellars.", "I remember these 2 facts: we have two cellars."),
    ],
)  # fmt: skip
def test_other_forms_of_the_same_words_are_no_news(parts, shown, said):
    assert repeated(parts, said, [entry(parts, shown)]) != NO_REPETITION


def test_long_term_memory_is_asked_for_names_and_numbers_first():
    words = echo_query("The extraordinarily long-standing invoice 4711 belongs to Okafor.")
    assert {"4711", "okafor"} == {*words[:2]}
    assert len(echo_query(" ".join(f"word{number}" for number in range(500)))) == 64
    assert echo_query("...!") == []


def test_records_that_were_compared_before_are_not_prepared_again(parts):
    recent = [
        entry(parts, f"Ticket {number} of the Selby office waits for part {number * 7}.")
        for number in range(60)
    ]
    texts = [f"Ticket {number} of the Selby office waits." for number in (501, 502)]
    assert repeated(parts, texts[0], recent) == NO_REPETITION
    candidate = entry(parts, texts[1])
    calls = walk(lambda: repetition_of(candidate, recent, (), frozenset(), echo_chars=4000)).calls
    assert calls < 4 * len(recent)  # tokenizing one record is more than 20 calls


def scans(text: str, call: Callable[[], object]) -> int:
    """Count how often a text is scanned for secrets."""
    count = 0

    def hook(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code is Guard.scan.__code__:
            count += frame.f_locals["text"] == text

    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def test_a_text_is_scanned_for_secrets_once():
    clear_caches()
    with TieredMemory.open("memory://") as memory:
        assert scans(ROADS, lambda: memory.record(ROADS, SCOPE, {"confidence": 0.9})) == 1
        secret = f"{TRAMS} password=hunter2-Correct-Horse"
        for _ in range(2):
            kept = memory.log_quarantine(secret, SCOPE).content
            assert "[redacted: " in kept
            assert "hunter2" not in kept


def test_a_detector_of_the_application_sees_every_text(parts):
    seen = []

    def detector(text):
        seen.append(text)
        return [("badge", 0, 5)] if len(seen) > 1 and text == ROADS else []

    guard = Guard(on_secret="redact", detectors=[detector])
    entries = [entry(parts, ROADS) for _ in range(2)]
    for candidate in entries:
        assert check_filters(candidate, NO_TEXT, default_filters(guard=guard), guard) == Passed()
    assert seen.count(ROADS) >= 2


def test_filters_that_wait_are_told_from_those_that_do_not():
    class Custom:
        def check(self, entry, recent):
            return None

    custom, near = Custom(), NearDuplicate(HashEmbeddings())
    assert waiting_filters(default_filters()) == ()
    assert waiting_filters([*default_filters(), custom, MinLength(3), near]) == (custom, near)


def test_filters_that_do_not_wait_are_checked_without_a_memory(parts):
    other = entry(parts, ROADS)
    filters = default_filters()
    assert check_filters(entry(parts, TRAMS, confidence=0.9), [other], filters) == Passed()
    duplicate = check_filters(entry(parts, f"  {ROADS} "), [other], filters)
    assert (duplicate.reason, duplicate.same_as) == ("duplicate", other.id)
    assert check_filters(entry(parts, "Ok!"), [other], filters).reason == "no_content"
    pending = entry(parts, TRAMS, verify_pending=True)
    assert check_filters(pending, [other], filters).reason == "verify_pending"


def test_a_filter_that_fails_refuses_and_its_error_has_no_secret(parts, caplog):
    secret = "password=hunter2-Correct-Horse"

    def detector(text):
        raise ValueError(secret)

    failing = Guard(on_secret="redact", detectors=[detector])
    answer = check_filters(entry(parts, ROADS), (), default_filters(guard=failing), Guard())
    assert isinstance(answer, Refusal)
    assert answer.reason == "filter_failed"
    assert "hunter2" not in caplog.text
