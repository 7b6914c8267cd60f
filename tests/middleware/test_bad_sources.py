"""Sources that cannot be read: the error names the rule that they break and what to write."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from deepagents.backends import FilesystemBackend as TheirDisk
from langchain.agents import create_agent

from kit import ScriptedModel, aask, ask, call, tool_messages
from memoryware import (
    CompositeBackend,
    FilesystemBackend,
    FileToolsMiddleware,
    HistoryBackend,
    MemoryMiddleware,
    StateBackend,
)
from memoryware.errors import LoadError, SettingError


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "root" / "folder").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("not yours")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    os.mkfifo(tmp_path / "root" / "pipe")
    (tmp_path / "root" / "link.md").symlink_to(tmp_path / "outside.md")
    return tmp_path / "root"


BAD = {
    "~/.deepagents/AGENTS.md": ("outside the root", "root_dir that holds the home folder"),
    "~root/AGENTS.md": ("home folder of another user", "whole path"),
    "C:\\notes\\AGENTS.md": ("Windows absolute paths", "such as /notes.md"),
    "../AGENTS.md": ("traversal", "without '..'"),
    "/a/../../b.md": ("traversal", "without '..'"),
    "/pipe": ("not a regular file", "name a text file"),
    "/link.md": ("symbolic link", "lies inside"),
    "/folder": ("is a folder", "name a file in it"),
    "/a\0b.md": ("control character", "plain text"),
}


@pytest.mark.parametrize("run", [ask, aask])
@pytest.mark.parametrize("path", BAD)
@pytest.mark.parametrize(
    "wrapped",
    [
        lambda disk: disk,
        HistoryBackend,
        lambda disk: CompositeBackend(default=disk, routes={"/elsewhere/": StateBackend()}),
    ],
)
async def test_a_bad_source_says_what_is_wrong_and_what_to_write(root, path, wrapped, run):
    backend = wrapped(FilesystemBackend(root_dir=root))
    agent = create_agent(
        ScriptedModel(), middleware=[MemoryMiddleware(backend=backend, sources=[path])]
    )
    with pytest.raises(LoadError) as caught:
        await aask(agent) if run is aask else ask(agent)
    said = str(caught.value).replace("It is a folder", "is a folder")
    for words in (*BAD[path], 'on_error="warn"'):
        assert words.lower() in said.lower()


def test_a_spelling_that_is_refused_is_explained_on_a_backend_of_others(root):
    backend = TheirDisk(root_dir=root, virtual_mode=True)
    middleware = MemoryMiddleware(backend=backend, sources=["../A.md"])
    with pytest.raises(LoadError, match=r"without '\.\.'"):
        middleware.before_agent({}, SimpleNamespace(context=None))


@pytest.mark.parametrize("record", [42, "text", {"x": 1}, {"content": 5, "encoding": "utf-8"}])
def test_a_bad_record_in_the_state_says_what_a_record_is(record):
    middleware = [
        MemoryMiddleware(backend=StateBackend(), sources=["/a.md"]),
        FileToolsMiddleware(backend=StateBackend()),
    ]
    with pytest.raises(LoadError, match=r"'/a.md' holds a record that is not a file.*\"content\""):
        ask(create_agent(ScriptedModel(), middleware=middleware), files={"/a.md": record})


def test_with_warn_the_log_says_it_and_the_run_goes_on(root, caplog):
    model = ScriptedModel()
    backend = FilesystemBackend(root_dir=root)
    (root / "B.md").write_text("Prefers tea.")
    sources = ["~/A.md", "/B.md"]
    memory = MemoryMiddleware(backend=backend, sources=sources, on_error="warn")
    ask(create_agent(model, middleware=[memory]))

    assert "Prefers tea." in model.system()
    assert "outside the root" in caplog.text


@pytest.mark.parametrize("virtual", [True, False])
@pytest.mark.parametrize("path", ["~root/a.md", "~nobody-here/a.md", "~root\\a.md"])
def test_no_folder_is_named_like_a_home_of_others(root, monkeypatch, virtual, path):
    monkeypatch.chdir(root)
    for backend in (
        FilesystemBackend(root_dir=root, virtual_mode=virtual),
        FilesystemBackend(root_dir="/", virtual_mode=virtual),
        CompositeBackend(default=FilesystemBackend(root_dir=root), routes={}),
    ):
        tools = FileToolsMiddleware(backend=backend)
        model = ScriptedModel(call("write_file", file_path=path, content="x"))
        (message,) = tool_messages(ask(create_agent(model, middleware=[tools])))
        assert message.status == "error"
        assert "home folder" in message.text
    assert not [name for name in os.listdir(root) if name.startswith("~")]
    assert FilesystemBackend(root_dir=root).write(f"./{path}", "x").error is None


def test_names_that_begin_with_a_tilde_are_names(root):
    backend = FilesystemBackend(root_dir=root)
    for path in ("/~$report.md", "~draft.md", "/notes/~old.md"):
        assert backend.write(path, "x").error is None


@pytest.mark.parametrize("run", [ask, aask])
@pytest.mark.parametrize("path", ["./AGENTS.md", "AGENTS.md"])
@pytest.mark.parametrize("virtual", [True, False])
async def test_with_the_whole_disk_a_relative_path_begins_in_the_current_folder(
    tmp_path, monkeypatch, run, path, virtual
):
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    monkeypatch.chdir(tmp_path)
    backend = FilesystemBackend(root_dir="/", virtual_mode=virtual)
    model = ScriptedModel(call("edit_file", file_path=path, old_string="tea", new_string="milk"))
    middleware = [
        MemoryMiddleware(backend=backend, sources=[path]),
        FileToolsMiddleware(backend=backend),
    ]
    result = run(create_agent(model, middleware=middleware))
    if run is aask:
        await result

    assert "Prefers tea." in model.system(0)
    assert (tmp_path / "AGENTS.md").read_text() == "Prefers milk."


BLOCKING = ("ls", "read", "write", "edit", "delete", "grep", "glob")
BLOCKING += ("upload_files", "download_files")


class BlockingOnly:
    """A backend of somebody's with nothing but blocking methods."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        if name not in BLOCKING:
            raise AttributeError(name)
        return getattr(self._inner, name)


@pytest.mark.parametrize("run", [ask, aask])
@pytest.mark.parametrize("wrapped", [lambda one: one, HistoryBackend])
async def test_a_backend_with_blocking_methods_only_works_in_both_doors(tmp_path, run, wrapped):
    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    backend = wrapped(BlockingOnly(FilesystemBackend(root_dir=tmp_path)))
    model = ScriptedModel(
        call("edit_file", file_path="/AGENTS.md", old_string="tea", new_string="milk")
    )
    middleware = [
        MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
        FileToolsMiddleware(backend=backend),
    ]
    result = run(create_agent(model, middleware=middleware))
    if run is aask:
        await result

    assert "Prefers tea." in model.system(0)
    assert "Prefers milk." in model.system(1)


async def test_a_subclass_that_loads_path_by_path_takes_blocking_backends(tmp_path):
    class ByPath(MemoryMiddleware):
        def _load_memory_from_backend_sync(self, backend, path):
            return super()._load_memory_from_backend_sync(backend, path)

    (tmp_path / "AGENTS.md").write_text("Prefers tea.")
    backend = BlockingOnly(FilesystemBackend(root_dir=tmp_path))
    model = ScriptedModel()
    await aask(create_agent(model, middleware=[ByPath(backend=backend, sources=["/AGENTS.md"])]))
    assert "Prefers tea." in model.system()


@pytest.mark.parametrize("root_dir", ["~", "~/notes"])
def test_a_root_in_the_home_folder_is_there(tmp_path, monkeypatch, root_dir):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    FilesystemBackend(root_dir=root_dir).write("/a.md", "x")
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


def test_a_home_that_nobody_knows_is_an_error_of_ours():
    with pytest.raises(SettingError, match="home folder is not known"):
        FilesystemBackend(root_dir="~nobody-here/notes")
