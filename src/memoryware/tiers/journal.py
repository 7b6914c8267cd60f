"""The journal: which records runs were shown, and who revoked, restored or forgot records.

A journal is one file of JSON lines that only grows, beside the store. It names records,
people and numbers, and has no text of a memory. Several processes may write one file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from filelock import FileLock, Timeout

from memoryware._home import expand_home
from memoryware._runner import in_thread
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers.values import Counts, Receipt

# Reading a file of lines from its end.


_BLOCK: Final = 1 << 16
# A mark comes from a caller: `int` also takes blanks, underscores and digits of other scripts.
_DIGITS: Final = re.compile("[0-9]{1,25}")


class LinePosition(NamedTuple):
    """The position of a line in its file, and its time."""

    file: int
    start: int
    at: datetime

    @property
    def mark(self) -> str:
        """The position as text, which `of` parses."""
        return f"{self.file} {self.start} {self.at.isoformat()}"

    @classmethod
    def of(cls, mark: str) -> LinePosition:
        """Parse the mark of a line.

        Args:
            mark: The mark, as `LinePosition.mark` writes it.

        Returns:
            The position.

        Raises:
            SettingError: If the text is not the mark of a line.
        """
        try:
            number, start, moment = mark.split(" ")
            at = datetime.fromisoformat(moment)
        except ValueError:
            number, start, at = "", "", datetime.min  # noqa: DTZ901 - refused below
        if at.tzinfo is None or not _DIGITS.fullmatch(number) or not _DIGITS.fullmatch(start):
            raise SettingError(f"{mark!r:.200} is not the mark of a line of a journal")
        return cls(int(number), int(start), at)


def backwards(path: Path, end: int | None) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file from its end, with the position at which each begins.

    Args:
        path: The file.
        end: Read what is before this position; None for the whole file.

    Yields:
        Pairs of a line without its line end, and its position in bytes.
    """
    # A page needs the newest lines of a file of up to 16 MB, so it is read in blocks from the end.
    with path.open("rb") as file:
        position, rest = file.seek(0, os.SEEK_END), b""
        position = position if end is None else min(position, end)
        while position > 0:
            size = min(_BLOCK, position)
            position -= size
            file.seek(position)
            first, *lines = (file.read(size) + rest).split(b"\n")
            start = position + len(first) + 1 + sum(len(part) + 1 for part in lines)
            for line in reversed(lines):
                start -= len(line) + 1
                yield line, start
            rest = first
        yield rest, 0


# The journal.


JournalKind: TypeAlias = Literal["shown", "revoked", "restored", "forgotten"]
"""What happened: records were shown to a model, taken back, put back, or deleted."""
_KINDS: Final = frozenset(get_args(JournalKind))
_PERSONAL: Final = ("user_id", "agent_id", "session_id", "node_id")
_MOST_BYTES: Final = 16_000_000
_LOCK_TIMEOUT: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One line of a journal.

    Attributes:
        kind: What happened.
        at: When.
        scope: Tenant and group; of shown records also session and agent.
        by: Who did it; "" if unknown.
        what: The target: ids, an origin, or a part of a scope.
        reason: Why, in words.
        ids: The records.
        counts: How many records, by tier.
        receipt: The id of the revocation that was made or undone; "" for none.
        tokens: Tokens of the block in which they were shown.
        reinstated: Of a revocation: memories that became current again.
    """

    kind: JournalKind
    at: datetime
    scope: MemoryScope
    by: str = ""
    what: str = ""
    reason: str = ""
    ids: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    receipt: str = ""
    tokens: int = 0
    reinstated: tuple[str, ...] = ()

    @property
    def as_receipt(self) -> Receipt | None:
        """The receipt of a revocation, for `restore`; None for anything else."""
        if self.kind != "revoked":
            return None
        return Receipt(
            id=self.receipt,
            scope=self.scope,
            what=self.what,
            by=self.by,
            at=self.at,
            reason=self.reason,
            counts=self.counts,
            ids=self.ids,
            reinstated=self.reinstated,
        )


def line_of(receipt: Receipt) -> JournalEntry:
    """Return the line of a journal that records a revocation.

    Args:
        receipt: The receipt of the revocation.

    Returns:
        The line.
    """
    return JournalEntry(
        kind="revoked",
        at=receipt.at,
        scope=receipt.scope,
        by=receipt.by,
        what=receipt.what,
        reason=receipt.reason,
        ids=receipt.ids,
        counts=receipt.counts,
        receipt=receipt.id,
        reinstated=receipt.reinstated,
    )


class Journal:
    """A journal: an append-only file of shown records and of revocations.

    `TieredMemory.open(url, journal="memory.journal.jsonl")` writes it. Only its owner may read
    it. When it is full it becomes `<name>.1`, in place of an older one, and a new one begins.

    Args:
        path: The file. Its folder is made if it is not there.
        most_bytes: The size up to which it grows.

    Raises:
        SettingError: For a path of another type, or a size that is not a whole number above 0.
    """

    def __init__(self, path: str | PathLike[str], *, most_bytes: int = _MOST_BYTES) -> None:
        checking.instance("path", path, (str, PathLike))
        self.path = expand_home(path, "journal")
        self._most_bytes = checking.whole("most_bytes", most_bytes, 1)

    def add(self, line: JournalEntry) -> None:
        """Add a line.

        Args:
            line: The line.

        Raises:
            StoreUnavailable: If the file cannot be written, or somebody holds it for long.
        """
        try:
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT):
                self._append(_line(line))
        except (OSError, Timeout) as error:
            raise StoreUnavailable(
                f"The journal '{self.path}' cannot be written ({type(error).__name__})"
            ) from error

    async def aadd(self, line: JournalEntry) -> None:
        """Add a line.

        Args:
            line: The line.

        Raises:
            StoreUnavailable: If the file cannot be written, or somebody holds it for long.
        """
        await in_thread(self.add, line)

    def newest(
        self,
        scope: MemoryScope,
        *,
        kinds: Sequence[JournalKind] = get_args(JournalKind),
        session_id: str | None = None,
        limit: int,
    ) -> list[JournalEntry]:
        """Return lines of exactly this tenant and group, the newest first.

        Args:
            scope: Whose memory.
            kinds: What happened.
            session_id: Only in this session.
            limit: How many at most.

        Returns:
            The lines.

        Raises:
            StoreUnavailable: If the file cannot be read.
        """

        def fits(noted: JournalEntry) -> bool:
            is_of_session = session_id is None or noted.scope.session_id == session_id
            return is_of_session and noted.kind in kinds and _is_of(noted, scope)

        return [noted for noted, _ in self._first(fits, limit)]

    async def anewest(
        self,
        scope: MemoryScope,
        *,
        kinds: Sequence[JournalKind] = get_args(JournalKind),
        session_id: str | None = None,
        limit: int,
    ) -> list[JournalEntry]:
        """Return lines of exactly this tenant and group, the newest first.

        Args:
            scope: Whose memory.
            kinds: What happened.
            session_id: Only in this session.
            limit: How many at most.

        Returns:
            The lines.

        Raises:
            StoreUnavailable: If the file cannot be read.
        """
        return await in_thread(self.newest, scope, kinds=kinds, session_id=session_id, limit=limit)

    def page(
        self, scope: MemoryScope, kinds: Sequence[JournalKind], after: str | None, limit: int
    ) -> tuple[list[JournalEntry], str | None]:
        """Return lines of exactly this tenant and group, the newest first, and the last one's mark.

        Args:
            scope: Whose memory.
            kinds: What happened.
            after: The mark of a line: only what was written before it, whatever its time says. If
                the file was written anew, because something was forgotten, the time decides.
            limit: How many at most.

        Returns:
            The lines, and the mark after which the next page begins.

        Raises:
            SettingError: If `after` is not the mark of a line.
            StoreUnavailable: If the file cannot be read.
        """
        position = None if after is None else LinePosition.of(after)
        lines = self._first(
            lambda noted: noted.kind in kinds and _is_of(noted, scope), limit, position
        )
        return [noted for noted, _ in lines], lines[-1][1].mark if lines else after

    async def apage(
        self, scope: MemoryScope, kinds: Sequence[JournalKind], after: str | None, limit: int
    ) -> tuple[list[JournalEntry], str | None]:
        """Return lines of exactly this tenant and group, the newest first, and the last one's mark.

        Args:
            scope: Whose memory.
            kinds: What happened.
            after: The mark of a line: only what was written before it, whatever its time says. If
                the file was written anew, because something was forgotten, the time decides.
            limit: How many at most.

        Returns:
            The lines, and the mark after which the next page begins.

        Raises:
            SettingError: If `after` is not the mark of a line.
            StoreUnavailable: If the file cannot be read.
        """
        return await in_thread(self.page, scope, kinds, after, limit)

    def receipt(self, id_: str, scope: MemoryScope) -> Receipt | None:
        """Return the receipt of a revocation of this tenant and group.

        Args:
            id_: The id of the receipt.
            scope: Tenant and group.

        Returns:
            The receipt; None if the journal has none with this id.

        Raises:
            StoreUnavailable: If the file cannot be read.
        """
        lines = self._first(
            lambda noted: noted.receipt == id_ and noted.kind == "revoked" and _is_of(noted, scope),
            1,
        )
        return lines[0][0].as_receipt if lines else None

    async def areceipt(self, id_: str, scope: MemoryScope) -> Receipt | None:
        """Return the receipt of a revocation of this tenant and group.

        Args:
            id_: The id of the receipt.
            scope: Tenant and group.

        Returns:
            The receipt; None if the journal has none with this id.

        Raises:
            StoreUnavailable: If the file cannot be read.
        """
        return await in_thread(self.receipt, id_, scope)

    def forget(self, scope: MemoryScope, ids: Collection[str]) -> None:
        """Remove ids from all lines, and lines about the person, agent or session of a scope.

        Args:
            scope: Whose memory; the person, agent or conversation that shall be forgotten.
            ids: Records that are deleted.

        Raises:
            StoreUnavailable: If a file cannot be written, or somebody holds it for long.
        """
        gone = frozenset(ids)
        try:
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT):
                for path in (self._full, self.path):
                    if path.exists():
                        _rewrite(path, lambda noted: _without(noted, scope, gone))
        except (OSError, Timeout) as error:
            raise StoreUnavailable(
                f"The journal '{self.path}' cannot be written ({type(error).__name__}), so nothing"
                " was forgotten"
            ) from error

    async def aforget(self, scope: MemoryScope, ids: Collection[str]) -> None:
        """Remove ids from all lines, and lines about the person, agent or session of a scope.

        Args:
            scope: Whose memory; the person, agent or conversation that shall be forgotten.
            ids: Records that are deleted.

        Raises:
            StoreUnavailable: If a file cannot be written, or somebody holds it for long.
        """
        await in_thread(self.forget, scope, ids)

    def _first(
        self, fits: Callable[[JournalEntry], bool], limit: int, after: LinePosition | None = None
    ) -> list[tuple[JournalEntry, LinePosition]]:
        """Return the newest lines that fit, of those before a place."""
        try:
            fitting = (pair for pair in self._lines(after) if fits(pair[0]))
            return [*islice(fitting, limit)]
        except OSError as error:
            raise StoreUnavailable(
                f"The journal '{self.path}' cannot be read ({type(error).__name__})"
            ) from error

    def _lines(self, after: LinePosition | None) -> Iterator[tuple[JournalEntry, LinePosition]]:
        """Yield the lines, newest first, also those of the full file before it.

        If the file of the position is gone, its time decides which lines come before it.
        """
        # The inode recognises a file after it was renamed when full, and a file that was rewritten.
        files = [(path, path.stat().st_ino) for path in (self.path, self._full) if path.exists()]
        numbers, end, until = [number for _, number in files], None, None
        if after is not None and after.file in numbers:
            files, end = files[numbers.index(after.file) :], after.start
        elif after is not None:
            until = after.at
        for path, number in files:
            for line, start in backwards(path, end):
                noted = _read(line)
                if noted is not None and (until is None or noted.at < until):
                    yield noted, LinePosition(number, start, noted.at)
            end = None

    @property
    def _full(self) -> Path:
        return self.path.with_name(f"{self.path.name}.1")

    def _append(self, line: bytes) -> None:
        if self.path.exists() and self.path.stat().st_size + len(line) > self._most_bytes:
            self.path.replace(self._full)
        # Names of users and sessions are personal data, so only the owner may read the file.
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # somebody was killed in the middle of a line
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_of(noted: JournalEntry, scope: MemoryScope) -> bool:
    return (noted.scope.tenant, noted.scope.group_id) == (scope.tenant, scope.group_id)


def _without(noted: JournalEntry, scope: MemoryScope, gone: frozenset[str]) -> JournalEntry | None:
    """Return a line without forgotten ids; None if nothing is left of it."""
    if noted.scope.tenant != scope.tenant or scope.group_id not in (None, noted.scope.group_id):
        return noted
    parts = [(name, getattr(scope, name)) for name in _PERSONAL if getattr(scope, name)]
    if parts and all(getattr(noted.scope, name) == value for name, value in parts):
        return None
    ids = tuple(id_ for id_ in noted.ids if id_ not in gone)
    again = tuple(id_ for id_ in noted.reinstated if id_ not in gone)
    if (len(ids), len(again)) == (len(noted.ids), len(noted.reinstated)):
        return noted
    if noted.kind == "shown":
        return replace(noted, ids=ids) if ids else None
    subject = "" if noted.what in gone else noted.what
    return replace(noted, ids=ids, reinstated=again, reason="", what=subject)


def _rewrite(path: Path, change: Callable[[JournalEntry], JournalEntry | None]) -> None:
    """Rewrite a file, whole or not at all; unreadable lines stay as they are."""
    lines, changed = list[bytes](), False
    for line in path.read_bytes().splitlines(keepends=True):
        noted = _read(line)
        left = noted and change(noted)
        if left != noted:
            changed = True
            line = b"" if left is None else _line(left)  # noqa: PLW2901 - what is left of it
        lines.append(line)
    if not changed:
        return
    # Replacing a file is atomic: after a crash there is the old file or the new one, never a half.
    draft = path.with_name(f"{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"".join(lines))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _line(noted: JournalEntry) -> bytes:
    return (json.dumps(_plain(noted), ensure_ascii=False) + "\n").encode("utf-8")


def _plain(noted: JournalEntry) -> dict[str, Any]:
    fields = {**asdict(noted), "at": noted.at.isoformat()}
    fields["scope"] = {name: part for name, part in fields["scope"].items() if part is not None}
    return {name: value for name, value in fields.items() if value not in ("", 0, ())}


def _read(line: bytes) -> JournalEntry | None:
    """Parse a line; None for one that was not written to its end."""
    try:
        fields = json.loads(line)
        if fields["kind"] not in _KINDS:
            return None
        scope, counts = MemoryScope(**fields.pop("scope")), Counts(**fields.pop("counts", {}))
        at, ids = datetime.fromisoformat(fields.pop("at")), tuple(fields.pop("ids", ()))
        again = tuple(fields.pop("reinstated", ()))
        return JournalEntry(at=at, scope=scope, ids=ids, counts=counts, reinstated=again, **fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
