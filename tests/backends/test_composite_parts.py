"""Anybody's backend may be a part, and a part that fails leaves the others alone."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from backends.shelf import Broken, Grown, Shelf, Strange, Told, either_door, mounted, paths
from memoryware.backends._adapter import is_backend, resolve
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import (
    BackendProtocol,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    LsResult,
    ReadResult,
)
from memoryware.errors import BackendUnavailable, PathRefused, SettingError

ask = either_door

FAILURES = [
    OSError("no route to host"),
    NotImplementedError(),
    BackendUnavailable("no graph is running"),
    KeyError("files"),
]


# -- broken parts -------------------------------------------------------------------------


@pytest.mark.parametrize("error", FAILURES, ids=lambda one: type(one).__name__)
async def test_a_part_that_raises_does_not_hide_the_others(ask, error):
    composite = mounted(Shelf(**{"a.md": "hit"}), bad=Broken(error), good=Shelf(**{"g.md": "hit"}))
    assert paths(await ask(composite, "ls", "/")) == ["/a.md", "/bad/", "/good/"]
    told = await ask(composite, "glob", "*.md")
    assert paths(told) == ["/a.md", "/good/g.md"]
    assert told.error.startswith("'/bad' could not be searched: ")
    told = await ask(composite, "grep", "hit")
    assert paths(told) == ["/a.md", "/good/g.md"]
    assert told.error.startswith("Error: '/bad' could not be searched: ")


@pytest.mark.parametrize("error", FAILURES, ids=lambda one: type(one).__name__)
async def test_a_default_that_raises_does_not_hide_the_mounts(ask, error):
    composite = mounted(Broken(error), good=Shelf(**{"g.md": "hit"}))
    told = await ask(composite, "ls", "/")
    assert paths(told) == ["/good/"]
    assert told.error.endswith("mounted here all the same: /good/")
    assert paths(await ask(composite, "ls", "/good")) == ["/good/g.md"]
    told = await ask(composite, "glob", "*.md")
    assert paths(told) == ["/good/g.md"]
    assert told.error.startswith("'/' could not be searched: ")
    assert told.error.endswith("; found elsewhere: /good/g.md")


@pytest.mark.parametrize("error", FAILURES, ids=lambda one: type(one).__name__)
async def test_no_exception_of_a_part_escapes(ask, error):
    composite = mounted(bad=Broken(error))
    for name, args in [
        ("ls", ("/bad",)),
        ("ls", ("/bad/sub",)),
        ("read", ("/bad/a",)),
        ("write", ("/bad/a", "x")),
        ("edit", ("/bad/a", "x", "y")),
        ("delete", ("/bad/a",)),
        ("append", ("/bad/a", "x")),
        ("glob", ("*", "/bad")),
        ("grep", ("x", "/bad")),
    ]:
        told = await ask(composite, name, *args)
        assert told.error, name
        assert ("Broken" in told.error) or ("no graph is running" in told.error), told.error
    assert (await ask(composite, "download_files", ["/bad/a"]))[0].error
    assert (await ask(composite, "upload_files", [("/bad/a", b"x")]))[0].error
    assert await ask(composite, "fingerprint", ["/bad/a"]) == [None]


async def test_what_a_part_cannot_do_is_said_in_one_sentence(ask):
    told = await ask(mounted(m=BackendProtocol()), "delete", "/m/a")
    assert told.error == "Error: BackendProtocol does not support delete()"
    told = await ask(mounted(m=BackendProtocol()), "ls", "/m")
    assert told.error == "BackendProtocol does not support ls()"


async def test_an_error_of_the_system_does_not_tell_paths_of_this_machine(ask):
    full = OSError(28, "No space left on device", "/srv/real/path")
    told = await ask(mounted(m=Broken(full)), "write", "/m/a", "x")
    assert told.error == "Error: Broken.write() failed with OSError: No space left on device"


async def test_an_unexpected_exception_is_logged_without_the_text_of_files(ask, caplog):
    composite = mounted(m=Broken(ValueError("my secret note")))
    with caplog.at_level(logging.WARNING, "memoryware"):
        await ask(composite, "read", "/m/a")
    assert caplog.messages == ["Broken.read() raised ValueError"]


async def test_errors_that_parts_tell_stand_beside_what_the_others_found(ask):
    composite = mounted(Told(), m=Shelf(**{"a.md": "hit"}), n=Told())
    told = await ask(composite, "ls", "/")
    assert paths(told) == ["/m/", "/n/"]
    assert told.error == "the disk is on fire; mounted here all the same: /m/, /n/"
    told = await ask(composite, "grep", "hit")
    assert paths(told) == ["/m/a.md"]
    assert told.error == (
        "Error: '/' could not be searched: the disk is on fire;"
        " '/n' could not be searched: the disk is on fire"
    )
    told = await ask(composite, "grep", "hit", "/n")
    assert told.error == "Error: the disk is on fire"
    assert told.matches is None


async def test_the_error_of_a_search_names_a_bounded_number_of_files(ask):
    composite = mounted(Told(), m=Shelf(**{f"{n:03}.md": "" for n in range(500)}))
    told = await ask(composite, "glob", "*.md")
    assert len(told.matches) == 500
    assert told.error.endswith("/m/019.md and 480 more")


class Miscounting(Shelf):
    def download_files(self, paths):
        return super().download_files(paths)[:-1]

    def upload_files(self, files):
        return [*super().upload_files(files), FileUploadResponse(path="/extra")]


class Mute(Shelf):
    def download_files(self, paths):
        return [FileDownloadResponse(path=one) for one in paths]


async def test_a_part_that_miscounts_spoils_only_its_own_paths(ask):
    composite = mounted(Shelf(a="1"), m=Miscounting(x="1", y="1"))
    answers = await ask(composite, "download_files", ["/m/x", "/a", "/m/y"])
    assert [one.content for one in answers] == [None, b"1", None]
    assert answers[0].error == "Miscounting.download_files() returned 1 results for 2 files"
    answers = await ask(composite, "upload_files", [("/m/x", b"2"), ("/b", b"2")])
    assert answers[0].error == "Miscounting.upload_files() returned 2 results for 1 files"
    assert answers[1].error is None


async def test_a_part_that_answers_nothing_is_an_error(ask):
    (answer,) = await ask(mounted(m=Mute()), "download_files", ["/m/x"])
    assert answer.error == "Mute.download_files() returned neither content nor an error"


async def test_a_part_that_raises_spoils_only_its_own_paths(ask):
    composite = mounted(Shelf(a="1"), m=Broken(OSError("gone")), n=Broken(PathRefused("/x", "no")))
    answers = await ask(composite, "download_files", ["/m/x", "/a", "/n/x"])
    assert [one.content for one in answers] == [None, b"1", None]
    assert [one.error for one in answers] == [
        "Broken.download_files() failed with OSError: gone", None, "invalid_path",
    ]  # fmt: skip


async def test_an_interrupt_of_the_graph_is_no_failure(ask):
    from langgraph.errors import GraphBubbleUp

    composite = mounted(m=Broken(GraphBubbleUp()))
    for name, args in [("write", ("/m/a", "x")), ("ls", ("/m",)), ("download_files", (["/m/a"],))]:
        with pytest.raises(GraphBubbleUp):
            await ask(composite, name, *args)


async def test_a_cancelled_search_is_cancelled():
    class Slow(Shelf):
        async def aglob(self, pattern, path=None):
            await asyncio.sleep(30)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await mounted(m=Slow()).aglob("*")


# -- other families -----------------------------------------------------------------------


async def test_plain_lists_and_results_of_others_are_read_by_attribute(ask):
    composite = mounted(Shelf(**{"a.md": "hit"}), m=Strange(**{"s.md": "hit\nhit"}))
    assert paths(await ask(composite, "ls", "/m")) == ["/m/s.md"]
    assert paths(await ask(composite, "glob", "*.md")) == ["/a.md", "/m/s.md"]
    told = await ask(composite, "grep", "hit", max_count=2)
    assert paths(told) == ["/a.md", "/m/s.md"]
    assert told.truncated is True
    told = await ask(composite, "read", "/m/s.md")
    assert type(told) is ReadResult
    assert told.file_data["content"] == "hit\nhit"
    assert told.total_lines is None
    assert (await ask(composite, "write", "/m/n.md", "x")).path == "/m/n.md"
    (got,) = await ask(composite, "download_files", ["/m/n.md"])
    assert (got.path, got.content) == ("/m/n.md", b"x")
    assert "does not support edit()" in (await ask(composite, "edit", "/m/n.md", "x", "y")).error


@pytest.mark.parametrize(
    ("answer", "error", "content"),
    [
        ("Error: File '/a' not found", "Error: File '/m/a' not found", None),
        ("     1\thello", None, "     1\thello"),
    ],
)
async def test_a_read_that_answers_text_is_understood(ask, answer, error, content):
    class Old(Shelf):
        def read(self, file_path, offset=0, limit=2000):
            return answer

    told = await ask(mounted(m=Old()), "read", "/m/a")
    assert told.error == error
    assert (told.file_data and told.file_data["content"]) == content


@pytest.mark.parametrize("answer", [None, 5, object()])
async def test_an_answer_that_is_no_answer_is_an_error(ask, answer):
    class Odd(Shelf):
        def ls(self, path):
            return answer

    assert "instead of a LsResult" in (await ask(mounted(m=Odd()), "ls", "/m")).error


async def test_a_part_with_async_methods_only_works_in_the_async_door():
    composite = mounted(m=Grown(a="text"))
    assert (await composite.aread("/m/a")).file_data["content"] == "text"
    assert (await composite.adownload_files(["/m/a"]))[0].content == b"text"
    assert paths(await composite.als("/m")) == ["/m/a"]
    told = await asyncio.to_thread(composite.read, "/m/a")
    assert told.error == "Grown does not support read()"


async def test_a_part_with_sync_methods_only_leaves_the_loop_free():
    seen = []

    class Watched(Shelf):
        def read(self, file_path, offset=0, limit=2000):
            seen.append(threading.current_thread())
            return super().read(file_path, offset, limit)

    await mounted(m=Watched(a="1")).aread("/m/a")
    assert seen[0] is not threading.main_thread()


async def test_a_result_of_a_part_is_not_changed_in_place(ask):
    class Constant(Shelf):
        answer = ReadResult(error="File '/a' not found")

        def read(self, file_path, offset=0, limit=2000):
            return self.answer

    composite = mounted(m=Constant())
    assert (await ask(composite, "read", "/m/a")).error == "File '/m/a' not found"
    assert Constant.answer.error == "File '/a' not found"


# -- lines at the end ---------------------------------------------------------------------


class Adding(Shelf):
    def append(self, file_path, line):
        self.files[file_path] = self.files.get(file_path, "") + line + "\n"
        return EditResult(path=file_path, occurrences=1)

    async def aappend(self, file_path, line):
        return self.append(file_path, line)


async def test_a_line_is_added_by_the_part_that_can(ask):
    part = Adding()
    told = await ask(mounted(m=part), "append", "/m/a", "first")
    assert (told.path, told.error) == ("/m/a", None)
    assert part.files == {"/a": "first\n"}


async def test_a_line_is_added_by_an_edit_where_the_part_cannot(ask):
    part = Shelf(a="one\r\ntwo")
    told = await ask(mounted(m=part), "append", "/m/a", "three")
    assert (told.path, told.occurrences) == ("/m/a", 1)
    assert part.files["/a"] == "one\r\ntwo\r\nthree\r\n"


@pytest.mark.parametrize(("files", "said"), [({}, "not found"), ({"a": ""}, "is empty")])
async def test_a_line_that_cannot_be_added_safely_is_not_added(ask, files, said):
    part = Shelf(**files)
    told = await ask(mounted(m=part), "append", "/m/a", "x")
    assert said in told.error
    assert "'/m/a'" in told.error
    assert "write its first text instead" in told.error
    assert part.files == Shelf(**files).files


async def test_a_line_added_beside_another_writer_loses_nothing(ask):
    class Busy(Shelf):
        meanwhile = 3

        def download_files(self, paths):
            answers = super().download_files(paths)
            if self.meanwhile:
                self.meanwhile -= 1
                self.files["/a"] = f"{self.meanwhile}\n" + self.files["/a"].replace(
                    "old", f"new{self.meanwhile}"
                )
            return answers

    part = Busy(a="old\n")
    told = await ask(mounted(m=part), "append", "/m/a", "mine")
    assert told.error is None
    assert part.files["/a"] == "1\n2\nnew2\nmine\n"


async def test_a_line_is_given_up_when_the_file_never_rests(ask):
    class Restless(Shelf):
        def download_files(self, paths):
            answers = super().download_files(paths)
            self.files["/a"] = f"x{self.files['/a']}"
            return answers

        def edit(self, *args, **kwargs):
            return EditResult(error="Error: String not found in file")

    assert (await ask(mounted(m=Restless(a="1")), "append", "/m/a", "mine")).error


# -- fingerprints -------------------------------------------------------------------------


class Marked(Shelf):
    def fingerprint(self, paths):
        self.asked.append(("fingerprint", paths))
        return [str(hash(self.files.get(one))) for one in paths]

    async def afingerprint(self, paths):
        return self.fingerprint(paths)


async def test_fingerprints_come_from_the_parts_that_have_them_and_never_collide(ask):
    same = Marked(a="x")
    composite = mounted(Marked(a="x"), m=same, n=Shelf(a="x"), o=Marked(a="x"))
    tokens = await ask(composite, "fingerprint", ["/m/a", "/n/a", "/a", "/o/a", "/m"])
    assert tokens[1] is None
    assert tokens[4] is None
    assert len({tokens[0], tokens[2], tokens[3]}) == 3
    same.files["/a"] = "y"
    again = await ask(composite, "fingerprint", ["/m/a", "/n/a", "/a", "/o/a", "/m"])
    assert again[0] != tokens[0]
    assert again[1:] == tokens[1:]
    assert same.asked == [("fingerprint", ["/a"])] * 2


@pytest.mark.parametrize("wrong", [lambda paths: ["one"], lambda paths: 1 / 0, lambda paths: None])
async def test_a_part_with_wrong_fingerprints_is_read_each_time(ask, wrong):
    class Wrong(Marked):
        def fingerprint(self, paths):
            return wrong(paths)

    composite = mounted(Marked(a="x"), m=Wrong(a="x"))
    first, *rest = await ask(composite, "fingerprint", ["/a", "/m/a", "/m/b"])
    assert first is not None
    assert rest == [None, None]


# -- names for path rules -----------------------------------------------------------------


async def test_names_are_those_that_the_parts_know_under_full_paths(ask, tmp_path):
    (tmp_path / "secret.md").write_text("x")
    (tmp_path / "link.md").symlink_to("secret.md")
    composite = mounted(Shelf(), m=FilesystemBackend(root_dir=tmp_path))
    wanted = ["m/link.md", "/m/secret.md", "./a//b.md", "/m/../x", "/m", "~/x", "/m/gone.md"]
    assert await ask(composite, "names", wanted) == [
        ("/m/link.md", "/m/secret.md"),
        ("/m/secret.md",),
        ("/a/b.md",),
        (),
        ("/m",),
        (),
        ("/m/gone.md",),
    ]


@pytest.mark.parametrize("wrong", [lambda paths: [], lambda paths: 1 / 0, lambda paths: None])
async def test_a_part_that_does_not_know_its_names_opens_nothing(ask, wrong):
    class Unsure(Shelf):
        def names(self, paths):
            return wrong(paths)

        async def anames(self, paths):
            return wrong(paths)

    composite = mounted(Shelf(), m=Unsure())
    assert await ask(composite, "names", ["/m/a", "/b"]) == [(), ("/b",)]


@pytest.mark.parametrize("path", [5, None, ["/a"], b"/a"])
async def test_what_is_not_text_is_refused_and_spoils_nothing_else(ask, path):
    composite = mounted(Shelf(a="1"), m=Shelf())
    with pytest.raises(PathRefused, match="must be text"):
        await ask(composite, "read", path)
    answers = await ask(composite, "download_files", [path, "/a"])
    assert [one.error for one in answers] == ["invalid_path", None]


# -- commands -----------------------------------------------------------------------------


class Sandbox(Shelf):
    def execute(self, command, *, timeout=None):
        return SimpleNamespace(output=f"{command} {timeout}", exit_code=0)


class OldSandbox(Shelf):
    def execute(self, command):
        return SimpleNamespace(output=command, exit_code=0)


async def test_a_command_goes_to_the_default(ask):
    assert (await ask(mounted(Sandbox()), "execute", "ls", timeout=5)).output == "ls 5"
    assert (await ask(mounted(OldSandbox()), "execute", "ls", timeout=5)).output == "ls"
    with pytest.raises(NotImplementedError):
        await ask(mounted(Shelf(), m=Sandbox()), "execute", "ls")


# -- factories ----------------------------------------------------------------------------


def test_a_factory_or_a_class_is_called_with_the_runtime():
    runtime = SimpleNamespace(context={"user": "ann"})
    made = resolve(lambda rt: CompositeBackend(Shelf(who=rt.context["user"]), {}), runtime)
    assert made.default.files == {"/who": "ann"}

    class FromRuntime(Shelf):
        def __init__(self, rt):
            super().__init__(who=rt.context["user"])

    assert resolve(FromRuntime, runtime).files == {"/who": "ann"}


def test_a_backend_that_can_be_called_is_a_backend():
    class Callable(Shelf):
        def __call__(self, runtime):
            raise AssertionError

    backend = Callable()
    assert resolve(backend, None) is backend
    assert is_backend(backend)


@pytest.mark.parametrize(
    "wrong", [lambda runtime: None, "/srv", None, lambda runtime: "/srv", lambda runtime: Shelf]
)
def test_a_factory_that_makes_no_backend_is_an_error_that_names_it(wrong):
    with pytest.raises(SettingError, match="backend"):
        resolve(wrong, SimpleNamespace())


# -- cost ---------------------------------------------------------------------------------


def test_the_composite_loads_without_langchain():
    code = (
        "import sys, memoryware.backends.composite\n"
        "print([name for name in sys.modules if name.startswith('lang')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_a_route_is_found_as_fast_among_a_thousand_as_alone():
    paths_asked = [f"/some/folder/file{n}.md" for n in range(2000)]

    def cost(routes):
        parts = {f"/r{n}/": Shelf() for n in range(routes)}
        best = float("inf")
        for _ in range(5):
            composite = CompositeBackend(Shelf(), parts)
            start = time.process_time()
            for path in paths_asked:
                composite._get_backend_and_key(path)
            best = min(best, time.process_time() - start)
        return best

    assert cost(1000) < 3 * cost(1)


def test_the_route_of_a_path_is_remembered_for_a_bounded_number_of_paths():
    composite = mounted(m=Shelf())
    for n in range(10_000):
        composite._get_backend_and_key(f"/m/{n}")
    assert len(composite._router._cache) <= 4096
    assert composite._get_backend_and_key("/m/5")[1] == "/5"


def test_results_of_an_ls_are_ours():
    assert type(mounted(m=Strange(a="1")).ls("/m")) is LsResult
