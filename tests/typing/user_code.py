"""Code as a user writes it, for a type checker; it is never run.

Where an ignore stands, the line is wrong on purpose: mypy must say so, or complains that
the ignore is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_type

from deepagents import create_deep_agent as their_create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from deepagents.backends import CompositeBackend as TheirComposite
from deepagents.backends import FilesystemBackend as TheirDisk
from deepagents.backends import StateBackend as TheirState
from deepagents.backends import StoreBackend as TheirShelf
from deepagents.middleware import FilesystemMiddleware
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain.agents.middleware.types import ModelRequest
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.memory import InMemoryStore

from memoryware import (
    AgentConfig,
    BackendProtocol,
    CompositeBackend,
    ContextBuilder,
    DeepMemoryMiddleware,
    Entry,
    FileLimits,
    FilesystemBackend,
    FileToolsMiddleware,
    Guard,
    GuardedBackend,
    HistoryBackend,
    Imports,
    Layout,
    Memory,
    MemoryLimits,
    MemoryMiddleware,
    MemoryRetrievalNode,
    MemoryScope,
    MemorywareError,
    Origin,
    Promotion,
    Ranking,
    Recall,
    Source,
    StateBackend,
    StoreBackend,
    TieredMemory,
    TieredMemoryMiddleware,
    TierLimits,
    ToolLimits,
    acting,
    create_deep_agent,
    discover,
    file_memory,
    load_config,
    remember,
    with_memory,
)
from memoryware.backends import (
    BackendFactory,
    BackendLike,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileInfo,
    GrepMatch,
    Version,
    WriteResult,
    as_deepagents,
)
from memoryware.backends.protocol import Appends, Fingerprints
from memoryware.errors import FileError, PathRefused, SettingError
from memoryware.guard import Finding
from memoryware.local import LocalEmbeddings
from memoryware.middleware import append_to_system_message, redact_memory
from memoryware.settings import HistoryLimits
from memoryware.sources import Leak, agreed, ascan, scan
from memoryware.tiers import ContextItem, Counts, Headings, Labels, Refusal, default_filters


@dataclass
class Caller:
    user_id: str


# Backends.

disk = FilesystemBackend(root_dir=Path("notes"), limits=FileLimits(lock_timeout=5))
shelf = StoreBackend(store=InMemoryStore(), namespace=("memory", "ann"))
per_user = StoreBackend(namespace=lambda runtime: ("memory", runtime.context.user_id))
tree = CompositeBackend(default=StateBackend(), routes={"/notes/": disk, "/shelf/": shelf})
any_backend: BackendProtocol = tree
quick: Fingerprints = disk
adding: Appends = shelf

assert_type(disk.write("/a.md", "text"), WriteResult)
assert_type(disk.edit("/a.md", "text", "more", replace_all=True).occurrences, int | None)
assert_type(disk.read("/a.md").file_data, FileData | None)
assert_type(tree.glob("*.md").matches, list[FileInfo] | None)
assert_type(tree.grep("text", max_count=3).matches, list[GrepMatch] | None)
assert_type(shelf.download_files(["/a.md"]), list[FileDownloadResponse])
assert_type(quick.fingerprint(["/a.md"]), list[str | None])

StoreBackend(namespace=7)  # type: ignore[arg-type]
CompositeBackend(default=disk, routes=["/notes/"])  # type: ignore[arg-type]
disk.write("/a.md", b"bytes")  # type: ignore[arg-type]


async def async_doors() -> None:
    assert_type(await disk.awrite("/a.md", "text"), WriteResult)
    assert_type(await shelf.aedit("/a.md", "text", "more"), EditResult)


# A backend of one's own.


class Notebook(BackendProtocol):
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [FileDownloadResponse(path, error="file_not_found") for path in paths]

    def write(self, file_path: str, content: str) -> WriteResult:
        self.texts[file_path] = content
        return WriteResult(path=file_path)


class BlockingNotes:
    """A backend that derives from nothing."""

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [FileDownloadResponse(path, error="file_not_found") for path in paths]

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> str:
        return ""


# Anybody's backend is taken, and what is none is refused.

their_disk = TheirDisk(root_dir=".", virtual_mode=True)
theirs: list[BackendLike] = [
    their_disk,
    TheirState(),
    TheirShelf(store=InMemoryStore(), namespace=lambda _: ("memory",)),
    TheirComposite(default=their_disk, routes={}),
    Notebook(),
    BlockingNotes(),
]


def of_runtime(runtime: Any) -> StoreBackend:
    return StoreBackend(runtime, namespace=("memory",))


made_of: BackendFactory = of_runtime
for backend in theirs:
    MemoryMiddleware(backend=backend, sources=["/a.md"])
    FileToolsMiddleware(backend=backend)
    DeepMemoryMiddleware(backend)
    HistoryBackend(GuardedBackend(backend))
    CompositeBackend(default=backend, routes={"/more/": backend})
    create_deep_agent("provider:name", backend=backend)
    scan(backend, ["/a.md"])
MemoryMiddleware(backend=of_runtime, sources=["/a.md"])
FileToolsMiddleware(backend=lambda runtime: StoreBackend(runtime, namespace=("memory",)))
create_deep_agent("provider:name", backend=of_runtime, memory=["/a.md"])
MemoryMiddleware(backend="notes", sources=["/a.md"])  # type: ignore[arg-type]
MemoryMiddleware(backend=7, sources=["/a.md"])  # type: ignore[arg-type]
FileToolsMiddleware(backend=Path("notes"))  # type: ignore[arg-type]
DeepMemoryMiddleware(InMemoryStore())  # type: ignore[arg-type]
create_deep_agent("provider:name", backend={"/": disk})  # type: ignore[arg-type]
HistoryBackend(of_runtime)  # type: ignore[arg-type]
CompositeBackend(default="notes", routes={})  # type: ignore[arg-type]

# Ours in deepagents, which declares a base class of its own.

TheirComposite(default=as_deepagents(disk), routes={"/shelf/": as_deepagents(shelf)})
FilesystemMiddleware(backend=as_deepagents(HistoryBackend(disk)))
their_create_deep_agent("provider:name", backend=as_deepagents(GuardedBackend(tree)))
their_create_deep_agent(
    "provider:name", middleware=[MemoryMiddleware(backend=disk, sources=["/a.md"])]
)
FilesystemMiddleware(backend=as_deepagents("notes"))  # type: ignore[arg-type]

# Middleware and agents.

memory = MemoryMiddleware(
    backend=disk,
    sources=[Source("/team.md", owner="team", writable=False), "/AGENTS.md"],
    refresh="call",
    on_error="warn",
    guidelines=None,
    placement="prepend",
    count_tokens=len,
    limits=MemoryLimits(total_tokens=5000),
)
tools = FileToolsMiddleware(
    backend=disk,
    tools=["read_file", "append_file"],
    allow=["/notes/**"],
    read_only=["/team.md"],
    limits=ToolLimits(read_lines=50),
)
made: list[AgentMiddleware[Any, Any, Any]] = [memory, tools, DeepMemoryMiddleware(disk)]

MemoryMiddleware(backend=disk, sources=["/a.md"], refresh="sometimes")  # type: ignore[arg-type]
MemoryMiddleware(backend=disk, sources=["/a.md"], tools=True)  # type: ignore[arg-type]
MemoryMiddleware(backend=disk)  # type: ignore[call-arg]
FileToolsMiddleware(backend=disk, tools=["rm"])  # type: ignore[list-item]


def plain(model: BaseChatModel) -> None:
    backend = FilesystemBackend(root_dir=".")
    agent = create_agent(
        model,
        middleware=[
            MemoryMiddleware(backend=backend, sources=["/AGENTS.md"]),
            FileToolsMiddleware(backend=backend),
            HumanInTheLoopMiddleware(interrupt_on={"edit_file": True}),
        ],
        context_schema=Caller,
        checkpointer=InMemorySaver(),
    )
    agent.invoke({"messages": []}, context=Caller("ann"))  # pyright: ignore[reportUnknownMemberType]


def whole(model: BaseChatModel) -> CompiledStateGraph[Any, Any, Any, Any]:
    extra: Sequence[AgentMiddleware[Any, Any, Any]] = file_memory(["/AGENTS.md"], disk)
    config = load_config("config.json")
    assert_type(config, AgentConfig)
    assert_type(config.memory_files, tuple[str, ...])
    return create_deep_agent(
        model,
        [],
        memory=["/AGENTS.md"],
        backend=tree,
        middleware=extra,
        interrupt_on={"edit_file": True},
        config=config,
        checkpointer=InMemorySaver(),
    )


def hooks(request: ModelRequest[Any]) -> None:
    assert_type(memory.modify_request(request), ModelRequest[Any])
    assert_type(append_to_system_message(None, "text"), SystemMessage)
    redact_memory({"messages": []})


# Owners, history, secrets.

history = HistoryBackend(disk, watch=["*.md"], keep=HistoryLimits(versions=100))
assert_type(history.log("/AGENTS.md"), list[Version])
assert_type(history.undo("/AGENTS.md", to=3, reason="no"), Version)
assert_type(history.diff("/AGENTS.md", 1), str)
guard = Guard(on_secret="redact", personal=["email"], allow=["example"])
assert_type(guard.scan("text"), list[Finding])
assert_type(scan(disk, ["/AGENTS.md"], guard=guard), list[Leak])
assert_type(discover(".", layout=Layout(names=["AGENTS.md"])), list[Source])
guarded = GuardedBackend(history, [Source("/a.md", owner="user", writable="ask")], guard=guard)
auto = MemoryMiddleware(sources="auto", imports=Imports(roots=["/docs"]), nested=False)
Source("/a.md", owner="boss")  # type: ignore[arg-type]
Source("/a.md", writable="maybe")  # type: ignore[arg-type]
Guard(on_secret="keep")  # type: ignore[arg-type]


async def looking_back() -> None:
    assert_type(await history.alog("/AGENTS.md"), list[Version])
    assert_type(await ascan(disk, ["/AGENTS.md"]), list[Leak])
    with acting(user="ann", reason="clean-up"), agreed():
        await guarded.awrite("/a.md", "text")
    assert_type(MemoryScope.current().user_id, str | None)


# Errors are the built-ins that fit.


def errors() -> None:
    try:
        disk.read("/../a.md")
    except PathRefused as refused:
        assert_type(refused.path, str)
        also: ValueError = refused
        more: FileError = refused
        root: MemorywareError = refused
        del also, more, root
    wrong: ValueError = SettingError("no")
    del wrong


# Tiered memory.


@dataclass
class Asker:
    group_id: str
    user_id: str


async def tiers(model: BaseChatModel, embeddings: Embeddings) -> None:
    memory = TieredMemory.open("sqlite:///memory.db", embeddings=embeddings, on_error="raise")
    TieredMemory.open("memory://", embeddings="local")
    TieredMemory.open("memory://", embeddings=LocalEmbeddings(batch=8))
    known: bool = LocalEmbeddings(model="multilingual").supports("我喜欢喝咖啡")
    print(known)
    TieredMemory.open("memory://", embeddings=7)  # type: ignore[arg-type]
    TieredMemory.open("memory://", on_eror="raise")  # type: ignore[call-arg]
    TieredMemory.open("memory://", working_ranking="newest")  # type: ignore[arg-type]
    TieredMemory.open("memory://", reranker=Longest(), ranking=Ranking(sessions=True))
    TieredMemory.open("memory://", reranker=NoGossip())  # type: ignore[arg-type]
    create_agent(model, middleware=[TieredMemoryMiddleware(memory)], context_schema=Asker)
    TieredMemoryMiddleware(memory, placement="prompt")  # type: ignore[arg-type]

    scope = MemoryScope(group_id="acme")
    for insight in memory.digest(scope).insights:
        assert_type(memory.promote(insight, by="ann"), Promotion)
    memory.promote("a text", scope)  # type: ignore[call-arg]
    recall = await memory.aretrieve("which database?", scope, explain=True)
    assert_type(recall, Recall)
    assert_type(recall[0], ContextItem)
    assert_type(recall.candidates[0].ranks["words"], int)
    receipt = memory.revoke(Origin("tool", "web"), scope, by="ann")
    assert_type(memory.restore(receipt, by="ann"), Counts)
    Origin("website", "x")  # type: ignore[arg-type]
    assert_type(memory.list(scope, tier="working").items[0].record, Entry | Memory)
    memory.list(scope, tier="warm")  # type: ignore[arg-type]
    assert_type(ContextBuilder(memory).build("q", scope).text, str)
    ContextBuilder(memory, headings=Headings(persona="Who"), labels=Labels(working="now"))


class Longest:
    """A reranker of one's own."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(one)) for one in texts]


class NoGossip:
    """A filter of one's own."""

    def check(self, entry: Entry, recent: Sequence[Entry]) -> Refusal | None:
        return Refusal("gossip") if "gossip" in entry.content else None


def nodes(memory: TieredMemory, builder: StateGraph[Any]) -> None:
    TieredMemory.open("memory://", filters=[*default_filters(TierLimits(), None), NoGossip()])

    @remember(memory=memory, role="agent")
    def write(state: dict[str, str]) -> dict[str, str]:
        return {"content": state["topic"]}

    assert_type(write({"topic": "x"}), dict[str, str])
    remember(write, role="critic")  # type: ignore[call-overload]
    builder.add_node("recall", MemoryRetrievalNode(memory))  # pyright: ignore[reportUnknownMemberType]
    assert_type(with_memory(builder, memory, roles={"recall": "other"}), StateGraph[Any])
