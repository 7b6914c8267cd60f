"""Find the memory files that people have already, in the order in which other agents read them.

First the files of the user, then those of the repository, from its root down to the folder
where the agent starts, so that the nearest comes last. Of each folder one file is taken,
and the same file or the same text under two names comes once: the nearest.

Nested memory files join during the run: `touched` reads from the messages of a thread in which
folders the agent has read or changed files, and `nested_via` finds the memory files of those
folders and of the ones above them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memoryware._home import expand_home
from memoryware._twins import Via, blocking, finish, in_thread, native
from memoryware.backends._adapter import Guest, must_be_backend
from memoryware.backends._paths import is_below
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import BackendLike
from memoryware.errors import SettingError
from memoryware.settings import DiscoveryLimits
from memoryware.sources._candidates import (
    Candidate,
    Found,
    Group,
    Look,
    Permits,
    above,
    digest_of,
    once,
    upwards,
)
from memoryware.sources.layout import (
    Layout,
    Notices,
)
from memoryware.sources.source import Source

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


FILE_TOOLS: Final = frozenset(
    {"read_file", "write_file", "edit_file", "append_file", "edit_memory", "delete"}
)
"""Tools whose call touches the file that `file_path` or `path` names."""
_ARGUMENTS: Final = ("file_path", "path")


def touched(
    messages: Iterable[Any],
    *,
    tools: frozenset[str] = FILE_TOOLS,
    order: Literal["last", "first"] = "last",
    limits: DiscoveryLimits | None = None,
) -> tuple[str, ...]:
    """Return the folders of the files that tool calls have read or changed.

    A call counts once it has been answered, and not if the answer is an error: what was
    refused or is not there has not been touched. Folders are spelled as the calls spelled
    them.

    Args:
        messages: The messages of a thread, or what is left of them.
        tools: The names of the tools that count.
        order: "last": the folder that was touched last stands last. "first": a folder keeps
            the place of its first touch, so that what is made of it changes less often.
        limits: `folders` says how many are kept, those touched last.
    """
    waiting: dict[Any, str] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for place, message in enumerate(messages):
        kind = getattr(message, "type", None)
        if kind == "ai":
            for call in getattr(message, "tool_calls", None) or ():
                if call["name"] in tools and (folder := _folder_of(call["args"])):
                    waiting[call["id"]] = folder
        elif kind == "tool" and waiting:
            folder = waiting.pop(getattr(message, "tool_call_id", None), "")
            if folder and not _failed(message):
                first.setdefault(folder, place)
                last.pop(folder, None)
                last[folder] = place
    kept = list(last)[-(limits or DiscoveryLimits()).folders :]
    return tuple(kept if order == "last" else sorted(kept, key=first.__getitem__))


def _folder_of(arguments: Mapping[str, Any]) -> str:
    """Return the folder of the file that a call names, as it spelled it; "" if it names none."""
    for name in _ARGUMENTS:
        path = arguments.get(name)
        if isinstance(path, str) and path:
            folder, slash, file = path.replace("\\", "/").rpartition("/")
            return (folder or slash or ".") if file else ""
    return ""


def _failed(message: Any) -> bool:
    """Say whether a tool answered with an error; some tools only say so in the text."""
    if getattr(message, "status", None) == "error":
        return True
    content = getattr(message, "content", None)
    return isinstance(content, str) and content.startswith("Error")


async def nested_via(
    via: Via,
    backend: Any,
    folders: Sequence[str],
    known: Sequence[Source],
    options: Layout,
    *,
    root: str | None = None,
    loaded: Mapping[str, str] | None = None,
    notices: Notices | None = None,
    permits: Permits | None = None,
) -> list[Source]:
    """Return the memory files of folders and of those above them, without the known ones.

    A file stands after those of the folders above it, and those of the folder that was
    given last stand last. Looked at are the folders below that of a known source, the
    outermost if there are several above each other, and with `root` all folders in it. A
    folder that has a known source of one of the names has its file already.

    Args:
        via: Which half of a twin to take.
        backend: Where to look.
        folders: The folders, as `touched` tells them.
        known: The sources that are there already. Those of the user lead nowhere: what lies
            below a home folder is not a project.
        options: What to look for.
        root: Nothing outside of this folder is looked at, and everything inside may be.
            None means the whole backend; of one that reaches the home folder, which is
            the disk of a machine, only what lies below known sources.
        loaded: Texts of known sources by path, so that they need not be read again.
        notices: Keeps what has been said in the log.
        permits: Says by the names of a file whether it may be read; others are left out.
    """
    if not folders:
        return []
    look = Look(via, backend, options, notices, permits)
    scope = await _scope(look, folders, known, root)
    wanted = {one: end for folder in scope.folders for one, end in scope.way_to(folder)}
    groups = [group for one, end in wanted.items() for group in await look.groups(one, end)]
    free = [group for group in groups if not any(one.path in scope.held for one in group)]
    for group in free:
        await look.watch_case(group[0].folder)
    found = [one for one in await look.chosen(free) if one]
    digests = await _digests(look, known, loaded or {}) if found else set[bytes | None]()
    fresh = _unknown(found, {*scope.held, *digests})
    return [one.source(options) for one in look.bounded(fresh)]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which folders may be looked at.

    Attributes:
        folders: Where those really are that were touched.
        held: All names of the known sources.
        tops: The folders of those that are not the user's.
        end: The folder that limits all; None if nothing counts but what is below `tops`.
    """

    folders: list[str]
    held: set[str]
    tops: set[str]
    end: str | None
    depth: int

    def way_to(self, folder: str) -> list[tuple[str, str]]:
        """Return the folders to look at for one that was touched, the nearest last.

        With each comes the folder that its file may not lead out of.
        """
        if self.end is not None and not is_below(folder, self.end):
            return []
        limit = self.end or "/"
        tops = [one for one in self.tops if is_below(folder, one) and is_below(one, limit)]
        top = min(tops, key=len, default=self.end)
        if top is None:
            return []
        way = upwards(folder, top, self.depth, inclusive=top not in tops)
        return [(one, self.end or top) for one in reversed(way)]


async def _scope(
    look: Look, folders: Sequence[str], known: Sequence[Source], root: str | None
) -> _Scope:
    """Return which folders may be looked at, by the names that the backend has for them."""
    paths = [*folders, *(one.path for one in known), "~" if root is None else root]
    *places, last = await look.places(paths)
    sources = list(zip(known, places[len(folders) :], strict=True))
    of_projects = [own for one, own in sources if own and not _is_users(one)]
    end = ("/" if not last else None) if root is None else last[-1] if last else root
    return _Scope(
        folders=[own[-1] for own in places[: len(folders)] if own],
        held={name for _, own in sources for name in own},
        tops={_home(own[-1], look.layout) for own in of_projects},
        end=end,
        depth=look.layout.limits.depth,
    )


def _is_users(source: Source) -> bool:
    return source.owner == "user" or source.path.startswith("~")


def _home(path: str, options: Layout) -> str:
    """Return the folder whose memory file a path is."""
    name = options.name_of(path)
    return path[: -len(name) - 1] or "/" if name else above(path)


async def _digests(
    look: Look, known: Sequence[Source], loaded: Mapping[str, str]
) -> set[bytes | None]:
    """Return what stands for the texts of the known sources."""
    unread = [one.path for one in known if one.path not in loaded]
    return {*map(digest_of, loaded.values()), *await look.digests(unread)}


def _unknown(found: Iterable[Found], known: Iterable[str | bytes | None]) -> list[Found]:
    """Return files that are neither known nor among those before them, by place and by text."""
    seen = {one for one in known if one is not None}
    fresh = []
    for one in found:
        if not one.keys & seen:
            seen |= one.keys
            fresh.append(one)
    return fresh


async def joining_via(
    via: Via, backend: Any, path: str, options: Layout, *, folder: bool
) -> list[Source]:
    """Return the memory file that a path is by its name, whether it is there yet or not.

    Args:
        via: Which half of a twin to take.
        backend: Where it is.
        path: The path, in any spelling.
        options: What memory files are called.
        folder: Whether the path may be a folder; then the memory files in it are returned.
    """
    guest = Guest(backend)
    (names,) = await guest.names(via, [path])
    found = list(names)
    if folder and names and not any(options.name_of(one) for one in names):
        for name in options.names:
            told = await guest.glob(via, name.rpartition("/")[2], names[0])
            found += [file["path"] for file in told.matches or []]
    sources = []
    for file in sorted(set(found)):
        if name := options.name_of(file):
            owner = options.owner_of(name)
            sources.append(Source(file, owner=owner, writable=options.writable_by(owner)))
    return sources
