"""The scope of a memory operation: tenant, group, user, agent, session and node.

A scope comes from the authenticated user of a server, then from the context and the config of
a run, and never from what a model wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from numbers import Integral
from typing import Any, Final, Self
from uuid import UUID

from memoryware import _langchain
from memoryware.errors import SettingError

GROUP_KEYS: Final = ("group_id", "group_uuid", "project_id")
"""The names under which a context or config may carry the group; the first that is there wins."""
PERSONAL_GROUP: Final = "user:"
"""Begins the name of the group of one person."""
PERSONAL_AGENT: Final = "personal:"
"""Begins the `agent_id` of memories of a group that are shown to one user alone."""
LONGEST_NAME: Final = 1000
"""Characters that a name or an id may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScope:
    """On whose behalf something happens; a part that is not known is None, or "".

    Parts are passed by name, so that a tenant is not mistaken for a group. Operations of
    `TieredMemory` also accept a string, the name of a group: `record(text, "shop")` is
    `record(text, MemoryScope(group_id="shop"))`.

    Attributes:
        tenant: The customer or installation.
        group_id: The project or team that shares memory. Memories without a group are not shared.
        user_id: The person.
        agent_id: The persona.
        session_id: The conversation: the thread of a run.
        node_id: The step of the graph.

    Raises:
        SettingError: For a part that is no text, has a NUL or half a character in it, or more
            than 1000 characters. The message names the part and not its value.
    """

    tenant: str | None = None
    group_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    node_id: str | None = None

    def __post_init__(self) -> None:
        for name in MemoryScope.__slots__:
            value = getattr(self, name)
            if isinstance(value, Enum):  # drivers and `str()` disagree about members of `StrEnum`
                value = read_id(name, value, "the scope")
                object.__setattr__(self, name, value)
            if value is not None:
                check_name(name, value)

    @classmethod
    def personal(cls, user_id: str = "", *, tenant: str | None = None) -> Self:
        """Return the scope of a person's own memory, which nobody else reads.

        As `scope=` of a middleware or a node, without an id, it is the memory of the user of each
        run that names no group:
        `TieredMemoryMiddleware(memory, scope=MemoryScope.personal())`.

        Args:
            user_id: The person; "" for the user of each run.
            tenant: The tenant.

        Returns:
            The scope. Its group is `user:<id>`.

        Example:
            >>> memory.record("I prefer metric units.", MemoryScope.personal("ann"), role="user")
        """
        return cls(tenant=tenant, group_id=f"{PERSONAL_GROUP}{user_id}", user_id=user_id or None)

    @property
    def is_personal(self) -> bool:
        """Whether its group is the memory of one person; see `personal`."""
        return bool(self.group_id) and str(self.group_id).startswith(PERSONAL_GROUP)

    @classmethod
    def of(
        cls, runtime: Any = None, config: Any = None, *, group_keys: Sequence[str] = GROUP_KEYS
    ) -> MemoryScope:
        """Return the scope of a run.

        The user whom a server has authenticated comes first, because a client of that server
        writes both `context` and `configurable`: the `user_id` of such a client is not read at
        all. Tenant and group that the authenticated user carries (`user["tenant_id"]`) come first
        for the same reason. Then come the context and the `configurable` of the config.

        Args:
            runtime: The runtime of the run.
            config: The config of the run.
            group_keys: The names under which they may carry the group; the first that has a
                value wins.

        Returns:
            The scope; parts that nobody names are None.

        Raises:
            SettingError: For an id that cannot be read: neither text, a whole number, a UUID nor
                an Enum with one of these types. Ignoring it would mix up callers.
        """
        settings = config if isinstance(config, Mapping) else {}
        metadata = settings.get("metadata") or {}
        client = [
            _Carrier(name, holder)
            for name, holder in (
                ("the context", getattr(runtime, "context", None)),
                ("configurable", settings.get("configurable")),
            )
            if holder is not None
        ]
        user = _authenticated_user(runtime, settings.get("configurable"))
        signed_in = [] if user is None else [_Carrier("the authenticated user", user)]
        # Not one lookup over all carriers: with two spellings of a key, such as `tenant` and
        # `tenant_id`, a client could use the one that the authenticated user does not have.
        tenant_keys = ("tenant", "tenant_id")
        tenant = _first_id(tenant_keys, signed_in) or _first_id(tenant_keys, client)
        group = _first_id(group_keys, signed_in) or _first_id(group_keys, client)
        # A blank identity must not let the client say who it is.
        user_id = (
            _first_id(("identity",), signed_in) if signed_in else _first_id(("user_id",), client)
        )
        session = _first_id(("session_id", "thread_id"), client)
        if session is None:
            info = getattr(runtime, "execution_info", None)
            session = read_id("thread_id", getattr(info, "thread_id", None))
        node = _first_id(("node_id",), client)
        if node is None:
            space = str(metadata.get("langgraph_checkpoint_ns") or "")
            outer = space.partition(":")[0] if "|" in space else ""
            node = read_id("langgraph_node", outer or metadata.get("langgraph_node"))
        agent = _first_id(("agent_id",), client)
        if agent is None:
            agent = read_id("lc_agent_name", metadata.get("lc_agent_name"))
        return cls(
            tenant=tenant,
            group_id=group,
            user_id=user_id,
            agent_id=agent,
            session_id=session,
            node_id=node,
        )

    @classmethod
    def current(cls) -> MemoryScope:
        """Return who asks in the graph that runs around this call; empty outside of one."""
        config = _langchain.current_config()
        return cls.of(_langchain.current_runtime(), config) if config else cls()

    @property
    def caller(self) -> tuple[str | None, str | None, str | None]:
        """Tenant, group and user: the part that must never see another's memory."""
        return self.tenant, self.group_id, self.user_id

    @property
    def digest(self) -> str:
        """A short digest of the caller, for states that must not name a person."""
        return hashlib.blake2b(repr(self.caller).encode(), digest_size=16).hexdigest()

    def __bool__(self) -> bool:
        return any(getattr(self, part.name) is not None for part in fields(self))


def personal_agent(user_id: str) -> str:
    """Return the `agent_id` of memories that are shown to one user of a group alone.

    Args:
        user_id: The user.

    Returns:
        The id; for a very long user id it has a digest of it.
    """
    name = f"{PERSONAL_AGENT}{user_id}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{PERSONAL_AGENT}#{hashlib.blake2b(user_id.encode(), digest_size=16).hexdigest()}"


def is_personal_agent(agent_id: str | None) -> bool:
    """Return whether memories with an `agent_id` are shown to one user of their group alone.

    Args:
        agent_id: The id; None for memories of the group.

    Returns:
        Whether they are.
    """
    return agent_id is not None and agent_id.startswith(PERSONAL_AGENT)


def own_agent(scope: MemoryScope) -> str | None:
    """Return the `agent_id` under which the user of a scope alone is shown a memory.

    Args:
        scope: Group and user.

    Returns:
        The id; None without a user, and in the memory of one person, where nobody else reads.
    """
    return None if not scope.user_id or scope.is_personal else personal_agent(scope.user_id)


def agents_shown_to(user_id: str | None, agent_id: str | None) -> tuple[str | None, ...]:
    """Return the `agent_id`s of the memories of a group that a user and an agent are shown.

    Args:
        user_id: The user; None or "" if nobody is named.
        agent_id: The agent; None or "" for none.

    Returns:
        None for the memories of the group, then those of the user alone, then those of the agent.
    """
    own = personal_agent(user_id) if user_id else None
    return tuple(dict.fromkeys((None, own, agent_id or None)))


def check_name(label: str, value: object) -> None:
    """Let pass what can be a name or an id in every store.

    Args:
        label: What it is called in the message. The value is never in it.
        value: The name; "" is one as well.

    Raises:
        SettingError: If it cannot be one.
    """
    if not isinstance(value, str):
        raise SettingError(f"{label}: must be text, and this is {type(value).__name__}")
    if len(value) > LONGEST_NAME:
        raise SettingError(
            f"{label}: has {len(value)} characters, and at most {LONGEST_NAME} are kept"
        )
    if "\0" in value:
        raise SettingError(f"{label}: has a NUL character in it, which stores cannot keep")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SettingError(f"{label}: has half a character in it (a lone surrogate)") from None


def read_id(name: str, value: object, carrier: str = "the run") -> str | None:
    """Return an id as text.

    Args:
        name: The key that the value stands under, for the message. The value is never in it.
        value: Text, a whole number, a UUID, or an Enum whose value is text. A plain Enum with
            numbers is refused: `auto()` numbers of two classes mean different things.
        carrier: Where it was read, for the message.

    Returns:
        The id, or None for None and blank text.

    Raises:
        SettingError: For anything else.
    """
    raw: object = value
    # str() of a member of `class Team(str, Enum)` is "Team.SHOP".
    if isinstance(value, Enum) and (
        isinstance(value, str | int) or isinstance(value.value, str | UUID)
    ):
        raw = value.value
    if name == "thread_id" and isinstance(raw, float):
        raw = str(raw)  # LangGraph's checkpointers take it, by the same text
    if raw is None:
        return None
    is_number = isinstance(raw, Integral) and not isinstance(raw, bool)
    if isinstance(raw, Enum) or not (isinstance(raw, str | UUID) or is_number):
        raise SettingError(
            f"{name}: {carrier} has a {type(value).__name__}, which is no id; pass text, a whole"
            " number or a UUID"
        )
    text = str(raw)
    return text if text.strip() else None


@dataclass(frozen=True, slots=True)
class _Carrier:
    """What carries ids: the authenticated user, the context, or the config of a run."""

    name: str
    holder: Any

    def read(self, key: str) -> str | None:
        return read_id(key, _field(self.holder, key), self.name)


def _first_id(keys: Sequence[str], carriers: Sequence[_Carrier]) -> str | None:
    """Return the id under the first key that has a value in any of the carriers."""
    for key in keys:
        for carrier in carriers:
            if (identifier := carrier.read(key)) is not None:
                return identifier
    return None


def _field(holder: Any, key: str) -> Any:
    """Return a value by key or by attribute; users of a server may offer either."""
    if isinstance(holder, Mapping):
        return holder.get(key)
    try:
        value = getattr(holder, key, None)
        if value is None and hasattr(type(holder), "__getitem__"):
            value = holder[key]
    except (LookupError, TypeError, NotImplementedError):
        return None
    return value


def _authenticated_user(runtime: Any, configurable: Any) -> Any:
    """Return the user whom a server has authenticated; None for nobody.

    LangGraph builds `server_info` of the key in `configurable`, but not where there is no runtime
    (a graph factory), and not of a user who is a dict. Its server refuses this key from clients.
    """
    user = getattr(getattr(runtime, "server_info", None), "user", None)
    if user is None and isinstance(configurable, Mapping):
        user = configurable.get("langgraph_auth_user")
    return None if user is None or _field(user, "is_authenticated") is False else user
