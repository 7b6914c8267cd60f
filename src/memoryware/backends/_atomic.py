"""Changing one file whole or not at all, one writer at a time.

A change is written to a draft beside the real file, flushed, and renamed over it. Who
reads sees the old bytes or the new ones; what fails leaves the old ones. A file with
several hard links becomes two files.

Programs that know nothing of our lock save as they like. Right before the rename the file
must therefore be as it was when it was read, else the change is made anew. What is saved
after that last look and before the rename, some microseconds, is lost, and so is what is
written later into the old file by who holds it open.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from memoryware.backends._disk import Absent, Disk, Place, Telling, regular
from memoryware.backends._draft import (
    HAS_FLOCK,
    Claim,
    Draft,
    Lock,
    Overtaken,
    Patience,
    Vanished,
    side_lock,
)
from memoryware.backends._folder import LINK_IN_THE_WAY, closed
from memoryware.backends._paths import is_below
from memoryware.errors import FileIsDirectory, FileMissing, PathUnusable, WriteFailed

Change = Callable[[bytes | None], bytes]
"""Makes the new bytes of a file from the old ones, None if there was no file."""

_ATTEMPTS: Final = 5
"""How often a folder may be deleted under a writer before it gives up."""
_SAVES: Final = 25
"""How often another program may change a file under a writer before it gives up."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class Changes:
    """Changes files of a disk, each whole or not at all."""

    def __init__(self, disk: Disk, *, lock: Lock | None = None) -> None:
        self._disk = disk
        self._lock = lock or ("draft" if HAS_FLOCK and disk.holds_folders else "native")

    def change(self, path: str, at: str, change: Change, *, create: bool) -> None:
        """Replace the bytes of a file by what `change` makes of them.

        Raises:
            FileError: If it is missing and not to be created, cannot be written, or is held
                by somebody else for too long; the old bytes are there then.
        """
        absent: Absent = "make" if create else "refuse"
        with Telling(path, "write"):
            for _ in range(_ATTEMPTS):
                with suppress(Vanished), self._disk.place(path, at, absent) as place:
                    for _ in range(_SAVES):
                        with suppress(Overtaken):
                            if self._changed(path, place, change, create=create):
                                return
                    message = f"'{path}' was not written: another program keeps changing it"
                    raise WriteFailed(path, f"{message}; try again")
        message = f"'{path}' was not written: its folder vanishes again and again; try again"
        raise WriteFailed(path, message)

    def _changed(self, path: str, place: Place, change: Change, *, create: bool) -> bool:
        seen = place.settle()
        if seen is not None:
            regular(path, seen)
        elif not create:
            raise FileMissing(path)
        with self._draft(path, place, private=seen is not None) as draft:
            try:
                fd = place.folder.open(place.name, os.O_RDWR)  # may it be written at all?
            except FileNotFoundError:
                if not create:
                    raise
                draft.publish(change(None), None)
                return True
            except OSError as error:
                if error.errno in LINK_IN_THE_WAY:
                    return False
                raise
            try:
                seen = regular(path, os.fstat(fd))
                old = self._disk.content(path, fd, seen.st_size)
                new = change(old)
                if new == old:
                    return True
                draft.take_after(seen, fd)
            finally:
                closed(fd)
            draft.publish(new, seen)
            return True

    def delete(self, path: str, at: str, *, root: str = "/") -> None:
        """Remove a file, a link, or a folder with all that is in it, but not the root.

        Raises:
            FileError: If it is not there, is the root or holds it, or cannot be removed.
        """
        with Telling(path, "delete"), self._disk.place(path, at) as place:
            if is_below(root, place.real):
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            kind = place.folder.lstat(place.name).st_mode
            if stat.S_ISDIR(kind):
                _clear(path, place)
            elif stat.S_ISREG(kind):
                with self._held_if_there_is_room(path, place):
                    place.folder.remove(place.name)
            else:
                place.folder.remove(place.name)
            place.folder.sync()

    @contextmanager
    def _held_if_there_is_room(self, path: str, place: Place) -> Iterator[None]:
        """Hold the lock, but not at the price that nothing can be deleted from a full disk."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._draft(path, place, private=True))
            except OSError as error:
                if error.errno not in _FULL:
                    raise
            yield

    @contextmanager
    def _draft(self, path: str, place: Place, *, private: bool) -> Iterator[Draft]:
        claim = Claim(path, place.folder, place.name, 0o600 if private else 0o666)
        patience = Patience(path, self._disk.limits.lock_timeout)
        with ExitStack() as stack:
            draft, lock = None, self._lock
            if lock == "draft":
                draft, lock = claim.locked(patience), "soft"
            if draft is None:
                host = self._disk.host(place.real)
                stack.enter_context(side_lock(os.path.dirname(host), claim, patience, lock))
                draft = claim.fresh(patience)
            try:
                yield draft
            finally:
                draft.drop()


def _clear(path: str, place: Place) -> None:
    try:
        place.folder.clear(place.name)
    except RecursionError:
        message = f"'{path}' has too many folders inside each other; delete the inner ones first"
        raise PathUnusable(path, message) from None
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        place.folder.clear(place.name)  # a file was written into it meanwhile
