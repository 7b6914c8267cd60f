"""A backend around another one that looks at every change of a file before it happens.

Reading passes through. Each `write edit append upload delete` of a file becomes one step
of the inner backend: the old bytes are read, the new ones made, judged and kept by this
and all other wrappers, and written, and nobody else's change falls in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, Self

from memoryware._copying import ReconstructedOnUnpickling
from memoryware._twins import Via, in_thread
from memoryware.backends import _text
from memoryware.backends._adapter import (
    Guest,
    add,
    change,
    drop,
    fingerprints_of,
    is_gone,
    must_be_backend,
    names_of,
)
from memoryware.backends._base import (
    ChangingBackend,
    Core,
    FolderThere,
    Kind,
    Made,
    Make,
    Mode,
    P,
    Steps,
    T,
)
from memoryware.backends._deepagents import WrapperKin, works_in_thread
from memoryware.backends._paths import join
from memoryware.backends._results import build
from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from memoryware.errors import FileError, WriteFailed


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of one file that is about to happen.

    Attributes:
        path: The file as the caller spelled it.
        identity: Its one name, whatever links or spellings lead to it.
        kind: What is done to it.
        before: Its bytes now; None for no file.
        after: Its bytes afterwards; None for no file.
        steps: How they follow from the old ones.
        mark: What who asked for the change has to tell.
        notes: Whatever a wrapper wants to remember until the same operation is over; the
            operation may be tried several times.
    """

    path: str
    identity: str
    kind: Kind
    before: bytes | None
    after: bytes | None
    steps: Steps
    mark: Any
    notes: dict[str, Any]


class WrappingBackend(WrapperKin, ChangingBackend, ReconstructedOnUnpickling):
    """A backend that passes everything on to another and judges each change of a file.

    A subclass overrides `_judged` to refuse or rewrite, `_kept` to keep what is about to
    happen, `_done` for what follows, and `_concerns` to leave files alone. Wrappers may be
    put around each other in any order: everybody has judged before anybody keeps.

    Any backend may be inside: ours, deepagents', anybody's, or another wrapper. A folder
    is deleted file by file. Commands that a sandbox runs are not seen.

    Raises:
        SettingError: If `inner` is no backend.
    """

    def __new__(cls, inner: Any = None, *args: Any, **options: Any) -> Self:
        """Make a backend that offers fingerprints and names if the one in it does."""
        offered = ((fingerprints_of, _Fingerprinting), (names_of, _Naming))
        extra = tuple(kind for offers, kind in offered if offers(inner) is not None)
        asked: Any = cls
        kind: type[Self] = _offering(asked, extra)
        return super().__new__(kind, inner, *args, **options)

    def _class_to_pickle(self) -> type:
        kind = type(self)
        return kind.__bases__[0] if _OFFERING in vars(kind) else kind

    def __init__(self, inner: Any) -> None:
        must_be_backend(inner, "The backend to be wrapped")
        self._inner = inner
        self._guest = Guest(inner)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The backends that are asked for something."""
        return (self._inner,)

    async def _run_native(self, core: Core[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if works_in_thread(self):  # once for all that has to be asked
            return await in_thread(partial(self._run, core, *args, **kwargs))
        return await super()._run_native(core, *args, **kwargs)

    # What a subclass overrides.

    async def _admit(self, via: Via, path: str, names: Sequence[str]) -> None:
        """Raise a `FileError` for a path that may not be changed at all."""

    async def _concerns(self, via: Via, names: Sequence[str]) -> bool:  # noqa: ARG002 - an override may look
        """Say whether changes of the file with these names are looked at."""
        return True

    async def _judged(self, via: Via, change: FileChange) -> bytes | None:  # noqa: ARG002 - as above
        """Return what the file shall be; raise a `FileError` to refuse.

        It is called while the file is held, and again if somebody else was faster.
        """
        return change.after

    async def _kept(self, via: Via, change: FileChange) -> None:
        """Keep what will be written next; raise a `FileError` if that is impossible."""

    async def _taken_back(self, via: Via, change: FileChange) -> None:
        """Forget what was kept, because somebody else was faster; the file is held."""

    async def _done(self, via: Via, change: FileChange) -> None:
        """Do what follows a change that has happened; the file is no longer held."""

    # Reading passes through.

    async def _ls(self, via: Via, path: str) -> LsResult:
        return await self._guest.ls(via, path, path)

    async def _read(self, via: Via, path: str, offset: int, limit: int) -> ReadResult:
        return await self._guest.read(via, path, path, offset, limit)

    async def _glob(self, via: Via, pattern: str, path: str | None) -> GlobResult:
        return await self._guest.glob(via, pattern, path)

    async def _grep(
        self, via: Via, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> GrepResult:
        return await self._guest.grep(via, pattern, path, glob, max_count)

    async def _download(self, via: Via, paths: list[str]) -> list[FileDownloadResponse]:
        return await self._guest.download(via, paths)

    # Changing.

    async def _write(self, via: Via, path: str, content: str) -> WriteResult:
        names = await self._admitted(via, path)
        if not await self._concerns(via, names):
            return await self._guest.write(via, path, path, content)
        data = _text.encode(path, content)
        await self._step(via, path, names[-1], _steady(data, "write"), "replace")
        return build(WriteResult, path=path)

    async def _edit(self, via: Via, path: str, old: str, new: str, every: bool) -> EditResult:
        names = await self._admitted(via, path)
        if not await self._concerns(via, names):
            return await self._guest.edit(via, path, path, old, new, every)
        count = 0

        async def make(_: Via, before: bytes | None) -> Made:
            nonlocal count
            after, count = _text.edit_bytes(path, before or b"", old, new, every)
            return Made(after, ("edit", old, new, every), "edit")

        await self._step(via, path, names[-1], make, "change")
        return build(EditResult, path=path, occurrences=count)

    async def _append(self, via: Via, path: str, line: str) -> EditResult:
        _text.encode(path, line)

        async def make(_: Via, before: bytes | None) -> Made:
            after = _text.append_bytes(path, before or b"", line)
            return Made(after, ("append", line), "append")

        await self._change_file(via, path, make, "create")
        return build(EditResult, path=path, occurrences=1)

    async def _upload(self, via: Via, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        answers: dict[int, FileUploadResponse] = {}
        names = await self._all_names(via, [path for path, _ in files])
        others: list[int] = []
        for place, ((path, data), own) in enumerate(zip(files, names, strict=True)):
            error = None
            try:
                await self._admit(via, path, own)
                if not await self._concerns(via, own):
                    others.append(place)
                    continue
                await self._step(via, path, own[-1], _steady(data, "upload"), "replace")
            except FileError as refused:
                error = refused.code
            answers[place] = build(FileUploadResponse, path=path, error=error)
        if others:
            told = await self._guest.upload(via, [files[place] for place in others])
            answers.update(zip(others, told, strict=True))
        return [answers[place] for place in range(len(files))]

    async def _delete(self, via: Via, path: str) -> DeleteResult:
        try:
            await self._change_file(via, path, _steady(None, "delete"), "delete")
        except FolderThere:
            await self._delete_folder(via, path, (await self._names_of(via, path))[-1])
        return build(DeleteResult, path=path)

    async def _delete_folder(self, via: Via, path: str, name: str) -> None:
        """Delete the files in a folder one by one, and then what is left of it."""
        for file in await self._files_below(via, path, name):
            try:
                await self._change_file(via, file, _steady(None, "delete"), "delete")
            except FileError as error:
                message = f"'{path}' was not deleted, or not all of it: {error}"
                raise WriteFailed(path, message) from error
        await self._clear(via, path)

    async def _clear(self, via: Via, path: str) -> None:
        """Delete what is left of a folder whose files are gone: folders and links."""
        told = await self._guest.delete(via, path, path)
        if not told.error or is_gone(told.error):
            return
        if (await self._guest.ls(via, path, path)).entries is not None:
            raise WriteFailed(path, told.error.removeprefix("Error: "))

    async def _files_below(self, via: Via, path: str, name: str) -> list[str]:
        """Return the files in a folder that are really there, not by a link."""
        listed = await self._ls(via, path)
        if listed.error and not is_gone(listed.error):
            raise WriteFailed(path, f"'{path}' was not deleted: {listed.error}")
        entries = [one["path"] for one in listed.entries or []]
        names = await self._all_names(via, entries)
        found: list[str] = []
        for entry, own in zip(entries, names, strict=True):
            real = join(name, "/" + entry.rstrip("/").rpartition("/")[2])
            if own[-1].rstrip("/") != real:
                continue  # a link
            if entry.endswith("/"):
                found += await self._files_below(via, entry, real)
            else:
                found.append(entry)
        return found

    # One step.

    async def _change_file(self, via: Via, path: str, make: Make, mode: Mode) -> None:
        names = await self._admitted(via, path)
        if not await self._concerns(via, names):
            await change(self._guest, via, (path, path), make, mode)
            return
        identity = names[-1]
        if mode == "delete" and len(names) > 1:
            identity = await self._own_name(via, names[0])
        await self._step(via, path, identity, make, mode)

    async def _own_name(self, via: Via, name: str) -> str:
        """Return the name of a file or link itself, links only before it resolved."""
        folder, _, last = name.rpartition("/")
        return join((await self._names_of(via, folder or "/"))[-1], f"/{last}")

    async def _step(self, via: Via, path: str, identity: str, make: Make, mode: Mode) -> None:
        notes: dict[str, Any] = {}
        last: FileChange | None = None

        def seen(before: bytes | None, new: Made) -> FileChange:
            told = (new.kind, before, new.after, new.steps, new.mark)
            return FileChange(path, identity, *told, notes)

        async def judged(via: Via, before: bytes | None) -> Made:
            nonlocal last
            if last is not None:
                await self._taken_back(via, last)
                last = None
            new = await make(via, before)
            if new.after == before:
                return new
            after = await self._judged(via, seen(before, new))
            if after != new.after:
                new = replace(new, after=after, steps=("write",))
            return replace(new, keeps=(*new.keeps, keep))

        async def keep(via: Via, before: bytes | None, new: Made) -> None:
            nonlocal last
            if new.after != before:
                last = seen(before, new)
                await self._kept(via, last)

        await change(self._guest, via, (path, path), judged, mode)
        if last is not None:
            await self._done(via, last)

    async def _add_file(self, via: Via, path: str, data: bytes, like: str | None) -> None:
        await add(self._guest, via, (path, like), data)

    async def _drop_file(self, via: Via, path: str) -> None:
        await drop(self._guest, via, path)

    async def _admitted(self, via: Via, path: str) -> tuple[str, ...]:
        """Return the names of a path that may be changed.

        Raises:
            FileError: If it may not.
        """
        names = await self._names_of(via, path)
        await self._admit(via, path, names)
        return names

    async def _names_of(self, via: Via, path: str) -> tuple[str, ...]:
        (names,) = await self._all_names(via, [path])
        return names

    async def _all_names(self, via: Via, paths: list[str]) -> list[tuple[str, ...]]:
        """Return the names of each path; of one that has none, the path itself.

        The backend refuses it then; if not, it must not be written unseen.
        """
        told = await self._guest.names(via, paths)
        return [own or (path,) for path, own in zip(paths, told, strict=True)]

    # What a backend may offer beyond the protocol.

    def execute(self, command: str, *, timeout: int | None = None) -> Any:
        """Run a command in the inner backend; what it does to files is not seen.

        Raises:
            NotImplementedError: If that cannot run commands.
        """
        return self._run(self._guest.execute, command, timeout)

    async def aexecute(self, command: str, *, timeout: int | None = None) -> Any:  # noqa: ASYNC109 - handed through
        """Async twin of `execute`."""
        return await self._run_native(self._guest.execute, command, timeout)


_OFFERING: Final = "_memoryware_offering"


class _Extra:
    """What a wrapper may have beyond the rest."""

    _guest: Guest
    _run: Any
    _run_native: Any


class _Fingerprinting(_Extra):
    def fingerprint(self, paths: list[str]) -> list[str | None]:
        """Return one token per path, in order."""
        tokens: list[str | None] = self._run(self._guest.fingerprint, paths)
        return tokens

    async def afingerprint(self, paths: list[str]) -> list[str | None]:
        """Async twin of `fingerprint`."""
        tokens: list[str | None] = await self._run_native(self._guest.fingerprint, paths)
        return tokens


class _Naming(_Extra):
    def names(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Return, per path, its absolute name and then the name it links to, if another."""
        names: list[tuple[str, ...]] = self._run(self._guest.names, paths)
        return names

    async def anames(self, paths: list[str]) -> list[tuple[str, ...]]:
        """Async twin of `names`."""
        names: list[tuple[str, ...]] = await self._run_native(self._guest.names, paths)
        return names


@cache
def _offering(kind: Any, extra: tuple[type, ...]) -> Any:
    """Return a class that offers something beyond; it looks like the one that it derives from."""
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    own["__doc__"] = kind.__doc__ or ""
    own[_OFFERING] = "made here, so that no import finds it"
    return type(kind.__name__, (kind, *extra), own) if extra else kind


def _steady(after: bytes | None, kind: Kind) -> Make:
    """Return a maker that does not care for what was there."""

    async def make(_: Via, __: bytes | None) -> Made:
        return Made(after, ("write",), kind)

    return make
