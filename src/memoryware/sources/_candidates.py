"""Candidates of discovery: choose one memory file per folder, and drop duplicates.

`CandidateFiles` reads the candidates of many folders in one batch and takes one file of each;
`without_duplicates` leaves out the same file, or the same text, under a second name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from memoryware._runner import Runner
from memoryware.backends._adapter import BackendAdapter, fingerprints_of, names_of
from memoryware.backends._paths import is_below, join
from memoryware.backends._routing import is_absent
from memoryware.backends._text import decode
from memoryware.errors import PathRefused
from memoryware.events import logger
from memoryware.sources.layout import DiscoveryWarnings, Layout
from memoryware.sources.source import Owner, Source

_REASONS: Final = {
    "is_directory": "it is a folder",
    "permission_denied": "this process may not read it",
    "too_large": "it has more bytes than are read at once",
    "invalid_path": "it is no regular file, or leads out of the root",
}
_TEXT_LINK: Final = re.compile(
    r"(?:\.{1,2}/)*(?:[\w.@+-]+/)*(?:[\w.@+-]+\.(?:md|mdc|mdx|markdown|txt)|\.cursorrules)"
)
# Longest relative path that counts as a link that git has checked out as text.
_LONGEST_LINK: Final = 260
# What is at a path; None for nothing that could be read or entered.
PathKind = Literal["file", "folder"] | None
_KINDS: Final[Mapping[Any, PathKind]] = {None: "file", "is_directory": "folder"}
# What is in a folder by name, and whether each is a folder.
FolderListing = Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class FileCandidate:
    """A file that may be the memory of its folder.

    Attributes:
        folder: The folder.
        name: Its path below the folder.
        owner: Whose notes it holds.
        within: The folder that its links must not leave.
    """

    folder: str
    name: str
    owner: Owner | None
    within: str = "/"

    @property
    def path(self) -> str:
        """The path as the backend is asked for it."""
        return join(self.folder, f"/{self.name}")

    def source(self, layout: Layout) -> Source:
        """Return the source for this file."""
        return Source(self.path, owner=self.owner, writable=layout.writable_by(self.owner))


# Decides whether a file may be read, by its names: its own, then the target of a link.
Permits = Callable[[Sequence[str]], bool]
# The candidates of one folder; the first that has text is taken.
CandidateGroup = Sequence[FileCandidate]


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """The memory file of a folder.

    Attributes:
        candidate: The file.
        identity: Its real path, links resolved.
        digest: Of its text; None if it is blank.
    """

    candidate: FileCandidate
    identity: str
    digest: bytes | None

    def source(self, layout: Layout) -> Source:
        """Return the source for this file."""
        return self.candidate.source(layout)

    @property
    def keys(self) -> set[str | bytes]:
        """The keys of deduplication: the real path, and the digest of the text if there is one."""
        return {self.identity} if self.digest is None else {self.identity, self.digest}


class CandidateReader:
    """Reads candidates from a backend during one discovery; listings are cached."""

    def __init__(
        self,
        runner: Runner,
        backend: Any,
        layout: Layout,
        notices: DiscoveryWarnings | None = None,
        permits: Permits | None = None,
    ) -> None:
        self._runner, self._adapter, self._permits = runner, BackendAdapter(backend), permits
        self.layout, self.notices = layout, notices or DiscoveryWarnings()
        # A backend with names or fingerprints follows our contract, and never blocks on a pipe.
        exact = names_of(backend) is not None or fingerprints_of(backend) is not None
        self._must_list_first = not exact
        self._listed: dict[str, FolderListing | None] = {}
        self._absent: set[str] = set()

    async def names_of(self, paths: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the names of each path, links resolved; a refused path has none."""
        return await self._adapter.names(self._runner, list(paths)) if paths else []

    async def digests(self, paths: Sequence[str]) -> list[bytes | None]:
        """Return digests of the texts of files; None for missing and blank ones."""
        answers = await self._adapter.download(self._runner, list(paths)) if paths else []
        return [None if answer.content is None else digest_of(answer.content) for answer in answers]

    async def listing(self, folder: str) -> FolderListing | None:
        """List a folder by name; empty for a missing one, None if it cannot be listed."""
        if folder not in self._listed:
            self._listed[folder] = await self._list(folder)
        return self._listed[folder]

    async def _list(self, folder: str) -> FolderListing | None:
        try:
            listed = await self._adapter.ls(self._runner, folder, folder)
        except PathRefused:
            self._absent.add(folder)
            return {}
        if listed.entries is None:
            if not is_absent(listed.error):
                return None
            self._absent.add(folder)
            return {}
        return {
            entry["path"].rstrip("/").rpartition("/")[2]: bool(
                entry.get("is_dir") or entry["path"].endswith("/")
            )
            for entry in listed.entries
        }

    async def kind(self, path: str) -> PathKind:
        """Return the kind of a path: file, folder, or None."""
        return (await self._kinds([path]))[0]

    async def has(self, folder: str, names: Sequence[str]) -> bool:
        """Return whether a folder contains one of these names, as a file or as a folder."""
        return any(await self._kinds([join(folder, f"/{name}") for name in names]))

    async def _kinds(self, paths: Sequence[str]) -> list[PathKind]:
        """Return the kinds of paths, without listing large folders where that can be avoided."""
        if self._must_list_first:
            return [await self._listed_kind(path) for path in paths]
        answers = await self._adapter.download(self._runner, list(paths)) if paths else []
        return [
            await self._listed_kind(path)
            if answer.error == "permission_denied"
            else _KINDS.get(answer.error)
            for path, answer in zip(paths, answers, strict=True)
        ]

    async def _listed_kind(self, path: str) -> PathKind:
        if path == "/":
            return "folder"
        folder, _, name = path.rpartition("/")
        is_folder = (await self.listing(folder or "/") or {}).get(name)
        return None if is_folder is None else "folder" if is_folder else "file"

    async def groups(self, folder: str, within: str) -> list[CandidateGroup]:
        """Return the candidates of a folder of a repository, one group for each file to choose."""
        layout = self.layout
        groups: list[CandidateGroup] = []
        if layout.single_names:
            groups.append([self.candidate(folder, name, within) for name in layout.single_names])
        for pattern in layout.patterns:
            inner, slash, last = pattern.rpartition("/")
            listing = await self.listing(join(folder, f"/{inner}") if slash else folder) or {}
            names = [f"{inner}{slash}{name}" for name in sorted(listing) if not listing[name]]
            groups += [
                [self.candidate(folder, name, within)]
                for name in names
                if fnmatchcase(name.rpartition("/")[2], last)
            ]
        return groups

    def candidate(self, folder: str, name: str, within: str) -> FileCandidate:
        """Make a candidate of a file of a repository, which must not be a link out of it."""
        layout = self.layout
        owner = layout.owner_of(name)
        return FileCandidate(folder, name, owner, "/" if layout.outside_links else within)

    async def is_free(self, path: str) -> bool:
        """Return whether a path is free for a new file."""
        (answer,) = await self._adapter.download(self._runner, [path])
        return answer.error == "file_not_found"

    def within_limits(self, chosen: Sequence[ChosenFile]) -> Sequence[ChosenFile]:
        """Return the last files up to the limit, and warn if there are more."""
        most = self.layout.limits.files
        if len(chosen) > most:
            self.notices.warn(
                "%s memory files were found; the last %s are used (files of DiscoveryLimits)",
                str(len(chosen)),
                str(most),
            )
        return chosen[-most:]

    async def warn_of_case(self, folder: str) -> None:
        """Warn of names that differ in case only: they count on some systems and not on others.

        A folder is listed for that once, because that may cost more than everything else.
        """
        if not self.notices.first("case", folder):
            return
        listing, names = await self.listing(folder) or {}, self.layout.single_names
        folded = {name.casefold(): name for name in names if name not in listing}
        for name, is_folder in listing.items():
            meant = folded.get(name.casefold())
            if meant and not is_folder:
                sentence = "%s is not read everywhere: its name differs from %s in case; rename it"
                self.notices.warn(sentence, join(folder, f"/{name}"), meant)

    async def choose(
        self, groups: Sequence[CandidateGroup], *, hops: int = 2
    ) -> list[ChosenFile | None]:
        """Read all candidates in one batch and choose one of each group, or none.

        Args:
            groups: The candidates.
            hops: How many links that were checked out as text are followed.
        """
        # Before anything is read: a file that the rules deny must not even be opened.
        groups = await self._permitted(groups)
        groups = [
            [candidate for candidate in group if await self._may_ask(candidate)] for group in groups
        ]
        paths = list(dict.fromkeys(candidate.path for group in groups for candidate in group))
        answers = await self._adapter.download(self._runner, paths) if paths else []
        by_path = dict(zip(paths, answers, strict=True))
        there = [path for path, answer in by_path.items() if answer.error is None]
        pairs = zip(there, await self.names_of(there), strict=True)
        real = {path: own[-1] if own else path for path, own in pairs}
        return [await self._first(group, by_path, real, hops) for group in groups]

    async def _permitted(self, groups: Sequence[CandidateGroup]) -> Sequence[CandidateGroup]:
        """Return the candidates that the rules of the caller allow to read."""
        permits = self._permits
        if permits is None:
            return groups
        paths = [candidate.path for group in groups for candidate in group]
        names = dict(zip(paths, await self.names_of(paths), strict=True))
        return [
            [candidate for candidate in group if permits(names[candidate.path])] for group in groups
        ]

    async def _first(
        self, group: CandidateGroup, answers: Mapping[str, Any], real: Mapping[str, str], hops: int
    ) -> ChosenFile | None:
        """Return the first candidate that has text, otherwise the first that exists."""
        blank: ChosenFile | None = None
        for candidate in group:
            answer = answers[candidate.path]
            if answer.content is None or answer.error is not None:
                await self._skip(candidate, answer.error)
                continue
            chosen = ChosenFile(candidate, real[candidate.path], digest_of(answer.content))
            if not is_below(chosen.identity, candidate.within):
                self.notices.warn(
                    "memory file %s was skipped: it is a link out of %s; outside_links=True"
                    " allows that",
                    candidate.path,
                    candidate.within,
                )
            elif chosen.digest is not None:
                return await self._behind_text_link(chosen, answer.content, hops) or chosen
            else:
                blank = blank or chosen
        return blank

    async def _behind_text_link(
        self, chosen: ChosenFile, content: Any, hops: int
    ) -> ChosenFile | None:
        """Follow a link that was checked out as text; None if the text is no link.

        Git writes a symbolic link as a file that holds the path, where links are switched off,
        as on Windows. Such a path would be all of the memory.
        """
        candidate, target = chosen.candidate, text_link(content)
        path = beside(candidate.path, target) if target else None
        if path is None or not hops:
            return None
        folder, _, name = path.rpartition("/")
        behind = FileCandidate(folder or "/", name, candidate.owner, candidate.within)
        (target_file,) = await self.choose([[behind]], hops=hops - 1)
        if target_file is None or target_file.digest is None:
            self.notices.warn(
                "memory file %s holds nothing but the path %s, like a link that was checked out"
                " as text, and there is no such memory file",
                candidate.path,
                path,
            )
            return None
        logger.info(
            "memory file %s is a link that was checked out as text: %s", candidate.path, path
        )
        return target_file

    async def _skip(self, candidate: FileCandidate, error: str | None) -> None:
        """Warn that an existing file is not read, and why."""
        if error == "file_not_found":
            return
        if error == "invalid_path" and await self._lies_below_a_file(candidate):
            return
        reason = _REASONS.get(error or "", error or "the backend returned no result")
        self.notices.warn("memory file %s was skipped: %s", candidate.path, reason)

    async def _lies_below_a_file(self, candidate: FileCandidate) -> bool:
        """Return whether a candidate does not exist because its folder is a file."""
        listing = await self.listing(candidate.folder) or {}
        inner, slash, _ = candidate.name.partition("/")
        return candidate.folder in self._absent or (bool(slash) and listing.get(inner) is False)

    async def _may_ask(self, candidate: FileCandidate) -> bool:
        """Return whether a file may be read: if that could block on a pipe, it must be listed."""
        if not self._must_list_first:
            return True
        folder, _, name = candidate.path.rpartition("/")
        listing = await self.listing(folder or "/")
        return listing is None or name.casefold() in map(str.casefold, listing)


def without_duplicates(chosen: Iterable[ChosenFile]) -> list[ChosenFile]:
    """Drop files that come again nearer, as the same file or with the same text; farthest first."""
    unique: list[ChosenFile] = []
    keys: set[str | bytes] = set()
    # From the nearest on, because of two copies the nearer one counts.
    for file in reversed(list(chosen)):
        if not file.keys & keys:
            keys |= file.keys
            unique.append(file)
    return unique[::-1]


def digest_of(content: bytes | str) -> bytes | None:
    """Return a digest of a text, without its line ends and byte order mark; None if it is blank."""
    text = content if isinstance(content, str) else decode(content).text
    # Git changes line ends on checkout, and editors strip blanks: such copies are the same text.
    plain = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    return hashlib.blake2b(plain.encode("utf-8", "replace")).digest() if plain else None


def upwards(folder: str, end: str, depth: int, *, inclusive: bool = True) -> list[str]:
    """Return a folder and those above it as far as `end`, nearest first, at most `depth` above."""
    folders = [folder]
    while folder not in (end, "/") and len(folders) <= depth:
        folder = above(folder)
        folders.append(folder)
    return folders if inclusive or folders[-1] != end else folders[:-1]


def above(path: str) -> str:
    """Return the folder that a normal path is in; the root is in itself."""
    return path.rpartition("/")[0] or "/"


def text_link(content: bytes | str) -> str:
    """Return the relative path that is the whole text of a file, "" for any other text."""
    if len(content) > 2 * _LONGEST_LINK:  # a long file is no link, whatever it begins with
        return ""
    text = content if isinstance(content, str) else decode(content).text
    text = text.strip()
    return text if len(text) <= _LONGEST_LINK and _TEXT_LINK.fullmatch(text) else ""


def beside(path: str, target: str) -> str | None:
    """Resolve a relative path from the folder of a file; None if it leaves the root."""
    folders = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if len(folders) <= 1:
                return None
            folders.pop()
        elif part != ".":
            folders.append(part)
    return "/".join(folders)
