"""Nobody comes in who may not, and no text that is remembered does anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser.kit import running, visiting
from memoryware import MemoryScope, TieredMemory
from memoryware.inspector import inspector
from memoryware.stores import Select
from memoryware.tiers.stores.embedded import embedded

LONG = "A" * 1_000_000
HOSTILE = [
    "<script>alert(1)</script> and then some words that are long enough to be kept here.",
    "<img src=//evil.example/x.png onerror=alert(2)> with words, words and more words of it.",
    "<svg/onload=alert(3)><iframe src=javascript:alert(4)></iframe> and words and more words.",
    "\u202egnihtemos si siht \u2066hidden\u2069 \u200bbetween\u200b the words of an honest text.",
    '"><a href="https://evil.example/">click me, I am a link of the page, am I not?</a>',
    "![x](https://evil.example/track.png) [text](javascript:alert(5)) in an honest sentence.",
    "{{7*7}} ${7*7} <%= 7*7 %> </textarea></pre></main><h1>Another page altogether</h1> words",
    "a line without an end, which gets a million characters below, and stays one line.",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    scope = MemoryScope(
        tenant=None,
        group_id="shop",
        user_id="<b>eve</b>",
        agent_id="<i>agent</i>",
        session_id='"><script>alert(6)</script>',
    )
    memory = TieredMemory(
        embedded(), filters=(), journal=tmp_path_factory.mktemp("hostile") / "j.jsonl"
    )
    for place, text in enumerate(HOSTILE):
        entry = memory.record(text, scope).entry
        memory.note_shown([entry.id], scope, tokens=1)
        if place % 3 == 0:
            memory.promote(entry, by="<u>bob</u>", subject=f"<b>{place}</b>")
        elif place % 3 == 1:
            memory.reject(entry, by="<u>bob</u>", reason="<script>alert(7)</script>")
    tray, everything = memory.parts.stores.quarantine, Select(groups=("shop",))
    tray.edit(
        everything,
        lambda one: replace(one, content=one.content + LONG) if one.content == HOSTILE[-1] else one,
    )
    yield memory
    memory.close()


PATHS = [
    "/",
    "/review",
    "/review?q=words&user=%3Cb%3Eeve%3C/b%3E&sort=newest",
    "/groups?q=%22%3E%3Cscript%3Ealert(8)%3C/script%3E",
    "/forget?user=%3Cb%3Eeve%3C/b%3E",
    "/memories?state=all",
    "/memories?tier=quarantine",
    "/memories?q=words",
    "/sessions",
    "/audit",
    "/origins?of=agent:%3Cscript%3Ealert(6)%3C/script%3E",
    "/sessions/one?id=%22%3E%3Cscript%3Ealert(6)%3C/script%3E",
]


@pytest.mark.parametrize("path", PATHS)
def test_hostile_texts_stay_texts(browser, hostile, path):
    with visiting(browser, hostile) as visitor:
        page = visitor.go(path)
        scripts = page.locator("script").evaluate_all("some => some.map(one => one.src)")
        assert all(one.startswith(visitor.address) for one in scripts)
        assert page.locator("main :is(img, iframe, script, object, b, u)").count() == 0
        assert page.locator("h1").count() == 1
        assert page.locator("a[href^=http], a[href^=javascript]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200
        assert "\u202e" not in page.locator("main").inner_text()


def test_each_hostile_text_alone_is_harmless(browser, hostile):
    ids = [one.id for one in hostile.list("shop", limit=50).items]
    with visiting(browser, hostile) as visitor:
        for id_ in ids:
            page = visitor.go(f"/memories/one?id={id_}")
            assert page.locator("main :is(img, iframe, script, object, b, u)").count() == 0
            assert page.locator("h1").count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= 1200
            page.goto(f"{visitor.address}/memories/text?id={id_}")
            assert page.evaluate("document.contentType") == "text/plain"
    assert len(ids) > len(HOSTILE)


def test_hidden_characters_are_spelled_out(browser, hostile):
    with visiting(browser, hostile) as visitor:
        text = visitor.go("/audit").locator("main").inner_text()
    assert "U+202E" in text


def test_a_script_that_got_into_a_page_would_not_run(visitor):
    page = visitor.go("/audit")
    page.evaluate(
        """() => {
          const one = document.createElement("script");
          one.textContent = "window.ran = true";
          document.body.append(one);
          const other = document.createElement("img");
          other.src = "https://evil.example/x.png";
          document.body.append(other);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    assert any("Content Security Policy" in one for one in visitor.broken)
    visitor.broken.clear()


def test_a_wrong_token_and_a_used_one_open_nothing(browser, week, visitor):
    stranger = browser.new_context()
    page = stranger.new_page()
    for token in ("wrong", visitor._token):
        page.goto(f"{visitor.address}/?token={token}")
        assert "Invalid or used token" in page.locator("h1").inner_text()
    for path in (
        "/",
        "/review",
        "/memories",
        "/sessions",
        "/audit",
        "/files/plain?file=/AGENTS.md",
    ):
        page.goto(visitor.address + path)
        assert page.locator("h1").inner_text() == "You are not signed in"
        assert "pnpm" not in page.content()
    stranger.close()


def test_a_form_of_another_site_does_nothing(browser, week, visitor):
    form = f"""<form method=post action="{visitor.address}/files/undo">
      <input name=file value=/AGENTS.md><button>Win a prize</button></form>"""

    async def evil(scope, receive, send):
        start = {"type": "http.response.start", "status": 200}
        await send({**start, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": form.encode()})

    before = week.files.log("/AGENTS.md")
    with running(evil) as address:
        page = visitor.tab()
        page.goto(address.replace("127.0.0.1", "localhost"))
        page.get_by_role("button").click()
        page.wait_for_url("**/files/undo")
        assert page.locator("h1").inner_text() in (
            "You are not signed in",
            "Form from another site",
        )
        page.close()
    visitor.requests[:] = [one for one in visitor.requests if "localhost" not in one.url]
    assert week.files.log("/AGENTS.md") == before


def test_a_form_of_another_site_approves_nothing(week, visitor):
    waits = week.ids["wrap"]
    page = visitor.go("/review")
    mine = page.locator("section.group").filter(has_text="brown paper")
    fields = {
        one: mine.locator(f"input[name={one}]").first.get_attribute("value")
        for one in ("group", "csrf")
    }
    for csrf, origin in (("", visitor.address), ("wrong", visitor.address),
                         (fields["csrf"], "https://evil.example")):  # fmt: skip
        answer = visitor.context.request.post(
            visitor.address + "/review/decide",
            form={**fields, "csrf": csrf, "do": "approve"},
            headers={"origin": origin},
        )
        assert answer.status == 403, origin
    assert week.memory.get(waits, MemoryScope(tenant="acme", group_id="shop")).status == "pending"


def test_no_page_may_be_framed_by_another(visitor):
    answer = visitor.page.goto(visitor.address + "/audit")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_read_only_offers_and_does_nothing(browser, week):
    from week import SHOP

    with visiting(browser, week.memory, week.files, scope=SHOP, read_only=True) as visitor:
        for path in ("/files/show?file=/AGENTS.md", "/audit", "/sessions/one?id=sunday-mail"):
            page = visitor.go(path)
            forms = page.locator("main form[method=post]").count()
            assert forms == 0, path
        before = week.files.log("/AGENTS.md")
        csrf = page.locator("input[name=csrf]").first.get_attribute("value")
        answer = visitor.context.request.post(
            visitor.address + "/files/undo",
            form={"csrf": csrf, "file": "/AGENTS.md", "seen": before[0].id},
            headers={"origin": visitor.address},
        )
        assert answer.status == 403
        assert week.files.log("/AGENTS.md") == before


def test_nothing_is_asked_of_another_host_although_there_is_no_network(browser, week):
    from week import SHOP

    app = inspector(week.memory, scope=SHOP, by="ann", files=week.files)
    with running(app) as address:
        context = browser.new_context()
        asked = []
        context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
        page = context.new_page()
        page.goto(f"{address}/?token={app.state.site.keys.token}")
        for path in ("/", "/files", "/sessions", "/audit"):
            page.goto(address + path)
        context.close()
    assert asked
    assert [one for one in asked if not one.startswith(address)] == []
