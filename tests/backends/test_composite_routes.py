"""What a mount hides stays hidden, whatever name the part below it is asked by."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore

from backends.shelf import either_door, paths
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.store import StoreBackend

ask = either_door


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    (root / "notes" / "deep").mkdir(parents=True)
    (root / "notes" / "s.md").write_text("hidden")
    (root / "notes" / "deep" / "d.md").write_text("hidden")
    (root / "open").mkdir()
    (root / "open" / "o.md").write_text("open")
    (root / "alias").symlink_to("notes")
    (root / "file.md").symlink_to("notes/s.md")
    (root / "up").symlink_to(".")
    (root / "ok").symlink_to("open")
    return root


@pytest.fixture
def mounted():
    store = StoreBackend(store=InMemoryStore(), namespace=("notes",))
    store.write("/s.md", "mounted")
    return store


@pytest.fixture
def composite(root, mounted):
    return CompositeBackend(default=FilesystemBackend(root), routes={"/notes/": mounted})


async def text(ask, composite, path):
    (got,) = await ask(composite, "download_files", [path])
    return got.error or got.content.decode()


async def test_every_name_that_the_default_has_for_a_mount_leads_to_the_mount(
    ask, composite, root, mounted, monkeypatch
):
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("USERPROFILE", str(root))
    host = root.as_posix()
    for before in ("", host, host * 2, host[1:] + host, "~", f"~{host}"):
        assert await text(ask, composite, f"{before}/notes/s.md") == "mounted"
        assert (await ask(composite, "read", f"{before}/notes/s.md")).file_data["content"] == (
            "mounted"
        )
        assert (await ask(composite, "write", f"{before}/notes/n.md", "x")).error is None
        assert (await ask(composite, "edit", f"{before}/notes/n.md", "x", "y")).error is None
        assert paths(await ask(composite, "ls", f"{before}/notes")) == [
            "/notes/n.md",
            "/notes/s.md",
        ]
        assert paths(await ask(composite, "grep", "y", f"{before}/notes")) == ["/notes/n.md"]
        assert await ask(composite, "names", [f"{before}/notes/s.md"]) == [("/notes/s.md",)]
        assert (await ask(composite, "delete", f"{before}/notes/n.md")).error is None
        assert (
            "another backend is mounted"
            in (await ask(composite, "delete", f"{before}/notes")).error
        )
        with_folder = await ask(composite, "upload_files", [(f"{before}/notes", b"x")])
        assert with_folder[0].error == "is_directory"
    assert (root / "notes" / "s.md").read_text() == "hidden"
    assert sorted(one.name for one in (root / "notes").iterdir()) == ["deep", "s.md"]
    assert paths(mounted.ls("/")) == ["/s.md"]


async def test_a_link_to_what_a_mount_hides_is_refused(ask, composite, root):
    for path in ("/alias/s.md", "/file.md", "/up/notes/s.md", "/alias/new.md", "/alias/deep/d.md"):
        assert await text(ask, composite, path) == "permission_denied"
        for told in (
            await ask(composite, "read", path),
            await ask(composite, "write", path, "x"),
            await ask(composite, "edit", path, "hidden", "x"),
            await ask(composite, "delete", path),
        ):
            assert "where another backend is mounted; use that path" in told.error
    for folder in ("/alias", "/alias/deep", "/up"):
        for told in (
            await ask(composite, "ls", folder),
            await ask(composite, "glob", "*", folder),
            await ask(composite, "grep", "hidden", folder),
            await ask(composite, "delete", folder),
        ):
            assert "where another backend is mounted" in told.error
    assert (root / "notes" / "deep" / "d.md").read_text() == "hidden"
    assert not (root / "notes" / "new.md").exists()


async def test_links_beside_the_mounts_work_as_ever(ask, composite):
    assert await text(ask, composite, "/ok/o.md") == "open"
    assert (await ask(composite, "edit", "/ok/o.md", "open", "changed")).error is None
    assert await ask(composite, "names", ["/ok/o.md"]) == [("/ok/o.md", "/open/o.md")]
    assert paths(await ask(composite, "ls", "/ok")) == ["/ok/o.md"]


async def test_a_mount_inside_a_mount_is_hidden_from_links_of_the_outer_one(ask, root, mounted):
    composite = CompositeBackend(
        default=StoreBackend(store=InMemoryStore(), namespace=("d",)),
        routes={"/disk/": FilesystemBackend(root), "/disk/notes/": mounted},
    )
    assert await text(ask, composite, f"/disk{root.as_posix()}/notes/s.md") == "mounted"
    assert await text(ask, composite, "/disk/alias/s.md") == "permission_denied"
    assert await text(ask, composite, "/disk/ok/o.md") == "open"
