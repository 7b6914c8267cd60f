"""Files in the state of the running graph: short-term memory, one set per thread.

Tasks that run side by side in one step all read the state as it was before the step.
So an update does not only carry a whole new record but also what was done to which
text, and the reducer does it again where another task was first. What cannot be done
again is kept beside the file as a conflict copy: an accepted change is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final

from memoryware import _checking, _langchain
from memoryware._clock import Clock, utc_now
from memoryware._twins import Via
from memoryware.backends._filedata import appended, digest_of, edited, file_of, surroundings
from memoryware.backends._paths import normalise
from memoryware.backends._records import Change, RecordBackend, Records, add_folders
from memoryware.backends.protocol import FileData
from memoryware.errors import FileError
from memoryware.events import logger
from memoryware.settings import FileLimits

__all__ = ["FilesChannel", "StateBackend", "files_reducer"]

CHANNEL: Final = "files"
"""The state key that holds the files, by path."""
_DONE: Final = "_change"
"""Where an update says what was done: `{"base": digest, "steps": [...]}`. Never stored.

A reducer of another library would store it, so it gets plain records.
"""


class StateBackend(RecordBackend):
    """Keep files in the `files` key of the running graph's state.

    Files live as long as the thread: they are there in its later turns if the graph has
    a checkpointer, and other threads do not see them. A write is seen at once by the
    task that made it, and by everybody after the step. `invoke({"files": {path: record}})`
    puts files in from outside.

    A deletion and an edit of one file in the same step count in the order of the tasks:
    an edit after a deletion brings the whole edited file back, a deletion after an edit
    removes it. A subgraph with a `files` key of its own hands back the files that it has,
    so what it deleted stays in its parent.

    The runtime that older code passes is accepted, and read where no graph is running.
    """

    def __init__(
        self, runtime: Any = None, *, clock: Clock = utc_now, limits: FileLimits | None = None
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
        self._spelled: dict[str, str] | None = None
        self._folders: set[str] | None = None

    async def get(self, via: Via, paths: Sequence[str]) -> list[Any]:  # noqa: ARG002 - no I/O
        files = self._files()
        return [files.get(self._key(path)) for path in paths]

    async def all(self, via: Via) -> Mapping[str, Any]:  # noqa: ARG002 - no I/O
        files = self._files()
        return {name: files[key] for name, key in self._keys().items()}

    async def has_below(self, via: Via, folder: str) -> bool:  # noqa: ARG002 - no I/O
        if self._folders is None:
            self._folders = set()
            add_folders(self._folders, self._keys())
        return folder in self._folders

    async def put(self, via: Via, changes: Mapping[str, Change]) -> None:  # noqa: ARG002 - no I/O
        update: dict[str, Any] = {}
        for path, change in changes.items():
            key = self._key(path)
            if key != path:
                update[key] = None
            update[path] = dict(change.file)
            if _langchain.is_reduced_by(CHANNEL, files_reducer):
                done = {"base": digest_of(change.base), "steps": _placed(path, change)}
                update[path][_DONE] = done
        self._send(update)

    async def drop(self, via: Via, paths: Sequence[str]) -> None:  # noqa: ARG002 - no I/O
        self._send({self._key(path): None for path in paths})

    # The reducer brings writers together, so nobody is kept out.
    def holding(self, via: Via, paths: Sequence[str]) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
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
            self._read = self._spelled = self._folders = None
            if not _langchain.has_checkpointer():
                _tell_once_that_files_are_lost()

    # Files that a user passed on invoke may be spelled in any way, if the reducer of
    # another library is in force.

    def _key(self, path: str) -> str:
        return path if self._files().get(path) is not None else self._keys().get(path, path)

    def _keys(self) -> dict[str, str]:
        if self._spelled is None:
            keys: dict[str, str] = {}
            for key, record in self._files().items():
                if record is not None:
                    name = _spelled(key)
                    if name == key or name not in keys:
                        keys[name] = key
            self._spelled = keys
        return self._spelled


def _spelled(key: str) -> str:
    """Return the normal spelling of a path, or a refused path as it is."""
    try:
        return normalise(key)
    except FileError:
        return key


def files_reducer(
    left: Mapping[str, Any] | None, right: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the files after an update: merged by path, `None` deletes.

    A plain record replaces what is there. An update of `StateBackend` is applied to what
    is there now, whoever changed it meanwhile.
    """
    files = dict(left or {})
    for key, record in (right or {}).items():
        path = _spelled(key)
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
    if there is None or digest_of(there) == done["base"]:
        files[path] = new
        return
    again = _again(path, there, done["steps"])
    if again is not None:
        created = {"created_at": there["created_at"]} if "created_at" in there else {}
        files[path] = {**new, **again, **created}
    elif digest_of(there) != digest_of(file_of(new)):
        copy = _conflict_path(files, path, new)
        files[copy] = new
        _tell_of_conflict(path, copy)


def _placed(path: str, change: Change) -> list[Any]:
    """Return what was done; an edit with the lines it was done in, so as to find them again.

    Elsewhere the old text may be part of what another task has made of it.
    """
    steps: list[Any] = list(change.steps)
    if steps[0] == "edit" and change.base is not None:
        steps.append(surroundings(path, change.base, steps[1]))
    return steps


def _again(path: str, there: FileData, steps: Sequence[Any]) -> FileData | None:
    """Do a change again on a text that another task has changed, if it still fits."""
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
    """Return where the losing text goes: a name made from the path and the text alone."""
    digest = digest_of(file_of(new))
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    for length in range(8, len(digest) + 1):
        copy = f"{folder}/{stem}.conflict-{digest[:length]}{dot}{ending}"
        if copy not in files or digest_of(file_of(files[copy])) == digest:
            break
    return copy


def describe_step(before: Mapping[str, Any], updates: Sequence[Any]) -> list[Any]:
    """Say of the plain records of several updates of one step what they changed.

    A subgraph hands back all its files, changed or not. Records that are as they were
    before the step are left out, so that they do not undo what another task did; others
    become whole writes over the text before the step.
    """
    return [_described(before, update) for update in updates]


def _described(before: Mapping[str, Any], update: Any) -> Any:
    if not isinstance(update, Mapping):
        return update
    described = {}
    for key, record in update.items():
        file = file_of(record)
        if file is None or _DONE in record:
            described[key] = record
            continue
        base = file_of(before.get(_spelled(key)))
        if base is None or (base["content"], base["encoding"]) != (
            file["content"],
            file["encoding"],
        ):
            done = {"base": digest_of(base), "steps": ["write"]}
            described[key] = {**record, _DONE: done}
    return described


@lru_cache(maxsize=256)  # a step is computed again at every read within it
def _tell_of_conflict(path: str, copy: str) -> None:
    logger.warning(
        "%s was changed by two tasks of one step and the changes do not fit together;"
        " the second text is kept in %s",
        path,
        copy,
    )


@lru_cache(maxsize=1)
def _tell_once_that_files_are_lost() -> None:
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
            channel = _langchain.step_channel(files_reducer, describe_step)
            # Any, because pydantic makes no schema of a TypedDict of Python 3.11.
            return Annotated[dict[str, Any], channel]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
