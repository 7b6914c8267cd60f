"""Protected parts of memory files, and changes that would lose them."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoryware.sources.regions import Region, regions, restore
from memoryware.sources.regions._mark import marked

NOTES = """\
# Notes

- Tea, not coffee.

<!-- BEGIN contacts -->
- Ann: 12
- Bo: 34
<!-- END contacts -->

- Meet at nine. <!-- memoryware:keep reviewed by Ann -->
- Leave at five. <!-- a remark -->
"""
CONTACTS = NOTES[
    NOTES.index("<!-- BEGIN") : NOTES.index("END contacts -->") + len("END contacts -->")
]
REVIEWED = "<!-- memoryware:keep reviewed by Ann -->"


def names(text: str, **options: str) -> list[str]:
    return [one.name for one in regions(text, **options)]


# What is protected.


def test_marked_parts_are_found_with_name_and_place():
    assert regions(NOTES) == [
        Region("contacts", NOTES.index(CONTACTS), NOTES.index(CONTACTS) + len(CONTACTS), CONTACTS),
        Region("memoryware:keep", NOTES.index(REVIEWED), NOTES.index(REVIEWED) + 40, REVIEWED),
    ]


def test_with_all_other_comments_count_as_well_and_are_named_by_their_line():
    assert names(NOTES, which="all") == ["contacts", "memoryware:keep", "comment in line 11"]


PAIRS = [
    ("BEGIN x", "END x", "x"),
    ("begin x", "end x", "x"),
    ("begin:x", "end:x", "x"),
    ("begin: x", "end: x", "x"),
    ("x:start", "x:end", "x"),
    ("x:begin", "x:stop", "x"),
    ("x start", "x end", "x"),
    ("START x", "STOP x", "x"),
    ("BEGIN X", "end x", "x"),
    ("BEGIN_TF_DOCS", "END_TF_DOCS", "tf_docs"),
    (
        "START doctoc generated TOC please keep comment here to allow auto update",
        "END doctoc generated TOC please keep comment here to allow auto update",
        "doctoc",
    ),
    (
        "ALL-CONTRIBUTORS-LIST:START - Do not remove or modify this section",
        "ALL-CONTRIBUTORS-LIST:END",
        "all-contributors-list",
    ),
    ("AUTO-GENERATED-CONTENT:START (TOC)", "AUTO-GENERATED-CONTENT:END", "auto-generated-content"),
    ("x-release-please-start-version", "x-release-please-end", "x-release-please"),
    ("SPECKIT START", "SPECKIT END", "speckit"),
    ("#region x", "#endregion", "x"),
    ("#region x", "#endregion x", "x"),
    ("BEGIN", "END", "region"),
    ("BEGIN x", "END", "x"),
    ("BEGIN x", "END OF x", "x"),
    ("toc", "tocstop", "toc"),
    ("[[[cog print('x') ]]]", "[[[end]]]", "[[[cog"),
    ("x", "/x", "x"),
    ("x: with options", "/x", "x"),
    ("memoryware:keep", "/memoryware:keep", "memoryware:keep"),
    ("memoryware:keep why", "/memoryware:keep", "memoryware:keep"),
    ("back-end-docs:start", "back-end-docs:end", "back-end-docs"),
]


@pytest.mark.parametrize(("begin", "end", "name"), PAIRS)
@pytest.mark.parametrize("blank", [" ", "", "\n"], ids=["blank", "tight", "lines"])
def test_markers_of_many_tools_are_known(begin, end, name, blank):
    part = f"<!--{blank}{begin}{blank}-->\nauto\n<!--{blank}{end}{blank}-->"

    found = regions(f"a\n{part}\nb")

    assert [one.text for one in found] == [part]
    assert found[0].name == name.replace("[", "")


UNMARKED = [
    "<!-- BEGIN x -->\nnever closed",
    "never opened\n<!-- END x -->",
    "<!-- END x -->\nthe wrong way round\n<!-- BEGIN x -->",
    "<!-- BEGIN x -->\nanother name\n<!-- END y -->",
    "<!-- note -->\nno slash\n<!-- note -->",
    "<!-- Start with the tests -->\nprose\n<!-- End with the docs -->",
    "<!-- prettier-ignore-start -->\n| a table of people |\n<!-- prettier-ignore-end -->",
    "<!-- markdownlint-disable -->\na table\n<!-- markdownlint-enable -->",
    "```\n<!-- BEGIN x -->\nan example\n<!-- END x -->\n```",
    "`<!-- BEGIN x -->` and `<!-- END x -->`",
    "<!-- BEGIN x -->\n```\nin code\n<!-- END x -->\n```",
    "<!-- BEGIN x --> <!-- END x",
    "<!-- memoryware:keeper -->",
    "memoryware:keep",
]


@pytest.mark.parametrize("text", UNMARKED)
def test_what_is_no_pair_of_markers_is_not_protected(text):
    assert regions(text) == []


def test_parts_inside_others_belong_to_them():
    inner = "<!-- BEGIN y -->\n<!-- memoryware:keep -->\n<!-- END y -->"
    outer = f"<!-- BEGIN x -->\n{inner}\n<!-- END x -->"

    assert [one.text for one in regions(outer)] == [outer]
    assert [one.text for one in regions(outer.replace("END x", "x"))] == [inner]


def test_of_parts_that_cross_the_first_is_one():
    text = "<!-- BEGIN x -->1<!-- BEGIN y -->2<!-- END x -->3<!-- END y -->"

    assert names(text) == ["x"]


def test_a_begin_that_is_never_closed_does_not_reach_over_the_next_one():
    part = "<!-- BEGIN x -->\nauto\n<!-- END x -->"

    assert [one.text for one in regions(f"<!-- BEGIN x -->\nlots\n\nof text\n{part}\nmore")] == [
        part
    ]


def test_a_part_twice_is_two():
    assert names(f"{CONTACTS}\n{CONTACTS}") == ["contacts", "contacts"]


def test_windows_line_ends_are_part_of_a_part():
    text = NOTES.replace("\n", "\r\n")

    assert [one.text for one in regions(text)] == [CONTACTS.replace("\n", "\r\n"), REVIEWED]
    assert regions("```\r\n<!-- memoryware:keep -->\r\n```\r\n") == []


def test_a_name_is_short_and_has_no_odd_characters():
    (found,) = regions(f"<!-- BEGIN {'x' * 100}<b> -->\n<!-- END {'x' * 100}<b> -->")

    assert found.name == "x" * 64


# What is put back. Each case: the changed text, what is stored, and what was put back.

VISIBLE = (
    "# Notes\n\n- Tea, not coffee.\n\n- Ann: 12\n- Bo: 34\n\n- Meet at nine.\n- Leave at five.\n"
)
CASES = {
    "nothing is wrong": (NOTES, NOTES, []),
    "a line more": (NOTES + "- New.\n", NOTES + "- New.\n", []),
    "other text changed": (NOTES.replace("Tea", "Milk"), NOTES.replace("Tea", "Milk"), []),
    "written anew from what is seen": (
        VISIBLE,
        NOTES.replace(" <!-- a remark -->", ""),
        ["contacts", "memoryware:keep"],
    ),
    "the part is gone": (
        NOTES.replace(CONTACTS + "\n\n", ""),
        NOTES,
        ["contacts"],
    ),
    "the part and the blank lines are gone": (
        NOTES.replace(f"\n{CONTACTS}\n\n", ""),
        NOTES,
        ["contacts"],
    ),
    "the text in it is changed": (NOTES.replace("Bo: 34", "Bo: 35"), NOTES, ["contacts"]),
    "a line in it is gone": (NOTES.replace("- Bo: 34\n", ""), NOTES, ["contacts"]),
    "a line in it is new": (NOTES.replace("- Bo", "- Cy: 56\n- Bo"), NOTES, ["contacts"]),
    "only the begin is gone": (NOTES.replace("<!-- BEGIN contacts -->\n", ""), NOTES, ["contacts"]),
    "only the end is gone": (NOTES.replace("<!-- END contacts -->\n", ""), NOTES, ["contacts"]),
    "the end is a copy of the begin": (
        NOTES.replace("END contacts", "BEGIN contacts"),
        NOTES,
        ["contacts"],
    ),
    "the markers have changed places": (
        NOTES.replace("BEGIN c", "? c").replace("END c", "BEGIN c").replace("? c", "END c"),
        NOTES,
        ["contacts"],
    ),
    "the begin has moved up": (
        "<!-- BEGIN contacts -->\n" + NOTES.replace("<!-- BEGIN contacts -->\n", ""),
        NOTES,
        ["contacts"],
    ),
    "the end has moved down": (
        NOTES.replace("<!-- END contacts -->\n", "") + "<!-- END contacts -->\n",
        NOTES,
        ["contacts"],
    ),
    "the part has moved": (
        NOTES.replace(CONTACTS + "\n\n", "") + CONTACTS + "\n",
        NOTES.replace(CONTACTS + "\n\n", "") + CONTACTS + "\n",
        [],
    ),
    "the part is there twice": (NOTES + CONTACTS + "\n", NOTES, ["contacts"]),
    "the part is in code now": (
        NOTES.replace(CONTACTS, f"```\n{CONTACTS}\n```"),
        NOTES.replace(CONTACTS, f"{CONTACTS}\n\n```\n{CONTACTS}\n```"),
        ["contacts"],
    ),
    "a comment at a line is gone": (
        NOTES.replace(f" {REVIEWED}", ""),
        NOTES,
        ["memoryware:keep"],
    ),
    "a comment at a line is changed": (
        NOTES.replace("by Ann", "by nobody"),
        NOTES,
        ["memoryware:keep"],
    ),
    "the line of a comment is changed": (
        NOTES.replace(f"nine. {REVIEWED}", "ten."),
        NOTES.replace(f"- Meet at nine. {REVIEWED}", f"{REVIEWED}\n- Meet at ten."),
        ["memoryware:keep"],
    ),
    "a new part": (
        NOTES + "<!-- BEGIN mine -->\n- x\n<!-- END mine -->\n",
        NOTES + "<!-- BEGIN mine -->\n- x\n<!-- END mine -->\n",
        [],
    ),
    "a begin that is never closed": (
        "<!-- BEGIN mine -->\n" + NOTES,
        "<!-- BEGIN mine -->\n" + NOTES,
        [],
    ),
    "everything is gone": ("", f"{CONTACTS}\n\n{REVIEWED}\n", ["contacts", "memoryware:keep"]),
    "everything is another text": (
        "new",
        f"new\n\n{CONTACTS}\n\n{REVIEWED}",
        ["contacts", "memoryware:keep"],
    ),
    "code that is never closed": (
        "- Tea, not coffee.\n```\nx\n",
        f"- Tea, not coffee.\n\n{CONTACTS}\n\n{REVIEWED}\n```\nx\n",
        ["contacts", "memoryware:keep"],
    ),
}


@pytest.mark.parametrize(("after", "stored", "put_back"), CASES.values(), ids=CASES)
def test_a_change_cannot_lose_a_part(after, stored, put_back):
    text, restored = restore(NOTES, after)

    assert text == stored
    assert list(restored) == put_back
    if not put_back:
        assert text is after


def test_the_place_is_after_the_nearest_line_before_it_that_is_still_there():
    part = "<!-- memoryware:keep -->"
    before = f"one\ntwo\n{part}\nthree\nfour\n"

    assert restore(before, "one\ntwo\nx\nthree\n")[0] == f"one\ntwo\n{part}\nx\nthree\n"
    assert restore(before, "one\nx\nthree\n")[0] == f"one\n{part}\nx\nthree\n"
    assert restore(before, "x\nthree\nfour\n")[0] == f"x\n{part}\nthree\nfour\n"
    assert restore(before, "x\nfour")[0] == f"x\n{part}\nfour"
    assert restore(before, "x\ny\n")[0] == f"x\ny\n{part}\n"
    assert restore(f"{part}\nthree\n", "x\ny\n")[0] == f"{part}\nx\ny\n"


def test_parts_that_follow_each_other_keep_their_order():
    a, b, c = (f"<!-- BEGIN {x} -->\n{x}\n<!-- END {x} -->" for x in "abc")
    before = f"one\n{a}\n{b}\n{c}\ntwo\n"

    for after in ("one\ntwo\n", f"one\n{b}\ntwo\n", f"one\n{a}\ntwo\n", f"one\n{c}\ntwo\n"):
        assert restore(before, after)[0] == before
    assert restore(before, "two\n")[0] == f"{a}\n{b}\n{c}\ntwo\n"


def test_of_lines_that_say_the_same_the_right_one_counts():
    before = "- x\n- x\n<!-- memoryware:keep -->\n- x\n- y\n"

    assert restore(before, "- x\n- x\n- x\n- y\n")[0] == before


def test_a_line_of_somebody_else_is_not_drawn_into_a_part():
    before = "- x\n\n<!-- BEGIN p -->\n- x\n<!-- END p -->\n"

    assert restore(before, "- x\n")[0] == before
    assert restore(before, "- x\n\n- x\n")[0] == before


def test_a_comment_in_a_part_that_nobody_saw_comes_back_with_it():
    before = "<!-- BEGIN p -->\n- x <!-- secret -->\n- y\n<!-- END p -->\n- z\n"

    assert restore(before, "- x\n- y\n- z\n- new\n")[0] == before + "- new\n"


def test_parts_inside_a_line_come_back_into_it():
    before = "Version <!-- BEGIN v -->1.2<!-- END v --> is out.\n\nMore.\n"

    assert restore(before, "Version 1.2 is out.\n\nMore.\n")[0] == before
    assert restore(before, before.replace("1.2", "1.3"))[0] == before
    assert restore(before, "No version.\n\nMore.\n")[0] == (
        "No version.\n\n<!-- BEGIN v -->1.2<!-- END v -->\n\nMore.\n"
    )


def test_a_begin_that_was_loose_before_stays():
    before = "<!-- BEGIN p -->\nloose\n\n<!-- BEGIN p -->\nx\n<!-- END p -->\n"

    text, _ = restore(before, "<!-- BEGIN p -->\nloose\n\n")

    assert text.startswith("<!-- BEGIN p -->\nloose\n")
    assert [one.text for one in regions(text)] == [one.text for one in regions(before)]


def test_text_that_got_between_two_markers_is_not_lost_with_them():
    before = "one\ntwo\n<!-- BEGIN p -->\nx\n<!-- END p -->\n"
    after = "<!-- BEGIN p -->\none\ntwo\nthree\n<!-- END p -->\n"

    assert restore(before, after)[0] == ("one\ntwo\n<!-- BEGIN p -->\nx\n<!-- END p -->\nthree\n")


def test_windows_line_ends_stay_as_they_are():
    before = NOTES.replace("\n", "\r\n")

    assert restore(before, before.replace("Bo: 34", "Bo: 35"))[0] == before
    assert restore(before, VISIBLE.replace("\n", "\r\n"))[0] == before.replace(
        " <!-- a remark -->", ""
    )
    part = CONTACTS.replace("\n", "\r\n")
    assert part in restore(before, NOTES)[0]
    assert restore(before, before.replace(f"\r\n{part}\r\n\r\n", ""))[0] == before


def test_with_all_every_comment_survives():
    text, restored = restore(NOTES, VISIBLE, which="all")

    assert text == NOTES
    assert restored == ("contacts", "memoryware:keep", "comment in line 11")
    assert restore(NOTES, NOTES.replace(" <!-- a remark -->", ""))[1] == ()
    twice = NOTES + "<!-- a remark -->\n"
    assert restore(NOTES, twice, which="all")[0] is twice


def test_no_text_of_a_comment_is_in_its_name():
    _, restored = restore("a <!-- the key is 123 -->\n", "a\n", which="all")

    assert restored == ("comment in line 1",)


# Any texts.

_PIECES = st.sampled_from(
    [
        *(f"<!-- {role} {name} -->" for role in ("BEGIN", "END") for name in "xy"),
        "<!-- END -->",
        "<!-- memoryware:keep -->",
        "<!-- /memoryware:keep -->",
        "<!-- n -->",
        "<!-- BEGIN x -->\nauto\n<!-- END x -->\n",
        *("<!--", "-->", "`", "``", "```\n", "~~~\n", "\\", "> ", "- "),
        *("\n", "\n\n", "\r\n", " ", "a", "auto\n", "b\n"),
    ]
)
_TEXTS = st.lists(_PIECES, max_size=18).map("".join)


@st.composite
def changes(draw) -> tuple[str, str]:
    """Two texts, the second one often made from the first."""
    before = draw(st.lists(_PIECES, max_size=18))
    after = list(before)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(after)))
        end = draw(st.integers(start, len(after)))
        kind = draw(st.sampled_from(["cut", "put", "twice", "move"]))
        cut, after = after[start:end], after[:start] + after[end:]
        if kind == "put":
            cut = draw(st.lists(_PIECES, max_size=3))
        elif kind == "twice":
            cut += cut
        elif kind == "move":
            start = draw(st.integers(0, len(after)))
        if kind != "cut":
            after[start:start] = cut
    return "".join(before), "".join(after)


def _seen(text: str) -> str:
    """What is outside of all comments and marked parts, without blanks."""
    found = marked(text)
    kept, position = [], 0
    parts = [pair.span for pair in found.pairs] + [(one.start, one.end) for one in found.comments]
    for start, end in sorted(parts):
        kept.append(text[position:start] if start > position else "")
        position = max(position, end)
    return "".join("".join([*kept, text[position:]]).split())


@given(changes() | st.tuples(_TEXTS, _TEXTS), st.sampled_from(["marked", "all"]))
@settings(max_examples=400)
@example(("<!-- memoryware:keep -->`\n", "`"), "marked")
@example(("<!-- BEGIN x -->\n`<!-- END x -->", "``` `"), "marked")
@example(("a<!-- BEGIN x --><!-- END x -->b", "ab<!--\n-->"), "all")
def test_whatever_is_done_to_a_text_its_parts_are_in_what_is_stored(change, which):
    before, after = change
    parts = Counter(one.text for one in regions(before, which=which))

    text, restored = restore(before, after, which=which)

    found = marked(text)
    spans = [pair.span for pair in found.pairs] + [(one.start, one.end) for one in found.comments]
    there = Counter(text[start:end] for start, end in spans)
    assert not parts - there
    left = iter("".join(text.split()))
    assert all(character in left for character in _seen(after))
    again = restore(before, text, which=which)
    assert again == (text, ())
    assert again[0] is text
    assert restored or text is after
    assert len(set(restored)) == len(restored)


@given(_TEXTS)
def test_a_text_that_did_not_change_is_not_changed(text):
    same = "".join(list(text))

    assert restore(text, same)[0] is same


@given(changes())
def test_parts_are_apart_in_order_and_what_the_text_says(change):
    for text in change:
        end = 0
        for one in regions(text, which="all"):
            assert end <= one.start < one.end
            assert text[one.start : one.end] == one.text
            end = one.end


# Large and hostile texts.

PART = "<!-- BEGIN x -->\nauto\n<!-- END x -->\n"
MANY = 2000


def _numbered(part: str, line: str = "") -> str:
    return "".join(
        line.format(i) + part.replace("x", f"k{i}").replace("auto", f"auto {i}")
        for i in range(MANY)
    )


HOSTILE = {
    "all gone": (_numbered(PART), ""),
    "lines stay": (_numbered(PART, "- line {}\n"), _numbered("", "- line {}\n")),
    "bodies stay": (_numbered(PART), _numbered("auto\n")),
    "same bodies": (PART * MANY, "auto\n" * MANY),
    "nested": ("<!-- BEGIN x -->" * MANY + "<!-- END x -->" * MANY, "y"),
    "nested after": (PART, "<!-- BEGIN x -->" * MANY + "<!-- END x -->" * MANY),
    "nested by name": (
        _numbered(PART),
        _numbered("<!-- BEGIN x -->")
        + "".join(f"<!-- END k{i} -->" for i in reversed(range(MANY))),
    ),
    "crossing": (_numbered("<!-- BEGIN x -->") + _numbered("<!-- END x -->"), "y"),
    "begins": (PART, "<!-- BEGIN x -->\n" * MANY),
    "ends": ("<!-- BEGIN x --><!-- END -->" * MANY, "<!-- END -->" * MANY),
    "copies": (PART, PART * MANY),
    "comments": (_numbered("- auto <!-- x -->\n"), _numbered("- auto\n")),
    "long bodies": (
        ("<!-- BEGIN x -->\n" + "a\n" * 100 + "<!-- END x -->\n") * 500,
        "a\n" * 100_000,
    ),
    "in code": (_numbered(PART, "l{}\n"), "```\n" + _numbered("", "l{}\n") + "```\n"),
    "openers": (PART, "<!--" * 100_000),
    "fences": (PART, "```\n" * 100_000),
    "ticks": (PART, "` `` " * 80_000),
    "blanks": (PART, "\n" * 400_000),
    "one line": (PART + "y" * 400_000, "y" * 400_000),
}


@pytest.mark.parametrize("which", ["marked", "all"])
@pytest.mark.parametrize(("before", "after"), HOSTILE.values(), ids=HOSTILE)
def test_a_large_text_takes_a_moment(before, after, which):
    started = time.process_time()
    text, _ = restore(before, after, which=which)

    assert time.process_time() - started < 4
    assert all(part.text in text for part in regions(before, which=which)[:: MANY // 10])


@pytest.mark.slow
def test_twice_the_text_takes_twice_the_time():
    def seconds(many: int) -> float:
        before = "".join(f"- line {i}\n" + PART.replace("x", f"k{i}") for i in range(many))
        after = "".join(f"- line {i}\n" for i in range(many))
        started = time.process_time()
        restore(before, after)
        return time.process_time() - started

    seconds(100)
    assert seconds(8000) < 4 * seconds(4000) + 0.5
