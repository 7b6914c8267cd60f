"""The overview in a browser: how much there is, and the way to what waits."""

from __future__ import annotations


def test_what_waits_is_one_click_away(visitor):
    page = visitor.go("/")
    figure = page.locator(".figure").filter(has_text="Waiting for a decision")
    count = int(figure.locator(".value").inner_text())
    figure.get_by_role("link", name="Review them").click()
    assert page.locator("h1").inner_text() == "Review"
    assert page.locator("section.group").count() == count > 0  # each says something of its own


def test_the_figures_behind_the_curves_are_opened_with_the_keyboard(visitor):
    page = visitor.go("/")
    page.get_by_text("As a table").focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("table").first
    assert table.is_visible()
    totals = page.locator(".figure").filter(has_text="Quarantine").locator(".value").inner_text()
    last = table.get_by_role("row").filter(has_text="Quarantine").last
    assert last.get_by_role("cell").last.inner_text() == totals


def test_pictures_are_told_to_those_who_do_not_see_them(visitor):
    page = visitor.go("/")
    for name in ("Records over time", "Tokens per source"):
        assert page.get_by_role("img", name=name).count() == 1
