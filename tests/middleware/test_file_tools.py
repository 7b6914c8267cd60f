"""The file tools as an agent meets them: what they take, what they say, what they do."""

from __future__ import annotations

import asyncio
import base64

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime
from langchain_core.messages import SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from kit import ScriptedModel, aask, ask, call, calls, say, tool_messages
from limits import limited
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.state import StateBackend
from memoryware.errors import PatternRefused, SettingError
from memoryware.middleware.file_tools import FileToolsMiddleware
from memoryware.settings import ToolLimits

ALL = ["append_file", "delete", "edit_file", "glob", "grep", "ls", "read_file", "write_file"]


@pytest.fixture(params=["blocking", "async"])
def run(request):
    """Let a model make tool calls, one after the other, and return what the tools said."""

    def go(middleware, *turns, **given):
        agent = create_agent(ScriptedModel(*turns), middleware=[middleware])
        if request.param == "blocking":
            return tool_messages(ask(agent, **given))
        return tool_messages(asyncio.run(aask(agent, **given)))

    return go


@pytest.fixture
def disk(tmp_path):
    return FilesystemBackend(root_dir=tmp_path)


def by_hand(middleware, name, **arguments):
    """Call a tool without any graph, as users do in their own tests."""
    runtime = ToolRuntime(
        state={}, context=None, config={}, stream_writer=print, tool_call_id="by-hand", store=None
    )
    tool = next(one for one in middleware.tools if one.name == name)
    return tool.invoke({"runtime": runtime, **arguments})


# -- what the tools say --------------------------------------------------------------------


def test_each_tool_does_its_work_and_says_so_in_the_known_words(run, disk, tmp_path):
    said = run(
        FileToolsMiddleware(backend=disk),
        call("write_file", file_path="/notes.md", content="one\ntwo\nthree\nfour\nfive\n"),
        call("read_file", file_path="/notes.md", offset=0, limit=2),
        call("edit_file", file_path="/notes.md", old_string="two", new_string="2"),
        call("append_file", file_path="/notes.md", text="six"),
        call("ls", path="/"),
        call("glob", pattern="*.md"),
        call("grep", pattern="ne"),
        call("grep", pattern="i", output_mode="content"),
        call("grep", pattern="i", output_mode="count"),
        call("delete", file_path="/notes.md"),
        call("ls", path="/"),
        call("glob", pattern="*.md"),
        call("grep", pattern="ne"),
    )

    assert [one.status for one in said] == ["success"] * 13
    assert [one.content for one in said] == [
        "Updated file /notes.md",
        "@@ lines 1-2 of 5 | next offset 2 @@\none\ntwo",
        "Successfully replaced 1 instance(s) of the string in '/notes.md'",
        "Added to the end of /notes.md",
        "['/notes.md']",
        "['/notes.md']",
        "/notes.md",
        "/notes.md:\n  5: five\n  6: six",
        "/notes.md: 2",
        "Deleted /notes.md",
        "No files found",
        "No files found",
        "No matches found",
    ]
    assert list(tmp_path.glob("*.md")) == []


def test_every_answer_is_a_tool_message_with_name_and_call_id(run, disk):
    good = call("ls", path="/")
    bad = call("read_file", file_path="/none.md")
    worse = call("read_file")

    said = run(FileToolsMiddleware(backend=disk), good, bad, worse)

    assert [(one.name, one.status) for one in said] == [
        ("ls", "success"),
        ("read_file", "error"),
        ("read_file", "error"),
    ]
    asked = [turn.tool_calls[0]["id"] for turn in (good, bad, worse)]
    assert [one.tool_call_id for one in said] == asked


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (call("read_file", file_path="/no.md"), "Error: File '/no.md' not found. Use glob or ls"),
        (call("ls", path="/no"), "Error: Path '/no': path_not_found"),
        (call("ls", path="/a.md"), "not_a_directory. This is a file; use read_file"),
        (call("read_file", file_path="/a.md", offset=9), "Error: Line offset 9 exceeds"),
        (call("read_file", file_path="/../a.md"), "Error: Path traversal not allowed: /../a.md"),
        (call("delete", file_path="a/../a.md"), "Error: Path traversal not allowed"),
        (call("ls", path=".."), "Error: Path traversal not allowed"),
        (call("write_file", file_path="C:\\a.md", content=""), "Error: Windows absolute paths"),
        (call("edit_file", file_path="c:/a", old_string="a", new_string="b"), "Error: Windows abs"),
        (call("glob", pattern="../*"), "Error: Path traversal not allowed"),
        (call("glob", pattern=""), "Error: Glob pattern '' is empty"),
        (call("grep", pattern=""), "Error: The text to search for is empty"),
        (call("read_file", file_path="/a\0.md"), "contains a control character"),
        (call("delete", file_path="/"), "Error: '/' holds everything and cannot be deleted"),
        (call("delete", file_path="~"), "Error: '~' holds everything and cannot be deleted"),
        (call("delete", file_path="~/."), "Error: '~/.' holds everything and cannot be deleted"),
        (call("delete", file_path="/no.md"), "not found. Use glob or ls to see which files"),
        (
            call("edit_file", file_path="/a.md", old_string="l", new_string="x"),
            "Error: String 'l' appears 2 times in file. Use replace_all=True",
        ),
        (
            call("edit_file", file_path="/a.md", old_string="zz", new_string="x"),
            "Error: String not found in file: 'zz'",
        ),
        (
            call("edit_file", file_path="/no.md", old_string="zz", new_string="x"),
            "Error: File '/no.md' not found. Use write_file to create it, or glob or ls to see",
        ),
        (
            call("edit_file", file_path="/a.md", old_string="", new_string="x"),
            "Error: old_string cannot be empty, because '/a.md' has text",
        ),
        (
            call("write_file", file_path="/b.md", content="\ud800"),
            "cannot be stored as UTF-8",
        ),
    ],
)
def test_a_mistake_is_answered_with_what_is_wrong_and_changes_nothing(
    run, disk, tmp_path, turn, told
):
    (tmp_path / "a.md").write_text("all\n")

    (said,) = run(FileToolsMiddleware(backend=disk), turn)

    assert said.status == "error"
    assert said.content.startswith("Error: ")
    assert told in said.content
    assert (tmp_path / "a.md").read_text() == "all\n"
    assert [one.name for one in tmp_path.iterdir()] == ["a.md"]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (call("read_file"), "file_path"),
        (call("read_file", name="/a.md"), "file_path"),
        (call("read_file", file_path=["/a.md"]), "file_path"),
        (call("read_file", file_path="/a.md", limit="many"), "limit"),
        (call("write_file", file_path="/a.md", content={"a": 1}), "content"),
        (call("edit_file", file_path="/a.md", new_string="x"), "old_string"),
        (call("grep", pattern="a", output_mode="lines"), "output_mode"),
        (call("grep", pattern="a", max_count=0), "max_count"),
    ],
)
def test_wrong_arguments_are_answered_with_the_arguments_that_the_tool_takes(run, disk, turn, told):
    (said,) = run(FileToolsMiddleware(backend=disk), turn)

    name = turn.tool_calls[0]["name"]
    assert said.status == "error"
    assert said.content.startswith(f"Error: wrong arguments for {name}, nothing was done. {told}: ")
    assert "It takes: " in said.content


def test_arguments_may_be_spelled_as_models_spell_them(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo\nthree\n")

    said = run(
        FileToolsMiddleware(backend=disk),
        call("read_file", path="/a.md", offset="1", limit="1"),
        call("read_file", file_path="a.md", offset=None, limit=1.0),
        call("edit_file", path="./a.md", old_string="e", new_string="E", replace_all="true"),
        call("append_file", path="//a.md", content="four"),
        call("ls"),
        call("ls", file_path="/"),
        call("grep", pattern="four", path=None, glob=None, max_count="1"),
    )

    assert [one.content for one in said] == [
        "@@ lines 2-2 of 3 | next offset 2 @@\ntwo",
        "@@ lines 1-1 of 3 | next offset 1 @@\none",
        "Successfully replaced 3 instance(s) of the string in './a.md'",
        "Added to the end of //a.md",
        "['/a.md']",
        "['/a.md']",
        "/a.md",
    ]
    assert (tmp_path / "a.md").read_text() == "onE\ntwo\nthrEE\nfour\n"


def test_the_schemas_that_a_model_sees_name_file_path_only_and_describe_every_argument():
    for tool in FileToolsMiddleware(backend=StateBackend()).tools:
        shown = convert_to_openai_tool(tool)["function"]["parameters"]["properties"]

        assert "runtime" not in shown
        assert all(one.get("description") for one in shown.values()), tool.name
        assert all("type" in one or "anyOf" in one for one in shown.values()), tool.name
        if tool.name not in ("ls", "glob", "grep"):
            assert "file_path" in shown
            assert "path" not in shown


def test_tools_can_be_called_by_hand_without_a_graph(disk):
    middleware = FileToolsMiddleware(backend=disk)

    wrote = by_hand(middleware, "write_file", file_path="/a.md", content="hello")
    listed = by_hand(middleware, "ls", path="/")

    assert (wrote.name, wrote.status, wrote.tool_call_id) == ("write_file", "success", "by-hand")
    assert listed.content == "['/a.md']"


def test_a_state_backend_called_by_hand_says_that_it_needs_a_graph():
    said = by_hand(FileToolsMiddleware(backend=StateBackend()), "ls", path="/")

    assert said.status == "error"
    assert "graph" in said.content


# -- reading -------------------------------------------------------------------------------


def test_what_read_file_shows_can_be_copied_into_an_edit(run, disk, tmp_path):
    odd = "\tif x:\r\n\t\treturn  1  \r\n"
    (tmp_path / "a.py").write_bytes(odd.encode())

    def copy(messages):
        shown = messages[-1].content.split("\n", 1)[1]
        return call("edit_file", file_path="/a.py", old_string=shown, new_string="\tpass")

    said = run(FileToolsMiddleware(backend=disk), call("read_file", file_path="/a.py"), copy)

    assert said[1].status == "success"
    assert (tmp_path / "a.py").read_bytes() == b"\tpass\r\n"


def test_an_empty_file_is_told_from_a_missing_one_and_can_be_filled(run, disk, tmp_path):
    (tmp_path / "a.md").touch()

    said = run(
        FileToolsMiddleware(backend=disk),
        call("read_file", file_path="/a.md"),
        call("edit_file", file_path="/a.md", old_string="", new_string="- likes tea\n"),
    )

    assert [one.status for one in said] == ["success", "success"]
    assert "empty" in said[0].content
    assert (tmp_path / "a.md").read_text() == "- likes tea\n"


def test_reading_no_lines_says_how_to_read_some(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("one\n")

    (said,) = run(FileToolsMiddleware(backend=disk), call("read_file", file_path="/a.md", limit=0))

    assert said.status == "success"
    assert "limit" in said.content


@pytest.mark.parametrize(
    ("name", "kind", "mime"),
    [
        ("p.png", "image", "image/png"),
        ("s.mp3", "file", "audio/mpeg"),
        ("v.mp4", "file", "video/mp4"),
        ("d.pdf", "file", "application/pdf"),
    ],
)
def test_media_come_as_a_content_block(run, disk, tmp_path, name, kind, mime):
    (tmp_path / name).write_bytes(b"\x89\0\1\2")

    (said,) = run(FileToolsMiddleware(backend=disk), call("read_file", file_path=f"/{name}"))

    data = base64.b64encode(b"\x89\0\1\2").decode()
    assert said.content == [{"type": kind, "base64": data, "mime_type": mime}]


def test_media_above_the_limit_are_not_shown(run, disk, tmp_path):
    (tmp_path / "p.png").write_bytes(b"\x89" * 2000)
    middleware = FileToolsMiddleware(backend=disk, limits=limited(ToolLimits, media_bytes=1000))

    (said,) = run(middleware, call("read_file", file_path="/p.png"))

    assert said.status == "error"
    assert "1000 bytes" in said.content


# -- bounds --------------------------------------------------------------------------------


def test_a_long_file_is_cut_at_a_line_with_the_offset_to_go_on(run, disk, tmp_path):
    lines = [f"line {n:03d}" for n in range(200)]
    (tmp_path / "a.md").write_text("\n".join(lines) + "\n")
    middleware = FileToolsMiddleware(backend=disk, limits=ToolLimits(result_tokens=25))

    read = []

    def more(messages):
        text = messages[-1].content
        header = next(one for one in text.split("\n") if one.startswith("@@"))
        read.extend(one for one in text.split("\n") if one.startswith("line "))
        if "next offset" not in header:
            return say()
        offset = int(header.split("next offset ")[1].split(" ")[0])
        return call("read_file", file_path="/a.md", offset=offset, limit=200)

    first = call("read_file", file_path="/a.md", limit=200)
    said = run(middleware, first, *[more] * 30)

    assert read == lines
    assert all(len(one.content) < 250 for one in said)
    assert "fit" in said[0].content


def test_a_line_longer_than_a_result_is_shown_in_part_and_said_to_be(run, disk, tmp_path):
    (tmp_path / "a.json").write_text("x" * 5000 + "\nsecond\n")
    middleware = FileToolsMiddleware(backend=disk, limits=ToolLimits(result_tokens=25))

    said = run(
        middleware,
        call("read_file", file_path="/a.json"),
        call("read_file", file_path="/a.json", offset=1),
    )

    assert "5000 characters" in said[0].content
    assert "next offset 1" in said[0].content
    assert said[0].content.count("x") < 120
    assert said[1].content == "@@ lines 2-2 of 2 @@\nsecond"


def test_long_lists_are_cut_and_say_so(run, disk, tmp_path):
    for n in range(100):
        (tmp_path / f"file-{n:03d}.md").write_text("needle\n")
    middleware = FileToolsMiddleware(backend=disk, limits=ToolLimits(result_tokens=50))

    said = run(
        middleware,
        call("ls", path="/"),
        call("glob", pattern="*.md"),
        call("grep", pattern="needle"),
        call("grep", pattern="needle", output_mode="content", max_count=2),
    )

    assert all(len(one.content) < 400 for one in said)
    assert "of 100 paths are shown" in said[0].content
    assert "of 100 paths are shown" in said[1].content
    assert "more lines do not fit" in said[2].content
    assert said[3].content.startswith("/file-000.md:\n  1: needle\n/file-001.md:\n  1: needle")
    assert "more" in said[3].content


def test_grep_shows_the_part_of_a_long_line_where_the_match_is(run, disk, tmp_path):
    (tmp_path / "a.js").write_text("a" * 3000 + "needle" + "b" * 3000 + "\n")
    middleware = FileToolsMiddleware(backend=disk, limits=limited(ToolLimits, line_chars=100))

    (said,) = run(middleware, call("grep", pattern="needle", output_mode="content"))

    assert "needle" in said.content
    assert len(said.content) < 200
    assert said.content.count("…") == 2


def test_read_file_shows_as_many_lines_as_the_settings_say(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo\nthree\n")
    middleware = FileToolsMiddleware(backend=disk, limits=ToolLimits(read_lines=2))

    (said,) = run(middleware, call("read_file", file_path="/a.md"))

    assert said.content == "@@ lines 1-2 of 3 | next offset 2 @@\none\ntwo"
    (tool,) = [one for one in middleware.tools if one.name == "read_file"]
    assert tool.args["limit"]["default"] == 2


# -- options -------------------------------------------------------------------------------


def test_write_existing_error_protects_what_is_there(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("precious\n")
    middleware = FileToolsMiddleware(backend=disk, write_existing="error")

    said = run(
        middleware,
        call("write_file", file_path="/a.md", content="gone"),
        call("write_file", file_path="/b.md", content="new"),
    )

    assert [one.status for one in said] == ["error", "success"]
    assert "exists and may not be replaced" in said[0].content
    assert (tmp_path / "a.md").read_text() == "precious\n"
    assert (tmp_path / "b.md").read_text() == "new"


@pytest.mark.parametrize("text", ["a\na\na\n", "x a y a\r\nb a\r\n", "aaaa", "a\r\n" * 50])
def test_first_match_replaces_the_first_place_and_nothing_else(run, disk, tmp_path, text):
    (tmp_path / "a.md").write_bytes(text.encode())
    middleware = FileToolsMiddleware(backend=disk, first_match=True)

    (said,) = run(
        middleware, call("edit_file", file_path="/a.md", old_string="a", new_string="NEW")
    )

    assert said.status == "success", said.content
    assert (tmp_path / "a.md").read_bytes() == text.replace("a", "NEW", 1).encode()


def test_first_match_still_says_when_nothing_is_found_and_obeys_replace_all(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("a a\n")
    middleware = FileToolsMiddleware(backend=disk, first_match=True)

    said = run(
        middleware,
        call("edit_file", file_path="/a.md", old_string="zz", new_string="b"),
        call("edit_file", file_path="/no.md", old_string="zz", new_string="b"),
        call("edit_file", file_path="/a.md", old_string="a", new_string="b", replace_all=True),
    )

    assert [one.status for one in said] == ["error", "error", "success"]
    assert (tmp_path / "a.md").read_text() == "b b\n"


def test_all_tools_are_offered_unless_some_are_named():
    def names(**options):
        return sorted(t.name for t in FileToolsMiddleware(backend=StateBackend(), **options).tools)

    assert names() == ALL
    assert names(tools=["read_file", "append_file"]) == ["append_file", "read_file"]
    assert names(tools=[]) == []
    assert names(read_only=True) == ["glob", "grep", "ls", "read_file"]
    assert names(read_only=True, tools=["ls", "write_file"]) == ["ls"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": ["read"]}, "read_file"),
        ({"tools": "read_file"}, "give a list"),
        ({"write_existing": "refuse"}, "overwrite"),
        ({"allow": "/notes.md"}, "give a list"),
        ({"backend": None}, "StateBackend"),
        ({"backend": "/tmp"}, "StateBackend"),
    ],
)
def test_a_wrong_option_is_refused_when_the_middleware_is_built(options, message):
    with pytest.raises(SettingError, match=message):
        FileToolsMiddleware(**{"backend": StateBackend(), **options})


@pytest.mark.parametrize("rule", ["", "/../x", "~/notes.md"])
def test_a_rule_that_cannot_match_is_refused_when_the_middleware_is_built(rule):
    with pytest.raises(PatternRefused):
        FileToolsMiddleware(backend=StateBackend(), deny=[rule])


def test_a_factory_makes_the_backend_of_the_runtime(run, tmp_path):
    seen = []

    def per_user(runtime):
        seen.append(
            (runtime.tool_call_id is not None, runtime.context, "messages" in runtime.state)
        )
        return FilesystemBackend(root_dir=tmp_path)

    (said,) = run(
        FileToolsMiddleware(backend=per_user), call("append_file", file_path="/a.md", text="hi")
    )

    assert said.status == "success"
    assert (tmp_path / "a.md").read_text() == "hi\n"
    assert seen == [(True, None, True)]


# -- the prompt ----------------------------------------------------------------------------


class Remembers(AgentMiddleware):
    """Stands for memory: puts a text at the end of the system message."""

    def wrap_model_call(self, request, handler):
        text = f"{request.system_message.text if request.system_message else ''} MEMORY"
        return handler(request.override(system_message=SystemMessage(text)))


def test_guidance_stands_after_what_was_there_and_names_only_the_tools_there_are(disk):
    model = ScriptedModel()
    files = FileToolsMiddleware(backend=disk, tools=["ls", "read_file"])
    agent = create_agent(model, system_prompt="BASE", middleware=[Remembers(), files])

    ask(agent)

    system = model.system()
    assert system.index("BASE") < system.index("MEMORY") < system.index("`read_file`")
    assert "`ls`" in system
    assert "write_file" not in system
    assert "edit_file" not in system


def test_guidance_follows_the_tools_that_a_request_really_has(disk):
    class Narrow(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            kept = [one for one in request.tools if one.name == "grep"]
            return handler(request.override(tools=kept))

    model = ScriptedModel()
    ask(create_agent(model, middleware=[Narrow(), FileToolsMiddleware(backend=disk)]))

    assert "`grep`" in model.system()
    assert "read_file" not in model.system()


@pytest.mark.parametrize("text", [None, "Mind the files."])
def test_there_is_no_guidance_where_a_request_has_none_of_the_tools(disk, text):
    class Bare(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return handler(request.override(tools=[]))

    model = ScriptedModel()
    files = FileToolsMiddleware(backend=disk, system_prompt=text)
    ask(create_agent(model, middleware=[Bare(), files]))

    assert model.system() == ""


@pytest.mark.parametrize(("given", "shown"), [("", ""), ("Mind the files.", "Mind the files.")])
def test_the_guidance_can_be_replaced_or_left_out(disk, given, shown):
    model = ScriptedModel()
    ask(create_agent(model, middleware=[FileToolsMiddleware(backend=disk, system_prompt=given)]))

    assert model.system() == shown


def test_guidance_is_the_same_bytes_in_every_request_and_stays_out_of_the_history(disk):
    model = ScriptedModel(call("ls"), call("ls"))
    result = ask(create_agent(model, middleware=[FileToolsMiddleware(backend=disk)]))

    assert len({model.system(n) for n in range(3)}) == 1
    assert not any("`ls`" in str(one.content) for one in result["messages"])


def test_two_instances_with_names_of_their_own_work_in_one_agent(disk):
    readers = FileToolsMiddleware(backend=disk, read_only=True, name="readers")
    writers = FileToolsMiddleware(backend=disk, tools=["append_file"], name="writers")
    model = ScriptedModel(call("append_file", path="/a.md", text="hi"), call("ls"))

    said = tool_messages(ask(create_agent(model, middleware=[readers, writers])))

    assert [one.content for one in said] == ["Added to the end of /a.md", "['/a.md']"]


# -- several calls at once -----------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 12])
def test_edits_of_one_file_in_one_message_all_survive_on_disk(run, disk, tmp_path, count):
    (tmp_path / "a.md").write_text("".join(f"slot {n:02d} empty\n" for n in range(count)))
    edits = [
        (
            "edit_file",
            {"path": "/a.md", "old_string": f"{n:02d} empty", "new_string": f"{n:02d} done"},
        )
        for n in range(count)
    ]

    said = run(FileToolsMiddleware(backend=disk), calls(*edits))

    assert [one.status for one in said] == ["success"] * count
    assert (tmp_path / "a.md").read_text() == "".join(f"slot {n:02d} done\n" for n in range(count))


def test_lines_appended_in_one_message_all_survive_on_disk(run, disk, tmp_path):
    lines = [("append_file", {"file_path": "/a.md", "text": f"line {n}"}) for n in range(12)]

    run(FileToolsMiddleware(backend=disk), calls(*lines))

    assert sorted((tmp_path / "a.md").read_text().split("\n")[:-1]) == sorted(
        one["text"] for _, one in lines
    )


async def test_no_tool_blocks_the_event_loop(disk, tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo\n")
    turns = [
        call("ls"),
        call("read_file", file_path="/a.md"),
        call("edit_file", file_path="/a.md", old_string="one", new_string="1"),
        call("append_file", file_path="/a.md", text="three"),
        call("glob", pattern="*"),
        call("grep", pattern="t"),
        call("write_file", file_path="/a.md", content="new"),
        call("delete", file_path="/a.md"),
    ]
    middleware = FileToolsMiddleware(
        backend=disk, allow=["/*.md"], deny=["/b.md"], first_match=True
    )
    agent = create_agent(ScriptedModel(*turns), middleware=[middleware])
    await aask(create_agent(ScriptedModel(*turns[:1]), middleware=[middleware]))  # imports

    with blockbuster_ctx("memoryware"):
        said = tool_messages(await aask(agent))

    assert [one.status for one in said] == ["success"] * len(turns), said


# -- what was found only in part ------------------------------------------------------------


class Shelf(FilesystemBackend):
    """A disk on which one folder cannot be searched."""

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        result = super().grep(pattern, path, glob, max_count=max_count)
        result.error = "'/secret-place' could not be read: Input/output error"
        return result

    async def agrep(self, pattern, path=None, glob=None, *, max_count=None):
        return self.grep(pattern, path, glob, max_count=max_count)

    def glob(self, pattern, path=None):
        result = super().glob(pattern, path)
        result.error = "'/secret-place' could not be read: Input/output error"
        return result

    async def aglob(self, pattern, path=None):
        return self.glob(pattern, path)


@pytest.mark.parametrize(
    "turn",
    [
        call("grep", pattern="tea"),
        call("grep", pattern="tea", output_mode="content"),
        call("grep", pattern="tea", output_mode="count"),
        call("glob", pattern="*.md"),
    ],
)
def test_matches_with_an_error_are_an_error(run, tmp_path, turn):
    (tmp_path / "a.md").write_text("tea was not found")
    (said,) = run(FileToolsMiddleware(backend=Shelf(root_dir=tmp_path)), turn)

    assert said.status == "error"
    assert said.text.startswith("Error: ")
    assert "Input/output error" in said.text
    assert "/a.md" in said.text.partition("\n\n")[2]
    assert "Use glob or ls" not in said.text


def test_the_error_of_a_search_in_part_names_nothing_that_rules_hide(run, tmp_path):
    (tmp_path / "a.md").write_text("tea")
    tools = FileToolsMiddleware(backend=Shelf(root_dir=tmp_path), deny=["/secret-place/"])
    (said,) = run(tools, call("grep", pattern="tea"))

    assert said.status == "error"
    assert "/a.md" in said.text
    assert "secret-place" not in said.text


@pytest.mark.parametrize(
    "pattern",
    [
        "foo|bar",
        "import .* from",
        r"self\.name",
        r"\bword\b",
        "[a-z]",
        "^def",
        "end$",
        "(?i)x",
        ".+",
    ],
)
def test_a_pattern_that_reads_like_a_regular_expression_gets_a_hint(run, disk, tmp_path, pattern):
    (tmp_path / "a.md").write_text("nothing of it")
    (said,) = run(FileToolsMiddleware(backend=disk), call("grep", pattern=pattern))

    assert said.status == "success"
    assert said.text.startswith("No matches found\n")
    assert "regular expression" in said.text


@pytest.mark.parametrize(
    "pattern", ["self.name", "f(x)", "a || b", "| a | b |", "arr[0]", "$HOME", "why?", "C:\\new"]
)
def test_a_plain_text_gets_no_hint(run, disk, pattern):
    (said,) = run(FileToolsMiddleware(backend=disk), call("grep", pattern=pattern))

    assert said.text == "No matches found"


def test_a_pattern_that_was_found_gets_no_hint(run, disk, tmp_path):
    (tmp_path / "a.md").write_text("match foo|bar here")
    said = run(
        FileToolsMiddleware(backend=disk),
        call("grep", pattern="foo|bar"),
        call("grep", pattern="foo|bar", output_mode="content"),
    )
    assert "regular" not in said[0].text + said[1].text
    hidden = FileToolsMiddleware(backend=disk, deny=["/a.md"])
    assert run(hidden, call("grep", pattern="foo|bar"))[0].text == "No matches found"
