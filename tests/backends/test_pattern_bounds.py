"""What a pattern means does not depend on how fast it is told, and it is told fast."""

from __future__ import annotations

import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware.backends._patterns import LONGEST_PATTERN, compile_glob, compile_rule
from memoryware.errors import PatternRefused


@given(st.text("ab*?", min_size=1), st.text("ab", min_size=1))
def test_stars_in_a_name_mean_what_they_mean_in_a_shell(pattern, name):
    wanted = fnmatch.fnmatchcase(name, pattern)

    if "**" not in pattern:
        assert compile_glob(pattern).matches(name) is wanted
        assert compile_rule("/" + pattern).matches("/" + name) is wanted


def holds(segments, names):
    if not segments:
        return not names
    if segments[0] == "**":
        rest = segments[1:]
        if not rest:
            return bool(names)
        return any(holds(rest, names[n:]) for n in range(len(names) + 1))
    return (
        bool(names)
        and fnmatch.fnmatchcase(names[0], segments[0])
        and holds(segments[1:], names[1:])
    )


@given(
    st.lists(st.sampled_from(["a", "b", "*", "a*", "**"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=8),
)
def test_folders_between_double_stars_are_found_wherever_they_are(segments, names):
    wanted = holds(segments, names)

    assert compile_glob("/" + "/".join(segments)).matches("/".join(names)) is wanted
    assert compile_rule("/" + "/".join(segments)).matches("/" + "/".join(names)) is wanted


def test_a_later_place_counts_where_a_folder_is_not_entered_by_itself():
    assert compile_glob("**/.*/**/x").matches(".a/.git/x")
    assert not compile_glob("**/x").matches(".a/.git/x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 100 + "b", "a" * 255),
        ("*?" * 100 + "b", "a" * 255),
        ("**/a/" * 50 + "b", "a/" * 200 + "a"),
        ("**/*a*a/" * 50 + "b", "aaaa/" * 200 + "a"),
        ("**/.*/" * 3 + "x", ".a/" * 200 + "y"),
    ],
)
def test_no_pattern_takes_long(pattern, path):
    start = time.monotonic()
    assert not compile_glob(pattern).matches(path)
    assert not compile_rule("/" + pattern).matches("/" + path)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "pattern",
    ["{" * 3000, "{,a}" * 12, "a" * (LONGEST_PATTERN + 1), "/a" * 1001, "**/.*/" * 9 + "x"],
)
def test_a_pattern_beyond_the_limits_is_refused(pattern):
    with pytest.raises(PatternRefused):
        compile_glob(pattern)
