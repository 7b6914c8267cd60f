"""The site: its hooks, its search, and what a reader sees in a browser."""

from __future__ import annotations

import importlib.util

import pytest

from docs.pages import ROOT


def _hook(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES, REPOSITORY = _hook("tables"), _hook("repository")
HEAD = "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>"


@pytest.mark.parametrize(
    ("html", "flaw"),
    [
        (f"{HEAD}<tr><td>1</td></tr></tbody></table>", "rows of [1, 2] cells"),
        (f"{HEAD}<tr><td>`x</td><td>y`</td></tr></table>", "split by a pipe: `x"),
        (f"{HEAD}<tr><td><code>x \\| y</code></td><td>1</td></tr></table>", "a backslash"),
        (f"{HEAD}</tbody></table>", "no rows below its head"),
        ("<p>| a | b |\n|---|---|\n| 1 | 2 |</p>", "shown as text"),
        ("<p>Text:\n| a | b |</p>", "shown as text"),
    ],
)
def test_a_table_that_is_broken_in_the_html_is_found(html, flaw):
    assert flaw in "; ".join(TABLES.flaws(html))


def test_a_sound_table_and_pipes_in_code_have_no_flaw():
    html = f"{HEAD}<tr><td colspan=2><code>x | y</code></td></tr></table><pre>| a |\n|---|</pre>"
    assert TABLES.flaws(html) == []
    assert TABLES.flaws("<p>int | None, and <code>a | b</code></p>") == []


def test_a_pipe_in_the_code_of_a_table_is_shown_without_its_backslash():
    page = "| a |\n|---|\n| `x \\| y` |\n\n```text\n| `x \\| y` |\n```\n"
    assert TABLES.on_page_markdown(page) == page.replace("\\|", "|", 1)


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://code.example/team/memoryware.git", "https://code.example/team/memoryware"),
        ("https://ann:hush@code.example:8443/m/", "https://code.example:8443/m"),
        ("git@code.example:team/memoryware.git", "https://code.example/team/memoryware"),
        ("ssh://git@code.example/team/m.git", "https://code.example/team/m"),
        ("/srv/git/memoryware.git", ""),
        ("file:///srv/git/memoryware", ""),
        ("https://code.example/", ""),
        ("", ""),
    ],
)
def test_the_repository_is_linked_by_an_address_that_a_browser_opens(remote, address):
    assert REPOSITORY.public_address(remote) == address
