"""The tools on backends of other people: whole ones, half ones, old ones, broken ones."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from kit import ScriptedModel, aask, ask, call, tool_messages
from memoryware.backends.protocol import BackendProtocol, FileDownloadResponse, WriteResult
from memoryware.middleware.file_tools import FileToolsMiddleware


@pytest.fixture(params=["blocking", "async"])
def run(request):
    def go(backend, *turns, **options):
        middleware = FileToolsMiddleware(backend=backend, **options)
        agent = create_agent(ScriptedModel(*turns), middleware=[middleware])
        if request.param == "blocking":
            return tool_messages(ask(agent))
        return tool_messages(asyncio.run(aask(agent)))

    return go


class Paper(BackendProtocol):
    """Can only be read and written as a whole, and only blocking."""

    def __init__(self, **files):
        self.files = {f"/{name}.md": text for name, text in files.items()}

    def download_files(self, paths):
        return [
            FileDownloadResponse(path, content=self.files[path].encode())
            if path in self.files
            else FileDownloadResponse(path, error="file_not_found")
            for path in paths
        ]

    def write(self, file_path, content):
        self.files[file_path] = content
        return WriteResult(path=file_path)


EVERYTHING = [
    call("ls", path="/"),
    call("read_file", file_path="/a.md"),
    call("write_file", file_path="/a.md", content="x"),
    call("edit_file", file_path="/a.md", old_string="a", new_string="b"),
    call("edit_file", file_path="/a.md", old_string="", new_string="b"),
    call("append_file", file_path="/a.md", text="b"),
    call("delete", file_path="/a.md"),
    call("glob", pattern="*"),
    call("grep", pattern="a"),
]


def test_what_a_backend_cannot_do_is_said_and_the_run_goes_on(run):
    said = run(Paper(a="a"), *EVERYTHING)

    assert [one.status for one in said] == [
        *("error", "error", "success", "error", "error", "error", "error", "error", "error")
    ]
    assert all(one.content.startswith("Error: ") for one in said if one.status == "error")
    assert "ls" in said[0].content


def test_a_line_goes_into_a_missing_file_also_where_the_backend_cannot_append(run):
    paper = Paper()

    (said,) = run(paper, call("append_file", file_path="/a.md", text="first"))

    assert said.status == "success", said.content
    assert paper.files == {"/a.md": "first\n"}


class Broken:
    """Raises what it is given, from every method, in both doors."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        if name.startswith("_") or name in ("append", "aappend", "names", "anames"):
            raise AttributeError(name)

        def fail(*_, **__):
            raise self.error

        async def afail(*_, **__):
            raise self.error

        asynchronous = name in ("als", "aread", "awrite", "aedit", "adelete", "aglob", "agrep")
        return afail if asynchronous or name.startswith(("adown", "aup")) else fail


class OddError(Exception):
    """An error of a library that nobody here knows."""


@pytest.mark.parametrize(
    "error",
    [
        OddError("boom"),
        ValueError("bad value"),
        OSError(28, "No space left on device", "/srv/real/path"),
        KeyError("files"),
        TypeError("wrong type"),
        NotImplementedError(),
        TimeoutError(),
        PermissionError(13, "Permission denied", "/srv/real/path"),
        AssertionError(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_no_error_of_a_backend_ends_the_run_or_shows_real_paths(run, error):
    said = run(Broken(error), *EVERYTHING)

    assert [one.status for one in said] == ["error"] * len(EVERYTHING)
    for one in said:
        assert one.content.startswith("Error: ")
        assert len(one.content) < 500
        assert "/srv/real" not in one.content


def test_no_rule_is_skipped_because_a_backend_fails_to_name_its_files(run):
    class Nameless(Paper):
        def names(self, paths):
            raise OddError("no names today")

        async def anames(self, paths):
            raise OddError("no names today")

    paper = Nameless(a="a")

    (said,) = run(paper, call("write_file", file_path="/a.md", content="x"), deny=["/b.md"])

    assert said.status == "error"
    assert paper.files == {"/a.md": "a"}


class Old:
    """Answers as backends did years ago: with texts and plain lists."""

    def download_files(self, paths):
        return [SimpleNamespace(path=one, content=b"x", error=None) for one in paths]

    def ls(self, path):
        return [{"path": "/a.md"}]

    def read(self, file_path, offset=0, limit=2000):
        return "Error: File '/no.md' not found" if "no" in file_path else "     1\tone"

    def glob(self, pattern, path="/"):
        return [{"path": "/a.md"}, {"path": "/secret.md"}]

    def grep(self, pattern, path=None, glob=None):
        return [{"path": "/a.md", "line": n, "text": "one"} for n in range(1, 9)]


def test_backends_of_old_that_answer_with_texts_and_lists_work(run):
    said = run(
        Old(),
        call("ls"),
        call("read_file", file_path="/a.md"),
        call("read_file", file_path="/no.md"),
        call("glob", pattern="*"),
        call("grep", pattern="one", output_mode="count", max_count=3),
        deny=["/secret.md"],
    )

    assert said[0].content == "['/a.md']"
    assert said[1].content == "     1\tone"
    assert said[2].status == "error"
    assert said[2].content.startswith("Error: File '/no.md' not found")
    assert said[3].content == "['/a.md']"
    assert said[4].content.startswith("/a.md: 3")


def test_a_backend_may_interrupt_the_graph():
    class Asks(Paper):
        def write(self, file_path, content):
            return super().write(file_path, content + interrupt("really?"))

    paper = Asks()
    agent = create_agent(
        ScriptedModel(call("write_file", file_path="/a.md", content="x")),
        middleware=[FileToolsMiddleware(backend=paper)],
        checkpointer=InMemorySaver(),
    )

    first = ask(agent, thread="t")
    config = {"configurable": {"thread_id": "t"}}
    (said,) = tool_messages(agent.invoke(Command(resume="!"), config))

    assert first["__interrupt__"][0].value == "really?"
    assert said.status == "success"
    assert paper.files == {"/a.md": "x!"}


def test_the_tools_work_on_a_backend_of_deepagents(run, tmp_path):
    backends = pytest.importorskip("deepagents.backends")
    disk = backends.FilesystemBackend(root_dir=tmp_path, virtual_mode=True)

    said = run(
        disk,
        call("write_file", file_path="/a.md", content="one\none\n"),
        call("edit_file", file_path="/a.md", old_string="one", new_string="1"),
        call("append_file", file_path="/a.md", text="three"),
        call("append_file", file_path="/b.md", text="first"),
        call("read_file", file_path="a.md"),
        call("write_file", file_path="/e.md", content=""),
        call("edit_file", file_path="/e.md", old_string="", new_string="filled"),
        call("edit_file", file_path="/a.md", old_string="", new_string="x"),
        call("ls"),
        call("delete", file_path="/a.md"),
        call("read_file", file_path="/../../etc/passwd"),
        first_match=True,
    )

    assert [one.status for one in said[:7]] == ["success"] * 7, [one.content for one in said]
    assert said[4].content == "@@ lines 1-3 of 3 @@\n1\none\nthree"
    assert said[7].status == "error"
    assert said[8].content == "['/a.md', '/b.md', '/e.md']"
    assert said[10].status == "error"
    assert (tmp_path / "b.md").read_text() == "first\n"
    assert (tmp_path / "e.md").read_text() == "filled"
