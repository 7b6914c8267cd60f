"""Memories in a browser: search with the why, correct, take back, put back."""

from __future__ import annotations

from browser.kit import visiting
from limits import limited
from memoryware import MemoryScope, TieredMemory
from memoryware.settings import InspectorLimits
from memoryware.tiers.stores.embedded import embedded

SHOP = MemoryScope(tenant="acme", group_id="shop")


def recalled(week, query="pnpm build lock"):
    return [one.content for one in week.memory.retrieve(query, SHOP)]


def test_a_search_says_why_each_text_came(visitor):
    page = visitor.go("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Memories").click()
    page.get_by_label("Search as an agent does").fill("goods back days")
    page.get_by_role("button", name="Search").click()
    first = page.locator("main .list > li").first
    assert "30 days" in first.inner_text()
    assert "Reason: " in first.inner_text()
    assert "words: no. 1" in first.inner_text()


def test_a_search_of_an_earlier_day_finds_what_held_then(visitor):
    page = visitor.go("/memories")
    page.get_by_label("Search as an agent does").fill("goods back days")
    page.get_by_label("True on").fill("2026-03-04")
    page.get_by_role("button", name="Search").click()
    assert "14 days" in page.locator("main .list").first.inner_text()
    assert "within 30 days" not in page.locator("main .list").first.inner_text()


def test_a_search_is_made_with_the_keyboard_alone(visitor):
    page = visitor.go("/memories")
    page.keyboard.press("/")
    page.keyboard.type("staging database")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories?q=*")
    assert "port 5433" in page.locator("main .list > li").first.inner_text()


def test_a_memory_is_superseded_by_clicking(visitor, week):
    page = visitor.go(f"/memories/one?id={week.ids['returns-now']}")
    page.get_by_text("Correct: replace the text").click()
    page.get_by_label("New text").fill("Goods may come back within 60 days.")
    page.get_by_role("button", name="Replace").click()
    assert "This is the current text now" in visitor.status()
    assert "60 days" in page.locator("main").inner_text()
    held = [one for one in recalled(week, "goods back days") if "days" in one and "may" in one]
    assert "Goods may come back within 60 days." in held
    assert not any("within 30 days; the shop" in one for one in held)


def test_everything_that_goes_is_shown_before_it_is_taken_back_and_put_back(visitor, week):
    page = visitor.go(f"/memories/one?id={week.ids['pnpm-memory']}")
    page.get_by_role("link", name="Revoke…").click()
    going = page.locator("#going").inner_text()
    assert "frozen-lockfile" in going  # what was said after it was shown
    assert any("pnpm" in one for one in recalled(week))
    page.get_by_label("Reason").fill("we use bun now")
    page.get_by_role("button", name="Revoke").click()
    assert "Revoked" in visitor.status()
    assert not any("pnpm" in one for one in recalled(week))
    page.get_by_role("button", name="Restore").click()
    assert "Restored" in visitor.status()
    assert any("pnpm" in one for one in recalled(week))


def test_everything_of_an_origin_is_taken_back_and_put_back_by_clicking(visitor, week):
    week.memory.restore(week.memory.find_receipt(week.ids["receipt"], SHOP), by="bob")
    went = [week.ids[one] for one in ("poison-memory", "plan-memory")]  # one was made of the other
    page = visitor.go(f"/memories/one?id={week.ids['poison-memory']}")
    page.get_by_role("link", name="tool:web_search").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Everything from tool:web_search"
    going = page.locator("#going").inner_text()
    assert "Long-term memory: 2 records" in going
    assert all(week.memory.get(one, SHOP).revocation is None for one in went)
    page.get_by_label("Reason").fill("a web page gave orders")
    page.get_by_role("button", name="Revoke").click()
    assert "Revoked" in visitor.status()
    assert all(week.memory.get(one, SHOP).revocation for one in went)
    page.get_by_role("button", name="Restore").click()
    assert "Restored" in visitor.status()
    assert all(week.memory.get(one, SHOP).revocation is None for one in went)


def test_of_two_tabs_that_take_back_at_once_the_second_is_told(visitor, week):
    first, second = visitor.page, visitor.tab()
    for tab in (first, second):
        tab.goto(f"{visitor.address}/memories/revoke?id={week.ids['pnpm-memory']}")
    for tab in (first, second):
        tab.get_by_role("button", name="Revoke").click()
    assert "revoked already" in second.get_by_role("status").inner_text()
    acts = week.memory.audit(SHOP, kind="revoked").acts
    assert len([one for one in acts if one.id == week.ids["pnpm-memory"]]) == 1


def test_lineage_is_a_picture_whose_parts_can_be_opened(visitor, week):
    page = visitor.go(f"/memories/one?id={week.ids['poison-memory']}")
    links = page.locator("main svg a, main section a[href*='/memories/one']")
    assert links.count() >= 2
    assert page.locator("main svg").count() >= 1


def test_a_long_list_is_read_page_by_page(browser):
    memory = TieredMemory(embedded())
    for number in range(25):
        memory.promote(f"The shelf number {number} of the store holds paper.", "shop", by="ann")
    with visiting(browser, memory, limits=limited(InspectorLimits, rows=10)) as visitor:
        page, seen = visitor.go("/memories"), []
        read_to_the_end(page, seen)
    assert len(seen) == len(set(seen)) == 25


def read_to_the_end(page, seen):
    while True:
        seen += page.locator("main .list .line").all_inner_texts()
        older = page.get_by_role("link", name="Older")
        if not older.count():
            break
        older.click()
