"""Pages can be used by people who see little, use no mouse, or have a small screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.kit import DESK, PHONE

LOOKING = Path(__file__).with_name("looking.js").read_text(encoding="utf-8")
PAGES = {
    "overview": "/",
    "review": "/review",
    "memories": "/memories",
    "search": "/memories?q=parcel+late",
    "memory": "/memories/one?id={returns-now}",
    "past": "/memories/one?id={returns-memory}",
    "revoked": "/memories/one?id={poison-memory}",
    "preview": "/memories/revoke?id={pnpm-memory}",
    "origin": "/origins?of=tool:web_search",
    "files": "/files",
    "file": "/files/show?file=/AGENTS.md",
    "comparison": "/files/compare?file=/AGENTS.md&a=1&b=now",
    "sessions": "/sessions",
    "session": "/sessions/one?id=friday-invoices",
    "audit": "/audit",
    "problem": "/nowhere",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_can_be_read_and_operated(visitor, week, theme):
    visitor.page.emulate_media(color_scheme=theme)
    wrong = {}
    for size in (DESK, PHONE):
        visitor.page.set_viewport_size(size)
        for name, path in PAGES.items():
            found = visitor.go(path.format(**week.ids)).evaluate(LOOKING)
            if found:
                wrong[f"{name} at {size['width']}"] = found
    assert wrong == {}


@pytest.mark.parametrize("name", ["review", "search", "memory", "file", "audit"])
def test_whoever_uses_the_keyboard_sees_where_they_are(visitor, week, name):
    page = visitor.go(PAGES[name].format(**week.ids))
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """() => {
              const one = document.activeElement, style = getComputedStyle(one);
              const box = one.getBoundingClientRect();
              const end = one === document.body;
              return end ? null : [one.outerHTML.slice(0, 90), style.outlineStyle,
                parseFloat(style.outlineWidth), box.width, box.right > 0];
            }"""
        )
        if at is None:
            break
        seen.append(at)
    assert len(seen) > 7
    hidden = [one for one in seen if one[1] == "none" or one[2] < 2 or not one[3] or not one[4]]
    assert hidden == []
    reached = {one[0] for one in seen}
    assert any("skip" in one for one in reached)


def test_the_skip_link_leads_to_the_content(visitor):
    page = visitor.go("/audit")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_pages_work_without_scripts(browser, week):
    from week import SHOP

    from browser.kit import visiting

    how = {"java_script_enabled": False}
    with visiting(browser, week.memory, week.files, how, scope=SHOP) as visitor:
        page = visitor.go("/files/show?file=/AGENTS.md")
        page.get_by_role("button", name="Undo the last change").click()
        assert "Undone as version 4" in visitor.status()
