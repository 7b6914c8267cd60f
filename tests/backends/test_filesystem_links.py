"""Links on a disk: followed inside the root, refused where they leave it."""

from __future__ import annotations

import pytest

from limits import limited
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.errors import PathRefused, PathUnusable
from memoryware.settings import FileLimits


def text(backend, path):
    (answer,) = backend.download_files([path])
    return answer.error or answer.content.decode()


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "AGENTS.md").write_text("inside")
    outside = tmp_path / "root-other"
    outside.mkdir()
    (outside / "secret.md").write_text("outside")
    return root


@pytest.fixture
def outside(root):
    return root.parent / "root-other"


def test_links_inside_the_root_are_followed(root):
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "deep" / "a.md").write_text("deep")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "absolute.md").symlink_to(root / "AGENTS.md")
    (root / "folder").symlink_to("docs/deep")
    (root / "docs" / "up").symlink_to("../docs/deep/..")
    (root / "chain").symlink_to("folder")
    (root / "docs" / "top").symlink_to("..")
    (root / "round").symlink_to("../root/docs")
    backend = FilesystemBackend(root)

    assert text(backend, "/CLAUDE.md") == text(backend, "/absolute.md") == "inside"
    assert text(backend, "/folder/a.md") == text(backend, "/chain/a.md") == "deep"
    assert text(backend, "/docs/up/deep/a.md") == text(backend, "/round/deep/a.md") == "deep"
    assert text(backend, "/docs/top/docs/top/AGENTS.md") == "inside"
    assert backend._resolve_path("/docs/up/deep/a.md") == root / "docs" / "deep" / "a.md"
    assert backend._real_path("/chain/a.md") == "/docs/deep/a.md"
    assert backend.names(["/CLAUDE.md", "/AGENTS.md", "/folder/new.md"]) == [
        ("/CLAUDE.md", "/AGENTS.md"),
        ("/AGENTS.md",),
        ("/folder/new.md", "/docs/deep/new.md"),
    ]


LEAVING = {
    "a file": ("link.md", "{outside}/secret.md", "link.md"),
    "a relative file": ("link.md", "../root-other/secret.md", "link.md"),
    "a folder": ("link", "{outside}", "link/secret.md"),
    "the folder above": ("link", "..", "link/root-other/secret.md"),
    "the whole disk": ("link", "/", "link/etc/passwd"),
    "out by way of a folder": ("link", "docs/../../root-other", "link/secret.md"),
    "something missing": ("link.md", "{outside}/new.md", "link.md"),
    "a missing folder": ("link", "{outside}/new", "link/new.md"),
    "the process": ("link", "/proc/self/root", "link/etc/passwd"),
}


@pytest.mark.parametrize("case", LEAVING)
@pytest.mark.parametrize("second", [False, True], ids=["", "by a second link"])
def test_a_link_that_leaves_the_root_is_refused_by_everything(root, outside, case, second):
    (root / "docs").mkdir()
    name, target, path = LEAVING[case]
    (root / name).symlink_to(target.format(outside=outside))
    if second:
        (root / f"second-{name}").symlink_to(name)
        path = f"second-{path}"
    backend, before = FilesystemBackend(root), sorted(outside.rglob("*"))

    for attempt in (
        lambda: backend.read(path),
        lambda: backend.write(path, "owned"),
        lambda: backend.edit(path, "outside", "owned"),
        lambda: backend.append(path, "owned"),
        lambda: backend._resolve_path(path),
    ):
        with pytest.raises(PathRefused, match="outside the root"):
            attempt()
    assert text(backend, path) == "invalid_path"
    assert backend.upload_files([(path, b"owned")])[0].error == "invalid_path"
    assert backend.names([path]) == [()]
    assert backend.grep("outside", path).error
    assert backend.grep("outside").matches == []
    assert [e["path"] for e in backend.ls("/").entries] == ["/AGENTS.md", "/docs/"]
    assert [m["path"] for m in backend.glob("**").matches] == ["/AGENTS.md"]
    assert sorted(outside.rglob("*")) == before
    assert (outside / "secret.md").read_text() == "outside"


def test_a_link_is_deleted_and_not_what_it_leads_to(root, outside):
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "inner").mkdir()
    (root / "inner" / "way-out").symlink_to(outside)
    backend = FilesystemBackend(root)

    for path in ("/file.md", "/folder", "/inner"):
        assert backend.delete(path).error is None
    assert [*root.iterdir()] == [root / "AGENTS.md"]
    assert (outside / "secret.md").read_text() == "outside"
    (root / "folder").symlink_to(outside)
    with pytest.raises(PathRefused):
        backend.delete("/folder/secret.md")


def test_a_write_through_a_link_changes_the_file_and_keeps_the_link(root):
    (root / "docs").mkdir()
    (root / "link.md").symlink_to("AGENTS.md")
    (root / "soon.md").symlink_to("docs/soon.md")
    (root / "far").symlink_to("not/yet/there")
    backend = FilesystemBackend(root)

    assert backend.edit("/link.md", "inside", "edited").error is None
    assert backend.append("/link.md", "and more").error is None
    assert backend.write("/soon.md", "now").error is None
    assert backend.write("/far/a.md", "made").error is None
    assert (root / "AGENTS.md").read_text() == "edited\nand more\n"
    assert (root / "docs" / "soon.md").read_text() == "now"
    assert (root / "not" / "yet" / "there" / "a.md").read_text() == "made"
    assert all((root / name).is_symlink() for name in ("link.md", "soon.md", "far"))


def test_loops_of_links_come_to_an_end(root):
    (root / "self.md").symlink_to("self.md")
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "longer").symlink_to("longer/and/longer")
    backend = FilesystemBackend(root)

    for path in ("/self.md", "/one", "/one/a.md", "/longer", "/longer/a.md"):
        assert text(backend, path) == "invalid_path"
        assert "loop" in backend.read(path).error
        assert "loop" in backend.write(path, "x").error
        assert backend.upload_files([(path, b"x")])[0].error == "invalid_path"
        with pytest.raises(PathUnusable):
            backend._resolve_path(path)
        with pytest.raises(OSError, match="loop"):
            backend._resolve_path(path)
    assert [e["path"] for e in backend.ls("/").entries] == ["/AGENTS.md"]
    assert backend.delete("/one").error is None


def test_a_path_may_pass_so_many_links_and_no_more(root):
    (root / "0.md").write_text("at the end")
    for n in range(1, 8):
        (root / f"{n}.md").symlink_to(f"{n - 1}.md")
    backend = FilesystemBackend(root, limits=limited(FileLimits, symlink_hops=6))

    assert text(backend, "/6.md") == "at the end"
    assert text(backend, "/7.md") == "invalid_path"
