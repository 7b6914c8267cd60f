"""What becomes of import lines, in layouts of folders that are drawn in each test."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import assume, given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore

from doors import for_all
from limits import limited
from memoryware import FilesystemBackend, StoreBackend
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.backends._adapter import BackendAdapter
from memoryware.errors import SettingError
from memoryware.settings import ImportLimits
from memoryware.sources.imports import Expanded, Imports, expand
from memoryware.sources.markdown import strip_comments
from sources.trees import as_files, plant


class Project:
    """A drawing as files of a backend, and what its memory files look like with their imports."""

    def __init__(self, backend) -> None:
        self.backend = backend
        self.batches: list[list[str]] = []

    async def fetch(self, runner: Runner, paths: list[str]):
        self.batches.append(paths)
        answers = await BackendAdapter(self.backend).download(runner, paths)
        return [(one.content, one.error) for one in answers]

    async def names(self, runner: Runner, paths: list[str]):
        return await BackendAdapter(self.backend).names(runner, paths)

    def whole(self, path: str = "/AGENTS.md", *, known=(), **options) -> Expanded:
        """Expand a file through both doors, which must agree."""
        text = self.backend.download_files([path])[0].content.decode()
        asked: list[tuple[str, str]] = []
        approve = options.get("approve")
        if approve is not None:
            options["approve"] = lambda *pair: asked.append(pair) or approve(*pair)

        def run(runner):
            return expand(
                runner, path, text, self.fetch, Imports(**options), names=self.names, loaded=known
            )

        async def undisturbed():
            with blockbuster_ctx():
                return await run(ASYNC)

        self.batches = []
        first = run_blocking(run(BLOCKING))
        once, self.batches = self.batches, []
        before = asked[:]
        assert asyncio.run(undisturbed()) == first
        assert self.batches == once
        assert asked == before * 2
        return first

    def shown(self, path: str = "/AGENTS.md", **options) -> str:
        return self.whole(path, **options).text


@pytest.fixture
def project(request, tmp_path, monkeypatch):
    """The drawing of the test as the root of a disk; `home/` is the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    plant(request.function.__doc__, tmp_path)
    return Project(FilesystemBackend(root_dir=tmp_path))


# Where imports lead.


def test_an_import_line_is_replaced_by_the_file_between_two_lines_that_name_it(project):
    r"""
    AGENTS.md: # Rules\n@docs/style.md\nBe kind.\n
    docs/
    └── style.md: Use tabs.\n
    """
    whole = project.whole()

    assert whole.text == (
        "# Rules\n\n[from /docs/style.md]\nUse tabs.\n[end of /docs/style.md]\n\nBe kind.\n"
    )
    assert whole.imported == whole.shown == ("/docs/style.md",)
    assert whole.notes == ()


def test_paths_start_at_the_file_that_they_stand_in(project):
    r"""
    AGENTS.md: @docs/a.md
    docs/
    ├── a.md: @more/b.md
    ├── c.md: C
    └── more/
        └── b.md: @../c.md
    c.md: wrong
    """
    assert project.shown() == (
        "[from /docs/a.md]\n\n[from /docs/more/b.md]\n\n[from /docs/c.md]\nC\n"
        "[end of /docs/c.md]\n[end of /docs/more/b.md]\n[end of /docs/a.md]"
    )


def test_all_files_of_one_depth_come_in_one_batch(project):
    r"""
    AGENTS.md: @a.md\n@b.md
    a.md: @c.md
    b.md: @d.md
    c.md: C
    d.md: D
    """
    assert project.whole().imported == ("/a.md", "/b.md", "/c.md", "/d.md")
    assert project.batches == [["/a.md", "/b.md"], ["/c.md", "/d.md"]]


def test_a_chain_of_five_is_followed_and_what_is_deeper_is_named(project):
    r"""
    AGENTS.md: @1.md
    1.md: @2.md
    2.md: @3.md
    3.md: @4.md
    4.md: @5.md
    5.md: five\n@6.md
    6.md: six
    """
    whole = project.whole()

    assert "five\n[import skipped: /6.md is deeper than 5]" in whole.text
    assert "six" not in whole.text
    assert whole.notes == ("/5.md, line 2: import skipped: /6.md is deeper than 5",)
    assert "six" in project.shown(limits=ImportLimits(depth=6))
    assert "five" not in project.shown(limits=ImportLimits(depth=4))


def test_a_circle_ends_where_it_closes(project):
    r"""
    AGENTS.md: top\n@a.md
    a.md: A\n@b.md
    b.md: B\n@AGENTS.md\n@./a.md\n@b.md
    """
    whole = project.whole()

    assert whole.text.count("top") == whole.text.count("\nA\n") == whole.text.count("\nB\n") == 1
    for name in ("AGENTS", "a", "b"):
        assert f"[import skipped: /{name}.md is already shown above]" in whole.text
    assert whole.imported == ("/a.md", "/b.md")


def test_a_file_that_two_import_is_shown_once_and_nearest_to_the_top(project):
    r"""
    AGENTS.md: @a.md\n@shared.md\n@./docs/../shared.md
    a.md: A\n@shared.md
    shared.md: S
    """
    assert project.shown() == (
        "[from /a.md]\nA\n[import skipped: /shared.md is already shown below]\n[end of /a.md]\n\n"
        "[from /shared.md]\nS\n[end of /shared.md]\n\n"
        "[import skipped: /shared.md is already shown above]"
    )


def test_the_same_text_under_two_names_is_shown_once(project):
    r"""
    repo/
    ├── AGENTS.md: @a.md\n@copy.md\n@link.md
    ├── a.md: the rules
    ├── copy.md: the rules
    └── link.md -> a.md
    """
    text = project.shown("/repo/AGENTS.md")

    assert text.count("the rules") == 1
    assert "[import skipped: /repo/copy.md has the same text as /repo/a.md]" in text
    assert "[import skipped: /repo/link.md has the same text as /repo/a.md]" in text


def test_a_circle_of_links_ends(project):
    r"""
    repo/
    ├── AGENTS.md: top\n@sub/AGENTS.md
    └── sub/
        └── AGENTS.md -> ../AGENTS.md
    """
    assert project.shown("/repo/AGENTS.md") == (
        "top\n[import skipped: /repo/sub/AGENTS.md has the same text as /repo/AGENTS.md]"
    )


def test_a_file_that_is_shown_as_memory_itself_is_not_shown_twice(project):
    r"""
    CLAUDE.md: @AGENTS.md\nmore
    AGENTS.md: rules
    """
    text = project.shown("/CLAUDE.md", known=["./AGENTS.md", "/AGENTS.md", "/../x"])

    assert text == "[import skipped: /AGENTS.md is in this memory already]\nmore"
    assert project.batches == []


# What is no file.


def test_a_missing_file_is_reported_in_its_place_and_watched(project):
    r"""
    AGENTS.md: above\n- @docs/x.md\nbelow
    docs/
    └── folder.md/
    """
    whole = project.whole()

    assert whole.text == "above\n[import not found: /docs/x.md]\nbelow"
    assert whole.imported == ("/docs/x.md",)
    assert whole.shown == ()
    assert whole.notes == ("/AGENTS.md, line 2: import not found: /docs/x.md",)


def test_a_folder_a_picture_and_a_link_out_of_the_root_are_reported(project, tmp_path_factory):
    r"""
    repo/
    ├── AGENTS.md: @docs/x.md\n@picture.md\n@out.md\n@loop.md
    ├── docs/
    │   └── x.md/
    └── loop.md -> loop.md
    """
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("secret")
    repo = project.backend.cwd / "repo"
    (repo / "picture.md").write_bytes(b"\x89PNG\x00\xff")
    (repo / "out.md").symlink_to(outside)

    assert project.shown("/repo/AGENTS.md") == (
        "[import refused: /repo/docs/x.md is a folder]\n"
        "[import skipped: /repo/picture.md is not text]\n"
        "[import refused: /repo/out.md is no path below the root]\n"
        "[import refused: /repo/loop.md is no path below the root]"
    )


def test_bytes_that_are_not_text_everywhere_do_not_stop_the_import(project):
    r"""
    AGENTS.md: @latin.md\n@marked.md
    """
    root = project.backend.cwd
    (root / "latin.md").write_bytes("caf\u00e9".encode("latin-1"))
    (root / "marked.md").write_bytes(b"\xef\xbb\xbfmarked\r\nlines\r\n")

    text = project.shown()

    assert "\ncaf\ufffd\n" in text
    assert "[from /marked.md]\nmarked\nlines\n[end" in text


# Where files may come from.


def test_nothing_comes_from_outside_the_folder_of_the_memory_file(project):
    r"""
    work/
    └── repo/
        └── AGENTS.md: @../notes.md\n@/work/notes.md\n@~/me.md\n@../../../x.md\n@./in.md
    home/
    └── me.md: me
    """
    text = project.shown("/work/repo/AGENTS.md")

    assert text == (
        "[import refused: /work/notes.md is outside the allowed folders]\n"
        * 2
        + "[import refused: ~/me.md is outside the allowed folders]\n"
        "[import refused: ../../../x.md is no path below the root]\n"
        "[import not found: /work/repo/in.md]"
    )
    assert project.batches == [["/work/repo/in.md"]]


def test_a_link_counts_as_where_it_leads(project):
    r"""
    work/
    ├── private.md: private
    └── repo/
        ├── AGENTS.md: @docs/x.md\n@all/private.md
        ├── docs/
        │   └── x.md -> ../../private.md
        └── all -> ..
    """
    assert project.shown("/work/repo/AGENTS.md") == (
        "[import refused: /work/repo/docs/x.md is outside the allowed folders]\n"
        "[import refused: /work/repo/all/private.md is outside the allowed folders]"
    )
    assert "private\n" in project.shown("/work/repo/AGENTS.md", roots=["/work"])


def test_a_link_to_a_name_that_cannot_be_judged_is_refused():
    async def fetch(runner, paths):
        raise AssertionError(paths)

    async def names(runner, paths):
        return [("/x.md", "/etc/a\x01b") if "x" in path else (path,) for path in paths]

    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", "@x.md", fetch, Imports(), names=names))

    assert whole.text == "[import refused: /x.md is no path below the root]"


def test_roots_are_the_folders_that_need_no_question(project):
    r"""
    work/
    ├── repo/
    │   └── AGENTS.md: @../shared/a.md\n@../shared-not/b.md\n@c.md
    ├── shared/
    │   └── a.md: A
    └── shared-not/
        └── b.md: B
    """
    text = project.shown("/work/repo/AGENTS.md", roots=["/work/shared/"])

    assert "\nA\n" in text
    assert "[import refused: /work/shared-not/b.md is outside the allowed folders]" in text
    assert "[import refused: /work/repo/c.md is outside the allowed folders]" in text


def test_a_home_folder_may_be_a_root(project):
    r"""
    AGENTS.md: @~/notes/me.md\n@~/other.md
    home/
    ├── other.md: other
    └── notes/
        └── me.md: I like tea.
    """
    text = project.shown(roots=["~/notes"])

    assert "[from ~/notes/me.md]\nI like tea.\n" in text
    assert "[import refused: ~/other.md is outside the allowed folders]" in text


def test_relative_imports_of_a_file_in_the_home_folder_stay_there(project):
    r"""
    home/
    └── .agent/
        ├── AGENTS.md: @prefs.md\n@../x.md
        └── prefs.md: tea
    """
    assert project.shown("~/.agent/AGENTS.md") == (
        "[from ~/.agent/prefs.md]\ntea\n[end of ~/.agent/prefs.md]\n\n"
        "[import refused: ~/x.md is outside the allowed folders]"
    )


def test_a_person_is_asked_about_files_from_elsewhere_and_only_about_them(project):
    r"""
    work/
    ├── yes.md: Y\n@repo/in.md\n@no.md
    ├── no.md: N
    └── repo/
        ├── AGENTS.md: @../yes.md\n@../no.md\n@in.md\n@link.md
        ├── in.md: I
        └── link.md -> ../no.md
    """
    asked = []

    def approve(importing, imported):
        asked.append((importing, imported))
        return imported == "/work/yes.md"

    text = project.shown("/work/repo/AGENTS.md", approve=approve)

    assert "[from /work/yes.md]\nY\n" in text
    assert text.count("[import refused: /work/no.md is not approved]") == 2
    assert "[import refused: /work/repo/link.md is not approved]" in text
    first = "/work/repo/AGENTS.md"
    assert asked[:3] == [
        (first, "/work/yes.md"),
        (first, "/work/no.md"),
        (first, "/work/no.md"),  # where the link leads
    ]
    assert project.batches == [["/work/yes.md", "/work/repo/in.md"]]


@pytest.mark.parametrize("answer", [None, 0, ""])
def test_anything_but_a_true_answer_refuses(project, answer):
    r"""
    repo/
    └── AGENTS.md: @../x.md
    x.md: X
    """
    text = project.shown("/repo/AGENTS.md", approve=lambda *_: answer)

    assert text == "[import refused: /x.md is not approved]"


class _Later:
    async def __call__(self, importing, imported):
        await asyncio.sleep(0)
        return imported == "/x.md"


async def _later(importing, imported):
    await asyncio.sleep(0)
    return imported == "/x.md"


@pytest.mark.parametrize("approve", [_later, _Later()], ids=["function", "object"])
def test_an_async_hook_is_awaited_and_a_blocking_run_says_that_it_cannot(project, approve):
    r"""
    repo/
    └── AGENTS.md: @../x.md
    x.md: X
    """

    def run(runner):
        options = Imports(approve=approve)
        return expand(runner, "/repo/AGENTS.md", "@../x.md", project.fetch, options)

    assert "\nX\n" in asyncio.run(run(ASYNC)).text
    with pytest.raises(SettingError, match="ainvoke"):
        run_blocking(run(BLOCKING))


def test_what_a_hook_raises_stops_the_load(project):
    r"""
    repo/
    └── AGENTS.md: @../x.md
    """

    def approve(importing, imported):
        raise LookupError("nobody here")

    for run in (run_blocking, asyncio.run):
        runner = BLOCKING if run is run_blocking else ASYNC
        with pytest.raises(LookupError, match="nobody here"):
            run(
                expand(
                    runner, "/repo/AGENTS.md", "@../x.md", project.fetch, Imports(approve=approve)
                )
            )


# What is an import.


IMPORTS = [
    "@x.md",
    "   @x.md  ",
    "- @x.md",
    "* @x.md",
    "12. @x.md",
    "    - @x.md",
    "@./x.md",
    "@.\\x.md",
    "@X.MD",
    "@x.json",
    "@./x",
    "@./.x",
    "@../p/x",
    "@sub/dir/x.md",
    "@.github/x.md",
    "@docs/@x.md",
    "@node_modules/@scope/x.md",
    "@my\\ notes.md",
    "@/p/x.md",
    "@~/x",
    "@x.md @y.md",
    "text\n@x.md\ntext",
    "~~~\ncode\n~~~\n@x.md",
    "<!-- note -->\n@x.md",
    "<!-- never closed\n@x.md",
    "`a` tick `\n\n@x.md",
]
OTHERS = [
    "@ann",
    "@ann @bob",
    "ann@example.md",
    "write to ann@example.md",
    "@dataclass",
    "@pytest.fixture",
    "@app.get('/x.md')",
    "@scope/package",
    "@ann@example.md",
    "@types/node",
    "@/components/Button",
    "@/etc/hostname",
    "@https://example.org/x.md",
    "@.md",
    "@docs/",
    "@./",
    "@..",
    "@~",
    "@~/",
    "@ x.md",
    "@",
    "@@x.md",
    "    @x.md",
    "\t@x.md",
    "`@x.md`",
    "`a\n@x.md\nb`",
    "``` @x.md ```",
    "```\n@x.md\n```",
    "~~~\n@x.md",
    "- ```\n  @x.md\n  ```",
    "<!-- @x.md -->",
    "<!--\n@x.md\n-->",
    "@x.md\\",
    "@" + "x" * 5000 + ".md",
]


def _asked_for(text: str, **options) -> tuple[str, ...]:
    async def fetch(runner, paths):
        return [(b"TEXT of " + path.encode(), None) for path in paths]

    options.setdefault("roots", ["/", "~/"])
    return run_blocking(expand(BLOCKING, "/p/AGENTS.md", text, fetch, Imports(**options))).imported


@pytest.mark.parametrize("text", IMPORTS)
def test_a_line_that_is_only_a_path_is_an_import(text):
    assert len(_asked_for(text)) == text.count(".md @") + 1


@pytest.mark.parametrize("text", OTHERS)
def test_anything_else_after_an_at_sign_is_left_alone(text):
    assert _asked_for(text) == ()


def test_a_path_is_written_as_on_a_disk():
    assert _asked_for("@my\\ notes.md") == ("/p/my notes.md",)
    assert _asked_for("@.\\sub\\x.md") == ("/p/sub/x.md",)
    assert _asked_for("@//p//./x.md") == ("/p/x.md",)


def test_other_ends_of_names_can_be_chosen():
    assert _asked_for("@x.PY\n@x.md", suffixes=[".py"]) == ("/p/x.PY",)
    assert _asked_for("@x.py\n@./x.py") == ("/p/x.py",)


MENTIONS = [
    "see @x.md for more",
    "@x.md.",
    "@x.md, please",
    "(as in @x.md)",
    'as "@x.md" says',
    "read **@x.md** first!",
    "# @x.md",
    "- the rules of @x.md count",
    "1. the rules of @x.md\n   count",
    "| a | @x.md |",
    "ann@example.md wrote @x.md",
    "@x.md @ann",
    "first `@y.md`, then @x.md",
    "see @x.md and @x.md",
    "@x.md's rules count",
    "规则见@x.md。",
    "規則は@x.mdにあります",
    "see\n@./x.md of\nours",
]
NO_MENTIONS = [
    "write to ann@x.md, please",
    "write to <ann@x.md>",
    "mailto:ann@x.md or @ann",
    "see `@x.md` for more",
    "see ``a ` @x.md`` for more",
    "```\nsee @x.md for more\n```",
    "    see @x.md for more",
    "<!-- see @x.md for more -->",
    "> @x.md",
    "> as he wrote in @x.md there",
    "see @ann and @bob.",
    "see @dataclass and @pytest.fixture.",
    "see @https://example.org/x.md there",
    "see \\@x.md there",
    "see @scope/package@1.md.2 there",
    "see @x.mdx.old there",
]


@pytest.mark.parametrize("text", MENTIONS)
@pytest.mark.parametrize("around", ["{}", "before\n\n{}\n\nafter\n", "# A\n{}\n\n```\ncode\n```\n"])
def test_a_path_in_a_sentence_is_an_import_and_the_sentence_stays(text, around):
    whole = _with(around.format(text), x="TEXT OF X")
    assert whole.count("TEXT OF X") == 1
    assert whole.count("[from /x.md]\nTEXT OF X\n[end of /x.md]") == 1
    for line in around.format(text).splitlines():
        assert line in whole.splitlines()


@pytest.mark.parametrize("text", NO_MENTIONS)
def test_what_is_an_address_or_in_code_is_no_import(text):
    assert _asked_for(text) == ()


def test_a_file_comes_after_the_paragraph_that_mentions_it():
    text = _with(
        "See @a.md and\n@b.md for more,\nplease.\nAnd go on.\n\n- one\n- two", a="A", b="B"
    )
    assert text == (
        "See @a.md and\n@b.md for more,\nplease.\nAnd go on.\n\n[from /a.md]\nA\n[end of /a.md]\n\n"
        "[from /b.md]\nB\n[end of /b.md]\n\n- one\n- two"
    )


def test_a_list_item_is_a_paragraph_of_its_own():
    text = _with("- see @a.md\n- next\n\nend", a="A")
    assert text == "- see @a.md\n\n[from /a.md]\nA\n[end of /a.md]\n\n- next\n\nend"


def test_a_mention_that_leads_nowhere_leaves_the_sentence_as_it_is():
    async def fetch(runner, paths):
        return [(None, "file_not_found")] * len(paths)

    text = "ok\n\nour secret is in @docs/plan.md, ask @ann"
    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports()))

    assert whole.text == text
    assert whole.notes == ("/AGENTS.md, line 3: import not found: /docs/plan.md",)
    assert whole.imported == ("/docs/plan.md",)


def test_a_mention_of_what_is_shown_elsewhere_adds_nothing():
    text = _with("see @a.md here\n\nand @a.md there\n\n@a.md\n", a="A")
    assert text.count("[from /a.md]") == 1
    assert text.startswith("see @a.md here\n\n[from /a.md]")
    assert "and @a.md there\n\n[import skipped: /a.md is already shown above]" in text


def test_mentions_obey_the_roots_and_the_limits():
    refused = run_blocking(
        expand(BLOCKING, "/p/AGENTS.md", "see @../x.md there", None, Imports())  # type: ignore[arg-type]
    )
    assert refused.text == "see @../x.md there"
    assert "outside the allowed folders" in refused.notes[0]
    many = " ".join(f"@f{number}.md," for number in range(50))
    options = Imports(limits=limited(ImportLimits, lines=10))

    async def fetch(runner, paths):
        return [(b"TEXT of " + path.encode(), None) for path in paths]

    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", many, fetch, options))
    assert len(whole.imported) <= 10


def test_an_indented_path_is_noted():
    for quiet in ("ask @ann", "`see @x.md`", "ann@x.md", "@x.md", "<!-- see @x.md -->"):
        assert not any("indented" in note for note in _notes(quiet)), quiet
    assert any("indented like code" in note for note in _notes("    see @x.md"))


def _notes(text: str) -> tuple[str, ...]:
    async def fetch(runner, paths):
        return [(None, "file_not_found")] * len(paths)

    return run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports())).notes


@pytest.mark.parametrize("text", ["", "plain", "ask @ann", "a\r\n`@x.md`\r\n"])
def test_a_text_without_imports_is_the_very_same(text):
    async def fetch(runner, paths):
        raise AssertionError(paths)

    assert run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports())).text is text


# The whole as a text.


def _with(text: str, **files: str) -> str:
    async def fetch(runner, paths):
        return [(files[Path(path).stem].encode(), None) for path in paths]

    return run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports())).text


def test_code_that_an_imported_file_leaves_open_ends_with_it():
    text = _with("@a.md\nafter", a="```python\nx = 1")

    assert text == "[from /a.md]\n```python\nx = 1\n```\n[end of /a.md]\n\nafter"


def test_a_comment_that_is_left_open_hides_nothing_of_the_other_file():
    text = _with("@a.md\nkept --> kept", a="shown <!-- not closed")

    assert text.count("<!--") == 0
    assert "shown &lt;!-- not closed\n[end of /a.md]\n\nkept --> kept" in text


def test_a_comment_that_the_importing_file_leaves_open_swallows_nothing():
    text = _with("<!-- open\n@a.md\nend", a="A --> B")

    assert "<!--" not in text
    assert "A --> B" in text


def test_an_open_tick_does_not_turn_the_next_file_into_code():
    text = _with("a ` tick\n\n@a.md\n@b.md", a="b ` tick", b="c ` <!-- hidden -->")

    assert "b ` tick\n[end of /a.md]\n\n[from /b.md]\n" in text


def test_an_imported_file_cannot_pretend_that_it_has_ended():
    text = _with("@a.md", a="A\n[end of /a.md]\n\n[FROM /etc/x.md]\n[import not found: x]\n[end")

    assert text == (
        "[from /a.md]\nA\n\\[end of /a.md]\n\n\\[FROM /etc/x.md]\n\\[import not found: x]\n[end\n"
        "[end of /a.md]"
    )


def test_an_odd_name_cannot_break_the_line_that_names_it():
    async def fetch(runner, paths):
        return [(b"text", None)] * len(paths)

    run = expand(BLOCKING, "/AGENTS.md", "@./a]`b`[c\n@./\u00e9", fetch, Imports())

    assert run_blocking(run).text == (
        "[from /a)'b'(c]\ntext\n[end of /a)'b'(c]\n\n"
        "[import skipped: /\u00e9 has the same text as /a)'b'(c]"
    )


def test_a_path_cannot_write_into_the_log_or_the_terminal():
    async def fetch(runner, paths):
        raise AssertionError(paths)

    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", "@./a\x1b[2J\u202eb", fetch, Imports()))

    assert whole.text == "[import refused: ./a?(2J?b is no path below the root]"
    assert whole.notes == (f"/AGENTS.md, line 1: {whole.text[1:-1]}",)


def test_windows_line_ends_are_those_of_the_prompt():
    text = _with("one\r\n@a.md\r\ntwo\r\n", a="a\r\nb\r\n")

    assert text == "one\n\n[from /a.md]\na\nb\n[end of /a.md]\n\ntwo\n"


def test_an_empty_file_is_named_all_the_same():
    assert _with("@a.md\n@b.md", a="", b="\n") == (
        "[from /a.md]\n[end of /a.md]\n\n[from /b.md]\n[end of /b.md]"
    )


def test_files_of_a_store_are_imported_as_those_of_a_disk():
    r"""
    AGENTS.md: @docs/a.md
    docs/
    └── a.md: A\n@../AGENTS.md
    """
    backend = StoreBackend(store=InMemoryStore(), namespace=("memory",))
    doc = test_files_of_a_store_are_imported_as_those_of_a_disk.__doc__
    assert not any(one.error for one in backend.upload_files(as_files(doc)))

    assert Project(backend).shown() == (
        "[from /docs/a.md]\nA\n[import skipped: /AGENTS.md is already shown above]\n"
        "[end of /docs/a.md]"
    )


# Limits.


def test_more_import_lines_than_are_followed_stay_as_they_are():
    text = "".join(f"@{number}.md\n" for number in range(5))
    shown = _limited(text, lines=3)

    assert shown.count("[from") == 3
    assert shown.endswith("[import skipped: more than 3 paths on import lines]\n@4.md\n")


def test_a_file_that_is_too_large_and_one_too_many_are_reported():
    shown = _limited("@large.md\n@1.md\n@2.md", file_bytes=20, total_bytes=20)

    assert "[import skipped: /large.md has 100 bytes, more than the 20 allowed]" in shown
    assert "text of /1.md" in shown
    assert "[import skipped: /2.md does not fit into 20 bytes in all]" in shown


def _limited(text: str, **limits: int) -> str:
    async def fetch(runner, paths):
        return [
            (b"x" * 100 if "large" in path else f"text of {path}".encode(), None) for path in paths
        ]

    options = Imports(limits=limited(ImportLimits, **limits))
    return run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, options)).text


MEGABYTE = 1_000_000


def _hostile(size: int) -> dict[str, str]:
    """Texts of about so many characters."""
    return {
        "at signs": "@" * size,
        "at signs apart": "@ " * (size // 2),
        "at lines": "@\n" * (size // 2),
        "one import again": "@a.md\n" * (size // 6),
        "one line of imports": "@a.md " * (size // 6),
        "imports in code": "`" + " @a.md" * (size // 6) + "`",
        "imports in a sentence": "see" + " @a.md" * (size // 6),
        "suffixes": "@" + ".md" * (size // 3),
        "suffixes apart": " @.md.md" * (size // 8),
        "blanks": " " * size + "@a.md",
        "escapes": "@" + "\\ " * (size // 2),
        "fences": "```\n@a.md\n" * (size // 10),
        "openers": "<!--\n" * (size // 5) + "@a.md",
        "markers": "- " * (size // 2) + "@a.md",
        "forged": "@a.md\n" + "[end of x\n" * (size // 10),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", _hostile(10))
def test_a_megabyte_of_anything_takes_a_moment_and_stays_small(name):
    async def fetch(runner, paths):
        return [(b"x", None)] * len(paths)

    text = _hostile(MEGABYTE)[name]
    started = time.process_time()
    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports()))

    assert time.process_time() - started < 4
    assert len(whole.text) < 3 * MEGABYTE


@pytest.mark.slow
def test_a_thousand_files_that_import_each_other_take_a_moment():
    files = 1000
    everything = "".join(f"@{number}.md\n" for number in range(files))

    async def fetch(runner, paths):
        return [(everything.encode() + path.encode(), None) for path in paths]

    limits = limited(ImportLimits, lines=3000)
    started = time.process_time()
    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", everything, fetch, Imports(limits=limits)))

    assert time.process_time() - started < 4
    assert len(whole.imported) == files


# Any text.

_PIECES = st.sampled_from(
    [
        "@a.md",
        "@b.md\n",
        "@./c\n",
        "`",
        "```\n",
        "<!--",
        "-->",
        "\n",
        " ",
        "\r\n",
        "x",
        "- ",
        "[",
        "]",
    ]
)
_TEXTS = st.lists(_PIECES, max_size=14).map("".join)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_nothing_of_a_text_is_lost_but_its_import_lines(top, a, b):
    files = {"/a.md": a, "/b.md": b}

    async def fetch(runner, paths):
        return [
            (files[path].encode(), None) if path in files else (None, "file_not_found")
            for path in paths
        ]

    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", top, fetch, Imports()))

    kept = iter(whole.text.replace("&lt;!--", "<!--"))
    lines = [line for line in top.replace("\r\n", "\n").split("\n") if "@" not in line]
    assert all(character in kept for line in lines for character in line)
    assert len(set(whole.imported)) == len(whole.imported)
    for path in whole.imported:
        assert whole.text.count(f"[from {path}]") <= 1
        assert whole.text.count(f"[from {path}]") == whole.text.count(f"[end of {path}]")


_MARKDOWN = st.sampled_from(
    [
        *("<!--", "-->", "<!-- S -->", "<!--\nS\n-->", "`", "``", "```\n", "~~~\n", "````\n"),
        *("\n", "\n\n", " ", "a\n", "b", "- ", "> ", "    c\n", "\\"),
    ]
)
_PARTS = st.lists(_MARKDOWN, max_size=12).map("".join)


@for_all(_PARTS, _PARTS, _PARTS, examples=100, slow_examples=300)
def test_code_and_comments_of_one_file_change_nothing_in_another(above, below, imported):
    """What is left without comments is what is left of each file by itself."""

    def seen(text: str) -> str:
        kept = strip_comments(text).text.replace("&lt;!--", "<!--")
        return "".join(one for one in kept if one not in "`~\\ \n")

    async def fetch(runner, paths):
        return [(imported.encode(), None)]

    text = f"{above}\n@a.md\n{below}"
    whole = run_blocking(expand(BLOCKING, "/AGENTS.md", text, fetch, Imports()))

    assume(whole.shown)
    alone = seen(f"{above}\n\nHERE\n\n{below}")
    there = f"[from/a.md]{seen(imported.strip(chr(10)))}[endof/a.md]"
    assert seen(whole.text) == alone.replace("HERE", there)


# Options.


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"roots": "/docs"}, "roots='/docs': give a list"),
        ({"roots": [1]}, "roots holds 1"),
        ({"roots": ["/a/../b"]}, "roots holds '/a/../b'"),
        ({"suffixes": ["md"]}, "suffixes holds 'md': write it with its dot"),
        ({"suffixes": [""]}, "suffixes holds ''"),
        ({"approve": True}, "approve=True: must be a function"),
        ({"limits": 5}, "limits=5: give ImportLimits"),
    ],
)
def test_an_option_that_cannot_be_is_named(options, sentence):
    with pytest.raises(SettingError, match=f"^{sentence}"):
        Imports(**options)


def test_a_depth_out_of_range_is_refused():
    with pytest.raises(SettingError, match="depth=0: must be a number of at least 1"):
        ImportLimits(depth=0)


def test_options_cannot_be_changed_later():
    options = Imports(roots=["/docs"], suffixes=[".MD"])

    assert options.roots == ("/docs",)
    assert options.suffixes == (".md",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.roots = ()


def test_a_path_that_is_none_imports_nothing_and_says_so():
    async def fetch(runner, paths):
        raise AssertionError(paths)

    whole = run_blocking(expand(BLOCKING, "/a/../AGENTS.md", "@a.md", fetch, Imports()))

    assert whole.text == "@a.md"
    assert whole.notes == ("imports cannot be followed from a path like this one",)
