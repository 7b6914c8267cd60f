"""`memoryware.json`: written by `init`, found from any folder below, and held against options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import here, process
from memoryware.cli._opening import place_of
from memoryware.config import beside, find_memory_config, load_memory_config
from memoryware.errors import ConfigError, SettingError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("STORE", "GROUP", "TENANT", "USER", "BY"):
        monkeypatch.delenv(f"MEMORYWARE_{name}", raising=False)
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def say(folder, text):
    file = folder / "memoryware.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return file


def test_init_writes_a_file_that_names_the_folder(folder):
    ran = process("init", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    said = json.loads((folder / "memoryware.json").read_text())
    assert said == {"store": "sqlite:///memory.db", "scope": {"group_id": "shop"}}


def test_init_does_not_write_over_a_file_unless_told_to(folder, monkeypatch, capsys):
    say(folder, {"by": "ann"})
    ran = here(monkeypatch, capsys, "init")
    assert ran.code == 4
    assert "--force" in ran.err
    assert load_memory_config().by == "ann"
    assert here(monkeypatch, capsys, "init", "--force", "--approval", "--json").code == 0
    assert load_memory_config().policy == {"approval": True}


def test_the_nearest_file_above_is_found_and_folders_are_taken_from_it(folder, monkeypatch):
    file = say(folder, {"store": "sqlite:///data/m.db", "root": "notes"})
    (folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(folder / "a" / "b")
    assert find_memory_config() == file
    config = load_memory_config()
    assert config.store == f"sqlite:///{folder}/data/m.db"
    assert config.root == str(folder / "notes")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///m.db + redis://host", "sqlite:////x/m.db + redis://host"),
        ("sqlite:////var/m.db", "sqlite:////var/m.db"),
        ("sqlite:///~/m.db", "sqlite:///~/m.db"),
        ("memory://", "memory://"),
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
    ],
)
def test_only_a_relative_file_is_taken_from_the_folder(url, shown):
    assert beside(url, Path("/x")) == shown


def test_options_win_over_the_environment_and_that_over_the_file(folder, monkeypatch, capsys):
    say(folder, {"scope": {"group_id": "file", "tenant": "acme"}, "by": "bob"})
    assert place_of().scope.group_id == "file"
    assert (place_of(group="given").scope.group_id, place_of().scope.tenant) == ("given", "acme")
    assert (place_of().by, place_of(by="ann").by) == ("bob", "ann")


def test_without_a_group_the_message_says_three_ways_to_name_one(folder):
    with pytest.raises(SettingError, match=r"--group NAME, or MEMORYWARE_GROUP, or"):
        _ = place_of().scope


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{\n  "stroe": "x"\n}', "line 2: stroe is no key"),
        ('{\n  "by": "ann",\n  "store": 5\n}', "line 3: store must be text"),
        ('{"scope": {"group": "x"}}', "scope has 'group'"),
        ('{"scope": {"group_id": 5}}', "group_id must be text"),
        ('{"sources": "AGENTS.md"}', "sources must be a list"),
        ('{\n  "by": \n}', "line 3, column 1"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(folder, text, part):
    say(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_memory_config()
    assert part in str(caught.value)


def test_a_wrong_policy_is_refused_with_the_name_of_the_file(folder):
    say(folder, {"policy": {"min_trust": "much"}})
    with pytest.raises(ConfigError, match=r"memoryware\.json: min_trust='much'"):
        place_of().policy()
    say(folder, {"policy": {"min_trust": "user", "four_eyes": True}})
    assert place_of().policy().min_trust.name == "USER"


def test_commands_on_files_take_root_and_sources_from_the_file(folder, monkeypatch, capsys):
    (folder / "notes").mkdir()
    (folder / "notes" / "team.md").write_text("Use tabs.\n", encoding="utf-8")
    say(folder, {"root": "notes", "sources": ["team.md"]})
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    ran = here(monkeypatch, capsys, "prompt")
    assert (ran.code, ran.err) == (0, "")
    assert "Use tabs." in ran.out
    other = say(folder / "deep", "{")
    ran = here(monkeypatch, capsys, "sources", "--config", other)
    assert (ran.code, ran.out) == (3, "")
    assert "line 1" in ran.err
