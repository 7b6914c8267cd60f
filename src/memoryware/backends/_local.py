"""Which files may be looked at on the event loop: those on a local file system that answers fast.

A `stat` of a file on a local disk takes a microsecond, because the system has its inode in
memory; a hop to a thread and back takes 30 to 50. On a network file system the same call may
hang for minutes, so there, and wherever nobody knows, it stays in a thread. Contents are never
read on the loop.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

_LOCAL: Final = frozenset(
    {
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "reiserfs", "jfs"),
        *("tmpfs", "ramfs", "overlay", "erofs", "squashfs", "vfat", "exfat", "ntfs3"),
    }
)
"""File systems of Linux whose files are in this machine. FUSE is none: it may wait for anything."""
_MOUNTS: Final = "/proc/self/mountinfo"
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_MOST_PATHS: Final = 64
"""Paths of one call that are looked at on the loop; more of them are a walk."""
_SLOW: Final = 0.005
"""Seconds of one call from which a disk is taken to be busy, asleep or not local after all."""
_PAUSES: Final = (1.0, 60.0)
"""Seconds after a slow call during which a thread is used: twice as long each time, at most the
second. The first is short because a busy processor looks like a slow disk."""


class LocalFiles:
    """The paths of one backend whose state may be looked at on the event loop."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._not_before = 0.0
        self._pause = _PAUSES[0]

    def may_look(self, paths: Collection[str]) -> bool:
        """Say whether all paths are known to be local, and looking has been fast."""
        if len(paths) > _MOST_PATHS or not self._paths.issuperset(paths):
            return False
        return not self._not_before or time.monotonic() >= self._not_before

    def note(self, hosts: Iterable[tuple[str, str]], most: int) -> None:
        """Find out which paths are on a local file system. Touches the disk.

        Args:
            hosts: Paths as they are asked for, each with its path on this machine.
            most: How many paths are kept.
        """
        new = [(path, host) for path, host in hosts if path not in self._paths]
        if not new or len(new) > _MOST_PATHS:
            return
        mounts = _mounts()
        if len(self._paths) + len(new) > most:
            self._paths.clear()
        self._paths.update(path for path, host in new if _is_local(host, mounts))

    def forget(self) -> None:
        """Forget all paths, because the backend no longer knows by heart where they lead."""
        self._paths.clear()

    def took(self, seconds: float) -> None:
        """Note how long a look on the loop has taken."""
        if seconds > _SLOW:
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _PAUSES[1])
        elif self._not_before:
            self._not_before, self._pause = 0.0, _PAUSES[0]

    def refuse(self) -> None:
        """Look at nothing on the loop any more: something here forbids it."""
        self._not_before = float("inf")


def _is_local(host: str, mounts: dict[str, str]) -> bool:
    """Say whether a file lies on a local file system, after all links."""
    path = Path(os.path.realpath(host))
    for folder in (path, *path.parents):
        kind = mounts.get(str(folder))
        if kind is not None:
            return kind in _LOCAL
    return False


def _mounts() -> dict[str, str]:
    """Return the kind of file system by mount point; nothing where the system does not say."""
    try:
        lines = Path(_MOUNTS).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux, or hidden: then everything stays in a thread
        return {}
    mounts: dict[str, str] = {}
    for line in lines:  # "36 35 98:0 / /mnt/a\\040b rw - ext4 /dev/sda1 rw"; later ones cover
        head, dash, tail = line.partition(" - ")
        fields = head.split(" ")
        if dash and len(fields) > _POINT:
            point = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields[_POINT])
            mounts[point] = tail.split(" ", 1)[0]
    return mounts


_POINT: Final = 4
"""Where the mount point stands in a line."""
