"""The first page."""

import re
from dataclasses import replace
from typing import get_args

from counting import counted_statements
from inspector.rig import FACT, OTHER, SCOPE, WEB, decide, opened, record
from limits import limited
from memoryware.cli.browse import ListState
from memoryware.inspector._words import TRUST, state_label
from memoryware.settings import InspectorLimits
from memoryware.tiers import Trust, Verdict
from memoryware.tiers.audit import ACT_KINDS
from memoryware.tiers.listing import RecordState
from memoryware.tiers.model import Status
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.wording import REFUSED, verdict_label


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


def test_every_page_shows_the_same_number_of_what_waits(memory):
    ids = [record(memory, text) for text in (FACT, OTHER)]
    client = opened(memory)

    def numbers(page):
        title = re.search(r"<title>(?:Rejected[^<]*? · )?(?:\((\d+)\) )?", page)[1]
        badge = re.search(r'class="badge">(\d+)<', page)
        return title, badge and badge[1]

    paths = ["/", "/review", "/memories", "/memories?q=server", "/sessions", "/audit", "/nowhere"]
    paths += [f"/memories/one?id={ids[0]}", "/origins?of=agent:"]
    assert {numbers(client.get(path).text) for path in paths} == {("2", "2")}
    answer = decide(client, "reject", client.get("/review").text)
    assert {numbers(page) for page in (answer.text, client.get("/").text)} == {("1", "1")}
    decide(client, "reject", answer.text)
    assert {numbers(client.get(path).text) for path in paths} == {(None, None)}


def test_the_number_is_counted_once_for_several_pages(memory):
    record(memory, FACT)
    client = opened(memory)
    client.get("/")
    with counted_statements() as counted:
        client.get("/groups")
    assert counted.count == 0


def test_states_have_the_names_of_the_api_and_of_the_command_line(memory):
    assert [state_label(state.value) for state in ListState] == [*get_args(RecordState)]
    undecided, promoted = (memory.record(text, SCOPE).entry.id for text in (FACT, OTHER))
    made = memory.promote(promoted, SCOPE, by="ann").ids[0]
    client = opened(memory)
    tags = lambda **query: re.findall(
        r'class="tag status-(\w+)">([^<]+)<', client.get("/memories", params=query).text
    )
    assert tags(tier="quarantine") == [("promoted", "promoted"), ("pending", "pending")]
    assert tags(tier="long_term") == [("current", "current")]
    assert tags(tier="working") == []  # its copy has no decision, whatever became of the entry
    page = client.get("/memories/one", params={"id": made}).text
    assert "Promoted by" in page
    assert "Derived from" in page
    page = client.get("/memories/one", params={"id": undecided, "tier": "working"}).text
    assert "status-pending" not in page


def test_no_word_stands_for_two_things(memory):
    """A verdict is about truth, a trust about the source, a state about the decision."""
    codes = {*get_args(Status), *get_args(RecordState), *ACT_KINDS}
    states = {code: state_label(code) for code in codes}
    labels = [*states.values(), *TRUST.values(), *REFUSED.values()]
    labels += [verdict_label(verified=verified) for verified in (True, False)]
    assert len(set(labels)) == len(labels)
    assert not any("verified" in label or "trusted" in label for label in labels)
    assert {level.name for level in TRUST} == {level.name for level in Trust}
    entry = memory.record(FACT, SCOPE, provenance=WEB).entry
    kept = memory.promote(OTHER, SCOPE, by="ann").ids[0]
    for id_ in (entry.id, kept):
        memory.attach_verdict(id_, Verdict(verified=True, by="checker"), SCOPE)
    client = opened(memory)
    for path in ("/review", f"/memories/one?id={entry.id}", "/audit"):
        page = client.get(path).text
        assert "confirmed" in page
        assert "verified" not in page.replace("trust-unverified", "").replace('"unverified"', "")
