"""The review queue in a browser: approve, edit, reject, several at once, with two tabs open."""

from __future__ import annotations

import pytest

from browser.kit import visiting
from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.tiers.stores.embedded import embedded

SHOP = MemoryScope(tenant="acme", group_id="shop")


def status(week, name):
    return week.memory.get(week.ids[name], SHOP)


def card(page, text):
    return page.locator("section.group").filter(has_text=text)


def test_an_entry_is_approved_by_clicking(visitor, week):
    page = visitor.go("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Review").click()
    card(page, "brown paper").get_by_role("button", name="Approve", exact=True).click()
    assert "it is in long-term memory now" in visitor.status()
    entry = status(week, "wrap")
    assert (entry.status, entry.decided_by) == ("promoted", "ann")
    assert card(page, "brown paper").count() == 0


def test_an_entry_is_edited_and_approved_by_clicking(visitor, week):
    page = visitor.go("/review")
    mine = card(page, "brown paper")
    mine.get_by_text("Edit", exact=True).click()
    mine.get_by_label("Text").fill("Gifts are wrapped in green paper.")
    mine.get_by_role("button", name="Approve this text").click()
    assert "Approved as edited" in visitor.status()
    found = week.memory.retrieve("gifts paper", SHOP, tiers=["long_term"])
    assert "Gifts are wrapped in green paper." in [one.content for one in found]
    assert week.ids["wrap"] in found[0].provenance.sources


def test_an_entry_is_rejected_with_the_keyboard_alone(visitor, week):
    page = visitor.go("/review")
    for _ in range(20):
        page.keyboard.press("j")
        if "brown paper" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("r")
    page.keyboard.type("not for ever")
    page.keyboard.press("Enter")
    page.wait_for_url("**/review*said=*")
    assert "Rejected" in visitor.status()
    entry = status(week, "wrap")
    assert (entry.status, entry.metadata["rejected_because"]) == ("rejected", "not for ever")


def test_an_entry_is_approved_with_one_key(visitor, week):
    page = visitor.go("/review")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("a")
    page.wait_for_url("**/review*said=*")
    assert "it is in long-term memory now" in visitor.status()
    assert page.locator(f"#{first}").count() == 0


def test_the_keys_are_explained(visitor):
    page = visitor.go("/review")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").get_by_text("Approve").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def test_several_are_rejected_at_once(visitor, week):
    page = visitor.go("/review")
    page.get_by_label("Mark all").check()
    page.get_by_label("Reason for a rejection").fill("spring cleaning")
    page.get_by_role("button", name="Reject marked").click()
    assert "Rejected:" in visitor.status()
    assert "Nothing to review" in page.locator("main").inner_text()
    assert status(week, "late").status == status(week, "wrap").status == "rejected"


@pytest.mark.parametrize(("mine", "yours"), [("Approve", "Reject"), ("Approve", "Approve")])
def test_of_two_tabs_that_decide_at_once_the_second_is_told(visitor, week, mine, yours):
    first, second = visitor.page, visitor.tab()
    for tab in (first, second):
        tab.goto(visitor.address + "/review")
    for tab, do in ((first, mine), (second, yours)):
        one = card(tab, "brown paper")
        if do == "Reject":
            one.get_by_text("Reject", exact=True).first.click()
        one.get_by_role("button", name=do, exact=True).click()
    assert "it is in long-term memory now" in first.get_by_role("status").inner_text()
    assert "Decided already: promoted by ann" in second.get_by_role("status").inner_text()
    assert status(week, "wrap").status == "promoted"
    assert len(week.memory.retrieve("brown paper", SHOP, tiers=["long_term"])) == 1


def test_who_proposes_cannot_approve_where_the_policy_says_so(browser):
    memory = TieredMemory(embedded(), policy=PromotionPolicy(four_eyes=True))
    memory.record("Gifts are wrapped in brown paper, and the price tag is taken off.", "shop")
    with visiting(browser, memory) as ann:
        page = ann.go("/review")
        page.get_by_role("button", name="Propose", exact=True).click()
        assert page.get_by_role("button", name="Approve", exact=True).is_disabled()
        assert "another person has to approve" in page.locator("main").inner_text()
    with visiting(browser, memory, by="bob") as bob:
        bob.go("/review").get_by_role("button", name="Approve", exact=True).click()
        assert "it is in long-term memory now" in bob.status()
