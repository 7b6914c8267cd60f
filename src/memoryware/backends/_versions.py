"""Versions of a file: metadata in their file names, their order, and the target of an undo.

The file name of a stored version has its number, time and kind, and digests of the text before
and after. So one listing of a folder gives the whole history of a file, and no version has to be
read to add the next one or to find the target of an undo.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final, Literal, TypeAlias, get_args

from memoryware.backends._actor import NOBODY, Actor
from memoryware.backends._base import ChangeKind
from memoryware.errors import VersionMissing
from memoryware.settings import HistoryLimits

# The operation, or how a version was noticed: `found` is the text before the first recorded
# change, `outside` a change by another program, `merged` the result of parallel tasks of a step.
VersionKind = ChangeKind | Literal["found", "outside", "merged"]
_KINDS: Final = frozenset(get_args(ChangeKind)) | {"found", "outside", "merged"}
_JOINTS: Final = frozenset({"found", "outside", "merged"})
# Stands for the text before one that was found.
UNKNOWN: Final = "unknown"
_NONE: Final = "none"
_TIME: Final = "%Y%m%dT%H%M%S%f"
_NAME: Final = re.compile(
    r"(?P<number>\d{8,})\.(?P<time>\d{8}T\d{12})\.(?P<kind>[a-z]+)(?:-(?P<restored>\d+))?"
    r"\.(?P<before>none|unknown|[0-9a-f]{32})\.(?P<after>none|[0-9a-f]{32})"
    r"\.(?P<size>\d+)\.(?P<id>[\w-]{1,32})\.json",
    re.ASCII,
)
_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Versions of a file that are never dropped, so that its last change can be undone.
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file.

    Attributes:
        path: The one name of the file, with links resolved.
        number: Counts the changes of the file, from 1.
        id: Distinguishes versions that two tasks made with one number.
        kind: What made it: `write edit append upload delete undo restore`, or `found`
            (there before the first change that was seen), `outside` (something else wrote
            it), `merged` (from several tasks of one step).
        time: When.
        before: Digest of what it replaced; None for no file, "unknown" for a `found` one.
        after: Digest of the new content; None if the file was deleted.
        size: Its bytes.
        actor: Who did it, as far as that is known.
        reason: Why, if that was given.
        restored: The number of the version that an undo went back to, 0 for no file.
        kept: Whether its content is available; not if it is damaged, lost or too large.
        redacted: Whether something was redacted before the text was kept.
        applied: Whether it happened. False means that the file kept the text before it:
            the process ended right then, or something else put that text back.
        current: Whether it is the present content of the file.
        dropped: How many earlier versions were dropped; set on the oldest one.
    """

    path: str
    number: int
    id: str
    kind: VersionKind
    time: datetime
    before: str | None
    after: str | None
    size: int
    actor: Actor = NOBODY
    reason: str | None = None
    restored: int | None = None
    kept: bool = True
    redacted: bool = False
    applied: bool = True
    current: bool = False
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class VersionStamp:
    """The key of a stored version, as its file name says it."""

    number: int
    time: datetime
    id: str
    kind: VersionKind
    before: str | None
    after: str | None
    size: int
    restored: int | None = None
    name: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        back = "" if self.restored is None else f"-{self.restored}"
        parts = (
            *(f"{self.number:08d}", self.time.astimezone(UTC).strftime(_TIME)),
            *(f"{self.kind}{back}", self.before or _NONE, self.after or _NONE),
            *(str(self.size), self.id, "json"),
        )
        object.__setattr__(self, "name", ".".join(parts))

    @property
    def sort_key(self) -> tuple[int, datetime, str]:
        """The order of versions."""
        return self.number, self.time, self.id


@lru_cache(maxsize=8192)  # the same names are read again at each change
def stamp_of(name: str) -> VersionStamp | None:
    """Parse the file name of a stored version; None if it is something else."""
    match = _NAME.fullmatch(name)
    if match is None or match["kind"] not in _KINDS:
        return None
    try:
        time = datetime.fromisoformat(f"{match['time'][:15]}.{match['time'][15:]}+00:00")
    except ValueError:
        return None
    before, after = (None if match[part] == _NONE else match[part] for part in ("before", "after"))
    restored = None if match["restored"] is None else int(match["restored"])
    kind: VersionKind = match["kind"]  # type: ignore[assignment]  # it is one of them
    number, size = int(match["number"]), int(match["size"])
    return VersionStamp(number, time, match["id"], kind, before, after, size, restored)


def in_order(stamps: Sequence[VersionStamp]) -> list[VersionStamp]:
    """Sort versions by when they were made; the same `found` text counts once."""
    seen_texts: set[tuple[int, str | None]] = set()
    ordered = []
    for stamp in sorted(stamps, key=lambda stamp: stamp.sort_key):
        if stamp.kind == "found" and (stamp.number, stamp.after) in seen_texts:
            continue  # two tasks of a step have found it
        seen_texts.add((stamp.number, stamp.after) if stamp.kind == "found" else (0, None))
        ordered.append(stamp)
    return ordered


def key_of(identity: str) -> str:
    """Return the name of the folder for the versions of a file; unique per file."""
    data = identity.encode("utf-8", "surrogatepass")
    slug = _SLUG.sub("_", identity.rpartition("/")[2])[:40].rstrip(".")
    return f"{hashlib.blake2b(data, digest_size=16).hexdigest()}-{slug}"


class VersionChain:
    """The versions of a file in order, and which of them were applied.

    If the process was killed between storing a version and writing the file, the next version, or
    the file itself, still has the text before it.

    Attributes:
        path: The file.
        stamps: All versions, oldest first.
        applied: Those that were applied.
        is_known: Whether the file holds what the last of them wrote.
    """

    def __init__(self, path: str, stamps: Sequence[VersionStamp], now: str | None) -> None:
        self.path = path
        self.stamps = in_order(stamps)
        groups = [[*some] for _, some in groupby(self.stamps, key=lambda stamp: stamp.number)]
        after_each = [some[-1].before for some in groups[1:]]
        skipped: set[str] = set()
        for some, now_before in zip(groups, [*after_each, now], strict=False):
            (first, *others) = some
            if not others and now_before == first.before and first.before != first.after:
                skipped.add(first.id)
        self.applied = [stamp for stamp in self.stamps if stamp.id not in skipped]
        self.is_known = now == self.expected or (now is None and not self.stamps)
        self._now = now

    @property
    def expected(self) -> str | None:
        """The digest that the file should have."""
        if self.applied:
            return self.applied[-1].after
        return self.stamps[0].before if self.stamps else UNKNOWN

    @property
    def last_number(self) -> int:
        """The highest number, 0 without any."""
        return self.stamps[-1].number if self.stamps else 0

    def was_applied(self, stamp: VersionStamp) -> bool:
        """Return whether a version was applied."""
        return stamp in self.applied

    def is_current(self, stamp: VersionStamp) -> bool:
        """Return whether a version is the present content of the file."""
        return bool(self.applied) and self.is_known and stamp == self.applied[-1]

    @property
    def missing(self) -> VersionKind | None:
        """The kind of version to add for the present text; None if that is known."""
        if self.is_known or not self.stamps:
            return None if self.is_known else "found"
        return "outside" if _first_shared_number(self.stamps) is None else "merged"

    def undo_target(self) -> VersionStamp | None:
        """Return the version that an undo goes back to; None for no file.

        Raises:
            VersionMissing: If nothing earlier is known.
        """
        return self._earlier("there is nothing to undo", is_undo=True)

    def before_last(self) -> VersionStamp | None:
        """Return the version before the last change; None for no file.

        After an undo it is what was undone, where `undo_target` goes further back.

        Raises:
            VersionMissing: If nothing earlier is known.
        """
        return self._earlier("there is nothing to compare it with", is_undo=False)

    def before(self, stamp: VersionStamp) -> VersionStamp | None:
        """Return the version before an applied one; None for no file.

        Raises:
            VersionMissing: If it is not kept any more.
        """
        earlier = [other for other in self.applied if other.sort_key < stamp.sort_key]
        if earlier:
            return earlier[-1]
        if stamp.before is None:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; there is nothing to compare it with")

    def _earlier(self, otherwise: str, *, is_undo: bool) -> VersionStamp | None:
        last = self.stamps[-1] if self.stamps else None
        if last and last.after and self._now is None and not self.was_applied(last):
            return last  # more likely something else has deleted what it made
        here, earlier, several = self._before_now(is_undo=is_undo)
        first = _first_shared_number(earlier) if several else None
        if first is not None:  # what the tasks of a step did is undone as a whole
            here = next(stamp for stamp in earlier if stamp.number == first)
            earlier = [stamp for stamp in earlier if stamp.number < first]
        if earlier:
            return earlier[-1]
        if here is not None and here.before is None:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; {otherwise}")

    def _before_now(self, *, is_undo: bool) -> tuple[VersionStamp | None, list[VersionStamp], bool]:
        """Return the present version, the ones before it, and whether several tasks made it.

        The first is None if it is unknown, or if there was no file. For an undo, what undos have
        brought back is as old as it was when it was made.
        """
        if not self.is_known:
            return None, self.applied, self.missing == "merged"
        last = self.applied[-1] if self.applied else None
        here = last if last is None or not is_undo else self._undone_to(last)
        if here is None:
            return None, [], False
        before = [stamp for stamp in self.applied if stamp.sort_key < here.sort_key]
        return here, before, here.kind == "merged"

    def _undone_to(self, stamp: VersionStamp) -> VersionStamp | None:
        """Follow a chain of undos back to the version it restored; None for no file.

        Raises:
            VersionMissing: If it is not kept any more.
        """
        while stamp.restored is not None:
            if stamp.restored == 0:
                return None
            earlier = [other for other in self.stamps if other.number == stamp.restored]
            if not earlier:
                raise VersionMissing(self.path, self._beginning())
            stamp = earlier[-1]
        return stamp

    def at(self, time: datetime) -> VersionStamp | None:
        """Return the version that the file was at a time; None for no file.

        Raises:
            VersionMissing: If that is not known.
        """
        then = [stamp for stamp in self.applied if stamp.time <= time]
        if then:
            return then[-1]
        if self.applied and self.applied[0].before is None and self.applied[0].number == 1:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; an earlier text is not known")

    def _beginning(self) -> str:
        if not self.stamps:
            return f"No version of '{self.path}' is kept"
        first = self.stamps[0]
        since = f"The history of '{self.path}' begins at {first.time.isoformat()}"
        gone = f" ({first.number - 1} earlier versions were dropped)" if first.number > 1 else ""
        return f"{since} with version {first.number}{gone}"

    def find(self, version: int | str) -> VersionStamp:
        """Return the version with a number or an id.

        Raises:
            VersionMissing: If there is none, or several have the number.
        """
        matches = [
            stamp for stamp in self.stamps if version in (stamp.id, stamp.number, str(stamp.number))
        ]
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(repr(stamp.id) for stamp in matches)
            message = f"Several versions of '{self.path}' have number {version}; name one: {ids}"
            raise VersionMissing(self.path, message)
        numbers = [stamp.number for stamp in self.stamps]
        there = f"those from {numbers[0]} to {numbers[-1]} are" if numbers else "none is"
        message = f"There is no version {version!r} of '{self.path}'; {there} kept"
        raise VersionMissing(self.path, message)


def _first_shared_number(stamps: Sequence[VersionStamp]) -> int | None:
    """Return the first number that tasks of one step share, if no later version merged them."""
    since = [index for index, stamp in enumerate(stamps) if stamp.kind in _JOINTS]
    numbers: set[int] = set()
    for stamp in stamps[since[-1] + 1 if since else 0 :]:
        if stamp.number in numbers:
            return stamp.number
        numbers.add(stamp.number)
    return None


def exceeding(
    stamps: Sequence[VersionStamp], limits: HistoryLimits, now: datetime
) -> list[VersionStamp]:
    """Return the versions of one file that exceed the limits, oldest first."""
    # Counted from the newest: what one limit drops takes everything older with it, so that
    # the history of a file has no gaps.
    ordered = sorted(stamps, key=lambda stamp: stamp.sort_key)
    eldest = now - timedelta(days=min(limits.age_days, 100_000))
    left = limits.file_bytes
    first_kept = max(len(ordered) - int(limits.versions), 0)
    for index in range(len(ordered) - 1, -1, -1):
        left -= ordered[index].size
        if left < 0 and index >= first_kept:
            first_kept = index + 1
    for index, (_, later) in enumerate(pairwise(ordered)):
        if later.time < eldest and index >= first_kept:
            first_kept = index + 1
    return ordered[: min(first_kept, max(len(ordered) - _LEAST, 0))]


# A version, or its number or id.
VersionRef: TypeAlias = int | str | Version


class Unset(Enum):
    """The type of an argument that was left out where None means something else."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


def version_key(version: VersionRef) -> int | str:
    """Return the number or id of a version."""
    return version.id if isinstance(version, Version) else version
