"""Files that a guide shows whole are those that the tests run."""

from __future__ import annotations

import pytest

from deploy.running import DEPLOY, ROOT
from docs.pages import blocks

SHOWN = {
    "langgraph-server.md": ["langgraph.json", "auth.py"],
    "compose.md": ["compose.yaml", "Dockerfile"],
}


@pytest.mark.parametrize(("page", "name"), [(p, n) for p, names in SHOWN.items() for n in names])
def test_a_file_in_a_guide_is_the_one_of_the_example(page, name):
    (block,) = (b for b in blocks(ROOT / "docs" / "guides" / page) if b.title == name)
    assert block.text == (DEPLOY / name).read_text()


def test_every_program_is_listed_for_readers():
    listed = (DEPLOY / "README.md").read_text()
    files = [path.name for path in DEPLOY.glob("[!.]*.*") if path.name != "README.md"]
    assert [name for name in files if f"({name})" not in listed] == []
