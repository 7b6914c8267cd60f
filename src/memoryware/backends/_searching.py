"""What a search over mounts asks of each part, and how the answers become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from memoryware.backends._match import put_together, within
from memoryware.backends._mounts import Mounts
from memoryware.backends._results import said
from memoryware.backends.protocol import FileInfo, GrepMatch

M = TypeVar("M", FileInfo, GrepMatch)


@dataclass(frozen=True, slots=True)
class Question:
    """Which part to ask, from which of its folders on, for files of which names."""

    mount: str
    inner: str | None
    pattern: str | None
    exists: bool = True
    """The folder is there, whatever the part says, because it is or holds a mount."""


def questions(
    mounts: Mounts, mount: str, normal: str, inner: str | None, pattern: str | None
) -> list[Question]:
    """Return what to ask of each part that a search of a folder has to look into.

    Within a mount a pattern may repeat the path of the search; both readings count.

    Raises:
        PatternRefused: If the pattern has to be adapted and cannot work.
    """
    patterns = [pattern]
    repeated = normal[1:] + "/"
    if mount and pattern is not None and pattern.lstrip("/").startswith(repeated):
        patterns.append("/" + pattern.lstrip("/").removeprefix(repeated))
    own = put_together(map(str, patterns)) if len(patterns) > 1 else patterns
    below = mounts.below(normal) if normal else []
    exists = normal == "/" or inner == "/" or bool(below)
    asked = [Question(mount, inner, one, exists) for one in own]
    begin = len(normal.rstrip("/")) + 1
    for name in below:
        if pattern is None:
            asked.append(Question(name, "/", None))
            continue
        inside = {one for each in patterns for one in within(str(each), name[begin:])}
        asked += [Question(name, "/", one) for one in sorted(inside)]
    return asked


def merged(mounts: Mounts, asked: list[Question], found: Iterable[Any]) -> Iterator[Any]:
    """Yield what the parts found, under full paths and without what mounts hide."""
    for one, told in zip(asked, found, strict=True):
        yield from named(one.mount, visible(mounts, one.mount, told.matches or []))


def visible(mounts: Mounts, mount: str, matches: list[M]) -> list[M]:
    """Return the matches of a part that no mount inside it hides."""
    if not mounts.below(mount or "/"):
        return matches
    return [one for one in matches if not mounts.hides(full(mount, one["path"]), mount)]


def named(mount: str, given: list[M]) -> list[M]:
    """Return what a part gave under full paths."""
    if not mount:
        return given
    return [{**one, "path": full(mount, one["path"])} for one in given]


def full(mount: str, path: str) -> str:
    """Return the full path of what a part calls by this path."""
    return mount + path if path.startswith("/") or not mount else f"{mount}/{path}"


def errors_of(asked: list[Question], found: Iterable[Any]) -> str | None:
    """Return the errors of the parts in one text, without those of missing folders."""
    errors: dict[str, str] = {}
    for one, told in zip(asked, found, strict=True):
        if told.error and not (one.exists and is_absent(told.error)):
            inner = one.inner or "/"
            text = said(told.error, inner, full(one.mount, inner))
            errors[one.mount] = text.removeprefix("Error: ")
    if len({one.mount for one in asked}) == 1:
        return errors.get(asked[0].mount)
    texts = [f"'{name or '/'}' could not be searched: {errors[name]}" for name in sorted(errors)]
    return "; ".join(texts) or None


def is_absent(error: str | None) -> bool:
    """Say whether the error of a part means that it has no such folder."""
    return error is not None and ("path_not_found" in error or "not_a_directory" in error)
