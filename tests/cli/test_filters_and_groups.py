"""`list` with filters, `groups`, groups with near names, several ids for a verb, ids alone."""

from __future__ import annotations

import json
import subprocess

import pytest

from cli.running import COMMAND
from memoryware import MemoryScope
from memoryware.tiers.provenance import Origin, Provenance

SHOP = MemoryScope(group_id="shop")
WEB = Provenance(Origin("tool", "web"))


def said(cli, *args):
    """Run a command that prints JSON; return what it printed."""
    ran = cli(*args, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.fixture
def three(memory):
    """Three entries: of ann, of bo, and from the web."""
    scopes = [MemoryScope(group_id="shop", user_id=user) for user in ("ann", "bo", None)]
    texts = ("Of ann.", "Of bo.", "Of the web.")
    made = [None, None, WEB]
    return [
        memory.log_quarantine(text, scope, provenance=provenance).id
        for text, scope, provenance in zip(texts, scopes, made, strict=True)
    ]


def test_a_list_is_filtered_by_state_origin_user_and_time(cli, memory, three, monkeypatch):
    texts = lambda *args: [one["content"] for one in said(cli, "list", *args)["items"]]
    memory.reject(three[0], SHOP, by="ann")
    assert texts("--state", "rejected") == ["Of ann."]
    assert texts("--state", "pending") == ["Of the web.", "Of bo."]
    assert texts("-u", "bo") == ["Of bo."]
    assert texts("-o", "tool") == texts("--origin", "tool:web") == ["Of the web."]
    assert texts("-t", "long-term") == []
    assert len(texts("--since", "1h")) == 3
    assert texts("--before", "1h") == texts("--since", "2099-01-01") == []
    monkeypatch.setenv("MEMORYWARE_USER", "bo")  # says who asks, and narrows nothing
    assert len(texts()) == 3
    assert said(cli, "digest", "-u", "bo")["total"] == 1
    assert cli("list", "--state", "unknown").code == 2


def test_ids_alone_are_for_other_commands(cli, three):
    assert cli("list", "-q").out.split() == three[::-1]
    assert cli("list", "-q", "-u", "bo").out == f"{three[1]}\n"
    assert cli("reject", "-q", *three[:2]).out.split() == three[:2]
    made = cli("promote", "-q", three[2]).out.split()
    assert cli("search", "-q", "web").out.split() == made
    assert cli("digest", "-q").out == ""
    receipt = cli("revoke", "-q", "-y", *made).out.strip()
    assert cli("restore", receipt).code == 0
    assert len(cli("add", "-q", "Another one.").out.strip()) == 32


@pytest.mark.slow
def test_ids_alone_go_through_a_pipe(shop, memory, three):
    command = " ".join(COMMAND)
    script = f"{command} list -q -u bo | xargs {command} reject"
    ran = subprocess.run(["bash", "-c", script], cwd=shop, capture_output=True, text=True)
    assert ran.stdout == f"Rejected: {three[1][:8]}\n"


# Several ids.


def test_several_ids_are_decided_together(cli, memory, three):
    assert [one["tier"] for one in said(cli, "show", *three)["items"]] == ["quarantine"] * 3
    done = said(cli, "promote", *(id_[:8] for id_ in three[:2]))["promotions"]
    assert len(done) == 2
    receipt = said(cli, "revoke", *three, "--yes")
    assert receipt["counts"]["total"] == 5
    assert memory.list(SHOP, state="revoked").total == 5
    assert said(cli, "restore", receipt["id"])["total"] == 5
    alone = [said(cli, "revoke", id_, "--alone", "--yes")["id"] for id_ in three]
    assert said(cli, "restore", *alone)["total"] == 3


@pytest.mark.parametrize(
    "verb", ["promote", "propose", "reject", "reopen", "revoke", "forget", "show"]
)
def test_a_wrong_id_among_several_changes_nothing(cli, memory, three, verb):
    options = ["--yes"] if verb in ("revoke", "forget") else []
    ran = cli(verb, three[0], "0" * 32, three[1], *options)
    assert (ran.code, ran.out) == (4, "")
    assert {line.status for line in memory.list(SHOP)} == {"pending"}
    assert memory.list(SHOP).total == 3


def test_what_may_not_be_done_to_one_is_done_to_none(cli, memory, three):
    memory.reject(three[1], SHOP, by="bo")
    assert cli("promote", *three).code == 4
    assert memory.list(SHOP, tier="long_term").total == 0
    memory.promote(three[2], SHOP, by="ann")
    assert cli("reject", three[0], three[2]).code == 4
    assert memory.get(three[0], SHOP).status == "pending"
    assert cli("promote", three[0], three[2], "--subject", "x").code == 2


# Groups.


def test_groups_are_listed_with_their_counts(cli, memory, three):
    memory.promote("The till opens at nine.", MemoryScope(group_id="office"), by="ann")
    memory.log_quarantine("Of others.", MemoryScope(tenant="acme", group_id="shop"))
    memory.log_quarantine("Of nobody.", MemoryScope())
    rows = {
        line.split()[0]: line.split()[1:]
        for line in cli("groups").out.splitlines()[2:]
        if line.strip()
    }
    assert rows["shop"] == ["3", "3", "0", "0"]
    assert rows["office"] == ["0", "0", "0", "1"]
    assert rows["There"][:4] == ["is", "1", "group", "of"]
    items = said(cli, "groups", "--all-tenants")["items"]
    assert [(one["tenant"], one["group_id"]) for one in items] == [
        (None, None),
        (None, "office"),
        (None, "shop"),
        ("acme", "shop"),
    ]
    assert items[2]["waiting"] == items[2]["total"] == 3


@pytest.mark.parametrize("command", [("list",), ("search", "tea"), ("digest",)])
def test_a_wrong_group_names_near_ones(cli, memory, three, command):
    memory.log_quarantine("Of others.", MemoryScope(tenant="acme", group_id="market"))
    ran = cli(*command, "--group", "shpo")
    assert ran.code == 0
    assert "group 'shpo' has no records; did you mean 'shop'?" in ran.err
    assert "memoryware groups" in cli(*command, "--group", "zzz").err
    assert "tenant 'acme' has one" in cli(*command, "--group", "market").err
    assert "has no records" not in cli(*command).err
    assert json.loads(cli(*command, "--group", "shpo", "--json").out)["schema"] == 1
