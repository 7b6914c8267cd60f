"""A mounted folder is a folder: found, listed, searched and guarded like one."""

from __future__ import annotations

import pytest

from backends.shelf import Shelf, either_door, mounted, paths
from memoryware.backends.composite import CompositeBackend
from memoryware.errors import PathRefused, SettingError

ask = either_door


# -- building -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix", ["memories/", "/memories", "//memories/", "./memories", "memories", "\\memories\\"]
)
def test_a_route_may_be_spelled_in_any_way(prefix):
    kept, scratch = Shelf(), Shelf()
    composite = CompositeBackend(scratch, {prefix: kept})
    composite.write("/memories/a.md", "x")
    assert kept.files == {"/a.md": "x"}
    assert scratch.files == {}
    assert dict(composite.routes) == {"/memories/": kept}
    assert composite.routes[prefix] is kept


@pytest.mark.parametrize("prefix", ["/", "", ".", "//", "/./"])
def test_a_route_at_the_root_is_refused(prefix):
    with pytest.raises(SettingError, match="`default`"):
        CompositeBackend(Shelf(), {prefix: Shelf()})


@pytest.mark.parametrize("prefix", ["/a/../b/", "~/memories", "C:\\memories", "/a\0b/", 5])
def test_a_route_that_no_path_can_reach_is_refused(prefix):
    with pytest.raises(PathRefused):
        CompositeBackend(Shelf(), {prefix: Shelf()})


def test_two_spellings_of_one_route_are_refused():
    with pytest.raises(SettingError, match="name the same folder"):
        CompositeBackend(Shelf(), {"/memories/": Shelf(), "memories": Shelf()})


@pytest.mark.parametrize("value", [lambda runtime: Shelf(), Shelf])
def test_a_factory_or_a_class_as_a_part_is_refused_with_a_way_out(value):
    with pytest.raises(SettingError, match="lambda runtime: CompositeBackend"):
        CompositeBackend(Shelf(), {"/memories/": value})
    with pytest.raises(SettingError, match="The default backend"):
        CompositeBackend(value, {})


@pytest.mark.parametrize("value", [None, "/srv/memories", {}])
def test_what_is_no_backend_is_refused_when_it_is_built(value):
    with pytest.raises(SettingError, match="not a backend"):
        CompositeBackend(Shelf(), {"/memories/": value})


def test_the_parts_can_be_read_but_not_changed_behind_its_back():
    default, own, team = Shelf(a="1"), Shelf(b="2"), Shelf(c="3")
    composite = CompositeBackend(default, {"/m/": own, "/m/team/": team}, artifacts_root="/tmp")
    assert composite.default is default
    assert composite.sorted_routes == [("/m/team/", team), ("/m/", own)]
    assert composite.artifacts_root == "/tmp"
    with pytest.raises(TypeError):
        composite.routes["/n/"] = Shelf()
    with pytest.raises(AttributeError):
        composite.default = Shelf()
    with pytest.raises(KeyError):
        composite.routes["/n/"]


def test_a_change_of_the_given_mapping_changes_nothing():
    routes = {"/m/": Shelf()}
    composite = CompositeBackend(Shelf(), routes)
    routes["/n/"] = Shelf()
    assert list(composite.routes) == ["/m/"]


# -- routing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "part", "inner"),
    [
        ("/memories/AGENTS.md", "own", "/AGENTS.md"),
        ("/memories/", "own", "/"),
        ("/memories", "own", "/"),
        ("memories/a.md", "own", "/a.md"),
        ("./memories//sub/./a.md", "own", "/sub/a.md"),
        ("/memories/team/a.md", "team", "/a.md"),
        ("/memories/teams/a.md", "own", "/teams/a.md"),
        ("/memories-old/x.md", "default", "/memories-old/x.md"),
        ("./notes.md", "default", "./notes.md"),
        ("//notes.md", "default", "//notes.md"),
        ("~/notes.md", "default", "~/notes.md"),
        ("~", "default", "~"),
        ("C:\\notes.md", "default", "C:\\notes.md"),
    ],
)
def test_a_path_reaches_the_longest_route_and_the_default_gets_it_as_it_came(path, part, inner):
    parts = {"default": Shelf(), "own": Shelf(), "team": Shelf()}
    composite = mounted(parts["default"], memories=parts["own"], memories__team=parts["team"])
    backend, key = composite._get_backend_and_key(path)
    assert backend is parts[part]
    assert key == inner


@pytest.mark.parametrize("path", ["/memories/../etc/passwd", "/memories/~/x", "/a\0.md", ".."])
async def test_a_refused_path_is_refused_everywhere(ask, path):
    composite = mounted(memories=Shelf())
    for name, args in [
        ("read", ()),
        ("write", ("x",)),
        ("edit", ("a", "b")),
        ("ls", ()),
        ("delete", ()),
    ]:
        with pytest.raises(PathRefused):
            await ask(composite, name, path, *args)
    assert (await ask(composite, "download_files", [path]))[0].error == "invalid_path"
    assert (await ask(composite, "upload_files", [(path, b"x")]))[0].error == "invalid_path"
    assert (await ask(composite, "glob", "*.md", path)).error
    assert (await ask(composite, "grep", "x", path)).error
    assert await ask(composite, "fingerprint", [path]) == [None]


async def test_results_carry_the_path_of_the_caller(ask):
    composite = mounted(memories=Shelf(a="old text"))
    assert (await ask(composite, "write", "memories/b", "x")).path == "memories/b"
    assert (await ask(composite, "edit", "/memories//a", "old", "new")).path == "/memories//a"
    assert (await ask(composite, "delete", "./memories/a")).path == "./memories/a"


async def test_errors_say_the_path_of_the_caller(ask):
    composite = mounted(memories=Shelf())
    told = await ask(composite, "read", "/memories/a.md")
    assert told.error == "File '/memories/a.md' not found"
    told = await ask(composite, "edit", "/memories/a.md", "a", "b")
    assert told.error == "Error: File '/memories/a.md' not found"
    assert told.path is None
    told = await ask(composite, "ls", "/memories/sub")
    assert told.error == "Path '/memories/sub': path_not_found"


async def test_a_refusal_by_a_part_names_the_path_of_the_caller(ask):
    class Strict(Shelf):
        def read(self, file_path, offset=0, limit=2000):
            raise PathRefused(file_path, f"The link '{file_path}' leaves the root")

    with pytest.raises(PathRefused, match="The link '/m/link' leaves") as refused:
        await ask(mounted(m=Strict()), "read", "/m/link")
    assert refused.value.path == "/m/link"


# -- listing ------------------------------------------------------------------------------


async def test_mounts_and_what_leads_to_them_are_listed_in_their_parents(ask):
    composite = mounted(Shelf(z="1"), a__b=Shelf(x="1"), a__b__c__d=Shelf(y="1"))
    assert paths(await ask(composite, "ls", "/")) == ["/a/", "/z"]
    assert paths(await ask(composite, "ls", "/a")) == ["/a/b/"]
    assert paths(await ask(composite, "ls", "/a/b/")) == ["/a/b/c/", "/a/b/x"]
    assert paths(await ask(composite, "ls", "a/b/c")) == ["/a/b/c/d/"]
    assert paths(await ask(composite, "ls", "/a/b/c/d")) == ["/a/b/c/d/y"]


async def test_a_mount_is_listed_once_and_hides_what_lies_under_its_name(ask):
    composite = mounted(Shelf(m__shadow="1", m__sub__x="1", n="1"), m=Shelf(real="1"))
    listed = await ask(composite, "ls", "/")
    assert paths(listed) == ["/m/", "/n"]
    assert listed.entries[0]["is_dir"] is True
    assert paths(await ask(composite, "ls", "/m")) == ["/m/real"]
    assert (await ask(composite, "read", "/m/shadow")).error


async def test_a_file_of_the_default_under_the_name_of_a_mount_is_hidden(ask):
    composite = mounted(Shelf(a="a file"), a__b=Shelf())
    assert paths(await ask(composite, "ls", "/")) == ["/a/"]
    assert paths(await ask(composite, "ls", "/a")) == ["/a/b/"]
    assert "folder" in (await ask(composite, "read", "/a")).error


async def test_an_empty_mount_is_an_empty_folder(ask):
    class Bare(Shelf):
        def ls(self, path):
            from memoryware.backends.protocol import LsResult

            return LsResult(error=f"Path '{path}': path_not_found")

    for part in (Shelf(), Bare()):
        listed = await ask(mounted(m=part), "ls", "/m")
        assert listed.error is None
        assert listed.entries == []


async def test_a_missing_folder_is_an_error_of_its_own(ask):
    assert (await ask(mounted(m=Shelf()), "ls", "/gone")).error == "Path '/gone': path_not_found"


# -- searching ----------------------------------------------------------------------------


def tree():
    """Three parts, each with a top file, a deep file, and a file that is hidden by a mount."""
    return mounted(
        Shelf(**{"a.md": "hit d", "docs__b.md": "hit d", "m__shadow.md": "hit shadow"}),
        m=Shelf(**{"c.md": "hit m", "sub__e.md": "hit m", "team__shadow.md": "hit shadow"}),
        m__team=Shelf(**{"t.md": "hit t", ".agent__AGENTS.md": "hit t"}),
    )


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        (
            "*.md",
            None,
            [
                "/a.md",
                "/docs/b.md",
                "/m/c.md",
                "/m/sub/e.md",
                "/m/team/.agent/AGENTS.md",
                "/m/team/t.md",
            ],
        ),
        (
            "**/*.md",
            "/",
            [
                "/a.md",
                "/docs/b.md",
                "/m/c.md",
                "/m/sub/e.md",
                "/m/team/.agent/AGENTS.md",
                "/m/team/t.md",
            ],
        ),
        ("/*.md", "/", ["/a.md"]),
        ("/*/*.md", "/", ["/docs/b.md", "/m/c.md"]),
        ("/*/*/*.md", None, ["/m/sub/e.md", "/m/team/t.md"]),
        ("/m/*.md", "/", ["/m/c.md"]),
        ("m/*.md", None, ["/m/c.md"]),
        ("/m/**/*.md", "/", ["/m/c.md", "/m/sub/e.md", "/m/team/.agent/AGENTS.md", "/m/team/t.md"]),
        ("**/team/*.md", None, ["/m/team/t.md"]),
        ("**/{docs,team}/?.md", None, ["/docs/b.md", "/m/team/t.md"]),
        ("/m/{sub,team}/*.md", None, ["/m/sub/e.md", "/m/team/t.md"]),
        ("*.md", "/m", ["/m/c.md", "/m/sub/e.md", "/m/team/.agent/AGENTS.md", "/m/team/t.md"]),
        ("/*.md", "/m/", ["/m/c.md"]),
        ("team/*.md", "m", ["/m/team/t.md"]),
        ("*.md", "/m/team", ["/m/team/.agent/AGENTS.md", "/m/team/t.md"]),
        ("*.md", "/m/sub", ["/m/sub/e.md"]),
        ("*.md", "/docs", ["/docs/b.md"]),
        # The pattern repeats the folder of the search.
        ("/m/*.md", "/m", ["/m/c.md"]),
        ("m/*.md", "/m/", ["/m/c.md"]),
        ("/m/team/*.md", "/m", ["/m/team/t.md"]),
        ("/m/team/*.md", "/m/team", ["/m/team/t.md"]),
        ("/m/{c,d}.md", "/m", ["/m/c.md"]),
        ("/m/sub/*.md", "/m/sub", ["/m/sub/e.md"]),
    ],
)
async def test_glob_and_grep_find_the_same_files_across_mounts(ask, pattern, path, found):
    told = await ask(tree(), "glob", pattern, path)
    assert told.error is None
    assert paths(told) == found
    told = await ask(tree(), "grep", "hit", path, pattern)
    assert told.error is None
    assert paths(told) == found


async def test_both_readings_of_a_pattern_that_repeats_its_folder_are_found_once(ask):
    composite = mounted(m=Shelf(**{"a.md": "1", "m__a.md": "1"}))
    assert paths(await ask(composite, "glob", "/m/*.md", "/m")) == ["/m/a.md", "/m/m/a.md"]
    assert paths(await ask(composite, "glob", "m/**", "/m")) == ["/m/a.md", "/m/m/a.md"]


async def test_a_file_is_searched_wherever_it_is(ask):
    assert paths(await ask(tree(), "grep", "hit", "/m/team/t.md")) == ["/m/team/t.md"]
    assert paths(await ask(tree(), "grep", "hit", "/a.md")) == ["/a.md"]


async def test_grep_finds_no_more_than_asked_in_all_and_says_so(ask):
    told = await ask(tree(), "grep", "hit", max_count=3)
    assert paths(told) == ["/a.md", "/docs/b.md", "/m/c.md"]
    assert told.truncated is True
    told = await ask(tree(), "grep", "hit", max_count=6)
    assert len(told.matches) == 6
    assert told.truncated is False


async def test_hidden_matches_do_not_use_up_the_limit(ask):
    default = Shelf(**{f"m__shadow{n}.md": "hit" for n in range(50)}, **{"z.md": "hit"})
    told = await ask(mounted(default, m=Shelf()), "grep", "hit", max_count=2)
    assert paths(told) == ["/z.md"]
    assert told.truncated is False


async def test_lines_of_one_file_are_in_order(ask):
    told = await ask(mounted(m=Shelf(f="hit\n" * 12)), "grep", "hit")
    assert [one["line"] for one in told.matches] == list(range(1, 13))


async def test_only_the_parts_that_can_have_a_match_are_asked():
    default, m, other = Shelf(), Shelf(), Shelf()
    composite = mounted(default, m=m, other=other)
    composite.glob("/m/*.md")
    assert m.asked == [("glob", "/*.md", "/")]
    assert other.asked == []
    composite.glob("*.md", "/m")
    assert default.asked == [("glob", "/m/*.md", None)]


@pytest.mark.parametrize("pattern", ["", "/", "/a/../b", "{a,b}" * 20])
async def test_a_pattern_that_cannot_work_is_an_error(ask, pattern):
    assert (await ask(mounted(m=Shelf()), "glob", pattern)).error
    assert (await ask(mounted(m=Shelf()), "grep", "x", None, pattern or "/")).error


async def test_a_folder_that_only_leads_to_mounts_can_be_searched(ask):
    class Picky(Shelf):
        def glob(self, pattern, path=None):
            from memoryware.backends.protocol import GlobResult

            return GlobResult(error=f"Path '{path}': path_not_found")

    composite = mounted(Picky(), a__b=Shelf(**{"x.md": "1"}))
    told = await ask(composite, "glob", "*.md", "/a")
    assert told.error is None
    assert paths(told) == ["/a/b/x.md"]
    told = await ask(composite, "glob", "/*.md", "/a")
    assert told.error is None
    assert (await ask(composite, "glob", "*.md", "/gone")).error == "Path '/gone': path_not_found"


# -- guarding mounts ----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/a", "/a/", "/a/m", "/a/m/", "a/m"])
async def test_a_mount_or_a_folder_that_holds_one_is_not_deleted(ask, path):
    default, part = Shelf(a__x="1"), Shelf(y="1")
    composite = mounted(default, a__m=part)
    told = await ask(composite, "delete", path)
    assert "mounted at '/a/m'" in told.error
    assert "delete single files instead" in told.error
    assert (default.files, part.files) == ({"/a/x": "1"}, {"/y": "1"})


@pytest.mark.parametrize("path", ["/", "/a", "/a/m", "/a/m/"])
async def test_no_file_can_take_the_place_of_a_mount(ask, path):
    default, part = Shelf(), Shelf()
    composite = mounted(default, a__m=part)
    assert "folder" in (await ask(composite, "write", path, "x")).error
    assert "folder" in (await ask(composite, "edit", path, "x", "y")).error
    assert "folder" in (await ask(composite, "append", path, "y")).error
    assert (await ask(composite, "upload_files", [(path, b"x")]))[0].error == "is_directory"
    assert (await ask(composite, "download_files", [path]))[0].error == "is_directory"
    assert (default.files, part.files) == ({}, {})


# -- batches ------------------------------------------------------------------------------


async def test_a_batch_keeps_order_and_spelling_and_asks_each_backend_once(ask):
    own, team, default = Shelf(a="a"), Shelf(b="b"), Shelf(z="z")
    composite = mounted(default, m=own, m__team=team)
    wanted = ["m/team/b", "/gone", "/z", "/m/../x", "./m/gone", "/m", "/m//a"]
    answers = await ask(composite, "download_files", wanted)
    assert [one.path for one in answers] == wanted
    assert [one.content for one in answers] == [b"b", None, b"z", None, None, None, b"a"]
    assert [one.error for one in answers] == [
        None, "file_not_found", None, "invalid_path", "file_not_found", "is_directory", None,
    ]  # fmt: skip
    assert own.asked == [("download_files", ["/gone", "/a"])]
    assert default.asked == [("download_files", ["/gone", "/z"])]


async def test_a_backend_that_is_mounted_twice_is_asked_once(ask):
    part = Shelf(x="1")
    composite = mounted(part, a=part, b=part)
    answers = await ask(composite, "download_files", ["/a/x", "/x", "/b/x"])
    assert [one.content for one in answers] == [b"1", b"1", b"1"]
    assert part.asked == [("download_files", ["/x", "/x", "/x"])]


async def test_two_equal_backends_are_two(ask):
    one, other = Shelf(), Shelf()
    assert one == other
    answers = await ask(mounted(one, m=other), "upload_files", [("/m/a", b"1"), ("/b", b"2")])
    assert [a.path for a in answers] == ["/m/a", "/b"]
    assert (one.files, other.files) == ({"/b": "2"}, {"/a": "1"})


async def test_an_empty_batch_asks_nobody(ask):
    part = Shelf()
    assert await ask(mounted(part), "download_files", []) == []
    assert await ask(mounted(part), "upload_files", []) == []
    assert await ask(mounted(part), "fingerprint", []) == []
    assert part.asked == []


# -- composites in composites -------------------------------------------------------------


async def test_composites_nest(ask):
    inner = mounted(Shelf(**{"i.md": "hit"}), deep=Shelf(**{"d.md": "hit"}))
    outer = mounted(Shelf(**{"o.md": "hit"}), in_=inner)
    assert paths(await ask(outer, "ls", "/in_")) == ["/in_/deep/", "/in_/i.md"]
    assert paths(await ask(outer, "glob", "*.md")) == ["/in_/deep/d.md", "/in_/i.md", "/o.md"]
    assert paths(await ask(outer, "glob", "/in_/deep/*.md")) == ["/in_/deep/d.md"]
    assert paths(await ask(outer, "grep", "hit", "/in_/deep")) == ["/in_/deep/d.md"]
    assert (await ask(outer, "read", "/in_/deep/d.md")).file_data["content"] == "hit"
    told = await ask(outer, "delete", "/in_/deep")
    assert "mounted at '/in_/deep'" in told.error
    assert (await ask(outer, "write", "/in_/deep/n.md", "x")).path == "/in_/deep/n.md"
