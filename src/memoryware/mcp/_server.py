"""The server: tools, resources and prompts for one scope, independent of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from memoryware.errors import ScopeMissing, SettingError, StoreUnavailable
from memoryware.guard import Guard
from memoryware.mcp import _prompts as prompts
from memoryware.mcp import _resources as resources
from memoryware.mcp import _tools as tools
from memoryware.mcp._notes import ClientNotes, NoteAnswer, notes_result
from memoryware.mcp._requests import (
    ClientInfo,
    RequestFailed,
    RequestRefused,
    ShownTexts,
    ToolCallResult,
    failure_of,
)
from memoryware.middleware.memory import MemoryMiddleware
from memoryware.scope import MemoryScope
from memoryware.settings import McpLimits
from memoryware.tiers.actors import DecisionActor
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.rendering import fenced, recalled_block, shown
from memoryware.tiers.values import Recall

T = TypeVar("T")
Answer = tuple[str, Mapping[str, Any]]
"""The result of a tool: as text, and as structured data."""
_WRITING: Final = (tools.REMEMBER, tools.CORRECT_NOTE, tools.WITHDRAW_NOTE)
_URI_CHARS: Final = 4_000


class MemoryServer:
    """Executes the requests of MCP clients on one memory, for one fixed scope.

    Args:
        memory: Tiered memory, for `recall`, the tools for notes, resources of memories and the
            prompts; None offers none of them.
        files: The memory files, for `list_sources`, `read_source` and resources of files; None
            offers none of them.
        scope: The scope of all requests. It needs a group if there is a memory.
        by: Who adds notes, such as "agent:editor". A note never counts as a person's, also
            with the name of a person, because a model has written it.
        read_only: Offer no tool that writes.
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
        self._memory, self._scope = memory, scope
        actor = DecisionActor.of(by)
        self._shown = ShownTexts(self.limits)
        self._turns = asyncio.Semaphore(self.limits.calls)
        more: dict[str, Any] = {"limits": self.limits, "shown_texts": self._shown}
        self._files = (
            resources.SourceReader(files, guard=guard or Guard(), **more) if files else None
        )
        self._records = self._notes = None
        work: dict[str, Callable[[Mapping[str, Any], ClientInfo], Awaitable[Answer]]] = {}
        if memory is not None:
            self._records = resources.MemoryReader(memory, scope=scope, **more)
            self._notes = ClientNotes(memory, scope=scope, by=actor, **more)
            work |= {
                tools.RECALL: self._recall,
                tools.REMEMBER: self._remember,
                tools.LIST_NOTES: self._list_notes,
                tools.CORRECT_NOTE: self._correct_note,
                tools.WITHDRAW_NOTE: self._withdraw_note,
            }
        if files is not None:
            work |= {
                tools.LIST_SOURCES: self._list_sources,
                tools.READ_SOURCE: self._read_source,
            }
        hidden = {*_WRITING, tools.LIST_NOTES} if read_only else set()
        self._work = {name: call for name, call in work.items() if name not in hidden}

    @property
    def offered(self) -> Mapping[str, tools.ToolSpec]:
        """The tools that are offered, by name: descriptions and schemas."""
        specs = tools.tool_specs(self.limits)
        return {name: specs[name] for name in self._work}

    @property
    def instructions(self) -> str:
        """What a client is told about the server as a whole: when to call what is offered."""
        return tools.instructions_for(self._work)

    @property
    def prompts(self) -> Mapping[str, prompts.PromptSpec]:
        """The prompts that are offered, by name."""
        needed = {
            prompts.RECALL_FIRST: tools.RECALL,
            prompts.WHAT_TO_REMEMBER: tools.REMEMBER,
        }
        return {name: spec for name, spec in prompts.PROMPTS.items() if needed[name] in self._work}

    @property
    def templates(self) -> Mapping[str, tuple[str, str, str]]:
        """The templates of the URIs of resources, each with a name, a title and a description."""
        served = {resources.FILES: self._files, resources.MEMORIES: self._records}
        return {
            template: texts
            for template, texts in resources.TEMPLATES.items()
            if any(template.startswith(prefix) for prefix, part in served.items() if part)
        }

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
        call = self._work.get(name)
        if call is None:
            return ToolCallResult(
                f"Error: there is no such tool. There are: {', '.join(self._work)}", ok=False
            )

        async def work() -> Answer:
            return await call(self._validate(name, arguments), caller or ClientInfo())

        try:
            text, data = await self._run(name, work)
        except RequestFailed as failure:
            return ToolCallResult(f"Error: {failure}", ok=False)
        return ToolCallResult(text, data=data)

    async def list_resources(
        self, after: str | None = None, caller: ClientInfo | None = None
    ) -> tuple[list[resources.ListedResource], str | None]:
        """List memory files, and then the current memories, newest first.

        Args:
            after: The cursor of the page before.
            caller: The client.

        Returns:
            The resources of a page, and the cursor of the next one; None at the end.

        Raises:
            RequestFailed: With a sentence for the client.
        """

        async def work() -> tuple[list[resources.ListedResource], str | None]:
            page: list[resources.ListedResource] = []
            if self._files is not None and after is None:
                page += map(resources.file_resource, (await self._files.list())[0])
            if self._records is None:
                return page, None
            items, following = await self._records.list(caller or ClientInfo(), after)
            return [*page, *map(resources.memory_resource, items)], following

        return await self._run("resources/list", work)

    async def read_resource(
        self, uri: str, caller: ClientInfo | None = None
    ) -> tuple[str, resources.ListedResource]:
        """Read a resource.

        Args:
            uri: Its URI.
            caller: The client.

        Returns:
            Its text, marked as data, and what a listing says of it.

        Raises:
            RequestFailed: With a sentence for the client.
        """
        client = caller or ClientInfo()

        async def work() -> tuple[str, resources.ListedResource]:
            if len(uri) <= _URI_CHARS:
                if self._files is not None and uri.startswith(resources.FILES):
                    path = await self._files.path_of(uri)
                    source, text = await self._files.read(path, client)
                    block = resources.source_block(source, text)
                    return block, resources.file_resource(source)
                if self._records is not None and uri.startswith(resources.MEMORIES):
                    id_ = uri.removeprefix(resources.MEMORIES)
                    item, text = await self._records.read(id_, client)
                    return text, resources.memory_resource(item)
            raise RequestRefused(resources.NO_RESOURCE)

        return await self._run("resources/read", work)

    async def get_prompt(
        self, name: str, arguments: Any, caller: ClientInfo | None = None
    ) -> Sequence[str]:
        """Return the messages of a prompt.

        Args:
            name: The name of the prompt.
            arguments: Its arguments, not validated yet.
            caller: The client.

        Returns:
            Texts for messages of the user.

        Raises:
            RequestFailed: With a sentence for the client.
        """

        async def work() -> Sequence[str]:
            if name not in self.prompts:
                names = ", ".join(self.prompts) or "none"
                raise RequestRefused(f"there is no such prompt; there are: {names}")
            argument = _prompt_argument(self.prompts[name], arguments)
            if name == prompts.WHAT_TO_REMEMBER:
                return prompts.what_to_remember(argument)
            text, _ = await self._recall({"query": argument}, caller or ClientInfo())
            return prompts.recall_first(argument, text)

        return await self._run("prompts/get", work)

    async def _run(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Work on a request in its turn and within its time.

        Raises:
            RequestFailed: With a sentence for the client.
        """
        try:
            async with asyncio.timeout(self.limits.call_timeout), self._turns:
                return await work()
        except TimeoutError:
            late = " It may have been kept all the same." if name in _WRITING else ""
            raise RequestFailed(f"it took too long; try again later.{late}") from None
        except Exception as error:  # noqa: BLE001 - a client must not end the server
            raise failure_of(name, error) from None

    # The tools.

    async def _recall(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        memory = self._require_memory()
        limit, query = arguments.get("limit", self.limits.recalled), arguments["query"]
        result: Recall = await memory.aretrieve(query, self._scope, max_results=limit)
        if result.failed and not result:
            raise StoreUnavailable("no tier could be asked")
        self._shown.add(caller, result)
        data = resources.recall_data(result, query, memory.limits)
        block = recalled_block(
            result,
            limits=memory.limits,
            contradictions=result.contradictions,
            note=tools.RECALL_NOTE,
        )
        missing = ", ".join(tier.replace("_", "-") for tier in result.failed)
        warning = (
            f"\nPart of memory could not be asked just now: {missing} memory." if missing else ""
        )
        return (block or tools.NOTHING) + warning, data

    async def _remember(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        return _note_answer(await self._require_notes().remember(arguments["text"], caller))

    async def _correct_note(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        notes = self._require_notes()
        return _note_answer(await notes.correct(arguments["id"], arguments["text"], caller))

    async def _withdraw_note(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        reason = arguments.get("reason", "")
        return _note_answer(await self._require_notes().withdraw(arguments["id"], reason, caller))

    async def _list_notes(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        notes, following = await self._require_notes().list_own(caller, arguments.get("after"))
        return notes_result(notes, following, self._require_memory().limits.item_chars)

    async def _list_sources(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        del arguments, caller
        sources, more = await self._require_files().list()
        files = [*map(resources.source_data, sources)]
        data = {"note": tools.SOURCES_NOTE, "files": files, "more": more}
        if not sources:
            return tools.NO_SOURCES, data
        lines = [*map(resources.source_line, sources)]
        if more:
            lines.append(f"and {more} more")
        return fenced(lines, note=tools.SOURCES_NOTE), data

    async def _read_source(self, arguments: Mapping[str, Any], caller: ClientInfo) -> Answer:
        source, text = await self._require_files().read(arguments["path"], caller)
        data = {
            "note": tools.FILE_NOTE,
            **resources.source_data(source),
            "text": shown(text),
            "cut": source.state == "cut",
        }
        return resources.source_block(source, text), data

    # Helpers.

    def _require_memory(self) -> TieredMemory:
        if self._memory is None:
            raise RequestRefused("there is no tiered memory here")
        return self._memory

    def _require_notes(self) -> ClientNotes:
        if self._notes is None:
            raise RequestRefused("there is no tiered memory here")
        return self._notes

    def _require_files(self) -> resources.SourceReader:
        if self._files is None:
            raise RequestRefused("there are no memory files here")
        return self._files

    def _validate(self, name: str, arguments: Any) -> Mapping[str, Any]:
        """Validate arguments by the schema of a tool.

        Raises:
            RequestRefused: For invalid arguments. The message names the argument, without its
                value.
        """
        schema = self.offered[name].arguments
        checked = {} if arguments is None else arguments
        if not isinstance(checked, Mapping):
            raise RequestRefused("the arguments must be an object")
        properties = schema["properties"]
        if checked.keys() - properties.keys():
            names = ", ".join(properties) or "none"
            raise RequestRefused(f"unknown argument; allowed: {names}")
        for required in schema["required"]:
            if required not in checked:
                raise RequestRefused(f"{required} is missing")
        for argument, value in checked.items():
            _check_value(argument, value, properties[argument])
        return checked


def _note_answer(answer: NoteAnswer) -> Answer:
    return answer.text, answer.data


def _prompt_argument(spec: prompts.PromptSpec, arguments: Any) -> str:
    """Return the only argument of a prompt; "" if an optional one is not there."""
    values = {} if arguments is None else arguments
    if not isinstance(values, Mapping) or values.keys() - {spec.argument}:
        raise RequestRefused(f"unknown argument; allowed: {spec.argument}")
    value = values.get(spec.argument, "")
    if value or spec.is_required:
        schema = {"type": "string", "maxLength": prompts.ARGUMENT_CHARS}
        _check_value(spec.argument, value, schema)
    return str(value)


def _check_value(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    if schema["type"] == "integer":
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not schema["minimum"] <= value <= schema["maximum"]:
            bounds = f"from {schema['minimum']} to {schema['maximum']}"
            raise RequestRefused(f"{name} must be a whole number {bounds}")
        return
    if not isinstance(value, str) or not value.strip():
        raise RequestRefused(f"{name} must be text, and not empty")
    if len(value) > schema.get("maxLength", len(value)):
        raise RequestRefused(
            f"{name} has {len(value)} characters, and {schema['maxLength']} are taken"
        )
