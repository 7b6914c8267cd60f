"""From a backend's answer about one source to its text, or to an error that says what to do."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memoryware.backends._text import decode
from memoryware.errors import LoadError, ResponseCountError
from memoryware.events import logger

OnError = Literal["raise", "warn"]
"""What to do with a source that cannot be read: stop the run, or go on without it."""


@dataclass(frozen=True, slots=True)
class BackendRuntime:
    """What a backend factory is called with inside a middleware hook."""

    state: Any
    context: Any
    store: Any
    stream_writer: Any
    config: Any
    tool_call_id: str | None = None

    @classmethod
    def of(cls, state: Any, runtime: Any, config: Any) -> BackendRuntime:
        """Put together what a hook knows."""
        return cls(
            state=state,
            context=getattr(runtime, "context", None),
            store=getattr(runtime, "store", None),
            stream_writer=getattr(runtime, "stream_writer", None),
            config=config or {},
        )


def check_count(backend: Any, paths: Sequence[str], responses: Sequence[Any]) -> None:
    """Refuse a batch whose answers cannot be matched to its paths.

    Raises:
        ResponseCountError: Naming the backend, the paths and both counts.
    """
    if len(responses) == len(paths):
        return
    name = type(backend).__name__
    plural = "s" if len(paths) > 1 else ""
    raise ResponseCountError(
        f"Expected {len(paths)} response{plural} for path{plural} {', '.join(paths)},"
        f" got {len(responses)} ({name}.download_files: expected {len(paths)},"
        f" answered {len(responses)})"
    )


def text_of(
    path: str, content: Any, error: str | None, *, on_error: OnError, reason: str = ""
) -> str | None:
    """Return the text of one response, or None for a source that gives none.

    Raises:
        LoadError: With `on_error="raise"`, for any code but `file_not_found`.
    """
    if error == "file_not_found":
        return None
    if error is not None:
        if on_error == "raise":
            raise LoadError(path, error, hint_for(error, reason))
        # what is no code may be the message of a foreign backend, and quote anything
        code = error if error.isidentifier() else "an error without a code"
        because = f"{code} ({reason})" if reason else code
        logger.warning("memory source %s was not loaded: %s", path, because)
        return None
    data = bytes_of(content)
    if data is None:
        return None
    decoded = decode(data)
    if decoded.lossy:
        logger.warning(
            "memory source %s is not valid %s; unreadable bytes are shown as U+FFFD",
            path,
            decoded.encoding,
        )
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("memory source %s loaded, %d bytes", path, len(data))
    return decoded.text


def hint_for(error: str, reason: str = "") -> str:
    """Return what to do about an error code of a memory source.

    Args:
        error: The code.
        reason: What the backend says of this very path, if anything.
    """
    hints = {
        "is_directory": "It is a folder; name a file in it",
        "permission_denied": "This process, or a rule given here, may not read it",
        "too_large": "It has more bytes than read_max_bytes of FileLimits; split it",
        "invalid_path": "It leaves the root (also by a link), lies below a file, or is no path"
        " that this backend has; use one such as /AGENTS.md",
    }
    skip = 'or pass on_error="warn" to go on without it'
    if reason:
        return f"{reason}. {skip[3].upper()}{skip[4:]}"
    return f"{hints[error]}, {skip}" if error in hints else skip[3].upper() + skip[4:]


def bytes_of(content: Any) -> bytes | None:
    """Return downloaded content as bytes; other backends may give text."""
    return content.encode() if isinstance(content, str) else content
