"""Which memory files join when an agent works on files beside them, each layout drawn."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from limits import limited
from memoryware.settings import DiscoveryLimits
from memoryware.sources.discovery import touched
from memoryware.sources.source import Source
from sources.looking import DISKS, PLACES, places

everywhere, on_disks = places(*PLACES), places(*DISKS)
ODD = "it is no regular file, or leads out of the root"
ROOT = ["repo/AGENTS.md"]


@everywhere
def test_the_files_of_a_folder_and_of_those_above_it_join_outermost_first(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── a/
        ├── AGENTS.md: a
        └── b/
            ├── note.txt: no memory here
            └── c/
                ├── AGENTS.md: c
                └── d/
                    └── AGENTS.md: d
    """
    assert look.beside("repo/a/b/c", known=ROOT) == [
        "project repo/a/AGENTS.md",
        "project repo/a/b/c/AGENTS.md",
    ]
    assert look.beside("repo/a/b", known=ROOT) == ["project repo/a/AGENTS.md"]
    assert look.beside("repo", known=ROOT) == []
    assert look.beside(known=ROOT) == []


@everywhere
def test_of_several_folders_the_last_stands_last_and_what_they_share_comes_once(look):
    """
    repo/
    ├── AGENTS.md: root
    └── packages/
        ├── AGENTS.md: packages
        ├── api/
        │   └── AGENTS.md: api
        └── web/
            ├── AGENTS.md: web
            └── src/
                └── x: 1
    """
    shared = "project repo/packages/AGENTS.md"
    api, web = "project repo/packages/api/AGENTS.md", "project repo/packages/web/AGENTS.md"
    both = ["repo/packages/api", "repo/packages/web/src"]
    assert look.beside(*both, known=ROOT) == [shared, api, web]
    assert look.beside(*both[::-1], known=ROOT) == [shared, web, api]
    assert look.beside(*both, both[0], known=ROOT) == [shared, api, web]


@everywhere
def test_what_is_known_does_not_join_again(look):
    r"""
    repo/
    ├── AGENTS.md: be brief\n
    ├── copy/
    │   └── AGENTS.md: be brief\r\n
    ├── known/
    │   ├── AGENTS.md: known
    │   └── AGENTS.override.md: known for now
    └── twins/
        ├── AGENTS.md: the same
        └── twin/
            └── AGENTS.md: the same
    """
    assert look.beside("repo/copy", known=ROOT) == []
    for one in ("AGENTS.md", "AGENTS.override.md"):
        assert look.beside("repo/known", known=[*ROOT, f"repo/known/{one}"]) == []
    assert look.beside("repo/twins/twin", known=ROOT) == ["project repo/twins/AGENTS.md"]


@everywhere
def test_a_text_that_was_loaded_is_not_read_again_to_compare(look):
    """
    repo/
    ├── AGENTS.md: on disk
    ├── a/
    │   └── AGENTS.md: as loaded
    └── b/
        └── AGENTS.md: on disk
    """
    loaded = {"repo/AGENTS.md": "as loaded"}
    assert look.beside("repo/a", "repo/b", known=ROOT, loaded=loaded) == [
        "project repo/b/AGENTS.md"
    ]


@everywhere
def test_names_and_their_order_are_those_of_the_layout(look):
    """
    repo/
    ├── AGENTS.md: root
    └── a/
        ├── .github/
        │   └── copilot-instructions.md: copilot
        ├── AGENTS.md: agents
        ├── AGENTS.override.md: agents for now
        ├── CLAUDE.local.md: mine
        └── b/
            └── .github/
                └── copilot-instructions.md: copilot in b
    """
    assert look.beside("repo/a", known=ROOT) == ["project repo/a/AGENTS.override.md"]
    mine = look.beside("repo/a", known=ROOT, names=["CLAUDE.local.md", "AGENTS.md"])
    assert mine == ["user repo/a/CLAUDE.local.md"]
    assert look.beside("repo/a/b", known=ROOT, names=[".github/copilot-instructions.md"]) == [
        "project repo/a/.github/copilot-instructions.md",
        "project repo/a/b/.github/copilot-instructions.md",
    ]


@everywhere
def test_the_folder_above_a_named_folder_is_the_one_that_has_its_file(look):
    """
    repo/
    ├── .github/
    │   └── copilot-instructions.md: root
    ├── AGENTS.md: not asked for
    └── a/
        └── AGENTS.md: a
    """
    known = ["repo/.github/copilot-instructions.md"]
    names = ["AGENTS.md", ".github/copilot-instructions.md"]
    assert look.beside("repo/a", known=known, names=names) == ["project repo/a/AGENTS.md"]


@everywhere
def test_nothing_outside_of_the_root_is_looked_at(look):
    """
    AGENTS.md: above
    repo/
    ├── a/
    │   └── AGENTS.md: a
    └── b/
        ├── AGENTS.md: b
        └── c/
            └── x: 1
    elsewhere/
    ├── AGENTS.md: elsewhere
    └── deep/
        └── AGENTS.md: deep
    """
    known = ["repo/a/AGENTS.md"]
    given = ["elsewhere/deep", "repo/b/c", "elsewhere"]
    assert look.beside(*given, known=known, root="repo") == ["project repo/b/AGENTS.md"]
    assert (
        look.beside(*given, known=["AGENTS.md"], root="repo")
        == [
            "project repo/a/AGENTS.md",
            "project repo/b/AGENTS.md",
        ][1:]
    )
    assert look.beside("..", "repo/../elsewhere", "a\0b", known=known, root="repo") == []


@everywhere
def test_what_is_known_above_the_root_does_not_widen_it(look):
    """
    AGENTS.md: known
    outer/
    ├── AGENTS.md: outer
    └── repo/
        └── a/
            └── AGENTS.md: a
    """
    assert look.beside("outer/repo/a", known=["AGENTS.md"], root="outer/repo") == [
        "project outer/repo/a/AGENTS.md"
    ]


@everywhere
def test_the_outermost_known_file_is_where_looking_ends(look):
    """
    repo/
    ├── AGENTS.md: not a source of this agent
    ├── NOTES.md: root
    └── a/
        ├── AGENTS.md: a
        └── b/
            ├── AGENTS.md: b
            └── c/
                └── AGENTS.md: c
    """
    known = ["repo/NOTES.md", "repo/a/b/AGENTS.md"]
    assert look.beside("repo/a/b/c", "repo", known=known) == [
        "project repo/a/AGENTS.md",
        "project repo/a/b/c/AGENTS.md",
    ]


@places("store", "state", "composite", "theirs")
def test_a_backend_of_its_own_is_looked_at_up_to_its_root(look):
    """
    AGENTS.md: root
    memories/
    └── AGENTS.md: notes
    code/
    └── app/
        └── AGENTS.md: app
    """
    assert look.beside("code/app", known=["memories/AGENTS.md"]) == [
        "project AGENTS.md",
        "project code/app/AGENTS.md",
    ]


@on_disks
def test_on_a_disk_with_a_home_only_what_is_below_known_files_counts(look):
    """
    home/
    ├── AGENTS.md: of the user
    ├── downloads/
    │   ├── .git/
    │   └── AGENTS.md: of a stranger
    └── repo/
        ├── AGENTS.md: root
        └── a/
            └── AGENTS.md: a
    """
    named = Source(f"{look.prefix}/home/AGENTS.md", owner="user")
    for mine in (named, Source("~/AGENTS.md", owner="user"), Source("~/AGENTS.md")):
        known = [mine, "home/repo/AGENTS.md"]
        assert look.beside("home/downloads", "home/repo/a", known=known) == [
            "project home/repo/a/AGENTS.md"
        ]
    assert look.beside("home/downloads", known=[]) == []
    assert look.beside("~/repo/a", known=["home/repo/AGENTS.md"]) == [
        "project home/repo/a/AGENTS.md"
    ]


@on_disks
def test_links_are_seen_through(look, caplog):
    """
    repo/
    ├── AGENTS.md: root
    ├── CLAUDE.md -> AGENTS.md
    ├── a/
    │   ├── AGENTS.md -> ../AGENTS.md
    │   └── b/
    │       └── AGENTS.md: b
    ├── short -> a/b
    ├── loop -> loop
    └── c/
        └── AGENTS.md -> ../../outside/AGENTS.md
    outside/
    └── AGENTS.md: outside
    """
    assert look.beside("repo/a", known=ROOT) == []
    assert look.beside("repo/a", known=["repo/CLAUDE.md"]) == []
    stale = {"repo/AGENTS.md": "as it was a while ago"}
    assert look.beside("repo/a", known=ROOT, loaded=stale) == []
    assert look.beside("repo/short", known=ROOT) == ["project repo/a/b/AGENTS.md"]
    assert look.beside("repo/loop", known=ROOT) == []
    assert look.told(caplog) == []
    for root in (None, "repo"):
        assert look.beside("repo/c", known=ROOT, root=root) == []
    (told,) = look.told(caplog)
    assert told.startswith("memory file repo/c/AGENTS.md was skipped: it is a link out of repo; ")
    linked = look.beside("repo/c", known=ROOT, outside_links=True)
    assert linked == ["project repo/c/AGENTS.md"]


@on_disks
def test_pipes_and_folders_are_passed_over(look, caplog):
    """
    repo/
    ├── AGENTS.md: root
    └── a/
        ├── AGENTS.override.md [pipe]
        ├── AGENTS.md: a
        └── b/
            └── AGENTS.md/
    """
    for _ in range(2):
        assert look.beside("repo/a/b", known=ROOT) == ["project repo/a/AGENTS.md"]
    assert look.told(caplog) == [
        f"memory file repo/a/AGENTS.override.md was skipped: {ODD}",
        "memory file repo/a/b/AGENTS.md was skipped: it is a folder",
    ]


@everywhere
def test_a_name_in_other_case_is_told_once(look, caplog):
    """
    repo/
    ├── AGENTS.md: root
    └── a/
        └── agents.md: small
    """
    for _ in range(2):
        assert look.beside("repo/a", known=ROOT) == []
    (told,) = look.told(caplog)
    assert told.startswith("repo/a/agents.md is not read everywhere: its name differs from AGENTS")


@everywhere
def test_folders_that_are_not_there_bring_nothing(look, caplog):
    """
    repo/
    ├── AGENTS.md: root
    └── a/
        ├── AGENTS.md: a
        └── file: text
    """
    given = ["repo/a/gone/far", "repo/a/file", "repo/a/file/below"]
    assert look.beside(*given, known=ROOT) == ["project repo/a/AGENTS.md"]
    assert look.beside("", "repo//a/.", known=ROOT) == ["project repo/a/AGENTS.md"]
    assert look.told(caplog) == []


@everywhere
def test_the_number_of_files_and_the_depth_have_an_end(look, caplog):
    """
    repo/
    ├── AGENTS.md: root
    ├── a/
    │   └── AGENTS.md: a
    ├── b/
    │   └── AGENTS.md: b
    └── c/
        ├── AGENTS.md: c
        └── d/
            └── AGENTS.md: d
    """
    given = ["repo/a", "repo/b", "repo/c/d"]
    few = look.beside(*given, known=ROOT, limits=limited(DiscoveryLimits, files=2))
    assert few == ["project repo/c/AGENTS.md", "project repo/c/d/AGENTS.md"]
    assert look.told(caplog) == [
        "4 memory files were found; the last 2 are used (files of DiscoveryLimits)"
    ]
    flat = look.beside(*given, known=ROOT, limits=DiscoveryLimits(depth=0))
    assert flat == [f"project repo/{one}/AGENTS.md" for one in ("a", "b", "c/d")]


# Which folders were touched.


def turn(*wanted: tuple[str, dict], status="success", content="ok", answered=True):
    """A turn of a model with its calls, and their answers."""
    turn.number = getattr(turn, "number", 0) + 1
    calls = [
        {"name": name, "args": args, "id": f"{turn.number}.{place}"}
        for place, (name, args) in enumerate(wanted)
    ]
    answers = [
        ToolMessage(content, tool_call_id=one["id"], name=one["name"], status=status)
        for one in calls
    ]
    return [AIMessage("", tool_calls=calls), *(answers if answered else [])]


def read(path: str, **more):
    return turn(("read_file", {"file_path": path}), **more)


def test_folders_are_touched_in_order_of_their_last_touch():
    messages = [
        HumanMessage("go"),
        *read("/a/x.py"),
        *turn(("edit_file", {"file_path": "/b/y.py"}), ("write_file", {"path": "/c/z.py"})),
        *read("/a/other.py"),
        HumanMessage("and then?"),
    ]
    assert touched(messages) == ("/b", "/c", "/a")
    assert touched(messages, order="first") == ("/a", "/b", "/c")
    assert touched([]) == ()


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/a/b/c.py", ("/a/b",)),
        ("/top.py", ("/",)),
        ("here.py", (".",)),
        ("src/x.py", ("src",)),
        ("./src/x.py", ("./src",)),
        ("~/notes/x.md", ("~/notes",)),
        ("src\\win\\x.py", ("src/win",)),
        ("/a/b/", ()),
        ("", ()),
        (None, ()),
        (7, ()),
    ],
)
def test_a_folder_is_spelled_as_the_call_spelled_it(path, folder):
    assert touched(read(path)) == folder


@pytest.mark.parametrize(
    "tool", ["read_file", "write_file", "edit_file", "append_file", "edit_memory", "delete"]
)
def test_tools_that_read_or_change_a_file_touch_its_folder(tool):
    for argument in ("file_path", "path"):
        assert touched(turn((tool, {argument: "/a/x.py"}))) == ("/a",)


def test_other_tools_touch_nothing_unless_they_are_named():
    messages = turn(("ls", {"path": "/a/b"}), ("view", {"path": "/c/x.py"}), ("read_file", {}))
    assert touched(messages) == ()
    assert touched(messages, tools=frozenset({"view"})) == ("/c",)


def test_a_call_that_was_refused_or_is_not_answered_yet_touches_nothing():
    assert touched(read("/a/x.py", status="error")) == ()
    assert touched(read("/a/x.py", content="Error: permission denied")) == ()
    assert touched(read("/a/x.py", answered=False)) == ()
    tried_again = [*read("/a/x.py", status="error"), *read("/b/x.py"), *read("/a/x.py")]
    assert touched(tried_again) == ("/b", "/a")


def test_messages_of_odd_kinds_are_passed_over():
    stray = ToolMessage("ok", tool_call_id="nobody", name="read_file")
    assert touched([{"role": "user"}, "text", None, stray, *read("/a/x.py")]) == ("/a",)


def test_the_folders_touched_last_are_kept():
    messages = [one for name in "abcda" for one in read(f"/{name}/x.py")]
    few = limited(DiscoveryLimits, folders=2)
    assert touched(messages, limits=few) == ("/d", "/a")
    assert touched(messages, limits=few, order="first") == ("/a", "/d")
