"""`edit_memory`: the tool that an agent without file tools gets, limited to memory files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from pydantic import AliasChoices, BaseModel, Field, create_model

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


def edit_memory_tool(
    name: str,
    known: Sequence[str] | None,
    places_for: Callable[[ToolRuntime[Any, Any]], tuple[Any, Sequence[str]]],
) -> StructuredTool:
    """Return the tool, limited to memory files that may be written.

    Args:
        name: What the model calls it.
        known: The files, None where they are found in each run.
        places_for: Returns the backend and the files of a run.
    """

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

    def edit(runtime: ToolRuntime[Any, Any], **given: Any) -> ToolMessage:
        return finish(change(blocking, runtime=runtime, **given))

    async def aedit(runtime: ToolRuntime[Any, Any], **given: Any) -> ToolMessage:
        return await change(native, runtime=runtime, **given)

    paths = _FOUND if known is None else ", ".join(map(printable_name, known))
    return StructuredTool(
        name=name,
        description=_DESCRIPTION.format(paths=paths),
        args_schema=_arguments(known or []),
        func=edit,
        coroutine=aedit,
    )


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
