"""The name that the rules judged is the one that is opened, however a model spells a path."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel, ask, call, tool_messages
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.store import StoreBackend
from memoryware.middleware.file_tools import FileToolsMiddleware


def run(backend, *turns, **rules):
    middleware = FileToolsMiddleware(backend=backend, **rules)
    return tool_messages(ask(create_agent(ScriptedModel(*turns), middleware=[middleware])))


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("USERPROFILE", str(root))
    (root / "secret.md").write_text("SECRET\n")
    (root / "ok.md").write_text("fine\n")
    return root


def _mounts(root):
    """Return backends with the root in them, and where it is."""
    disk, store = FilesystemBackend(root), StoreBackend(store=InMemoryStore(), namespace=("s",))
    return {
        "disk": (disk, ""),
        "default of a composite": (CompositeBackend(disk, {"/other/": store}), ""),
        "mount": (CompositeBackend(store, {"/disk/": disk}), "/disk"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["disk", "default of a composite", "mount"])
@pytest.mark.parametrize("rule", ["deny", "only", "allow", "read_only"])
def test_no_spelling_of_a_path_gets_around_a_rule(root, kind, rule):
    backend, at = _mounts(root)[kind]
    host = root.as_posix()
    before = [host, host * 2, host * 3, f"/.{host}//{host}"]
    if not at:
        before += [host[1:], host[1:] + host, "~", f"~{host}", f"~{host}{host}", f"~/{host[1:]}"]
    named = f"{at}/ok.md" if rule in ("only", "allow") else f"{at}/secret.md"
    for one in before:
        path = f"{at}{one}/secret.md"
        turns = [
            call("edit_file", file_path=path, old_string="SECRET", new_string="x"),
            call("append_file", file_path=path, text="x"),
            call("write_file", file_path=path, content="x"),
            call("delete", file_path=path),
        ]
        if rule != "read_only":
            turns += [
                call("read_file", file_path=path),
                call("grep", pattern="SECRET", path=path, output_mode="content"),
            ]
        said = run(backend, *turns, **{rule: [named]})
        assert [message.status for message in said] == ["error"] * len(turns), (one, said)
        assert not any("SECRET\n" in message.text for message in said)
        (fine,) = run(backend, call("read_file", file_path=f"{at}{one}/ok.md"), **{rule: [named]})
        assert "fine" in fine.text
    assert (root / "secret.md").read_text() == "SECRET\n"
    assert sorted(entry.name for entry in root.iterdir()) == ["ok.md", "secret.md"]


def test_a_folder_that_looks_empty_is_not_deleted_under_rules(root):
    (root / "unshown").mkdir()
    (root / "unshown" / "a\\b.env").write_text("SECRET")
    (root / "linked").mkdir()
    (root / "linked" / "x.env").symlink_to("/nowhere/outside")
    (root / "draft" / "s.memoryware-tmp").mkdir(parents=True)
    (root / "draft" / "s.memoryware-tmp" / "x.env").write_text("SECRET")
    (root / "empty").mkdir()
    (root / "link").symlink_to("unshown")
    disk = FilesystemBackend(root)
    folders = ("unshown", "linked", "draft", "empty", "link")

    said = run(
        disk,
        *(call("delete", file_path=f"/{name}") for name in folders),
        call("delete", file_path="/gone"),
        call("delete", file_path="/ok.md"),
        deny=["*.env"],
    )

    assert all("is a folder; delete the files" in one.text for one in said[: len(folders)])
    assert "not found" in said[-2].text
    assert said[-1].status == "success"
    for name in folders:
        assert (root / name).exists()
    assert (root / "unshown" / "a\\b.env").read_text() == "SECRET"


def test_what_cannot_be_told_from_a_folder_is_not_deleted_under_rules(root):
    class Closed(FilesystemBackend):
        """Answers like a folder that may be neither listed nor read."""

        async def _download(self, runner, paths):
            found = await super()._download(runner, paths)
            for one in found:
                one.content, one.error = None, "permission_denied"
            return found

    (said,) = run(Closed(root), call("delete", file_path="/ok.md"), deny=["*.env"])
    assert "is not deleted, because it cannot be read" in said.text
    assert (root / "ok.md").exists()
