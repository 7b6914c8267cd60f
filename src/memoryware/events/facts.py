"""What an event says, event by event: a reader may rely on every key that stands here.

An event is one flat dictionary: the keys of `EventPayload` and those of its own class. It names
files, people, codes, numbers and digests, and no text of a memory file.
"""

# Without the import of annotations: the keys and their kinds are read when this is loaded.

from typing import Final, Literal, NotRequired, TypeAlias, TypedDict, get_args

BlockReason = Literal[
    "rules",
    "read_only",
    "secret",
    "hidden_region",
    "lost_text",
    "not_approved",
    "from_outside",
]
"""Why a change was refused; "rules" are those of the file tools, or the file's permissions."""
AskReason = Literal["consent", "lost_text", "from_outside"]
"""Why a person has to agree first."""
Tier = Literal["quarantine", "working", "long_term"]
"""Where a tier keeps its entries."""


class EventPayload(TypedDict):
    """The keys that every event has."""

    type: Literal["memory"]
    """Always "memory", to tell these events from others of the same stream."""
    memory: str | None
    """The name of the middleware; an agent may have several memories."""
    user: str | None
    """The user on whose behalf it happened, as the context of the run says."""
    agent: str | None
    """The agent that did it."""
    thread: str | None
    """The conversation in which it happened."""
    content: NotRequired[dict[str, str]]
    """Texts by path, or the whole block. The key is there only with `trace_content=True`."""


class Loaded(EventPayload):
    """Memory was read."""

    event: Literal["loaded"]
    backend: str
    """The class of the backend it was read from."""
    sources: list[str]
    """Files that were read."""
    missing: list[str]
    """Sources for which there is no file."""
    failed: list[str]
    """Sources that could not be read."""
    codes: list[str]
    """Why each of these could not be read; "other" for what has no code."""
    suspect: list[str]
    """Files in which a secret was found."""
    characters: int
    """Characters of all texts together."""
    ms: float
    """Milliseconds that reading took."""


class Injected(EventPayload):
    """Memory was put into a model call."""

    event: Literal["injected"]
    sources: list[str]
    """Files that are shown; of tiered memory, ids of entries and memories."""
    cut: list[str]
    """Files of which not everything is shown."""
    characters: int
    """Characters of the memory block."""
    tokens: int
    """Tokens of the memory block, as the middleware counts them."""


class Written(EventPayload):
    """A memory file was changed."""

    event: Literal["written"]
    path: str
    """The file."""
    tool: str
    """The tool that changed it."""
    tool_call: str
    """The id of its call, "" outside a call."""
    lines_added: int
    """Lines that are new."""
    lines_removed: int
    """Lines that are gone."""
    characters: int
    """Characters of the whole text now; 0 for a deleted file."""
    digest_before: str
    """A digest of the bytes before; "" for no file."""
    digest_after: str
    """A digest of the bytes now; "" for a deleted file."""
    redacted: list[str]
    """Kinds of secrets that were taken out of the text before it was stored."""


class WriteBlocked(EventPayload):
    """A change was refused, and nothing was stored."""

    event: Literal["write_blocked"]
    path: str
    """The file, as the caller named it."""
    tool: str
    """The tool that was to change it."""
    tool_call: str
    """The id of its call, "" outside a call."""
    reason: BlockReason
    """Why it was refused."""
    kinds: list[str]
    """Kinds of what was found in the text, such as "password"."""
    lines: list[int]
    """The line of each of these, counted from 1."""


class ApprovalAsked(EventPayload):
    """A change waits until a person has agreed."""

    event: Literal["approval_asked"]
    path: str
    """The file."""
    tool: str
    """The tool that is to change it."""
    tool_call: str
    """The id of its call, "" outside a call."""
    reason: AskReason
    """Why a person is asked."""


class Recorded(EventPayload):
    """Entries went into a tier."""

    event: Literal["recorded"]
    tier: Tier
    """The tier."""
    entries: int
    """How many."""
    characters: int
    """Characters of their texts."""


class Rejected(EventPayload):
    """An entry was not taken into a tier."""

    event: Literal["rejected"]
    tier: Tier
    """The tier."""
    reason: str
    """A code that says why."""


class Retrieved(EventPayload):
    """Entries were recalled from the tiers."""

    event: Literal["retrieved"]
    working: int
    """Entries from working memory."""
    long_term: int
    """Entries from long-term memory."""
    best: float | None
    """The highest similarity; None where none was measured."""
    ms: float
    """Milliseconds that it took."""


class RetrievalError(EventPayload):
    """Recalling failed; the run went on without."""

    event: Literal["retrieval_error"]
    error: str
    """The class of the error."""
    ms: float
    """Milliseconds until it failed."""


class Promoted(EventPayload):
    """Entries went up to a higher tier."""

    event: Literal["promoted"]
    tier: Tier
    """The tier in which they are now."""
    entries: int
    """How many."""


class NodeState(EventPayload):
    """A node of memory in a graph has begun or ended."""

    event: Literal["node_state"]
    status: Literal["running", "completed"]
    """Where it is."""
    characters: int
    """Characters of the context that it has made; 0 at the beginning."""


MemoryEvent: TypeAlias = (
    Loaded
    | Injected
    | Written
    | WriteBlocked
    | ApprovalAsked
    | Recorded
    | Rejected
    | Retrieved
    | RetrievalError
    | Promoted
    | NodeState
)
"""Any event; comparing its `event` tells a type checker which one it is."""

EventName = Literal[
    "loaded",
    "injected",
    "written",
    "write_blocked",
    "approval_asked",
    "recorded",
    "rejected",
    "retrieved",
    "retrieval_error",
    "promoted",
    "node_state",
]
"""Every event that memoryware sends."""
EVENT_NAMES: Final[tuple[EventName, ...]] = get_args(EventName)

KINDS: Final[dict[EventName, type]] = {
    get_args(kind.__annotations__["event"])[0]: kind for kind in get_args(MemoryEvent)
}
"""The class of each event."""
COMMON: Final = frozenset(EventPayload.__required_keys__)
"""The keys of every event."""
LISTS: Final = frozenset(
    key
    for kind in KINDS.values()
    for key, annotation in kind.__annotations__.items()
    if str(annotation).startswith("list[")
)
"""The keys that hold a list, in whichever event."""
OWN_KEYS: Final[dict[EventName, tuple[str, ...]]] = {
    name: tuple(
        key
        for key in kind.__annotations__
        if key not in EventPayload.__annotations__ and key != "event"
    )
    for name, kind in KINDS.items()
}
"""The keys that an event has beside those of all, in the order in which they are told."""
