"""`FileToolsMiddleware`: tools with which an agent reads and changes the files of a backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NotRequired

from langchain.agents.middleware.types import (
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.tools import BaseTool
from langgraph.types import Command

from memoryware import _checking
from memoryware._copying import ReconstructedOnUnpickling
from memoryware._runner import Runner
from memoryware.backends import _adapter
from memoryware.backends.protocol import BackendOrFactory
from memoryware.backends.state import FilesChannel
from memoryware.errors import SettingError
from memoryware.middleware._hooks import ModelCallHooks, Response
from memoryware.middleware._path_rules import PathRules
from memoryware.middleware._request_messages import append_to_system_message
from memoryware.middleware.file_tools._access import REPLACING, FileDigest, note_replaced_files
from memoryware.middleware.file_tools._tool_base import (
    SEEN_KEY,
    FileTool,
    ToolOptions,
    build_tool,
    guidance_for,
)
from memoryware.middleware.file_tools._tools import (
    APPEND,
    DELETE,
    EDIT,
    GLOB,
    GREP,
    LS,
    READ,
    WRITE,
)
from memoryware.settings import ToolLimits

FileToolName = Literal[
    "ls", "read_file", "write_file", "edit_file", "append_file", "delete", "glob", "grep"
]
# Calls to replace a file, of all that wait in one thread, whose files are remembered.
_NOTED_AT_MOST: Final = 256
ALL_TOOLS: Final = (LS, READ, WRITE, EDIT, APPEND, DELETE, GLOB, GREP)


def _merge_digests(
    left: dict[str, FileDigest] | None, right: dict[str, FileDigest] | None
) -> dict[str, FileDigest]:
    """Merge the digests of several of these middlewares; the newest calls stay."""
    return dict([*(left or {}).items(), *(right or {}).items()][-_NOTED_AT_MOST:])


class FileToolsState(AgentState[Any]):
    """Agent state with digests of files that tool calls replace; never a text."""

    file_tools_seen: NotRequired[Annotated[dict[str, FileDigest], PrivateStateAttr, _merge_digests]]


class FileToolsStateWithFiles(FileToolsState):
    """Agent state with the files of a `StateBackend` as well."""

    # It is used only where a backend may keep files in the state, because a declared key shows in
    # every result.

    files: NotRequired[FilesChannel]


class FileToolsMiddleware(ReconstructedOnUnpickling, ModelCallHooks):
    """Adds the file tools `ls read_file write_file edit_file append_file delete glob grep`.

    What most programs need:

        backend = FilesystemBackend("workspace")
        agent = create_agent(model, middleware=[FileToolsMiddleware(backend=backend)])

    The tools work on any backend, blocking and async, and answer every mistake with a message
    that the model can act on. List this middleware after `MemoryMiddleware`, so that memory comes
    before the guidance about tools in the prompt.

    Args:
        backend: A backend, or a function from the runtime of a run to a backend.
        tools: Names of the tools to offer, instead of all.
        read_only: True leaves out the tools that write; a list of path patterns forbids
            writing there.
        allow: Patterns of the only paths that may be used. See `PathRules`.
        deny: Patterns of paths that may not be used; they win over `allow`.
        only: The only files that may be used, by their exact paths, such as the sources
            of a `MemoryMiddleware`.
        write_existing: `"error"` makes `write_file` refuse a file that is there already.
        first_match: Let `edit_file` replace the first of several places.
        limits: Bounds of the results of tools.
        system_prompt: Guidance to use instead of the default; `""` for none.
        name: The name of this middleware; an agent takes one of this kind.

    Raises:
        SettingError: For an unknown tool name or value.
        PatternRefused: For an invalid pattern.
    """

    def __init__(
        self,
        *,
        backend: BackendOrFactory,
        tools: Sequence[FileToolName] | None = None,
        read_only: bool | Sequence[str] = False,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        only: Sequence[str] | None = None,
        write_existing: Literal["overwrite", "error"] = "overwrite",
        first_match: bool = False,
        limits: ToolLimits | None = None,
        system_prompt: str | None = None,
        name: str = "FileToolsMiddleware",
    ) -> None:
        super().__init__()
        _adapter.check_backend_or_factory(backend, "backend")
        if not isinstance(read_only, bool):
            _checking.check_texts("read_only", read_only, "/team/", or_none=False)
        _checking.check_flags(first_match=first_match)
        _checking.check_instance("limits", limits, ToolLimits)
        _checking.check_text("system_prompt", system_prompt, or_none=True)
        _checking.check_text("name", name)
        if write_existing not in ("overwrite", "error"):
            raise SettingError(f"write_existing={write_existing!r}: must be 'overwrite' or 'error'")
        self._name = name
        self._backend = backend
        in_state = _adapter.keeps_files_in_state(backend)
        self.state_schema = FileToolsStateWithFiles if in_state else FileToolsState
        self._system_prompt = system_prompt
        chosen = _chosen_tools(tools, read_only is True)
        options = ToolOptions(
            backend=backend,
            rules=PathRules(
                allow=allow,
                deny=deny,
                only=only,
                read_only=None if isinstance(read_only, bool) else read_only,
            ),
            limits=limits or ToolLimits(),
            offered=frozenset(tool.name for tool in chosen),
            write_existing=write_existing,
            first_match=first_match,
        )
        self._offered = options.offered
        self._replacing = REPLACING & options.offered
        self.tools: Sequence[BaseTool] = [build_tool(tool, options) for tool in chosen]

    @property
    def name(self) -> str:
        """The name of this middleware, unique within an agent."""
        return self._name

    @property
    def own_backend(self) -> Any:
        """The backend or the factory of this middleware, for other middleware to work on."""
        return self._backend

    async def _around_model(
        self, runner: Runner, request: ModelRequest[Any], handler: Any
    ) -> Response:
        response: Response = await runner.call(handler, handler, self._guided(request))
        digests = await note_replaced_files(
            runner, self._backend, self._replacing, request, response
        )
        if not digests or not isinstance(response, ModelResponse):
            return response
        command: Command[Any] = Command(update={SEEN_KEY: digests})
        return ExtendedModelResponse(model_response=response, command=command)

    def _guided(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request with guidance about those of our tools that it still has."""
        ours = self._offered & {getattr(tool, "name", None) for tool in request.tools}
        text = guidance_for(ours) if self._system_prompt is None else self._system_prompt
        if not ours or not text:
            return request
        return request.override(
            system_message=append_to_system_message(request.system_message, text)
        )


def _chosen_tools(names: Sequence[str] | None, no_writing: bool) -> list[FileTool]:
    available = {tool.name for tool in ALL_TOOLS}
    if isinstance(names, str):
        raise SettingError(f"tools={names!r}: give a list of names, such as [{names!r}]")
    _checking.check_texts("tools", names, "read_file")
    if unknown := sorted(set(names or ()) - available):
        raise SettingError(f"tools={unknown}: unknown; known tools: {', '.join(sorted(available))}")
    offered = available if names is None else set(names)
    return [tool for tool in ALL_TOOLS if tool.name in offered and not (no_writing and tool.writes)]
