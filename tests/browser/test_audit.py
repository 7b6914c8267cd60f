"""Audit in a browser: who did what, and putting back what was revoked."""

from __future__ import annotations


def recalled(week):
    from week import SHOP

    return [one.content for one in week.memory.retrieve("invoice copy", SHOP)]


def test_what_one_person_did_is_found_by_clicking(visitor):
    page = visitor.go("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Audit").click()
    page.get_by_label("Who").select_option("ann")
    page.get_by_label("What").select_option("rejected")
    page.get_by_role("button", name="Show").click()
    lines = page.locator("main .list > li").all_inner_texts()
    assert len(lines) == 3
    assert all("by ann" in one and "says nothing" in one for one in lines)


def test_what_was_revoked_is_put_back_by_clicking(visitor, week):
    assert not any("billing@" in one for one in recalled(week))
    page = visitor.go("/audit?kind=revoked")
    page.get_by_role("button", name="Restore").click()
    assert "can be recalled again" in visitor.status()
    assert any("billing@" in one for one in recalled(week))
    assert page.locator("ol").get_by_text("restored", exact=True).is_visible()


def test_what_was_revoked_is_put_back_with_the_keyboard(visitor, week):
    page = visitor.go("/audit?kind=revoked")
    page.get_by_role("button", name="Restore").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit*said=*")
    assert any("billing@" in one for one in recalled(week))


def test_changes_of_files_are_acts_as_well(visitor):
    page = visitor.go("/audit?kind=file")
    assert page.locator("main .list > li").count() == 3
    page.get_by_role("link", name="/AGENTS.md, version 2").click()
    assert "version 2" in page.locator("h1").inner_text()
