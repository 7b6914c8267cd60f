"""`GuardedBackend`: the owners' rules for everybody who writes, and every promise of a backend."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from doors import everyday
from kit import ScriptedModel, ask, call, tool_messages
from memoryware import (
    CompositeBackend,
    FilesystemBackend,
    FileToolsMiddleware,
    Guard,
    GuardedBackend,
    MemoryMiddleware,
    Source,
    StoreBackend,
)
from memoryware.errors import SettingError
from memoryware.sources import agreed
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)
from notes import Notes

TOKEN = "ghp_" + "a8F3kQ9zL2mN7pR4tV6wX1yB5cD0eG3hJ8kM"
NOTES = "".join(f"- Room {n} has {n} windows and {n + 1} doors.\n" for n in range(12))


@everyday("native")
class TestOverADisk(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    stores_empty_folders = True
    max_name_bytes = 255
    listing_size = 100
    big_file_chars = 400_000

    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: GuardedBackend(FilesystemBackend(in_memory / "root"))


@everyday()
class TestOverAStore(FileBackendConformance, AppendsConformance):
    reports_created_at = True
    listing_size = 100
    big_file_chars = 400_000

    @pytest.fixture
    def open_backend(self):
        store = InMemoryStore()
        return lambda: GuardedBackend(StoreBackend(store=store, namespace=("a",)))


BACKENDS = {
    "disk": lambda tmp: FilesystemBackend(tmp),
    "store": lambda _: StoreBackend(store=InMemoryStore(), namespace=("a",)),
    "foreign": lambda _: Notes({}),
    "composite": lambda tmp: CompositeBackend(FilesystemBackend(tmp), {"/m/": Notes({})}),
}


@pytest.fixture(params=BACKENDS)
def inner(request, tmp_path):
    return BACKENDS[request.param](tmp_path)


def text_of(backend, path):
    (got,) = backend.download_files([path])
    return None if got.content is None else bytes(got.content).decode()


def test_secrets_are_refused_by_every_write(inner):
    inner.write("/a.md", "- likes tea\n")
    guarded = GuardedBackend(inner, ["/a.md"])
    results = [
        guarded.write("/a.md", f"- likes tea\n{TOKEN}"),
        guarded.append("/a.md", f"token {TOKEN}"),
        guarded.edit("/a.md", "tea", TOKEN),
    ]
    assert all("secrets are never stored" in one.error for one in results)
    assert not any(TOKEN in one.error for one in results)
    (stored,) = guarded.upload_files([("/a.md", f"- likes tea\n{TOKEN}".encode())])
    assert stored.error == "secret_refused"
    assert text_of(inner, "/a.md") == "- likes tea\n"


async def test_secrets_are_refused_by_the_async_doors(inner):
    inner.write("/a.md", "- likes tea\n")
    guarded = GuardedBackend(inner, ["/a.md"])
    results = [
        await guarded.awrite("/a.md", f"- likes tea\n{TOKEN}"),
        await guarded.aappend("/a.md", f"token {TOKEN}"),
        await guarded.aedit("/a.md", "tea", TOKEN),
    ]
    assert all("secrets are never stored" in one.error for one in results)
    assert text_of(inner, "/a.md") == "- likes tea\n"


def test_a_secret_may_be_taken_out_instead(inner):
    guarded = GuardedBackend(inner, ["/a.md"], guard=Guard(on_secret="redact"))
    assert guarded.write("/a.md", f"- key {TOKEN} of Bo\n").error is None
    assert guarded.append("/a.md", "- tea").error is None
    text = text_of(inner, "/a.md")
    assert TOKEN not in text
    assert text.endswith("] of Bo\n- tea\n")


def test_a_secret_that_is_put_together_from_two_writes_is_refused(inner):
    guarded = GuardedBackend(inner, ["/a.md"])
    assert guarded.write("/a.md", f"- token {TOKEN[:12]}X\n").error is None
    assert guarded.edit("/a.md", f"{TOKEN[:12]}X", TOKEN).error


def test_a_read_only_file_is_refused_and_others_are_free(inner):
    inner.write("/team.md", "- Be kind.\n")
    guarded = GuardedBackend(inner, [Source("/team.md", writable=False), "/me.md"])
    for error in (
        guarded.write("/team.md", "x").error,
        guarded.edit("/team.md", "kind", "quick").error,
        guarded.append("/team.md", "x").error,
        guarded.delete("/team.md").error,
    ):
        assert "may only be read" in error
        assert "/me.md" in error
    assert guarded.write("/me.md", "- tea").error is None
    assert guarded.write("/other.txt", TOKEN).error is None
    assert text_of(inner, "/team.md") == "- Be kind.\n"


def test_another_spelling_does_not_get_around_a_read_only_file(tmp_path):
    (tmp_path / "team.md").write_text("- Be kind.\n")
    (tmp_path / "link.md").symlink_to("team.md")
    backend = FilesystemBackend(tmp_path)
    guarded = GuardedBackend(backend, [Source("team.md", writable=False)])
    for path in ("./team.md", "//team.md", "/link.md", f"{tmp_path}/team.md", "\\team.md"):
        assert "may only be read" in guarded.append(path, "x").error
    assert (tmp_path / "team.md").read_text() == "- Be kind.\n"


def test_a_folder_is_not_deleted_with_a_read_only_file_in_it(inner):
    inner.write("/d/team.md", "- Be kind.\n")
    guarded = GuardedBackend(inner, [Source("/d/team.md", writable=False)])
    assert guarded.delete("/d").error
    assert text_of(inner, "/d/team.md") == "- Be kind.\n"


def test_what_needs_consent_passes_with_it_only(inner):
    inner.write("/a.md", NOTES)
    guarded = GuardedBackend(inner, ["/a.md"])
    assert "nobody has approved" in guarded.write("/a.md", "- One.\n").error
    assert text_of(inner, "/a.md") == NOTES
    with agreed():
        assert guarded.write("/a.md", "- One.\n").error is None
        assert "never stored" in guarded.append("/a.md", TOKEN).error
    assert text_of(inner, "/a.md") == "- One.\n"


def test_hidden_regions_are_put_back_by_every_write(inner):
    block = "<!-- BEGIN x -->\nmade by a tool\n<!-- END x -->\n"
    inner.write("/a.md", f"- tea\n{block}- milk\n")
    guarded = GuardedBackend(inner, ["/a.md"])
    assert guarded.write("/a.md", "- tea\n- milk\n- water\n").error is None
    assert text_of(inner, "/a.md") == f"- tea\n{block}- milk\n- water\n"
    assert guarded.edit("/a.md", "made by a tool", "mine").error is None
    assert text_of(inner, "/a.md") == f"- tea\n{block}- milk\n- water\n"


def test_the_encoding_of_a_file_is_kept_also_where_its_text_is_mended(tmp_path):
    guard = Guard(on_secret="redact")
    guarded = GuardedBackend(FilesystemBackend(tmp_path), ["/a.md"], guard=guard)
    (stored,) = guarded.upload_files([("/a.md", f"- tea\r\n- {TOKEN}\r\n".encode("utf-16"))])
    assert stored.error is None
    assert guarded.append("/a.md", "- milk").error is None
    text = (tmp_path / "a.md").read_bytes().decode("utf-16")
    assert text.startswith("- tea\r\n- [redacted: ")
    assert text.endswith("]\r\n- milk\r\n")


def test_consent_of_a_run_reaches_a_guarded_backend_below_its_tools():
    notes = Notes({"/a.md": "- likes tea\n"})
    sources = [Source("/a.md", writable="ask")]
    guarded = GuardedBackend(notes, sources)
    model = ScriptedModel(call("append_file", file_path="/a.md", text="- x"))
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=guarded, sources=sources),
            FileToolsMiddleware(backend=guarded),
        ],
        checkpointer=InMemorySaver(),
    )
    assert ask(agent, thread="1")["__interrupt__"]
    resume = Command(resume={"decisions": [{"type": "approve"}]})
    agent.invoke(resume, {"configurable": {"thread_id": "1"}})
    assert notes.files == {"/a.md": "- likes tea\n- x\n"}


def test_an_agent_without_memory_is_held_to_the_rules_and_the_refusal_is_told():
    notes = Notes({"/a.md": "- likes tea\n"})
    tools = FileToolsMiddleware(backend=GuardedBackend(notes, [Source("/a.md", writable=False)]))
    model = ScriptedModel(call("append_file", file_path="/a.md", text="- x"))
    agent = create_agent(model, middleware=[tools])
    events = list(agent.stream({"messages": [("user", "hi")]}, stream_mode="custom"))
    assert [one["reason"] for one in events] == ["read_only"]
    assert events[0]["path"] == "/a.md"
    assert notes.files == {"/a.md": "- likes tea\n"}


def test_wrong_sources_are_refused_when_built():
    with pytest.raises(SettingError):
        GuardedBackend(Notes({}), "/a.md")
    with pytest.raises(SettingError):
        GuardedBackend("disk", ["/a.md"])


def test_an_agent_of_deepagents_is_held_to_the_rules_with_its_own_tools(tmp_path):
    from deepagents import create_deep_agent

    (tmp_path / "a.md").write_text("- likes tea\n")
    guarded = GuardedBackend(FilesystemBackend(tmp_path), [Source("/a.md", writable=False)])
    model = ScriptedModel(
        call("edit_file", file_path="/a.md", old_string="tea", new_string="milk"),
        call("write_file", file_path="/b.md", content="free"),
    )
    result = ask(create_deep_agent(model, backend=guarded))
    refused, done = tool_messages(result)
    assert "may only be read" in refused.text
    assert (tmp_path / "a.md").read_text() == "- likes tea\n"
    assert (tmp_path / "b.md").read_text() == "free"
    assert done.status == "success"


def test_bytes_that_look_the_same_need_consent_as_well(tmp_path):
    (tmp_path / "a.md").write_bytes(b"- caf\xe9\n")
    guarded = GuardedBackend(FilesystemBackend(tmp_path), [Source("/a.md", writable="ask")])
    assert "nobody has approved" in guarded.write("/a.md", "- caf\ufffd\n").error
    assert (tmp_path / "a.md").read_bytes() == b"- caf\xe9\n"
