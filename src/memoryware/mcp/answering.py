"""What the tools do: each call under the scope, the rules and the limits of the server.

Nothing of the protocol is here. Whatever goes wrong becomes one sentence for the client that
quotes neither a stored text nor what the client sent; the rest stands in the log.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from memoryware.errors import (
    EntryRefused,
    LoadError,
    MemorywareError,
    ScopeMissing,
    SettingError,
    StoreUnavailable,
)
from memoryware.events import logger
from memoryware.guard import Guard
from memoryware.mcp import tools
from memoryware.middleware.memory import MemoryMiddleware
from memoryware.middleware.preview import Preview, SourcePreview
from memoryware.scope import MemoryScope
from memoryware.settings import McpLimits
from memoryware.tiers.actors import Actor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Origin, Provenance, hash_of
from memoryware.tiers.rendering import fenced, one_line, recalled_block, shown
from memoryware.tiers.values import ContextItem, Layer, Recall

CHANNEL: Final = Origin("tool", "mcp")
"""Is among the roots of every note: nobody here knows what its client has read."""
_QUARANTINE: Final[tuple[Layer, ...]] = ("quarantine",)
_HOUR: Final = timedelta(hours=1)
_LINE: Final = 500
"""Characters of a path, or of a remark about a file, in a listing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client is told, and whether its call worked."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as far as the transport knows.

    Attributes:
        session: Tells the clients of one server apart; "" if there is one only.
        client: What the client says that it is called. It is noted and decides nothing.
    """

    session: str = ""
    client: str = ""


class Refused(Exception):
    """A call that cannot be; its message is for the client."""


class MemoryServer:
    """Answers the calls of MCP clients from one memory, for one scope that never changes.

    Args:
        memory: Tiered memory, for `recall` and `remember`; None offers neither.
        files: The memory files, for `list_sources` and `read_source`; None offers neither.
        scope: On whose behalf all clients ask. It needs a group where there is a memory.
        by: Who puts notes forward, such as "agent:editor". A person's name makes no note a
            person's: a model has written it.
        read_only: Leaves `remember` out.
        limits: Every limit.
        guard: What is cut out of memory files before they are returned.

    Raises:
        ScopeMissing: If the scope has no group.
        SettingError: For an option that cannot be.
    """

    def __init__(
        self,
        memory: TieredMemory | None,
        *,
        scope: MemoryScope | None = None,
        files: MemoryMiddleware | None = None,
        by: str = "agent:mcp",
        read_only: bool = False,
        limits: McpLimits | None = None,
        guard: Guard | None = None,
    ) -> None:
        if memory is None and files is None:
            raise SettingError("an MCP server needs a memory, or memory files, or both")
        scope = scope or MemoryScope()
        if memory is not None and not scope.group_id:
            raise ScopeMissing("an MCP server shares the memory of a group: name it")
        self.limits = limits or McpLimits()
        self._memory, self._files, self._guard = memory, files, guard or Guard()
        self._by = Actor.of(by)
        self._scope = scope
        self._nonce = memory.parts.new_id() if memory is not None else ""
        self._seen: OrderedDict[str, OrderedDict[str, ContextItem]] = OrderedDict()
        self._notes: OrderedDict[str, deque[datetime]] = OrderedDict()
        self._turns = asyncio.Semaphore(self.limits.calls)
        self._work: dict[str, Callable[[Mapping[str, Any], Caller], Awaitable[str]]] = {}
        if memory is not None:
            self._work[tools.RECALL] = self._recall
        if memory is not None and not read_only:
            self._work[tools.REMEMBER] = self._remember
        if files is not None:
            self._work[tools.LIST_SOURCES] = self._list_sources
            self._work[tools.READ_SOURCE] = self._read_source

    @property
    def offered(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The tools: for each its description and the schema of its arguments."""
        known = tools.texts_of(self.limits)
        return {name: known[name] for name in self._work}

    async def answer(self, name: str, arguments: Any, caller: Caller | None = None) -> Answer:
        """Answer one call; whatever goes wrong is an answer as well.

        Args:
            name: Of the tool.
            arguments: As the client sent them; anything is expected.
            caller: Who calls.
        """
        work = self._work.get(name)
        if work is None:
            return Answer(
                f"Error: there is no such tool. There are: {', '.join(self._work)}", ok=False
            )
        try:
            async with asyncio.timeout(self.limits.call_timeout), self._turns:
                return Answer(await work(self._checked(name, arguments), caller or Caller()))
        except TimeoutError:
            late = " It may have been kept all the same." if name == tools.REMEMBER else ""
            return Answer(f"Error: it took too long; try again later.{late}", ok=False)
        except Exception as error:  # noqa: BLE001 - a client must not end the server
            return Answer(_told(name, error), ok=False)

    # The tools.

    async def _recall(self, given: Mapping[str, Any], caller: Caller) -> str:
        memory = self._needed()
        most = given.get("limit", self.limits.recalled)
        found = await memory.aretrieve(given["query"], self._scope, max_results=most)
        if found.failed and not found:
            raise StoreUnavailable("no tier could be asked")
        self._note_seen(caller, found)
        block = recalled_block(
            found, limits=memory.limits, contradictions=found.contradictions, note=tools.FOUND
        )
        missing = ", ".join({"hot": "working", "cold": "long-term"}[one] for one in found.failed)
        part = f"\nPart of memory could not be asked just now: {missing} memory." if missing else ""
        return (block or tools.NOTHING) + part

    async def _remember(self, given: Mapping[str, Any], caller: Caller) -> str:
        memory, text = self._needed(), given["text"]
        self._count_note(memory, caller)
        seen = tuple(self._seen.get(caller.session, {}).values())
        session = f"mcp:{self._nonce}" + (f":{caller.session}" if caller.session else "")
        recorded = await memory.arecord(
            text,
            replace(self._scope, session_id=self._scope.session_id or session),
            {"remember": True, "via": "mcp", "by": self._by.name, "client": caller.client},
            provenance=self._provenance(seen),
            key=f"{session}:{hash_of(text)}",
            shown=seen,
            tiers=_QUARANTINE,
        )
        told = [tools.KEPT_FOR_REVIEW]
        if recorded.entry.content != text and "[redacted: " in recorded.entry.content:
            told.append(tools.REDACTED)
        if recorded.entry.echo_of or recorded.entry.duplicate_of:
            told.append(tools.ALREADY_KNOWN)
        return " ".join(told)

    async def _list_sources(self, given: Mapping[str, Any], caller: Caller) -> str:
        del given, caller
        found = [one for one in (await self._previewed()).sources if one.state != "missing"]
        if not found:
            return tools.NO_SOURCES
        lines = [_source_line(one) for one in found[: self.limits.listed]]
        if len(found) > len(lines):
            lines.append(f"and {len(found) - len(lines)} more")
        return fenced(lines, note=tools.SOURCES_NOTE)

    async def _read_source(self, given: Mapping[str, Any], caller: Caller) -> str:
        del caller
        for one in (await self._previewed()).sources:
            if one.path == given["path"] and one.state != "missing":
                if one.state == "failed":
                    raise LoadError("the file", "it cannot be read just now")
                text = self._guard.redact(one.text) or "(it is empty)"
                return fenced([_source_line(one), "", shown(text)], note=tools.FILE_NOTE)
        raise Refused("there is no such memory file; list_sources names those that there are")

    # What they share.

    def _needed(self) -> TieredMemory:
        if self._memory is None:
            raise Refused("there is no tiered memory here")
        return self._memory

    async def _previewed(self) -> Preview:
        if self._files is None:
            raise Refused("there are no memory files here")
        return await self._files.apreview()

    def _provenance(self, seen: tuple[ContextItem, ...]) -> Provenance:
        """Return where a note comes from: an agent outside, and whatever it was shown or read."""
        by = self._by.origin
        name = by.name if by.kind == "agent" else self._scope.agent_id or "mcp"
        roots = [CHANNEL, *(root for one in seen for root in one.provenance.roots)]
        if self._scope.user_id:
            roots.append(Origin("user", self._scope.user_id))
        return Provenance(Origin("agent", name), tuple(one.id for one in seen), tuple(roots))

    def _note_seen(self, caller: Caller, found: Recall) -> None:
        seen = self._seen.setdefault(caller.session, OrderedDict())
        self._seen.move_to_end(caller.session)
        for one in found:
            seen[one.id] = one
            seen.move_to_end(one.id)
        while len(seen) > self.limits.seen:
            seen.popitem(last=False)
        while len(self._seen) > self.limits.clients:
            self._seen.popitem(last=False)

    def _count_note(self, memory: TieredMemory, caller: Caller) -> None:
        """Count a note of a client.

        Clients that connect anew for each note would have a fresh count each time, so all
        clients together have a limit as well.

        Raises:
            Refused: If the client, or all clients together, have reached their limit.
        """
        now = memory.parts.clock()
        for client in [*self._notes]:
            notes = self._notes[client]
            while notes and notes[0] <= now - _HOUR:
                notes.popleft()
            if not notes:
                del self._notes[client]
        own = self._notes.get(caller.session, deque())
        if len(own) >= self.limits.notes_per_hour:
            raise Refused("too many notes in this hour; try again later")
        if sum(map(len, self._notes.values())) >= self.limits.all_notes_per_hour:
            raise Refused("too many notes of all clients in this hour; try again later")
        own.append(now)
        self._notes[caller.session] = own

    def _checked(self, name: str, arguments: Any) -> Mapping[str, Any]:
        """Return arguments that fit the schema of a tool.

        Raises:
            Refused: For anything else. The message names the argument and not its value.
        """
        schema = self.offered[name][1]
        given = {} if arguments is None else arguments
        if not isinstance(given, Mapping):
            raise Refused("the arguments must be an object")
        known = schema["properties"]
        if given.keys() - known.keys():
            names = ", ".join(known) or "none"
            raise Refused(f"there is an argument that this tool has not; it has: {names}")
        for one in schema["required"]:
            if one not in given:
                raise Refused(f"{one} is missing")
        for one, value in given.items():
            _check_value(one, value, known[one])
        return given


def _check_value(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    if schema["type"] == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not schema["minimum"] <= value <= schema["maximum"]:
            bounds = f"from {schema['minimum']} to {schema['maximum']}"
            raise Refused(f"{name} must be a whole number {bounds}")
        return
    if not isinstance(value, str) or not value.strip():
        raise Refused(f"{name} must be text, and not empty")
    if len(value) > schema.get("maxLength", len(value)):
        raise Refused(f"{name} has {len(value)} characters, and {schema['maxLength']} are taken")


def _source_line(one: SourcePreview) -> str:
    """Return a file in one line, in which nothing can pretend to be the fence."""
    facts = [f"of the {one.owner}"] if one.owner else []
    if one.bytes is not None:
        facts.append(f"{one.bytes} bytes, about {one.whole} tokens")
    facts += {"failed": ["cannot be read"], "empty": ["empty"]}.get(one.state, [])
    return (
        f"{one_line(one.path, _LINE)} ({'; '.join(facts)})" if facts else one_line(one.path, _LINE)
    )


def _told(name: str, error: Exception) -> str:
    """Return what a client is told of an error, and log its kind."""
    if isinstance(error, Refused):
        return f"Error: {error}."
    if isinstance(error, EntryRefused):
        return "Error: this text cannot be kept; write it shorter, as plain text."
    kind = type(error).__name__
    logger.warning("the MCP tool %s failed: %s", name, kind)
    logger.debug("it failed so", exc_info=error)
    if isinstance(error, StoreUnavailable):
        return f"Error: memory cannot be reached just now ({kind}). Go on without it."
    if isinstance(error, MemorywareError):
        return f"Error: memory refused it ({kind}). Go on without it."
    return "Error: something went wrong in memory. Go on without it."
