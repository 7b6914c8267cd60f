"""The site: its hooks, its search, and what a reader sees in a browser."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from urllib.parse import quote

import pytest

from docs.pages import ROOT

PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "changelog.d")


def _hook(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES, REPOSITORY, GLOSSARY = _hook("tables"), _hook("repository"), _hook("glossary")
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


def test_special_terms_are_explained_by_the_glossary():
    lines = GLOSSARY.abbreviations()
    assert len(lines) == 2 * len(GLOSSARY.EXPLAINED)
    assert "*[Four eyes]: A promotion needs two people: one proposes, another promotes." in lines
    assert not any("](" in line or "`" in line for line in lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_a_page_has_one_heading_of_the_first_level_a_description_and_a_place_in_the_navigation(
    page,
):
    text = page.read_text(encoding="utf-8")
    head = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    description = re.search(r"^description: (.+)$", head[1] if head else "", re.MULTILINE)
    assert description, "begin the page with --- description: One sentence. ---"
    assert 20 <= len(description[1]) <= 175
    code = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^# ", code.sub("", text), re.MULTILINE)) == 1
    name = page.relative_to(ROOT / "docs").as_posix()
    assert (ROOT / "mkdocs.yml").read_text().count(f" {name}\n") == 1


# What takes a built site and a browser.


def in_browser(test):
    """Mark a slow test that shares one built site with others, and the worker of browsers."""
    for mark in (pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("browser")):
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the built site, and its folder."""
    kit = pytest.importorskip("browser.kit")
    from starlette.applications import Starlette
    from starlette.staticfiles import StaticFiles

    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed; run make docs")
    kit.needed()
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    app = Starlette()
    app.mount("/", StaticFiles(directory=folder, html=True))
    with kit.running(app) as address:
        yield address, folder


@pytest.fixture(scope="module")
def browser(site):
    from playwright.sync_api import sync_playwright

    from browser.kit import chromium

    with sync_playwright() as playwright:
        args = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        running = playwright.chromium.launch(executable_path=chromium(), args=args)
        yield running
        running.close()


FIRST = {
    "delete memory": "guides/deleting.html",
    "forget user": "guides/deleting.html",
    "GDPR": "guides/deleting.html",
    "expire": "guides/deleting.html",
    "user preferences": ("guides/per-user.html", "guides/learning.html", "guides/policies.html"),
    "AGENTS.md": ("quickstart.html", "guides/discovery.html"),
    "undo": "guides/history.html",
    "postgres": "guides/fleet.html",
    "claude code": "guides/mcp.html",
    "API key": "guides/secrets.html",
    "semantic search": "guides/embeddings.html",
    "long-term memory": "concepts/tiers.html",
    "dashboard": "guides/inspector.html",
    "install": "install.html",
    "opentelemetry": "guides/tracing.html",
    "troubleshooting": "guides/where.html",
    "mem0": "guides/importing.html",
    "extract facts": "guides/learning.html",
    "automatic promotion": "guides/policies.html",
    "docker": "guides/compose.html",
}
"""What people type, and the page that must come first, or one of several."""


@in_browser
def test_the_search_finds_the_page_that_people_look_for(site, browser):
    address, _ = site
    tab = browser.new_page()
    wrong = {}
    for query, pages in FIRST.items():
        tab.goto(f"{address}/install.html?q={quote(query)}")
        tab.locator(".md-search-result__item > a").first.wait_for(state="attached", timeout=60_000)
        link = tab.locator(".md-search-result__item > a").first.get_attribute("href")
        first = link.removeprefix(f"{address}/").partition("?")[0].partition("#")[0]
        if first not in (pages if isinstance(pages, tuple) else (pages,)):
            wrong[query] = first
    assert wrong == {}


@in_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_screen_or_loads_anything_from_elsewhere(site, browser, width):
    address, folder = site
    tab = browser.new_page(viewport={"width": width, "height": 800})
    elsewhere, wide, cut = [], [], []
    cuts = "[...document.querySelectorAll('.language-python code')].some(c => c.scrollWidth > c.clientWidth + 1)"
    tab.on("request", lambda request: elsewhere.append(request.url))
    for page in sorted(folder.rglob("*.html")):
        name = page.relative_to(folder).as_posix()
        tab.goto(f"{address}/{name}", wait_until="load")
        if tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wide.append(name)
        if width > 1000 and tab.evaluate(cuts):
            cut.append(name)
    assert (wide, cut) == ([], [])
    assert [url for url in elsewhere if not url.startswith((address, "data:", "blob:"))] == []


@in_browser
def test_the_scheme_follows_the_system_or_the_switch(site, browser):
    address, _ = site
    tab = browser.new_page(color_scheme="dark")
    tab.goto(address)
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    picture = "[...document.images].filter(i => i.offsetHeight).map(i => i.src).join()"
    assert tab.evaluate(scheme) == "slate"
    assert "review-dark" in tab.evaluate(picture)
    tab.get_by_title("Use the light scheme").click()
    tab.wait_for_function(f"{scheme} === 'default'")
    assert "review-light" in tab.evaluate(picture)


@in_browser
def test_the_reference_lists_each_object_once_and_the_page_for_unknown_addresses_leads_on(site):
    _, folder = site
    headings = Counter()
    for page in (folder / "reference").glob("*.html"):
        headings.update(
            re.findall(r'id="(memoryware[\w.]*)" class="doc doc-heading"', page.read_text())
        )
    assert headings["memoryware.TieredMemory.record"] == 1
    assert {name for name, count in headings.items() if count > 1} == set()
    twins = {re.sub(r"\.(\w+)$", r".a\1", name) for name in headings} & set(headings)
    assert twins == set()
    links = re.findall(r'<li><a href="/?([\w/.-]+\.html)">', (folder / "404.html").read_text())
    assert len(links) == 5
    assert all((folder / link).is_file() for link in links)
