"""The same commands on servers: PostgreSQL, with working memory in Redis."""

from __future__ import annotations

import json

import pytest

from memoryware import MemoryScope
from servers import postgres

SHOP = MemoryScope(group_id="shop")


@pytest.mark.slow
def test_every_command_on_memory_works_on_servers(cli, memory, redis_url, monkeypatch):
    with postgres.schema_at(postgres.url()) as address:
        servers = f"{address} + {redis_url}"
        monkeypatch.setenv("MEMORYWARE_STORE", servers)
        asked = lambda *args: json.loads(done(*args, "--json"))

        def done(*args):
            ran = cli(*args)
            assert ran.code == 0, (args, ran)
            return ran.out

        memory.promote("We open at nine.", SHOP, by="ann")
        copy = ("copy", "sqlite:///memory.db", servers)
        assert asked(*copy, "--dry-run")["copied"]["total"] == 1
        assert asked(*copy)["same"]
        dry = asked(*copy, "--exact", "--dry-run")
        assert (dry["copied"]["total"], dry["surplus"]["total"]) == (0, 0)
        entry = asked("add", "We deploy on Fridays.")["id"]
        assert "We deploy on Fridays." in done("digest")
        assert asked("propose", entry[:8])["proposed"][0]["id"] == entry
        (made,) = asked("promote", entry[:8])["promotions"][0]["ids"]
        assert asked("list")["total"] == 3
        assert "why: has words" in done("search", "deploy", "--explain")
        assert entry in done("show", made)
        assert "Embedded" in done("reindex", "--embeddings", "local")
        receipt = asked("revoke", entry, "--yes")
        assert receipt["counts"]["total"] == 2
        assert done("search", "deploy") == "No results.\n"
        assert asked("restore", receipt["id"][:8])["total"] == 2
        newer = asked("supersede", made, "We deploy on Mondays.", "--yes")
        (newer,) = newer["promotions"][0]["ids"]
        assert asked("groups")["items"][0]["group_id"] == "shop"
        assert newer[:8] in done("search", "deploy")
        assert len(done("export").splitlines()) == 5
        checks = asked("doctor", "--embeddings", "local", "--ask-model")
        assert checks["well"], checks
        going = asked("forget", "--everything", "--dry-run")["records"]
        assert sorted(one["tier"] for one in going) == [*["long_term"] * 3, "quarantine"]
        assert asked("forget", "--everything", "--yes")["total"] == 4
        assert asked("list")["total"] == 0
