"""Virtual paths: one normal spelling per file, containment, joins, names behind links.

Every backend, the composite's routes, the loader and the tools call `normalise`, so that one
file never has two names. What `~` and a relative path mean on a disk is decided in
`filesystem.py`; here `~` is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from memoryware.errors import FileError, PathRefused, PathUnusable

# Paths that are normal already, the common case, checked in one step.
_PLAIN = re.compile(r"(?:/[\w\-+@,=]+(?:\.[\w\-+@,=]+)*)+", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:(?:[/\\]|$)")
_OTHER_HOME = re.compile(r"~[A-Za-z_][\w.-]*(?=[/\\])")
_UNNAMEABLE = re.compile(
    r"[\x00-\x1f\x7f\ud800-\udfff\\]|(?:^|/)~(?:/|$)|(?i:\.memoryware-tmp)(?:/|$)", re.ASCII
)
_WINDOWS_NAME = re.compile(
    r'[<>:"|?*]|[ .]$|^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)', re.IGNORECASE
)
# Characters of a path; systems end there, and rules look at every part of it.
LONGEST_PATH = 4096
# Ending of the temporary files beside real ones, in any case of letters. No agent may touch them,
# nor make a folder of such a name, which would be in their way.
RESERVED_SUFFIX = ".memoryware-tmp"


def normalise(path: str) -> str:
    r"""Return the one absolute spelling of a virtual path, without a final slash.

    Args:
        path: A path in any spelling: `a.md`, `./a.md`, `//a.md` and `\\a.md` are `/a.md`.

    Returns:
        The normal path; "/" for the root.

    Raises:
        PathRefused: For `..` segments, `~` as a segment, control characters, lone
            surrogates, drive letters and reserved names. The message says what to use.
        PathUnusable: For more characters than any system takes.
    """
    path = as_text(path)
    if len(path) > LONGEST_PATH:
        raise PathUnusable(
            path, f"A path may have at most {LONGEST_PATH} characters: '{path[:80]}…'"
        )
    if _PLAIN.fullmatch(path) and RESERVED_SUFFIX not in path.lower():
        return path
    if _CONTROL.search(path):
        raise PathRefused(path, f"Path {path!r} contains a control character; use plain text")
    if _DRIVE.match(path):
        raise PathRefused(
            path,
            f"Windows absolute paths are not supported: {path}. Use a path such as /notes.md",
        )
    if other := _OTHER_HOME.match(path):
        raise PathRefused(
            path,
            f"'{other[0]}', the home folder of another user, is not available here: {path}. Write"
            f" the whole path, or './{path}' for a folder that has this name",
        )
    # A backslash is a separator on every system: a memory file that was written on Windows
    # must have the same name on Linux.
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
        if part.lower().endswith(RESERVED_SUFFIX):
            raise PathRefused(path, f"Names ending in {RESERVED_SUFFIX} are reserved: {path}")
    return "/" + "/".join(parts)


def normal_or_same(path: str) -> str:
    """Return the normal spelling of a path, or a refused path as it is."""
    try:
        return normalise(path)
    except FileError:
        return path


def is_normal(path: str) -> bool:
    """Return whether a path is spelled normally."""
    try:
        return normalise(path) == path
    except FileError:
        return False


def as_text(path: object) -> str:
    """Return the path if it is a string.

    Raises:
        PathRefused: If it is something else.
    """
    if isinstance(path, str):
        return path
    raise PathRefused(str(path), f"A path must be text, not {type(path).__name__}")


def is_nameable(relative: str) -> bool:
    """Return whether a name on disk is one that `normalise` leaves as it is."""
    return _UNNAMEABLE.search(relative) is None


def check_windows_names(path: str, names: list[str]) -> None:
    """Refuse names that Windows takes for a device, a stream, or another name.

    Raises:
        PathRefused: For the first such name.
    """
    for name in names:
        if _WINDOWS_NAME.search(name):
            raise PathRefused(path, f"Windows does not allow the name {name!r}; choose another")


def is_below(path: str, folder: str) -> bool:
    """Return whether a normal path is the folder itself or inside it, by whole segments."""
    return folder in ("/", path) or path.startswith(folder + "/")


def join(folder: str, path: str) -> str:
    """Put a normal path that is absolute within a folder below that folder."""
    return path if folder == "/" else folder if path == "/" else folder + path


# The public name, for backends that users write.
normalise_path = normalise


def folded(path: str) -> str:
    """Return one key for all spellings of a name that a file system may take for the same."""
    # Twice, because case folding may decompose: U+01F0 becomes a j and a caron.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def canonical_names(path: str) -> tuple[str, ...]:
    """Return the one normal name of a path as a tuple; empty for a refused path."""
    try:
        return (normalise(path),)
    except FileError:
        return ()


def names_with_links(real: Callable[[str], str], paths: list[str]) -> list[tuple[str, ...]]:
    """Return the names of paths, links resolved; a refused path has none."""
    names_of_each: list[tuple[str, ...]] = []
    for path in paths:
        own = canonical_names(path)
        try:
            led = normalise(real(path))
        except (ValueError, OSError):
            own, led = (), ""
        names_of_each.append(own if not own or led in own else (*own, led))
    return names_of_each
