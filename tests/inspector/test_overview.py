"""The first page."""

import re
from dataclasses import replace

from inspector.rig import FACT, OTHER, SCOPE, WEB, decide, opened, record
from limits import limited
from memoryware.settings import InspectorLimits
from memoryware.tiers.stores.protocol import Select


def figures(page):
    found = re.findall(r"<h2>([^<]+)</h2><p class=\"value\">([\d,]+)</p>", page)
    return {name: int(value.replace(",", "")) for name, value in found}


def test_an_empty_memory_says_what_will_be_here(memory):
    assert "Nothing is recorded yet" in opened(memory).get("/").text


def test_tiers_are_counted(memory):
    memory.promote(record(memory, FACT), SCOPE, by="ann")
    record(memory, OTHER, provenance=WEB)
    record(memory, "ok")
    page = opened(memory).get("/").text
    assert figures(page) == {
        "Long-term memory": 1,
        "Working memory": 2,
        "Quarantine": 3,
        "Waiting for a decision": 2,
    }
    assert "agent:" in page
    assert 'aria-label="Records over time"' in page


def test_junk_is_what_was_refused_or_rejected(memory):
    for text in (FACT, OTHER):
        record(memory, text)
    record(memory, "ok")
    memory.reject(
        record(memory, "The moon is made of green cheese, says the whole team."), SCOPE, by="ann"
    )
    page = opened(memory).get("/").text
    assert "<strong>50%</strong> of the newest 4 entries" in page
    assert "says nothing" in page
    assert "rejected by a reviewer" in page


def test_what_is_short_is_no_junk(memory):
    for text in ("Carl is allergic to peanuts.", "We deploy on Fridays.", "db2 is down."):
        record(memory, text)
    short = memory.record("Ann likes tea.", SCOPE).entry
    store = memory.parts.stores.quarantine
    store.edit(Select.within(SCOPE), lambda one: replace(one, refused="too_short"))
    assert memory.get(short.id, SCOPE).refused == "too_short"
    page = opened(memory).get("/").text
    assert "<strong>0%</strong> of the newest 4 entries" in page
    assert "too short" not in page.lower()


def test_figures_are_kept_for_a_moment_and_then_counted_anew(memory):
    record(memory, FACT)
    kept = opened(memory)
    never = opened(memory, limits=limited(InspectorLimits, kept_seconds=0))
    assert figures(kept.get("/").text)["Quarantine"] == 1
    assert figures(never.get("/").text)["Quarantine"] == 1
    memory.log_quarantine(OTHER, SCOPE)
    assert figures(kept.get("/").text)["Quarantine"] == 1
    assert figures(never.get("/").text)["Quarantine"] == 2


def test_a_decision_is_counted_at_once(memory):
    record(memory, FACT)
    client = opened(memory)
    assert figures(client.get("/").text)["Waiting for a decision"] == 1
    decide(client, "approve", client.get("/review").text)
    assert figures(client.get("/").text)["Waiting for a decision"] == 0
    assert figures(client.get("/").text)["Long-term memory"] == 1
