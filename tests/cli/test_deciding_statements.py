"""Each line of `digest` has an id, and a decision by this id is about exactly what it shows."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.errors import PromotionRefused
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
HELPER = Provenance(Origin("agent", "helper"))
DUE, ALARM = "The invoices are due in 30 days.", "The alarm rings at 22:00."


def wait(memory, text, **more):
    return memory.log_quarantine(text, SHOP, provenance=HELPER, **more).id


def long_term(memory):
    return sorted(record.content for record in memory.list(SHOP, tier="longterm").items)


def lines(cli):
    """Return the id of each text that `digest` lists."""
    printed = cli("digest").out.splitlines()[:-1]
    return {
        text.strip(): head.split("  ")[0]
        for head, text in zip(printed[::2], printed[1::2], strict=True)
    }


def in_json(cli):
    page = json.loads(cli("digest", "--json").out)
    return {insight["summary"]: insight["id"] for insight in page["insights"]}


@pytest.mark.parametrize("listed", [lines, in_json])
def test_a_line_is_promoted_and_another_rejected_by_its_id(cli, memory, listed):
    entry = wait(memory, f"{DUE} {ALARM}")
    ids = listed(cli)
    assert set(ids) == {DUE, ALARM}
    assert ids[DUE] != ids[ALARM]
    assert cli("promote", ids[DUE]).code == 0
    assert long_term(memory) == [DUE]
    assert memory.get(entry, SHOP).status == "pending"
    assert lines(cli) == {ALARM: f"{entry[:8]}#2"}
    assert cli("reject", ids[ALARM], "--reason", "wrong").code == 0
    assert long_term(memory) == [DUE]
    assert memory.count_waiting(SHOP) == 0


@pytest.mark.parametrize("listed", [lines, in_json])
def test_courtesy_that_no_line_shows_is_not_promoted(cli, memory, listed):
    entry = wait(memory, "Sure! The orders are in PostgreSQL 16 on db2.")
    ((text, id_),) = listed(cli).items()
    assert cli("promote", id_).code == 0
    assert long_term(memory) == [text] == ["The orders are in PostgreSQL 16 on db2."]
    assert memory.get(entry, SHOP).status == "promoted"


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_entry_of_several_statements_is_promoted_only_as_a_whole_on_purpose(cli, memory, more):
    entry = wait(memory, f"{DUE} {ALARM}")
    refused = cli("promote", entry[:8], *more)
    assert (refused.code, refused.out) == (2, "")
    assert f"{entry[:8]}#1  {DUE}" in refused.err
    assert f"{entry[:8]}#2  {ALARM}" in refused.err
    assert "--whole" in refused.err
    assert long_term(memory) == []
    assert cli("promote", entry[:8], "--whole", *more).code == 0
    assert long_term(memory) == [f"{DUE} {ALARM}"]


def test_an_entry_of_one_statement_needs_no_option(cli, memory):
    entry = wait(memory, DUE)
    assert lines(cli) == {DUE: entry[:8]}
    assert cli("promote", entry).code == 0
    assert long_term(memory) == [DUE]


def test_the_beginning_of_an_id_is_enough_for_a_statement_and_a_group(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    both = [
        wait(memory, "The shop deploys on Fridays."),
        wait(memory, "On Fridays the shop deploys."),
    ]
    group = next(id_ for text, id_ in lines(cli).items() if "Fridays" in text)
    assert group not in both
    assert cli("promote", group[:10]).code == 0
    assert {memory.get(id_, SHOP).status for id_ in both} == {"promoted"}
    assert cli("promote", f"{entry[:8]}#2").code == 0
    assert ALARM in long_term(memory)
    assert DUE in cli("show", f"{entry[:8]}#1").out


def test_a_number_that_no_statement_has_is_refused_and_the_others_are_named(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    for number in ("0", "3", "9" * 30):
        for command in ("promote", "reject", "propose"):
            ran = cli(command, f"{entry}#{number}")
            assert ran.code == 4
            assert f"{entry[:8]}#2  {ALARM}" in ran.err
    assert cli("promote", f"{entry}#1", "--whole").code == 2
    assert long_term(memory) == []


def test_a_decision_about_a_statement_is_not_turned_round(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    shown = next(one for one in memory.digest(SHOP).insights if one.summary == DUE)
    cli("promote", f"{entry}#1")
    assert cli("reject", f"{entry}#1").code == 4
    assert cli("propose", f"{entry}#1").code == 4
    with pytest.raises(PromotionRefused, match="was promoted already"):
        memory.reject(shown, by="bo")  # read before it was promoted
    assert [*memory.get(entry, SHOP).decided.values()] == ["promoted"]
    cli("reject", f"{entry}#2")
    assert cli("promote", f"{entry}#2").code == 4
    assert long_term(memory) == [DUE]


def test_a_statement_is_proposed_alone(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    proposed = json.loads(cli("propose", f"{entry}#2", "--json").out)["proposed"]
    assert [record["content"] for record in proposed] == [ALARM]
    ids = lines(cli)
    assert set(ids) == {DUE, ALARM}
    assert cli("promote", ids[ALARM], "--by", "bo").code == 0
    assert set(lines(cli)) == {DUE}


def test_an_entry_of_which_one_line_is_left_still_asks_which(cli, memory):
    entry = wait(memory, f"{DUE} {ALARM}")
    cli("reject", f"{entry}#1")
    ran = cli("promote", entry)
    assert ran.code == 2
    assert f"{DUE}  (rejected)" in ran.err
    assert long_term(memory) == []


def test_an_id_that_ends_like_a_number_of_a_statement_is_still_an_id(cli, shop):
    with TieredMemory.open(f"sqlite:///{shop}/memory.db", new_id=lambda: "ticket#2") as memory:
        memory.log_quarantine(DUE, SHOP)
        assert cli("promote", "ticket#2").code == 0
        assert long_term(memory) == [DUE]


def test_review_names_every_key_that_decides(cli, memory, monkeypatch):
    wait(memory, DUE)
    prompt = cli("review").err
    for key in "aipresbqx?":
        assert f"[{key}]" in prompt


def test_a_line_says_that_it_shows_the_beginning_only(cli, memory):
    entry = wait(memory, f"The list of ports is {', '.join(map(str, range(8000, 8200)))}.")
    assert f"{entry[:8]}  trust unverified  agent:helper  the first 400 of" in cli("digest").out
    wait(memory, DUE)
    assert cli("digest").out.count("the first 400 of") == 1
