"""JSON of people and of other programs: one reader for all that the library takes in."""

from __future__ import annotations

import json

import pytest

from memoryware import load_config
from memoryware._json_reading import JsonInvalid, parse_json
from memoryware.bench.datasets import _iter_items, _parse
from memoryware.config import load_command_config
from memoryware.errors import BundleRefused, ConfigError, DatasetRefused
from memoryware.tiers.bundles import _object

DEEP = '{"a": ' * 5000 + "1" + "}" * 5000
WRONG = {
    "digits": ('{"store": "memory://",\n "x": ' + "9" * 5000 + "}", "5000 digits"),
    "fraction": ('{"x": 1.' + "0" * 5000 + "}", "characters"),
    "large": ('{"x": 1e999}', "too large"),
    "deep": (DEEP, "nested"),
    "rather deep": ("[" * 300 + "]" * 300, "nested"),
    "twice": ('{"store": "a",\n "store": "b"}', "'store' is there twice"),
    "twice inside": ('{"x": [{"a": 1, "b": 2, "a": 3}]}', "'a' is there twice"),
    "nan": ('{"x": NaN}', "no number"),
    "cut off": ('{"x": 1', "not valid JSON"),
    "two": ("{} {}", "not valid JSON"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_each_fault_has_a_sentence(kind):
    text, words = WRONG[kind]

    with pytest.raises(JsonInvalid, match=words) as raised:
        parse_json(text)

    assert len(str(raised.value)) < 200


def test_a_fault_has_its_line():
    assert "line 2: a number has 5000 digits" in str(_fault(WRONG["digits"][0]))
    assert "line 2: the key 'store' is there twice" in str(_fault(WRONG["twice"][0]))
    assert "line 2, column 1" in str(_fault('{"x": 1,\n!'))


def _fault(text):
    with pytest.raises(JsonInvalid) as raised:
        parse_json(text)
    return raised.value


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "b": {"a": 2}}', "[1, 2.5, -3e10, true, null]", '"\u00e9\\ud83d\\ude00"', "7"],
)
def test_what_is_right_is_read_as_python_reads_it(text):
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("load", [load_config, load_command_config])
def test_a_configuration_names_its_file_and_what_is_wrong(kind, load, tmp_path):
    text, words = WRONG[kind]
    file = tmp_path / "memoryware.json"
    file.write_text(text)

    with pytest.raises(ConfigError, match=words) as raised:
        load(file)

    assert str(file) in str(raised.value)


@pytest.mark.parametrize("kind", WRONG)
def test_a_line_of_a_bundle_and_of_a_data_set_is_refused_alike(kind, tmp_path):
    text, words = WRONG[kind]
    line = text.replace("\n", " ")

    if kind != "rather deep":  # metadata of a record may be
        with pytest.raises(BundleRefused, match=words):
            _object(line, 7, 10_000)
    with pytest.raises(DatasetRefused, match=words):
        _parse(line, tmp_path / "turns.jsonl", 7)


@pytest.mark.parametrize("kind", ["digits", "deep", "twice", "nan"])
def test_so_is_a_list_that_is_read_item_by_item(kind, tmp_path):
    file = tmp_path / "list.json"
    file.write_text(f"[{WRONG[kind][0]}]")

    with pytest.raises(DatasetRefused):
        list(_iter_items(file))
