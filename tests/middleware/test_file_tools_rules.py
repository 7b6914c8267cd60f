"""What a model may read and write: rules that have no holes, the same for every tool."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel, aask, ask, call, say, tool_messages
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import GlobResult
from memoryware.backends.state import StateBackend
from memoryware.backends.store import StoreBackend
from memoryware.middleware._path_rules import PathRules
from memoryware.middleware.file_tools import FileToolsMiddleware

FILES = {
    "AGENTS.md": "team rules: needle\n",
    "notes/a.md": "a needle\n",
    "notes/.b.md": "hidden needle\n",
    "notes/deep/.git/c.md": "deep needle\n",
    "secret/key.md": "SECRET needle\n",
    "secret/.env": "SECRET needle\n",
    "secret/.git/config": "SECRET needle\n",
}


@pytest.fixture(params=["blocking", "async"])
def run(request):
    def go(middleware, *turns, **given):
        agent = create_agent(ScriptedModel(*turns), middleware=[middleware])
        if request.param == "blocking":
            return tool_messages(ask(agent, **given))
        return tool_messages(asyncio.run(aask(agent, **given)))

    return go


@pytest.fixture
def disk(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return FilesystemBackend(root_dir=tmp_path)


def texts(root):
    found = {
        str(one.relative_to(root)): one.read_text() for one in root.rglob("*") if one.is_file()
    }
    return {name: text for name, text in found.items() if name in FILES}


# -- the rules by themselves ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("/secret/**", "/secret/key.md", True),
        ("/secret/**", "/secret/.env", True),
        ("/secret/**", "/secret/.git/config", True),
        ("/secret/**", "/secret/.git", True),
        ("/secret/", "/secret/a/b", True),
        ("/secret", "/secret/a/b", True),
        ("/secret", "/SECRET/A", True),
        ("/caf\u00e9/", "/cafe\u0301/a.md", True),
        ("secret/*", "/secret/a", True),
        ("*.env", "/a/b/.env", True),
        ("*.env", "/a/prod.env", True),
        ("/{a,b}/*.md", "/b/x.md", True),
        ("/[a-c]/x", "/B/x", True),
        ("/secret/**", "/secrets/x", False),
        ("/secret/**", "/secret", False),
        ("/secret", "/a/secret", False),
        ("/a/*.md", "/a/b/c.txt", False),
    ],
)
def test_a_denied_path_is_denied_with_dot_names_with_all_below_it_and_in_any_case(
    rule, path, covered
):
    assert PathRules(deny=[rule]).permits("read", [path]) is not covered


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("/notes/**", "/notes/a.md", True),
        ("/notes/**", "/notes/.a/.b", True),
        ("/notes/", "/notes/x/y", True),
        ("/notes/*", "/notes/a.md", True),
        ("/notes/*", "/notes/deep/a.md", False),
        ("/notes/*.md", "/notes/a.txt", False),
        ("/notes/**", "/notes", False),
        ("/notes/**", "/notesx/a", False),
        ("/notes/**", "/NOTES/a", False),
        ("{,x}/a.md", "/b/a.md", False),
        ("**", "/.git/x", True),
    ],
)
def test_an_allowed_path_is_allowed_as_the_rule_says_and_no_further(rule, path, allowed):
    assert PathRules(allow=[rule]).permits("write", [path]) is allowed


def test_deny_wins_over_allow_and_over_only():
    rules = PathRules(allow=["/**"], deny=["/a.md"], only=["/a.md", "/b.md"])

    assert not rules.permits("read", ["/a.md"])
    assert rules.permits("read", ["/b.md"])
    assert not rules.permits("read", ["/c.md"])


def test_a_name_behind_a_link_is_denied_as_well():
    rules = PathRules(allow=["/notes/**"], deny=["/secret/"])

    assert rules.permits("read", ["/notes/link.md", "/elsewhere/x.md"])
    assert not rules.permits("read", ["/notes/link.md", "/secret/x.md"])


def test_without_rules_everything_is_permitted_and_a_path_without_a_name_never():
    assert not PathRules()
    assert PathRules().permits("write", ["/a.md"])
    assert not PathRules(deny=["/x"]).permits("read", [])


# -- the tools under rules -----------------------------------------------------------------

WRITING = [
    call("write_file", file_path="/secret/key.md", content="owned"),
    call("edit_file", file_path="/secret/key.md", old_string="SECRET", new_string="owned"),
    call("append_file", file_path="/secret/key.md", text="owned"),
    call("delete", file_path="/secret/key.md"),
    call("delete", file_path="/secret"),
    call("delete", file_path="/secret/"),
]
READING = [
    call("read_file", file_path="/secret/key.md"),
    call("read_file", file_path="secret/.env"),
    call("read_file", file_path="//secret/./.git/config"),
    call("read_file", file_path="\\secret\\key.md"),
    call("read_file", file_path="/SECRET/key.md"),
    call("ls", path="/secret"),
    call("grep", pattern="SECRET", path="/secret"),
    call("grep", pattern="SECRET", path="/secret/key.md", output_mode="content"),
    call("glob", pattern="*", path="/secret"),
]
OPEN_SEARCHES = [
    call("ls", path="/"),
    call("ls"),
    call("grep", pattern="needle", output_mode="content"),
    call("grep", pattern="needle", output_mode="count", max_count=1),
    call("grep", pattern="SECRET"),
    call("glob", pattern="*"),
    call("glob", pattern="/secret/*"),
    call("glob", pattern="**/.env"),
]


@pytest.mark.parametrize("rules", [{"deny": ["/secret/"]}, {"allow": ["/notes/**", "/AGENTS.md"]}])
def test_no_tool_gets_at_a_denied_path(run, disk, tmp_path, rules):
    said = run(FileToolsMiddleware(backend=disk, **rules), *WRITING, *READING)

    operations = ["write"] * len(WRITING) + ["read"] * len(READING)
    for one, operation in zip(said, operations, strict=True):
        assert one.status == "error"
        assert one.content.startswith(
            f"Error: permission denied: the path rules do not allow to {operation} "
        )
        assert "SECRET needle" not in one.content
    assert texts(tmp_path) == FILES


@pytest.mark.parametrize("rules", [{"deny": ["/secret"]}, {"allow": ["/notes/**", "/AGENTS.md"]}])
def test_searches_show_nothing_of_a_denied_path(run, disk, rules):
    said = run(FileToolsMiddleware(backend=disk, **rules), *OPEN_SEARCHES)

    for one in said:
        assert "secret" not in one.content.lower().replace("/secret/*", ""), one.content
    assert said[0].content == "['/AGENTS.md', '/notes/']"
    assert "/notes/a.md" in said[2].content
    assert said[4].content == "No matches found"


def test_a_number_of_matches_counts_only_what_may_be_seen(run, disk, tmp_path):
    for n in range(30):
        (tmp_path / "secret" / f"{n}.md").write_text("needle\n")
    middleware = FileToolsMiddleware(backend=disk, allow=["/zoo/*"])
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "z.md").write_text("needle\n")

    (said,) = run(middleware, call("grep", pattern="needle", max_count=1))

    assert said.content == "/zoo/z.md"


def test_a_single_allowed_file_can_be_searched(run, disk):
    said = run(
        FileToolsMiddleware(backend=disk, only=["/notes/a.md"]),
        call("grep", pattern="needle", path="/notes/a.md"),
        call("grep", pattern="needle", path="/notes/.b.md"),
    )

    assert [one.status for one in said] == ["success", "error"]
    assert said[0].content == "/notes/a.md"


def test_a_search_that_cannot_work_says_so_and_names_no_hidden_file(run, disk):
    class Gossip(FilesystemBackend):
        def glob(self, pattern, path=None):
            return GlobResult(error="cannot read /secret/key.md")

        async def aglob(self, pattern, path=None):
            return self.glob(pattern, path)

    said = run(
        FileToolsMiddleware(backend=Gossip(root_dir=disk.cwd), deny=["/secret/"]),
        call("glob", pattern=""),
        call("grep", pattern="a", glob="../*"),
        call("glob", pattern="*"),
    )

    assert [one.status for one in said] == ["error"] * 3
    assert "is empty" in said[0].content
    assert "traversal" in said[1].content
    assert "secret" not in said[2].content


def test_a_refused_write_is_an_event_without_text(disk):
    model = ScriptedModel(call("write_file", file_path="/secret/x.md", content="TEXT"))
    agent = create_agent(model, middleware=[FileToolsMiddleware(backend=disk, deny=["/secret/"])])

    events = list(
        agent.stream({"messages": [{"role": "user", "content": "go"}]}, stream_mode="custom")
    )

    (event,) = events
    told = {key: event[key] for key in ("event", "tool", "path", "reason", "kinds")}
    assert told == {
        "event": "write_blocked",
        "tool": "write_file",
        "path": "/secret/x.md",
        "reason": "rules",
        "kinds": [],
    }
    assert "TEXT" not in str(event)


def test_a_refusal_says_what_is_allowed(run, disk):
    said = run(
        FileToolsMiddleware(backend=disk, allow=["/notes/**", "/AGENTS.md"]),
        call("write_file", file_path="/x.md", content=""),
    )

    assert said[0].content == (
        "Error: permission denied: the path rules do not allow to write /x.md. Allowed paths: /notes/**, /AGENTS.md"
    )


def test_read_only_paths_can_be_read_and_not_written(run, disk, tmp_path):
    said = run(
        FileToolsMiddleware(backend=disk, read_only=["/AGENTS.md"]),
        call("read_file", file_path="/AGENTS.md"),
        call("append_file", file_path="/agents.md", text="x"),
        call("append_file", file_path="/AGENTS.md", text="x"),
        call("append_file", file_path="/notes/a.md", text="x"),
    )

    assert [one.status for one in said] == ["success", "error", "error", "success"]
    assert said[2].content == (
        "Error: permission denied: the path rules do not allow to write /AGENTS.md. It is read-only"
    )
    assert (tmp_path / "AGENTS.md").read_text() == FILES["AGENTS.md"]
    assert not (tmp_path / "agents.md").exists() or (tmp_path / "agents.md").samefile(
        tmp_path / "AGENTS.md"
    )


def test_the_tools_can_be_limited_to_the_memory_files(run, disk, tmp_path):
    said = run(
        FileToolsMiddleware(backend=disk, only=["/AGENTS.md", "./notes/new.md"]),
        call("append_file", file_path="AGENTS.md", text="more"),
        call("append_file", file_path="/notes/new.md", text="first"),
        call("read_file", file_path="/notes/a.md"),
        call("write_file", file_path="/elsewhere.md", content=""),
        call("ls", path="/"),
        call("ls", path="/notes"),
        call("grep", pattern="needle"),
        call("ls", path="/secret"),
    )

    assert [one.status for one in said] == [
        *("success", "success", "error", "error", "success", "success", "success", "error")
    ]
    assert "Allowed paths: /AGENTS.md, ./notes/new.md" in said[2].content
    assert said[4].content == "['/AGENTS.md', '/notes/']"
    assert said[5].content == "['/notes/new.md']"
    assert said[6].content == "/AGENTS.md"
    assert (tmp_path / "notes" / "new.md").read_text() == "first\n"


def test_a_file_with_pattern_characters_in_its_name_can_be_the_only_one(run, disk, tmp_path):
    (tmp_path / "[x].md").write_text("odd\n")
    middleware = FileToolsMiddleware(backend=disk, only=["/[x].md"])

    said = run(
        middleware, call("read_file", path="/[x].md"), call("write_file", path="/x.md", content="")
    )

    assert [one.status for one in said] == ["success", "error"]


def test_a_folder_is_not_deleted_as_a_whole_where_there_are_rules(run, disk, tmp_path):
    said = run(
        FileToolsMiddleware(backend=disk, deny=["/notes/deep/"]),
        call("delete", file_path="/notes"),
        call("delete", file_path="/notes/a.md"),
    )

    assert [one.status for one in said] == ["error", "success"]
    assert "one by one" in said[0].content
    assert (tmp_path / "notes/deep/.git/c.md").exists()


def test_rules_hold_for_what_links_lead_to(run, disk, tmp_path):
    (tmp_path / "notes" / "link.md").symlink_to(tmp_path / "secret" / "key.md")
    (tmp_path / "notes" / "folder").symlink_to(tmp_path / "secret")

    said = run(
        FileToolsMiddleware(backend=disk, deny=["/secret/"]),
        call("read_file", file_path="/notes/link.md"),
        call("read_file", file_path="/notes/folder/key.md"),
        call("append_file", file_path="/notes/link.md", text="owned"),
        call("ls", path="/notes/folder"),
        call("grep", pattern="SECRET", output_mode="content"),
        call("ls", path="/notes"),
    )

    assert [one.status for one in said[:4]] == ["error"] * 4
    assert all("permission denied" in one.content for one in said[:4])
    assert said[4].content == "No matches found"
    assert "link.md" not in said[5].content
    assert texts(tmp_path) == FILES


def test_a_memory_file_that_is_a_link_can_be_changed(run, disk, tmp_path):
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    middleware = FileToolsMiddleware(backend=disk, only=["/CLAUDE.md"])

    (said,) = run(middleware, call("append_file", file_path="/CLAUDE.md", text="more"))

    assert said.status == "success", said.content
    assert (tmp_path / "AGENTS.md").read_text() == FILES["AGENTS.md"] + "more\n"


def test_rules_name_real_paths_where_the_backend_is_not_virtual(run, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "private").mkdir(parents=True)
    (home / "private" / "key.md").write_text("SECRET\n")
    (home / "notes.md").write_text("note\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    backend = FilesystemBackend(root_dir=home, virtual_mode=False)
    middleware = FileToolsMiddleware(backend=backend, deny=[f"{home}/private/"])

    said = run(
        middleware,
        call("read_file", file_path=f"{home}/private/key.md"),
        call("read_file", file_path="private/key.md"),
        call("read_file", file_path="~/private/key.md"),
        call("read_file", file_path="~/notes.md"),
        call("read_file", file_path="notes.md"),
    )

    assert [one.status for one in said] == ["error", "error", "error", "success", "success"]
    assert not any("SECRET" in one.content for one in said)


def test_a_source_in_the_home_folder_can_be_the_only_file(run, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".agent").mkdir(parents=True)
    (home / ".agent" / "AGENTS.md").write_text("mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    work = tmp_path / "work"
    work.mkdir()
    backend = FilesystemBackend(root_dir=work, virtual_mode=False)
    middleware = FileToolsMiddleware(backend=backend, only=["~/.agent/AGENTS.md"])

    said = run(
        middleware,
        call("append_file", file_path="~/.agent/AGENTS.md", text="more"),
        call("read_file", file_path=f"{home}/.agent/AGENTS.md"),
        call("write_file", file_path="~/.agent/other.md", content=""),
    )

    assert [one.status for one in said] == ["success", "success", "error"]
    assert (home / ".agent" / "AGENTS.md").read_text() == "mine\nmore\n"


def test_rules_hold_on_a_state_and_through_a_composite(run):
    backend = CompositeBackend(default=StateBackend(), routes={"/memories/": StateBackend()})
    middleware = FileToolsMiddleware(backend=backend, allow=["/memories/*.md"])

    said = run(
        middleware,
        call("write_file", file_path="memories/a.md", content="x"),
        call("write_file", file_path="/a.md", content="x"),
        call("write_file", file_path="/memories/sub/a.md", content="x"),
        call("ls", path="/"),
    )

    assert [one.status for one in said] == ["success", "error", "error", "success"]
    assert said[3].content == "['/memories/']"


# -- other people's files ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "/a.md", "namespace": ["ann"]},
        {"file_path": "/a.md", "runtime": {"context": {"user": "ann"}}},
        {"file_path": "/a.md", "user": "ann", "config": {"configurable": {"user": "ann"}}},
        {"file_path": "/../ann/a.md"},
        {"file_path": "../ann/a.md"},
        {"file_path": "/ann/a.md"},
        {"file_path": "ann:/a.md"},
    ],
)
@pytest.mark.parametrize("door", ["blocking", "async"])
def test_no_argument_reaches_the_namespace_of_another_user(door, arguments):
    store = InMemoryStore()
    record = {"content": "ANN'S SECRET", "encoding": "utf-8"}
    store.put(("users", "ann"), "/a.md", record)
    backend = StoreBackend(namespace=lambda runtime: ("users", runtime.context["user"]))
    model = ScriptedModel(
        call("read_file", **arguments),
        call("grep", pattern="SECRET", output_mode="content"),
        call("append_file", text="owned", **arguments),
        call("ls"),
    )
    agent = create_agent(
        model,
        middleware=[FileToolsMiddleware(backend=backend)],
        context_schema=dict,
        store=store,
    )
    given, context = {"messages": [{"role": "user", "content": "go"}]}, {"user": "bob"}

    if door == "blocking":
        result = agent.invoke(given, context=context)
    else:
        result = asyncio.run(agent.ainvoke(given, context=context))

    assert not any("ANN'S" in str(one.content) for one in tool_messages(result))
    assert store.get(("users", "ann"), "/a.md").value == record


def test_files_in_the_state_stay_within_their_thread():
    agent = create_agent(
        ScriptedModel(
            call("write_file", file_path="/a.md", content="thread one"),
            say(),
            call("read_file", file_path="/a.md"),
        ),
        middleware=[FileToolsMiddleware(backend=StateBackend())],
        checkpointer=InMemorySaver(),
    )

    ask(agent, thread="one")
    (said,) = tool_messages(ask(agent, thread="two"))

    assert said.status == "error"
