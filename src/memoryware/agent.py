"""`create_deep_agent`: build an agent with file memory and file tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain.agents.middleware.types import AgentMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langgraph.graph.state import CompiledStateGraph

from memoryware import _checking, _langchain
from memoryware.backends import _adapter
from memoryware.backends.composite import CompositeBackend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import BackendOrFactory
from memoryware.backends.state import StateBackend
from memoryware.config import MODEL_VARIABLE, AgentConfig, load_config
from memoryware.errors import ModelMissing, SettingError
from memoryware.events import logger
from memoryware.middleware._memory_prompt import WRITERS
from memoryware.middleware.file_tools import FileToolsMiddleware
from memoryware.middleware.memory import MemoryMiddleware
from memoryware.middleware.tiered import TieredMemoryMiddleware
from memoryware.sources.source import Source, sources_of

_SKILLS_NOTE: Final = (
    "Instructions for special tasks are kept as files under /skills/. Before such a task, list"
    " that folder and read what fits."
)


def create_deep_agent(
    model: str | BaseChatModel | None = None,
    tools: Sequence[Any] | None = None,
    *,
    memory: Sequence[str | Source] | Literal["auto"] | None = None,
    enable_memory: bool = True,
    backend: BackendOrFactory | None = None,
    system_prompt: str | None = None,
    middleware: Sequence[AgentMiddleware[Any, Any, Any]] = (),
    interrupt_on: dict[str, Any] | None = None,
    checkpointer: Any = None,
    store: Any = None,
    context_schema: type[Any] | None = None,
    response_format: Any = None,
    state_schema: type[Any] | None = None,
    name: str | None = None,
    config: AgentConfig | str | os.PathLike[str] | None = None,
    debug: bool = False,
    cache: Any = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build an agent with file memory and file tools.

    Args:
        model: A chat model, or its name; by default that of `config`, then the
            environment's `MEMORYWARE_MODEL`.
        tools: More tools.
        memory: Memory files, as paths or `Source`s; "auto" looks for those that people
            already have. None (or an empty list) means no memory.
        enable_memory: False builds no memory, whatever `memory` and `config` say.
        backend: Where files are: a backend or a factory. By default that of your own
            `FileToolsMiddleware` or `MemoryMiddleware` in `middleware`, so that what the tools
            save is what memory reads; else the graph state, or with `config` the state with
            `/memories/` and `/skills/` on disk.
        system_prompt: The base prompt; memory is appended to it.
        middleware: Your own; it comes before memory, so that memory survives if it replaces the
            prompt. A `FileToolsMiddleware` in it replaces the built-in one. A
            `TieredMemoryMiddleware` comes last, because what it recalls differs from run to run
            and would invalidate the prompt cache of what follows.
        interrupt_on: Tools that wait for a person, as for `HumanInTheLoopMiddleware`.
        checkpointer: As for `create_agent`, like the arguments that are not described here.
        config: A configuration, or the path of its file.

    Returns:
        The agent, a compiled graph.

    Raises:
        ModelMissing: If no model is given and none is configured.
        SettingError: If `memory` comes together with a `MemoryMiddleware` of the same name.
        ConfigError: If the configuration file cannot be used.
    """
    _checking.check_flags(enable_memory=enable_memory, debug=debug)
    _checking.check_text("name", name, or_none=True)
    if not isinstance(system_prompt, SystemMessage):
        _checking.check_text("system_prompt", system_prompt, or_none=True)
    _check_kinds(tools, interrupt_on, backend)
    middleware = _checked_middleware(middleware)
    settings = _settings(config)
    chat_model = _model(model, settings)
    if backend is None and settings is None:
        backend = _shared_backend(middleware)
    if memory == "auto" and backend is None:
        raise SettingError(
            'memory="auto" looks for files that are there: pass their place as well, such as'
            " backend=FilesystemBackend(root_dir=...)"
        )
    backend = _backend(backend, settings, has_checkpointer=bool(checkpointer))
    sources = _sources(memory, settings, enable_memory=enable_memory)
    _refuse_second_memory(sources, middleware)
    file_tools = _file_tools(middleware, backend)
    tiered = [entry for entry in middleware if isinstance(entry, TieredMemoryMiddleware)]
    _warn_of_unreviewed_writers(interrupt_on, file_tools)
    answer_format: Any = response_format or (settings.response_format if settings else None)
    # `create_agent` has overloads by the types of schemas, which are passed through here.
    make: Any = create_agent
    agent: CompiledStateGraph[Any, Any, Any, Any] = make(
        chat_model,
        tools=tools,
        system_prompt=_prompt(system_prompt, settings),
        middleware=[
            # The order is that of the prompt: what changes least comes first, for its cache.
            TodoListMiddleware(),
            *(entry for entry in middleware if entry not in file_tools and entry not in tiered),
            *_prompt_caching(chat_model, middleware),
            *file_memory(sources, backend, add_cache_control=True),
            *file_tools,
            *tiered,
            *([HumanInTheLoopMiddleware(interrupt_on=interrupt_on)] if interrupt_on else []),
        ],
        response_format=answer_format,
        state_schema=state_schema,
        context_schema=context_schema,
        checkpointer=checkpointer,
        store=store,
        debug=debug,
        name=name,
        cache=cache,
    )
    return agent


def file_memory(
    memory: Sequence[str | Source] | Literal["auto"] | None,
    backend: BackendOrFactory | None,
    **options: Any,
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Return the memory part of a middleware list: nothing, or one `MemoryMiddleware`.

    Put it before the file tools, so that memory comes before their guidance in the prompt.

    Args:
        memory: Memory files, or "auto"; empty for no memory.
        backend: Where they are.
        options: Further options of `MemoryMiddleware`.

    Returns:
        The list to splice into `middleware=`.
    """
    if not memory:
        return []
    return [MemoryMiddleware(backend=backend, sources=memory, **options)]


def _check_kinds(tools: Any, interrupt_on: Any, backend: Any) -> None:
    """Refuse arguments of a kind that would fail later, with an error about something else."""
    if tools is not None and not _is_listed(tools):
        raise _checking.wrong("tools", tools, "a list of tools")
    if interrupt_on is not None and not isinstance(interrupt_on, Mapping):
        raise _checking.wrong("interrupt_on", interrupt_on, 'a dict such as {"delete": True}')
    if backend is not None:
        _adapter.check_backend_or_factory(backend, "backend")


def _checked_middleware(middleware: Any) -> list[AgentMiddleware[Any, Any, Any]]:
    if not _is_listed(middleware):
        raise _checking.wrong("middleware", middleware, "a list of middleware")
    # An iterator could be read only once, and the list is read several times.
    listed = list(middleware)
    for entry in listed:
        if not isinstance(entry, AgentMiddleware):
            raise SettingError(
                f"middleware holds {_checking.shown(entry)}: must be a list of middleware, each an"
                " instance such as MemoryMiddleware(...)"
            )
    return listed


def _is_listed(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type)


def _settings(config: AgentConfig | str | os.PathLike[str] | None) -> AgentConfig | None:
    if config is not None and not isinstance(config, AgentConfig):
        _checking.check_path("config", config)
    return config if config is None or isinstance(config, AgentConfig) else load_config(config)


def _sources(
    memory: Sequence[str | Source] | Literal["auto"] | None,
    settings: AgentConfig | None,
    *,
    enable_memory: bool,
) -> Sequence[str | Source] | Literal["auto"]:
    if not enable_memory:
        return []
    if memory is None:
        return list(settings.memory_files) if settings else []
    if memory == "auto":
        return "auto"
    if isinstance(memory, str):
        raise SettingError(f"memory={memory!r}: give a list of paths, such as [{memory!r}]")
    return sources_of(memory, "memory")


def _backend(backend: Any, settings: AgentConfig | None, *, has_checkpointer: bool) -> Any:
    if backend is None:
        backend = StateBackend() if settings is None else _mounted(settings)
    lives_in_state = _adapter.is_backend(backend) and _adapter.keeps_files_in_state(backend)
    if lives_in_state and not has_checkpointer:
        logger.warning(
            "files in the graph state are gone after each run without a checkpointer;"
            " pass checkpointer=InMemorySaver() or a lasting one"
        )
    return backend


def _shared_backend(middleware: Sequence[AgentMiddleware[Any, Any, Any]]) -> Any:
    """Return the backend that the caller's own middleware works on, or None."""
    # Memory that is read from one backend and file tools that write to another would look as if
    # each save succeeded while nothing of it comes back.
    backends: list[Any] = []
    for kind in (FileToolsMiddleware, MemoryMiddleware):
        of_kind = [entry for entry in middleware if isinstance(entry, kind)]
        backends = backends or [entry.own_backend for entry in of_kind]
    if any(backend is None for backend in backends):
        logger.warning(
            'a MemoryMiddleware with sources="auto" and no backend reads the whole disk, which the'
            " file tools do not get, so that they cannot save what it reads: pass"
            " backend=FilesystemBackend(root_dir=...)"
        )
        backends = [backend for backend in backends if backend is not None]
    distinct = list({id(backend): backend for backend in backends}.values())
    if len(distinct) > 1:
        logger.warning(
            "the memories in middleware= have %d different backends, and the file tools work on"
            " the first one only; pass backend= with a backend that holds all of them, such as"
            " CompositeBackend(...)",
            len(distinct),
        )
    return distinct[0] if distinct else None


def _prompt_caching(
    model: BaseChatModel, middleware: Sequence[AgentMiddleware[Any, Any, Any]]
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Return the prompt caching of langchain-anthropic where the model is one of theirs."""
    # It marks the tools, the messages, and the system prompt up to here; memory, which changes
    # more often, comes after that mark and has a mark of its own.
    if not _langchain.is_anthropic(model):
        return []
    # Older versions of langchain-anthropic have no middleware.
    try:
        from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
    except ImportError:
        return []
    if any(isinstance(entry, AnthropicPromptCachingMiddleware) for entry in middleware):
        return []
    return [AnthropicPromptCachingMiddleware(unsupported_model_behavior="ignore")]


def _mounted(settings: AgentConfig) -> CompositeBackend:
    settings.memories_dir.mkdir(parents=True, exist_ok=True)
    routes: dict[str, Any] = {"/memories/": FilesystemBackend(root_dir=settings.memories_dir)}
    if settings.skills_dir is not None:
        routes["/skills/"] = FilesystemBackend(root_dir=settings.skills_dir)
    return CompositeBackend(default=StateBackend(), routes=routes)


def _prompt(system_prompt: str | None, settings: AgentConfig | None) -> str | None:
    if settings is None:
        return system_prompt
    base = settings.system_prompt if system_prompt is None else system_prompt
    if settings.skills_dir is None:
        return base
    return f"{base}\n\n{_SKILLS_NOTE}" if base else _SKILLS_NOTE


def _model(model: str | BaseChatModel | None, settings: AgentConfig | None) -> BaseChatModel:
    chosen: Any = model or (settings and settings.model) or os.environ.get(MODEL_VARIABLE)
    if not chosen:
        raise ModelMissing(
            "No model: pass one as the first argument, such as"
            f' create_deep_agent("anthropic:claude-sonnet-4-5"), or set {MODEL_VARIABLE}'
        )
    if not isinstance(chosen, str) and (isinstance(chosen, type) or not hasattr(chosen, "invoke")):
        raise _checking.wrong("model", chosen, 'a chat model, or its name as "provider:model"')
    return init_chat_model(chosen) if isinstance(chosen, str) else chosen


def _file_tools(
    middleware: Sequence[AgentMiddleware[Any, Any, Any]], backend: Any
) -> list[AgentMiddleware[Any, Any, Any]]:
    """Return the user's own file tools, or the built-in ones."""
    own = [entry for entry in middleware if isinstance(entry, FileToolsMiddleware)]
    if len(own) > 1:
        raise SettingError(
            "middleware= holds more than one FileToolsMiddleware; their tools have the same names,"
            " so the rules of one would be lost. Use one, with all rules"
        )
    return list(own) or [FileToolsMiddleware(backend=backend)]


def _warn_of_unreviewed_writers(
    interrupt_on: dict[str, Any] | None, file_tools: Sequence[AgentMiddleware[Any, Any, Any]]
) -> None:
    """Warn when some writing tools wait for a person and others do not."""
    waits = {name for name, setting in (interrupt_on or {}).items() if setting}
    writers = {*WRITERS, "delete"} & {
        tool.name for file_tool in file_tools for tool in file_tool.tools
    }
    if waits & writers and writers - waits:
        logger.warning(
            "interrupt_on covers %s, but %s can change files as well",
            ", ".join(sorted(waits & writers)),
            ", ".join(sorted(writers - waits)),
        )


def _refuse_second_memory(
    sources: Sequence[str | Source], middleware: Sequence[AgentMiddleware[Any, Any, Any]]
) -> None:
    if sources and any(entry.name == MemoryMiddleware.__name__ for entry in middleware):
        raise SettingError(
            "memory= comes together with a MemoryMiddleware in middleware=, and both are named"
            ' "MemoryMiddleware". Give yours a name of its own, MemoryMiddleware(name="team", ...),'
            " or list its sources in memory="
        )
