"""Storage of versions: one small file per version, in one folder per file, in any backend.

In most backends listing such a folder is cheap. A LangGraph store returns the whole namespace for
each listing, so there an index file lists the versions of each file.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, Final

from memoryware._clock import Clock, NewId
from memoryware._runner import Runner
from memoryware.backends import _text
from memoryware.backends._actor import NOBODY, Actor, current_actor, current_reason
from memoryware.backends._adapter import BackendAdapter, add, drop, is_gone
from memoryware.backends._deepagents import is_listing_expensive
from memoryware.backends._filedata import bytes_of, file_from_bytes, file_of
from memoryware.backends._paths import folded, join
from memoryware.backends._patterns import WILDCARDS, compile_rule
from memoryware.backends._text import digest
from memoryware.backends._versions import (
    Version,
    VersionChain,
    VersionStamp,
    exceeding,
    key_of,
    stamp_of,
)
from memoryware.backends._wrapping import FileChange, names_of_history_folder
from memoryware.errors import FileError, MemorywareError, WriteFailed
from memoryware.guard import Guard
from memoryware.settings import HistoryLimits

Lines = list[str]


def restore_redacted(redacted: str, there: str, there_redacted: str) -> str:
    """Restore the redacted lines of a stored text from the file as it is now.

    The result is only right if its digest is that of the version: lines may have gone,
    and other lines may look the same once they are redacted.

    Args:
        redacted: The text of a version, with redactions.
        there: The text of the file now.
        there_redacted: The same with redactions.
    """
    readable = _readable(there.splitlines(keepends=True), there_redacted.splitlines(keepends=True))
    result: Lines = []
    lines = redacted.splitlines(keepends=True)
    index = 0
    while index < len(lines):
        for size in sorted({len(block) for block in readable}, reverse=True):
            block = tuple(lines[index : index + size])
            if readable.get(block):
                result += readable[block].popleft()
                index += size
                break
        else:
            result.append(lines[index])
            index += 1
    return "".join(result)


def _readable(there: Lines, redacted: Lines) -> dict[tuple[str, ...], deque[Lines]]:
    """Return the original lines of each redacted block, in their order in the file."""
    blocks: dict[tuple[str, ...], deque[Lines]] = defaultdict(deque)
    # autojunk would ignore lines that are frequent, such as blank ones, in files of 200 lines.
    matcher = SequenceMatcher(None, there, redacted, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "replace":
            continue
        if end - start == last - first:
            for line, other in zip(there[start:end], redacted[first:last], strict=True):
                blocks[other,].append([line])
        else:
            blocks[tuple(redacted[first:last])].append(there[start:end])
    return blocks


logger = logging.getLogger(__name__)

_FORM: Final = 1
_INDEX: Final = "index.json"


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version as it is stored.

    Attributes:
        stamp: Its key.
        path: The file.
        content: Its bytes; None for no file, and for bytes that are not kept.
        actor: Who made it.
        reason: Why.
        redacted: Whether something in the text was redacted.
    """

    stamp: VersionStamp
    path: str
    content: bytes | None
    actor: Actor
    reason: str | None
    redacted: bool

    @property
    def is_kept(self) -> bool:
        """Whether the content is there, or there is none to be kept."""
        return self.content is not None or self.stamp.after is None

    def encoded(self) -> bytes:
        """Return the bytes that are stored."""
        stamp, file = self.stamp, None if self.content is None else file_from_bytes(self.content)
        record: dict[str, Any] = {
            "form": _FORM,
            "path": self.path,
            "number": stamp.number,
            "kind": stamp.kind,
            "time": stamp.time.isoformat(),
            "actor": {field.name: getattr(self.actor, field.name) for field in fields(Actor)},
            "reason": self.reason,
            "before": stamp.before,
            "after": stamp.after,
            "redacted": self.redacted,
            "encoding": file and file["encoding"],
            "content": file and file["content"],
        }
        text = json.dumps(record, ensure_ascii=False, indent=1)
        return text.encode("utf-8", "surrogatepass")


def _parse_version(stamp: VersionStamp, data: bytes) -> StoredVersion | None:
    """Parse a stored version; None if it is damaged."""
    try:
        record = json.loads(data)
        actor = Actor(
            **{
                field.name: _text_or_none(record["actor"].get(field.name))
                for field in fields(Actor)
            }
        )
        path, reason, redacted = (
            record["path"],
            _text_or_none(record["reason"]),
            record["redacted"] is True,
        )
        file = file_of({"content": record["content"], "encoding": record["encoding"]})
        content = None if file is None else bytes_of(path, file)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, FileError):
        return None
    # A redacted text cannot have the digest of the original; any other one must.
    changed = content is not None and digest(content) != stamp.after
    if not isinstance(path, str) or (changed and not redacted):
        return None
    return StoredVersion(stamp, path, content, actor, reason, redacted)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


class VersionStore:
    """The versions of files, in a folder of a backend."""

    def __init__(self, backend: Any, folder: str, limits: HistoryLimits) -> None:
        self._adapter, self._folder, self._limits = BackendAdapter(backend), folder, limits
        self._root: str | None = None
        self._listing_is_expensive: bool | None = None

    @property
    def backend(self) -> Any:
        """The backend that holds the versions."""
        return self._adapter.backend

    async def root(self, runner: Runner) -> str:
        """Return the folder by its absolute name."""
        if self._root is None:
            self._root = (await names_of_history_folder(self._adapter, runner, self._folder))[0]
            self._listing_is_expensive = is_listing_expensive(self._adapter.backend, self._root)
        return self._root

    async def _path(self, runner: Runner, identity: str, name: str = "") -> str:
        folder = join(await self.root(runner), f"/{key_of(identity)}")
        return f"{folder}/{name}" if name else folder

    async def newest_file(
        self, runner: Runner, identity: str, stamps: Sequence[VersionStamp]
    ) -> str | None:
        """Return the path of the newest stored version, which has the rights of the file."""
        return await self._path(runner, identity, stamps[-1].name) if stamps else None

    async def stamps(self, runner: Runner, identity: str) -> list[VersionStamp]:
        """List the versions of a file, in no order.

        Raises:
            WriteFailed: If the backend cannot list them.
        """
        path = await self._path(runner, identity)
        listed = await self._adapter.ls(runner, path, path)
        # Without the list the next number is unknown, and a version would overwrite another one.
        if listed.error and not is_gone(listed.error):
            message = f"The versions of '{identity}' cannot be listed: {listed.error}"
            raise WriteFailed(identity, message)
        return _parse_stamps([entry["path"] for entry in listed.entries or []])

    async def newest(self, runner: Runner, identity: str, before: str | None) -> list[VersionStamp]:
        """List the versions of a file with this digest before another one is added.

        If a version is missed, two get its number at worst.
        """
        await self.root(runner)
        if self._listing_is_expensive:
            path = await self._path(runner, identity, _INDEX)
            (got,) = await self._adapter.download(runner, [path])
            stamps = _index_names(got.content)
            if got.error == "file_not_found":
                return []
            if stamps and before in (stamps[-1].after, stamps[-1].before):
                return stamps
        return await self.stamps(runner, identity)

    async def add(
        self,
        runner: Runner,
        stored_versions: Sequence[StoredVersion],
        others: Sequence[VersionStamp],
        like: str | None,
    ) -> None:
        """Store versions of one file beside others of it.

        Raises:
            WriteFailed: If one cannot be stored.
        """
        identity = stored_versions[0].path
        if self._listing_is_expensive:  # first, so that without it there are no versions
            names = [
                stamp.name for stamp in (*others, *(stored.stamp for stored in stored_versions))
            ]
            await self._store(runner, _INDEX, json.dumps(names).encode(), identity, like)
        for stored in stored_versions:
            await self._store(runner, stored.stamp.name, stored.encoded(), identity, like)

    async def _store(
        self, runner: Runner, name: str, data: bytes, identity: str, like: str | None
    ) -> None:
        path, why = await self._path(runner, identity, name), "its version could not be stored"
        try:
            await add(self._adapter, runner, (path, like), data)
        except FileError as error:
            raise WriteFailed(identity, f"'{identity}' was not changed: {why}: {error}") from error
        except MemorywareError:
            raise
        except Exception as error:
            message = f"'{identity}' was not changed: {why}: {type(error).__name__}"
            raise WriteFailed(identity, message) from error

    async def load(
        self, runner: Runner, identity: str, stamps: Sequence[VersionStamp]
    ) -> list[StoredVersion | None]:
        """Read stored versions, None for one that cannot be read."""
        paths = [await self._path(runner, identity, stamp.name) for stamp in stamps]
        got = await self._adapter.download(runner, paths) if paths else []
        stored_versions: list[StoredVersion | None] = []
        for stamp, path, answer in zip(stamps, paths, got, strict=True):
            stored = (
                None if answer.content is None else _parse_version(stamp, _bytes(answer.content))
            )
            if stored is None:
                logger.warning("%s cannot be read: %s", path, answer.error or "it is damaged")
            stored_versions.append(stored)
        return stored_versions

    async def drop(self, runner: Runner, identity: str, stamps: Sequence[VersionStamp]) -> None:
        """Remove versions; one that is gone already is no error."""
        if stamps:
            logger.debug("%d versions of %s are dropped", len(stamps), identity)
        for stamp in stamps:
            await self._drop(runner, await self._path(runner, identity, stamp.name))

    async def _drop(self, runner: Runner, path: str) -> None:
        try:
            await drop(self._adapter, runner, path)
        except FileError as error:
            logger.warning("%s was not dropped: %s", path, error)

    async def all(self, runner: Runner) -> Mapping[str, list[VersionStamp]]:
        """List the versions of all files, by folder."""
        root = await self.root(runner)
        result = await self._adapter.glob(runner, "*/*.json", root)
        if result.truncated or (result.error and not is_gone(result.error)):
            logger.warning("not all versions in %s were found: %s", root, result.error)
        by_folder: dict[str, list[str]] = {}
        for match in result.matches or []:
            by_folder.setdefault(match["path"].rpartition("/")[0], []).append(match["path"])
        return {
            folder: stamps
            for folder, names in by_folder.items()
            if (stamps := _parse_stamps(names))
        }

    async def path_of(
        self, runner: Runner, folder: str, stamps: Sequence[VersionStamp]
    ) -> str | None:
        """Return the file whose versions a folder holds, None if none of them can be read."""
        for stamp in sorted(stamps, key=lambda stamp: stamp.sort_key, reverse=True):
            (got,) = await self._adapter.download(runner, [f"{folder}/{stamp.name}"])
            stored = None if got.content is None else _parse_version(stamp, _bytes(got.content))
            if stored is not None:
                return stored.path
        logger.warning("none of the versions in %s can be read", folder)
        return None

    def is_due(self, stamp: VersionStamp) -> bool:
        """Return whether a sweep follows this version: a random one in so many."""
        # By the name and not by random(), so that a test, or a repeated run, sweeps in the same
        # place.
        chance = hashlib.blake2b(stamp.name.encode(), digest_size=8).digest()
        return int.from_bytes(chance, "big") % int(self._limits.sweep_after) == 0

    async def sweep(self, runner: Runner, now: datetime) -> int:
        """Drop the versions of all files that exceed the limits; return how many."""
        everything = await self.all(runner)
        doomed = {
            folder: exceeding(stamps, self._limits, now) for folder, stamps in everything.items()
        }
        left = {
            folder: [stamp for stamp in stamps if stamp not in doomed[folder]]
            for folder, stamps in everything.items()
        }
        # Counted by file sizes: what the backend needs for them is unknown.
        size = sum(stamp.size for stamps in left.values() for stamp in stamps)
        for stamp, folder in _oldest_first(left):
            if size <= self._limits.total_bytes:
                break
            doomed[folder].append(stamp)
            size -= stamp.size
        for folder, stamps in doomed.items():
            index = (
                [_INDEX]
                if self._listing_is_expensive and len(stamps) == len(everything[folder])
                else []
            )
            for name in [*(stamp.name for stamp in stamps), *index]:
                await self._drop(runner, f"{folder}/{name}")
        count = sum(map(len, doomed.values()))
        if count:
            logger.info("%d versions of files were dropped to keep to the limits", count)
        return count


def _oldest_first(left: Mapping[str, Sequence[VersionStamp]]) -> list[tuple[VersionStamp, str]]:
    """Return the versions that may be dropped, oldest first.

    Of a deleted file all may be, otherwise the newest stays.
    """
    free: list[tuple[VersionStamp, str]] = []
    for folder, stamps in left.items():
        ordered = sorted(stamps, key=lambda stamp: stamp.sort_key)
        gone = ordered and ordered[-1].after is None
        free += [(stamp, folder) for stamp in (ordered if gone else ordered[:-1])]
    return sorted(free, key=lambda pair: (pair[0].time, pair[0].sort_key))


def _parse_stamps(paths: Iterable[str]) -> list[VersionStamp]:
    stamps = [stamp_of(path.rpartition("/")[2]) for path in paths]
    return [stamp for stamp in stamps if stamp is not None]


def _index_names(content: Any) -> list[VersionStamp]:
    """Parse an index; empty if there is none or it is damaged."""
    try:
        names = json.loads(_bytes(content)) if content else []
    except (ValueError, RecursionError):
        return []
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return _parse_stamps(names) if good else []


def _bytes(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def version_of(path: str, stamp: VersionStamp, stored: StoredVersion | None) -> Version:
    """Make a `Version` of its key and of what is stored, if that can be read."""
    return Version(
        path=path,
        number=stamp.number,
        id=stamp.id,
        kind=stamp.kind,
        time=stamp.time,
        before=stamp.before,
        after=stamp.after,
        size=stamp.size,
        actor=NOBODY if stored is None else stored.actor,
        reason=None if stored is None else stored.reason,
        restored=stamp.restored,
        kept=stored is not None and stored.is_kept,
        redacted=stored is not None and stored.redacted,
    )


# Takes the path and the text of a file, returns the text to store in the history.
Redact = Callable[[str, str], str]
AskNames = Callable[[Runner, list[str]], Awaitable[list[tuple[str, ...]]]]
_PLAIN_ID: Final = re.compile(r"[\w-]{1,32}", re.ASCII)
_ID_CHARS: Final = 12


_USUAL: Final = Guard()


class _SecretRedactor:
    """Replaces each secret in a text with a note of its kind."""

    # An object and no function, so that `help(HistoryBackend)` shows its name as the default.

    def __call__(self, path: str, text: str) -> str:  # noqa: ARG002 - the signature of `Redact`
        return _USUAL.redact(text)

    def __repr__(self) -> str:
        return "redact_secrets"


redact_secrets: Final[Redact] = _SecretRedactor()


class WatchedPaths:
    """Patterns of files; a path without wildcards means that file by all its names.

    Raises:
        PatternRefused: For an invalid pattern.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [
            compile_rule(folded(pattern)) for pattern in patterns if not pattern.startswith("~")
        ]
        self._files = [
            pattern for pattern in patterns if "/" in pattern and WILDCARDS.isdisjoint(pattern)
        ]

    async def covers(self, ask: AskNames, runner: Runner, names: Sequence[str]) -> bool:
        """Return whether the file with these names is one of them."""
        own = {folded(name) for name in names}
        if any(rule.covers(name) for rule in self._rules for name in own):
            return True
        names_of_each = await ask(runner, self._files) if self._files else []
        return any(folded(name) in own for own_names in names_of_each for name in own_names)


@dataclass(slots=True)
class UndoRecord:
    """Data passed between an undo and the version that records it.

    Attributes:
        restored: The number of the version that it goes back to, 0 for no file.
        versions: The version that was made.
    """

    restored: int = 0
    versions: list[Version] = field(default_factory=list)


class VersionWriter:
    """Makes the versions to store of a change."""

    def __init__(
        self,
        limits: HistoryLimits,
        actor: Actor | None,
        redact: Redact | None,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._limits, self._actor, self._redact = limits, actor, redact
        self._clock, self._new_id = clock, new_id

    def versions_of(self, change: FileChange, chain: VersionChain) -> list[StoredVersion]:
        """Return the versions to store of a change; first the text before, if that is unknown."""
        now, path, number = self._clock(), change.identity, chain.last_number
        stored_versions: list[StoredVersion] = []
        if chain.missing:
            number += 1
            state = (
                chain.missing,
                chain.expected,
                digest(change.before),
                len(change.before or b""),
            )
            stamp = VersionStamp(number, now, self._id(), *state)
            stored_versions.append(self._stored_version(path, stamp, change.before, NOBODY, None))
        restored = change.mark.restored if isinstance(change.mark, UndoRecord) else None
        done = (change.kind, digest(change.before), digest(change.after), len(change.after or b""))
        stamp = VersionStamp(number + 1, now, self._id(), *done, restored)
        actor, reason = current_actor(self._actor), current_reason()
        return [*stored_versions, self._stored_version(path, stamp, change.after, actor, reason)]

    def _stored_version(
        self,
        path: str,
        stamp: VersionStamp,
        content: bytes | None,
        actor: Actor,
        reason: str | None,
    ) -> StoredVersion:
        # Its digest is kept all the same, so that the next change is recognised.
        if stamp.size > self._limits.text_bytes:
            return StoredVersion(stamp, path, None, actor, reason, redacted=False)
        shown = self.shown(path, content)
        return StoredVersion(stamp, path, shown, actor, reason, redacted=shown != content)

    def shown(self, path: str, content: bytes | None) -> bytes | None:
        """Return the bytes of a file with redactions."""
        if content is None or self._redact is None:
            return content
        form = _text.decode(content)
        shown = self._redact(path, form.text)
        return content if shown == form.text else _in_form(form, shown)

    def restore_redacted(self, path: str, content: bytes, there: bytes | None) -> bytes:
        """Restore the redactions of a stored text from the file as it is now."""
        if self._redact is None or there is None:
            return content
        form, text = _text.decode(content), _text.decode(there).text
        return _in_form(form, restore_redacted(form.text, text, self._redact(path, text)))

    def _id(self) -> str:
        new_id = self._new_id()
        return new_id[:_ID_CHARS] if _PLAIN_ID.fullmatch(new_id) else str(digest(new_id.encode()))


def _in_form(form: _text.Decoded, text: str) -> bytes:
    """Return a text in the encoding that another one was found in."""
    return form.bom + text.encode("utf-8" if form.lossy else form.encoding)
