"""What the page on events says is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from memoryware.events import EVENT_NAMES
from memoryware.events._emission import attributes
from memoryware.events.facts import AskReason, BlockReason
from memoryware.sources.policy import Asks, Reason

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "events.md").read_text(encoding="utf-8")


def first_column(section: str, head: str) -> list[str]:
    """The names in the first column of the table with this head, in a section."""
    rows = PAGE.partition(section)[2].partition(f"| {head} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)


def test_the_page_has_every_event():
    headings = re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(EVENT_NAMES)


def test_the_page_has_every_reason_and_so_have_the_events():
    assert set(first_column("### `write_blocked`", "reason")) == set(get_args(BlockReason))
    assert set(first_column("### `approval_asked`", "reason")) == set(get_args(AskReason))
    assert {*get_args(Reason), "rules"} == set(get_args(BlockReason))
    assert get_args(Asks) == get_args(AskReason)


def test_the_page_names_the_attributes_that_have_another_name_than_their_fact():
    table = PAGE.partition("| key | attribute |")[2].partition("\n\n")[0]
    for fact, attribute in re.findall(r"\| `(\w+)` \| `([\w.]+)` \|", table):
        assert attributes({fact: "one"}) == {attribute: "one"}
    assert len(first_column("## OpenTelemetry", "key | attribute")) == 6
