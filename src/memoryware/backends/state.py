"""`StateBackend`: files in the state of the running graph, one set per thread.

Tasks that run in parallel in one step all read the state as it was before the step. So an
update carries not only the new record but also the operation and a digest of the text it was
applied to, and the reducer applies the operation again if another task was first. What cannot
be merged is stored beside the file as a conflict copy: an accepted change is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final

from memoryware import _checking, _langchain
from memoryware._clock import Clock
from memoryware._runner import Runner
from memoryware.backends._filedata import appended, digest_of, edited, file_of, surroundings
from memoryware.backends._paths import normal_or_same
from memoryware.backends._records import NewRecord, RecordBackend, Records, add_folders
from memoryware.backends.protocol import FileData
from memoryware.errors import FileError
from memoryware.events import logger
from memoryware.settings import FileLimits

__all__ = ["FilesChannel", "StateBackend", "files_reducer"]

CHANNEL: Final = "files"
"""The state key that holds the files, by path."""
# Key of the operation in an update: `{"base": digest, "steps": [...]}`. It is never stored. A
# reducer of another library would store it, so that one gets plain records.
_DONE: Final = "_change"


class StateBackend(RecordBackend):
    """Keep files in the `files` key of the running graph's state.

    Files live as long as the thread: they are there in its later turns if the graph has
    a checkpointer, and other threads do not see them. A write is visible at once to the
    task that made it, and to everybody after the step. `invoke({"files": {path: record}})`
    puts files in from outside.

    A deletion and an edit of one file in the same step count in the order of the tasks:
    an edit after a deletion brings the whole edited file back, a deletion after an edit
    removes it. A subgraph with a `files` key of its own hands back the files that it has,
    so what it deleted stays in its parent.

    Args:
        runtime: For code that passes a runtime as first argument; read only outside a graph.
        clock: Returns the current time, for `created_at` and `modified_at`; None asks the system.
        limits: Sizes and waiting times.
    """

    def __init__(
        self, runtime: Any = None, *, clock: Clock | None = None, limits: FileLimits | None = None
    ) -> None:
        super().__init__(clock=clock, limits=limits)
        if isinstance(runtime, str | bytes | int | float | list | tuple | type):
            raise _checking.wrong("runtime", runtime, "the runtime of a graph, or left out")
        self._runtime = runtime

    def _records(self) -> Records:
        return _Channel(self._runtime)


class _Channel:
    """The files of the running task, read once per operation and again after a write."""

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self._read: Mapping[str, Any] | None = None
        self._normal_or_same: dict[str, str] | None = None
        self._folders: set[str] | None = None

    async def get(self, runner: Runner, paths: Sequence[str]) -> list[Any]:  # noqa: ARG002 - no I/O
        files = self._files()
        return [files.get(self._key(path)) for path in paths]

    async def all(self, runner: Runner) -> Mapping[str, Any]:  # noqa: ARG002 - no I/O
        files = self._files()
        return {name: files[key] for name, key in self._keys().items()}

    async def has_below(self, runner: Runner, folder: str) -> bool:  # noqa: ARG002 - no I/O
        if self._folders is None:
            self._folders = set()
            add_folders(self._folders, self._keys())
        return folder in self._folders

    async def put(self, runner: Runner, changes: Mapping[str, NewRecord]) -> None:  # noqa: ARG002 - no I/O
        update: dict[str, Any] = {}
        for path, change in changes.items():
            key = self._key(path)
            if key != path:
                update[key] = None
            update[path] = dict(change.file)
            # A reducer of deepagents or of the user would store the note as part of the file.
            if _langchain.is_reduced_by(CHANNEL, files_reducer):
                done = {"base": digest_of(change.base), "steps": _steps_with_lines(path, change)}
                update[path][_DONE] = done
        self._send(update)

    async def drop(self, runner: Runner, paths: Sequence[str]) -> None:  # noqa: ARG002 - no I/O
        self._send({self._key(path): None for path in paths})

    # No lock: the reducer merges the changes of parallel tasks.
    def holding(self, runner: Runner, paths: Sequence[str]) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def _files(self) -> Mapping[str, Any]:
        if self._read is None:
            if self._runtime is not None and not _langchain.has_channels():
                state = getattr(self._runtime, "state", None) or {}
                self._read = state.get(CHANNEL) or {}
            else:
                self._read = _langchain.read_channel(CHANNEL) or {}
        return self._read

    def _send(self, update: dict[str, Any]) -> None:
        if update:
            _langchain.send_channel(CHANNEL, update)
            self._read = self._normal_or_same = self._folders = None
            if not _langchain.has_checkpointer():
                _log_files_are_lost()

    # Files that a user passed on invoke may be spelled in any way, if the reducer of
    # another library is in force.

    def _key(self, path: str) -> str:
        return path if self._files().get(path) is not None else self._keys().get(path, path)

    def _keys(self) -> dict[str, str]:
        if self._normal_or_same is None:
            keys: dict[str, str] = {}
            for key, record in self._files().items():
                if record is not None:
                    name = normal_or_same(key)
                    if name == key or name not in keys:
                        keys[name] = key
            self._normal_or_same = keys
        return self._normal_or_same


def files_reducer(
    left: Mapping[str, Any] | None, right: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Merge an update into the `files` key of a graph's state.

    A plain record replaces the file. An update of `StateBackend` is applied to the file as it is
    now, also where another task changed it in the same step.

    Args:
        left: The files before, by path; None for none.
        right: The update; a record that is None deletes its file.

    Returns:
        The files after the update, by normal path.
    """
    files = dict(left or {})
    for key, record in (right or {}).items():
        path = normal_or_same(key)
        if record is None:
            files.pop(path, None)
        elif isinstance(record, Mapping) and _DONE in record:
            _merge(files, path, record)
        else:
            files[path] = record
    return files


def _merge(files: dict[str, Any], path: str, update: Mapping[str, Any]) -> None:
    new = {key: value for key, value in update.items() if key != _DONE}
    done = update[_DONE]
    there = file_of(files.get(path))
    # The common case: nobody else changed the file in this step.
    if there is None or digest_of(there) == done["base"]:
        files[path] = new
        return
    again = _reapply(path, there, done["steps"])
    if again is not None:
        created = {"created_at": there["created_at"]} if "created_at" in there else {}
        files[path] = {**new, **again, **created}
    elif digest_of(there) != digest_of(file_of(new)):
        copy = _conflict_path(files, path, new)
        files[copy] = new
        _log_conflict(path, copy)


def _steps_with_lines(path: str, change: NewRecord) -> list[Any]:
    """Return the steps of a change; an edit with a digest of its lines, to find them again.

    Without it the old text could be found in a part that another task has written.
    """
    steps: list[Any] = list(change.steps)
    if steps[0] == "edit" and change.base is not None:
        steps.append(surroundings(path, change.base, steps[1]))
    return steps


def _reapply(path: str, there: FileData, steps: Sequence[Any]) -> FileData | None:
    """Apply a change again to a text that another task has changed, if it still fits."""
    try:
        match steps:
            case ["edit", old, new, every, lines] if surroundings(path, there, old) == lines:
                return edited(path, there, old, new, every=every)[0]
            case ["append", line]:
                return appended(path, there, line)
    except FileError:
        return None
    return None


def _conflict_path(files: Mapping[str, Any], path: str, new: Mapping[str, Any]) -> str:
    """Return the path of a conflict copy, made from the path and the text alone."""
    digest = digest_of(file_of(new))
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    # From the text alone, so that a step that is computed again makes the same copy.
    for length in range(8, len(digest) + 1):
        copy = f"{folder}/{stem}.conflict-{digest[:length]}{dot}{ending}"
        if copy not in files or digest_of(file_of(files[copy])) == digest:
            break
    return copy


def _describe_step(before: Mapping[str, Any], updates: Sequence[Any]) -> list[Any]:
    """Describe the plain records of several updates of one step as changes.

    A subgraph hands back all its files, changed or not. Records that are unchanged since
    before the step are left out, so that they do not undo what another task did; others
    become whole writes over the text before the step.
    """
    return [_describe_update(before, update) for update in updates]


def _describe_update(before: Mapping[str, Any], update: Any) -> Any:
    if not isinstance(update, Mapping):
        return update
    described = {}
    for key, record in update.items():
        file = file_of(record)
        if file is None or _DONE in record:
            described[key] = record
            continue
        base = file_of(before.get(normal_or_same(key)))
        if base is None or (base["content"], base["encoding"]) != (
            file["content"],
            file["encoding"],
        ):
            done = {"base": digest_of(base), "steps": ["write"]}
            described[key] = {**record, _DONE: done}
    return described


@lru_cache(maxsize=256)  # a step is computed again at every read within it
def _log_conflict(path: str, copy: str) -> None:
    logger.warning(
        "%s was changed by two tasks of one step and the changes do not fit together;"
        " the second text is kept in %s",
        path,
        copy,
    )


@lru_cache(maxsize=1)
def _log_files_are_lost() -> None:
    logger.warning(
        "files written to the state are not there in the next run, because the graph has no"
        " checkpointer; pass one, or keep them in a StoreBackend or FilesystemBackend"
    )


if TYPE_CHECKING:
    FilesChannel = Annotated[dict[str, FileData], files_reducer]
    """The type of a `files` key in a state schema; it brings the reducer along."""
else:

    def __getattr__(name: str) -> Any:
        if name == "FilesChannel":
            channel = _langchain.step_channel(files_reducer, _describe_step)
            # Any, because pydantic makes no schema of a TypedDict of Python 3.11.
            return Annotated[dict[str, Any], channel]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
