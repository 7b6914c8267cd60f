"""Sessions in a browser: what was shown to the model, and what came of it."""

from __future__ import annotations

from memoryware import MemoryScope


def test_a_session_shows_what_the_model_saw_and_what_became_of_its_answer(visitor):
    page = visitor.go("/")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="friday-invoices").click()
    second = page.get_by_role("article").nth(1)
    assert second.locator(".seen").first.inner_text().startswith("Always send a copy")
    assert "revoked" in second.inner_text()
    assert "40 tokens" in second.inner_text()
    assert "helper" in second.inner_text()


def test_a_session_is_opened_with_the_keyboard_alone(visitor):
    page = visitor.go("/sessions")
    page.get_by_role("link", name="wednesday-ci").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/one?*")
    assert "Session wednesday-ci" in page.locator("h1").inner_text()
    assert "pnpm" in page.locator(".seen").first.inner_text()


def test_what_was_forgotten_since_is_said(visitor, week):
    week.memory.forget(
        MemoryScope(tenant="acme", group_id="shop"), ids=[week.ids["pnpm-memory"]], derived=False
    )
    page = visitor.go("/sessions/one?id=wednesday-ci")
    assert "forgotten since" in page.locator("main").inner_text()


def test_a_session_of_another_tenant_is_not_there(visitor, week):
    other = MemoryScope(tenant="zeta", group_id="shop", session_id="zeta-1")
    week.memory.record("The other tenant keeps its money under the stairs of the house.", other)
    week.memory.note_shown(["x"], other)
    assert "zeta" not in visitor.go("/sessions").content()
    assert "money" not in visitor.go("/sessions/one?id=zeta-1").content()
    assert "Nothing was recorded" in visitor.page.locator("main").inner_text()
