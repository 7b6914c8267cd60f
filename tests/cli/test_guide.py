"""What the guides show of the command line is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.running import here
from docs.pages import ROOT, blocks, run

GUIDES = ["files-on-the-command-line.md", "command-line.md"]
_ID = re.compile(r"\b[0-9a-f]{8}(?:[0-9a-f]{24})?\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def plain(text, folder):
    """Return what does not hang on the time, the folder, and the width of a column."""
    text = re.sub(r"about \d+ tokens", "about (some) tokens", text)
    text = _TIME.sub("(time)", text.replace(str(folder), "/home/ann/shop"))
    lines = (re.sub(r"[ ─]+", " ", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def with_ids(text, ids):
    return _ID.sub(lambda one: ids[one[0]], text)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_shows_what_is_printed(name, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "ann")
    page = ROOT / "docs" / "guides" / name
    assert run(page, Path()) == []
    shown = [block.text for block in blocks(page) if block.language == "console"]
    ids = {}  # each id in the guide, and the one that stands for it in this run
    for session in "".join(shown).split("$ memoryware ")[1:]:
        command, _, output = session.partition("\n")
        typed = with_ids(command, ids)
        ran = here(monkeypatch, capsys, *shlex.split(typed))
        ids |= zip(_ID.findall(output), _ID.findall(ran.out), strict=True)
        assert plain(ran.out, folder) == plain(with_ids(output, ids), folder), command
    assert len(shown) > 4


def test_the_recorded_session_shows_without_a_network():
    picture = (ROOT / "docs" / "img" / "command-line.svg").read_text()
    assert "review" in picture
    assert "@font-face" not in picture
    assert not re.search(r"(href|src|url)[=(:]\W*https?:", picture)
