"""Access of a tool call to files: path rules, limits, and detection of concurrent changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage

from memoryware import _langchain
from memoryware._runner import Runner
from memoryware.backends import _adapter
from memoryware.backends._adapter import BackendAdapter
from memoryware.backends._paths import normalise
from memoryware.backends._text import digest
from memoryware.errors import FileDenied, FileError, FileIsDirectory
from memoryware.events import logger
from memoryware.middleware._hooks import BackendRuntime
from memoryware.middleware._path_rules import Operation, PathRules, absolute_names, by_spelling
from memoryware.settings import ToolLimits

# The usual estimate for English text; results are bounded, not billed, by it.
CHARS_PER_TOKEN: Final = 4
FileDigest = tuple[str, str]
"""A path, and a digest of what was there when the model asked to replace it."""


_SKIP_CHECK: ContextVar[bool] = ContextVar("memoryware_verified", default=False)


@contextmanager
def skip_unchanged_check() -> Iterator[None]:
    """Let the tool that runs inside the block skip its own check that a file is unchanged."""
    # The gate of memory files has compared it already, and knows that an earlier call of the same
    # message may have changed it.
    reset = _SKIP_CHECK.set(True)
    try:
        yield
    finally:
        _SKIP_CHECK.reset(reset)


@dataclass(frozen=True, slots=True)
class Access:
    """The files as one tool call may see and change them."""

    runner: Runner
    files: BackendAdapter
    rules: PathRules
    limits: ToolLimits
    expected: FileDigest | None = None

    async def resolve_file(self, operation: Operation, path: str) -> str:
        """Return the path to pass to the backend for a file that may be used.

        With rules it is the name that they were applied to, so that no other spelling of the path
        reaches the backend; without rules it is the path as it came.

        Raises:
            PathRefused: For a path that no backend takes.
            FileDenied: If the rules deny it.
        """
        names = await self._names(path)
        if self.rules and not self.rules.permits(operation, names):
            raise self.rules.refusal(operation, path, names)
        return names[0]

    async def resolve_folder(self, folder: str) -> str:
        """Return the path to pass to the backend for a folder or file that is searched.

        Raises:
            PathRefused: For a path that no backend takes.
            FileDenied: If the rules hide all that is in it.
        """
        names = await self._names(folder)
        if self.rules and not (self.rules.may_hold(names) or self.rules.permits("read", names)):
            raise self.rules.refusal("read", folder, names)
        return names[0]

    async def _names(self, path: str) -> tuple[str, ...]:
        normal_path(path)
        if not self.rules:
            return (path,)
        (names,) = await absolute_names(self.runner, self.files.backend, [path])
        return names or ((path,) if path in (self.rules.only or ()) else ())

    async def visible(self, rows: Sequence[Any]) -> list[Any]:
        """Return the rows of a result whose paths may be read."""
        if not self.rules:
            return list(rows)
        paths = sorted({row["path"] for row in rows})
        if self.rules.judge_links:
            names = await absolute_names(self.runner, self.files.backend, paths)
        else:
            names = [by_spelling(path) for path in paths]
        pairs = zip(paths, names, strict=True)
        open_here = {path for path, own in pairs if self._shows(path, own)}
        return [row for row in rows if row["path"] in open_here]

    def _shows(self, path: str, names: tuple[str, ...]) -> bool:
        if path.endswith("/"):
            return self.rules.may_hold(names)
        return self.rules.permits("read", names)

    async def content(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there is none.

        Raises:
            FileError: If it cannot be read.
        """
        (response,) = await self.files.download(self.runner, [path])
        if response.error == "file_not_found":
            return None
        if response.error == "is_directory":
            raise FileIsDirectory(path)
        if response.error == "permission_denied":
            raise FileDenied(path, f"permission denied: this process may not read {path}")
        if response.error is not None:
            raise _Unreadable(path, f"'{path}' cannot be read: {response.error}")
        return as_bytes(response.content)

    async def is_unchanged(self, spelled: str, path: str) -> bool:
        """Return whether a file is as it was when the model asked to replace it.

        `spelled` is the path as the model spelled it, `path` the one that was admitted.
        """
        if _SKIP_CHECK.get() or self.expected is None or self.expected[0] != spelled:
            return True
        (now,) = await digests(self.runner, self.files, [path])
        return now == self.expected[1]

    @property
    def budget(self) -> int:
        """Characters that one result may have."""
        return self.limits.result_tokens * CHARS_PER_TOKEN

    def lines_that_fit(self, lines: Sequence[str], joint: int) -> int:
        """Return how many of the lines fit into one result, at least one."""
        left = self.budget
        for n, line in enumerate(lines):
            left -= len(line) + joint
            if left < 0:
                return max(n, 1)
        return len(lines)


class _Unreadable(FileError):
    code = "invalid_path"


def normal_path(path: str) -> str:
    """Return the normal spelling of a path, from its home folder if it begins with `~`.

    What `~` means, only the backend knows.

    Raises:
        PathRefused: For what no backend takes.
    """
    # `~/x` is a path of the backend; `~x`, another user's home in a shell, is just a name.
    home = path.startswith("~") and path[1:2] in ("", "/", "\\")
    return normalise(path[1:] if home else path)


async def digests(runner: Runner, files: BackendAdapter, paths: list[str]) -> list[str | None]:
    """Return a digest of the file at each path, "" for no file, None if it cannot be read."""
    return [
        _digest(response.content, response.error)
        for response in await files.download(runner, paths)
    ]


def _digest(content: Any, error: Any) -> str | None:
    if content is None:
        return "" if error == "file_not_found" else None
    return file_digest(as_bytes(content))


def file_digest(data: bytes | None) -> str:
    """Return a short digest of a file's bytes, "" for no file."""
    return digest(data) or ""


def as_bytes(content: Any) -> bytes:
    """Return downloaded content as bytes; other backends may give text, or nothing."""
    return content.encode() if isinstance(content, str) else bytes(content or b"")


REPLACING = frozenset({"write_file", "delete"})


async def note_replaced_files(
    runner: Runner, backend: Any, tools: frozenset[str], request: Any, answer: Any
) -> dict[str, FileDigest]:
    """Return, by call id, the path and digest of each file that a call of `tools` will replace."""
    # A person may think for hours between a call and its write. An edit is checked against the
    # text that it replaces; a write of a whole file, or a delete, has nothing to check. So the
    # digest that is noted here is compared before the write.
    calls = _replaced_paths(getattr(answer, "result", None) or [answer], tools)
    if not calls:
        return {}
    try:
        config = _langchain.current_config()
        facts = BackendRuntime.of(request.state, request.runtime, config)
        files = _adapter.BackendAdapter(_adapter.resolve(backend, facts))
        now = await digests(runner, files, list(calls.values()))
    except Exception as error:  # noqa: BLE001 - the call itself will say what is wrong
        logger.debug("no digest of files to replace: %s", type(error).__name__)
        return {}
    pairs = zip(calls.items(), now, strict=True)
    return {call: (path, digest) for (call, path), digest in pairs if digest is not None}


def _replaced_paths(messages: Sequence[Any], tools: frozenset[str]) -> dict[str, str]:
    paths = {}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            arguments: Mapping[str, Any] = call["args"]
            path = arguments.get("file_path") or arguments.get("path")
            if call["name"] in tools and call["id"] and isinstance(path, str):
                paths[call["id"]] = path
    return paths
