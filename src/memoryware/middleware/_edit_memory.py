"""`edit_memory`: the tool that an agent without file tools gets, limited to memory files."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from langchain.agents.middleware.types import ToolCallRequest
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command
from pydantic import AliasChoices, BaseModel, Field, ValidationError, create_model

from memoryware._twins import Via, blocking, finish, native
from memoryware.backends import _foreign
from memoryware.errors import MemorywareError
from memoryware.guard import printable_name, printable_text
from memoryware.sources.source import identity_of

NAME: Final = "edit_memory"
_FOUND: Final = "those that are named in your instructions"
_DESCRIPTION: Final = """\
Change one of your memory files: {paths}.

Replaces old_string, which must occur exactly once unless replace_all is set, by new_string.
An empty old_string sets the text of a file that is missing or empty. To add a line, replace
the line before it by itself and the new line."""


_Result: TypeAlias = ToolMessage | Command[Any]
AroundToolCall: TypeAlias = Callable[[Via, ToolCallRequest, Any], Coroutine[Any, Any, _Result]]
"""Runs a call of a tool by a handler, as far as the owners of the memory files allow it."""


def edit_memory_tool(
    name: str,
    known: Sequence[str] | None,
    places_for: Callable[[ToolRuntime[Any, Any]], tuple[Any, Sequence[str]]],
    around: AroundToolCall,
) -> StructuredTool:
    """Return the tool, limited to memory files that may be written.

    Args:
        name: What the model calls it.
        known: The files, None where they are found in each run.
        places_for: Returns the backend and the files of a run.
        around: What each call goes through, so that no hook is needed for it.
    """
    schema = _arguments(known or [])

    async def change(
        via: Via,
        *,
        runtime: ToolRuntime[Any, Any],
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool,
    ) -> ToolMessage:
        backend, writable = places_for(runtime)
        asked = identity_of(file_path)
        path = next((one for one in writable if identity_of(one) == asked), None)
        if path is None:
            open_here = ", ".join(map(printable_name, writable)) or "none"
            message = f"Error: '{file_path}' is not a memory file. You can write: {open_here}"
            return _said(name, runtime, message, failed=True)
        try:
            guest = _foreign.Guest(backend)
            error = await _change(via, guest, path, old_string, new_string, replace_all)
        except MemorywareError as problem:
            error = f"Error: {problem}"
        return _said(name, runtime, error or f"Updated memory file {path}", failed=bool(error))

    def edit(runtime: ToolRuntime[Any, Any], **given: Any) -> _Result:
        def handler(request: ToolCallRequest) -> ToolMessage:
            return finish(run(blocking, request))

        return finish(around(blocking, _request(name, schema, runtime, given), handler))

    async def aedit(runtime: ToolRuntime[Any, Any], **given: Any) -> _Result:
        async def handler(request: ToolCallRequest) -> ToolMessage:
            return await run(native, request)

        return await around(native, _request(name, schema, runtime, given), handler)

    async def run(via: Via, request: ToolCallRequest) -> ToolMessage:
        """Carry out what was judged, which is what stands in the request."""
        try:
            given = schema.model_validate(request.tool_call["args"]).model_dump()
        except ValidationError as error:  # a person has edited the call
            fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            return not_done(request.tool_call, f"these arguments cannot be used: {fields}")
        return await change(via, runtime=request.runtime, **given)

    paths = _FOUND if known is None else ", ".join(map(printable_name, known))
    return StructuredTool(
        name=name,
        description=_DESCRIPTION.format(paths=paths),
        args_schema=schema,
        func=edit,
        coroutine=aedit,
    )


def _request(
    name: str, schema: type[BaseModel], runtime: ToolRuntime[Any, Any], given: dict[str, Any]
) -> ToolCallRequest:
    """Return the call as the model has made it, if that is what the tool was given."""
    args, state = given, runtime.state if isinstance(runtime.state, Mapping) else {}
    for message in reversed(state.get("messages") or ()):
        calls = message.tool_calls if isinstance(message, AIMessage) else ()
        made = next((one for one in calls if one["id"] == runtime.tool_call_id), None)
        if made is not None:
            with suppress(ValidationError):
                if schema.model_validate(made["args"]).model_dump() == given:
                    args = made["args"]
            break
    call: ToolCall = {"name": name, "args": args, "id": runtime.tool_call_id, "type": "tool_call"}
    return ToolCallRequest(tool_call=call, tool=None, state=runtime.state, runtime=runtime)


def _arguments(writable: Sequence[str]) -> type[BaseModel]:
    """Return the arguments; the file may be left out where there is only one."""
    which = Field(
        default=writable[0] if len(writable) == 1 else ...,
        validation_alias=AliasChoices("file_path", "path"),
        description="Which memory file",
    )
    return create_model(
        "EditMemory",
        old_string=(str, Field(description="Text to replace; empty for a missing or empty file")),
        new_string=(str, Field(description="Text to put in its place")),
        file_path=(str, which),
        replace_all=(bool, Field(default=False, description="Replace every occurrence")),
    )


async def _change(
    via: Via, guest: _foreign.Guest, path: str, old: str, new: str, every: bool
) -> str | None:
    """Edit the file, or create it when it is not there and no old text was given."""
    if old:
        return (await guest.edit(via, path, path, old, new, every)).error
    (before,) = await guest.download(via, [path])
    if before.content and before.content.strip():
        return (
            f"Error: old_string is empty, but {path} has text. Give the text to replace; to add a"
            " line, replace the line before it by itself and the new line"
        )
    if before.error not in (None, "file_not_found"):
        return f"Error: {path} could not be read: {before.error}"
    if _foreign.appends_of(guest.backend) is not None:  # adds to what was created meanwhile
        return (await guest.append(via, path, path, new)).error
    return (await guest.write(via, path, path, new)).error


def unavailable(call: Any) -> ToolMessage:
    """Return the answer to a call of the tool in a request that did not offer it."""
    return not_done(
        call, f"{call['name']} is not available here. Use the tools that you were given"
    )


def not_done(call: Any, why: str) -> ToolMessage:
    """Return the answer to a call that is not carried out."""
    return ToolMessage(
        content=printable_text(f"Error: {why}"),
        name=call["name"],
        tool_call_id=call["id"] or "",
        status="error",
    )


def _said(name: str, runtime: ToolRuntime[Any, Any], text: str, *, failed: bool) -> ToolMessage:
    return ToolMessage(
        content=printable_text(text),
        name=name,
        tool_call_id=runtime.tool_call_id or "",
        status="error" if failed else "success",
    )
