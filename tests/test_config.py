"""`config.json`: every key, every mistake."""

from __future__ import annotations

import json
import os

import pytest

from memoryware import AgentConfig, load_config
from memoryware.config import load_command_config
from memoryware.errors import ConfigError
from memoryware.tiers import Journal


def written(folder, content):
    file = folder / "config.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_an_empty_object_gives_the_defaults(tmp_path):
    config = load_config(written(tmp_path, {}), environ={})

    assert config == AgentConfig(memories_dir=tmp_path / "memories")
    assert config.memory_files == ("/memories/AGENTS.md",)


@pytest.mark.parametrize("given", ["/a.md", 3, {"x": 1}])
def test_memory_files_that_are_no_list_give_the_default_with_a_warning(tmp_path, given, caplog):
    config = load_config(written(tmp_path, {"memory_files": given}), environ={})

    assert config.memory_files == ("/memories/AGENTS.md",)
    assert "memory_files is not a list" in caplog.text


def test_several_memory_files_keep_their_order(tmp_path):
    files = ["/memories/b.md", "/memories/a.md"]

    assert load_config(written(tmp_path, {"memory_files": files})).memory_files == tuple(files)


@pytest.mark.parametrize("entry", ["memories/x.md", "~/x.md", 7, ""])
def test_an_entry_that_is_no_virtual_path_is_named(tmp_path, entry):
    with pytest.raises(ConfigError, match="begins with '/'") as caught:
        load_config(written(tmp_path, {"memory_files": ["/ok.md", entry]}))

    assert repr(entry) in str(caught.value)


def test_bad_json_is_an_error_with_its_line(tmp_path):
    with pytest.raises(ConfigError, match="line 3, column"):
        load_config(written(tmp_path, '{\n"model": "x",\n"skills_dir": }'))


@pytest.mark.parametrize("content", ["[]", '"text"', "null"])
def test_something_other_than_an_object_is_an_error(tmp_path, content):
    with pytest.raises(ConfigError, match="one JSON object"):
        load_config(written(tmp_path, content))


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.json"):
        load_config(tmp_path / "none.json")


def test_unknown_keys_warn(tmp_path, caplog):
    load_config(written(tmp_path, {"memory_file": []}), environ={})

    assert "'memory_file' is not known" in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [{"memories_dir": 3}, {"react_prompt": []}, {"model": 3}, {"response_format": "x"}, {"env": 1}],
)
def test_a_value_of_the_wrong_kind_is_named(tmp_path, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        load_config(written(tmp_path, wrong))


def test_the_file_wins_over_the_environment_and_that_over_nothing(tmp_path):
    environ = {"DEEPAGENTS_REACT_PROMPT": "from env", "MEMORYWARE_MODEL": "p:env"}
    file = written(tmp_path, {"react_prompt": "from file", "model": {"name": "p:file"}})
    both = load_config(file, environ=environ)
    env = load_config(written(tmp_path, {}), environ=environ)
    none = load_config(written(tmp_path, {}), environ={})

    assert (both.system_prompt, both.model) == ("from file", "p:file")
    assert (env.system_prompt, env.model) == ("from env", "p:env")
    assert (none.system_prompt, none.model) == (None, None)


def test_folders_are_taken_from_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "app" / "skills").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    config = load_config(written(tmp_path / "app", {"memories_dir": "notes"}))

    assert config.memories_dir == tmp_path / "app" / "notes"
    assert config.skills_dir == tmp_path / "app" / "skills"


def test_a_missing_skills_folder_warns_and_goes_on(tmp_path, caplog):
    assert load_config(written(tmp_path, {})).skills_dir is None
    assert "there is no skills folder" in caplog.text


def test_an_env_block_warns_and_never_overrides(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MEMORYWARE_TEST_SET", "mine")
    monkeypatch.delenv("MEMORYWARE_TEST_NEW", raising=False)
    block = {"MEMORYWARE_TEST_SET": "file", "MEMORYWARE_TEST_NEW": "file"}
    load_config(written(tmp_path, {"env": block}))
    found = os.environ.pop("MEMORYWARE_TEST_NEW")

    assert (os.environ["MEMORYWARE_TEST_SET"], found) == ("mine", "file")
    assert "keep keys and passwords in the environment" in caplog.text
    assert "file" not in caplog.text.partition("env block")[2].partition("(")[2]


def test_no_folder_is_named_like_a_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "skills").mkdir(parents=True)
    (tmp_path / "app").mkdir()
    config = load_config(
        written(tmp_path / "app", {"memories_dir": "~/m", "skills_dir": "~/skills"})
    )
    assert config.memories_dir == tmp_path / "home" / "m"
    assert config.skills_dir == tmp_path / "home" / "skills"
    with pytest.raises(ConfigError, match="home folder is not known"):
        load_config(written(tmp_path / "app", {"memories_dir": "~nobody-here/m"}))

    command = tmp_path / "app" / "memoryware.json"
    command.write_text('{"store": "sqlite:///~/m.db", "root": "~/notes"}')
    loaded = load_command_config(command)
    assert loaded.store == f"sqlite:///{tmp_path}/home/m.db"
    assert loaded.root == tmp_path / "home" / "notes"
    assert Journal("~/j.jsonl").path == tmp_path / "home" / "j.jsonl"


@pytest.mark.parametrize("path", ["/../AGENTS.md", "/~/AGENTS.md", "~/AGENTS.md"])
def test_a_memory_file_that_is_no_virtual_path_is_refused(tmp_path, path):
    with pytest.raises(ConfigError, match="such as '/memories/"):
        load_config(written(tmp_path, {"memory_files": [path]}))
