"""Files in a browser: read, compare, undo."""

from __future__ import annotations

from memoryware import acting

FILE = "/files/show?file=/AGENTS.md"


def text(week):
    return week.files.read("/AGENTS.md").file_data["content"]


def test_a_change_is_found_looked_at_and_taken_back_by_clicking(visitor, week):
    page = visitor.go("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Files").click()
    page.get_by_role("link", name="/AGENTS.md").click()
    page.get_by_role("link", name="See the last change").click()
    assert page.locator("del").all_inner_texts() == ["- Ask before a release."]
    page.get_by_role("link", name="Back to the file").click()
    page.get_by_label("Why (optional)").fill("releases are asked for")
    page.get_by_role("button", name="Undo the last change").click()
    assert "Undone as version 4" in visitor.status()
    assert "Ask before a release" in text(week)
    last = week.files.log("/AGENTS.md")[0]
    assert (last.actor.user, last.reason, last.kind) == ("ann", "releases are asked for", "undo")


def test_a_file_is_undone_with_the_keyboard_alone(visitor, week):
    page = visitor.go(FILE)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Undo the last change":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/files/show?*")
    assert "Undone as version 4" in visitor.status()
    assert "Ask before a release" in text(week)


def test_two_versions_stand_side_by_side(visitor):
    page = visitor.go(FILE)
    page.get_by_label("Compare").select_option("1")
    page.get_by_label("with", exact=True).select_option("2")
    page.get_by_role("button", name="Compare").click()
    assert page.locator("tr.changed td.was").inner_text() == "- Build with `npm run build`."
    assert page.locator("tr.changed td.is").inner_text() == "- Build with `pnpm build`."


def test_only_what_changed_has_a_colour(visitor):
    page = visitor.go("/files/compare?file=/AGENTS.md&a=1&b=2&all=yes")
    ground = "some => [...new Set(some.map(one => getComputedStyle(one).backgroundColor))]"
    same = page.locator("tr.same td:is(.was, .is)").evaluate_all(ground)
    changed = page.locator("tr.changed td:is(.was, .is)").evaluate_all(ground)
    assert same == ["rgba(0, 0, 0, 0)"]
    assert len(changed) == 2
    assert same[0] not in changed


def test_an_older_version_is_brought_back(visitor, week):
    page = visitor.go(FILE)
    page.get_by_role("button", name="Restore version 1").click()
    assert "npm run build" in text(week)
    assert page.get_by_role("link", name="Version 4").is_visible()


def test_of_two_tabs_that_undo_at_once_the_second_is_told(visitor, week):
    first, second = visitor.page, visitor.tab()
    for tab in (first, second):
        tab.goto(visitor.address + FILE)
    for tab in (first, second):
        tab.get_by_role("button", name="Undo the last change").click()
    assert "has changed since the page was loaded" in second.get_by_role("status").inner_text()
    assert [one.kind for one in week.files.log("/AGENTS.md")] == ["undo", "edit", "edit", "write"]


def test_a_text_full_of_markup_is_text(visitor, week):
    with acting(user="<b>eve</b>", reason="<img src=x onerror=alert(1)>"):
        week.files.write("/<i>.md", "<script>alert(2)</script>\n" + "x" * 1_000_000 + "\n")
    page = visitor.go("/files")
    page.get_by_role("link", name="/<i>.md").click()
    assert page.locator("pre").inner_text().startswith("<script>alert(2)</script>")
    assert page.locator("main script, main img, main b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    page.get_by_role("link", name="Show whole (plain text)").click()
    assert page.evaluate("document.contentType") == "text/plain"
