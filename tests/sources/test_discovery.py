"""What is found in layouts of folders that people have, each drawn in its test."""

from __future__ import annotations

import asyncio
import copy
import inspect
import stat
from typing import NotRequired, TypedDict

import pytest
from blockbuster import blockbuster_ctx
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore

from backends.unprivileged import as_nobody, open_folder
from limits import limited
from memoryware import BackendProtocol, FilesystemBackend, StateBackend, StoreBackend
from memoryware.backends.protocol import FileDownloadResponse, LsResult
from memoryware.backends.state import FilesChannel
from memoryware.errors import SettingError
from memoryware.settings import DiscoveryLimits
from memoryware.sources._candidates import text_link
from memoryware.sources.discovery import adiscover, discover, on_disk
from memoryware.sources.layout import ALL_NAMES, DEFAULT_NAMES, DiscoveryWarnings, Layout
from memoryware.sources.source import Source
from sources.looking import DISKS, PLACES, places
from sources.trees import plant

CASE = "is not read everywhere: its name differs from {} in case; rename it"
OUT = "it is a link out of {}; outside_links=True allows that"
ODD = "it is no regular file, or leads out of the root"


everywhere, on_disks = places(*PLACES), places(*DISKS)


@everywhere
def test_a_repository_is_read_from_its_root_down(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        ├── AGENTS.md: src
        └── app/
            ├── AGENTS.md: app
            └── deeper/
                └── AGENTS.md: deeper
    """
    assert look.at("repo/src/app") == [
        "project repo/AGENTS.md",
        "project repo/src/AGENTS.md",
        "project repo/src/app/AGENTS.md",
    ]


@everywhere
def test_what_lies_beside_or_below_the_way_is_left_alone(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    ├── docs/
    │   └── AGENTS.md: docs
    └── src/
        ├── main.py: pass
        └── app/
            └── AGENTS.md: app
    """
    assert look.at("repo/src") == ["project repo/AGENTS.md"]


@everywhere
def test_in_a_monorepo_a_package_adds_to_the_root(look):
    """
    mono/
    ├── .git/
    ├── AGENTS.md: all of us
    └── packages/
        ├── api/
        │   └── AGENTS.md: the api
        └── web/
            └── AGENTS.md: the web
    """
    assert look.at("mono/packages/web") == [
        "project mono/AGENTS.md",
        "project mono/packages/web/AGENTS.md",
    ]


@everywhere
def test_a_start_at_the_root_finds_the_root(look):
    """
    work/
    ├── AGENTS.md: above
    └── repo/
        ├── .git/
        └── AGENTS.md: root
    """
    assert look.at("work/repo") == ["project work/repo/AGENTS.md"]
    assert look.root("work/repo") == "work/repo"


@everywhere
def test_without_a_repository_only_the_start_counts(look):
    """
    work/
    ├── AGENTS.md: above
    └── notes/
        ├── AGENTS.md: notes
        └── old/
            └── AGENTS.md: old
    """
    assert look.at("work/notes") == ["project work/notes/AGENTS.md"]
    assert look.root("work/notes") == "work/notes"


@everywhere
def test_the_nearest_repository_is_the_one_that_counts(look):
    """
    outer/
    ├── .git/
    ├── AGENTS.md: outer
    └── vendor/
        └── inner/
            ├── .git/
            ├── AGENTS.md: inner
            └── src/
                └── AGENTS.md: src
    """
    assert look.at("outer/vendor/inner/src") == [
        "project outer/vendor/inner/AGENTS.md",
        "project outer/vendor/inner/src/AGENTS.md",
    ]


@everywhere
def test_a_worktree_or_submodule_has_a_file_named_dot_git(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: the main tree
    └── trees/
        └── fix/
            ├── .git: gitdir: ../../.git/worktrees/fix
            ├── AGENTS.md: the worktree
            └── src/
                └── a.py: pass
    """
    assert look.at("repo/trees/fix/src") == ["project repo/trees/fix/AGENTS.md"]


@everywhere
def test_other_tools_for_versions_make_a_root_as_well(look):
    """
    jj/
    ├── .jj/
    ├── AGENTS.md: jj
    └── a/
        └── x: 1
    hg/
    ├── .hg/
    ├── AGENTS.md: hg
    └── a/
        └── x: 1
    own/
    ├── project.toml: []
    ├── AGENTS.md: own
    └── a/
        └── x: 1
    """
    assert look.at("jj/a") == ["project jj/AGENTS.md"]
    assert look.at("hg/a") == ["project hg/AGENTS.md"]
    assert look.at("own/a") == []
    assert look.at("own/a", root_markers=["project.toml"]) == ["project own/AGENTS.md"]
    assert look.at("hg/a", root_markers=[]) == []


@everywhere
def test_an_override_stands_for_the_file_of_its_folder(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── pay/
        ├── AGENTS.md: pay
        └── AGENTS.override.md: until Friday
    """
    assert look.at("repo/pay") == ["project repo/AGENTS.md", "project repo/pay/AGENTS.override.md"]


@everywhere
def test_of_all_tools_files_side_by_side_one_is_taken(look):
    r"""
    repo/
    ├── .claude/
    │   └── CLAUDE.md: for Claude, hidden
    ├── .cursorrules: for Cursor
    ├── .git/
    ├── .github/
    │   └── copilot-instructions.md: for Copilot
    ├── AGENT.md: for one
    ├── AGENTS.md: for all
    ├── AGENTS.override.md: for now
    ├── CLAUDE.local.md: for me
    ├── CLAUDE.md: for Claude
    ├── GEMINI.md: for Gemini
    └── QWEN.md: for Qwen
    """
    left = Layout(names=ALL_NAMES).single_names
    owners = {"CLAUDE.local.md": "user"}
    while left:
        assert look.at("repo", names=left) == [f"{owners.get(left[0], 'project')} repo/{left[0]}"]
        del left[0]
    assert look.at("repo") == ["project repo/AGENTS.override.md"]


@everywhere
def test_of_a_pattern_all_files_join_after_the_one_of_the_folder(look):
    """
    repo/
    ├── .claude/
    │   └── rules/
    │       ├── b.md: b
    │       ├── a.md: a
    │       ├── deeper/
    │       │   └── c.md: c
    │       └── notes.txt: none
    ├── .cursor/
    │   └── rules/
    │       └── style.mdc: style
    ├── .git/
    ├── CLAUDE.md: for Claude
    └── src/
        ├── .claude/
        │   └── rules/
        │       └── d.md: d
        └── AGENTS.md: src
    """
    assert look.at("repo/src") == ["project repo/src/AGENTS.md"]
    assert look.at("repo/src", names=ALL_NAMES) == [
        "project repo/CLAUDE.md",
        "project repo/.claude/rules/a.md",
        "project repo/.claude/rules/b.md",
        "project repo/.cursor/rules/style.mdc",
        "project repo/src/AGENTS.md",
        "project repo/src/.claude/rules/d.md",
    ]
    assert look.at("repo", names=[".cursor/rules/*.mdc"]) == [
        "project repo/.cursor/rules/style.mdc"
    ]
    owners = {".claude/rules/*.md": "team"}
    assert look.at("repo", names=[".claude/rules/*.md"], owners=owners) == [
        "team repo/.claude/rules/a.md",
        "team repo/.claude/rules/b.md",
    ]


def test_a_long_file_that_begins_with_a_path_is_no_link():
    assert text_link(b"docs/a.md\n") == "docs/a.md"
    assert text_link(b"docs/a.md" + b"\n" * 600 + b"Use tabs.") == ""


@everywhere
def test_a_link_that_was_checked_out_as_text_is_followed(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: CLAUDE.md
    ├── CLAUDE.md: - Prices are in euro.
    ├── docs/
    │   └── AGENTS.md: - All of it.
    ├── src/
    │   └── AGENTS.md: ../docs/AGENTS.md\n
    ├── two/
    │   ├── AGENTS.md: ../AGENTS.md
    │   └── loop/
    │       ├── AGENTS.md: CLAUDE.md
    │       └── CLAUDE.md: AGENTS.md
    ├── out/
    │   └── AGENTS.md: ../../other.md
    └── gone/
        └── AGENTS.md: nothing.md
    other.md: not yours
    """
    assert look.at("repo") == ["project repo/CLAUDE.md"]
    assert look.at("repo", names=ALL_NAMES) == ["project repo/CLAUDE.md"]
    assert look.at("repo/src") == ["project repo/CLAUDE.md", "project repo/docs/AGENTS.md"]
    assert look.at("repo/two") == ["project repo/CLAUDE.md"]
    assert look.at("repo/two/loop")[-1].startswith("project repo/two/loop/")
    for place in ("out", "gone"):
        assert look.at(f"repo/{place}")[-1] == f"project repo/{place}/AGENTS.md"


@everywhere
def test_names_are_an_option_and_so_is_their_order(look):
    """
    repo/
    ├── .git/
    ├── CLAUDE.md: for Claude
    ├── TEAM.md: for the team
    └── src/
        ├── AGENTS.md: src
        └── CLAUDE.md: src for Claude
    """
    assert look.at("repo/src") == ["project repo/src/AGENTS.md"]
    assert look.at("repo/src", names=["CLAUDE.md", "AGENTS.md"]) == [
        "project repo/CLAUDE.md",
        "project repo/src/CLAUDE.md",
    ]
    assert look.at("repo/src", names=["TEAM.md"], owners={"TEAM.md": "team"}) == [
        "team repo/TEAM.md"
    ]


@everywhere
def test_a_file_of_blanks_gives_way_to_one_with_text(look):
    r"""
    repo/
    ├── .git/
    ├── AGENTS.md: rules
    ├── AGENTS.override.md:
    └── new/
        ├── AGENTS.md: \n
        └── AGENTS.override.md: \n\n
    """
    assert look.at("repo/new") == ["project repo/AGENTS.md", "project repo/new/AGENTS.override.md"]


@everywhere
def test_copies_of_a_text_come_once_and_the_nearest_stays(look):
    r"""
    repo/
    ├── .git/
    ├── AGENTS.md: be\nbrief\n
    └── a/
        ├── AGENTS.md: other\n
        └── b/
            └── CLAUDE.md: be  \r\nbrief\r\n\n
    """
    assert look.at("repo/a/b", names=ALL_NAMES) == [
        "project repo/a/AGENTS.md",
        "project repo/a/b/CLAUDE.md",
    ]


@everywhere
def test_two_empty_files_are_two_files(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md:
    └── a/
        └── AGENTS.md:
    """
    assert look.at("repo/a") == ["project repo/AGENTS.md", "project repo/a/AGENTS.md"]


@everywhere
def test_a_start_that_is_a_file_means_its_folder(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        ├── AGENTS.md: src
        └── main.py: pass
    loose/
    ├── AGENTS.md: loose
    └── main.py: pass
    """
    assert look.at("repo/src/main.py") == ["project repo/AGENTS.md", "project repo/src/AGENTS.md"]
    assert look.at("loose/main.py") == ["project loose/AGENTS.md"]


@everywhere
def test_a_start_that_is_not_there_finds_what_is_above_it(look, caplog):
    """
    repo/
    ├── .git/
    └── AGENTS.md: root
    """
    assert look.at("repo/not/yet") == ["project repo/AGENTS.md"]
    assert caplog.text.count("the start folder") == 1
    assert "repo/not/yet does not exist" in caplog.text
    assert look.at("nowhere/at/all") == []


@everywhere
def test_a_name_in_other_case_is_told_once(look, caplog):
    """
    repo/
    ├── .git/
    ├── agents.md: small
    ├── Agents.Override.md: mixed
    └── src/
        ├── AGENTS.md: right
        └── agents.override.md/
            └── x: 1
    """
    assert look.again("repo/src") == ["project repo/src/AGENTS.md"]
    assert look.again("repo/src") == ["project repo/src/AGENTS.md"]
    assert sorted(look.told(caplog)) == [
        f"repo/Agents.Override.md {CASE.format('AGENTS.override.md')}",
        f"repo/agents.md {CASE.format('AGENTS.md')}",
    ]


@on_disks
def test_files_of_the_user_come_first(look):
    """
    home/
    ├── .codex/
    │   ├── AGENTS.md: codex
    │   └── AGENTS.override.md: codex for now
    ├── .deepagents/
    │   └── AGENTS.md: deepagents
    ├── .claude/
    │   └── CLAUDE.md: claude
    └── .gemini/
        └── GEMINI.md: gemini
    repo/
    ├── .git/
    └── AGENTS.md: root
    """
    agents = ["user ~/.deepagents/AGENTS.md", "user ~/.codex/AGENTS.override.md"]
    assert look.at("repo") == [*agents, "project repo/AGENTS.md"]
    assert look.at("repo", user=False) == ["project repo/AGENTS.md"]
    assert look.at("repo", names=["CLAUDE.md"]) == ["user ~/.claude/CLAUDE.md"]
    assert look.at("repo", names=ALL_NAMES) == [
        agents[0],
        "user ~/.gemini/GEMINI.md",
        "user ~/.claude/CLAUDE.md",
        agents[1],
        "project repo/AGENTS.md",
    ]
    turned = ["~/.codex/AGENTS.md", "~/.codex/AGENTS.override.md"]
    assert look.at("repo", user_files=turned) == [agents[1], "project repo/AGENTS.md"]
    mine = ["~/.codex/AGENTS.md", "~/.claude/CLAUDE.md"]
    assert look.at("repo", user_files=mine, owners={mine[0]: "team"}) == [
        "team ~/.codex/AGENTS.md",
        "project repo/AGENTS.md",
    ]


@places("store", "state", "composite", "theirs")
def test_where_there_is_no_home_its_files_are_not_looked_for(look, caplog):
    """
    home/
    └── .codex/
        └── AGENTS.md: codex
    shared/
    └── AGENTS.md: of the user, by its path
    repo/
    ├── .git/
    └── AGENTS.md: root
    """
    assert look.at("repo") == ["project repo/AGENTS.md"]
    assert look.at("repo", user_files=["~/.codex/AGENTS.md", "/shared/AGENTS.md"]) == [
        "user shared/AGENTS.md",
        "project repo/AGENTS.md",
    ]
    assert look.told(caplog) == []


@on_disks
def test_a_start_at_home_without_a_repository(look):
    """
    home/
    ├── AGENTS.md: home
    ├── .codex/
    │   └── AGENTS.md: codex
    └── notes/
        └── x: 1
    """
    assert look.at("home") == ["user ~/.codex/AGENTS.md", "project home/AGENTS.md"]
    assert look.at("home/notes") == ["user ~/.codex/AGENTS.md"]


@on_disks
def test_a_home_that_is_a_repository_itself(look):
    """
    home/
    ├── .git/                        somebody keeps the settings of all programs in it
    ├── AGENTS.md: home
    ├── .codex/
    │   └── AGENTS.md: codex
    └── code/
        └── app/
            └── AGENTS.md: app
    """
    assert look.at("home/code/app") == [
        "user ~/.codex/AGENTS.md",
        "project home/AGENTS.md",
        "project home/code/app/AGENTS.md",
    ]
    # On the way down and the user's by name: it is one file and stands where it is nearest.
    assert look.at("home/.codex") == ["project home/AGENTS.md", "project home/.codex/AGENTS.md"]


@on_disks
def test_a_home_inside_a_repository(look):
    """
    .git/
    AGENTS.md: everything
    home/
    ├── .codex/
    │   └── AGENTS.md: codex
    └── app/
        ├── .git/
        └── AGENTS.md: app
    """
    assert look.at("home/app") == ["user ~/.codex/AGENTS.md", "project home/app/AGENTS.md"]
    assert look.at("home") == ["user ~/.codex/AGENTS.md", "project AGENTS.md"]


@on_disks
def test_the_users_copy_of_a_text_gives_way_to_the_projects(look):
    r"""
    home/
    └── .codex/
        └── AGENTS.md: be brief\n
    repo/
    ├── .git/
    └── AGENTS.md: be brief\n
    """
    assert look.at("repo") == ["project repo/AGENTS.md"]


@on_disks
def test_one_file_under_two_names_comes_once(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    ├── CLAUDE.md -> AGENTS.md
    └── src/
        └── AGENTS.md -> ../AGENTS.md
    """
    assert look.at("repo", names=["CLAUDE.md", "AGENTS.md"]) == ["project repo/CLAUDE.md"]
    assert look.at("repo", names=["CLAUDE.md"]) == ["project repo/CLAUDE.md"]
    assert look.at("repo/src") == ["project repo/src/AGENTS.md"]


@on_disks
def test_empty_files_that_are_one_come_once(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md:
    └── src/
        └── AGENTS.md -> ../AGENTS.md
    """
    assert look.at("repo/src") == ["project repo/src/AGENTS.md"]


@on_disks
def test_a_users_file_that_is_linked_into_the_repository(look, caplog):
    """
    home/
    ├── dotfiles/
    │   └── rules.md: mine
    ├── .codex/
    │   └── AGENTS.md -> ../dotfiles/rules.md
    └── .deepagents/
        └── AGENTS.md -> ../dotfiles/rules.md
    repo/
    ├── .git/
    └── AGENTS.md -> ../home/dotfiles/rules.md
    """
    assert look.at("repo", outside_links=True) == ["project repo/AGENTS.md"]
    assert look.told(caplog) == []
    assert look.at("repo") == ["user ~/.codex/AGENTS.md"]
    assert look.at("home") == ["user ~/.codex/AGENTS.md"]
    assert look.told(caplog) == [f"memory file repo/AGENTS.md was skipped: {OUT.format('repo')}"]


@on_disks
def test_a_link_out_of_the_repository_gives_way_to_the_next_name(look, caplog):
    """
    secrets/
    └── keys: of somebody
    elsewhere/
    └── sub/
        └── AGENTS.md: elsewhere
    repo/
    ├── .git/
    ├── AGENTS.override.md -> ../secrets/keys
    ├── AGENTS.md: root
    ├── src -> ../elsewhere/sub
    └── docs/
        ├── AGENTS.md -> {disk}/repo/docs/real.md
        └── real.md: inside
    """
    assert look.at("repo/docs") == ["project repo/AGENTS.md", "project repo/docs/AGENTS.md"]
    assert look.told(caplog) == [
        f"memory file repo/AGENTS.override.md was skipped: {OUT.format('repo')}"
    ]
    assert look.at("repo/src") == ["project elsewhere/sub/AGENTS.md"]


@on_disks
def test_a_start_behind_a_link_is_in_the_repository_that_really_holds_it(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        └── AGENTS.md: src
    other/
    ├── .git/
    ├── AGENTS.md: other
    └── link -> ../repo/src
    """
    assert look.at("other/link") == ["project repo/AGENTS.md", "project repo/src/AGENTS.md"]


@on_disks
def test_loops_of_links_are_passed_over(look, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.override.md -> AGENTS.override.md
    ├── AGENTS.md: root
    └── src/
        ├── AGENTS.md -> CLAUDE.md
        ├── CLAUDE.md -> AGENTS.md
        └── round -> ../src
    """
    assert look.at("repo/src/round/round") == ["project repo/AGENTS.md"]
    assert sorted(look.told(caplog)) == [
        f"memory file repo/AGENTS.override.md was skipped: {ODD}",
        f"memory file repo/src/AGENTS.md was skipped: {ODD}",
    ]


@on_disks
def test_a_dangling_link_is_no_file(look, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.override.md -> gone.md
    └── AGENTS.md: root
    """
    assert look.at("repo") == ["project repo/AGENTS.md"]
    assert look.told(caplog) == []


@on_disks
def test_folders_and_pipes_are_passed_over(look, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.override.md [pipe]
    ├── AGENTS.md: root
    └── src/
        ├── AGENTS.override.md/
        └── AGENTS.md [pipe]
    """
    assert look.at("repo/src") == ["project repo/AGENTS.md"]
    assert look.told(caplog) == [
        f"memory file repo/AGENTS.override.md was skipped: {ODD}",
        "memory file repo/src/AGENTS.override.md was skipped: it is a folder",
        f"memory file repo/src/AGENTS.md was skipped: {ODD}",
    ]


@places("theirs")
def test_a_backend_that_would_wait_on_a_pipe_is_not_asked_for_it(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.override.md [pipe]
    └── AGENTS.md: root
    """
    assert look.at("repo") == ["project repo/AGENTS.md"]
    assert look.beside("repo") == ["project repo/AGENTS.md"]


@on_disks
def test_a_folder_of_tools_that_is_a_file(look, caplog):
    """
    repo/
    ├── .git/
    ├── .github: not a folder
    └── AGENTS.md: root
    """
    names = [".github/copilot-instructions.md", "AGENTS.md"]
    assert look.at("repo", names=names) == ["project repo/AGENTS.md"]
    assert look.told(caplog) == []


@places("rooted")
def test_a_link_out_of_the_root_is_passed_over(look, tmp_path_factory, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        └── AGENTS.md: src
    """
    outside = tmp_path_factory.mktemp("outside")
    (outside / "AGENTS.md").write_text("from elsewhere")
    (look.folder / "repo" / "AGENTS.override.md").symlink_to(outside / "AGENTS.md")
    (look.folder / "away").symlink_to(outside)
    assert look.at("repo/src") == ["project repo/AGENTS.md", "project repo/src/AGENTS.md"]
    assert [one.split(":")[0] for one in look.told(caplog)] == [
        "memory file repo/AGENTS.override.md was skipped"
    ]
    with pytest.raises(SettingError, match="start='/away' is no folder of this backend"):
        look.at("away")


@everywhere
def test_the_number_of_files_and_the_depth_have_an_end(look, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── a/
        ├── AGENTS.md: a
        └── b/
            └── AGENTS.md: b
    """
    assert look.at("repo/a/b", limits=limited(DiscoveryLimits, files=2)) == [
        "project repo/a/AGENTS.md",
        "project repo/a/b/AGENTS.md",
    ]
    assert look.told(caplog) == [
        "3 memory files were found; the last 2 are used (files of DiscoveryLimits)"
    ]
    assert len(look.at("repo/a/b", limits=DiscoveryLimits(depth=2))) == 3
    assert look.at("repo/a/b", limits=DiscoveryLimits(depth=1)) == ["project repo/a/b/AGENTS.md"]


@everywhere
def test_a_project_without_a_file_may_be_offered_one(look):
    """
    new/
    ├── .git/
    └── src/
        └── main.py: pass
    old/
    ├── .git/
    └── src/
        └── CLAUDE.md: here already
    odd/
    ├── .git/
    └── AGENTS.md/
        └── x: 1
    """
    given = {"names": ["AGENTS.md", "CLAUDE.md"], "offer": "AGENTS.md"}
    assert look.layout_at("new/src", **given) == ["project new/AGENTS.md"]
    assert look.layout_at("new/src") == []
    assert look.layout_at("old/src", **given) == ["project old/src/CLAUDE.md"]
    assert look.layout_at("odd", **given) == []


@on_disks
def test_a_file_of_the_user_does_not_stand_for_one_of_the_project(look):
    """
    home/
    └── .codex/
        └── AGENTS.md: mine
    new/
    └── .git/
    """
    assert look.layout_at("new", offer="CLAUDE.md", owners={"CLAUDE.md": "team"}) == [
        "user ~/.codex/AGENTS.md",
        "team new/CLAUDE.md",
    ]


@on_disks
def test_who_may_write_can_be_said_for_all_or_by_owner(look):
    """
    home/
    └── .codex/
        └── AGENTS.md: mine
    repo/
    ├── .git/
    └── AGENTS.md: ours
    """

    def written(**options):
        return [one.writable for one in look.sources("repo", **options)]

    assert written() == ["ask", "ask"]
    assert written(writable=True) == [True, True]
    assert written(writable={"user": True, "project": False}) == [True, False]
    assert written(writable={"user": True}) == [True, "ask"]


@everywhere
def test_what_the_rules_of_the_caller_deny_gives_way_to_the_next_name(look, caplog):
    """
    repo/
    ├── .git/
    ├── AGENTS.override.md: denied
    ├── AGENTS.md: root
    └── src/
        └── AGENTS.md: denied as well
    """

    def permits(names):
        return not names[-1].endswith(("override.md", "src/AGENTS.md"))

    assert look.again("repo/src", permits=permits) == ["project repo/AGENTS.md"]
    assert look.beside("repo/src", root="repo", permits=permits) == ["project repo/AGENTS.md"]
    assert look.told(caplog) == []


@on_disks
def test_rules_see_through_links(look):
    """
    repo/
    ├── .git/
    ├── AGENTS.md -> secret.md
    └── secret.md: denied
    """
    assert look.again("repo", permits=lambda names: "secret" not in "".join(names)) == []


# What a process may not read.


def test_what_may_not_be_read_is_passed_over(monkeypatch, caplog):
    """
    home/
    └── .codex/
        └── AGENTS.md: mine [denied]
    repo/
    ├── .git/ [denied]
    ├── AGENTS.override.md: secret [denied]
    ├── AGENTS.md: root
    ├── closed/ [denied]
    └── src/
        └── AGENTS.md: secret [denied]
    """
    drawing = test_what_may_not_be_read_is_passed_over.__doc__
    with open_folder() as folder:
        monkeypatch.setenv("HOME", str(folder / "home"))
        plant(drawing, folder)
        with as_nobody():
            found = [one.path for one in discover(folder / "repo" / "src")]
            assert found == [f"{folder}/repo/AGENTS.md"]
            assert [one.getMessage().split(": ")[1] for one in caplog.records] == [
                "this process may not read it"
            ] * 3
            closed = discover(folder / "repo" / "closed", layout=Layout(user=False))
            assert [one.path for one in closed] == found
            assert "is not there" not in caplog.text


def test_a_folder_that_may_be_passed_but_not_listed_is_read_all_the_same(monkeypatch):
    """
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        └── AGENTS.md: src
    """
    drawing = test_a_folder_that_may_be_passed_but_not_listed_is_read_all_the_same.__doc__
    with open_folder() as folder:
        monkeypatch.setenv("HOME", str(folder / "home"))
        plant(drawing, folder)
        (folder / "repo").chmod(0o711)
        (folder / "repo" / "src").chmod(0o711)
        with as_nobody():
            found = [one.path for one in discover(folder / "repo" / "src")]
    assert found == [f"{folder}/repo/AGENTS.md", f"{folder}/repo/src/AGENTS.md"]


# The doors, and where they lead.


def test_both_doors_take_the_same():
    assert inspect.signature(discover) == inspect.signature(adiscover)


def test_without_a_backend_the_paths_are_those_of_the_disk(tmp_path, monkeypatch, home):
    """
    home/
    └── .codex/
        └── AGENTS.md: mine
    repo/
    ├── .git/
    ├── AGENTS.md: root
    └── src/
        └── AGENTS.md: src
    """
    plant(test_without_a_backend_the_paths_are_those_of_the_disk.__doc__, tmp_path)
    monkeypatch.chdir(tmp_path / "repo" / "src")
    found = discover()
    assert found == [
        Source("~/.codex/AGENTS.md", owner="user", writable="ask"),
        Source(f"{tmp_path}/repo/AGENTS.md", owner="project", writable="ask"),
        Source(f"{tmp_path}/repo/src/AGENTS.md", owner="project", writable="ask"),
    ]
    assert discover("..") == found[:2]
    assert discover(tmp_path / "repo") == found[:2]
    monkeypatch.setenv("HOME", str(tmp_path))
    assert discover("~/repo/src", layout=Layout(user=False)) == found[1:]
    backend, start = on_disk()
    assert start == f"{tmp_path}/repo/src"
    read = backend.download_files([one.path for one in found[1:]])
    assert [one.content for one in read] == [b"root", b"src"]


def test_a_start_in_the_home_of_nobody_is_refused():
    with pytest.raises(SettingError, match="start='~nobody-here/x': the home folder is not known"):
        discover("~nobody-here/x")


@pytest.mark.parametrize("start", ["../up", "~/x", "a\0b", "C:\\x"])
def test_a_start_that_is_no_path_of_the_backend_is_refused(start):
    backend = StoreBackend(namespace=("one",), store=InMemoryStore())
    with pytest.raises(SettingError, match="is no folder of this backend; name one in it"):
        discover(start, backend=backend)


def test_what_is_no_backend_is_refused():
    with pytest.raises(SettingError, match="backend is a function, not yet a backend"):
        discover("/", backend=lambda runtime: None)
    with pytest.raises(SettingError, match="backend is a str, not a backend"):
        discover("/", backend="/somewhere")


def test_the_current_folder_is_the_start_in_a_backend_of_its_own(tmp_path, monkeypatch, home):
    """
    repo/
    ├── .git/
    └── AGENTS.md: root
    """
    plant(test_the_current_folder_is_the_start_in_a_backend_of_its_own.__doc__, tmp_path)
    backend = FilesystemBackend(root_dir=tmp_path / "repo")
    assert [one.path for one in discover(backend=backend)] == ["/AGENTS.md"]
    monkeypatch.chdir(tmp_path / "repo")
    whole = FilesystemBackend(root_dir="/")
    assert [one.path for one in discover(backend=whole)] == [f"{tmp_path}/repo/AGENTS.md"]
    open_to_all = FilesystemBackend(root_dir=tmp_path / "repo", virtual_mode=False)
    assert [one.path for one in discover(backend=open_to_all)] == [f"{tmp_path}/repo/AGENTS.md"]


def test_files_in_the_state_of_a_graph_are_found_inside_of_it():
    class State(TypedDict):
        files: NotRequired[FilesChannel]
        found: NotRequired[list[str]]

    def node(state: State) -> dict:
        return {"found": [one.path for one in discover("/repo/a", backend=StateBackend())]}

    async def anode(state: State) -> dict:
        found = await adiscover("/repo/a", backend=StateBackend())
        return {"found": [one.path for one in found]}

    files = {
        f"/repo/{name}": {"content": name, "encoding": "utf-8"}
        for name in (".git/HEAD", "AGENTS.md", "a/AGENTS.md")
    }
    for one in (node, anode):
        builder = StateGraph(State)
        builder.add_node("look", one)
        builder.add_edge(START, "look")
        graph = builder.compile()
        ran = asyncio.run(graph.ainvoke({"files": files}))
        assert ran["found"] == ["/repo/AGENTS.md", "/repo/a/AGENTS.md"]


async def test_the_event_loop_is_not_held_up(tmp_path):
    """
    repo/
    ├── .git/
    └── AGENTS.md: root
    """
    plant(test_the_event_loop_is_not_held_up.__doc__, tmp_path)
    backend = FilesystemBackend(root_dir=tmp_path)
    with blockbuster_ctx("memoryware"):
        assert (
            len(await adiscover(tmp_path / "repo" / ".." / "repo", layout=Layout(user=False))) == 1
        )
        assert len(await adiscover("/repo", backend=backend)) == 1


async def test_a_backend_that_is_only_async_is_enough():
    class OnlyAsync(BackendProtocol):
        files = {"/.git/HEAD": b"", "/AGENTS.md": b"root"}

        async def als(self, path):
            inside = {one.split("/")[1] for one in self.files} if path == "/" else ()
            return LsResult(entries=[{"path": f"/{one}"} for one in sorted(inside)])

        async def adownload_files(self, paths):
            return [
                FileDownloadResponse(
                    path, self.files.get(path), None if path in self.files else "file_not_found"
                )
                for path in paths
            ]

    assert [one.path for one in await adiscover(backend=OnlyAsync())] == ["/AGENTS.md"]


async def test_a_backend_that_fails_brings_nothing_and_says_so(caplog):
    class Broken(BackendProtocol):
        async def als(self, path):
            raise ConnectionError("no route")

        async def adownload_files(self, paths):
            raise ConnectionError("no route")

    assert await adiscover("/a", backend=Broken()) == []
    assert "memory file /a/AGENTS.md was skipped: Broken.download_files() failed" in caplog.text


# Options.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": []}, r"names=\(\): name at least one file"),
        ({"names": "AGENTS.md"}, r"names='AGENTS.md': give a list, such as"),
        ({"names": [7]}, r"names holds 7: it takes texts"),
        ({"names": [""]}, r"names holds '': it takes texts"),
        ({"names": ["../AGENTS.md"]}, r"names holds '../AGENTS.md': a name is looked for in each"),
        ({"names": ["/AGENTS.md"]}, r"names holds '/AGENTS.md': a name is looked for in each"),
        ({"names": ["~/AGENTS.md"]}, r"names holds '~/AGENTS.md': a name is looked for in each"),
        ({"root_markers": ["a/../b"]}, r"root_markers holds 'a/../b'"),
        ({"root_markers": ["a/b"]}, r"root_markers holds 'a/b': a marker is a name"),
        ({"user_files": ["AGENTS.md"]}, r"user_files holds 'AGENTS.md': begin with '~/' or '/'"),
        ({"user_files": ["~/../x.md"]}, r"user_files holds '~/../x.md'"),
        ({"user_files": ["~/"]}, r"user_files holds '~/'"),
        ({"user_files": None}, r"user_files=None: give a list, such as"),
        ({"writable": "maybe"}, r"writable='maybe': must be True, False or 'ask'"),
        ({"writable": {"user": "maybe"}}, r"writable='maybe': must be True, False or 'ask'"),
        ({"writable": {"boss": True}}, r"writable\['boss'\]='boss': must be one of user, project"),
        ({"owners": ["user"]}, r"owners=\['user'\]: give a dict"),
        ({"owners": {"AGENTS.md": "boss"}}, r"owners\['AGENTS.md'\]='boss': must be None or one"),
        ({"offer": "../x.md"}, r"offer holds '../x.md'"),
        ({"limits": 3}, r"limits=3: give DiscoveryLimits"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        Layout(**options)


def test_a_layout_stays_as_it_was_given():
    owners, names = {"AGENTS.md": "team"}, ["AGENTS.md", "AGENTS.md", "CLAUDE.md"]
    layout = Layout(names=names, owners=owners)
    owners.clear()
    names.clear()
    assert layout.names == ("AGENTS.md", "CLAUDE.md")
    assert layout.owners == {"AGENTS.md": "team"}
    assert layout == copy.deepcopy(layout)
    assert hash(layout) == hash(copy.deepcopy(layout))
    assert Layout() == Layout(names=list(DEFAULT_NAMES))


def test_what_has_been_said_is_forgotten_before_it_fills_the_memory():
    notices = DiscoveryWarnings()
    assert all(notices.first("case", str(number)) for number in range(10_000))
    assert not notices.first("case", "9999")
    assert notices.first("case", "0")


# The drawings themselves.


def test_a_drawing_is_what_it_shows(tmp_path):
    r"""A sentence before it, and one after it: neither is drawn.

    home/                             a remark
    ├── AGENTS.md: one\ntwo
    └── empty.md:
    repo/
    ├── .git: gitdir: ../x
    ├── a/
    │   ├── b/                        another remark
    │   │   └── link.md -> ../../c.md
    │   └── pipe [pipe]
    ├── c.md: text with: a colon
    └── closed.md: secret [denied]

    See above.
    """
    plant(test_a_drawing_is_what_it_shows.__doc__, tmp_path)
    there = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*"))
    assert there == [
        "home",
        "home/AGENTS.md",
        "home/empty.md",
        "repo",
        "repo/.git",
        "repo/a",
        "repo/a/b",
        "repo/a/b/link.md",
        "repo/a/pipe",
        "repo/c.md",
        "repo/closed.md",
    ]
    assert (tmp_path / "home/AGENTS.md").read_text() == "one\ntwo"
    assert (tmp_path / "repo/.git").read_text() == "gitdir: ../x"
    assert (tmp_path / "repo/a/b/link.md").read_text() == "text with: a colon"
    assert stat.S_ISFIFO((tmp_path / "repo/a/pipe").stat().st_mode)
    assert (tmp_path / "repo/closed.md").stat().st_mode & 0o777 == 0
