"""The helpers of file memory that documents show and that code in the wild overrides.

Each is a thin method over the real part. A subclass that overrides one is honoured:
the middleware then loads path by path, or takes the subclass's text as it is.
"""

from __future__ import annotations

from typing import Any

from memoryware._twins import Via, blocking, finish, native
from memoryware.backends import _foreign
from memoryware.backends.protocol import BackendProtocol
from memoryware.middleware._loading import Loaded, Reading
from memoryware.middleware._rendering import Renderer
from memoryware.middleware._texts import BackendRuntime, OnError, check_count, text_of
from memoryware.middleware.guidelines import MEMORY_SYSTEM_PROMPT


class OverridableParts:
    """What a subclass of `MemoryMiddleware` may replace."""

    _backend: Any
    _looks_at_whole_disk: bool
    _on_error: OnError
    _renderer: Renderer
    _reading: Reading

    def _get_backend(self, state: Any, runtime: Any, config: Any) -> BackendProtocol:
        """Return the backend, calling a factory with what it needs to know."""
        if _foreign.is_backend(self._backend):
            backend: BackendProtocol = self._backend
            return backend
        facts = BackendRuntime.of(state, runtime, config)
        return _foreign.resolve(self._backend, facts)

    @property
    def own_backend(self) -> Any:
        """The backend or factory of this middleware, for other middleware to work on.

        None for the whole disk that `sources="auto"` looks at when no backend was given: file
        tools must not get all of a disk that nobody has named.
        """
        if self._looks_at_whole_disk:
            return None
        if self._overrides("_get_backend"):
            return lambda runtime: self._get_backend(runtime.state, runtime, runtime.config)
        return self._backend

    def _format_agent_memory(
        self, contents: dict[str, str], template: str = MEMORY_SYSTEM_PROMPT
    ) -> str:
        """Return the text for the system message."""
        custom = None if template == MEMORY_SYSTEM_PROMPT else template
        return self._renderer.text(Loaded.by_hand(contents, self._reading.sources), custom)

    def _load_memory_from_backend_sync(self, backend: Any, path: str) -> str | None:
        """Return the text of one source, or None if it is missing."""
        return finish(_load_one(blocking, backend, path, self._on_error))

    async def _load_memory_from_backend(self, backend: Any, path: str) -> str | None:
        """Async twin of `_load_memory_from_backend_sync`."""
        return await _load_one(native, backend, path, self._on_error)

    def _check_backend(self, backend: Any) -> None:
        """Refuse what is neither a backend nor a factory, unless a subclass brings its own."""
        name = "_get_backend"
        if getattr(type(self), name) is getattr(OverridableParts, name) and not callable(backend):
            _foreign.must_be_backend(backend, "backend")

    def _loads_each_path(self) -> bool:
        return self._overrides("_load_memory_from_backend_sync") or self._overrides(
            "_load_memory_from_backend"
        )

    def _formats_itself(self) -> bool:
        return self._overrides("_format_agent_memory")

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(OverridableParts, name)


async def _load_one(via: Via, backend: Any, path: str, on_error: OnError) -> str | None:
    responses = await via(*_foreign.twins_of(backend, "download_files"), [path])
    check_count(backend, [path], responses)
    content, error = responses[0].content, responses[0].error
    reason = ""
    if error == "invalid_path":
        reason = await _foreign.refusal_of(via, backend, path)
    return text_of(path, content, error, on_error=on_error, reason=reason)
