"""Wrappers of a backend: `WrappingBackend` checks changes, `HidingBackend` hides a folder.

Reads pass through. Each `write edit append upload delete` of a file becomes one atomic step of the
inner backend: read the old bytes, compute the new ones, let this and all other wrappers check
and record them, and write; no other writer comes in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, Self, TypeVar

from memoryware._copying import ReconstructedOnUnpickling
from memoryware._runner import Runner, in_thread
from memoryware.backends import _text
from memoryware.backends._adapter import (
    BackendAdapter,
    add,
    change,
    check_backend,
    drop,
    fingerprints_of,
    is_gone,
    names_of,
)
from memoryware.backends._base import (
    ChangeKind,
    ChangeMode,
    ChangingBackend,
    Core,
    FileUpdate,
    P,
    PathIsFolder,
    Steps,
    T,
    UpdateFunction,
)
from memoryware.backends._deepagents import WrapperCompat, is_rootless, unwrap, works_in_thread
from memoryware.backends._paths import folded, is_below, join, normalise
from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.errors import (
    FileDenied,
    FileError,
    FileMissing,
    PathUnusable,
    SettingError,
    WriteFailed,
)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of one file, before it is written.

    Attributes:
        path: The file as the caller spelled it.
        identity: Its one name, whatever links or spellings lead to it.
        kind: What is done to it.
        before: Its bytes now; None for no file.
        after: Its bytes afterwards; None for no file.
        steps: The operation and its arguments.
        mark: A value from the caller of the change.
        notes: Scratch values of a wrapper, kept over all attempts of the operation.
    """

    path: str
    identity: str
    kind: ChangeKind
    before: bytes | None
    after: bytes | None
    steps: Steps
    mark: Any
    notes: dict[str, Any]


class WrappingBackend(WrapperCompat, ChangingBackend, ReconstructedOnUnpickling):
    """Base class of wrappers: passes operations on to a backend and checks changes of files first.

    A subclass overrides `_check_change` to refuse or rewrite, `_before_write` to store something
    before the write, `_after_write` for what follows, and `_applies_to` to leave files alone.
    Wrappers may be put around each other in any order: all checks come before all `_before_write`.

    Any backend may be inside: ours, deepagents', anybody's, or another wrapper. A folder
    is deleted file by file. Commands that a sandbox runs are not seen.

    Raises:
        SettingError: If `inner` is no backend.
    """

    def __new__(cls, inner: Any = None, *args: Any, **options: Any) -> Self:
        """Make a backend that offers fingerprints and names if the one in it does."""
        offered = ((fingerprints_of, _Fingerprinting), (names_of, _Naming))
        extra = tuple(kind for offers, kind in offered if offers(inner) is not None)
        base: Any = cls
        kind: type[Self] = _offering(base, extra)
        return super().__new__(kind, inner, *args, **options)

    def _class_to_pickle(self) -> type:
        kind = type(self)
        return kind.__bases__[0] if _OFFERING in vars(kind) else kind

    def __init__(self, inner: Any) -> None:
        check_backend(inner, "The backend to be wrapped")
        self._inner = inner
        self._adapter = BackendAdapter(inner)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The backends that this one calls."""
        return (self._inner,)

    async def _run_native(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if works_in_thread(self):  # one thread hop for the operation and all its checks
            return await in_thread(partial(self._run, core, *args, **kwargs))
        return await super()._run_native(core, *args, **kwargs)

    # What a subclass overrides.

    async def _check_path(self, runner: Runner, path: str, names: Sequence[str]) -> None:
        """Raise a `FileError` for a path that may not be changed at all."""

    async def _applies_to(self, runner: Runner, names: Sequence[str]) -> bool:  # noqa: ARG002 - an override may look
        """Return whether changes of the file with these names are checked."""
        return True

    async def _check_change(self, runner: Runner, change: FileChange) -> bytes | None:  # noqa: ARG002 - as above
        """Return the new content of the file; raise a `FileError` to refuse.

        It is called while the file is locked, and again if the file changed meanwhile.
        """
        return change.after

    async def _before_write(self, runner: Runner, change: FileChange) -> None:
        """Store what belongs to the coming write; raise a `FileError` if that is impossible."""

    async def _undo_before_write(self, runner: Runner, change: FileChange) -> None:
        """Undo `_before_write`, because the file changed meanwhile; the file is locked."""

    async def _after_write(self, runner: Runner, change: FileChange) -> None:
        """Do what follows a change that has happened; the file is no longer locked."""

    # Reading passes through.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        return await self._adapter.ls(runner, path, path)

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        return await self._adapter.read(runner, path, path, offset, limit)

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        return await self._adapter.glob(runner, pattern, path)

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        return await self._adapter.grep(runner, pattern, path, glob, max_count)

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        return await self._adapter.download(runner, paths)

    # Changing.

    async def _write(self, runner: Runner, path: str, content: str) -> WriteResult:
        names = await self._checked_names(runner, path)
        if not await self._applies_to(runner, names):
            return await self._adapter.write(runner, path, path, content)
        data = _text.encode(path, content)
        await self._step(runner, path, names[-1], _steady(data, "write"), "replace")
        return WriteResult(path=path)

    async def _edit(self, runner: Runner, path: str, old: str, new: str, every: bool) -> EditResult:
        names = await self._checked_names(runner, path)
        if not await self._applies_to(runner, names):
            return await self._adapter.edit(runner, path, path, old, new, every)
        count = 0

        async def make(_: Runner, before: bytes | None) -> FileUpdate:
            nonlocal count
            after, count = _text.edit_bytes(path, before or b"", old, new, every)
            return FileUpdate(after, ("edit", old, new, every), "edit")

        await self._step(runner, path, names[-1], make, "change")
        return EditResult(path=path, occurrences=count)

    async def _append(self, runner: Runner, path: str, line: str) -> EditResult:
        _text.encode(path, line)

        async def make(_: Runner, before: bytes | None) -> FileUpdate:
            after = _text.append_bytes(path, before or b"", line)
            return FileUpdate(after, ("append", line), "append")

        await self._change_file(runner, path, make, "create")
        return EditResult(path=path, occurrences=1)

    async def _upload(
        self, runner: Runner, files: list[tuple[str, bytes]]
    ) -> list[FileUploadResponse]:
        answers: dict[int, FileUploadResponse] = {}
        names = await self._all_names(runner, [path for path, _ in files])
        others: list[int] = []
        for index, ((path, data), own) in enumerate(zip(files, names, strict=True)):
            error = None
            try:
                await self._check_path(runner, path, own)
                if not await self._applies_to(runner, own):
                    others.append(index)
                    continue
                await self._step(runner, path, own[-1], _steady(data, "upload"), "replace")
            except FileError as refused:
                error = refused.code
            answers[index] = FileUploadResponse(path=path, error=error)
        if others:
            results = await self._adapter.upload(runner, [files[index] for index in others])
            answers.update(zip(others, results, strict=True))
        return [answers[index] for index in range(len(files))]

    async def _delete(self, runner: Runner, path: str) -> DeleteResult:
        try:
            await self._change_file(runner, path, _steady(None, "delete"), "delete")
        except PathIsFolder:
            await self._delete_folder(runner, path, (await self._names_of(runner, path))[-1])
        return DeleteResult(path=path)

    async def _delete_folder(self, runner: Runner, path: str, name: str) -> None:
        """Delete the files in a folder one by one, and then what is left of it."""
        # One by one, because each deletion must be checked and kept; a folder has no history.
        for file in await self._files_below(runner, path, name):
            try:
                await self._change_file(runner, file, _steady(None, "delete"), "delete")
            except FileError as error:
                message = f"'{path}' was not deleted, or not all of it: {error}"
                raise WriteFailed(path, message) from error
        await self._clear(runner, path)

    async def _clear(self, runner: Runner, path: str) -> None:
        """Delete what is left of a folder whose files are gone: folders and links."""
        result = await self._adapter.delete(runner, path, path)
        if not result.error or is_gone(result.error):
            return
        if (await self._adapter.ls(runner, path, path)).entries is not None:
            raise WriteFailed(path, result.error.removeprefix("Error: "))

    async def _files_below(self, runner: Runner, path: str, name: str) -> list[str]:
        """Return the files in a folder that are really there, not through a link."""
        listed = await self._ls(runner, path)
        if listed.error and not is_gone(listed.error):
            raise WriteFailed(path, f"'{path}' was not deleted: {listed.error}")
        entries = [entry["path"] for entry in listed.entries or []]
        names = await self._all_names(runner, entries)
        files: list[str] = []
        for entry, own in zip(entries, names, strict=True):
            real = join(name, "/" + entry.rstrip("/").rpartition("/")[2])
            if own[-1].rstrip("/") != real:
                continue  # a link
            if entry.endswith("/"):
                files += await self._files_below(runner, entry, real)
            else:
                files.append(entry)
        return files

    # Atomic changes.

    async def _change_file(
        self, runner: Runner, path: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        names = await self._checked_names(runner, path)
        if not await self._applies_to(runner, names):
            await change(self._adapter, runner, (path, path), make, mode)
            return
        identity = names[-1]
        if mode == "delete" and len(names) > 1:
            identity = await self._own_name(runner, names[0])
        await self._step(runner, path, identity, make, mode)

    async def _own_name(self, runner: Runner, name: str) -> str:
        """Return the name of a file or link itself: links in its folder are resolved, it is not."""
        folder, _, last = name.rpartition("/")
        return join((await self._names_of(runner, folder or "/"))[-1], f"/{last}")

    async def _step(
        self, runner: Runner, path: str, identity: str, make: UpdateFunction, mode: ChangeMode
    ) -> None:
        notes: dict[str, Any] = {}
        last: FileChange | None = None

        def file_change(before: bytes | None, new: FileUpdate) -> FileChange:
            facts = (new.kind, before, new.after, new.steps, new.mark)
            return FileChange(path, identity, *facts, notes)

        async def checked(runner: Runner, before: bytes | None) -> FileUpdate:
            nonlocal last
            if last is not None:
                await self._undo_before_write(runner, last)
                last = None
            new = await make(runner, before)
            if new.after == before:
                return new
            after = await self._check_change(runner, file_change(before, new))
            if after != new.after:
                new = replace(new, after=after, steps=("write",))
            return replace(new, keeps=(*new.keeps, keep))

        async def keep(runner: Runner, before: bytes | None, new: FileUpdate) -> None:
            nonlocal last
            if new.after != before:
                last = file_change(before, new)
                await self._before_write(runner, last)

        await change(self._adapter, runner, (path, path), checked, mode)
        if last is not None:
            await self._after_write(runner, last)

    async def _add_file(self, runner: Runner, path: str, data: bytes, like: str | None) -> None:
        await add(self._adapter, runner, (path, like), data)

    async def _drop_file(self, runner: Runner, path: str) -> None:
        await drop(self._adapter, runner, path)

    async def _checked_names(self, runner: Runner, path: str) -> tuple[str, ...]:
        """Return the names of a path that may be changed.

        Raises:
            FileError: If it may not.
        """
        names = await self._names_of(runner, path)
        await self._check_path(runner, path, names)
        return names

    async def _names_of(self, runner: Runner, path: str) -> tuple[str, ...]:
        (names,) = await self._all_names(runner, [path])
        return names

    async def _all_names(self, runner: Runner, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the names of each path; a path without names is its own name.

        The backend refuses it later; if it does not, the change must still be checked.
        """
        names_of_each = await self._adapter.names(runner, paths)
        return [own or (path,) for path, own in zip(paths, names_of_each, strict=True)]

    # Optional methods.

    def execute(self, command: str, *, timeout: int | None = None) -> Any:
        """Run a command in the inner backend; its changes of files are not seen.

        Args:
            command: The command line.
            timeout: Seconds after which it is stopped; None leaves that to the backend.

        Returns:
            The answer of that backend.

        Raises:
            NotImplementedError: If that cannot run commands.
        """
        return self._run(self._adapter.execute, command, timeout)

    async def aexecute(self, command: str, *, timeout: int | None = None) -> Any:  # noqa: ASYNC109 - handed through
        """Run a command in the inner backend; its changes of files are not seen.

        Args:
            command: The command line.
            timeout: Seconds after which it is stopped; None leaves that to the backend.

        Returns:
            The answer of that backend.

        Raises:
            NotImplementedError: If that cannot run commands.
        """
        return await self._run_native(self._adapter.execute, command, timeout)


_OFFERING: Final = "_memoryware_offering"


class _Extra:
    """Attributes that the optional methods below use."""

    _adapter: BackendAdapter
    _run: Any
    _run_native: Any


class _Fingerprinting(_Extra):
    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where the backend has none.
        """
        tokens: list[str | None] = self._run(self._adapter.fingerprint, paths)
        return tokens

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Return a token for the present content of each file.

        Args:
            paths: The files.

        Returns:
            One token per path, in order; None where the backend has none.
        """
        tokens: list[str | None] = await self._run_native(self._adapter.fingerprint, paths)
        return tokens


class _Naming(_Extra):
    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another.
        """
        names: list[tuple[str, ...]] = self._run(self._adapter.names, paths)
        return names

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return all names of each path.

        Args:
            paths: The files or folders; they need not exist.

        Returns:
            Per path its absolute name, then the name that links lead to, if that is another.
        """
        names: list[tuple[str, ...]] = await self._run_native(self._adapter.names, paths)
        return names


@cache
def _offering(kind: Any, extra: tuple[type, ...]) -> Any:
    """Return a subclass with more methods that looks like the class it derives from."""
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    own["__doc__"] = kind.__doc__ or ""
    own[_OFFERING] = "made here, so that no import finds it"
    return type(kind.__name__, (kind, *extra), own) if extra else kind


def _steady(after: bytes | None, kind: ChangeKind) -> UpdateFunction:
    """Return an update function whose result does not depend on the old content."""

    async def make(_: Runner, __: bytes | None) -> FileUpdate:
        return FileUpdate(after, ("write",), kind)

    return make


_OURS: Final = "/.memoryware"
Entry = TypeVar("Entry", FileInfo, GrepMatch)


class HidingBackend(WrappingBackend):
    """Hides one folder of the inner backend: nothing in it is listed, found, read or changed.

    Reads in it find nothing; writes in it are denied. A folder that contains it can be emptied
    around it.
    """

    def __init__(self, inner: Any, *, hidden: str) -> None:
        super().__init__(inner)
        if not hidden.startswith("~") and normalise(hidden) == "/":
            raise SettingError(f"folder={hidden!r}: must not be the root, where the files are")
        self._hidden_folder = hidden
        self._known_hidden: HiddenFolders | None = None

    async def _hidden(self, runner: Runner) -> HiddenFolders:
        if self._known_hidden is None:
            roots = await names_of_history_folder(self._adapter, runner, self._hidden_folder)
            self._known_hidden = HiddenFolders(roots)
        return self._known_hidden

    async def _hides(self, runner: Runner, path: str) -> bool:
        return (await self._hidden(runner)).covers(await self._names_of(runner, path))

    async def _shown(self, runner: Runner, rows: Sequence[Entry]) -> list[Entry]:
        """Return the entries of an answer that are not hidden."""
        hidden = await self._hidden(runner)
        paths = sorted({row["path"] for row in rows})
        names = await self._all_names(runner, paths)
        gone = {path for path, own in zip(paths, names, strict=True) if hidden.covers(own)}
        return [row for row in rows if row["path"] not in gone]

    async def _check_path(self, runner: Runner, path: str, names: Sequence[str]) -> None:
        if (await self._hidden(runner)).covers(names):
            message = f"'{path}' is in the version history, which nobody may change"
            raise FileDenied(path, message)

    # Reading.

    async def _ls(self, runner: Runner, path: str) -> LsResult:
        if await self._hides(runner, path):
            # The words of a missing folder: an error of its own would say that something is there.
            raise FileMissing(path, f"Path '{path}': path_not_found")
        result = await super()._ls(runner, path)
        if result.entries:
            result.entries = await self._shown(runner, result.entries)
        return result

    async def _read(self, runner: Runner, path: str, offset: int, limit: int) -> ReadResult:
        if await self._hides(runner, path):
            raise FileMissing(path)
        return await super()._read(runner, path, offset, limit)

    async def _glob(self, runner: Runner, pattern: str, path: str | None) -> GlobResult:
        if path is not None and await self._hides(runner, path):
            return GlobResult(matches=[])
        result = await super()._glob(runner, pattern, path)
        if result.matches:
            result.matches = await self._shown(runner, result.matches)
        return result

    async def _grep(
        self,
        runner: Runner,
        pattern: str,
        path: str | None,
        glob: str | None,
        max_count: int | None,
    ) -> GrepResult:
        if path is not None and await self._hides(runner, path):
            return GrepResult(matches=[])
        result = await super()._grep(runner, pattern, path, glob, max_count)
        matches = result.matches or []
        shown = await self._shown(runner, matches)
        if max_count is not None and result.truncated and len(shown) < len(matches):
            # What is hidden does not count against the limit.
            result = await super()._grep(runner, pattern, path, glob, None)
            shown = await self._shown(runner, result.matches or [])
            result.truncated = result.truncated or len(shown) > max_count
            shown = shown[:max_count]
        if matches:
            result.matches = shown
        return result

    async def _download(self, runner: Runner, paths: list[str]) -> list[FileDownloadResponse]:
        hidden = await self._hidden(runner)
        names = await self._all_names(runner, paths)
        open_here = [index for index, own in enumerate(names) if not hidden.covers(own)]
        answers = await super()._download(runner, [paths[index] for index in open_here])
        by_index = dict(zip(open_here, answers, strict=True))
        return [
            by_index.get(index) or FileDownloadResponse(path=path, error="file_not_found")
            for index, path in enumerate(paths)
        ]

    async def _clear(self, runner: Runner, path: str) -> None:
        """Delete what is left of a folder, except for what is hidden in it."""
        hidden = await self._hidden(runner)
        if not hidden.lies_below(await self._names_of(runner, path)):
            await super()._clear(runner, path)
            return
        listed = await self._adapter.ls(runner, path, path)
        for entry in listed.entries or []:
            names = await self._names_of(runner, entry["path"])
            if hidden.covers(names):
                continue
            if hidden.lies_below(names):
                await self._clear(runner, entry["path"])
            else:
                await super()._clear(runner, entry["path"])


def check_has_root(inner: Any) -> None:
    """Refuse a disk of deepagents without a root of its own: its paths are ambiguous.

    Raises:
        SettingError: The message says what to pass instead.
    """
    disk = unwrap(inner)
    if is_rootless(disk):
        raise SettingError(
            f"a {type(disk).__name__} with virtual_mode=False has no root for a history; pass"
            " virtual_mode=True, or the FilesystemBackend of memoryware"
        )


async def names_of_history_folder(
    adapter: BackendAdapter, runner: Runner, folder: str
) -> tuple[str, ...]:
    """Return all names of the folder of a history, the absolute one first.

    Raises:
        PathUnusable: If it has none, as when a link leads from it to the outside.
    """
    (names,) = await adapter.names(runner, [folder])
    if names:
        return names
    raise PathUnusable(folder, f"The history cannot be in '{folder}'; choose another folder")


class HiddenFolders:
    """The folders that agents must not see: those of a history, by all their names."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = [folded(_top_folder(root)) for root in roots]

    def covers(self, names: Iterable[str]) -> bool:
        """Return whether a path with these names is hidden."""
        return any(is_below(folded(name), root) for name in names for root in self._roots)

    def lies_below(self, names: Iterable[str]) -> bool:
        """Return whether something in the folder with these names is hidden."""
        return any(is_below(root, folded(name)) for name in names for root in self._roots)


def _top_folder(root: str) -> str:
    """Return the folder to hide: the whole `.memoryware`, if that is in the path."""
    start = f"{root}/".find(f"{_OURS}/")
    return root if start < 0 else root[: start + len(_OURS)]
