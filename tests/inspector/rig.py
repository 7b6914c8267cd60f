"""What the tests of the inspector share: a memory, a visitor, and what a page has on it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from starlette.testclient import TestClient

from memoryware import MemoryScope, TieredMemory
from memoryware.inspector import Keys, inspector
from memoryware.tiers.provenance import Origin, Provenance

SCOPE = MemoryScope(tenant="acme", group_id="support")
HOST = "http://127.0.0.1:8000"
WEB = Provenance(Origin("tool", "web_search"))
FACT = "The staging server moves to Frankfurt on 12 May, and the old address answers until June."
OTHER = "Refunds above two hundred euros need a second signature since the audit in March."


def opened(memory: TieredMemory, **options: Any) -> TestClient:
    """A browser in which the printed address was opened."""
    keys = options.pop("keys", None) or Keys()
    app = inspector(memory, scope=SCOPE, **{"by": "ann", **options}, keys=keys)
    client = TestClient(app, base_url=HOST, follow_redirects=True)
    if "authenticate" not in options:
        assert client.get("/", params={"token": keys.token}).status_code == 200
    return client


def same_browser(client: TestClient) -> TestClient:
    """Another tab."""
    return TestClient(client.app, base_url=HOST, cookies=client.cookies)


def record(memory: TieredMemory, text: str, **how: Any) -> str:
    return memory.record(text, SCOPE, **how).entry.id


class Forms(HTMLParser):
    """The forms of a page, each with its address and its fields."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.tags.append((tag, said))
        if tag == "form":
            self.forms.append((said.get("action") or "", {}))
        elif tag == "input" and self.forms and "name" in said and "form" not in said:
            self.forms[-1][1][str(said["name"])] = said.get("value") or ""


def form(page: str, action: str, **having: str) -> dict[str, str]:
    """The fields of the first form that goes to an address and has these values."""
    for path, fields in Forms(page).forms:
        if path == action and having.items() <= fields.items():
            return dict(fields)
    raise AssertionError(f"no form goes to {action} with {having}")


def send(client: TestClient, action: str, fields: dict[str, Any], **headers: str) -> Any:
    """Send a form as a browser does from a page of the same host."""
    return client.post(action, data=fields, headers={"origin": HOST, **headers})


def decide(client: TestClient, do: str, page: str, **more: str) -> Any:
    fields = form(page, "/review/decide", do=do)
    return send(client, "/review/decide", {**fields, **more})


def status(page: str) -> str:
    """What the page says was done."""
    found = re.search(r'<div id="status"[^>]*>(.*?)</div>', page, re.DOTALL)
    assert found is not None
    return re.sub("<[^>]+>", "", found[1])


def long_term(memory: TieredMemory) -> list[str]:
    return [one.content for one in memory.list(SCOPE, tier="longterm").items]
