"""Compatibility with subclasses of deepagents' memory middleware: its overridable methods.

Each is a thin method over the real implementation. If a subclass overrides one, the middleware
loads path by path, or uses the text of the subclass as it is.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware.backends import _adapter
from memoryware.backends.protocol import BackendProtocol
from memoryware.middleware._hooks import BackendRuntime
from memoryware.middleware._loading import (
    LoadedMemory,
    LoadOptions,
    OnError,
    check_count,
    source_text,
)
from memoryware.middleware._memory_prompt import MEMORY_SYSTEM_PROMPT, PromptRenderer

_EITHER: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD


class OverridableHelpers:
    """Methods that a subclass of `MemoryMiddleware` may override."""

    _backend: Any
    # The backend, once it has turned out not to be a factory.
    _fixed_backend: BackendProtocol | None = None
    _looks_at_whole_disk: bool
    _on_error: OnError
    _renderer: PromptRenderer
    _load_options: LoadOptions

    def _get_backend(self, state: Any, runtime: Any, config: Any) -> BackendProtocol:
        """Return the backend, calling a factory with what it needs to know."""
        configured, fixed = self._backend, self._fixed_backend
        if fixed is not None and fixed is configured:
            return fixed
        if _adapter.is_backend(configured):
            self._fixed_backend = configured
            backend: BackendProtocol = configured
            return backend
        facts = BackendRuntime.of(state, runtime, config)
        return _adapter.resolve(self._backend, facts)

    @property
    def own_backend(self) -> Any:
        """The backend or factory of this middleware, for other middleware to work on.

        None for the whole disk, which `sources="auto"` searches without a backend: file tools
        must not get a disk that the developer has not named.
        """
        if self._looks_at_whole_disk:
            return None
        if self._overrides("_get_backend"):
            return self._backend_for
        return self._backend

    def _backend_for(self, runtime: Any) -> BackendProtocol:
        return self._get_backend(runtime.state, runtime, runtime.config)

    def _format_agent_memory(
        self, contents: dict[str, str], template: str = MEMORY_SYSTEM_PROMPT
    ) -> str:
        """Return the text for the system message."""
        custom = None if template == MEMORY_SYSTEM_PROMPT else template
        return self._renderer.text(
            LoadedMemory.by_hand(contents, self._load_options.sources), custom
        )

    def _load_memory_from_backend_sync(self, backend: Any, path: str) -> str | None:
        """Return the text of one source, or None if it is missing."""
        return run_blocking(_load_path(BLOCKING, backend, path, self._on_error))

    async def _load_memory_from_backend(self, backend: Any, path: str) -> str | None:
        """Return the text of one source, or None if it is missing."""
        return await _load_path(ASYNC, backend, path, self._on_error)

    def _check_backend(self, backend: Any) -> None:
        """Refuse what is neither a backend nor a factory, unless a subclass looks it up."""
        name = "_get_backend"
        if getattr(type(self), name) is getattr(OverridableHelpers, name):
            _adapter.check_backend_or_factory(backend, "backend")

    def _formatted_by_subclass(self, contents: dict[str, str]) -> str:
        """Return the text of the method above, also of one that takes another form of call."""
        template = getattr(self, "system_prompt", None) or MEMORY_SYSTEM_PROMPT
        method: Any = self._format_agent_memory
        parameters = inspect.signature(method).parameters.values()
        positional = [
            parameter
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_ONLY, _EITHER)
        ]
        takes_any = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
        if takes_any or len(positional) > 1:
            return str(method(contents, template))
        if any(parameter.name == "template" for parameter in parameters):
            return str(method(contents, template=template))
        return str(method(contents))

    async def _load_each_path(self, runner: Runner, backend: Any) -> dict[str, str]:
        """Return the texts of the sources through the loaders that a subclass has replaced.

        A subclass may replace one of the two; it serves blocking and async runs then.
        """
        paths = [source.path for source in self._load_options.sources]
        blocking_own = self._overrides("_load_memory_from_backend_sync")
        native_own = self._overrides("_load_memory_from_backend")
        load: Any = self._load_memory_from_backend_sync
        aload: Any = self._load_memory_from_backend
        if not blocking_own:
            load = partial(run_in_loop, aload)
        elif not native_own:
            aload = partial(in_thread, load)
        texts = {path: await runner.call(load, aload, backend, path) for path in paths}
        return {path: text for path, text in texts.items() if text is not None}

    def _loads_each_path(self) -> bool:
        return self._overrides("_load_memory_from_backend_sync") or self._overrides(
            "_load_memory_from_backend"
        )

    def _formats_itself(self) -> bool:
        return self._overrides("_format_agent_memory")

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(OverridableHelpers, name)


async def _load_path(runner: Runner, backend: Any, path: str, on_error: OnError) -> str | None:
    responses = await runner.call(*_adapter.twins_of(backend, "download_files"), [path])
    check_count(backend, [path], responses)
    content, error = responses[0].content, responses[0].error
    reason = ""
    if error == "invalid_path":
        reason = await _adapter.refusal_of(runner, backend, path)
    return source_text(path, content, error, on_error=on_error, reason=reason)


def run_in_loop(function: Callable[..., Awaitable[Any]], /, *args: Any) -> Any:
    """Run a coroutine function from blocking code, also where a loop runs in this thread."""
    result: list[Any] = []

    def work() -> None:
        try:
            result.append((asyncio.run(_awaited(function, args)), None))
        except BaseException as error:  # noqa: BLE001 - raised again below
            result.append((None, error))

    thread = threading.Thread(target=partial(contextvars.copy_context().run, work))
    thread.start()
    thread.join()
    value, error = result[0]
    if error is not None:
        raise error
    return value


async def _awaited(function: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> Any:
    return await function(*args)
