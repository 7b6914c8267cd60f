"""The protocol: a server of the package `mcp` that passes requests on."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final, TypeVar

from memoryware._version import __version__
from memoryware.mcp import _tools as tools
from memoryware.mcp._package import check_installed
from memoryware.mcp._prompts import PromptSpec
from memoryware.mcp._requests import ClientInfo, RequestFailed
from memoryware.mcp._resources import ListedResource
from memoryware.mcp._server import MemoryServer

_NAME_CHARS: Final = 100
"""Characters of the name and the session of a client that are recorded."""
T = TypeVar("T")


def protocol_server(server: MemoryServer) -> Any:
    """Make a server of the package `mcp`.

    Args:
        server: Executes the requests.

    Returns:
        An `mcp.server.lowlevel.Server`.

    Raises:
        SettingError: If the package is not installed.
    """
    check_installed()
    from mcp.server.lowlevel import Server

    handlers = _Handlers(server)
    return Server(
        "memoryware",
        version=__version__,
        instructions=server.instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts if server.prompts else None,
        on_get_prompt=handlers.get_prompt if server.prompts else None,
    )


class _Handlers:
    """One handler for each method of the protocol."""

    def __init__(self, server: MemoryServer) -> None:
        import mcp_types

        self._server, self._types = server, mcp_types
        # Computed once: clients list them again and again.
        self._tools = [*map(_tool, server.offered.values())]
        self._prompts = [*map(_prompt, server.prompts.values())]

    async def list_tools(self, ctx: Any, params: Any) -> Any:
        del ctx, params
        return self._types.ListToolsResult(tools=self._tools)

    async def call_tool(self, ctx: Any, params: Any) -> Any:
        result = await self._server.answer(params.name, params.arguments, _caller(ctx))
        return self._types.CallToolResult(
            content=[self._types.TextContent(type="text", text=result.text)],
            structured_content=None if result.data is None else dict(result.data),
            is_error=not result.ok,
        )

    async def list_resources(self, ctx: Any, params: Any) -> Any:
        cursor = params.cursor if params is not None else None
        page, following = await _answered(self._server.list_resources(cursor, _caller(ctx)))
        listed = [*map(_resource, page)]
        return self._types.ListResourcesResult(resources=listed, next_cursor=following)

    async def list_templates(self, ctx: Any, params: Any) -> Any:
        del ctx, params
        templates = [
            self._types.ResourceTemplate(
                uri_template=template, name=name, title=title, description=description
            )
            for template, (name, title, description) in self._server.templates.items()
        ]
        return self._types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, ctx: Any, params: Any) -> Any:
        uri = str(params.uri)
        text, resource = await _answered(self._server.read_resource(uri, _caller(ctx)))
        contents = self._types.TextResourceContents(
            uri=uri, mime_type=resource.mime_type, text=text
        )
        return self._types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Any, params: Any) -> Any:
        del ctx, params
        return self._types.ListPromptsResult(prompts=self._prompts)

    async def get_prompt(self, ctx: Any, params: Any) -> Any:
        work = self._server.get_prompt(params.name, params.arguments, _caller(ctx))
        messages = [
            self._types.PromptMessage(
                role="user", content=self._types.TextContent(type="text", text=text)
            )
            for text in await _answered(work)
        ]
        description = self._server.prompts[params.name].description
        return self._types.GetPromptResult(description=description, messages=messages)


async def _answered(work: Awaitable[T]) -> T:
    """Return a result, or raise the error of the protocol."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

    try:
        return await work
    except RequestFailed as failure:
        code = INVALID_PARAMS if failure.is_invalid else INTERNAL_ERROR
        message = str(failure)
        raise MCPError(code, message[:1].upper() + message[1:]) from None


def _tool(spec: tools.ToolSpec) -> Any:
    import mcp_types as types

    hints = types.ToolAnnotations(
        title=spec.title,
        read_only_hint=spec.reads_only,
        destructive_hint=spec.replaces,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.arguments,
        output_schema=spec.result,
        annotations=hints,
    )


def _resource(resource: ListedResource) -> Any:
    import mcp_types as types

    changed_at = resource.changed_at
    notes = types.Annotations(
        audience=["user", "assistant"],
        priority=resource.priority,
        last_modified=None if changed_at is None else changed_at.isoformat(),
    )
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
        size=resource.size,
        annotations=notes,
    )


def _prompt(spec: PromptSpec) -> Any:
    import mcp_types as types

    argument = types.PromptArgument(
        name=spec.argument, description=spec.argument_text, required=spec.is_required
    )
    return types.Prompt(
        name=spec.name, title=spec.title, description=spec.description, arguments=[argument]
    )


def _caller(ctx: Any) -> ClientInfo:
    """Return the client of a request."""
    headers = getattr(ctx.request, "headers", None) or {}
    session = str(headers.get("mcp-session-id") or "")
    params = ctx.session.client_params
    name = params.client_info.name if params is not None and params.client_info else ""
    return ClientInfo(
        session[:_NAME_CHARS],
        "".join(character for character in name[:_NAME_CHARS] if character.isprintable()),
        is_remote=ctx.request is not None,
    )
