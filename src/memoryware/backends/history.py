"""`HistoryBackend`: version history of files, with log, diff, undo and restore."""

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
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.backends import _text
from memoryware.backends._actor import Actor, acting
from memoryware.backends._adapter import check_backend
from memoryware.backends._base import ChangeKind, FileUpdate
from memoryware.backends._deepagents import unwrap
from memoryware.backends._diff import unified
from memoryware.backends._paths import normalise
from memoryware.backends._version_store import (
    Redact,
    StoredVersion,
    UndoRecord,
    VersionStore,
    VersionWriter,
    WatchedPaths,
    redact_secrets,
    version_of,
)
from memoryware.backends._versions import (
    UNSET,
    Unset,
    Version,
    VersionChain,
    VersionRef,
    VersionStamp,
    exceeding,
    version_key,
)
from memoryware.backends._wrapping import FileChange, HidingBackend, check_has_root
from memoryware.backends.protocol import BackendLike
from memoryware.backends.store import override_namespace
from memoryware.errors import FileDenied, PathUnusable, SettingError, VersionMissing
from memoryware.scope import MemoryScope
from memoryware.settings import HistoryLimits

logger = logging.getLogger(__name__)

__all__ = ["FOLDER", "HistoryBackend", "Redact", "Version"]

Namespace = Sequence[str]
FOLDER: Final = ".memoryware/history"
"""Default folder of the versions, from the root of the backend."""


class HistoryBackend(HidingBackend):
    """A backend that keeps every version of the files that change through it.

    A version is stored before the change is made, while the file is locked. So there is no
    change without its version, also if the process is killed in between; a version whose
    change did not happen is marked as not applied. Text that was there before the
    first change, or that something else wrote, is kept as a version of its own as soon as
    the file changes again.

    The versions are hidden from the users of the backend: they are neither listed, found, read nor
    changed through it.

    In a store whose namespace is made from the runtime, a script says whose files it means: each
    of the operations below takes `scope=MemoryScope(user_id="ann")`, from which the namespace is
    made, or `namespace=("memory", "ann")` itself.

    Args:
        inner: Any backend, or wrapper around one.
        watch: Patterns of the files whose versions are kept, as in path rules: `*.md`,
            `/notes/`, or whole paths, `~/.agent/AGENTS.md` among them. None means every
            text file.
        keep: How many versions, how long, how large.
        versions: The backend that holds the versions, if not `inner`. One that is `async`
            only cannot serve a disk.
        folder: The folder in that backend, relative to the backend's own root. It is hidden
            in `inner`; if it lies in a folder `.memoryware`, that whole folder is.
        actor: Who changes files where neither `acting` nor a running graph says so.
        redact: Called with the path and the text of a file, returns the text to store; by
            default it redacts secrets. None stores texts as they are.
        clock: Returns the current time; None asks the system. For tests.
        new_id: Returns ids of versions; None makes random ones. For tests.

    Raises:
        SettingError: For an option of the wrong kind.
        PatternRefused: For an invalid pattern.
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
        redact: Redact | None = redact_secrets,
        clock: Clock | None = None,
        new_id: NewId | None = None,
    ) -> None:
        _checking.check_text("folder", folder)
        super().__init__(inner, hidden=folder)
        check_has_root(inner)
        if isinstance(watch, str | os.PathLike):
            raise SettingError(f"watch={watch!r}: give a list of paths, such as ['AGENTS.md']")
        _checking.check_texts("watch", watch, "AGENTS.md")
        _checking.check_instance("keep", keep, HistoryLimits)
        _checking.check_instance("actor", actor, Actor)
        _checking.check_function("redact", redact, or_none=True)
        _checking.check_function("clock", clock, or_none=True)
        _checking.check_function("new_id", new_id, or_none=True)
        self._watch = (
            None if watch is None else WatchedPaths([os.fspath(pattern) for pattern in watch])
        )
        if versions is not None:
            check_backend(versions, "versions")
        self._limits = keep or HistoryLimits()
        home = unwrap(inner if versions is None else versions)
        self._same_backend = home is unwrap(inner)
        self._version_store = VersionStore(home, folder, self._limits)
        self._clock = clock or utc_now
        self._writer = VersionWriter(self._limits, actor, redact, self._clock, new_id or random_id)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The backends that are asked for something."""
        return (self._inner, self._version_store.backend)

    # Storing versions.

    async def _applies_to(self, runner: Runner, names: Sequence[str]) -> bool:
        return self._watch is None or await self._watch.covers(self._adapter.names, runner, names)

    async def _before_write(self, runner: Runner, change: FileChange) -> None:
        if self._watch is None and not (
            _text.is_text(change.before) or _text.is_text(change.after)
        ):
            return
        before = _text.digest(change.before)
        stamps = await self._version_store.newest(runner, change.identity, before)
        chain = VersionChain(change.identity, stamps, before)
        stored_versions = self._writer.versions_of(change, chain)
        new = [stored.stamp for stored in stored_versions]
        doomed = exceeding([*chain.stamps, *new], self._limits, new[-1].time)
        others = [stamp for stamp in chain.stamps if stamp not in doomed]
        # In another backend the path would name an unrelated file.
        like = change.identity if self._same_backend else None
        if like is not None and change.before is None:  # its own rights went with the file
            newest = await self._version_store.newest_file(runner, change.identity, chain.stamps)
            like = newest or like
        await self._version_store.add(runner, stored_versions, others, like)
        change.notes.update(kept=new, doomed=[stamp for stamp in doomed if stamp not in new])
        if isinstance(change.mark, UndoRecord):
            change.mark.versions[:] = [version_of(change.identity, new[-1], stored_versions[-1])]

    async def _undo_before_write(self, runner: Runner, change: FileChange) -> None:
        await self._version_store.drop(runner, change.identity, change.notes.pop("kept", []))

    async def _after_write(self, runner: Runner, change: FileChange) -> None:
        try:
            await self._version_store.drop(runner, change.identity, change.notes.get("doomed", []))
            if any(self._version_store.is_due(stamp) for stamp in change.notes.get("kept", [])):
                await self._version_store.sweep(runner, self._clock())
        except Exception as error:  # noqa: BLE001 - the change has happened, whatever follows
            logger.warning("versions of %s were not dropped: %s", change.identity, error)

    # Reading the history.

    def log(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[Version]:
        """List the versions of a file, newest first; an unknown file has none.

        If none is `current`, something else has changed the file since.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The versions without their texts; the oldest one counts the earlier ones that were
            dropped.

        Raises:
            FileError: If the path is refused.
            SettingError: If both a scope and a namespace are given.
        """
        with override_namespace(scope, namespace):
            return self._run(self._log, path)

    async def alog(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[Version]:
        """List the versions of a file, newest first; an unknown file has none.

        If none is `current`, something else has changed the file since.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The versions without their texts; the oldest one counts the earlier ones that were
            dropped.

        Raises:
            FileError: If the path is refused.
            SettingError: If both a scope and a namespace are given.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._log, path)

    async def _log(self, runner: Runner, path: str) -> list[Version]:
        chain = await self._chain(runner, path)
        stored_versions = await self._version_store.load(runner, chain.path, chain.stamps)
        versions = [
            replace(
                version_of(chain.path, stamp, stored),
                applied=chain.was_applied(stamp),
                current=chain.is_current(stamp),
                dropped=0 if index else stamp.number - 1,
            )
            for index, (stamp, stored) in enumerate(zip(chain.stamps, stored_versions, strict=True))
        ]
        return versions[::-1]

    async def _chain(self, runner: Runner, path: str) -> VersionChain:
        identity = await self._identity(runner, path)
        now = _text.digest(await self._current_content(runner, identity))
        return VersionChain(identity, await self._version_store.stamps(runner, identity), now)

    async def _current_content(self, runner: Runner, identity: str) -> bytes | None:
        """Return the bytes of a file now, None if there is none."""
        (got,) = await self._adapter.download(runner, [identity])
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
        """Return the text of a version.

        Args:
            path: The file.
            version: Its number, its id, or the version itself.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The text as it is kept; secrets in it are redacted unless `redact=None`.

        Raises:
            VersionMissing: If there is no such version, or its text is not kept.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return self._run(self._show, path, version)

    async def ashow(
        self,
        path: str,
        version: int | str | Version,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Return the text of a version.

        Args:
            path: The file.
            version: Its number, its id, or the version itself.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The text as it is kept; secrets in it are redacted unless `redact=None`.

        Raises:
            VersionMissing: If there is no such version, or its text is not kept.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._show, path, version)

    async def _show(self, runner: Runner, path: str, version: int | str | Version) -> str:
        chain = await self._chain(runner, path)
        stamp = chain.find(version_key(version))
        content = await self._content(runner, chain.path, stamp)
        if content is None:
            message = f"Version {stamp.number} of '{path}' is a deletion: there was no file"
            raise VersionMissing(path, message)
        return _text.decode(content).text

    async def _content(self, runner: Runner, path: str, stamp: VersionStamp) -> bytes | None:
        """Return what is kept of a version, None for a deletion."""
        if stamp.after is None:
            return None
        return self._stored_content(
            (await self._version_store.load(runner, path, [stamp]))[0], path, stamp
        )

    async def _restorable_content(
        self, runner: Runner, path: str, stamp: VersionStamp, there: bytes | None
    ) -> bytes | None:
        """Return the very bytes of a version, with what is unreadable from the file now."""
        if stamp.after is None:
            return None
        (stored,) = await self._version_store.load(runner, path, [stamp])
        content = self._stored_content(stored, path, stamp)
        if stored is None or not stored.redacted:
            return content
        content = self._writer.restore_redacted(path, content, there)
        if _text.digest(content) == stamp.after:
            return content
        why = "secrets in it were redacted before it was stored; copy what you need from show()"
        raise VersionMissing(path, f"Version {stamp.number} of '{path}' cannot be restored: {why}")

    @staticmethod
    def _stored_content(stored: StoredVersion | None, path: str, stamp: VersionStamp) -> bytes:
        if stored is not None and stored.content is not None:
            return stored.content
        why = "its file cannot be read" if stored is None else "it was too large to be stored"
        raise VersionMissing(path, f"Version {stamp.number} of '{path}' is not available: {why}")

    def diff(
        self,
        path: str,
        a: VersionRef | Unset | None = UNSET,
        b: VersionRef | None = None,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Compare two versions, or a version and the file, as a unified diff.

        Without versions it shows the last change of the file, whoever made it.

        Args:
            path: The file.
            a: The older version; None for no file. If it is left out, the version before `b`, or
                before the last change of the file, whoever made it.
            b: The newer one; None for the file as it is now.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The lines of the diff as one text, "" if they are equal. A missing file counts as empty.

        Raises:
            VersionMissing: As `show` does, and if there is nothing before the last change.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return self._run(self._diff, path, a, b)

    async def adiff(
        self,
        path: str,
        a: VersionRef | Unset | None = UNSET,
        b: VersionRef | None = None,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> str:
        """Compare two versions, or a version and the file, as a unified diff.

        Without versions it shows the last change of the file, whoever made it.

        Args:
            path: The file.
            a: The older version; None for no file. If it is left out, the version before `b`, or
                before the last change of the file, whoever made it.
            b: The newer one; None for the file as it is now.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The lines of the diff as one text, "" if they are equal. A missing file counts as empty.

        Raises:
            VersionMissing: As `show` does, and if there is nothing before the last change.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._diff, path, a, b)

    async def _diff(
        self, runner: Runner, path: str, a: VersionRef | Unset | None, b: VersionRef | None
    ) -> str:
        chain = await self._chain(runner, path)
        if isinstance(a, Unset):
            first = chain.before_last() if b is None else chain.before(chain.find(version_key(b)))
        else:
            first = None if a is None else chain.find(version_key(a))
        before, old = "(no file)", None
        if first is not None:
            before = f"{chain.path}@{first.number}"
            old = await self._content(runner, chain.path, first)
        if b is None:
            name, there = chain.path, await self._current_content(runner, chain.path)
            new = self._writer.shown(chain.path, there)
        else:
            second = chain.find(version_key(b))
            name, new = (
                f"{chain.path}@{second.number}",
                await self._content(runner, chain.path, second),
            )
        return unified(old or b"", new or b"", before, name)

    def files(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[str]:
        """List the files that have versions, also deleted ones.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            Absolute paths, sorted.
        """
        with override_namespace(scope, namespace):
            return self._run(self._files)

    async def afiles(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> list[str]:
        """List the files that have versions, also deleted ones.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            Absolute paths, sorted.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._files)

    async def _files(self, runner: Runner) -> list[str]:
        stamps_by_folder = await self._version_store.all(runner)
        paths = await runner.gather(
            self._version_store.path_of(runner, *item) for item in stamps_by_folder.items()
        )
        return sorted({path for path in paths if path is not None})

    # Undo and restore.

    def undo(
        self,
        path: str,
        to: int | str | Version | None = None,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Undo the last change of a file, or bring back an earlier version.

        The undo is a version itself. Another one goes one change further back, as in an
        editor; to take an undo back, name the version. A file that was deleted comes
        back, one that was created is deleted. A text that something else has written since the last
        version is kept first, and is the change that is undone.

        Args:
            path: The file.
            to: The version that it shall be again; None for the one before the last change.
            reason: Why, for the log.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version that records the undo.

        Raises:
            VersionMissing: If there is no such version, or not its whole text.
            FileError: If the file cannot be written.
        """
        with override_namespace(scope, namespace):
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
        """Undo the last change of a file, or bring back an earlier version.

        The undo is a version itself. Another one goes one change further back, as in an
        editor; to take an undo back, name the version. A file that was deleted comes
        back, one that was created is deleted. A text that something else has written since the last
        version is kept first, and is the change that is undone.

        Args:
            path: The file.
            to: The version that it shall be again; None for the one before the last change.
            reason: Why, for the log.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version that records the undo.

        Raises:
            VersionMissing: If there is no such version, or not its whole text.
            FileError: If the file cannot be written.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._undo, path, to, reason)

    async def _undo(
        self, runner: Runner, path: str, to: int | str | Version | None, reason: str | None
    ) -> Version:
        def choose(chain: VersionChain) -> VersionStamp | None:
            return chain.undo_target() if to is None else chain.find(version_key(to))

        return await self._revert(runner, path, choose, "undo", reason)

    def undo_target(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version | None:
        """Return the version that `undo(path)` would bring back.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version without its text; None if the undo would delete the file.

        Raises:
            VersionMissing: If nothing earlier is known.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return self._run(self._undo_target, path)

    async def aundo_target(
        self,
        path: str,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version | None:
        """Return the version that `undo(path)` would bring back.

        Args:
            path: The file.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version without its text; None if the undo would delete the file.

        Raises:
            VersionMissing: If nothing earlier is known.
            FileError: If the path is refused.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._undo_target, path)

    async def _undo_target(self, runner: Runner, path: str) -> Version | None:
        chain = await self._chain(runner, path)
        stamps = [stamp for stamp in (chain.undo_target(),) if stamp is not None]
        stored_versions = await self._version_store.load(runner, chain.path, stamps)
        return version_of(chain.path, stamps[0], stored_versions[0]) if stamps else None

    def restore(
        self,
        path: str,
        at: datetime,
        *,
        reason: str | None = None,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> Version:
        """Restore a file as it was at a time.

        Args:
            path: The file.
            at: The time, with a time zone. If there was no file then, it is deleted.
            reason: Why, for the log.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version that records the restoration.

        Raises:
            SettingError: For a time without a zone.
            VersionMissing: If it is not known what the file was then.
            FileError: If the file cannot be written.
        """
        with override_namespace(scope, namespace):
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
        """Restore a file as it was at a time.

        Args:
            path: The file.
            at: The time, with a time zone. If there was no file then, it is deleted.
            reason: Why, for the log.
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            The version that records the restoration.

        Raises:
            SettingError: For a time without a zone.
            VersionMissing: If it is not known what the file was then.
            FileError: If the file cannot be written.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._restore, path, at, reason)

    async def _restore(
        self, runner: Runner, path: str, at: datetime, reason: str | None
    ) -> Version:
        # A naive time would be taken for the zone of the server.
        if at.tzinfo is None:
            message = f"at={at!r}: give a time with a zone, such as datetime.now(UTC)"
            raise SettingError(message)
        return await self._revert(
            runner, path, partial(VersionChain.at, time=at), "restore", reason
        )

    async def _revert(
        self,
        runner: Runner,
        path: str,
        choose: Callable[[VersionChain], VersionStamp | None],
        kind: ChangeKind,
        reason: str | None,
    ) -> Version:
        identity, undone = await self._identity(runner, path), UndoRecord()

        async def make(runner: Runner, before: bytes | None) -> FileUpdate:
            chain = VersionChain(
                identity, await self._version_store.stamps(runner, identity), _text.digest(before)
            )
            stamp = choose(chain)
            undone.restored = 0 if stamp is None else stamp.number
            after = (
                None
                if stamp is None
                else await self._restorable_content(runner, identity, stamp, before)
            )
            like = None
            if self._same_backend and before is None:
                like = await self._version_store.newest_file(runner, identity, chain.stamps)
            return FileUpdate(after, kind=kind, mark=undone, like=like)

        with acting(reason=reason):
            await self._step(runner, path, identity, make, "create")
        versions = undone.versions or [
            version for version in await self._log(runner, path) if version.applied
        ]
        return replace(versions[0], current=True)

    def prune(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> int:
        """Drop the versions of all files that exceed the limits.

        That happens by itself as files change. Call it where they do not, so that versions
        are not kept longer than allowed.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            How many versions were dropped.
        """
        with override_namespace(scope, namespace):
            return self._run(self._prune)

    async def aprune(
        self,
        *,
        scope: MemoryScope | None = None,
        namespace: Namespace | None = None,
    ) -> int:
        """Drop the versions of all files that exceed the limits.

        That happens by itself as files change. Call it where they do not, so that versions
        are not kept longer than allowed.

        Args:
            scope: On whose behalf, where the namespace is made from a run and there is none.
            namespace: The namespace itself, instead of a scope.

        Returns:
            How many versions were dropped.
        """
        with override_namespace(scope, namespace):
            return await self._run_native(self._prune)

    async def _prune(self, runner: Runner) -> int:
        return await self._version_store.sweep(runner, self._clock())

    async def _identity(self, runner: Runner, path: str) -> str:
        (names,) = await self._adapter.names(runner, [path])
        if names:
            return names[-1]
        normalise(path)
        raise PathUnusable(path, f"'{path}' is not a valid path of a file")


def recent_versions(history: HistoryBackend, *, limit: int) -> list[Version]:
    """Return the last changes of all files, newest first.

    Args:
        history: The backend that keeps versions.
        limit: How many at most.

    Returns:
        Versions that were applied, without their texts.
    """
    return run_blocking(_recent(history, BLOCKING, limit))


async def arecent_versions(history: HistoryBackend, *, limit: int) -> list[Version]:
    """Return the last changes of all files, newest first.

    Args:
        history: The backend that keeps versions.
        limit: How many at most.

    Returns:
        Versions that were applied, without their texts.
    """
    return await _recent(history, ASYNC, limit)


async def _recent(history: HistoryBackend, runner: Runner, limit: int) -> list[Version]:
    paths = await runner.call(history.files, history.afiles)
    logs = await runner.gather(_log(history, runner, path) for path in paths)
    versions = (version for log in logs for version in log if version.applied)
    return heapq.nlargest(
        limit, versions, key=lambda version: (version.time, version.path, version.number)
    )


async def _log(history: HistoryBackend, runner: Runner, path: str) -> list[Version]:
    return await runner.call(history.log, history.alog, path)
