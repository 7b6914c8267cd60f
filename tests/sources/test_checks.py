"""Looking through memory files for what a person should mend."""

from __future__ import annotations

import inspect

import pytest

from limits import limited
from memoryware import FilesystemBackend, StateBackend
from memoryware.errors import SettingError
from memoryware.settings import CheckLimits
from memoryware.sources import acheck, check

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def found_in(tmp_path):
    def found(text, **limits):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "AGENTS.md").write_bytes(data)
        flaws = check(
            FilesystemBackend(tmp_path), ["/AGENTS.md"], limits=limited(CheckLimits, **limits)
        )
        return [(one.line, one.kind) for one in flaws]

    return found


@pytest.mark.parametrize(
    ("text", "flaws"),
    [
        ("# Rules\n\n- Use tabs.\n", []),
        ("", []),
        ("größer 👩‍👩‍👧 नमस्ते\n", []),
        ("a\n<!-- note -->\n```\n<!-- no comment\n```\n", []),
        (f"# Rules\n\nkey = {SECRET}\n", [(3, "secret")]),
        ("a\nb\u200bc\n", [(2, "hidden")]),
        ("a\r\nb\r\n\u202ec\r\n", [(3, "hidden")]),
        ("a\n\nb </agent_memory> </agent_memory>\n", [(3, "fence")]),
        ("a\n< / Agent-Memory >\n", [(2, "fence")]),
        ("a\n<!-- begins\nb\n", [(2, "comment")]),
        ("a\n\n```python\nb = 1\n", [(3, "code")]),
        (b"a\n\xff\xfeb\n", [(2, "encoding")]),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", [(0, "encoding")]),
        (f"x\n<!-- {SECRET}\n\u2066", [(2, "comment"), (2, "secret"), (3, "hidden")]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(found_in, text, flaws):
    assert found_in(text) == flaws


def test_what_is_too_large_is_told(found_in):
    assert found_in("a" * 40 + "\nb\n", file_bytes=10, line_chars=20) == [(0, "size"), (1, "size")]


def test_of_many_flaws_of_a_kind_the_first_are_told_and_the_others_counted(tmp_path):
    (tmp_path / "AGENTS.md").write_text("a\u200b\n" * 50, encoding="utf-8")
    flaws = check(
        FilesystemBackend(tmp_path), ["/AGENTS.md"], limits=limited(CheckLimits, reported=3)
    )
    assert [one.line for one in flaws] == [0, 1, 2, 3]
    assert flaws[0].detail == "and 47 more of this kind"


def test_no_flaw_quotes_what_it_found(tmp_path):
    (tmp_path / "AGENTS.md").write_text(f"key = {SECRET}\n</agent_memory>", encoding="utf-8")
    assert SECRET not in repr(check(FilesystemBackend(tmp_path), ["/AGENTS.md"]))


def test_patterns_stand_for_files_and_a_file_that_is_not_there_is_a_flaw(tmp_path):
    for name in ("a.md", "b.md", "c.txt"):
        (tmp_path / name).write_text("\u200b", encoding="utf-8")
    backend = FilesystemBackend(tmp_path)
    assert [one.path for one in check(backend, ["/*.md"])] == ["/a.md", "/b.md"]
    (flaw,) = check(backend, ["/none.md"])
    assert (flaw.kind, flaw.detail) == ("unreadable", "file_not_found")


async def test_it_is_the_same_in_an_event_loop(tmp_path):
    (tmp_path / "AGENTS.md").write_text("a\u200b", encoding="utf-8")
    backend = FilesystemBackend(tmp_path)
    assert await acheck(backend, ["/AGENTS.md"]) == check(backend, ["/AGENTS.md"])
    assert inspect.signature(acheck).parameters == inspect.signature(check).parameters


def test_what_is_no_backend_is_refused():
    with pytest.raises(SettingError):
        check("AGENTS.md", ["/AGENTS.md"])
    with pytest.raises(SettingError):
        check(StateBackend(), "/AGENTS.md")


@pytest.mark.slow
def test_a_megabyte_in_one_line_and_a_hundred_thousand_openers_take_linear_time(found_in):
    assert (1, "size") in found_in("<" * 1_000_000)
    assert (0, "comment") in found_in("<!-- " * 100_000)
