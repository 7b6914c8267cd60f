"""Undo, groups, conflicts and long texts in a browser."""

from __future__ import annotations

import pytest

from browser.kit import visiting
from memoryware import MemoryScope, Origin, Provenance

SHOP = MemoryScope(tenant="acme", group_id="shop")
SALES = MemoryScope(tenant="acme", group_id="sales")
LONG = "The plan of the move, step by step, " + "and then another box is carried " * 40 + "home"


def card(page, text):
    return page.locator("section.group").filter(has_text=text)


@pytest.mark.parametrize("scripts", [True, False])
def test_an_approval_is_undone_after_a_reload(browser, week, scripts):
    how = {"java_script_enabled": scripts}
    with visiting(browser, week.memory, week.files, how, scope=SHOP) as visitor:
        page = visitor.go("/review")
        card(page, "brown paper").get_by_role("button", name="Approve", exact=True).click()
        assert "it is in long-term memory now" in visitor.status()
        page.reload()
        if scripts:
            assert "The last action here: Approved: “Gifts are wrapped" in visitor.status()
        page.get_by_role("button", name="Undo").click()
        assert "Undone: 1 entry to review again." in visitor.status()
        assert card(page, "brown paper").count() == 1
    assert week.memory.get(week.ids["wrap"], SHOP).status == "pending"


def test_a_rejection_is_undone_with_one_key(visitor, week):
    page = visitor.go("/review")
    card(page, "brown paper").get_by_text("Reject", exact=True).first.click()
    card(page, "brown paper").get_by_role("button", name="Reject", exact=True).click()
    assert "Rejected" in visitor.status()
    page.keyboard.press("u")
    page.wait_for_url(lambda url: "undo=" not in url)
    assert "Undone" in visitor.status()
    assert week.memory.get(week.ids["wrap"], SHOP).status == "pending"


def test_a_change_of_a_file_is_undone_and_done_again(visitor, week):
    page = visitor.go("/files/show?file=/AGENTS.md")
    before = week.files.read("/AGENTS.md").file_data["content"]
    page.get_by_role("button", name="Undo the last change").click()
    assert week.files.read("/AGENTS.md").file_data["content"] != before
    page.get_by_role("button", name="Undo", exact=True).click()
    assert "Undone as version" in visitor.status()
    assert week.files.read("/AGENTS.md").file_data["content"] == before


def test_two_texts_in_conflict_are_told_apart_at_a_glance(browser, week):
    week.memory.log_quarantine(
        "Customers may send goods back within 60 days; the shop pays for the parcel.", SHOP
    )
    for width in (1280, 390):
        how = {"viewport": {"width": width, "height": 900}}
        with visiting(browser, week.memory, week.files, how, scope=SHOP) as visitor:
            page = visitor.go("/review?conflict=memory")
            assert page.locator("section.group").count() == 1
            old, new = page.locator(".pair .side").all()
            assert (old.locator("del").inner_text(), new.locator("ins").inner_text()) == (
                "30",
                "60",
            )
            left, right = old.bounding_box(), new.bounding_box()
            assert (left["y"] == right["y"]) is (width == 1280)  # on a phone one is below the other
            page.get_by_role("button", name="Replace the old text").scroll_into_view_if_needed()
    with visiting(browser, week.memory, week.files, scope=SHOP) as visitor:
        page = visitor.go("/review?conflict=memory")
        page.get_by_role("button", name="Replace the old text").click()
        assert "It replaced an older text" in visitor.status()
        page.get_by_role("button", name="Undo").click()
        assert "The text that it had replaced is current again." in visitor.status()


def test_a_long_text_is_approved_below_its_end(visitor, week):
    week.memory.propose(LONG, SHOP, by="bob")
    page = visitor.go("/review?fresh=1&q=boxes+plan")
    page = visitor.go("/review?fresh=1&q=carried")
    assert page.get_by_role("button", name="Approve", exact=True).count() == 0
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.wait_for_url("**/review/read?*")
    assert page.locator("pre.statement").inner_text().endswith("home")
    end = page.locator("pre.statement").bounding_box()
    press = page.get_by_role("button", name="Approve", exact=True)
    assert press.bounding_box()["y"] >= end["y"] + end["height"]
    press.click()
    assert "it is in long-term memory now" in visitor.status()


def test_the_group_is_changed_and_every_page_stays_in_it(browser, week):
    week.memory.record("The trade fair is in Vienna this autumn, in hall four.", SALES)
    for width in (1280, 390):
        how = {"viewport": {"width": width, "height": 900}}
        options = {"scope": SHOP, "groups": ["sales", "support"]}
        with visiting(browser, week.memory, week.files, how, **options) as visitor:
            page = visitor.go("/review")
            page.locator("header summary").click()
            menu = page.get_by_role("list", name="Groups")
            for link in menu.get_by_role("link").all():
                box = link.bounding_box()
                assert box["height"] >= 24
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
            menu.get_by_role("link", name="sales").click()
            assert "Vienna" in page.locator("main").inner_text()
            page.get_by_label("Search").fill("vienna")
            page.get_by_role("button", name="Show").click()
            page.wait_for_url("**group=sales*")
            assert page.locator("section.group").count() == 1
            page.get_by_role("navigation", name="Pages").get_by_role("link", name="Audit").click()
            assert "group=sales" in page.url


def test_one_entry_of_three_is_rejected(visitor, week):
    for name in ("one", "two", "three"):
        made = Provenance(Origin("tool", name))
        week.memory.log_quarantine("The office in Lyon is closed in August.", SHOP, provenance=made)
    page = visitor.go("/review?fresh=1&q=lyon")
    page.get_by_text("Evidence: 3 entries").click()
    page.get_by_role("button", name="Reject this one").nth(1).click()
    assert "Rejected this entry alone" in visitor.status()
    assert "2 entries say the same" in page.locator("main").inner_text()


def test_a_deletion_is_confirmed_after_its_preview(visitor, week):
    page = visitor.go(f"/memories/one?id={week.ids['pnpm-memory']}")
    page.get_by_role("link", name="Forget…").click()
    assert "frozen-lockfile" in page.locator("#going").inner_text()
    page.get_by_role("button", name="for good").click()  # the browser asks for the box first
    assert page.url.split("?")[0].endswith("/forget")
    page.get_by_label("I have seen what goes").check()
    page.get_by_role("button", name="for good").click()
    assert "Forgotten for good" in visitor.status()
    assert page.get_by_role("button", name="Undo").count() == 0
