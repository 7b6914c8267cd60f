"""Find the memory files that people have already, in the order in which other agents read them.

First the files of the user, then those of the repository, from its root down to the folder
where the agent starts, so that the nearest stands last. Of each folder one file is taken,
and the same file or the same text under two names comes once: the nearest.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryware._home import expand_home
from memoryware._twins import Via, blocking, finish, in_thread, native
from memoryware.backends._foreign import must_be_backend
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import BackendLike
from memoryware.errors import SettingError
from memoryware.sources._choosing import Candidate, Group, Look, Permits, above, once, upwards
from memoryware.sources._layout import (
    ALL_NAMES,
    DEFAULT_NAMES,
    DEFAULT_OWNERS,
    ROOT_MARKERS,
    USER_FILES,
    Layout,
    Notices,
)
from memoryware.sources.source import Source

__all__ = [
    "ALL_NAMES",
    "DEFAULT_NAMES",
    "DEFAULT_OWNERS",
    "ROOT_MARKERS",
    "USER_FILES",
    "Discovered",
    "Layout",
    "Notices",
    "adiscover",
    "discover",
    "found_via",
    "on_disk",
]

_Start = str | os.PathLike[str]


def discover(
    start: _Start = ".", *, backend: BackendLike | None = None, layout: Layout | None = None
) -> list[Source]:
    """Return the memory files that are there for an agent that starts in a folder.

    Without a backend the disk of this machine is looked at, and the paths are those of
    `on_disk()`: host paths, and `~/...` for files of the user.

    Args:
        start: The folder; a file stands for the folder it is in. One that is not there has
            no files itself, but those above it count.
        backend: Where to look; `start` is a path in it, and nothing outside of it is seen.
        layout: What memory files are called and where they lie; by default `Layout()`.

    Raises:
        SettingError: If the start is no path there, or the backend is none.
    """
    return finish(_discover(blocking, backend, start, layout or Layout()))


async def adiscover(
    start: _Start = ".", *, backend: BackendLike | None = None, layout: Layout | None = None
) -> list[Source]:
    """Async twin of `discover`."""
    if backend is None:  # one thread hop for all of it
        return await in_thread(discover, start, layout=layout)
    return await _discover(native, backend, start, layout or Layout())


async def _discover(via: Via, backend: Any, start: _Start, layout: Layout) -> list[Source]:
    if backend is None:
        backend, start = on_disk(start)
    return (await found_via(via, backend, os.fspath(start), layout)).sources


def on_disk(start: _Start = ".") -> tuple[FilesystemBackend, str]:
    """Return the disk of this machine as a backend, and a folder as a path in it.

    The paths that `discover` tells without a backend are those of this one. It reaches
    whatever this process may reach, so give the tools of an agent rules (`allow=`), or a
    backend of their own.

    Raises:
        SettingError: If the folder is given by `~` and nobody knows the home folder.
    """
    host = expand_home(start, "start").absolute()
    if ".." in host.parts:
        host = Path(os.path.realpath(host))  # what is above a link is above where it leads
    return FilesystemBackend(host.anchor), "/" + host.relative_to(host.anchor).as_posix()


@dataclass(frozen=True, slots=True)
class Discovered:
    """What was found.

    Attributes:
        sources: The memory files, the user's first, the nearest last.
        root: The root folder of the repository, or the start where there is none.
    """

    sources: list[Source]
    root: str


async def found_via(
    via: Via,
    backend: Any,
    start: str,
    options: Layout,
    notices: Notices | None = None,
    *,
    permits: Permits | None = None,
) -> Discovered:
    """Return the memory files for a start folder, and the root of its repository.

    Args:
        via: Which half of a twin to take.
        backend: Where to look.
        start: A path in it.
        options: What to look for.
        notices: Keeps what has been said in the log, so that a caller who looks often
            says it once.
        permits: Says by the names of a file whether it may be read; others are left out.

    Raises:
        SettingError: If the start is no path of the backend, or the backend is none.
    """
    must_be_backend(backend, "backend")
    look = Look(via, backend, options, notices, permits)
    folders = await _folders(look, start)
    root = folders[-1]
    for folder in folders:
        await look.watch_case(folder)
    of_user = await _of_user(look)
    of_project = [group for one in reversed(folders) for group in await look.groups(one, root)]
    chosen = await look.chosen([*of_user, *of_project])
    found = look.bounded(once(one for one in chosen if one))
    sources = [one.source(options) for one in found]
    if options.offer is not None and not any(chosen[len(of_user) :]):
        first = look.candidate(root, options.offer, root)
        if await look.is_free(first.path):
            sources.append(first.source(options))
    return Discovered(sources, root)


async def _folders(look: Look, start: str) -> list[str]:
    """Return the folders from where a start really is up to the root of its repository."""
    (names,) = await look.places([start])
    if not names:
        raise SettingError(
            f"start={start!r} is no folder of this backend; name one in it, such as '/'"
        )
    here = await _start_folder(look, names[-1])
    folders = upwards(here, "/", look.layout.limits.depth)
    for count, folder in enumerate(folders, 1):
        if await look.has(folder, look.layout.root_markers):
            return folders[:count]
    return folders[:1]


async def _start_folder(look: Look, at: str) -> str:
    """Return the folder that a path is, or the one that it is in if it is a file."""
    kind = await look.kind(at)
    if kind is None:
        look.notices.warn("the start folder %s is not there; those above it are looked at", at)
    return above(at) if kind == "file" else at


async def _of_user(look: Look) -> list[Group]:
    """Return the candidates of the user by folder, those that this backend has a place for."""
    layout = look.layout
    if not layout.user:
        return []
    rank = {
        name.rpartition("/")[2]: place for place, name in enumerate(reversed(layout.single_names))
    }
    groups: dict[str, list[Candidate]] = {}
    paths = [path for path in layout.user_files if path.rpartition("/")[2] in rank]
    for path, names in zip(paths, await look.places(paths), strict=True):
        folder, _, name = path.rpartition("/")
        if names:
            owner = layout.owners.get(path, "user")
            groups.setdefault(folder or "/", []).append(Candidate(folder or "/", name, owner))
    for group in groups.values():
        group.sort(key=lambda one: -rank[one.name])
    return list(groups.values())
