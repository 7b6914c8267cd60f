"""Every version of memory files: who changed what, when and why, and the way back."""

from __future__ import annotations

import heapq
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from memoryware import _checking
from memoryware._clock import Clock, NewId, random_id, utc_now
from memoryware._twins import Via, blocking, finish, native
from memoryware.backends import _text
from memoryware.backends._actor import Actor, acting
from memoryware.backends._adapter import must_be_backend
from memoryware.backends._base import Kind, Made
from memoryware.backends._deepagents import unwrapped
from memoryware.backends._diff import unified
from memoryware.backends._hidden_folder import HidingBackend, must_have_root
from memoryware.backends._namespaces import addressed
from memoryware.backends._paths import normalise
from memoryware.backends._version_store import (
    Page,
    Redact,
    Shelf,
    Watch,
    WayBack,
    Writer,
    version_of,
    without_secrets,
)
from memoryware.backends._versions import (
    UNSET,
    Line,
    Stamp,
    Unset,
    Version,
    Which,
    named,
    too_many,
)
from memoryware.backends._wrapping import FileChange
from memoryware.backends.protocol import BackendLike
from memoryware.errors import FileDenied, PathUnusable, SettingError, VersionMissing
from memoryware.scope import MemoryScope
from memoryware.settings import HistoryLimits

logger = logging.getLogger(__name__)

__all__ = ["FOLDER", "HistoryBackend", "Redact", "Version"]

Namespace = Sequence[str]
FOLDER: Final = ".memoryware/history"
"""Where versions are, from the root of the backend."""


class HistoryBackend(HidingBackend):
    """A backend that keeps every version of the files that change through it.

    A version is stored before the change is made, while the file is held. So there is no
    change without its version, also if the process is killed in between; a version whose
    change did not happen any more is marked as not applied. Text that was there before the
    first change, or that something else wrote, is kept as a version of its own as soon as
    the file changes again.

    The versions are hidden from whoever uses the backend: they are not listed, not found,
    not read and not changed through it.

    In a store whose namespace is made from the runtime, a script says whose files it means: each
    of the operations below takes `scope=MemoryScope(user_id="ann")`, with which the namespace is
    made, or the very `namespace=("memory", "ann")`.

    Args:
        inner: Any backend, or wrapper around one.
        watch: Patterns of the files whose versions are kept, as in path rules: `*.md`,
            `/notes/`, or whole paths, `~/.agent/AGENTS.md` among them. None means every
            text file.
        keep: How many versions, how long, how large.
        versions: The backend that holds the versions, if not `inner`. One that is `async`
            only cannot serve a disk.
        folder: The folder in that backend; relative to the backend's own root. It is hidden
            in `inner`, and if it lies in a folder `.memoryware`, that is.
        actor: Who acts when nobody says so and no graph is running.
        redact: Makes unreadable what must not be kept, by default secrets; None keeps all.
        clock: Says what time it is.
        new_id: Makes ids.

    Raises:
        SettingError: For a value that cannot be.
        PatternRefused: For a pattern that cannot match.
    """

    def __init__(
        self,
        inner: BackendLike,
        *,
        watch: Sequence[str | os.PathLike[str]] | None = None,
        keep: HistoryLimits | None = None,
        versions: BackendLike | None = None,
        folder: str = FOLDER,
        actor: Actor | None = None,
        redact: Redact | None = without_secrets,
        clock: Clock = utc_now,
        new_id: NewId = random_id,
    ) -> None:
        _checking.check_text("folder", folder)
        super().__init__(inner, hidden=folder)
        must_have_root(inner)
        if isinstance(watch, str | os.PathLike):
            raise SettingError(f"watch={watch!r}: give a list of paths, such as ['AGENTS.md']")
        _checking.check_texts("watch", watch, "AGENTS.md")
        _checking.check_instance("keep", keep, HistoryLimits)
        _checking.check_instance("actor", actor, Actor)
        _checking.check_function("redact", redact, or_none=True)
        _checking.check_function("clock", clock)
        _checking.check_function("new_id", new_id)
        self._watch = None if watch is None else Watch([os.fspath(one) for one in watch])
        if versions is not None:
            must_be_backend(versions, "versions")
        self._limits = keep or HistoryLimits()
        home = unwrapped(inner if versions is None else versions)
        self._beside = home is unwrapped(inner)
        self._shelf = Shelf(home, folder, self._limits)
        self._writer = Writer(self._limits, actor, redact, clock, new_id)
        self._clock = clock

    @property
    def parts(self) -> tuple[Any, ...]:
        """The backends that are asked for something."""
        return (self._inner, self._shelf.backend)

    # Keeping.

    async def _concerns(self, via: Via, names: Sequence[str]) -> bool:
        return self._watch is None or await self._watch.covers(self._guest.names, via, names)

    async def _kept(self, via: Via, change: FileChange) -> None:
        if self._watch is None and not (
            _text.is_text(change.before) or _text.is_text(change.after)
        ):
            return
        before = _text.digest(change.before)
        line = Line(change.identity, await self._shelf.newest(via, change.identity, before), before)
        pages = self._writer.pages(change, line)
        new = [page.stamp for page in pages]
        doomed = too_many([*line.stamps, *new], self._limits, new[-1].time)
        others = [one for one in line.stamps if one not in doomed]
        like = change.identity if self._beside else None
        if like is not None and change.before is None:  # its own rights went with the file
            like = await self._shelf.newest_file(via, change.identity, line.stamps) or like
        await self._shelf.add(via, pages, others, like)
        change.notes.update(kept=new, doomed=[one for one in doomed if one not in new])
        if isinstance(change.mark, WayBack):
            change.mark.made[:] = [version_of(change.identity, new[-1], pages[-1])]

    async def _taken_back(self, via: Via, change: FileChange) -> None:
        await self._shelf.drop(via, change.identity, change.notes.pop("kept", []))

    async def _done(self, via: Via, change: FileChange) -> None:
        try:
            await self._shelf.drop(via, change.identity, change.notes.get("doomed", []))
            if any(self._shelf.is_due(one) for one in change.notes.get("kept", [])):
                await self._shelf.sweep(via, self._clock())
        except Exception as error:  # noqa: BLE001 - the change has happened, whatever follows
            logger.warning("versions of %s were not dropped: %s", change.identity, error)

    # Looking back.

    def log(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[Version]:
        """Return the versions of a file, newest first; of an unknown file none.

        The oldest one says how many earlier ones were dropped. If none is `current`, the
        file was changed by something else since.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The versions without their texts.

        Raises:
            FileError: If the path is refused.
            SettingError: If both a scope and a namespace are given.
        """
        with addressed(scope, namespace):
            return self._run(self._log, path)

    async def alog(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[Version]:
        """Async twin of `log`."""
        with addressed(scope, namespace):
            return await self._run_native(self._log, path)

    async def _log(self, via: Via, path: str) -> list[Version]:
        line = await self._line(via, path)
        pages = await self._shelf.pages(via, line.path, line.stamps)
        versions = [
            replace(
                version_of(line.path, stamp, page),
                applied=line.did_happen(stamp),
                current=line.is_current(stamp),
                dropped=0 if place else stamp.number - 1,
            )
            for place, (stamp, page) in enumerate(zip(line.stamps, pages, strict=True))
        ]
        return versions[::-1]

    async def _line(self, via: Via, path: str) -> Line:
        identity = await self._identity(via, path)
        now = _text.digest(await self._present(via, identity))
        return Line(identity, await self._shelf.stamps(via, identity), now)

    async def _present(self, via: Via, identity: str) -> bytes | None:
        """Return the bytes of a file now, None if there is none."""
        (got,) = await self._guest.download(via, [identity])
        if got.error not in (None, "file_not_found", "is_directory"):
            raise FileDenied(identity, f"'{identity}' cannot be read: {got.error}")
        return got.content

    def show(
        self,
        path: str,
        version: int | str | Version,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Return the text of a version, named by its number or id.

        Args:
            path: The file.
            version: Its number, its id, or the version itself.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The text as it is kept: without secrets, if these are made unreadable.

        Raises:
            VersionMissing: If there is no such version, or its text is not kept.
            FileError: If the path is refused.
        """
        with addressed(scope, namespace):
            return self._run(self._show, path, version)

    async def ashow(
        self,
        path: str,
        version: int | str | Version,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Async twin of `show`."""
        with addressed(scope, namespace):
            return await self._run_native(self._show, path, version)

    async def _show(self, via: Via, path: str, version: int | str | Version) -> str:
        line = await self._line(via, path)
        stamp = line.find(named(version))
        content = await self._content(via, line.path, stamp)
        if content is None:
            message = f"Version {stamp.number} of '{path}' is a deletion: there was no file"
            raise VersionMissing(path, message)
        return _text.decode(content).text

    async def _content(self, via: Via, path: str, stamp: Stamp) -> bytes | None:
        """Return what is kept of a version, None for a deletion."""
        if stamp.after is None:
            return None
        return self._kept_in((await self._shelf.pages(via, path, [stamp]))[0], path, stamp)

    async def _whole(self, via: Via, path: str, stamp: Stamp, there: bytes | None) -> bytes | None:
        """Return the very bytes of a version, with what is unreadable from the file now."""
        if stamp.after is None:
            return None
        (page,) = await self._shelf.pages(via, path, [stamp])
        content = self._kept_in(page, path, stamp)
        if page is None or not page.redacted:
            return content
        content = self._writer.refilled(path, content, there)
        if _text.digest(content) == stamp.after:
            return content
        why = "parts of it were made unreadable; take what you need from show()"
        raise VersionMissing(path, f"Version {stamp.number} of '{path}' cannot be had: {why}")

    @staticmethod
    def _kept_in(page: Page | None, path: str, stamp: Stamp) -> bytes:
        if page is not None and page.content is not None:
            return page.content
        why = "its file cannot be read" if page is None else "it is too large to be kept"
        raise VersionMissing(path, f"Version {stamp.number} of '{path}' cannot be had: {why}")

    def diff(
        self,
        path: str,
        a: Which | Unset | None = UNSET,
        b: Which | None = None,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Return the difference between two versions, or one and the file, as a unified diff.

        Without versions it shows the last change. It is empty if they are equal. No file counts
        as an empty one; `a=None` is no file.

        Args:
            path: The file.
            a: The older version; None for no file. If it is left out, the version before `b`, or
                before the last change of the file, whoever made it.
            b: The newer one; None for the file as it is now.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The lines of the diff as one text.

        Raises:
            VersionMissing: As `show` does, and if there is nothing before the last change.
            FileError: If the path is refused.
        """
        with addressed(scope, namespace):
            return self._run(self._diff, path, a, b)

    async def adiff(
        self,
        path: str,
        a: Which | Unset | None = UNSET,
        b: Which | None = None,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Async twin of `diff`."""
        with addressed(scope, namespace):
            return await self._run_native(self._diff, path, a, b)

    async def _diff(self, via: Via, path: str, a: Which | Unset | None, b: Which | None) -> str:
        line = await self._line(via, path)
        if isinstance(a, Unset):
            first = line.before_last() if b is None else line.before(line.find(named(b)))
        else:
            first = None if a is None else line.find(named(a))
        before, old = "(no file)", None
        if first is not None:
            before = f"{line.path}@{first.number}"
            old = await self._content(via, line.path, first)
        if b is None:
            name, there = line.path, await self._present(via, line.path)
            new = self._writer.shown(line.path, there)
        else:
            second = line.find(named(b))
            name, new = f"{line.path}@{second.number}", await self._content(via, line.path, second)
        return unified(old or b"", new or b"", before, name)

    def files(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[str]:
        """Return the files of which there are versions, also deleted ones, sorted.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            Absolute paths.
        """
        with addressed(scope, namespace):
            return self._run(self._files)

    async def afiles(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[str]:
        """Async twin of `files`."""
        with addressed(scope, namespace):
            return await self._run_native(self._files)

    async def _files(self, via: Via) -> list[str]:
        found = await self._shelf.all(via)
        paths = await via.all(self._shelf.path_of(via, *one) for one in found.items())
        return sorted({path for path in paths if path is not None})

    # Going back.

    def undo(
        self,
        path: str,
        to: int | str | Version | None = None,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Take back the last change of a file, or bring back a version; return what was made.

        The undo is a version itself. Another one goes one change further back, as in an
        editor; to take an undo back, say to which version. A file that was deleted comes
        back, one that was created goes. What something else has written since the last
        version is kept first, and is the change that is taken back.

        Args:
            path: The file.
            to: The version that it shall be again; None for the one before the last change.
            reason: Why.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The version that records the undo.

        Raises:
            VersionMissing: If there is no such version, or not its whole text.
            FileError: If the file cannot be written.
        """
        with addressed(scope, namespace):
            return self._run(self._undo, path, to, reason)

    async def aundo(
        self,
        path: str,
        to: int | str | Version | None = None,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Async twin of `undo`."""
        with addressed(scope, namespace):
            return await self._run_native(self._undo, path, to, reason)

    async def _undo(
        self, via: Via, path: str, to: int | str | Version | None, reason: str | None
    ) -> Version:
        def choose(line: Line) -> Stamp | None:
            return line.back_one() if to is None else line.find(named(to))

        return await self._go_back(via, path, choose, "undo", reason)

    def undo_target(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version | None:
        """Return the version that `undo(path)` would bring back; None if the file would go.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The version without its text, or None.

        Raises:
            VersionMissing: If nothing earlier is known.
            FileError: If the path is refused.
        """
        with addressed(scope, namespace):
            return self._run(self._undo_target, path)

    async def aundo_target(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version | None:
        """Async twin of `undo_target`."""
        with addressed(scope, namespace):
            return await self._run_native(self._undo_target, path)

    async def _undo_target(self, via: Via, path: str) -> Version | None:
        line = await self._line(via, path)
        stamps = [one for one in (line.back_one(),) if one is not None]
        pages = await self._shelf.pages(via, line.path, stamps)
        return version_of(line.path, stamps[0], pages[0]) if stamps else None

    def restore(
        self,
        path: str,
        at: datetime,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Make a file what it was at a time; return the version that was made.

        Args:
            path: The file.
            at: The time, with a time zone. If there was no file then, it is deleted.
            reason: Why.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            The version that records it.

        Raises:
            SettingError: For a time without a zone.
            VersionMissing: If it is not known what the file was then.
            FileError: If the file cannot be written.
        """
        with addressed(scope, namespace):
            return self._run(self._restore, path, at, reason)

    async def arestore(
        self,
        path: str,
        at: datetime,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Async twin of `restore`."""
        with addressed(scope, namespace):
            return await self._run_native(self._restore, path, at, reason)

    async def _restore(self, via: Via, path: str, at: datetime, reason: str | None) -> Version:
        if at.tzinfo is None:
            message = f"at={at!r}: give a time with a zone, such as datetime.now(UTC)"
            raise SettingError(message)
        return await self._go_back(via, path, partial(Line.at, time=at), "restore", reason)

    async def _go_back(
        self,
        via: Via,
        path: str,
        choose: Callable[[Line], Stamp | None],
        kind: Kind,
        reason: str | None,
    ) -> Version:
        identity, way = await self._identity(via, path), WayBack()

        async def make(via: Via, before: bytes | None) -> Made:
            line = Line(identity, await self._shelf.stamps(via, identity), _text.digest(before))
            stamp = choose(line)
            way.restored = 0 if stamp is None else stamp.number
            after = None if stamp is None else await self._whole(via, identity, stamp, before)
            like = None
            if self._beside and before is None:
                like = await self._shelf.newest_file(via, identity, line.stamps)
            return Made(after, kind=kind, mark=way, like=like)

        with acting(reason=reason):
            await self._step(via, path, identity, make, "create")
        made = way.made or [one for one in await self._log(via, path) if one.applied]
        return replace(made[0], current=True)

    def prune(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> int:
        """Drop what the limits leave no room for, of all files; return how many versions.

        That happens by itself as files change. Call it where they do not, so that versions
        do not stay longer than they may.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The very namespace, instead of a scope.

        Returns:
            How many versions were dropped.
        """
        with addressed(scope, namespace):
            return self._run(self._prune)

    async def aprune(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> int:
        """Async twin of `prune`."""
        with addressed(scope, namespace):
            return await self._run_native(self._prune)

    async def _prune(self, via: Via) -> int:
        return await self._shelf.sweep(via, self._clock())

    async def _identity(self, via: Via, path: str) -> str:
        (names,) = await self._guest.names(via, [path])
        if names:
            return names[-1]
        normalise(path)
        raise PathUnusable(path, f"'{path}' cannot be used as the path of a file")


def recent_versions(history: HistoryBackend, *, limit: int) -> list[Version]:
    """Return the changes of all files that happened last, the newest first.

    Args:
        history: The files with their versions.
        limit: How many at most.
    """
    return finish(_recent(history, blocking, limit))


async def arecent_versions(history: HistoryBackend, *, limit: int) -> list[Version]:
    """Async twin of `recent_versions`."""
    return await _recent(history, native, limit)


async def _recent(history: HistoryBackend, via: Via, limit: int) -> list[Version]:
    paths = await via(history.files, history.afiles)
    logs = await via.all(_log(history, via, one) for one in paths)
    found = (one for log in logs for one in log if one.applied)
    return heapq.nlargest(limit, found, key=lambda one: (one.time, one.path, one.number))


async def _log(history: HistoryBackend, via: Via, path: str) -> list[Version]:
    return await via(history.log, history.alog, path)
