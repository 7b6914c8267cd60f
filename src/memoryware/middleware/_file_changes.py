"""Parse tool calls that change files into planned changes, and lock the files meanwhile."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from memoryware._runner import BLOCKING, Runner
from memoryware.backends import _text
from memoryware.errors import FileError, LockTimeout
from memoryware.sources.policy import WriteKind

_KINDS: Final[dict[str, WriteKind]] = {
    "write_file": "write",
    "edit_file": "edit",
    "append_file": "append",
    "delete": "delete",
}
CHANGING: Final = frozenset(_KINDS)
"""Tools that change files, after which memory is read again."""
# The argument that brings the new text, by the names it may have.
_TEXTS: Final = {
    "write": ("content", "text"),
    "edit": ("new_string",),
    "append": ("text", "content"),
    "delete": (),
}


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change that a tool call asks for.

    Attributes:
        kind: How the text is changed.
        path: The file, as the model spelled it.
        text: The name of the argument with the new text, "" for none.
        args: The arguments of the call.
    """

    kind: WriteKind
    path: str
    text: str
    args: Mapping[str, Any]

    def after(self, before: bytes | None) -> bytes | None:
        """Return the bytes that the file would have; None for no file.

        Raises:
            FileError: If the tool cannot do it and will answer with an error itself.
        """
        new = self.args.get(self.text) if self.text else None
        if self.kind == "delete":
            return None
        if not isinstance(new, str):
            return before
        if self.kind == "write":
            return _text.encode(self.path, new)
        if self.kind == "append":
            return _text.append_bytes(self.path, before or b"", new)
        old, every = self.args.get("old_string"), _is_true(self.args.get("replace_all"))
        if not isinstance(old, str):
            return before
        if not old:
            blank = not before or not _text.decode(before).text.strip()
            return _text.encode(self.path, new) if blank else before
        return _text.edit_bytes(self.path, before or b"", old, new, every)[0]

    def with_text(self, change: Callable[[str], str]) -> dict[str, Any]:
        """Return the arguments with another new text."""
        text = self.args.get(self.text)
        return {**self.args, self.text: change(text)} if isinstance(text, str) else {**self.args}


def planned_change(
    call: Mapping[str, Any], own_tool: str, only_source: str
) -> PlannedChange | None:
    """Return the change that a tool call asks for, or None if it changes no file.

    Tools of other packages with the names of ours are understood as well. A call that is not
    understood, or that its tool is going to refuse, is no planned change.

    Args:
        call: A tool call.
        own_tool: The name of the middleware's own writing tool, or "".
        only_source: The file that this tool means when none is named, or "".
    """
    args = call["args"]
    own = bool(own_tool) and call["name"] == own_tool
    kind: WriteKind | None = "edit" if own else _KINDS.get(call["name"])
    if kind is None or not isinstance(args, Mapping):
        return None
    path = args.get("file_path") or args.get("path") or (only_source if own else "")
    if not isinstance(path, str) or not path:
        return None
    text = next((name for name in _TEXTS[kind] if isinstance(args.get(name), str)), "")
    return PlannedChange(kind, path, text, args)


def bytes_after(plan: PlannedChange, before: bytes | None) -> bytes | None:
    """Return the content of the file after a change; if that is unclear, the worst case.

    Tools of other packages, and some options of ours, accept what the strict edit refuses: they
    replace the first of several matches, or edit invalid text.
    """
    try:
        return plan.after(before)
    except FileError:
        # Judged as if it went through: a tool of another package may replace the first of
        # several matches where ours refuses, and an unjudged write could carry a secret.
        form = _text.decode(before or b"")
        old, new = plan.args.get("old_string"), plan.args.get(plan.text)
        if not isinstance(new, str):
            return before
        if plan.kind == "append":
            return (before or b"") + new.encode("utf-8", "replace")
        if not isinstance(old, str) or not old or old not in form.text:
            return before
        many = -1 if _is_true(plan.args.get("replace_all")) else 1
        return form.text.replace(old, new, many).encode("utf-8", "surrogatepass")


def _is_true(flag: Any) -> bool:
    """Read a flag as pydantic does, for models that send it as a text."""
    return str(flag).strip().lower() in ("true", "1", "1.0", "yes", "on", "t", "y")


# Number of locks; files whose paths have the same hash share one and wait for each other.
_STRIPES: Final = 64


class FileLocks:
    """Locks of files, for threads and for tasks of an event loop."""

    # Several calls of one message run concurrently. Judged apart they may each be harmless, and
    # together be a secret or the end of a file; so a file is locked from judgement to write.

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._threads = [threading.Lock() for _ in range(_STRIPES)]
        # An asyncio.Lock belongs to the loop that first waits for it, and a program may run
        # several loops one after the other, as `asyncio.run` in tests and workers does.
        self._tasks: weakref.WeakKeyDictionary[object, list[asyncio.Lock]] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def hold(self, runner: Runner, path: str) -> AsyncIterator[None]:
        """Keep other calls off a file for the length of a block.

        Raises:
            LockTimeout: If another call holds it for too long.
        """
        # Striped, because a lock for each path would never be freed.
        stripe = hash(path) % _STRIPES
        if runner is BLOCKING:
            lock = self._threads[stripe]
            if not lock.acquire(timeout=self._timeout):
                raise _busy(path)
            try:
                yield
            finally:
                lock.release()
            return
        turn = self._tasks.setdefault(
            asyncio.get_running_loop(), [asyncio.Lock() for _ in range(_STRIPES)]
        )[stripe]
        try:
            await asyncio.wait_for(turn.acquire(), self._timeout)
        except TimeoutError:
            raise _busy(path) from None
        try:
            yield
        finally:
            turn.release()


def _busy(path: str) -> LockTimeout:
    message = f"'{path}' is locked by another tool call that has not finished; try again"
    return LockTimeout(path, message)
