"""Discover existing memory files (AGENTS.md, CLAUDE.md, ...), as other coding agents do.

First the files of the user, then those of the repository, from its root down to the folder
where the agent starts, so that the nearest comes last. One file is taken per folder, and of
duplicates (one file under two names, or equal texts) only the nearest.

Nested memory files join during the run: `touched` reads from the messages of a thread in which
folders the agent has read or changed files, and `discover_nested` finds the memory files of those
folders and of the ones above them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memoryware._home import expand_home
from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware.backends._adapter import BackendAdapter, check_backend
from memoryware.backends._paths import is_below
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.backends.protocol import BackendLike
from memoryware.errors import SettingError
from memoryware.settings import DiscoveryLimits
from memoryware.sources._candidates import (
    CandidateGroup,
    CandidateReader,
    ChosenFile,
    FileCandidate,
    Permits,
    above,
    digest_of,
    upwards,
    without_duplicates,
)
from memoryware.sources.layout import (
    DiscoveryWarnings,
    Layout,
)
from memoryware.sources.source import Source

_Start = str | os.PathLike[str]


def discover(
    start: _Start = ".", *, backend: BackendLike | None = None, layout: Layout | None = None
) -> list[Source]:
    """Find the memory files of an agent that starts in a folder.

    Without a backend this searches the disk of this machine, and the paths are those of
    `on_disk()`: host paths, and `~/...` for files of the user.

    Args:
        start: The folder; a file stands for the folder it is in. A missing one has
            no files itself, but those above it count.
        backend: Where to search; `start` is a path in it, and nothing outside of it is visible.
        layout: Names and folders of memory files; by default `Layout()`.

    Returns:
        The memory files, the user's first, the nearest last.

    Raises:
        SettingError: If `start` is not a path of the backend, or the backend is of the wrong kind.
    """
    return run_blocking(_discover(BLOCKING, backend, start, layout or Layout()))


async def adiscover(
    start: _Start = ".", *, backend: BackendLike | None = None, layout: Layout | None = None
) -> list[Source]:
    """Find the memory files of an agent that starts in a folder.

    Without a backend this searches the disk of this machine, and the paths are those of
    `on_disk()`: host paths, and `~/...` for files of the user.

    Args:
        start: The folder; a file stands for the folder it is in. A missing one has
            no files itself, but those above it count.
        backend: Where to search; `start` is a path in it, and nothing outside of it is visible.
        layout: Names and folders of memory files; by default `Layout()`.

    Returns:
        The memory files, the user's first, the nearest last.

    Raises:
        SettingError: If `start` is not a path of the backend, or the backend is of the wrong kind.
    """
    if backend is None:  # one thread hop for all of it
        return await in_thread(discover, start, layout=layout)
    return await _discover(ASYNC, backend, start, layout or Layout())


async def _discover(runner: Runner, backend: Any, start: _Start, layout: Layout) -> list[Source]:
    if backend is None:
        backend, start = on_disk(start)
    return (await discover_via(runner, backend, os.fspath(start), layout)).sources


def on_disk(start: _Start = ".") -> tuple[FilesystemBackend, str]:
    """Return the disk of this machine as a backend, and a folder as a path in it.

    The paths that `discover` returns without a backend are those of this one. It reaches
    whatever this process may reach, so give the tools of an agent rules (`allow=`), or a
    backend of their own.

    Args:
        start: The folder on this machine.

    Returns:
        The backend, and the path of the folder in it.

    Raises:
        SettingError: If the folder begins with `~` and the home folder is unknown.
    """
    host = expand_home(start, "start").absolute()
    if ".." in host.parts:
        host = Path(os.path.realpath(host))  # what is above a link is above where it leads
    return FilesystemBackend(host.anchor), "/" + host.relative_to(host.anchor).as_posix()


@dataclass(frozen=True, slots=True)
class Discovered:
    """The result of a discovery.

    Attributes:
        sources: The memory files, the user's first, the nearest last.
        root: The root folder of the repository, or the start where there is none.
    """

    sources: list[Source]
    root: str


async def discover_via(
    runner: Runner,
    backend: Any,
    start: str,
    options: Layout,
    notices: DiscoveryWarnings | None = None,
    *,
    permits: Permits | None = None,
) -> Discovered:
    """Find the memory files for a start folder, and the root of its repository.

    Args:
        runner: Calls what may block.
        backend: Where to search.
        start: A path in it.
        options: Names and folders of memory files.
        notices: Warnings that were logged already; a caller that searches often passes its own.
        permits: Decides by the names of a file whether it may be read; others are left out.

    Returns:
        The memory files and the root.

    Raises:
        SettingError: If `start` is not a path of the backend, or the backend is of the wrong kind.
    """
    check_backend(backend, "backend")
    reader = CandidateReader(runner, backend, options, notices, permits)
    folders = await _folders(reader, start)
    root = folders[-1]
    for folder in folders:
        await reader.warn_of_case(folder)
    of_user = await _user_groups(reader)
    of_project = [
        group for folder in reversed(folders) for group in await reader.groups(folder, root)
    ]
    chosen = await reader.choose([*of_user, *of_project])
    files = reader.within_limits(without_duplicates(file for file in chosen if file))
    sources = [file.source(options) for file in files]
    if options.offer is not None and not any(chosen[len(of_user) :]):
        first = reader.candidate(root, options.offer, root)
        if await reader.is_free(first.path):
            sources.append(first.source(options))
    return Discovered(sources, root)


async def _folders(reader: CandidateReader, start: str) -> list[str]:
    """Return the folders from where a start really is up to the root of its repository."""
    (names,) = await reader.names_of([start])
    if not names:
        raise SettingError(
            f"start={start!r} is no folder of this backend; name one in it, such as '/'"
        )
    here = await _start_folder(reader, names[-1])
    folders = upwards(here, "/", reader.layout.limits.depth)
    for count, folder in enumerate(folders, 1):
        # Upwards and not downwards: a monorepo has many folders and one root.
        if await reader.has(folder, reader.layout.root_markers):
            return folders[:count]
    return folders[:1]


async def _start_folder(reader: CandidateReader, at: str) -> str:
    """Return the folder that a path is, or the one that it is in if it is a file."""
    kind = await reader.kind(at)
    if kind is None:
        sentence = "the start folder %s does not exist; the folders above it are searched"
        reader.notices.warn(sentence, at)
    return above(at) if kind == "file" else at


async def _user_groups(reader: CandidateReader) -> list[CandidateGroup]:
    """Return the candidates of the user by folder, those that this backend has a place for."""
    layout = reader.layout
    if not layout.user:
        return []
    rank = {
        name.rpartition("/")[2]: index for index, name in enumerate(reversed(layout.single_names))
    }
    groups: dict[str, list[FileCandidate]] = {}
    paths = [path for path in layout.user_files if path.rpartition("/")[2] in rank]
    for path, names in zip(paths, await reader.names_of(paths), strict=True):
        folder, _, name = path.rpartition("/")
        if names:
            owner = layout.owners.get(path, "user")
            groups.setdefault(folder or "/", []).append(FileCandidate(folder or "/", name, owner))
    for group in groups.values():
        group.sort(key=lambda candidate: -rank[candidate.name])
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

    A call counts once it has been answered, and not if the answer is an error: a refused call
    touched nothing. Folders are spelled as in the calls.

    Args:
        messages: The messages of a thread, or what is left of them.
        tools: The names of the tools that count.
        order: "last": by the last touch of each folder. "first": by the first one, so that a
            prompt made from it changes less often.
        limits: `folders` is how many are returned, those touched last.

    Returns:
        Paths of folders.
    """
    waiting: dict[Any, str] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for index, message in enumerate(messages):
        kind = getattr(message, "type", None)
        if kind == "ai":
            for call in getattr(message, "tool_calls", None) or ():
                if call["name"] in tools and (folder := _folder_of(call["args"])):
                    waiting[call["id"]] = folder
        elif kind == "tool" and waiting:
            folder = waiting.pop(getattr(message, "tool_call_id", None), "")
            if folder and not _failed(message):
                first.setdefault(folder, index)
                last.pop(folder, None)
                last[folder] = index
    # The last ones: a long thread has left its first folders behind.
    recent = list(last)[-(limits or DiscoveryLimits()).folders :]
    return tuple(recent if order == "last" else sorted(recent, key=first.__getitem__))


def _folder_of(arguments: Mapping[str, Any]) -> str:
    """Return the folder of the file that a call names, as it spelled it; "" if it names none."""
    for name in _ARGUMENTS:
        path = arguments.get(name)
        if isinstance(path, str) and path:
            folder, slash, file = path.replace("\\", "/").rpartition("/")
            return (folder or slash or ".") if file else ""
    return ""


def _failed(message: Any) -> bool:
    """Return whether a tool answered with an error; some tools only say so in the text."""
    if getattr(message, "status", None) == "error":
        return True
    # deepagents reports refused calls as text with status "success".
    content = getattr(message, "content", None)
    return isinstance(content, str) and content.startswith("Error")


async def discover_nested(
    runner: Runner,
    backend: Any,
    folders: Sequence[str],
    loaded_sources: Sequence[Source],
    options: Layout,
    *,
    root: str | None = None,
    loaded: Mapping[str, str] | None = None,
    notices: DiscoveryWarnings | None = None,
    permits: Permits | None = None,
) -> list[Source]:
    """Find the memory files of folders and of those above them that are not loaded yet.

    A file comes after those of the folders above it, and those of the last folder given come
    last. The search covers the folders below that of a loaded source, the outermost if there are
    several above each other, and with `root` all folders in it. A folder with a loaded source of
    one of the names has its file already.

    Args:
        runner: Calls what may block.
        backend: Where to search.
        folders: The folders, as `touched` returns them.
        loaded_sources: The sources that are loaded already. Those of the user lead nowhere: what
            lies below a home folder is not a project.
        options: Names and folders of memory files.
        root: Nothing outside of this folder is searched, and everything inside may be.
            None means the whole backend; of one that reaches the home folder, which is
            the disk of a machine, only what lies below loaded sources.
        loaded: Texts of loaded sources by path, so that they need not be read again.
        notices: Warnings that were logged already.
        permits: Decides by the names of a file whether it may be read; others are left out.

    Returns:
        The new sources.
    """
    if not folders:
        return []
    reader = CandidateReader(runner, backend, options, notices, permits)
    scope = await _scope(reader, folders, loaded_sources, root)
    ends = {inner: end for folder in scope.folders for inner, end in scope.way_to(folder)}
    groups = [group for inner, end in ends.items() for group in await reader.groups(inner, end)]
    free = [
        group
        for group in groups
        if not any(candidate.path in scope.loaded_names for candidate in group)
    ]
    for group in free:
        await reader.warn_of_case(group[0].folder)
    files = [file for file in await reader.choose(free) if file]
    digests = await _digests(reader, loaded_sources, loaded or {}) if files else set[bytes | None]()
    fresh = _new_files(files, {*scope.loaded_names, *digests})
    return [file.source(options) for file in reader.within_limits(fresh)]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which folders may be searched for nested memory files.

    Attributes:
        folders: The folders in which files were used, links resolved.
        loaded_names: All names of the loaded sources.
        tops: The folders of the loaded sources that are not the user's.
        end: The folder that limits the search; None limits it to the folders below `tops`.
        depth: How many folders above are searched.
    """

    folders: list[str]
    loaded_names: set[str]
    tops: set[str]
    end: str | None
    depth: int

    def way_to(self, folder: str) -> list[tuple[str, str]]:
        """Return the folders to search for one in which a file was used, the nearest last.

        Each comes with the folder that a link in it must not leave.
        """
        if self.end is not None and not is_below(folder, self.end):
            return []
        limit = self.end or "/"
        tops = [top for top in self.tops if is_below(folder, top) and is_below(top, limit)]
        top = min(tops, key=len, default=self.end)
        if top is None:
            return []
        way = upwards(folder, top, self.depth, inclusive=top not in tops)
        return [(folder_above, self.end or top) for folder_above in reversed(way)]


async def _scope(
    reader: CandidateReader,
    folders: Sequence[str],
    loaded_sources: Sequence[Source],
    root: str | None,
) -> _Scope:
    """Return which folders may be searched, by the names that the backend has for them."""
    paths = [*folders, *(source.path for source in loaded_sources), "~" if root is None else root]
    *own_places, last = await reader.names_of(paths)
    sources = list(zip(loaded_sources, own_places[len(folders) :], strict=True))
    of_projects = [own for source, own in sources if own and not _is_users(source)]
    end = ("/" if not last else None) if root is None else last[-1] if last else root
    return _Scope(
        folders=[own[-1] for own in own_places[: len(folders)] if own],
        loaded_names={name for _, own in sources for name in own},
        tops={_folder_of_source(own[-1], reader.layout) for own in of_projects},
        end=end,
        depth=reader.layout.limits.depth,
    )


def _is_users(source: Source) -> bool:
    return source.owner == "user" or source.path.startswith("~")


def _folder_of_source(path: str, options: Layout) -> str:
    """Return the folder whose memory file a path is."""
    name = options.name_of(path)
    return path[: -len(name) - 1] or "/" if name else above(path)


async def _digests(
    reader: CandidateReader, loaded_sources: Sequence[Source], loaded: Mapping[str, str]
) -> set[bytes | None]:
    """Return digests of the texts of loaded sources."""
    unread = [source.path for source in loaded_sources if source.path not in loaded]
    return {*map(digest_of, loaded.values()), *await reader.digests(unread)}


def _new_files(
    files: Iterable[ChosenFile], known_keys: Iterable[str | bytes | None]
) -> list[ChosenFile]:
    """Return files that are new, by their path and by their text."""
    keys = {key for key in known_keys if key is not None}
    fresh = []
    for file in files:
        if not file.keys & keys:
            keys |= file.keys
            fresh.append(file)
    return fresh


async def join_nested(
    runner: Runner, backend: Any, path: str, options: Layout, *, folder: bool
) -> list[Source]:
    """Return the memory files that a path is by its name, whether they exist yet or not.

    Args:
        runner: Calls what may block.
        backend: Where it is.
        path: The path, in any spelling.
        options: Names and folders of memory files.
        folder: Whether the path may be a folder; then the memory files in it are returned.

    Returns:
        The sources, sorted by path.
    """
    adapter = BackendAdapter(backend)
    (names,) = await adapter.names(runner, [path])
    paths = list(names)
    if folder and names and not any(options.name_of(name) for name in names):
        for name in options.names:
            result = await adapter.glob(runner, name.rpartition("/")[2], names[0])
            paths += [file["path"] for file in result.matches or []]
    sources = []
    for file in sorted(set(paths)):
        if name := options.name_of(file):
            owner = options.owner_of(name)
            sources.append(Source(file, owner=owner, writable=options.writable_by(owner)))
    return sources
