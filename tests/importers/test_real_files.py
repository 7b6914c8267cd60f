"""Files that the software of each system has written; files/README.md says how."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

import pytest

from importers.sources import FILES, records, refusals, texts
from memoryware.importers import SYSTEMS, detect_system

METRIC = "I prefer metric units in every answer."
SERVER = "Our deploy server is db2 and it may be restarted at night."
HAMBURG = "Ich wohne seit Mai in Hamburg und fahre mit dem Rad."
NOTED = "Noted: db2 is the deploy server."
RELEASE = """Before a release:
- bump the version
- write the changelog
```sh
# a comment, not a heading
make release
```"""
OF_FILE = {
    "mem0.json": "mem0",
    "mem0-qdrant": "mem0",
    "mem0-qdrant/history.db": "mem0",
    "qdrant-forms": "mem0",
    "langgraph-store.db": "langgraph",
    "mcp-memory.jsonl": "mcp",
    "basic-memory": "basic-memory",
    "letta.af": "letta",
    "agents-md": "agents-md",
}


@pytest.mark.parametrize("name", OF_FILE)
def test_each_file_is_recognised_as_that_of_its_system(name):
    assert detect_system(FILES / name) == OF_FILE[name]


def test_there_is_a_file_of_each_system_but_the_chats():
    assert {*OF_FILE.values()} | {"chatgpt", "claude"} == {*SYSTEMS}


def test_mem0_json_has_texts_users_times_and_metadata():
    server, noted, metric = records(FILES / "mem0.json")
    assert [server.text, noted.text, metric.text] == [SERVER, NOTED, METRIC]
    assert (server.user, server.agent, server.session) == ("ann", "helper", "r1")
    assert metric.said_at == datetime(2026, 11, 30, 6, 28, 46, 767297, UTC)
    assert metric.metadata["category"] == "preference"
    assert metric.id == "a2dad728-e42d-4530-86a1-69c2a247464a"


def test_the_qdrant_folder_of_mem0_has_the_same_records_as_its_json():
    of_folder = {record.id: record for record in records(FILES / "mem0-qdrant")}
    for record in records(FILES / "mem0.json"):
        twin = of_folder[record.id]
        assert (twin.text, twin.user, twin.said_at) == (record.text, record.user, record.said_at)
        assert twin.metadata == record.metadata
    assert len(of_folder) == 4  # one was deleted


def test_points_of_any_form_are_read_and_collections_of_entities_are_not():
    vectors, numbered, dated = records(FILES / "qdrant-forms")
    assert (vectors.text, vectors.said_at.isoformat()) == (
        "with sparse",
        "2025-11-01T10:00:00-08:00",
    )
    assert (numbered.id, numbered.text) == ("7", "int id and numpy")
    assert dated.metadata == {"n": 1.5, "when": "2026-01-01T00:00:00"}
    (refused,) = refusals(FILES / "qdrant-forms")
    assert "the field 'data' is missing or empty" in refused


def test_earlier_wordings_come_from_the_history_of_mem0():
    (bob,) = [record for record in records(FILES / "mem0-qdrant") if record.user == "bob"]
    assert bob.text == HAMBURG
    (previous,) = bob.metadata["previous"]
    assert previous["text"] == "Ich wohne in München und fahre mit dem Rad."


def test_the_history_of_mem0_alone_has_the_last_wordings_and_refuses_what_was_deleted():
    history = FILES / "mem0-qdrant" / "history.db"
    assert {*texts(history)} == {METRIC, SERVER, NOTED, HAMBURG}
    assert refusals(history) == ["history.db: was deleted in mem0"]


def test_reading_leaves_no_file_beside_a_database(tmp_path):
    folder = tmp_path / "mem0"
    shutil.copytree(FILES / "mem0-qdrant", folder)
    before = sorted(folder.rglob("*"))
    texts(folder)
    assert sorted(folder.rglob("*")) == before


def test_a_langgraph_store_has_users_of_langmem_and_values_without_a_text_field():
    by_id = {record.id: record for record in records(FILES / "langgraph-store.db")}
    assert by_id["memories/bob/m9"].text == "Bob cycles to work."
    assert by_id["memories/bob/m9"].user == "bob"
    assert by_id["profiles/ann/p1"].text == "name: Ann\nlanguages: en, de\nage: 41"
    assert by_id["memories/ann/x"].text == "Ann has a dog called Rex."
    assert by_id["memories/ann/x"].metadata["value"] == {"source": "chat"}
    assert by_id["app/cfg"].text == "theme: dark\nn: 3"
    assert {record.said_at.date().isoformat() for record in by_id.values()} == {"2026-11-30"}


def test_the_graph_of_the_mcp_server_is_sentences_with_the_names_they_are_about():
    assert texts(FILES / "mcp-memory.jsonl") == [
        "Ann Rossi: Prefers metric units",
        "Ann Rossi: Speaks German and Italian",
        "db2: May be restarted at night",
        "Shop: Invoices are sent on Mondays",
        "Shop: Öffnet um neun Uhr — täglich",
        "Ann Rossi works on Shop",
        "Shop is deployed on db2",
    ]


def test_notes_of_basic_memory_are_observations_relations_and_paragraphs():
    read = records(FILES / "basic-memory")
    assert [record.text for record in read] == [
        "Notes of Ann about coffee.",
        "Coffee Brewing: Pour over brings out more flavor than French press",
        "Coffee Brewing: Grind the beans right before brewing (learned from Bo)",
        "Coffee Brewing: Ann drinks coffee without sugar",
        "Coffee Brewing relates to Tea Brewing",
        "Coffee Brewing requires Burr Grinder (bought in May)",
        "We deploy on Fridays. The server is db2.",
    ]
    assert read[1].metadata["category"] == "method"
    assert read[1].metadata["tags"] == ["brewing", "coffee"]
    assert read[1].location == "coffee/Coffee Brewing.md, line 15"
    assert read[2].metadata["context"] == "learned from Bo"


def test_observations_may_have_tags_alone_and_clocks_tasks_and_links_are_none(tmp_path):
    (tmp_path / "tea.md").write_text(
        "---\ntitle: Tea\npermalink: tea\ncreated: 2026-05-01\ntags: [a, 'b c']\n---\n"
        "- is green #colour\n- [00:11] hello there\n- [x] buy tea\n- see [[Cups|the cups]]\n"
        '- "is kept in" [[Kitchen]]\n- a [[Link]] in a sentence\n- [fact]  two  blanks  \n'
    )
    read = records(tmp_path)
    assert [record.text for record in read] == [
        "Tea: is green",
        "[00:11] hello there",
        "[x] buy tea",
        "Tea see the cups",
        "Tea is kept in Kitchen",
        "a Link in a sentence",
        "Tea: two blanks",
    ]
    assert read[0].metadata["tags"] == ["colour"]
    assert read[1].metadata == {"title": "Tea", "file": "tea.md", "tags": ["a", "b c"]}
    assert {record.said_at.isoformat() for record in read} == {"2026-05-01T00:00:00+00:00"}


def test_the_memory_folder_of_letta_code_is_a_record_for_each_file(tmp_path):
    (tmp_path / "system").mkdir()
    (tmp_path / "MEMORY.md").write_text("The index.")
    front = "---\ndescription: About the person.\nlimit: 5000\n---\n"
    (tmp_path / "system" / "human.md").write_text(f"{front}Ann prefers metric units.\n")
    (tmp_path / "system" / "empty.md").write_text(front)
    assert detect_system(tmp_path) == "letta"
    index, human = records(tmp_path)
    assert (index.text, human.text) == ("The index.", "Ann prefers metric units.")
    assert human.metadata["description"] == "About the person."
    assert refusals(tmp_path) == ["system/empty.md: has no text"]


def test_the_memory_folder_of_claude_code_is_read_as_notes(tmp_path):
    (tmp_path / "MEMORY.md").write_text("- [Units](units.md): metric\n")
    (tmp_path / "units.md").write_text(
        "---\nname: Units\ntype: user\n---\nAnn prefers metric units.\n"
    )
    assert detect_system(tmp_path) == "agents-md"
    assert texts(tmp_path)[1] == "Ann prefers metric units."
    assert records(tmp_path)[1].metadata["name"] == "Units"


def test_an_agent_file_of_letta_has_the_blocks_of_its_agent():
    human, persona = records(FILES / "letta.af")
    assert human.text.startswith("First name: Ann\nPrefers metric units.")
    assert (human.agent, human.metadata["label"]) == ("shop-helper", "human")
    assert persona.id == "shop-helper:persona"
    (empty,) = refusals(FILES / "letta.af")
    assert "the field 'value' is missing or empty" in empty


def test_an_agent_file_within_a_json_text_is_read_as_well(tmp_path):
    twice = tmp_path / "agent.af"
    twice.write_text(json.dumps((FILES / "letta.af").read_text("utf-8")))
    assert texts(twice) == texts(FILES / "letta.af")


def test_older_agent_files_and_lists_of_passages_are_read(tmp_path):
    older = tmp_path / "old.af"
    block = {"label": "human", "value": "Name: Ann", "created_at": "2025-04-01T10:00:00+00:00"}
    older.write_text(
        json.dumps({"agent_type": "memgpt_agent", "core_memory": [block], "name": "sam"})
    )
    (record,) = records(older)
    assert (record.text, record.agent, record.said_at.year) == ("Name: Ann", "sam", 2025)
    passages = tmp_path / "passages.json"
    passage = {"id": "passage-1", "text": "Ann has a dog.", "archive_id": "a", "embedding": [0.1]}
    passages.write_text(json.dumps([passage]))
    (record,) = records(passages)
    assert (record.id, record.text) == ("passage-1", "Ann has a dog.")
    assert "embedding" not in record.metadata


def test_memory_files_are_split_by_headings_and_items():
    read = records(FILES / "agents-md")
    assert [record.text for record in read] == [
        "The shop is a web application of five services.",
        "Commands: `make test` runs all tests",
        "Commands: Deploys are done with:\n  - `make deploy` on Fridays\n  - `make rollback` at any time",
        "Read @docs/style.md before you write code.",
        "Style: Use two spaces in YAML.",
        "Style: Never commit secrets.",
        RELEASE,
        "Components are in `web/components`.",
        "Names of functions are verbs.",
    ]
    assert [record.id for record in read][-2:] == ["web/CLAUDE.md", "docs/style.md"]
    assert read[1].metadata == {"file": "AGENTS.md", "section": "Shop > Commands"}
    assert read[7].location == "web/CLAUDE.md, line 8"
