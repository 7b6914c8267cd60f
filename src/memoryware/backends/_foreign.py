"""The only file that looks at what kind of thing a backend is.

A backend may be ours, deepagents', or anybody's with the right methods; it may be
given as an instance or as a factory that is called with a runtime. Results are
read by attribute, and older plain lists are accepted.
"""

from __future__ import annotations

from typing import Any, cast

from memoryware.backends.protocol import BackendProtocol, Fingerprints

_METHODS = ("download_files", "adownload_files", "read", "write")


def resolve(backend: Any, runtime: Any) -> BackendProtocol:
    """Return the backend itself, or what a factory makes of the runtime.

    Args:
        backend: An instance, or a callable that takes a runtime.
        runtime: Has `.state .context .store .stream_writer .config .tool_call_id`.
    """
    if callable(backend) and not is_backend(backend):
        return cast("BackendProtocol", backend(runtime))
    return cast("BackendProtocol", backend)


def is_backend(value: Any) -> bool:
    """Say whether a value is a backend rather than a factory of backends."""
    return any(hasattr(value, name) for name in _METHODS)


def fingerprints_of(backend: Any) -> Fingerprints | None:
    """Return the backend as one that offers fingerprints, or None."""
    return backend if isinstance(backend, Fingerprints) else None
