"""Pages can be used by people who see little, use no mouse, or have a small screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from browser.kit import WIDTHS, visiting
from memoryware import MemoryScope, Origin, Provenance, acting

SHOP = MemoryScope(tenant="acme", group_id="shop")

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
    "forget": "/forget?id={pnpm-memory}",
    "groups": "/groups",
    "filtered": "/review?trust=unverified&sort=newest&q=parcel",
    "sessions": "/sessions",
    "session": "/sessions/one?id=friday-invoices",
    "audit": "/audit",
    "problem": "/nowhere",
}


@pytest.fixture
def long_words(week):
    """The week, and one word without an end in everything that a page can show."""
    scope = MemoryScope(
        tenant="acme", group_id="shop", user_id=f"user{WORD}", agent_id=WORD, session_id=WORD,
        node_id=WORD,
    )  # fmt: skip
    memory = week.memory
    made = Provenance(Origin("tool", WORD))
    entry = memory.record(f"{WORD} is kept in the shop.", scope, provenance=made).entry
    week.ids["word"] = entry.id
    kept = memory.promote(
        memory.record(f"{WORD} is in the hall.", scope, provenance=made).entry, by=f"bob{WORD}",
        subject=WORD,
    ).memories[0]  # fmt: skip
    week.ids["word-memory"] = kept.id
    memory.log_quarantine(f"{WORD} is not in the hall.", scope, provenance=made)
    memory.log_quarantine("Every step of it: " + f"{WORD} " * 40, scope, provenance=made)
    memory.revoke(entry.id, SHOP, by=WORD, reason=WORD)
    with acting(user=WORD, reason=WORD):
        week.files.write(f"/{WORD[:80]}/AGENTS.md", WORD)
    return week


WORD = "Donaudampfschifffahrt" * 10
LONG = {
    "long memory": "/memories/one?id={word-memory}",
    "long entry": "/memories/one?id={word}",
    "long origin": f"/origins?of=tool:{WORD}",
    "long session": f"/sessions/one?id={WORD}",
    "long file": f"/files/show?file=/{WORD[:80]}/AGENTS.md",
    "long search": f"/memories?q={WORD}+hall",
    "long filter": f"/review?q={WORD}&origin=tool:{WORD}",
    "long groups": f"/groups?q={WORD}",
    "long preview": f"/forget?user=user{WORD}",
    "revoke": "/memories/revoke?id={word-memory}",
    "unknown": f"/{WORD}",
}


@pytest.mark.parametrize(
    ("width", "theme"),
    [(320, "light"), *((width, theme) for width in WIDTHS[1:] for theme in ("light", "dark"))],
)
def test_every_page_can_be_read_and_operated(browser, long_words, width, theme):
    how = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    options = {"scope": SHOP, "groups": ["sales", WORD, "support"]}
    wrong = {}
    with visiting(browser, long_words.memory, long_words.files, how, **options) as visitor:
        for name, path in {**PAGES, **LONG}.items():
            page = visitor.go(path.format(**long_words.ids))
            page.evaluate(
                "for (const one of document.querySelectorAll('details')) one.open = true;"
            )
            found = page.evaluate(LOOKING)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if found or wide > width:
                wrong[name] = [*found, wide]
    assert wrong == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_all_of_the_navigation_is_on_the_screen(browser, week, width):
    how = {"viewport": {"width": width, "height": 900}}
    with visiting(browser, week.memory, week.files, how, scope=SHOP) as visitor:
        page = visitor.go("/audit")
        links = page.get_by_role("navigation", name="Pages").get_by_role("link")
        assert links.count() == 6
        for link in links.all():
            box = link.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["height"] >= 24
            text = link.evaluate("one => [one.scrollWidth, one.clientWidth]")
            assert text[0] <= text[1]
        page.get_by_role("link", name="Review 3 waiting").click()
        assert page.locator("h1").inner_text() == "Review"


def test_charts_take_the_colours_of_the_scheme(browser, week):
    """The lines of the charts and the ground behind them differ in both schemes."""
    for theme in ("light", "dark"):
        with visiting(browser, week.memory, None, {"color_scheme": theme}, scope=SHOP) as visitor:
            page = visitor.go("/")
            colours = page.evaluate(
                """() => ['svg .line-1', 'svg .axis', 'svg text', '.card'].map((name) => {
                  const style = getComputedStyle(document.querySelector(name));
                  return name === '.card' ? style.backgroundColor
                    : name === 'svg text' ? style.fill : style.stroke;
                })"""
            )
        assert len(set(colours)) == 4
        lightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
        assert (lightness[3] > 600) is (theme == "light")
        assert (lightness[3] > lightness[2]) is (theme == "light")


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
    how = {"java_script_enabled": False}
    with visiting(browser, week.memory, week.files, how, scope=SHOP) as visitor:
        page = visitor.go("/files/show?file=/AGENTS.md")
        page.get_by_role("button", name="Undo the last change").click()
        assert "Undone as version 4" in visitor.status()
