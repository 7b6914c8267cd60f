"""Opening a host path in one step, if no link lies on it.

Linux can promise that (`openat2`), which Python does not offer yet. It is only a
shortcut: where it does not exist, or a link is in the way, the path is walked.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

_OPENAT2: Final = 437
"""The number of the system call, the same on every kind of processor that has it."""
_RESOLVE_NO_SYMLINKS: Final = 0x04
_NO_FOLDER: Final = -100
_WALK: Final = frozenset(
    {errno.ELOOP, errno.EXDEV, errno.EAGAIN, errno.EINTR, errno.EPERM, errno.EINVAL, errno.E2BIG}
)
"""A link is in the way, or the system does not let us ask like this."""

System = Callable[[bytes, int], int]
"""Opens a path with flags; returns a descriptor, or an error number below zero."""

_missing = False


def straight(host: str, flags: int) -> int | None:
    """Open an absolute host path and return the descriptor, None if it has to be walked.

    Raises:
        OSError: If no link is in the way, and yet it cannot be opened.
    """
    global _missing  # noqa: PLW0603 - the system call does not appear while we run
    if _missing:
        return None
    system = _system()
    result = system(os.fsencode(host), flags) if system else -errno.ENOSYS
    if result >= 0:
        return result
    _missing = result == -errno.ENOSYS
    if _missing or -result in _WALK:
        return None
    raise OSError(-result, os.strerror(-result))


@cache
def _system() -> System | None:
    if sys.platform != "linux" or hasattr(sys, "getandroidapilevel"):
        return None  # Android kills who asks
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).syscall
    except (ImportError, OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    call.argtypes = [
        *(ctypes.c_long, ctypes.c_long, ctypes.c_char_p),
        *(ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t),
    ]
    how = ctypes.c_uint64 * 3
    known: dict[int, ctypes.Array[ctypes.c_uint64]] = {}

    def opened(path: bytes, flags: int) -> int:
        asked = known.get(flags)
        if asked is None:
            asked = known[flags] = how(flags | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
        fd: int = call(_OPENAT2, _NO_FOLDER, path, asked, 24)
        return fd if fd >= 0 else -ctypes.get_errno()

    return opened
