"""What somebody tries who may not come in, or may and wants more than that."""

from __future__ import annotations

import asyncio
import re
import string

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from inspector.rig import FACT, HOST, OTHER, SCOPE, decide, form, long_term, opened, record, send
from limits import limited
from memoryware import (
    FilesystemBackend,
    HistoryBackend,
    MemoryScope,
    PromotionPolicy,
    TieredMemory,
)
from memoryware._http_heads import head_timeout
from memoryware.inspector import Keys, inspector
from memoryware.settings import InspectorLimits

HIDDEN = "hunter2-is-in-no-memory-file"
BIDI = "\u202e"
NEIGHBOURS = (
    MemoryScope(tenant="acme", group_id="other"),
    MemoryScope(tenant="rival", group_id="support"),
)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.md").write_text(HIDDEN)
    (root / ".env").write_text(HIDDEN)
    (root / "program.py").write_text(HIDDEN)
    (root / "AGENTS.md").write_text("# Rules\n")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    return root


@pytest.fixture
def files(folder):
    kept = HistoryBackend(FilesystemBackend(root_dir=folder))
    kept.write("/notes.md", "the first text\n")
    kept.edit("/notes.md", "first", "second")
    return kept


# Addresses.


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:/static/",
        "127.0.0.1:8000@evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1:80:80",
        "[::1]evil.example",
        "[::1",
        "127.0.0.1.",
        "127.0.0.1:x",
        "localhost\u0131",
        "",
    ],
)
def test_what_only_looks_like_this_machine_is_refused(memory, host):
    client = opened(memory)
    answer = client.get("/review", headers={"host": host.encode("latin-1", "replace")})
    assert answer.status_code == 421


@pytest.mark.parametrize(
    "path",
    ["/static/../review", "/static/..%2freview", "/static//../memories", "//review", "/Static/"],
)
def test_no_spelling_of_a_path_gets_a_stranger_to_a_page(memory, path):
    record(memory, FACT)
    stranger = TestClient(inspector(memory, scope=SCOPE, by="ann"), base_url=HOST)
    request = stranger.build_request("GET", HOST)
    request.url = request.url.copy_with(raw_path=path.encode())
    answer = stranger.send(request)
    assert answer.status_code in (401, 404)
    assert "Frankfurt" not in answer.text


NINES = "9" * 5000


@pytest.mark.parametrize(
    "path",
    [
        f"/memories?after={NINES}",
        f"/memories?before={NINES}",
        "/memories?after=%D9%A3",
        f"/audit?after=[{NINES}",
        "/audit?after=[null,null,null,%22x%22]",
        f"/sessions?after={NINES}",
        f"/sessions/one?id=x&from={NINES}",
        f"/files?from={NINES}",
        f"/files/show?file=/notes.md&version={NINES}",
        "/memories?q=%00&at=0001-01-01",
        "/memories?q=%22%20AND%20NEAR(*",
        "/audit?before=0001-01-01T00:00:00%2B23:59",
        "/audit?before=9999-12-31T23:59:59-23:59",
        "/memories/one?id=%00%ff",
        "/sessions/one?id=" + "x" * 40_000,
        "/origins?of=tool:%00%ff&id=%00",
        "/?said=%E2%82%AC.%00",
        "/?undo=%E2%82%AC.%00",
        "/?undo=e30.Zg.x",
        f"/?group=%00{NINES}",
        f"/review?page={NINES}&q=%00%ff&sort=%00&age={NINES}",
        "/review?q=(%5B*&origin=%00&trust=%F0%9F%99%82&conflict=%00",
        f"/review/read?key={NINES}",
        "/review/read?key=%00%ff%20x&entry=%00",
        f"/groups?from={NINES}&q=%00",
        "/forget?id=%00%ff",
        "/forget?of=tool:%00%ff",
        "/forget?user=%00%ff",
    ],
)
def test_an_address_that_was_made_up_breaks_nothing(memory, files, path):
    answer = opened(memory, files=files).get(path)
    assert answer.status_code in (200, 404, 422)


def test_a_text_of_an_address_hides_nothing_in_a_title(memory):
    page = opened(memory).get("/sessions/one", params={"id": f"{BIDI}exe.txt"}).text
    assert BIDI not in page
    assert "U+202E" in page


# Sessions.


def test_a_copy_of_a_cookie_is_worth_nothing_once_it_was_left(memory):
    client = opened(memory)
    thief = TestClient(client.app, base_url=HOST, cookies=dict(client.cookies))
    assert thief.get("/review").status_code == 200
    send(client, "/leave", form(client.get("/").text, "/leave"))
    assert thief.get("/review").status_code == 401


def test_no_other_spelling_of_an_ended_session_is_a_session():
    """Base64 ignores some bits at its end, so a signature has several spellings."""
    keys = Keys()
    session = keys.exchange(keys.token)
    others = {session[:-1] + letter for letter in string.ascii_letters + string.digits + "-_"}
    spellings = [other for other in others if keys.is_session(other, hours=1)]
    assert session in spellings
    keys.end(session)
    assert [one for one in spellings if keys.is_session(one, hours=1)] == []


def test_what_one_purpose_has_signed_is_worth_nothing_for_another():
    keys = Keys()
    session = keys.exchange(keys.token)
    message = keys.message(session, "Approved.")
    assert keys.message_in(session, message) == "Approved."
    assert keys.message_in("another", message) is None
    assert keys.message_in(session, session) is None
    assert not keys.is_session(message, hours=1)
    assert not keys.is_session(keys.form_token(session), hours=1)
    assert keys.message_in(session, "\ud800.x") is None
    undo = keys.undo(session, {"kind": "decision"})
    assert keys.undo_in(session, undo, hours=1) == {"kind": "decision"}
    assert keys.undo_in("another", undo, hours=1) is None
    assert keys.undo_in(session, undo, hours=-1) is None
    assert keys.undo_in(session, message, hours=1) is None
    assert keys.undo_in(session, keys.undo(session, ["x"]), hours=1) is None
    assert keys.undo_in(session, "\ud800.x", hours=1) is None
    assert keys.message_in(session, undo) is None
    assert not keys.is_session(undo, hours=1)
    assert keys.read_proof(session, "text") != keys.read_proof("another", "text")
    assert keys.read_proof(session, "text") != keys.form_token(session)


@pytest.mark.parametrize("said", [None, "", "  ", True, 7, ["ann"], b"ann"])
def test_what_is_no_name_is_nobody(memory, said):
    client = opened(memory, authenticate=lambda _: said)
    assert client.get("/").status_code == 401


def test_nobody_comes_in_while_it_cannot_be_found_out_who_they_are(memory):
    def broken(request):
        raise RuntimeError(HIDDEN)

    answer = opened(memory, authenticate=broken).get("/")
    assert answer.status_code == 503
    assert HIDDEN not in answer.text
    assert "content-security-policy" in answer.headers


# Forms.


@pytest.mark.parametrize(
    "origin",
    ["http://[", "null", "", "127.0.0.1:8000", f"{HOST}/", f"{HOST}@evil.example", "file://"],
)
def test_an_origin_that_was_made_up_is_not_ours(memory, origin):
    record(memory, FACT)
    client = opened(memory)
    fields = form(client.get("/review").text, "/review/decide", do="approve")
    assert send(client, "/review/decide", fields, origin=origin).status_code == 403
    assert long_term(memory) == []


def test_no_header_makes_a_change_while_it_is_read_only(memory):
    id_ = record(memory, FACT)
    client = opened(memory, read_only=True)
    fields = {**form(client.get("/").text, "/leave"), "do": "approve", "group": id_}
    for headers in ({"host": "127.0.0.1:/leave?"}, {"x-forwarded-prefix": "/leave"}):
        sent = client.post(
            "/review/decide", data=fields, headers={"sec-fetch-site": "same-origin", **headers}
        )
        assert sent.status_code in (403, 421)
    assert long_term(memory) == []


def test_a_form_that_never_ends_is_given_up(memory):
    client = opened(memory, limits=limited(InspectorLimits, form_seconds=0.2))
    fields = form(client.get("/").text, "/leave")
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    heads = {"host": "127.0.0.1", "origin": "http://127.0.0.1", "cookie": cookie}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/leave",
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in heads.items()],
    }
    pieces = [
        {"type": "http.request", "body": f"csrf={fields['csrf']}".encode(), "more_body": True}
    ]
    said = []

    async def receive():
        return pieces.pop() if pieces else await asyncio.Event().wait()

    async def told(message):
        said.append(message)

    asyncio.run(asyncio.wait_for(client.app(scope, receive, told), 20))
    assert said[0]["status"] == 408


def test_a_place_that_was_made_up_breaks_nothing_after_a_decision(memory):
    record(memory, FACT)
    record(memory, OTHER)
    client = opened(memory)
    done = decide(client, "approve", client.get("/review").text, place=NINES)
    assert done.status_code == 200
    assert len(long_term(memory)) == 1


@pytest.mark.parametrize("back", ["//evil.example", "/\\evil.example", "https://evil.example"])
def test_the_way_back_leads_to_no_other_host(memory, back):
    record(memory, FACT)
    client = opened(memory)
    asked = form(client.get("/review").text, "/review/decide", do="approve")
    refused = send(client, "/review/decide", {**asked, "do": "no such thing", "back": back})
    assert refused.status_code == 422
    assert "evil.example" not in refused.text


# What is somebody else's.


@pytest.mark.parametrize("neighbour", NEIGHBOURS, ids=["group", "tenant"])
def test_what_is_a_neighbours_cannot_be_seen_or_changed_by_its_id(tmp_path, neighbour):
    with TieredMemory.open("memory://", journal=tmp_path / "journal.jsonl") as memory:
        mine = memory.promote(FACT, SCOPE, by="ann").memories[0]
        entry = memory.record(f"{OTHER} The auditor asked for it.", neighbour).entry
        theirs = memory.promote(OTHER, neighbour, by="bob").memories[0]
        gone = memory.promote(f"{OTHER} It was said twice.", neighbour, by="bob").memories[0]
        receipt = memory.revoke(gone, neighbour, by="bob")
        client = opened(memory)
        for id_ in (entry.id, theirs.id, gone.id, theirs.document_id, receipt.id):
            for path in ("one", "text", "document", "revoke"):
                answer = client.get(f"/memories/{path}", params={"id": id_})
                assert answer.status_code == 404
                assert "Refunds" not in answer.text
        shown = client.get("/memories/one", params={"id": mine.id}).text
        supersede = form(shown, "/memories/supersede")
        for action, fields in (
            ("/memories/revoke", {"id": theirs.id}),
            ("/memories/supersede", {"id": theirs.id, "text": "Something else altogether."}),
            ("/memories/restore", {"id": gone.id, "receipt": receipt.id}),
            ("/memories/restore", {"id": mine.id, "receipt": receipt.id}),
            ("/audit/restore", {"receipt": receipt.id}),
            ("/review/decide", {"do": "approve", "group": f"{entry.id} {entry.id}"}),
        ):
            answer = send(client, action, {**supersede, **fields})
            assert "Refunds" not in answer.text
        for page in ("/", "/review", "/memories?state=all", "/memories?q=refunds", "/audit"):
            assert "Refunds" not in client.get(page).text
        assert memory.get(theirs.id, neighbour) == theirs
        assert memory.get(gone.id, neighbour).revocation == receipt.id
        assert memory.get(entry.id, neighbour).status == "pending"


@pytest.mark.parametrize(
    "path",
    [
        "/.env",
        "/program.py",
        "/link.md",
        "/../outside.md",
        "/notes.md/../.env",
        "//etc/passwd",
        "~/.ssh/id_rsa",
        "/.memoryware/history",
        "/notes.md\x00",
        "/",
        "",
    ],
)
def test_only_memory_files_can_be_read(memory, files, folder, path):
    client = opened(memory, files=files)
    undo = form(client.get("/files/show", params={"file": "/notes.md"}).text, "/files/undo")
    for answer in (
        client.get("/files/show", params={"file": path}),
        client.get("/files/plain", params={"file": path}),
        client.get("/files/compare", params={"file": path, "a": "now", "b": "now"}),
        send(client, "/files/undo", {**undo, "file": path}),
    ):
        assert answer.status_code in (404, 422)
        assert HIDDEN not in answer.text
    assert (folder / ".env").read_text() == HIDDEN


def test_who_needs_a_second_person_does_not_get_round_them():
    policy = PromotionPolicy(four_eyes=True)
    with TieredMemory.open("memory://", policy=policy) as memory:
        proposed = memory.propose(memory.record(FACT, SCOPE).entry, SCOPE, by="bob")
        old = memory.promote(proposed, SCOPE, by="ann").memories[0]
        record(memory, OTHER)
        client = opened(memory)
        fields = form(client.get("/memories/one?id=" + old.id).text, "/memories/supersede")
        assert send(client, "/memories/supersede", {**fields, "text": OTHER}).status_code == 409
        asked = form(client.get("/review").text, "/review/decide", do="propose")
        for do in ("approve", "edit"):
            answer = send(client, "/review/decide", {**asked, "do": do, "text": OTHER})
            assert answer.status_code == 409
        assert long_term(memory) == [FACT]


# Under a path of an app.


def test_under_a_path_every_link_form_and_cookie_stays_there(memory, files):
    record(memory, FACT)
    kept = memory.promote(OTHER, SCOPE, by="ann").memories[0]
    inner = inspector(memory, scope=SCOPE, by="ann", files=files)
    client = TestClient(Starlette(routes=[Mount("/tools/memory", inner)]), base_url=HOST)
    first = client.get("/tools/memory/", params={"token": inner.state.site.keys.token})
    assert first.url.path == "/tools/memory/"
    assert "Path=/tools/memory;" in first.history[0].headers["set-cookie"]
    one = f"memories/one?id={kept.id}"
    paths = ("", "review", "memories?q=server", one, "origins?of=person:ann", "files", "audit")
    for path in paths:
        page = client.get(f"/tools/memory/{path}").text
        links = re.findall(r'(?:href|src|action)="([^"#]+)', page)
        assert links
        assert [one for one in links if not one.startswith("/tools/memory/")] == []
    sent = form(client.get("/tools/memory/review").text, "/tools/memory/review/decide")
    done = send(client, "/tools/memory/review/decide", {**sent, "do": "approve"})
    assert done.url.path == "/tools/memory/review"
    assert sorted(long_term(memory)) == sorted([OTHER, FACT])


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
async def test_a_connection_that_asks_for_nothing_whole_is_closed(memory, sent):
    app = inspector(memory, scope=SCOPE, by="ann")
    config = uvicorn.Config(app, http=head_timeout(0.3), log_level="error", lifespan="off")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    loop = asyncio.get_running_loop()

    def made():
        return config.http_protocol_class(config, server.server_state, app_state={})

    listening = await loop.create_server(made, "127.0.0.1", 0)
    async with listening, asyncio.timeout(20):
        port = listening.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):  # a byte now and then does not keep it open
            writer.write(sent)
            sent = b"X: y\r\n" if sent else b""
        assert await reader.read() == b""
        writer.close()
