"""A change of group: only the groups that the visitor may see, in every link and form."""

import re
from functools import partial

import pytest

from inspector.rig import FACT, HOST, OTHER, SCOPE, Forms, form, opened, record, send, status
from limits import limited
from memoryware import MemoryScope
from memoryware.errors import SettingError
from memoryware.inspector import every_group, inspector
from memoryware.settings import InspectorLimits

SALES = MemoryScope(tenant="acme", group_id="sales")
IN_SALES = {"group": "sales"}


@pytest.fixture
def client(memory):
    """A visitor who may see two groups; a third one is not for them."""
    record(memory, FACT)
    memory.record(OTHER, SALES)
    memory.record("The board meets on Monday.", MemoryScope(tenant="acme", group_id="board"))
    return opened(memory, groups=["sales"])


def test_a_visitor_switches_to_another_group(client):
    page = client.get("/review").text
    [href] = [tag["href"] for _, tag in Forms(page).tags if tag.get("href", "") in SWITCH]
    sales = client.get(href).text
    assert OTHER.split(",")[0] in sales
    assert "staging" not in sales
    assert "<strong><bdi>sales</bdi></strong>" in sales


SWITCH = ("/review?group=sales",)


@pytest.mark.parametrize(
    "path", ["/", "/review", "/memories", "/memories?q=refunds", "/sessions", "/audit"]
)
def test_every_link_and_form_stays_in_the_group(client, path):
    page = client.get(path, params=IN_SALES).text
    page = re.sub(r'<ul aria-label="Groups">.*?</ul>', "", page)
    assert "staging" not in page
    links = [tag.get("href") or tag.get("action") for _, tag in Forms(page).tags]
    links = [link for link in links if link and not link.startswith(("#", "/static"))]
    gets = [tag for name, tag in Forms(page).tags if name == "form" and tag["method"] == "get"]
    own = {tag["action"] for tag in gets}
    assert [link for link in links if "group=sales" not in link and link not in own] == []
    assert page.count('<input type="hidden" name="group" value="sales">') >= len(gets)


def test_a_decision_is_made_in_the_group_that_is_shown(memory, client):
    page = client.get("/review", params=IN_SALES).text
    fields = form(page, "/review/decide?group=sales", do="approve")
    answer = send(client, "/review/decide?group=sales", fields)
    assert "it is in long-term memory now" in status(answer.text)
    assert memory.list(SALES, tier="longterm").total == 1
    elsewhere = send(client, "/review/decide", fields)  # the same form sent to another group
    assert "deleted" in status(elsewhere.text)
    undo = form(answer.text, "/undo?group=sales")
    assert "Nothing to undo" in status(send(client, "/undo", undo).text)
    assert memory.list(SALES, tier="longterm").items[0].record.revocation is None
    send(client, "/undo?group=sales", undo)
    assert memory.list(SALES, tier="longterm").items[0].record.revocation


@pytest.mark.parametrize("name", ["board", "nothing", "", " ", "SALES"])
def test_other_groups_look_like_groups_that_do_not_exist(client, name):
    answer = client.get("/review", params={"group": name})
    if not name:
        assert "staging" in answer.text
        return
    assert answer.status_code == 404
    assert "There is no group of this name, or you may not see it." in answer.text
    assert "Monday" not in answer.text


def test_no_choice_is_shown_without_other_groups(memory):
    assert 'aria-label="Groups"' not in opened(memory).get("/").text


def test_each_visitor_has_their_own_groups(memory, client):
    async def groups_of(name):
        return {"ann": ["sales"], "bob": ["board", "sales"]}[name]

    who = []
    options = {"authenticate": lambda request: who[0], "groups": groups_of}
    client = opened(memory, **options)
    for name, codes in (("ann", [200, 404]), ("bob", [200, 200])):
        who[:] = [name]
        answers = [client.get("/", params={"group": group}) for group in ("sales", "board")]
        assert [answer.status_code for answer in answers] == codes


def test_groups_that_cannot_be_listed_let_nobody_in(memory, client):
    def broken(_):
        raise RuntimeError("no directory")

    app = partial(opened, memory, authenticate=lambda request: "ann", groups=broken)
    assert app().get("/").status_code == 503


def test_many_groups_have_a_page_with_a_search(memory):
    names = [f"team-{number:02}" for number in range(60)]
    client = opened(memory, groups=names, limits=limited(InspectorLimits, rows=50))
    page = client.get("/").text
    assert "All 61 groups" in page
    assert page.count('href="/?group=team-') == InspectorLimits.listed_groups - 1
    first = client.get("/groups").text
    assert first.count('class="line"') == 50
    assert client.get("/groups", params={"from": "50"}).text.count('class="line"') == 11
    assert client.get("/groups", params={"q": "TEAM-07"}).text.count('class="line"') == 1


def test_every_group_of_the_tenant_is_listed(memory, client):
    memory.record(FACT, MemoryScope(tenant="other", group_id="foreign"))
    memory.record(FACT, MemoryScope(group_id="nameless"))
    page = opened(memory, groups=every_group(memory, "acme")).get("/groups").text
    names = re.findall(r'class="line"><a [^>]*><bdi>([^<]*)', page)
    assert names == ["support", "board", "sales"]


def test_one_text_is_no_list_of_groups(memory):
    with pytest.raises(SettingError, match="pass a list of names"):
        inspector(memory, scope=SCOPE, by="ann", groups="sales")
    assert HOST
