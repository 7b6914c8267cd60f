"""The tools: validation, rate limits, and results, independent of the protocol.

An error becomes one sentence for the client that quotes neither stored texts nor arguments;
details go to the log.
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
from memoryware.mcp import _tools as tools
from memoryware.middleware.memory import MemoryMiddleware
from memoryware.middleware.preview import Preview, SourcePreview
from memoryware.scope import MemoryScope
from memoryware.settings import McpLimits
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import hash_of
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.rendering import fenced, one_line, recalled_block, shown
from memoryware.tiers.values import ContextItem, Layer, Recall

CHANNEL: Final = Origin("tool", "mcp")
"""Added to the roots of every note, because what else its client has read is unknown."""
_QUARANTINE: Final[tuple[Layer, ...]] = ("quarantine",)
_HOUR: Final = timedelta(hours=1)
_LINE: Final = 500
"""Characters of a path in a listing."""


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The result of a tool call: a text, and whether the call succeeded."""

    text: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client of a call.

    Attributes:
        session: The session of the transport; "" for standard input and output.
        client: The name that the client gives itself; recorded, but not trusted.
    """

    session: str = ""
    client: str = ""


class ToolCallRefused(Exception):
    """An invalid call; the message is for the client."""


class MemoryServer:
    """Executes the tool calls of MCP clients on one memory, for one fixed scope.

    Args:
        memory: Tiered memory, for `recall` and `remember`; None offers neither.
        files: The memory files, for `list_sources` and `read_source`; None offers neither.
        scope: The scope of all calls. It needs a group if there is a memory.
        by: Who adds notes, such as "agent:editor". A note never counts as a person's, also
            with the name of a person, because a model has written it.
        read_only: Offer no `remember`.
        limits: The limits.
        guard: Redacts memory files before they are returned.

    Raises:
        ScopeMissing: If the scope has no group.
        SettingError: For an invalid option.
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
            raise ScopeMissing("an MCP server needs a group: pass scope=MemoryScope(group_id=...)")
        self.limits = limits or McpLimits()
        self._memory, self._files, self._guard = memory, files, guard or Guard()
        self._by = DecisionActor.of(by)
        self._scope = scope
        self._nonce = memory.parts.new_id() if memory is not None else ""
        self._shown: OrderedDict[str, OrderedDict[str, ContextItem]] = OrderedDict()
        self._notes: OrderedDict[str, deque[datetime]] = OrderedDict()
        self._turns = asyncio.Semaphore(self.limits.calls)
        self._work: dict[str, Callable[[Mapping[str, Any], ClientInfo], Awaitable[str]]] = {}
        if memory is not None:
            self._work[tools.RECALL] = self._recall
        if memory is not None and not read_only:
            self._work[tools.REMEMBER] = self._remember
        if files is not None:
            self._work[tools.LIST_SOURCES] = self._list_sources
            self._work[tools.READ_SOURCE] = self._read_source

    @property
    def offered(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The description and the JSON schema of the arguments of each tool, by name."""
        texts = tools.tool_specs(self.limits)
        return {name: texts[name] for name in self._work}

    async def answer(
        self, name: str, arguments: Any, caller: ClientInfo | None = None
    ) -> ToolCallResult:
        """Execute a tool call; an error is a result as well.

        Args:
            name: The name of the tool.
            arguments: The arguments, not validated yet.
            caller: The client.

        Returns:
            The result for the client.
        """
        work = self._work.get(name)
        if work is None:
            return ToolCallResult(
                f"Error: there is no such tool. There are: {', '.join(self._work)}", ok=False
            )
        try:
            async with asyncio.timeout(self.limits.call_timeout), self._turns:
                return ToolCallResult(
                    await work(self._validate(name, arguments), caller or ClientInfo())
                )
        except TimeoutError:
            late = " It may have been kept all the same." if name == tools.REMEMBER else ""
            return ToolCallResult(f"Error: it took too long; try again later.{late}", ok=False)
        except Exception as error:  # noqa: BLE001 - a client must not end the server
            return ToolCallResult(_error_text(name, error), ok=False)

    # The tools.

    async def _recall(self, arguments: Mapping[str, Any], caller: ClientInfo) -> str:
        memory = self._require_memory()
        limit = arguments.get("limit", self.limits.recalled)
        result = await memory.aretrieve(arguments["query"], self._scope, max_results=limit)
        if result.failed and not result:
            raise StoreUnavailable("no tier could be asked")
        self._remember_shown(caller, result)
        block = recalled_block(
            result,
            limits=memory.limits,
            contradictions=result.contradictions,
            note=tools.RECALL_NOTE,
        )
        missing = ", ".join(layer.replace("_", "-") for layer in result.failed)
        warning = (
            f"\nPart of memory could not be asked just now: {missing} memory." if missing else ""
        )
        return (block or tools.NOTHING) + warning

    async def _remember(self, arguments: Mapping[str, Any], caller: ClientInfo) -> str:
        memory, text = self._require_memory(), arguments["text"]
        self._count_note(memory, caller)
        shown_items = tuple(self._shown.get(caller.session, {}).values())
        session = f"mcp:{self._nonce}" + (f":{caller.session}" if caller.session else "")
        recorded = await memory.arecord(
            text,
            replace(self._scope, session_id=self._scope.session_id or session),
            {"remember": True, "via": "mcp", "by": self._by.name, "client": caller.client},
            provenance=self._provenance(shown_items),
            key=f"{session}:{hash_of(text)}",
            shown=shown_items,
            tiers=_QUARANTINE,
        )
        sentences = [tools.KEPT_FOR_REVIEW]
        if recorded.entry.content != text and "[redacted: " in recorded.entry.content:
            sentences.append(tools.REDACTED)
        if recorded.entry.echo_of or recorded.entry.duplicate_of:
            sentences.append(tools.ALREADY_KNOWN)
        return " ".join(sentences)

    async def _list_sources(self, arguments: Mapping[str, Any], caller: ClientInfo) -> str:
        del arguments, caller
        sources = [
            source for source in (await self._preview_files()).sources if source.state != "missing"
        ]
        if not sources:
            return tools.NO_SOURCES
        lines = [_source_line(source) for source in sources[: self.limits.listed]]
        if len(sources) > len(lines):
            lines.append(f"and {len(sources) - len(lines)} more")
        return fenced(lines, note=tools.SOURCES_NOTE)

    async def _read_source(self, arguments: Mapping[str, Any], caller: ClientInfo) -> str:
        del caller
        for source in (await self._preview_files()).sources:
            if source.path == arguments["path"] and source.state != "missing":
                if source.state == "failed":
                    raise LoadError("the file", "it cannot be read just now")
                text = self._guard.redact(source.text) or "(it is empty)"
                return fenced([_source_line(source), "", shown(text)], note=tools.FILE_NOTE)
        raise ToolCallRefused(
            "there is no such memory file; list_sources names those that there are"
        )

    # Helpers.

    def _require_memory(self) -> TieredMemory:
        if self._memory is None:
            raise ToolCallRefused("there is no tiered memory here")
        return self._memory

    async def _preview_files(self) -> Preview:
        if self._files is None:
            raise ToolCallRefused("there are no memory files here")
        return await self._files.apreview()

    def _provenance(self, items: tuple[ContextItem, ...]) -> Provenance:
        """Return the provenance of a note: an external agent, and the texts that it was shown."""
        by = self._by.origin
        name = by.name if by.kind == "agent" else self._scope.agent_id or "mcp"
        roots = [CHANNEL, *(root for item in items for root in item.provenance.roots)]
        if self._scope.user_id:
            roots.append(Origin("user", self._scope.user_id))
        return Provenance(Origin("agent", name), tuple(item.id for item in items), tuple(roots))

    def _remember_shown(self, caller: ClientInfo, result: Recall) -> None:
        items = self._shown.setdefault(caller.session, OrderedDict())
        self._shown.move_to_end(caller.session)
        for item in result:
            items[item.id] = item
            items.move_to_end(item.id)
        while len(items) > self.limits.remembered:
            items.popitem(last=False)
        while len(self._shown) > self.limits.clients:
            self._shown.popitem(last=False)

    def _count_note(self, memory: TieredMemory, caller: ClientInfo) -> None:
        """Count a note for the rate limits.

        A client could reconnect for each note to reset its count, so all clients together have a
        limit as well.

        Raises:
            ToolCallRefused: If the client, or all clients together, have reached their limit.
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
            raise ToolCallRefused("too many notes in this hour; try again later")
        if sum(map(len, self._notes.values())) >= self.limits.all_notes_per_hour:
            raise ToolCallRefused("too many notes of all clients in this hour; try again later")
        own.append(now)
        self._notes[caller.session] = own

    def _validate(self, name: str, arguments: Any) -> Mapping[str, Any]:
        """Validate arguments by the schema of a tool.

        Raises:
            ToolCallRefused: For invalid arguments. The message names the argument, without its
                value.
        """
        schema = self.offered[name][1]
        checked = {} if arguments is None else arguments
        if not isinstance(checked, Mapping):
            raise ToolCallRefused("the arguments must be an object")
        properties = schema["properties"]
        if checked.keys() - properties.keys():
            names = ", ".join(properties) or "none"
            raise ToolCallRefused(f"unknown argument; allowed: {names}")
        for required in schema["required"]:
            if required not in checked:
                raise ToolCallRefused(f"{required} is missing")
        for argument, value in checked.items():
            _check_value(argument, value, properties[argument])
        return checked


def _check_value(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    if schema["type"] == "integer":
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not schema["minimum"] <= value <= schema["maximum"]:
            bounds = f"from {schema['minimum']} to {schema['maximum']}"
            raise ToolCallRefused(f"{name} must be a whole number {bounds}")
        return
    if not isinstance(value, str) or not value.strip():
        raise ToolCallRefused(f"{name} must be text, and not empty")
    if len(value) > schema.get("maxLength", len(value)):
        raise ToolCallRefused(
            f"{name} has {len(value)} characters, and {schema['maxLength']} are taken"
        )


def _source_line(source: SourcePreview) -> str:
    """Describe a file in one line that cannot imitate the fence."""
    details = [f"of the {source.owner}"] if source.owner else []
    if source.bytes is not None:
        details.append(f"{source.bytes} bytes, about {source.whole} tokens")
    details += {"failed": ["cannot be read"], "empty": ["empty"]}.get(source.state, [])
    return (
        f"{one_line(source.path, _LINE)} ({'; '.join(details)})"
        if details
        else one_line(source.path, _LINE)
    )


def _error_text(name: str, error: Exception) -> str:
    """Return the message of an error for the client, and log the type of the error."""
    if isinstance(error, ToolCallRefused):
        return f"Error: {error}."
    if isinstance(error, EntryRefused):
        return "Error: this text cannot be kept; write it shorter, as plain text."
    kind = type(error).__name__
    logger.warning("the MCP tool %s failed: %s", name, kind)
    logger.debug("details of the failure", exc_info=error)
    if isinstance(error, StoreUnavailable):
        return f"Error: memory cannot be reached just now ({kind}). Go on without it."
    if isinstance(error, MemorywareError):
        return f"Error: memory refused it ({kind}). Go on without it."
    return "Error: something went wrong in memory. Go on without it."
