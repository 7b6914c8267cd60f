"""Storage of versions: one small file each, in a folder per file, in some backend.

In most backends listing such a folder is cheap. A store sends everything it has on each
listing, so there one more file is the index of the versions of each file.
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
from memoryware._twins import Via
from memoryware.backends import _text
from memoryware.backends._actor import NOBODY, Actor, current_actor, current_reason
from memoryware.backends._adapter import Guest, add, drop, is_gone
from memoryware.backends._deepagents import lists_dearly
from memoryware.backends._filedata import bytes_of, file_from_bytes, file_of
from memoryware.backends._hidden_folder import roots_of
from memoryware.backends._paths import folded, join
from memoryware.backends._patterns import compile_rule
from memoryware.backends._text import digest
from memoryware.backends._versions import Line, Stamp, Version, key_of, stamp_of, too_many
from memoryware.backends._wrapping import FileChange
from memoryware.errors import FileError, MemorywareError, WriteFailed
from memoryware.guard import Guard
from memoryware.settings import HistoryLimits

Lines = list[str]


def refilled(kept: str, there: str, there_kept: str) -> str:
    """Return a kept text with its unreadable lines as they stand in the file now.

    What comes out is only right if its digest is that of the version: lines may have gone,
    and other lines may look the same once they are unreadable.

    Args:
        kept: The text of a version, parts of which were made unreadable.
        there: The text of the file now.
        there_kept: The same, made unreadable in the same way.
    """
    readable = _readable(there.splitlines(keepends=True), there_kept.splitlines(keepends=True))
    found: Lines = []
    lines = kept.splitlines(keepends=True)
    place = 0
    while place < len(lines):
        for size in sorted({len(block) for block in readable}, reverse=True):
            block = tuple(lines[place : place + size])
            if readable.get(block):
                found += readable[block].popleft()
                place += size
                break
        else:
            found.append(lines[place])
            place += 1
    return "".join(found)


def _readable(there: Lines, kept: Lines) -> dict[tuple[str, ...], deque[Lines]]:
    """Return the readable lines of each unreadable block, in their order in the file."""
    blocks: dict[tuple[str, ...], deque[Lines]] = defaultdict(deque)
    matcher = SequenceMatcher(None, there, kept, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "replace":
            continue
        if end - start == last - first:
            for one, other in zip(there[start:end], kept[first:last], strict=True):
                blocks[other,].append([one])
        else:
            blocks[tuple(kept[first:last])].append(there[start:end])
    return blocks


logger = logging.getLogger(__name__)

_FORM: Final = 1
_INDEX: Final = "index.json"


@dataclass(frozen=True, slots=True)
class Page:
    """What is stored of a version.

    Attributes:
        stamp: Which version it is.
        path: The file.
        content: Its bytes; None for no file, and for bytes that are not kept.
        actor: Who made it.
        reason: Why.
        redacted: Whether something in the text was made unreadable.
    """

    stamp: Stamp
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
        told: dict[str, Any] = {
            "form": _FORM,
            "path": self.path,
            "number": stamp.number,
            "kind": stamp.kind,
            "time": stamp.time.isoformat(),
            "actor": {one.name: getattr(self.actor, one.name) for one in fields(Actor)},
            "reason": self.reason,
            "before": stamp.before,
            "after": stamp.after,
            "redacted": self.redacted,
            "encoding": file and file["encoding"],
            "content": file and file["content"],
        }
        text = json.dumps(told, ensure_ascii=False, indent=1)
        return text.encode("utf-8", "surrogatepass")


def _page_of(stamp: Stamp, data: bytes) -> Page | None:
    """Read what is stored of a version; None if it is damaged."""
    try:
        told = json.loads(data)
        actor = Actor(
            **{one.name: _text_or_none(told["actor"].get(one.name)) for one in fields(Actor)}
        )
        path, reason, redacted = (
            told["path"],
            _text_or_none(told["reason"]),
            told["redacted"] is True,
        )
        file = file_of({"content": told["content"], "encoding": told["encoding"]})
        content = None if file is None else bytes_of(path, file)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, FileError):
        return None
    changed = content is not None and digest(content) != stamp.after
    if not isinstance(path, str) or (changed and not redacted):
        return None
    return Page(stamp, path, content, actor, reason, redacted)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


class Shelf:
    """The versions of files, in a folder of a backend."""

    def __init__(self, backend: Any, folder: str, limits: HistoryLimits) -> None:
        self._guest, self._folder, self._limits = Guest(backend), folder, limits
        self._root: str | None = None
        self._dear: bool | None = None

    @property
    def backend(self) -> Any:
        """The backend that holds the versions."""
        return self._guest.backend

    async def root(self, via: Via) -> str:
        """Return the folder by its absolute name."""
        if self._root is None:
            self._root = (await roots_of(self._guest, via, self._folder))[0]
            self._dear = lists_dearly(self._guest.backend, self._root)
        return self._root

    async def _place(self, via: Via, identity: str, name: str = "") -> str:
        folder = join(await self.root(via), f"/{key_of(identity)}")
        return f"{folder}/{name}" if name else folder

    async def newest_file(self, via: Via, identity: str, stamps: Sequence[Stamp]) -> str | None:
        """Return the path of the newest version's own file, whose rights are those of the file."""
        return await self._place(via, identity, stamps[-1].name) if stamps else None

    async def stamps(self, via: Via, identity: str) -> list[Stamp]:
        """Return which versions of a file there are, in no order.

        Raises:
            WriteFailed: If nobody can say.
        """
        place = await self._place(via, identity)
        listed = await self._guest.ls(via, place, place)
        if listed.error and not is_gone(listed.error):
            message = f"The versions of '{identity}' cannot be listed: {listed.error}"
            raise WriteFailed(identity, message)
        return _stamps([one["path"] for one in listed.entries or []])

    async def newest(self, via: Via, identity: str, before: str | None) -> list[Stamp]:
        """Return the same for who is about to add one to a file with that digest.

        A version that is not known then gets its number twice at worst.
        """
        await self.root(via)
        if self._dear:
            place = await self._place(via, identity, _INDEX)
            (got,) = await self._guest.download(via, [place])
            stamps = _indexed(got.content)
            if got.error == "file_not_found":
                return []
            if stamps and before in (stamps[-1].after, stamps[-1].before):
                return stamps
        return await self.stamps(via, identity)

    async def add(
        self, via: Via, pages: Sequence[Page], others: Sequence[Stamp], like: str | None
    ) -> None:
        """Store versions of one file beside others of it.

        Raises:
            WriteFailed: If one cannot be stored.
        """
        identity = pages[0].path
        if self._dear:  # first, so that without it there are no versions
            names = [one.name for one in (*others, *(page.stamp for page in pages))]
            await self._store(via, _INDEX, json.dumps(names).encode(), identity, like)
        for page in pages:
            await self._store(via, page.stamp.name, page.encoded(), identity, like)

    async def _store(
        self, via: Via, name: str, data: bytes, identity: str, like: str | None
    ) -> None:
        place, why = await self._place(via, identity, name), "no version of it can be kept"
        try:
            await add(self._guest, via, (place, like), data)
        except FileError as error:
            raise WriteFailed(identity, f"'{identity}' was not changed: {why}: {error}") from error
        except MemorywareError:
            raise
        except Exception as error:
            message = f"'{identity}' was not changed: {why}: {type(error).__name__}"
            raise WriteFailed(identity, message) from error

    async def pages(self, via: Via, identity: str, stamps: Sequence[Stamp]) -> list[Page | None]:
        """Return what is stored of versions, None for what cannot be read."""
        places = [await self._place(via, identity, one.name) for one in stamps]
        got = await self._guest.download(via, places) if places else []
        found: list[Page | None] = []
        for stamp, place, answer in zip(stamps, places, got, strict=True):
            page = None if answer.content is None else _page_of(stamp, _bytes(answer.content))
            if page is None:
                logger.warning("%s cannot be read: %s", place, answer.error or "it is damaged")
            found.append(page)
        return found

    async def drop(self, via: Via, identity: str, stamps: Sequence[Stamp]) -> None:
        """Remove versions; what somebody else removed meanwhile is no matter."""
        if stamps:
            logger.debug("%d versions of %s are dropped", len(stamps), identity)
        for stamp in stamps:
            await self._drop(via, await self._place(via, identity, stamp.name))

    async def _drop(self, via: Via, place: str) -> None:
        try:
            await drop(self._guest, via, place)
        except FileError as error:
            logger.warning("%s was not dropped: %s", place, error)

    async def all(self, via: Via) -> Mapping[str, list[Stamp]]:
        """Return which versions there are, by the folder that they are in."""
        root = await self.root(via)
        found = await self._guest.glob(via, "*/*.json", root)
        if found.truncated or (found.error and not is_gone(found.error)):
            logger.warning("not all versions in %s were found: %s", root, found.error)
        by_folder: dict[str, list[str]] = {}
        for one in found.matches or []:
            by_folder.setdefault(one["path"].rpartition("/")[0], []).append(one["path"])
        return {folder: stamps for folder, names in by_folder.items() if (stamps := _stamps(names))}

    async def path_of(self, via: Via, folder: str, stamps: Sequence[Stamp]) -> str | None:
        """Return the file whose versions a folder holds, None if none of them can be read."""
        for stamp in sorted(stamps, key=lambda one: one.place, reverse=True):
            (got,) = await self._guest.download(via, [f"{folder}/{stamp.name}"])
            page = None if got.content is None else _page_of(stamp, _bytes(got.content))
            if page is not None:
                return page.path
        logger.warning("none of the versions in %s can be read", folder)
        return None

    def is_due(self, stamp: Stamp) -> bool:
        """Say whether a sweep follows this version: one in so many, by chance."""
        chance = hashlib.blake2b(stamp.name.encode(), digest_size=8).digest()
        return int.from_bytes(chance, "big") % int(self._limits.sweep_after) == 0

    async def sweep(self, via: Via, now: datetime) -> int:
        """Drop what the limits leave no room for, of all files; return how many versions."""
        everything = await self.all(via)
        doomed = {folder: too_many(all_, self._limits, now) for folder, all_ in everything.items()}
        left = {
            folder: [one for one in stamps if one not in doomed[folder]]
            for folder, stamps in everything.items()
        }
        size = sum(one.size for stamps in left.values() for one in stamps)
        for stamp, folder in _least_wanted(left):
            if size <= self._limits.total_bytes:
                break
            doomed[folder].append(stamp)
            size -= stamp.size
        for folder, stamps in doomed.items():
            index = [_INDEX] if self._dear and len(stamps) == len(everything[folder]) else []
            for name in [*(stamp.name for stamp in stamps), *index]:
                await self._drop(via, f"{folder}/{name}")
        count = sum(map(len, doomed.values()))
        if count:
            logger.info("%d versions of files were dropped to keep to the limits", count)
        return count


def _least_wanted(left: Mapping[str, Sequence[Stamp]]) -> list[tuple[Stamp, str]]:
    """Return the versions that may be dropped for others, oldest first.

    Of a file that was deleted all may be, else the newest stays.
    """
    free: list[tuple[Stamp, str]] = []
    for folder, stamps in left.items():
        ordered = sorted(stamps, key=lambda one: one.place)
        gone = ordered and ordered[-1].after is None
        free += [(one, folder) for one in (ordered if gone else ordered[:-1])]
    return sorted(free, key=lambda one: (one[0].time, one[0].place))


def _stamps(paths: Iterable[str]) -> list[Stamp]:
    found = [stamp_of(path.rpartition("/")[2]) for path in paths]
    return [one for one in found if one is not None]


def _indexed(content: Any) -> list[Stamp]:
    """Read an index; nothing if there is none or it is damaged."""
    try:
        names = json.loads(_bytes(content)) if content else []
    except (ValueError, RecursionError):
        return []
    good = isinstance(names, list) and all(isinstance(one, str) for one in names)
    return _stamps(names) if good else []


def _bytes(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def version_of(path: str, stamp: Stamp, page: Page | None) -> Version:
    """Make a version of its name and of what is stored, if that can be read."""
    return Version(
        path=path,
        number=stamp.number,
        id=stamp.id,
        kind=stamp.kind,
        time=stamp.time,
        before=stamp.before,
        after=stamp.after,
        size=stamp.size,
        actor=NOBODY if page is None else page.actor,
        reason=None if page is None else page.reason,
        restored=stamp.restored,
        kept=page is not None and page.is_kept,
        redacted=page is not None and page.redacted,
    )


Redact = Callable[[str, str], str]
"""Takes the path and the text of a file, returns the text that may be kept."""
AskNames = Callable[[Via, list[str]], Awaitable[list[tuple[str, ...]]]]
_PLAIN_ID: Final = re.compile(r"[\w-]{1,32}", re.ASCII)
_ID_CHARS: Final = 12
_WILD: Final = frozenset("*?[{")


_USUAL: Final = Guard()


def without_secrets(path: str, text: str) -> str:  # noqa: ARG001 - the shape of a `Redact`
    """Return a text with a note of its kind in place of each secret."""
    return _USUAL.redact(text)


class Watch:
    """Patterns of files; a path without wildcards stands for that file by all its names.

    Raises:
        PatternRefused: For a pattern that cannot match.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [compile_rule(folded(one)) for one in patterns if not one.startswith("~")]
        self._files = [one for one in patterns if "/" in one and _WILD.isdisjoint(one)]

    async def covers(self, ask: AskNames, via: Via, names: Sequence[str]) -> bool:
        """Say whether the file with these names is one of them."""
        own = {folded(name) for name in names}
        if any(rule.covers(name) for rule in self._rules for name in own):
            return True
        told = await ask(via, self._files) if self._files else []
        return any(folded(name) in own for known in told for name in known)


@dataclass(slots=True)
class WayBack:
    """What an undo and the keeping of its version tell each other.

    Attributes:
        restored: The number of the version that it goes back to, 0 for no file.
        made: The version that was made.
    """

    restored: int = 0
    made: list[Version] = field(default_factory=list)


class Writer:
    """Puts down what changed, for the shelf to store."""

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

    def pages(self, change: FileChange, line: Line) -> list[Page]:
        """Return what to store of a change, after the text before it if that is not known."""
        now, path, number = self._clock(), change.identity, line.last_number
        pages: list[Page] = []
        if line.missing:
            number += 1
            told = (line.missing, line.expected, digest(change.before), len(change.before or b""))
            stamp = Stamp(number, now, self._id(), *told)
            pages.append(self._page(path, stamp, change.before, NOBODY, None))
        restored = change.mark.restored if isinstance(change.mark, WayBack) else None
        done = (change.kind, digest(change.before), digest(change.after), len(change.after or b""))
        stamp = Stamp(number + 1, now, self._id(), *done, restored)
        actor, reason = current_actor(self._actor), current_reason()
        return [*pages, self._page(path, stamp, change.after, actor, reason)]

    def _page(
        self, path: str, stamp: Stamp, content: bytes | None, actor: Actor, reason: str | None
    ) -> Page:
        if stamp.size > self._limits.text_bytes:
            return Page(stamp, path, None, actor, reason, redacted=False)
        shown = self.shown(path, content)
        return Page(stamp, path, shown, actor, reason, redacted=shown != content)

    def shown(self, path: str, content: bytes | None) -> bytes | None:
        """Return the bytes of a file as they may be kept and shown."""
        if content is None or self._redact is None:
            return content
        form = _text.decode(content)
        shown = self._redact(path, form.text)
        return content if shown == form.text else _in_form(form, shown)

    def refilled(self, path: str, content: bytes, there: bytes | None) -> bytes:
        """Return kept bytes with what was made unreadable as the file has it now."""
        if self._redact is None or there is None:
            return content
        form, text = _text.decode(content), _text.decode(there).text
        return _in_form(form, refilled(form.text, text, self._redact(path, text)))

    def _id(self) -> str:
        made = self._new_id()
        return made[:_ID_CHARS] if _PLAIN_ID.fullmatch(made) else str(digest(made.encode()))


def _in_form(form: _text.Decoded, text: str) -> bytes:
    """Return a text in the encoding that another one was found in."""
    return form.bom + text.encode("utf-8" if form.lossy else form.encoding)
