"""Data exports of ChatGPT and Claude, and lists of memories as text."""

from __future__ import annotations

import json
import zipfile

import pytest

from importers.sources import records, texts
from memoryware.errors import ImportRefused
from memoryware.importers import detect_system


def node(id_, content, role="assistant", recipient="all", time=1_714_560_000.0):
    message = {
        "id": id_,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": time,
        "content": content,
        "recipient": recipient,
        "metadata": {},
    }
    return {"id": id_, "message": message, "parent": None, "children": []}


def said(text):
    return {"content_type": "text", "parts": [text]}


def conversation(id_, *nodes, updated=1_714_560_100.0):
    return {
        "title": "Tea",
        "create_time": 1_714_560_000.0,
        "update_time": updated,
        "mapping": {"root": {"id": "root", "message": None}, **{one["id"]: one for one in nodes}},
        "conversation_id": id_,
    }


def shown(*facts, **more):
    listed = "\n".join(f"{n}. [2026-05-0{n}]. {fact}" for n, fact in enumerate(facts, 1))
    content = {"content_type": "model_editable_context", "model_set_context": listed}
    return node("shown", content | more)


OLDER = conversation(
    "c1",
    node("u1", said("I moved to Lisbon and prefer tea."), role="user"),
    node("b1", said("User lives in Lisbon.\n\nUser prefers tea."), recipient="bio"),
    node("b2", said("Model set context updated."), role="tool"),
    shown("Old list."),
)
NEWER = conversation(
    "c2",
    shown("User lives in Lisbon.", "User has a cat\n   called Tom."),
    node(
        "p1",
        {
            "content_type": "user_editable_context",
            "user_profile": "The user gave this profile:\n```I am a nurse.```",
            "user_instructions": "```Answer briefly.```",
        },
        role="user",
    ),
    updated=1_720_000_000.0,
)


def test_memories_of_chatgpt_come_from_its_conversations(tmp_path):
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([OLDER, NEWER, {"title": "x", "mapping": {}}]))
    assert detect_system(file) == "chatgpt"
    read = records(file)
    assert [record.text for record in read] == [
        "User lives in Lisbon.",
        "User prefers tea.",
        "User lives in Lisbon.",
        "User has a cat called Tom.",
        "I am a nurse.",
        "Answer briefly.",
    ]
    assert (read[0].session, read[0].said_at.isoformat()) == ("c1", "2024-05-01T10:40:00+00:00")
    assert read[3].said_at.date().isoformat() == "2026-05-02"
    assert read[4].metadata["kind"] == "custom instructions"


def test_custom_instructions_of_older_exports_are_in_the_metadata(tmp_path):
    message = node("p1", {"content_type": "user_editable_context"}, role="user")
    message["message"]["metadata"] = {
        "user_context_message_data": {
            "about_user_message": "I am a nurse.",
            "about_model_message": "",
        }
    }
    (tmp_path / "conversations.json").write_text(json.dumps([conversation("c1", message)]))
    assert texts(tmp_path) == ["I am a nurse."]


def test_the_zip_of_an_export_and_its_folder_are_the_same(tmp_path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html></html>")
        archive.writestr("conversations-000.json", json.dumps([OLDER]))
        archive.writestr("conversations-001.json", json.dumps([NEWER]))
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        archive.extractall(tmp_path / "export")
    assert detect_system(tmp_path / "export.zip") == "chatgpt"
    assert texts(tmp_path / "export.zip") == texts(tmp_path / "export")
    assert len(texts(tmp_path / "export")) == 6


CLAUDE = [
    {
        "conversations_memory": "**Work context**\n\nAnn is a nurse in Lisbon. She works at night.\n\n"
        "**Personal context**\n\n- Has a cat called Tom\n- Prefers tea\n",
        "project_memories": {"p-1": "Uses Python 3.13.", "p-2": ""},
        "account_uuid": "a-1",
    }
]


def test_memories_of_claude_are_split_into_statements(tmp_path):
    (tmp_path / "memories.json").write_text(json.dumps(CLAUDE))
    (tmp_path / "projects.json").write_text(json.dumps([{"uuid": "p-1", "name": "Roster"}]))
    (tmp_path / "conversations.json").write_text(json.dumps([{"uuid": "1", "chat_messages": []}]))
    assert detect_system(tmp_path) == "claude"
    read = records(tmp_path)
    assert [record.text for record in read] == [
        "Ann is a nurse in Lisbon. She works at night.",
        "Has a cat called Tom",
        "Prefers tea",
        "Uses Python 3.13.",
    ]
    assert read[1].metadata == {"section": "Personal context"}
    assert read[3].metadata == {"project": "p-1", "project_name": "Roster"}
    assert texts(tmp_path / "memories.json") == [record.text for record in read]


def test_newer_exports_of_claude_have_a_file_for_each_account(tmp_path):
    (tmp_path / "memories").mkdir()
    (tmp_path / "projects").mkdir()
    account = CLAUDE[0] | {"memory_files": [{"path": "tea.md", "content": "# Tea\n\n- Green tea"}]}
    (tmp_path / "memories" / "a-1.json").write_text(json.dumps(account))
    (tmp_path / "projects" / "p-1.json").write_text(json.dumps({"uuid": "p-1", "name": "Roster"}))
    assert detect_system(tmp_path) == "claude"
    assert texts(tmp_path)[-1] == "Green tea"


def test_an_export_without_memories_says_how_to_get_them(tmp_path):
    (tmp_path / "conversations.json").write_text(json.dumps([{"uuid": "1", "chat_messages": []}]))
    with pytest.raises(ImportRefused, match="ask Claude to list"):
        texts(tmp_path)


LIST = """```
## Instructions
[2026-05-01] - Always answer in metric units.
[unknown] - Never use emoji.

**Personal details:**
1. Lives in Lisbon
2. Has a cat
   called Tom
- [website](https://example.com) is hers
Prefers tea
```
"""


@pytest.mark.parametrize("system", ["chatgpt", "claude"])
def test_a_list_of_memories_is_read_line_by_line(tmp_path, system):
    file = tmp_path / "memories.txt"
    file.write_text(LIST)
    read = records(file, system)
    assert [record.text for record in read] == [
        "Always answer in metric units.",
        "Never use emoji.",
        "Lives in Lisbon",
        "Has a cat called Tom",
        "[website](https://example.com) is hers",
        "Prefers tea",
    ]
    assert read[0].said_at.date().isoformat() == "2026-05-01"
    assert (read[1].said_at, read[1].metadata) == (None, {"section": "Instructions"})
    assert read[2].metadata == {"section": "Personal details"}
    with pytest.raises(ImportRefused, match="cannot be recognised"):
        detect_system(file)
