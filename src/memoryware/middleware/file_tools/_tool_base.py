"""Base of the file tools: arguments, execution, errors, results that fit, guidance."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Final, Literal, Self

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.errors import GraphBubbleUp
from pydantic import AliasChoices, BaseModel, Field, ValidationError, model_validator

from memoryware import _langchain
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.backends import _adapter
from memoryware.errors import FileDenied, MemorywareError
from memoryware.events import EventContext, emit, logger
from memoryware.guard import printable_text
from memoryware.middleware._own_tools import ToolAnswer, register
from memoryware.middleware._path_rules import PathRules
from memoryware.middleware.file_tools._access import Access, FileDigest
from memoryware.scope import MemoryScope
from memoryware.settings import ToolLimits

SEEN_KEY: Final = "file_tools_seen"
"""State key: per waiting call, the path it will replace and a digest of what is there."""
# Characters that are passed on of an error that is not ours.
_DETAIL: Final = 300

FilePath = Annotated[
    str,
    Field(
        validation_alias=AliasChoices("file_path", "path"),
        description="Path of the file from the root, such as /notes.md",
    ),
]


# Models send null for optional arguments, and numbers as text; a refusal costs a whole turn.
class FileToolArguments(BaseModel):
    """Arguments of a tool as a model sends them: null means not given, "5" means 5."""

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):
            return arguments
        return {name: value for name, value in arguments.items() if value is not None}

    @classmethod
    def with_limits(cls, limits: ToolLimits) -> type[Self]:  # noqa: ARG003 - some arguments show a limit
        """Return the arguments with the defaults that these limits set."""
        return cls


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options that all tools of one middleware share."""

    backend: Any
    rules: PathRules
    limits: ToolLimits
    offered: frozenset[str]
    write_existing: Literal["overwrite", "error"] = "overwrite"
    first_match: bool = False


FileToolOperation = Callable[[Access, ToolOptions, Any], Coroutine[Any, Any, ToolAnswer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTool:
    """One tool: its description for the model, its arguments, and its operation."""

    name: str
    description: str
    arguments: type[FileToolArguments]
    work: FileToolOperation
    writes: bool = False


def build_tool(tool: FileTool, options: ToolOptions) -> StructuredTool:
    """Make the tool that an agent calls, blocking and async, over one coroutine."""
    arguments = tool.arguments.with_limits(options.limits)

    def call(runtime: ToolRuntime[Any, Any], **values: Any) -> ToolMessage:
        return run_blocking(
            _perform(tool, options, BLOCKING, runtime, arguments.model_validate(values))
        )

    async def acall(runtime: ToolRuntime[Any, Any], **values: Any) -> ToolMessage:
        return await _perform(tool, options, ASYNC, runtime, arguments.model_validate(values))

    def wrong_arguments(error: Any) -> str:
        return _wrong_arguments(tool.name, arguments, error)

    structured_tool = StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=arguments,
        func=call,
        coroutine=acall,
        handle_validation_error=wrong_arguments,
    )
    return register(structured_tool, options.backend)


async def _perform(
    tool: FileTool, options: ToolOptions, runner: Runner, runtime: Any, arguments: FileToolArguments
) -> ToolMessage:
    try:
        backend = _adapter.resolve(options.backend, runtime)
        rules = await options.rules.bound(runner, backend)
        access = Access(
            runner,
            _adapter.BackendAdapter(backend),
            rules,
            options.limits,
            _expected_digest(runtime),
        )
        answer = await tool.work(access, options, arguments)
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - storage of other people may raise anything
        # An exception of a tool ends the run in langgraph; a message lets the model go on.
        answer = ToolAnswer(explain(tool, error), ok=False)
        if tool.writes and isinstance(error, FileDenied):
            _emit_blocked(tool, runtime, error.path)
    content = answer.content
    if not answer.ok:
        content = _with_prefix_and_advice(tool, str(content), options.offered)
    if isinstance(content, str) and (tool.writes or not answer.ok):
        content = printable_text(content)  # it has paths in it
    message = replace(answer, content=content)
    return message.as_message(tool.name, getattr(runtime, "tool_call_id", None))


def _emit_blocked(tool: FileTool, runtime: Any, path: str) -> None:
    scope = MemoryScope.of(runtime, _langchain.current_config())
    event_context = EventContext(getattr(runtime, "stream_writer", None), scope)
    call = getattr(runtime, "tool_call_id", None) or ""
    emit(event_context, "write_blocked", path=path, tool=tool.name, tool_call=call, reason="rules")


def _expected_digest(runtime: Any) -> FileDigest | None:
    state, call_id = getattr(runtime, "state", None), getattr(runtime, "tool_call_id", None)
    noted = state.get(SEEN_KEY) if isinstance(state, Mapping) else None
    digest = noted.get(call_id) if isinstance(noted, Mapping) else None
    return None if digest is None else (digest[0], digest[1])


def failed(error: str) -> ToolAnswer:
    """Make the answer of a backend that reported an error."""
    return ToolAnswer(error, ok=False)


def explain(tool: FileTool, error: Exception) -> str:
    """Turn any error into a sentence about what is wrong and what to do."""
    if isinstance(error, MemorywareError):
        return str(error)
    if isinstance(error, NotImplementedError):
        return f"the storage of these files cannot do this ({tool.name}). Use another tool"
    advice = "Read the file before you try again" if tool.writes else "Try it once more"
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        logger.warning("%s failed with %s", tool.name, kind)
        return f"{tool.name} failed: {error.strerror}. {advice}"
    if isinstance(error, ValueError) and str(error):
        logger.warning("%s failed with %s", tool.name, kind)
        return str(error).splitlines()[0][:_DETAIL]
    logger.warning("%s failed", tool.name, exc_info=error)
    return f"{tool.name} failed in the storage ({kind}). {advice}"


def _with_prefix_and_advice(tool: FileTool, error: str, offered: frozenset[str]) -> str:
    """Start an error with "Error: " and add what to do about a path that is not there."""
    error, blank, elsewhere = error.partition("\n\n")
    text = error if error.startswith("Error") else f"Error: {error}"
    return f"{_with_advice(tool, text, offered)}{blank}{elsewhere}"


def _with_advice(tool: FileTool, text: str, offered: frozenset[str]) -> str:
    look = " or ".join(sorted(offered & {"ls", "glob"}))
    if text.endswith("not found"):
        create = tool.name == "edit_file" and "write_file" in offered
        ways = ["write_file to create it"] if create else []
        ways += [f"{look} to see which files there are"] if look else []
        return f"{text}. Use {', or '.join(ways)}" if ways else text
    if text.endswith("path_not_found"):
        return f"{text}. There is no such folder" + (f"; use {look} to find files" if look else "")
    if text.endswith("not_a_directory"):
        return f"{text}. This is a file" + ("; use read_file" if "read_file" in offered else "")
    return text


def _wrong_arguments(tool: str, arguments: type[FileToolArguments], error: ValidationError) -> str:
    wrong = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )
    fields = arguments.model_fields.items()
    names = ", ".join(
        name if field.is_required() else f"{name} (optional)" for name, field in fields
    )
    return f"Error: wrong arguments for {tool}, nothing was done. {wrong}. It takes: {names}"


_STOPPED: Final = (
    "[The search stopped before its end, so there may be more. Give a narrower pattern or path.]"
)
# Characters of an error that comes with what was found elsewhere.
_ERROR_AT_MOST: Final = 1000


def search_notes(*, cut: bool) -> list[str]:
    """Return notes about why a search may have found too little."""
    return [_STOPPED] * cut


def search_failed(access: Access, error: str) -> ToolAnswer:
    """Answer that a search failed; where there are rules without the names in the error."""
    if access.rules:
        error = "the search could not be done, or not everywhere. Check the path with ls"
    return ToolAnswer(error, ok=False)


def partial_answer(access: Access, answer: ToolAnswer, error: str | None) -> ToolAnswer:
    """Return the answer of a search, as an error if some places could not be searched."""
    # Neither a model nor a count of failed calls may take such a result for a complete one.
    if not error:
        return answer
    failure = search_failed(access, error[:_ERROR_AT_MOST]).content
    return ToolAnswer(f"{failure}\n\nFound elsewhere:\n{answer.content}", ok=False)


def path_list(access: Access, rows: Sequence[Any], notes: Sequence[str] = ()) -> ToolAnswer:
    """Answer with the paths of a result, in its order, and with notes below them."""
    paths = [str(row["path"]) for row in rows]
    if not paths:
        return ToolAnswer("\n".join(["No files found", *notes]))
    shown = access.lines_that_fit([repr(path) for path in paths], len(", "))
    notes = list(notes)
    if shown < len(paths):
        notes.append(f"[Only the first {shown} of {len(paths)} paths are shown. Ask for fewer.]")
    listed = printable_text(str(paths[:shown]))
    return ToolAnswer("\n".join([listed, *notes]))


def line_list(access: Access, lines: Sequence[str], notes: Sequence[str]) -> ToolAnswer:
    """Answer with lines, and with notes below them."""
    shown = access.lines_that_fit(lines, 1)
    fitting = [line[: access.budget] for line in lines[:shown]]
    if shown < len(lines):
        notes = [*notes, f"[{len(lines) - shown} more lines do not fit here. Narrow the search.]"]
    return ToolAnswer("\n".join([*fitting, *([""] if notes else []), *notes]))


def changed_meanwhile(path: str) -> ToolAnswer:
    """Answer that a file is no longer what it was when the model decided."""
    return ToolAnswer(
        f"'{path}' was changed by somebody else after you asked for this, so nothing was done."
        " Read it again and decide anew",
        ok=False,
    )


_LINES: Final = (
    ({"read_file", "edit_file"}, "Read a file before you edit it, and copy the text to replace."),
    (
        {"write_file", "edit_file"},
        "Change a part of a file with `edit_file`; `write_file` replaces everything in it.",
    ),
    ({"append_file"}, "Add a line at the end of a file with `append_file`, without reading it."),
    ({"glob", "grep"}, "Look for files with `glob` (names) or `grep` (text) before you guess."),
)


def guidance_for(tools: Iterable[str]) -> str:
    """Return the guidance for these tools, the same text for the same tools; "" for none."""
    return _guidance(frozenset(tools))


@cache
def _guidance(tools: frozenset[str]) -> str:
    if not tools:
        return ""
    names = ", ".join(f"`{name}`" for name in sorted(tools))
    fitting = [f"- {line}" for needed, line in _LINES if needed <= tools]
    return "\n".join(
        [
            "## Files",
            f"You have these tools for stored files: {names}. Paths start at the root `/`.",
            *fitting,
            "- A result that begins with `Error:` says what was wrong; mend that and try again.",
        ]
    )
