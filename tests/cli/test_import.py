"""`import` of memories of other systems."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from cli.test_guide import plain
from docs.pages import ROOT, blocks
from memoryware import MemoryScope

FILES = Path(__file__).parent.parent / "importers" / "files"
SHOP = MemoryScope(group_id="shop")


def test_memories_of_mem0_are_detected_and_come_into_quarantine(cli, shop, memory):
    ran = cli("import", FILES / "mem0.json")
    assert ran.code == 0
    assert (
        "Recorded 3 of 3 memories from mem0 in quarantine; 0 were there before, 0 refused."
        in ran.out
    )
    assert "To review: memoryware digest" in ran.out
    assert "To undo this: memoryware revoke --origin 'import:mem0'" in ran.out
    assert "I prefer metric units in every answer." in ran.out
    again = cli("import", FILES / "mem0.json", "--from", "mem0")
    assert "Recorded 0 of 3 memories from mem0 in quarantine; 3 were there before" in again.out
    assert "To undo" not in again.out
    assert cli("revoke", "--origin", "import:mem0", "--yes").code == 0


def test_a_dry_run_shows_the_first_texts_and_makes_no_file(cli, shop):
    ran = cli("import", FILES / "langgraph-store.db", "--from", "langmem", "--dry-run")
    assert ran.out.startswith("Would record 7 of 7 memories from langgraph in quarantine;")
    assert "... and 2 more." in ran.out
    assert not (shop / "memory.db").exists()


def test_the_user_option_is_for_memories_that_name_none(cli, shop, memory):
    assert cli("import", FILES / "mcp-memory.jsonl", "--user", "ann").code == 0
    assert {item.record.scope.user_id for item in memory.list(SHOP, limit=50).items} == {"ann"}


def test_a_namespace_of_a_store_is_imported_alone(cli, shop, memory):
    ran = cli("import", FILES / "langgraph-store.db", "--namespace", "memories/bob")
    assert "Recorded 2 of 2 memories" in ran.out
    assert cli("import", FILES / "mem0.json", "--namespace", "x").code == 2


def test_json_has_the_counts_and_the_refusals(cli, shop):
    report = json.loads(cli("import", FILES / "letta.af", "--json").out)
    assert (report["read"], report["recorded"], report["refused"]) == (3, 2, 1)
    assert report["origin"] == "import:letta"
    assert "the field 'value' is missing" in report["refusals"][0]["reason"]
    assert report["done"] is True
    dry = json.loads(cli("import", FILES / "letta.af", "--json", "--dry-run").out)
    assert (dry["recorded"], dry["existing"], dry["done"]) == (0, 2, False)


def test_standard_input_is_read(cli, shop, monkeypatch):
    def typed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    typed((FILES / "mcp-memory.jsonl").read_bytes())
    assert "Recorded 7 of 7 memories from mcp" in cli("import", "-").out
    typed(b"[2026-05-01] - Likes tea.\n")
    assert "Recorded 1 of 1 memories from chatgpt" in cli("import", "-", "--from", "chatgpt").out
    typed(b"{")
    ran = cli("import", "-", "--from", "mem0")
    assert (ran.code, "standard input, line 1: is not valid JSON" in ran.err) == (3, True)


def test_errors_name_the_file_and_what_to_do(cli, shop):
    (shop / "x.json").write_text('[\n{"id": 1, "memory": "a",}]')
    ran = cli("import", "x.json", "--from", "mem0")
    assert (ran.code, ran.out) == (3, "")
    assert "x.json, line 2: not valid JSON" in ran.err
    (shop / "y.txt").write_text("hello")
    ran = cli("import", "y.txt")
    assert ran.code == 3
    assert "y.txt: cannot be recognised; use --from: mem0, letta" in ran.err
    ran = cli("import", "y.txt", "--from", "zep")
    assert (ran.code, "--from zep: must be one of mem0" in ran.err) == (2, True)
    assert not (shop / "memory.db").exists()


@pytest.mark.parametrize("options", [(), ("--from", "memoryware"), ("--from", "bundle")])
def test_a_bundle_is_still_imported_and_has_a_dry_run(cli, shop, memory, options):
    memory.record("The office is in Rome.", SHOP)
    assert cli("export", "b.jsonl").code == 0
    dry = cli("import", "b.jsonl", "--group", "two", "--dry-run", *options)
    assert dry.out == "Would add 1 records to quarantine.\n"
    assert memory.list("two").total == 0
    assert "Added 1 records" in cli("import", "b.jsonl", "--group", "two", *options).out
    dry = cli("import", "b.jsonl", "--group", "two", "--dry-run", *options)
    assert dry.out == "Would add 0 records to quarantine; 1 were there before.\n"


def test_the_guide_shows_what_is_printed(cli, shop):
    page = ROOT / "docs" / "guides" / "importing.md"
    shown = [block for block in blocks(page) if block.language == "console"]
    (file,) = [block for block in blocks(page) if block.title == "mem0.json"]
    (shop / "mem0.json").write_text(file.text)
    sessions = "".join(block.text for block in shown).split("$ memoryware ")[1:]
    for session in sessions:
        command, _, output = session.partition("\n")
        assert plain(cli(*shlex.split(command)).out, shop) == plain(output, shop), command
    assert len(sessions) == 3
