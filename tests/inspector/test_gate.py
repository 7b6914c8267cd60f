"""Who may come in, from where, and with what."""

import re

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from inspector.rig import FACT, HOST, SCOPE, Forms, decide, form, long_term, opened, record, send
from limits import limited
from memoryware.errors import SettingError
from memoryware.inspector import Keys, inspector
from memoryware.settings import InspectorLimits
from memoryware.tiers.stores.views import LongTermView

PAGES = (
    "/", "/review", "/memories", "/memories?q=server", "/memories?tier=quarantine",
    "/origins?of=agent:helper",
)  # fmt: skip


def stranger(client):
    return TestClient(client.app, base_url=HOST)


# The token.


def test_who_has_no_token_sees_nothing(memory):
    record(memory, FACT)
    someone = stranger(opened(memory))
    for path in (*PAGES, "/nothing"):
        answer = someone.get(path)
        assert answer.status_code == 401
        assert "staging" not in answer.text
        assert "Open the URL that was printed" in answer.text


@pytest.mark.parametrize("token", ["", "wrong", "\u2713", "x" * 5000])
def test_a_wrong_token_is_refused(memory, token):
    someone = TestClient(inspector(memory, scope=SCOPE, by="ann"), base_url=HOST)
    answer = someone.get("/", params={"token": token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_a_token_works_once(memory):
    keys = Keys()
    token = keys.token
    client = opened(memory, keys=keys)
    assert stranger(client).get("/", params={"token": token}).status_code == 403
    assert client.get("/", params={"token": token}).status_code == 200  # who is in stays in


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(memory):
    keys = Keys()
    app = inspector(memory, scope=SCOPE, by="ann", keys=keys)
    client = TestClient(app, base_url=HOST, follow_redirects=False)
    answer = client.get("/", params={"token": keys.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "token" not in client.get("/").text


@pytest.mark.parametrize(
    "change",
    [
        # Not the last character: two bits of it belong to no byte of the signature.
        lambda cookie: cookie[:-2] + ("A" if cookie[-2] != "A" else "B") + cookie[-1],
        lambda cookie: "9" + cookie,
        lambda cookie: ".",
    ],
)
def test_a_changed_cookie_is_no_session(memory, change):
    client = opened(memory)
    [(name, value)] = client.cookies.items()
    someone = TestClient(client.app, base_url=HOST, cookies={name: change(value)})
    assert someone.get("/").status_code == 401


def test_a_session_ends(memory):
    keys = Keys()
    app = inspector(
        memory, scope=SCOPE, by="ann", keys=keys, limits=InspectorLimits(session_hours=0)
    )
    late = TestClient(app, base_url=HOST)
    assert late.get("/", params={"token": keys.token}).status_code == 401


def test_who_leaves_is_out(memory):
    client = opened(memory)
    fields = form(client.get("/").text, "/leave")
    assert send(client, "/leave", fields).status_code == 401
    assert client.get("/").status_code == 401


# The host.


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com:8000", "", "localhost."])
def test_a_foreign_host_is_refused_even_with_the_cookie(memory, host):
    record(memory, FACT)
    client = opened(memory)
    answer = client.get("/memories", headers={"host": host})
    assert answer.status_code == 421
    assert "staging" not in answer.text


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_this_machine_is_known_by_each_of_its_names(memory, host):
    answer = stranger(opened(memory)).get("/", headers={"host": host})
    assert answer.status_code == 401


# Forms.


def test_a_form_of_another_site_does_nothing(memory):
    record(memory, FACT)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/decide", do="approve")
    for headers in (
        {"origin": "https://example.com"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "http://localhost:8000"},
        {"sec-fetch-site": "cross-site"},
        {},
    ):
        answer = client.post("/review/decide", data=fields, headers=headers)
        assert answer.status_code == 403
    assert long_term(memory) == []


@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_a_form_without_its_token_does_nothing(memory, token):
    record(memory, FACT)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/decide", do="approve")
    fields.pop("csrf")
    answer = send(client, "/review/decide", fields | ({} if token is None else {"csrf": token}))
    assert answer.status_code == 403
    assert long_term(memory) == []


def test_the_token_of_another_visitors_form_does_nothing(memory):
    record(memory, FACT)
    who = {"now": "ann"}
    app = inspector(memory, scope=SCOPE, by="ann", authenticate=lambda _: who["now"])
    client = TestClient(app, base_url=HOST)
    page = client.get("/review").text
    who["now"] = "bo"
    assert decide(client, "approve", page).status_code == 403
    assert long_term(memory) == []


def test_every_form_that_is_sent_carries_its_token(memory):
    record(memory, FACT)
    client = opened(memory)
    for path in PAGES:
        page = Forms(client.get(path).text)
        posts = [said for tag, said in page.tags if tag == "form" and said.get("method") == "post"]
        assert posts
        methods = [said.get("method") for tag, said in page.tags if tag == "form"]
        for method, (_, fields) in zip(methods, page.forms, strict=True):
            assert method == "get" or "csrf" in fields


def test_too_much_at_once_is_refused(memory):
    client = opened(memory, limits=limited(InspectorLimits, form_bytes=1000, form_fields=5))
    fields = form(client.get("/").text, "/leave")
    assert send(client, "/leave", {**fields, "more": "x" * 1000}).status_code == 413
    assert send(client, "/leave", {**fields, "more": ["x"] * 10}).status_code == 400

    def slowly():
        for _ in range(20):
            yield b"x" * 100

    answer = client.post("/leave", content=slowly(), headers={"origin": HOST})
    assert answer.status_code == 413


def test_a_form_that_is_no_text_is_refused(memory):
    client = opened(memory)
    answer = client.post("/leave", content=b"\xff\xfe", headers={"origin": HOST})
    assert answer.status_code == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_and_sending_is_possible(memory, method):
    assert opened(memory).request(method, "/").status_code == 405


# What every answer says.


def test_every_answer_forbids_foreign_scripts_frames_and_copies(memory):
    client = opened(memory)
    answers = [client.get(path) for path in (*PAGES, "/nothing", "/static/inspector.css")]
    answers += [stranger(client).get("/"), client.get("/", headers={"host": "x"})]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_pages_have_no_script_or_style_of_their_own_and_name_no_other_host(memory):
    record(memory, FACT)
    client = opened(memory)
    for path in PAGES:
        page = client.get(path).text
        tags = Forms(page).tags
        assert [said for tag, said in tags if tag == "script"] == [
            {"src": "/static/inspector.js", "defer": None}
        ]
        assert not [tag for tag, _ in tags if tag == "style"]
        assert not [name for _, said in tags for name in said if name.startswith("on")]
        assert not re.search(r"https?://", page)


def test_nothing_that_is_served_asks_another_host(memory):
    client = opened(memory)
    for name in ("inspector.css", "inspector.js"):
        text = client.get(f"/static/{name}").text
        assert "//" not in re.sub(r"(?m)^\s*//.*$", "", text)
        assert "@import" not in text


def test_an_error_is_a_sentence_and_no_trace(memory, monkeypatch):
    def fails(*args, **more):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(LongTermView, "find", fails)
    keys = Keys()
    app = inspector(memory, scope=SCOPE, by="ann", keys=keys)
    client = TestClient(app, base_url=HOST)
    answer = client.get("/", params={"token": keys.token})
    assert answer.status_code == 500
    assert "An internal error of the inspector" in answer.text
    assert "secret inside" not in answer.text
    assert "Traceback" not in answer.text


# Read-only, and mounted.


def test_read_only_shows_no_form_and_takes_none(memory):
    record(memory, FACT)
    keys = Keys(secret="the same")
    fields = form(opened(memory, keys=keys).get("/review").text, "/review/decide", do="approve")
    client = opened(memory, read_only=True, keys=Keys(secret="the same"))
    page = client.get("/review").text
    assert "read-only" in page
    tags = [said for tag, said in Forms(page).tags if tag == "form"]
    assert [one["action"] for one in tags if one["method"] == "post"] == ["/leave"]
    mine = form(page, "/leave")["csrf"]
    answer = send(client, "/review/decide", {**fields, "csrf": mine})
    assert answer.status_code == 403
    assert "read-only" in answer.text
    assert long_term(memory) == []


def test_it_can_be_mounted_anywhere_with_the_authentication_of_the_app(memory):
    record(memory, FACT)

    async def who(request):
        return request.headers.get("x-user")

    pages = inspector(memory, scope=SCOPE, by="app", authenticate=who)
    host = "https://app.example.com"
    client = TestClient(Starlette(routes=[Mount("/admin/memory", pages)]), base_url=host)
    assert client.get("/admin/memory/").status_code == 401
    client.headers["x-user"] = "cleo"
    page = client.get("/admin/memory/review").text
    links = [
        said.get(name)
        for _, said in Forms(page).tags
        for name in ("href", "src", "action")
        if said.get(name) and not str(said.get(name)).startswith("#")
    ]
    assert links
    assert all(str(one).startswith("/admin/memory") for one in links)
    assert client.get("/admin/memory/static/inspector.css").status_code == 200
    fields = form(page, "/admin/memory/review/decide", do="approve")
    answer = client.post("/admin/memory/review/decide", data=fields, headers={"origin": host})
    assert answer.status_code == 200
    [kept] = memory.list(SCOPE, tier="longterm").items
    assert kept.record.promoted_by == "cleo"


def test_a_group_and_a_name_are_needed(memory):
    with pytest.raises(SettingError, match="group"):
        inspector(memory, scope="", by="ann")
    with pytest.raises(SettingError, match="who"):
        inspector(memory, scope="g", by=" ")
