"""Who asks: read from the runtime and the config of a run, never from what a model wrote.

A `MemoryScope` names the tenant, group, user, agent, session and node on whose behalf
something happens. Everything that is kept apart by caller is kept apart by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final
from uuid import UUID

from memoryware import _langchain
from memoryware.errors import SettingError

GROUP_KEYS: Final = ("group_id", "group_uuid", "project_id")
"""The names under which a context or config may carry the group; the first that is there wins."""
LONGEST_NAME: Final = 1000
"""Characters that a name or an id may have."""


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """On whose behalf something happens; a part that nobody knows is None, or "".

    Attributes:
        tenant: The customer or installation.
        group_id: The project or team that shares memory.
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
            if value is not None:
                check_name(name, value)

    @classmethod
    def of(
        cls, runtime: Any = None, config: Any = None, *, group_keys: Sequence[str] = GROUP_KEYS
    ) -> MemoryScope:
        """Return who asks in a run: by its context, then its server, then its config.

        Args:
            runtime: The runtime of the run.
            config: The config of the run.
            group_keys: The names under which they may carry the group.
        """
        known = config if isinstance(config, Mapping) else {}
        metadata = known.get("metadata") or {}
        places = [
            _reader(one)
            for one in (getattr(runtime, "context", None), known.get("configurable"))
            if one is not None
        ]
        tenant = _found(("tenant", "tenant_id"), places)
        group = _found(group_keys, places)
        session = _found(("session_id", "thread_id"), places)
        user, agent, node = (_found((one,), places) for one in ("user_id", "agent_id", "node_id"))
        if session is None:
            info = getattr(runtime, "execution_info", None)
            session = _text(getattr(info, "thread_id", None))
        if node is None:
            space = str(metadata.get("langgraph_checkpoint_ns") or "")
            outer = space.partition(":")[0] if "|" in space else ""
            node = _text(outer or metadata.get("langgraph_node"))
        return cls(
            tenant,
            group,
            user or _text(_identity(runtime)),
            agent or _text(metadata.get("lc_agent_name")),
            session,
            node,
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
        return any(getattr(self, one.name) is not None for one in fields(self))


def check_name(what: str, value: object) -> None:
    """Let pass what can be a name or an id in every store.

    Args:
        what: What it is called in the message. The value is never in it.
        value: The name; "" is one as well.

    Raises:
        SettingError: If it cannot be one.
    """
    if not isinstance(value, str):
        raise SettingError(f"{what}: must be text, and this is {type(value).__name__}")
    if len(value) > LONGEST_NAME:
        raise SettingError(
            f"{what}: has {len(value)} characters, and at most {LONGEST_NAME} are kept"
        )
    if "\0" in value:
        raise SettingError(f"{what}: has a NUL character in it, which stores cannot keep")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SettingError(f"{what}: has half a character in it (a lone surrogate)") from None


def _found(names: Sequence[str], places: Sequence[Callable[[str], Any]]) -> str | None:
    """Return a part by the first of its names that has a value."""
    for name in names:
        for get in places:
            text = _text(get(name))
            if text is not None:
                return text
    return None


def _reader(place: Any) -> Callable[[str], Any]:
    """Return what looks up a name in a context or config, by key or by attribute."""
    return place.get if isinstance(place, Mapping) else lambda name: getattr(place, name, None)


def _identity(runtime: Any) -> Any:
    """Return the user whom a server has authenticated."""
    user = getattr(getattr(runtime, "server_info", None), "user", None)
    return user.get("identity") if isinstance(user, Mapping) else getattr(user, "identity", None)


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | UUID):
        return None
    return str(value) if str(value).strip() else None
