"""Versions of a file as values: their names, their order, and what follows from it.

The name of a stored version says which one it is and what text it replaced by which, as
digests. So one list of names tells what became of a file, and no version has to be opened
to add the next one or to find what an undo goes back to.
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
from memoryware.backends._base import Kind
from memoryware.errors import VersionMissing
from memoryware.settings import HistoryLimits

VersionKind = Kind | Literal["found", "outside", "merged"]
"""How a version came to be. `found` is the text before the first change that was seen,
`outside` one that something else wrote, `merged` what the tasks of one step made together."""
_KINDS: Final = frozenset(get_args(Kind)) | {"found", "outside", "merged"}
_JOINTS: Final = frozenset({"found", "outside", "merged"})
UNKNOWN: Final = "unknown"
"""Stands for the text before one that was found."""
_NONE: Final = "none"
_TIME: Final = "%Y%m%dT%H%M%S%f"
_NAME: Final = re.compile(
    r"(?P<number>\d{8,})\.(?P<time>\d{8}T\d{12})\.(?P<kind>[a-z]+)(?:-(?P<restored>\d+))?"
    r"\.(?P<before>none|unknown|[0-9a-f]{32})\.(?P<after>none|[0-9a-f]{32})"
    r"\.(?P<size>\d+)\.(?P<id>[\w-]{1,32})\.json",
    re.ASCII,
)
_SLUG: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LEAST: Final = 2
"""Versions of a file that always stay, so that its last change can be undone."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file.

    Attributes:
        path: The one name of the file, with links resolved.
        number: Counts the changes of the file, from 1.
        id: Tells versions apart that two tasks made with one number.
        kind: What made it: `write edit append upload delete undo restore`, or `found`
            (there before the first change that was seen), `outside` (something else wrote
            it), `merged` (from several tasks of one step).
        time: When.
        before: Digest of what it replaced; None for no file, "unknown" for a `found` one.
        after: Digest of what it made of the file; None if the file was deleted.
        size: Its bytes.
        actor: Who did it, as far as that is known.
        reason: Why, if somebody said so.
        restored: The number of the version that an undo went back to, 0 for no file.
        kept: Whether its content can be had. A damaged, lost or too large one cannot.
        redacted: Whether something was made unreadable before the text was kept.
        applied: Whether it happened. False means that the file kept the text before it:
            the process ended right then, or somebody put that text back outside.
        current: Whether it is what the file holds now.
        dropped: How many earlier versions are not kept any more; told by the oldest one.
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
class Stamp:
    """What the name of a stored version says."""

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
    def place(self) -> tuple[int, datetime, str]:
        """What versions are sorted by."""
        return self.number, self.time, self.id


@lru_cache(maxsize=8192)  # the same names are read again at each change
def stamp_of(name: str) -> Stamp | None:
    """Read the name of a stored version; None if it is something else."""
    found = _NAME.fullmatch(name)
    if found is None or found["kind"] not in _KINDS:
        return None
    try:
        time = datetime.fromisoformat(f"{found['time'][:15]}.{found['time'][15:]}+00:00")
    except ValueError:
        return None
    before, after = (None if found[one] == _NONE else found[one] for one in ("before", "after"))
    restored = None if found["restored"] is None else int(found["restored"])
    kind: VersionKind = found["kind"]  # type: ignore[assignment]  # it is one of them
    number, size = int(found["number"]), int(found["size"])
    return Stamp(number, time, found["id"], kind, before, after, size, restored)


def in_order(stamps: Sequence[Stamp]) -> list[Stamp]:
    """Return versions in the order in which they were made, the text that was found once."""
    known: set[tuple[int, str | None]] = set()
    ordered = []
    for one in sorted(stamps, key=lambda one: one.place):
        if one.kind == "found" and (one.number, one.after) in known:
            continue  # two tasks of a step have found it
        known.add((one.number, one.after) if one.kind == "found" else (0, None))
        ordered.append(one)
    return ordered


def key_of(identity: str) -> str:
    """Return the name of the folder for the versions of a file; never one for two files."""
    data = identity.encode("utf-8", "surrogatepass")
    slug = _SLUG.sub("_", identity.rpartition("/")[2])[:40].rstrip(".")
    return f"{hashlib.blake2b(data, digest_size=16).hexdigest()}-{slug}"


class Line:
    """The versions of a file in order, and which of them happened.

    A version whose process was killed before the write is known by its successor, or by
    the file itself: that still has the text before it.

    Attributes:
        path: The file.
        stamps: All versions, oldest first.
        happened: Those that were applied.
        known: Whether the file holds what the last of them made of it.
    """

    def __init__(self, path: str, stamps: Sequence[Stamp], now: str | None) -> None:
        self.path = path
        self.stamps = in_order(stamps)
        groups = [[*some] for _, some in groupby(self.stamps, key=lambda one: one.number)]
        after_each = [some[-1].before for some in groups[1:]]
        skipped: set[str] = set()
        for some, now_before in zip(groups, [*after_each, now], strict=False):
            (first, *others) = some
            if not others and now_before == first.before and first.before != first.after:
                skipped.add(first.id)
        self.happened = [one for one in self.stamps if one.id not in skipped]
        self.known = now == self.expected or (now is None and not self.stamps)
        self._now = now

    @property
    def expected(self) -> str | None:
        """The digest of what the file should hold."""
        if self.happened:
            return self.happened[-1].after
        return self.stamps[0].before if self.stamps else UNKNOWN

    @property
    def last_number(self) -> int:
        """The highest number, 0 without any."""
        return self.stamps[-1].number if self.stamps else 0

    def did_happen(self, stamp: Stamp) -> bool:
        """Say whether a version was applied."""
        return stamp in self.happened

    def is_current(self, stamp: Stamp) -> bool:
        """Say whether a version is what the file holds now."""
        return bool(self.happened) and self.known and stamp == self.happened[-1]

    @property
    def missing(self) -> VersionKind | None:
        """What kind of version has to be kept of the text that is there now; None if known."""
        if self.known or not self.stamps:
            return None if self.known else "found"
        return "outside" if _shared(self.stamps) is None else "merged"

    def back_one(self) -> Stamp | None:
        """Return the version that an undo goes back to; None for no file.

        Raises:
            VersionMissing: If nothing earlier is known.
        """
        return self._earlier("there is nothing to undo", is_undo=True)

    def before_last(self) -> Stamp | None:
        """Return the version before the last change; None for no file.

        After an undo it is what was undone, where `back_one` goes further back.

        Raises:
            VersionMissing: If nothing earlier is known.
        """
        return self._earlier("there is nothing to compare it with", is_undo=False)

    def before(self, stamp: Stamp) -> Stamp | None:
        """Return the version before another one that happened; None for no file.

        Raises:
            VersionMissing: If it is not kept any more.
        """
        earlier = [one for one in self.happened if one.place < stamp.place]
        if earlier:
            return earlier[-1]
        if stamp.before is None:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; there is nothing to compare it with")

    def _earlier(self, otherwise: str, *, is_undo: bool) -> Stamp | None:
        last = self.stamps[-1] if self.stamps else None
        if last and last.after and self._now is None and not self.did_happen(last):
            return last  # more likely something else has deleted what it made
        here, earlier, several = self._before_now(is_undo=is_undo)
        first = _shared(earlier) if several else None
        if first is not None:  # what the tasks of a step did is undone as a whole
            here = next(one for one in earlier if one.number == first)
            earlier = [one for one in earlier if one.number < first]
        if earlier:
            return earlier[-1]
        if here is not None and here.before is None:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; {otherwise}")

    def _before_now(self, *, is_undo: bool) -> tuple[Stamp | None, list[Stamp], bool]:
        """Return what the file is, what it was before, and whether several tasks made it.

        The first is None if nobody knows, or if there was no file. For an undo, what undos have
        brought back is as old as it was when it was made.
        """
        if not self.known:
            return None, self.happened, self.missing == "merged"
        last = self.happened[-1] if self.happened else None
        here = last if last is None or not is_undo else self._undone_to(last)
        if here is None:
            return None, [], False
        before = [one for one in self.happened if one.place < here.place]
        return here, before, here.kind == "merged"

    def _undone_to(self, stamp: Stamp) -> Stamp | None:
        """Return the version that a chain of undos has led back to; None for no file.

        Raises:
            VersionMissing: If it is not kept any more.
        """
        while stamp.restored is not None:
            if stamp.restored == 0:
                return None
            earlier = [one for one in self.stamps if one.number == stamp.restored]
            if not earlier:
                raise VersionMissing(self.path, self._beginning())
            stamp = earlier[-1]
        return stamp

    def at(self, time: datetime) -> Stamp | None:
        """Return the version that the file was at a time; None for no file.

        Raises:
            VersionMissing: If that is not known.
        """
        then = [one for one in self.happened if one.time <= time]
        if then:
            return then[-1]
        if self.happened and self.happened[0].before is None and self.happened[0].number == 1:
            return None
        raise VersionMissing(self.path, f"{self._beginning()}; an earlier text is not known")

    def _beginning(self) -> str:
        if not self.stamps:
            return f"No version of '{self.path}' is kept"
        first = self.stamps[0]
        since = f"The history of '{self.path}' begins at {first.time.isoformat()}"
        gone = f" ({first.number - 1} earlier versions were dropped)" if first.number > 1 else ""
        return f"{since} with version {first.number}{gone}"

    def find(self, wanted: int | str) -> Stamp:
        """Return the version with a number or an id.

        Raises:
            VersionMissing: If there is none, or several have the number.
        """
        found = [one for one in self.stamps if wanted in (one.id, one.number, str(one.number))]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(repr(one.id) for one in found)
            message = f"Several versions of '{self.path}' have number {wanted}; name one: {ids}"
            raise VersionMissing(self.path, message)
        numbers = [one.number for one in self.stamps]
        there = f"those from {numbers[0]} to {numbers[-1]} are" if numbers else "none is"
        message = f"There is no version {wanted!r} of '{self.path}'; {there} kept"
        raise VersionMissing(self.path, message)


def _shared(stamps: Sequence[Stamp]) -> int | None:
    """Return the first number that tasks of one step share, if nobody has brought them together."""
    since = [place for place, one in enumerate(stamps) if one.kind in _JOINTS]
    seen: set[int] = set()
    for one in stamps[since[-1] + 1 if since else 0 :]:
        if one.number in seen:
            return one.number
        seen.add(one.number)
    return None


def too_many(stamps: Sequence[Stamp], limits: HistoryLimits, now: datetime) -> list[Stamp]:
    """Return the versions of one file that the limits leave no room for, oldest first."""
    ordered = sorted(stamps, key=lambda one: one.place)
    eldest = now - timedelta(days=min(limits.age_days, 100_000))
    left = limits.file_bytes
    first_kept = max(len(ordered) - int(limits.versions), 0)
    for place in range(len(ordered) - 1, -1, -1):
        left -= ordered[place].size
        if left < 0 and place >= first_kept:
            first_kept = place + 1
    for place, (_, later) in enumerate(pairwise(ordered)):
        if later.time < eldest and place >= first_kept:
            first_kept = place + 1
    return ordered[: min(first_kept, max(len(ordered) - _LEAST, 0))]


Which: TypeAlias = int | str | Version
"""A version, or its number or id."""


class Unset(Enum):
    """The type of an argument that was left out where None means something else."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


def named(version: Which) -> int | str:
    """Return the number or id of a version."""
    return version.id if isinstance(version, Version) else version
