"""What a path means on a disk, and that none leads out of the root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends.filesystem import FilesystemBackend
from memoryware.errors import PathRefused, SettingError
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


# Spelling.


@pytest.mark.parametrize("path", ["/AGENTS.md", "AGENTS.md", "./AGENTS.md", "//./AGENTS.md"])
def test_every_spelling_of_a_virtual_path_is_the_file_in_the_root(root, path):
    assert text(FilesystemBackend(root), path) == "inside"
    assert FilesystemBackend(root)._resolve_path(path) == root / "AGENTS.md"


def test_without_a_root_the_current_folder_of_then_is_the_root(root, monkeypatch):
    monkeypatch.chdir(root)
    backends = [FilesystemBackend(), FilesystemBackend("."), FilesystemBackend(root_dir="../root")]
    monkeypatch.chdir(root.parent)

    assert [text(backend, "/AGENTS.md") for backend in backends] == ["inside"] * 3
    assert [backend.cwd for backend in backends] == [root] * 3


def test_the_attributes_are_those_of_the_peer(root, monkeypatch):
    monkeypatch.setenv("HOME", str(root.parent))
    backend = FilesystemBackend("~/root", True, 3)

    assert (backend.cwd, backend.virtual_mode, backend.max_file_size_bytes) == (root, True, 3 << 20)
    assert FilesystemBackend(root).max_file_size_bytes == 10 << 20
    assert FilesystemBackend(root, limits=FileLimits(grep_max_bytes=5)).max_file_size_bytes == 5
    for wrong in (0, -1, True, "10"):
        with pytest.raises(SettingError, match=f"max_file_size_mb={wrong!r}"):
            FilesystemBackend(root, max_file_size_mb=wrong)


@pytest.mark.parametrize("path", [None, 7, b"/AGENTS.md", Path("/AGENTS.md")])
def test_a_path_that_is_not_text_is_refused(root, path):
    with pytest.raises(PathRefused, match="must be text"):
        FilesystemBackend(root).read(path)


def test_a_host_path_below_the_root_is_the_file_in_it(root):
    backend = FilesystemBackend(root)

    assert text(backend, str(root / "AGENTS.md")) == "inside"
    assert backend.write(f"{root}/new/a.md", "new").error is None
    assert (root / "new" / "a.md").read_text() == "new"
    assert [e["path"] for e in backend.ls(str(root)).entries] == ["/AGENTS.md", "/new/"]
    assert [e["path"] for e in backend.glob("*.md", str(root)).matches] == [
        "/AGENTS.md",
        "/new/a.md",
    ]
    assert not (root / str(root)[1:]).exists()


def test_a_host_path_by_the_link_that_was_given_as_root_is_understood(root):
    link = root.parent / "link"
    link.symlink_to(root)

    assert text(FilesystemBackend(link), f"{link}/AGENTS.md") == "inside"
    assert text(FilesystemBackend(link), f"{root}/AGENTS.md") == "inside"


def test_a_host_path_is_virtual_where_the_root_has_such_a_folder(root):
    inner = root / str(root)[1:]
    inner.mkdir(parents=True)
    (inner / "AGENTS.md").write_text("further inside")

    assert text(FilesystemBackend(root), f"{root}/AGENTS.md") == "further inside"


def test_a_host_path_next_to_the_root_is_just_a_missing_virtual_path(root, outside):
    backend = FilesystemBackend(root)

    assert text(backend, str(outside / "secret.md")) == "file_not_found"
    assert text(backend, "/etc/passwd") == "file_not_found"


# Home.


def test_home_is_there_where_it_lies_inside_the_root(root, monkeypatch):
    home = root / "home" / "ann"
    (home / ".agent").mkdir(parents=True)
    (home / ".agent" / "AGENTS.md").write_text("of Ann")
    monkeypatch.setenv("HOME", str(home))
    backend = FilesystemBackend(root)

    assert text(backend, "~/.agent/AGENTS.md") == "of Ann"
    assert text(backend, "~\\.agent\\AGENTS.md") == "of Ann"
    assert [e["path"] for e in backend.ls("~").entries] == ["/home/ann/.agent/"]
    assert text(backend, "~/../bob/a.md") == "invalid_path"
    assert backend.names(["~/.agent/AGENTS.md"]) == [("/home/ann/.agent/AGENTS.md",)]


@pytest.mark.parametrize("home", ["outside", "unknown"])
def test_home_is_refused_where_it_lies_outside_and_never_a_folder_of_that_name(
    root, monkeypatch, home
):
    monkeypatch.setenv("HOME", str(root.parent) if home == "outside" else "")
    backend = FilesystemBackend(root)

    for path in ("~", "~/AGENTS.md", "~\\AGENTS.md"):
        with pytest.raises(PathRefused, match="~"):
            backend.write(path, "x")
        assert text(backend, path) == "invalid_path"
    assert [*root.iterdir()] == [root / "AGENTS.md"]
    assert backend.write("~ann.md", "a name").error is None
    assert backend.write("/notes~", "a name as well").error is None


def test_a_home_and_a_project_file_load_where_the_root_is_the_whole_disk(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "project"
    for folder, words in ((home, "of the user"), (project, "of the project")):
        (folder / ".deepagents").mkdir(parents=True)
        (folder / ".deepagents" / "AGENTS.md").write_text(words)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    sources = ["~/.deepagents/AGENTS.md", "./.deepagents/AGENTS.md", ".deepagents/AGENTS.md"]

    for backend in (FilesystemBackend("/"), FilesystemBackend(project, virtual_mode=False)):
        loaded = [one.content for one in backend.download_files(sources)]
        assert loaded == [b"of the user", b"of the project", b"of the project"]
        assert text(backend, f"{home}/.deepagents/AGENTS.md") == "of the user"
    whole = FilesystemBackend("/")
    assert [m["path"] for m in whole.grep("of the").matches] == [f"{project}/.deepagents/AGENTS.md"]
    assert [m["path"] for m in whole.glob(f"{home}/.*/*.md").matches] == [
        f"{home}/.deepagents/AGENTS.md"
    ]


# Host paths.


def test_without_virtual_mode_absolute_paths_are_host_paths(root, outside):
    backend = FilesystemBackend(root, virtual_mode=False)

    assert text(backend, str(outside / "secret.md")) == "outside"
    assert text(backend, "AGENTS.md") == "inside"
    assert backend.write("new/a.md", "new").error is None
    assert (root / "new" / "a.md").read_text() == "new"
    assert [e["path"] for e in backend.ls(".").entries] == [f"{root}/AGENTS.md", f"{root}/new/"]
    assert [m["path"] for m in backend.glob("*.md").matches] == [
        f"{root}/AGENTS.md",
        f"{root}/new/a.md",
    ]
    assert backend._resolve_path(str(outside / "secret.md")) == outside / "secret.md"
    assert [e["path"] for e in backend.ls(str(root.parent)).entries] == [
        f"{outside}/",
        f"{root}/",
    ]


def test_a_hidden_root_and_a_current_folder_that_is_gone(tmp_path, monkeypatch):
    hidden = tmp_path / ".agent"
    hidden.mkdir()
    assert FilesystemBackend(hidden, virtual_mode=False).write("a.md", "x").error is None
    assert (hidden / "a.md").read_text() == "x"

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "current folder is gone" in FilesystemBackend("/").read("a.md").error
    assert text(FilesystemBackend("/"), f"{hidden}/a.md") == "x"


def test_without_virtual_mode_links_lead_anywhere(root, outside):
    (root / "link.md").symlink_to(outside / "secret.md")
    backend = FilesystemBackend(root, virtual_mode=False)

    assert text(backend, str(root / "link.md")) == "outside"
    assert backend.edit("link.md", "outside", "edited").error is None
    assert (outside / "secret.md").read_text() == "edited"
    assert (root / "link.md").is_symlink()


def test_the_root_and_what_holds_it_cannot_be_deleted_by_any_path(root):
    (root.parent / "link").symlink_to(root.parent)
    backend = FilesystemBackend(root, virtual_mode=False)

    for path in (".", str(root), str(root.parent), f"{root.parent}/link/root", "/"):
        assert "is the root" in backend.delete(path).error
    assert (root / "AGENTS.md").read_text() == "inside"
    assert backend.delete(f"{root.parent}/link").error is None
    assert not (root.parent / "link").exists()


# What the system says.


def test_every_way_a_path_can_fail_is_a_code_and_a_sentence(root):
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    long = "/" + "n" * 256
    codes = {
        "/gone.md": "file_not_found",
        "/gone/a.md": "file_not_found",
        "/folder": "is_directory",
        "/": "is_directory",
        "/AGENTS.md/below.md": "invalid_path",
        "/pipe": "invalid_path",
        long: "invalid_path",
        "/" + "é" * 128: "invalid_path",
        "/d" * 300: "invalid_path",
        ("/" + "d" * 200) * 20: "invalid_path",
        "/../AGENTS.md": "invalid_path",
        "/.AGENTS.md.memoryware-tmp": "invalid_path",
        "/.AGENTS.md.memoryware-tmp/below.md": "invalid_path",
        "/folder/.x.Memoryware-TMP/deep/below.md": "invalid_path",
    }
    backend = FilesystemBackend(root)
    loaded = backend.download_files([*codes])
    stored = backend.upload_files([(path, b"x") for path in codes if path != "/gone.md"])

    assert {one.path: one.error for one in loaded} == codes
    assert {one.path: one.error for one in stored if one.error} == {
        path: code for path, code in codes.items() if not path.startswith("/gone")
    }
    for path in [*codes][2:10]:
        for result in (backend.read(path), backend.write(path, "x"), backend.edit(path, "a", "b")):
            assert result.error
            assert "Errno" not in result.error
    assert sorted(one.name for one in root.iterdir()) == ["AGENTS.md", "folder", "gone", "pipe"]


def test_a_name_of_the_longest_length_can_be_written_and_edited(root):
    backend = FilesystemBackend(root)
    for name in ("/" + "n" * 255, "/" + "é" * 127, "/" + "n" * 121, "/" + "n" * 120):
        assert backend.write(name, "one").error is None
        assert backend.edit(name, "one", "two").error is None
        assert text(backend, name) == "two"


@pytest.mark.timeout(10)
def test_pipes_devices_and_sockets_are_refused_and_nothing_hangs(root):
    import socket

    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        monkey = os.getcwd()
        os.chdir(root)  # the path of a socket must be short
        server.bind("socket")
        os.chdir(monkey)
        (root / "to-pipe").symlink_to("pipe")
        backend = FilesystemBackend(root)
        for path in ("/pipe", "/socket", "/to-pipe"):
            assert text(backend, path) == "invalid_path"
            assert "regular file" in backend.read(path).error
            assert "regular file" in backend.write(path, "x").error
            assert "regular file" in backend.edit(path, "a", "b").error
        assert [e["path"] for e in backend.ls("/").entries] == ["/AGENTS.md"]
        assert backend.grep("x").error is None
        assert [m["path"] for m in backend.glob("*").matches] == ["/AGENTS.md"]
    host = FilesystemBackend(root, virtual_mode=False)
    assert text(host, "/dev/zero") == text(host, "/dev/null") == "invalid_path"
    assert "regular file" in host.write("/dev/null", "x").error


def test_names_that_no_path_can_spell_are_not_shown(root):
    names = [b"new\nline", b"back\\slash", b"\xff\xfe", b"esc\x1b[31m", b"~", b"x.memoryware-tmp"]
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "w") as file:
            file.write("inside as well")
    backend = FilesystemBackend(root)

    assert [e["path"] for e in backend.ls("/").entries] == ["/AGENTS.md"]
    assert [m["path"] for m in backend.glob("*").matches] == ["/AGENTS.md"]
    assert [m["path"] for m in backend.grep("inside").matches] == ["/AGENTS.md"]


def test_a_root_that_is_not_there_is_empty_and_comes_with_the_first_write(tmp_path):
    backend = FilesystemBackend(tmp_path / "not" / "yet")

    assert backend.ls("/").entries == []
    assert backend.glob("**").matches == backend.grep("x").matches == []
    assert text(backend, "/a.md") == "file_not_found"
    assert backend.ls("/f").error == "Path '/f': path_not_found"
    assert backend._resolve_path("/a.md") == tmp_path / "not" / "yet" / "a.md"
    assert not (tmp_path / "not").exists()
    assert backend.edit("/a.md", "", "x").error == "Error: File '/a.md' not found"
    assert not (tmp_path / "not").exists()
    assert backend.write("/f/a.md", "now").error is None
    assert text(backend, "/f/a.md") == "now"


# Around it.


async def test_building_a_backend_touches_no_disk_on_the_event_loop(root):
    with blockbuster_ctx():
        backend = FilesystemBackend(str(root))
        (answer,) = await backend.adownload_files(["/AGENTS.md"])
        names = await backend.anames(["/AGENTS.md"])

    assert (answer.content, names) == (b"inside", [("/AGENTS.md",)])


def test_the_backend_is_imported_without_a_framework():
    code = (
        "import sys; from memoryware.backends.filesystem import FilesystemBackend as B;"
        "B('/tmp').download_files(['/no-such-file']);"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'langchain', 'langchain_core', 'langgraph', 'langsmith', 'pydantic', 'filelock',"
        " 'typing_extensions', 'deepagents', 'sqlite3', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_name_that_a_backend_gives_means_the_same_when_it_is_given_back(root, monkeypatch):
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("USERPROFILE", str(root))
    (root / "link.md").symlink_to("AGENTS.md")
    backend, host = FilesystemBackend(root), root.as_posix()
    for before in (host, host * 2, host * 5, host[1:] + host, f"~{host}", f"~{host}{host}"):
        for name in ("/AGENTS.md", "/link.md", "/new/file.md"):
            (names,) = backend.names([before + name])
            assert names[0] == name
            assert backend.names([names[0]]) == [names]
    assert text(backend, host * 3 + "/AGENTS.md") == "inside"


def test_a_path_does_not_change_its_meaning_while_a_backend_is_used(root):
    backend, host = FilesystemBackend(root), root.as_posix()
    before = backend.names([host + "/AGENTS.md"])
    (root / host[1:]).mkdir(parents=True)
    (root / host[1:] / "AGENTS.md").write_text("deeper")

    assert backend.names([host + "/AGENTS.md"]) == before == [("/AGENTS.md",)]
    assert FilesystemBackend(root).names([host + "/AGENTS.md"]) == [(host + "/AGENTS.md",)]


def test_a_root_that_is_a_link_is_followed_once(root, tmp_path):
    link = tmp_path / "current"
    link.symlink_to(root)
    backend = FilesystemBackend(link)
    assert text(backend, "/AGENTS.md") == "inside"
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("newer")
    link.unlink()
    link.symlink_to(other)

    assert text(backend, "/AGENTS.md") == "inside"
    assert text(FilesystemBackend(link), "/AGENTS.md") == "newer"


EACH_OPERATION = {
    "ls": lambda backend: backend.ls("/"),
    "glob": lambda backend: backend.glob("*.md"),
    "glob from the root": lambda backend: backend.glob("/*.md", "/"),
    "grep": lambda backend: backend.grep("x", "."),
    "read": lambda backend: backend.read("a.md"),
    "edit": lambda backend: backend.edit("a.md", "x", "y"),
    "write": lambda backend: backend.write("a.md", "x"),
    "append": lambda backend: backend.append("a.md", "x"),
    "delete": lambda backend: backend.delete("a.md"),
    "upload": lambda backend: backend.upload_files([("a.md", b"x")])[0],
    "download": lambda backend: backend.download_files(["a.md"])[0],
}


@pytest.mark.parametrize("virtual", [True, False])
@pytest.mark.parametrize("below", ["", "/folder"])
@pytest.mark.parametrize("name", EACH_OPERATION)
def test_a_file_as_root_is_an_error_of_every_operation(tmp_path, name, below, virtual):
    if not virtual and name in ("ls", "glob from the root"):
        pytest.skip("a host path that does not start at the root")
    (tmp_path / "notes").write_text("a file")
    backend = FilesystemBackend(f"{tmp_path}/notes{below}", virtual_mode=virtual)
    error = EACH_OPERATION[name](backend).error
    if name in ("upload", "download"):
        assert error == "invalid_path"
    else:
        assert "root_dir is a file, or below one; give this backend a folder" in error
        assert str(tmp_path) not in error
    assert (tmp_path / "notes").read_text() == "a file"


def test_a_root_that_was_a_file_works_once_it_is_none(tmp_path):
    (tmp_path / "notes").write_text("a file")
    backend = FilesystemBackend(tmp_path / "notes")
    assert backend.write("/a.md", "x").error
    (tmp_path / "notes").unlink()
    assert backend.write("/a.md", "x").error is None
    assert (tmp_path / "notes" / "a.md").read_text() == "x"


def test_a_root_that_is_not_there_is_empty_until_the_first_write(tmp_path):
    backend = FilesystemBackend(tmp_path / "new" / "notes")
    assert backend.ls("/").entries == []
    assert backend.glob("*.md", "/").matches == []
    assert backend.grep("x", "/").matches == []
    assert "not found" in backend.read("/a.md").error
    assert not (tmp_path / "new").exists()
    assert backend.write("/a.md", "x").error is None
    assert (tmp_path / "new" / "notes" / "a.md").read_text() == "x"
