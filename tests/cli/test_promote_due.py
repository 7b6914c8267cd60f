"""`promote --due`: what the policy of the configuration accepts without a decision."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope

ANN = MemoryScope(group_id="shop", user_id="ann")
METRIC = "I prefer metric units."


def configured(shop, policy):
    config = {"scope": {"group_id": "shop"}, "policy": policy}
    (shop / "memoryware.json").write_text(json.dumps(config))


def test_it_promotes_what_is_due_and_says_when_there_is_nothing(cli, shop, memory):
    configured(shop, {"recipe": "trusted_users"})
    memory.record(METRIC, ANN, role="user")
    memory.record("The deploy server is db2.", ANN, role="user")
    assert cli("promote", "--due").code == 0
    assert cli("promote", "--due").out == "Nothing is due.\n"
    assert [item.content for item in memory.list("shop", tier="longterm").items] == [METRIC]
    assert json.loads(cli("promote", "--due", "--json").out)["promotions"] == []


def test_a_text_waits_as_many_days_as_the_configuration_says(cli, shop, memory):
    configured(shop, {"recipe": "automatic", "after_days": 7})
    memory.record("The deploy server is db2.", "shop")
    assert cli("promote", "--due").out == "Nothing is due.\n"
    configured(shop, {"recipe": "automatic", "after_days": 0, "min_trust": "unverified"})
    assert cli("promote", "--due").out.startswith("Promoted")


@pytest.mark.parametrize("arguments", [(), ("abcd1234", "--due")])
def test_it_takes_an_id_or_due(cli, shop, memory, arguments):
    ran = cli("promote", *arguments)
    assert (ran.code, "either the IDs" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"recipe": "all"}, "must be one of reviewed"),
        ({"recipe": ["automatic"]}, "must be one of reviewed"),
        ({"after_days": 1}, "promotes nothing without a decision"),
        ({"recipe": "automatic", "after_days": "1"}, "number of days"),
        ({"recipe": "automatic", "after_days": -1}, "promotes_after"),
        ({"recipe": "automatic", "approval": True}, "need a person"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(cli, shop, memory, policy, message):
    configured(shop, policy)
    ran = cli("promote", "--due")
    assert (ran.code, message in ran.err) == (3, True), ran.err
