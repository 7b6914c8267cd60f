"""Both forms of LoCoMo are read as the same; where the data is spelled wrongly, it is mended."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.made import locomo_list, talk
from memoryware.bench.datasets import _evidence_of, read_locomo
from memoryware.errors import DatasetRefused

HERE = [f"D{session}:{turn}" for session in range(1, 31) for turn in range(1, 27)]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["D1:3"], ("D1:3",)),
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D9:1 D4:4 D4:6"], ("D9:1", "D4:4", "D4:6")),
        (["D21:18 D21:22 D11:15 D11:19"], ("D21:18", "D21:22", "D11:15", "D11:19")),
        (["D:11:26"], ("D11:26",)),
        (["D30:05"], ("D30:5",)),
        (["D2:1", "D2:1"], ("D2:1",)),
        (["D10:99", "D1:1"], ("D1:1",)),
        (["D"], ()),
        ([], ()),
    ],
)
def test_evidence_is_what_was_meant_of_what_is_there(given, meant):
    assert _evidence_of(given, HERE) == meant


def test_a_turn_has_its_photo_its_time_and_its_speaker(tmp_path):
    (one, _) = read_locomo(locomo_list(tmp_path / "locomo10.json"))
    hello, oak, trumpet = one.turns
    assert oak.content == "I planted an oak behind the mill. [a photo of a small tree]"
    assert (oak.name, oak.role) == ("Bo", "user")
    assert (hello.session, oak.session, trumpet.session) == ("D1", "D1", "D2")
    assert hello.time == datetime(2023, 1, 20, 16, 4, tzinfo=UTC)
    assert (oak.time - hello.time).total_seconds() == 1


def test_questions_have_the_names_of_their_categories(tmp_path):
    (one, _) = read_locomo(locomo_list(tmp_path / "locomo10.json"))
    kinds = [(asked.category, asked.gold) for asked in one.questions]
    assert kinds == [
        ("single-hop", ("D1:2",)),
        ("multi-hop", ("D1:2", "D2:1")),
        ("open", ()),
        ("adversarial", ("D2:1",)),
    ]


def test_a_list_a_folder_and_a_zip_say_the_same(tmp_path):
    of_list = read_locomo(locomo_list(tmp_path / "locomo10.json"))
    folder = tmp_path / "ten"
    folder.mkdir()
    for number in (26, 44):
        (folder / f"{number}.json").write_text(json.dumps(talk()))
    with zipfile.ZipFile(tmp_path / "ten.zip", "w") as archive:
        archive.writestr("deep/inside/", "")
        for number in (44, 26):
            archive.writestr(f"deep/inside/{number}.json", json.dumps(talk()))
    assert read_locomo(folder) == of_list
    assert read_locomo(tmp_path / "ten.zip") == of_list


def test_five_conversations_are_tuned_on_whatever_the_form(tmp_path):
    for number in (26, 30, 41, 42, 43, 44, 47, 48, 49, 50):
        (tmp_path / f"{number}.json").write_text(json.dumps(talk()))
    parts = {one.id: one.split for one in read_locomo(tmp_path)}
    tuned = [name for name, part in parts.items() if part == "tuned"]
    held = [name for name, part in parts.items() if part == "held"]
    assert tuned == ["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"]
    assert held == ["conv-44", "conv-47", "conv-48", "conv-49", "conv-50"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "must be a JSON object"),
        ("{", "not valid JSON"),
        ("[]", "no conversation of LoCoMo"),
        (json.dumps({"qa": []}), "no session_1"),
        (
            json.dumps(talk(session_1_date_time="yesterday")),
            "\"session_1_date_time\" is 'yesterday'",
        ),
        (
            json.dumps(talk(session_1=[{"dia_id": "D1:1"}])),
            '"speaker" of a turn of session_1 must be a text',
        ),
        (json.dumps(talk(qa=None)), '"qa" of conv-x must be a list'),
    ],
)
def test_what_is_no_locomo_is_refused_by_name(tmp_path, text, said):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DatasetRefused) as refused:
        read_locomo(tmp_path / "x.json")
    assert said in str(refused.value)
    assert str(tmp_path / "x.json") in str(refused.value)


def test_a_broken_zip_and_a_missing_file_are_refused(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK no")
    with pytest.raises(DatasetRefused, match="is no zip"):
        read_locomo(tmp_path / "x.zip")
    with pytest.raises(DatasetRefused, match="cannot be read"):
        read_locomo(tmp_path / "gone.json")


@pytest.mark.skipif("LOCOMO" not in os.environ, reason="LOCOMO= names no copy of the data set")
def test_the_real_data_set_has_the_known_numbers():
    ten = read_locomo(Path(os.environ["LOCOMO"]))
    asked = [one for conversation in ten for one in conversation.questions]
    counted = [one.category for one in asked if one.gold]
    assert (len(ten), sum(len(one.turns) for one in ten), len(asked), len(counted)) == (
        10,
        5882,
        1986,
        1982,
    )
    assert {kind: counted.count(kind) for kind in set(counted)} == {
        "multi-hop": 282,
        "temporal": 321,
        "open": 92,
        "single-hop": 841,
        "adversarial": 446,
    }


def test_a_file_that_is_no_text_is_refused_by_name(tmp_path):
    for name, content in (("bytes", bytes(range(128, 256))), ("deep", b"[" * 100_000)):
        path = tmp_path / f"{name}.json"
        path.write_bytes(content)
        with pytest.raises(DatasetRefused, match=name):
            list(read_locomo(path))
