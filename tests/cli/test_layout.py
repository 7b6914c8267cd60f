"""What fits the terminal: short ids, wrapped lines, narrow and wide ones."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import subprocess
import sys
import termios
import time

import pytest
from hypothesis import strategies as st

from cli.running import COMMAND
from doors import for_all
from memoryware import MemoryScope
from memoryware.cli import _layout

SHOP = MemoryScope(group_id="shop")
EXAMPLES = {"examples": 20, "slow_examples": 500}
TEXTS = st.text(alphabet="ab 字é\u0301", max_size=60)


# Ids.


@for_all(st.sets(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=8), **EXAMPLES)
def test_a_short_id_names_one_id_alone(ids):
    short = _layout.short_ids(ids)
    for id_, name in short.items():
        assert len(name) >= 8
        assert [other for other in ids if other.startswith(name)] == [id_]


def test_ids_that_begin_alike_are_as_long_as_they_must_be():
    first, second, third = f"{'a' * 20}{'0' * 12}", f"{'a' * 20}{'1' * 12}", "b" * 32
    assert _layout.short_ids([first, second, third]) == {
        first: first[:21],
        second: second[:21],
        third: "b" * 8,
    }
    assert _layout.short_id(f"{third}#12") == "bbbbbbbb#12"
    for own in ("note-one", "B" * 32, "b" * 31, "", "#2"):
        assert _layout.short_id(own) == own


# Lines.


@for_all(TEXTS, st.integers(2, 30), **EXAMPLES)
def test_wrapped_parts_fit_and_lose_nothing(text, width):
    parts = [*_layout.wrap(text, width)]
    assert all(_layout.cell_width(part) <= width for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


@for_all(st.lists(TEXTS, min_size=1, max_size=6), st.integers(8, 40), **EXAMPLES)
def test_fields_flow_and_lose_nothing(parts, width):
    lines = [*_layout.flow(parts, width)]
    assert all(_layout.cell_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(parts).replace(" ", "")


def test_a_line_hangs_below_its_beginning():
    assert _layout.hang("ok    file:  a long path", 14, "      ") == [
        "ok    file:  a",
        "      long",
        "      path",
    ]
    assert _layout.hang("    diff of words", 12, "      ") == [
        "    diff",
        "      of",
        "      words",
    ]
    assert _layout.hang("short", 12, "  ") == ["short"]


# A real terminal.


def on_terminal(width, *args, cwd, keys=b"", **env):
    """Run the command in a terminal of some width; return what it shows, and its exit code."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*COMMAND, *args],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color", **env},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that keys are signals
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # the end, in Linux
            break
        if not read:
            break
        shown += read
        if keys and shown.rstrip().endswith((b"]", b"]:")):  # it asks
            time.sleep(0.3)
            os.write(ours, keys)
            keys = b""
    os.close(ours)
    return running.wait(timeout=50), shown.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.fixture
def filled(shop, memory):
    memory.log_quarantine("Deliveries come on Monday, and the pallets go back on Friday.", SHOP)
    memory.log_quarantine(
        "发货在每个星期一进行，托盘在星期五退回，发票每月第一个星期一发送。", SHOP
    )
    memory.promote(
        "The till opens at nine, except on Sundays, when it opens at ten.", SHOP, by="ann"
    )
    return shop


COMMANDS = [
    ("list",),
    ("search", "when does the till open", "--explain"),
    ("groups",),
    ("digest",),
    ("doctor", "--quick"),
    ("list", "-h"),
    ("-h",),
]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")


@pytest.mark.slow
def test_a_list_is_readable_at_40_columns_and_one_line_each_at_200(filled):
    code, shown = on_terminal(40, "list", cwd=filled)
    lines = plain(shown).splitlines()
    assert code == 0
    assert all(_layout.cell_width(line) <= 40 for line in lines), lines
    assert "\x1b[1m" in shown  # ids are bold
    assert "pallets go back on Friday." in " ".join(" ".join(lines).split())
    code, shown = on_terminal(200, "list", cwd=filled, NO_COLOR="1")
    lines = shown.splitlines()
    assert (code, len(lines)) == (0, 3)
    assert "\x1b" not in shown
    assert all("quarantine" in line or "long-term memory" in line for line in lines)
    assert any(line.rstrip().endswith("pallets go back on Friday.") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_nothing_is_wider_than_its_terminal(filled, args, width):
    code, shown = on_terminal(width, *args, cwd=filled)
    lines = plain(shown).splitlines()
    assert code == 0
    wide = [line for line in lines if _layout.cell_width(line) > width]
    assert wide == []
    assert not any(line.endswith("…") for line in lines) or width < 200


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 200])
def test_ctrl_c_at_a_question_ends_with_130(filled, width):
    for args in (("review",), ("forget", "--words", "till")):
        code, shown = on_terminal(width, *args, cwd=filled, keys=b"\x03")
        lines = plain(shown).splitlines()
        assert code == 130, args
        assert all(_layout.cell_width(line) <= width for line in lines), lines
        assert "Traceback" not in shown


@pytest.mark.slow
def test_an_error_is_readable_at_40_columns(filled):
    code, shown = on_terminal(40, "list", "--tier", "x", cwd=filled)
    assert code == 2
    assert all(len(line) <= 40 for line in shown.splitlines())
    assert "is not one of 'quarantine'" in " ".join(shown.split())


@pytest.mark.slow
def test_files_are_readable_at_40_columns(filled):
    (filled / "AGENTS.md").write_text("# Shop\n\n- Use pnpm.\n")
    code, shown = on_terminal(40, "files", "list", "--root", ".", cwd=filled)
    lines = plain(shown).splitlines()
    assert code == 0
    assert all(_layout.cell_width(line) <= 40 for line in lines), lines
    assert "why: in the start folder" in " ".join(lines)
