"""One path, one identity: normalise, contain, join.

Every backend, the composite's routes, the loader and the tools call
`normalise`, so that one file never has two names. What `~` and a relative path
mean on a disk is decided in `filesystem.py`; here `~` is refused.
"""

from __future__ import annotations

import re

from memoryware.errors import PathRefused

_PLAIN = re.compile(r"(?:/[\w\-+@,=]+(?:\.[\w\-+@,=]+)*)+", re.ASCII)
"""Paths that are normal already, the common case, checked in one step."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:(?:[/\\]|$)")
RESERVED_SUFFIX = ".memoryware-tmp"
"""Ending of the temporary files beside real ones; no agent may touch them."""


def normalise(path: str) -> str:
    """Return the one absolute spelling of a virtual path, without a final slash.

    Raises:
        PathRefused: For `..` segments, `~` as a segment, control characters, lone
            surrogates, drive letters and reserved names. The message says what to use.
    """
    if _PLAIN.fullmatch(path) and not path.endswith(RESERVED_SUFFIX):
        return path
    if not isinstance(path, str):
        raise PathRefused(str(path), f"A path must be text, not {type(path).__name__}")
    if _CONTROL.search(path):
        raise PathRefused(path, f"Path {path!r} contains a control character; use plain text")
    if _DRIVE.match(path):
        raise PathRefused(
            path,
            f"Windows absolute paths are not supported: {path}. Use a virtual path such as /notes.md",
        )
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    for part in parts:
        if part == "..":
            raise PathRefused(
                path, f"Path traversal not allowed: {path}. Write the path without '..'"
            )
        if part == "~":
            raise PathRefused(
                path,
                f"'~' is not available here: {path}. Use a path below the root such as /notes.md",
            )
    if parts and parts[-1].endswith(RESERVED_SUFFIX):
        raise PathRefused(path, f"Names ending in {RESERVED_SUFFIX} are reserved: {path}")
    return "/" + "/".join(parts)


def is_below(path: str, folder: str) -> bool:
    """Say whether a normal path is the folder itself or inside it, by whole segments."""
    return folder == "/" or path == folder or path.startswith(folder + "/")


def join(folder: str, path: str) -> str:
    """Put a normal path that is absolute within a folder below that folder."""
    return path if folder == "/" else folder if path == "/" else folder + path
