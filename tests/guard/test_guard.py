"""`Guard`: its answers, its options, and what it never tells."""

from __future__ import annotations

import dataclasses
import random
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.figures import filled, password
from memoryware.errors import SettingError
from memoryware.guard import Detector, Finding, Guard

RANDOM = random.Random(3)
TOKEN = filled(RANDOM, "ghp_<A36>")
OTHER = filled(RANDOM, "glpat-<A20>")
PASSWORD = "Zebra!77"


def kinds(text: str, **options) -> list[str]:
    return [one.kind for one in Guard(**options).scan(text)]


# Findings.


def test_a_finding_says_kind_place_and_line():
    text = f"# Notes\n\n- deploy with {TOKEN}.\n- wifi password: {PASSWORD}\n"

    first, second = Guard().scan(text)

    assert (first.kind, first.line, text[first.start : first.end]) == ("GitHub token", 3, TOKEN)
    assert (second.kind, second.line, text[second.start : second.end]) == ("password", 4, PASSWORD)


def test_a_finding_does_not_hold_the_secret():
    (found,) = Guard().scan(f"token {TOKEN}")

    assert TOKEN not in repr(found)
    assert all(TOKEN not in str(value) for value in dataclasses.astuple(found))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.kind = "other"


def test_the_fingerprint_follows_the_secret_and_not_its_place():
    one = Guard().scan(f"token {TOKEN}")[0]
    moved = Guard().scan(f"\n\nNow elsewhere: {TOKEN}!")[0]
    other = Guard().scan(f"token {OTHER}")[0]

    assert one.fingerprint == moved.fingerprint != other.fingerprint
    assert one.start != moved.start


def test_the_fingerprint_says_nothing_to_another_process():
    code = f"from memoryware.guard import Guard; print(Guard().scan('x {TOKEN}')[0].fingerprint)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert len(run.stdout.strip()) == 16
    assert run.stdout.strip() != Guard().scan(f"x {TOKEN}")[0].fingerprint


def test_descriptions_name_lines_and_kinds_only():
    text = f"{TOKEN}\n\npassword = '{PASSWORD}'"

    assert Guard.describe(Guard().scan(text)) == "line 1: GitHub token, line 3: password"
    assert Guard().describe([]) == ""


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_findings_are_in_order_within_the_text_and_apart(text):
    found = Guard(personal=["phone", "ip"]).scan(text + " my password is " + text)

    places = [place for one in found for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(one.start < one.end <= len(text) * 2 + 16 for one in found)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["password", "api key", " is ", ": ", "=", '"', "'", "\n", "|", "://", "@", "-", "token",
             "pin ", "4711", PASSWORD, TOKEN, "\u200b", "密码", "<", ">", "(", "\\", "door", " ", "`"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_nothing_that_is_found_survives_redaction(pieces):
    text = "".join(pieces)
    guard = Guard()

    redacted = guard.redact(text)

    for one in guard.scan(text):
        value = text[one.start : one.end]
        assert len(value) < 6 or redacted.count(value) < text.count(value)


# What is new.


def test_only_what_was_not_there_before_is_new():
    before = f"token {TOKEN}\n"
    after = f"# Moved down\n\ntoken {TOKEN}\nand {OTHER}\n"

    assert [one.kind for one in Guard().new(before, after)] == ["GitLab token"]
    assert Guard().new(before, before) == []
    assert Guard().new(after, before) == []


def test_a_copy_of_a_secret_is_new_once():
    before, after = f"token {TOKEN}\n", f"token {TOKEN}\nagain {TOKEN}\nand {TOKEN}\n"

    assert [one.line for one in Guard().new(before, after)] == [2, 3]


@pytest.mark.parametrize("before", [None, "", "nothing"])
def test_everything_is_new_where_nothing_was(before):
    assert len(Guard().new(before, f"{TOKEN} {OTHER}")) == 2


# Redaction.


def test_a_note_of_the_kind_stands_in_place_of_the_secret():
    text = f"wifi password: {PASSWORD}\nand `{TOKEN}`"

    assert (
        Guard().redact(text)
        == "wifi password: [redacted: password]\nand `[redacted: GitHub token]`"
    )


def test_text_without_a_secret_is_not_touched():
    text = "- Be kind.\r\n\tNo secrets \u200b here: the password is in the vault.\n"

    assert Guard().redact(text) == text


# Options.


def test_what_is_allowed_is_never_reported():
    text = f"token {TOKEN}, password: {PASSWORD}"

    assert kinds(text, allow=[TOKEN]) == ["password"]
    assert kinds(text, allow=[re.compile(r"ghp_\w+"), PASSWORD]) == []
    assert kinds(text, allow=[re.compile(r"gh"), TOKEN[:-1]]) == ["GitHub token", "password"]


def test_the_allowed_values_are_not_shown():
    assert TOKEN not in repr(Guard(allow=[TOKEN]))


def test_detectors_of_the_user_are_added_and_name_the_kind():
    def badges(text):
        return [("badge", one.start(), one.end()) for one in re.finditer(r"B-\d{5}", text)]

    checked: Detector = badges
    text = f"password: B-12345\ntoken {TOKEN}"
    assert kinds(text, detectors=[checked]) == ["badge", "GitHub token"]
    assert kinds(text, detectors=[checked], secrets=False) == ["badge"]


def test_findings_that_overlap_become_one():
    def half(text):
        at = text.index(TOKEN)
        return [("half", at - 2, at + 9), ("empty", 3, 3)]

    text = f"a {TOKEN}"
    (found,) = Guard(detectors=[half]).scan(text)

    assert (found.kind, text[found.start : found.end]) == ("half", text)


class Failing:
    def __call__(self, text):
        raise ValueError(f"cannot read {text}")


@pytest.mark.parametrize(
    "detector",
    [
        Failing(),
        lambda text: [("kind", 0, len(text) + 1)],
        lambda text: [("kind", 2, 1)],
        lambda text: [text],
        lambda text: 3,
    ],
)
def test_a_detector_that_fails_stops_the_scan_without_telling_the_text(detector):
    with pytest.raises(SettingError, match=r"detectors: .* failed") as caught:
        Guard(detectors=[detector]).scan(f"token {TOKEN}")

    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"on_secret": "ignore"}, "on_secret"),
        ({"personal": ["ssn"]}, "personal"),
        ({"personal": "email"}, "personal"),
        ({"allow": "changeme"}, "allow"),
        ({"allow": re.compile("x")}, "allow"),
        ({"allow": [3]}, "allow"),
        ({"detectors": ["x"]}, "detectors"),
        ({"detectors": len}, "detectors"),
    ],
)
def test_a_value_that_cannot_be_is_refused(options, named):
    with pytest.raises(SettingError, match=named):
        Guard(**options)


def test_a_guard_does_not_change():
    allowed = [TOKEN]
    guard = Guard(allow=allowed)
    allowed.clear()

    assert guard.scan(TOKEN) == []
    with pytest.raises(dataclasses.FrozenInstanceError):
        guard.on_secret = "warn"
    with pytest.raises(TypeError):
        Guard("warn")


def test_a_finding_can_be_made_by_hand():
    assert Finding("PIN", 0, 4, 1, "ab") == Finding("PIN", 0, 4, 1, "ab")


def test_passwords_of_every_shape_are_found_behind_a_colon():
    generator = random.Random(9)

    for _ in range(200):
        secret = password(generator)
        assert kinds(f"- password: {secret}") == ["password"], secret
