"""Reads the code of a documentation page and runs it as one program.

Blocks in the order of the page, in one namespace, in an empty folder:

* ```` ```python ```` runs. No name is defined before: what runs here runs when it is pasted.
* ```` ```text title="Output" ```` is what the blocks since the last one have printed.
* A block of any kind with another `title="..."` is written to the file of that name;
  a Python one is then run as well, and can be imported from then on.
"""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^([ ]*)```(\w+)([^\n]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    title: str
    text: str
    line: int


def pages() -> list[Path]:
    """Return every page that a reader may copy from."""
    found = [ROOT / "README.md", ROOT / "examples" / "README.md"]
    return found + sorted((ROOT / "docs").rglob("*.md"))


def blocks(page: Path) -> Iterator[Block]:
    """Return the blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        title = _TITLE.search(match[3])
        yield Block(
            language=match[2],
            title=title[1] if title else "",
            text=textwrap.dedent(match[4]),
            line=text.count("\n", 0, match.start()) + 2,
        )


def run(page: Path, folder: Path) -> list[str]:
    """Run a page in a folder; return the outputs that it promises and does not give."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed, wrong = io.StringIO(), []
    for block in blocks(page):
        if block.title == "Output":
            said = printed.getvalue().strip()
            if said != block.text.strip():
                wrong.append(f"{page.name}, line {block.line}: printed\n{said}")
            printed.seek(0)
            printed.truncate()
            continue
        if block.title and block.title != "make demo":
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        if block.language == "python":
            source = "\n" * (block.line - 1) + block.text
            code = compile(source, str(page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(printed):
                exec(code, names)
    return wrong
