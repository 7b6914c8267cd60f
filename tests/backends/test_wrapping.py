"""A wrapper sees every change before it happens, whatever backend is inside."""

from __future__ import annotations

import os
import threading

import pytest
from blockbuster import blockbuster_ctx
from deepagents.backends import protocol as theirs
from deepagents.backends.composite import CompositeBackend as TheirComposite
from deepagents.backends.filesystem import FilesystemBackend as TheirDisk
from deepagents.backends.state import StateBackend as TheirState
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langgraph.store.memory import InMemoryStore

from conformance.dict_backend import DictBackend
from kit import ScriptedModel, ask, call, say, tool_messages
from memoryware.backends import CompositeBackend, FilesystemBackend, StateBackend, StoreBackend
from memoryware.backends._wrapping import WrappingBackend
from memoryware.backends.history import HistoryBackend
from memoryware.errors import FileDenied, SettingError


class Watcher(WrappingBackend):
    """Notes what it sees; refuses what has "bad" in it, and writes "good" for "better"."""

    def __init__(self, inner, name="w", notes=None):
        super().__init__(inner)
        self.name, self.notes = name, [] if notes is None else notes

    async def _check_change(self, runner, change):
        self.notes.append((f"{self.name} judged", change.kind, change.before, change.after))
        if b"bad" in (change.after or b""):
            raise FileDenied(change.path, f"'{change.path}' shall not be bad")
        return change.after and change.after.replace(b"good", b"better")

    async def _before_write(self, runner, change):
        self.notes.append((f"{self.name} kept", change.kind, change.before, change.after))

    async def _after_write(self, runner, change):
        self.notes.append((f"{self.name} done", change.kind, change.before, change.after))


class Plain:
    """A backend of somebody who knows nothing of this library: blocking, and old of form."""

    def __init__(self, inner):
        self.inner = inner

    def ls(self, path):
        return self.inner.ls(path)

    def read(self, file_path, offset=0, limit=2000):
        return self.inner.read(file_path, offset, limit)

    def write(self, file_path, content):
        return self.inner.write(file_path, content)

    def edit(self, file_path, old_string, new_string, replace_all=False):
        return self.inner.edit(file_path, old_string, new_string, replace_all)

    def delete(self, file_path):
        return self.inner.delete(file_path)

    def upload_files(self, files):
        return self.inner.upload_files(files)

    def download_files(self, paths):
        return self.inner.download_files(paths)


def a_dict():
    return DictBackend({}, threading.RLock())


def a_store():
    return StoreBackend(store=InMemoryStore(), namespace=("memory",))


INNER = {
    "disk": lambda root: FilesystemBackend(root),
    "store": lambda root: a_store(),
    "dict": lambda root: a_dict(),
    "plain": lambda root: Plain(a_dict()),
    "deepagents": lambda root: TheirDisk(root, virtual_mode=True),
    "composite": lambda root: CompositeBackend(a_store(), {"/f/": FilesystemBackend(root)}),
    "theirs with ours": lambda root: TheirComposite(a_store(), {"/f/": FilesystemBackend(root)}),
    "wrapper": lambda root: WrappingBackend(FilesystemBackend(root)),
}


@pytest.fixture(params=INNER)
def inner(request, tmp_path):
    return INNER[request.param](tmp_path)


def content(backend, path):
    return backend.download_files([path])[0].content


def test_a_change_is_judged_then_kept_then_done(inner):
    backend = Watcher(inner)
    assert backend.write("/f/a.md", "one").error is None
    assert backend.edit("/f/a.md", "one", "two").error is None
    assert backend.append("/f/a.md", "three").error is None
    assert backend.upload_files([("/f/a.md", b"four")])[0].error is None
    assert backend.delete("/f/a.md").error is None

    texts = [None, b"one", b"two", b"two\nthree\n", b"four", None]
    kinds = ["write", "edit", "append", "upload", "delete"]
    assert backend.notes == [
        (f"w {when}", kind, before, after)
        for kind, before, after in zip(kinds, texts[:-1], texts[1:], strict=True)
        for when in ("judged", "kept", "done")
    ]
    assert content(backend, "/f/a.md") is None


def test_what_is_refused_leaves_everything_as_it_was(inner):
    backend = Watcher(inner)
    backend.write("/f/a.md", "one")
    for result in (
        backend.write("/f/a.md", "bad"),
        backend.edit("/f/a.md", "one", "bad"),
        backend.append("/f/a.md", "bad"),
        backend.write("/f/g/new.md", "bad"),
        backend.append("/f/new.md", "bad"),
    ):
        assert result.error == f"Error: '{result_path(result)}' shall not be bad"
    answers = backend.upload_files([("/f/a.md", b"bad"), ("/f/b.md", b"fine")])
    assert [one.error for one in answers] == ["permission_denied", None]
    assert content(backend, "/f/a.md") == b"one"
    assert [one["path"] for one in backend.ls("/f").entries] == ["/f/a.md", "/f/b.md"]
    assert [
        note for note in backend.notes if b"bad" in (note[3] or b"") and "kept" in note[0]
    ] == []


def result_path(result):
    return result.error.split("'")[1]


def test_what_is_rewritten_is_what_is_kept_and_stored(inner):
    backend = Watcher(inner)
    backend.write("/f/a.md", "good\n")
    backend.append("/f/a.md", "as good")
    assert content(backend, "/f/a.md") == b"better\nas better\n"
    assert [note[3] for note in backend.notes if note[0] == "w kept"] == [
        b"better\n",
        b"better\nas better\n",
    ]


@pytest.mark.parametrize("between", [lambda one: one, lambda one: CompositeBackend(one, {})])
def test_all_wrappers_have_judged_before_any_keeps(tmp_path, between):
    notes = []
    inside = Watcher(FilesystemBackend(tmp_path), "inner", notes)
    backend = Watcher(between(inside), "outer", notes)
    backend.write("/a.md", "good")
    assert [note[0] for note in notes] == [
        *("outer judged", "inner judged"),
        *("outer kept", "inner kept"),
        *("inner done", "outer done"),
    ]
    assert {note[3] for note in notes if "kept" in note[0]} == {b"better"}
    notes.clear()
    assert backend.write("/a.md", "bad").error
    assert [note[0] for note in notes] == ["outer judged"]


def test_a_history_keeps_what_was_stored_wherever_it_is_put(tmp_path):
    outside = HistoryBackend(Watcher(FilesystemBackend(tmp_path / "a")))
    inside = Watcher(HistoryBackend(FilesystemBackend(tmp_path / "b")))
    for backend, history in ((outside, outside), (inside, inside.inner)):
        assert backend.write("/a.md", "bad").error
        assert backend.log("/a.md") == [] if backend is history else history.log("/a.md") == []
        backend.write("/a.md", "good")
        assert history.show("/a.md", 1) == "better"
        assert [one.number for one in history.log("/a.md")] == [1]


class Deaf(DictBackend):
    """A backend that cannot tell the names of files just now."""

    def names(self, paths):
        raise ConnectionError

    async def anames(self, paths):
        raise ConnectionError


def test_a_file_whose_names_cannot_be_told_is_judged_all_the_same():
    backend = Watcher(Deaf({}, threading.RLock()))
    assert backend.write("/a.md", "bad").error
    assert backend.write("/a.md", "one").error is None
    assert [note[0] for note in backend.notes] == ["w judged", "w judged", "w kept", "w done"]


class Picky(FilesystemBackend):
    """A disk with a way of writing of its own."""

    def write(self, file_path, content):
        return super().write(file_path, content + "\n-- signed\n")

    def upload_files(self, files):
        raise PermissionError("no uploads here")


def test_a_way_of_writing_of_ones_own_is_not_passed_by(tmp_path):
    backend = WrappingBackend(Picky(tmp_path))
    assert backend.write("/a.md", "one").error is None
    assert (tmp_path / "a.md").read_text() == "one\n-- signed\n"
    assert "no uploads here" in backend.write("/b.md", "one\r\n").error


class Disturbed(WrappingBackend):
    """Somebody else writes past it, right before it would."""

    def __init__(self, inner, *others):
        super().__init__(inner)
        self.others = [*others]

    async def _before_write(self, runner, change):
        if self.others:
            self.others.pop(0)()


def test_who_writes_past_a_wrapper_is_not_overwritten():
    inner = Plain(a_dict())
    others = [lambda n=n: inner.inner.write("/a.md", f"{n}\n") for n in range(1, 4)]
    inner.write("/a.md", "0\n")
    assert Disturbed(inner, *others).append("/a.md", "mine").error is None
    assert content(inner, "/a.md") == b"3\nmine\n"
    assert Disturbed(inner, *others).edit("/a.md", "mine", "yours").error, (
        "it is not there any more"
    )
    assert content(inner, "/a.md") == b"1\n"


def test_lines_that_are_added_past_a_wrapper_stay():
    inner = Plain(a_dict())
    inner.write("/a.md", "0\n")
    backend = HistoryBackend(Disturbed(inner, lambda: inner.inner.append("/a.md", "theirs")))
    assert backend.append("/a.md", "mine").error is None
    assert sorted(content(inner, "/a.md").split()) == [b"0", b"mine", b"theirs"]
    assert backend.append("/a.md", "more").error is None
    assert [one.kind for one in backend.log("/a.md")] == ["append", "outside", "append", "found"]


def test_who_is_never_left_alone_gives_up_and_says_so():
    inner = Plain(a_dict())
    others = [lambda n=n: inner.inner.write("/a.md", f"{n}\n") for n in range(100)]
    inner.write("/a.md", "first\n")
    result = Disturbed(inner, *others).append("/a.md", "mine")
    assert "other writers changed it at each attempt" in result.error
    assert b"mine" not in content(inner, "/a.md")


def test_no_version_is_left_of_an_attempt_that_came_too_late(tmp_path):
    other = FilesystemBackend(tmp_path)
    others = [lambda n=n: (tmp_path / "a.md").write_text(f"{n}") for n in range(3)]
    backend = HistoryBackend(Disturbed(other, *others))
    assert backend.write("/a.md", "mine").error is None
    assert [(one.kind, one.applied) for one in backend.log("/a.md")] == [
        ("write", True),
        ("found", True),
    ]
    assert backend.show("/a.md", 1) == "2"


def test_no_version_is_left_of_an_edit_whose_text_was_gone_in_the_end(tmp_path):
    disk = FilesystemBackend(tmp_path)
    disk.write("/a.md", "one\n")
    gone = lambda: (tmp_path / "a.md").write_text("other\n")
    backend = HistoryBackend(Disturbed(disk, gone))
    assert "not found" in backend.edit("/a.md", "one", "two").error
    assert backend.log("/a.md") == []
    backend.append("/a.md", "more")
    assert [one.kind for one in backend.log("/a.md")] == ["append", "found"]


class Forgetful(FilesystemBackend):
    """A disk that at times cannot tell names, or list."""

    able = True

    def names(self, paths):
        return super().names(paths) if self.able else [()] * len(paths)

    def ls(self, path):
        if not self.able and path != "/":
            raise ConnectionError("gone")
        return super().ls(path)


def test_no_file_of_a_folder_is_deleted_unseen(tmp_path):
    inner = Forgetful(tmp_path)
    backend = HistoryBackend(inner)
    backend.write("/f/g/a.md", "text")
    inner.able = False
    assert "was not deleted" in backend.delete("/f").error
    assert (tmp_path / "f" / "g" / "a.md").read_text() == "text"
    inner.ls = super(Forgetful, inner).ls
    assert backend.delete("/f").error is None
    inner.able = True
    assert [one.kind for one in backend.log("/f/g/a.md")] == ["delete", "write"]


def test_an_empty_folder_is_deleted(tmp_path):
    for name, inner in (
        ("ours", FilesystemBackend(tmp_path)),
        ("theirs", TheirDisk(tmp_path, virtual_mode=True)),
    ):
        (tmp_path / name / "empty").mkdir(parents=True)
        assert HistoryBackend(inner).delete(f"/{name}").error is None
        assert not (tmp_path / name).exists()


def test_a_refused_path_is_refused_at_the_wrapper_as_inside(inner):
    backend = Watcher(inner)
    for path in ("/../a.md", "/a\0.md"):
        for change in (
            lambda path: backend.write(path, "x"),
            lambda path: backend.append(path, "x"),
            lambda path: backend.delete(path),
        ):
            with pytest.raises(ValueError):
                change(path)
        assert backend.upload_files([(path, b"x")])[0].error == "invalid_path"
    assert backend.notes == []


@pytest.mark.parametrize("name", ["disk", "store", "composite"])
async def test_the_event_loop_is_left_free(name, tmp_path):
    backend = Watcher(INNER[name](tmp_path))
    await backend.awrite("/f/warm.md", "up")
    with blockbuster_ctx():
        await backend.awrite("/f/a.md", "one")
        await backend.aedit("/f/a.md", "one", "two")
        await backend.aappend("/f/a.md", "three")
        await backend.aupload_files([("/f/b.md", b"x")])
        await backend.adelete("/f/a.md")
    assert content(backend, "/f/a.md") is None


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_a_refused_write_leaves_no_new_folders(tmp_path):
    backend = Watcher(FilesystemBackend(tmp_path))
    (tmp_path / "there").mkdir()
    assert backend.write("/there/one/two/a.md", "bad").error
    assert backend.write("/new/a.md", "bad").error
    assert [one.name for one in tmp_path.rglob("*")] == ["there"]


def test_only_a_backend_can_be_wrapped():
    for wrong in (None, "x", StateBackend, lambda _: StateBackend()):
        with pytest.raises(SettingError):
            WrappingBackend(wrong)


# What deepagents takes a wrapper for.


@pytest.mark.parametrize("wrap", [WrappingBackend, HistoryBackend])
def test_deepagents_takes_a_wrapper_for_what_is_in_it(wrap, tmp_path):
    state, disk = StateBackend(), FilesystemBackend(tmp_path)
    assert isinstance(wrap(state), TheirState)
    assert isinstance(wrap(disk), TheirDisk)
    assert isinstance(wrap(CompositeBackend(state, {})), TheirComposite)
    assert isinstance(wrap(wrap(TheirState())), TheirState)
    assert not isinstance(wrap(disk), TheirState)
    assert not isinstance(wrap(a_store()), TheirDisk | TheirState | theirs.SandboxBackendProtocol)
    for inner in (state, disk, a_store()):
        assert isinstance(wrap(inner), theirs.BackendProtocol)
        assert isinstance(wrap(inner), wrap)
        assert type(wrap(inner)).__name__ == wrap.__name__


class Sandbox(theirs.SandboxBackendProtocol):
    @property
    def id(self):
        return "box"

    def execute(self, command, *, timeout=None):
        return theirs.ExecuteResponse(output=f"ran {command}", exit_code=0, truncated=False)


def test_commands_are_handed_through_to_a_sandbox():
    backend = HistoryBackend(Sandbox())
    assert isinstance(backend, theirs.SandboxBackendProtocol)
    assert (backend.id, backend.execute("ls").output) == ("box", "ran ls")
    model = ScriptedModel(call("execute", command="ls"), say())
    agent = create_agent(model, middleware=[FilesystemMiddleware(backend=backend)])
    assert "ran ls" in tool_messages(ask(agent))[0].text
    with pytest.raises(NotImplementedError):
        HistoryBackend(a_dict()).execute("ls")
    with pytest.raises(AttributeError):
        _ = HistoryBackend(a_dict()).id


def test_their_tools_write_through_a_history_of_the_state():
    backend = HistoryBackend(StateBackend())
    model = ScriptedModel(call("write_file", file_path="/a.md", content="one"), say())
    agent = create_agent(model, middleware=[FilesystemMiddleware(backend=backend)])
    files = ask(agent)["files"]
    assert files["/a.md"]["content"] == "one"
    assert len(files) == 2, "the file and its version"
