"""deepagents' backends as parts of our composite, blocking and async."""

from __future__ import annotations

import pytest
from deepagents.backends import CompositeBackend as TheirComposite
from deepagents.backends import FilesystemBackend as TheirDisk
from deepagents.backends import StateBackend as TheirState
from deepagents.backends import StoreBackend as TheirStore
from langgraph.store.memory import InMemoryStore

from backends.shelf import Shelf, either_door, paths
from memoryware.backends.composite import CompositeBackend

ask = either_door


def disk(folder):
    return TheirDisk(root_dir=folder, virtual_mode=True)


def store(_):
    return TheirStore(store=InMemoryStore(), namespace=lambda _: ("files",))


def composite(folder):
    return TheirComposite(default=store(folder), routes={"/deep/": disk(folder)})


@pytest.fixture(params=[disk, store, composite])
def part(request, tmp_path):
    return request.param(tmp_path)


async def test_every_operation_reaches_a_part_of_theirs(ask, part):
    both = CompositeBackend(Shelf(**{"d.md": "hit"}), {"/m/": part})
    assert (await ask(both, "write", "/m/a.md", "hit one\n")).path == "/m/a.md"
    assert (await ask(both, "write", "m//sub/b.md", "hit two\n")).path == "m//sub/b.md"
    assert (await ask(both, "read", "/m/a.md")).file_data["content"] == "hit one\n"
    told = await ask(both, "edit", "/m/a.md", "one", "three")
    assert (told.error, told.path, told.occurrences) == (None, "/m/a.md", 1)
    assert paths(await ask(both, "ls", "/"))[:2] == ["/d.md", "/m/"]
    listed = paths(await ask(both, "ls", "/m"))
    assert [one for one in listed if one != "/m/deep/"] == ["/m/a.md", "/m/sub/"]
    assert paths(await ask(both, "glob", "*.md")) == ["/d.md", "/m/a.md", "/m/sub/b.md"]
    assert paths(await ask(both, "glob", "/m/*.md", "/m")) == ["/m/a.md"]
    told = await ask(both, "grep", "hit", max_count=2)
    assert (paths(told), told.truncated) == (["/d.md", "/m/a.md"], True)
    assert paths(await ask(both, "grep", "hit", None, "**/sub/*.md")) == ["/m/sub/b.md"]
    answers = await ask(both, "download_files", ["/m/a.md", "/d.md", "/m/gone.md"])
    assert [one.content for one in answers] == [b"hit three\n", b"hit", None]
    assert answers[2].error == "file_not_found"
    (answer,) = await ask(both, "upload_files", [("/m/up.md", b"up")])
    assert (answer.path, answer.error) == ("/m/up.md", None)
    told = await ask(both, "append", "/m/a.md", "four")
    assert (told.error, told.path) == (None, "/m/a.md")
    assert (await ask(both, "read", "/m/a.md")).file_data["content"] == "hit three\nfour\n"
    assert (await ask(both, "delete", "/m/a.md")).path == "/m/a.md"
    assert paths(await ask(both, "glob", "*.md", "/m")) == ["/m/sub/b.md", "/m/up.md"]
    assert await ask(both, "fingerprint", ["/m/up.md"]) == [None]


async def test_an_empty_part_of_theirs_is_an_empty_folder(ask, part):
    listed = await ask(CompositeBackend(Shelf(), {"/m/": part}), "ls", "/m/")
    assert listed.error is None
    assert [one for one in paths(listed) if one != "/m/deep/"] == []


async def test_a_part_of_theirs_that_raises_outside_a_graph_is_an_error_beside_the_rest(ask):
    both = CompositeBackend(TheirState(), {"/m/": Shelf(**{"a.md": "hit"})})
    told = await ask(both, "glob", "*.md")
    assert paths(told) == ["/m/a.md"]
    assert "inside a LangGraph graph" in told.error
    assert paths(await ask(both, "ls", "/")) == ["/m/"]
    assert (await ask(both, "download_files", ["/m/a.md"]))[0].content == b"hit"
    assert "LangGraph" in (await ask(both, "read", "/x.md")).error


async def test_a_link_that_their_disk_refuses_is_an_error_not_an_end(ask, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "root" / "link.md").symlink_to(tmp_path / "secret.md")
    both = CompositeBackend(Shelf(), {"/m/": disk(tmp_path / "root")})
    assert (await ask(both, "read", "/m/link.md")).error
    assert (await ask(both, "download_files", ["/m/link.md"]))[0].content is None
