"""What no record says of itself: what runs were shown, and who took what back.

A journal is one file of JSON lines that only grows, beside the store. It names records,
people and numbers, and has no text of a memory. Several processes may write one file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from filelock import FileLock, Timeout

from memoryware._twins import in_thread
from memoryware.errors import StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers import checking
from memoryware.tiers.values import Counts, Receipt

NotedKind: TypeAlias = Literal["shown", "revoked", "restored", "forgotten"]
"""What happened: records were shown to a model, taken back, put back, or deleted."""
_KINDS: Final = frozenset(get_args(NotedKind))
_BLOCK: Final = 1 << 16
_MOST_BYTES: Final = 16_000_000
_LOCK_TIMEOUT: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One line of a journal.

    Attributes:
        kind: What happened.
        at: When.
        scope: Where; of what was shown, in which session, for which agent.
        by: Who did it; "" where nobody said so.
        what: What was meant: ids, an origin, or a part of a scope.
        reason: Why, in words.
        ids: The records.
        counts: How many, by tier.
        receipt: The id of the revocation that was made or taken back; "" for none.
        tokens: What the block cost in which they were shown.
    """

    kind: NotedKind
    at: datetime
    scope: MemoryScope
    by: str = ""
    what: str = ""
    reason: str = ""
    ids: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    receipt: str = ""
    tokens: int = 0

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
        )


def noted_of(receipt: Receipt) -> Noted:
    """Return a receipt as a line of a journal."""
    return Noted(
        kind="revoked",
        at=receipt.at,
        scope=receipt.scope,
        by=receipt.by,
        what=receipt.what,
        reason=receipt.reason,
        ids=receipt.ids,
        counts=receipt.counts,
        receipt=receipt.id,
    )


class Journal:
    """A file to which is added what runs were shown and who took what back.

    `TieredMemory.open(url, journal="memory.journal.jsonl")` writes it. Only its owner may read
    it. When it is full it becomes `<name>.1`, in place of an older one, and a new one begins.

    Args:
        path: The file. Its folder is made if it is not there.
        most_bytes: The size up to which it grows.

    Raises:
        SettingError: For a path that is none, or a size that is no whole number above 0.
    """

    def __init__(self, path: str | PathLike[str], *, most_bytes: int = _MOST_BYTES) -> None:
        checking.instance("path", path, (str, PathLike))
        self.path = Path(path)
        self._most_bytes = checking.whole("most_bytes", most_bytes, 1)

    def add(self, noted: Noted) -> None:
        """Add a line.

        Raises:
            StoreUnavailable: If the file cannot be written, or somebody holds it for long.
        """
        line = json.dumps(_plain(noted), ensure_ascii=False) + "\n"
        try:
            with FileLock(f"{self.path}.lock", timeout=_LOCK_TIMEOUT):
                self._append(line.encode("utf-8"))
        except (OSError, Timeout) as error:
            raise StoreUnavailable(
                f"The journal '{self.path}' cannot be written ({type(error).__name__})"
            ) from error

    async def aadd(self, noted: Noted) -> None:
        """Async twin of `add`."""
        await in_thread(self.add, noted)

    def newest(
        self,
        scope: MemoryScope,
        *,
        kinds: Sequence[NotedKind] = get_args(NotedKind),
        session_id: str | None = None,
        before: datetime | None = None,
        limit: int,
    ) -> list[Noted]:
        """Return lines of exactly this tenant and group, the newest first.

        Args:
            scope: Whose memory.
            kinds: What happened.
            session_id: Only in this session.
            before: Only what was earlier.
            limit: How many at most.

        Raises:
            StoreUnavailable: If the file cannot be read.
        """

        def fits(one: Noted) -> bool:
            return (
                one.kind in kinds
                and (one.scope.tenant, one.scope.group_id) == (scope.tenant, scope.group_id)
                and (session_id is None or one.scope.session_id == session_id)
                and (before is None or one.at < before)
            )

        return self._first(fits, limit)

    async def anewest(
        self,
        scope: MemoryScope,
        *,
        kinds: Sequence[NotedKind] = get_args(NotedKind),
        session_id: str | None = None,
        before: datetime | None = None,
        limit: int,
    ) -> list[Noted]:
        """Async twin of `newest`."""
        return await in_thread(
            self.newest, scope, kinds=kinds, session_id=session_id, before=before, limit=limit
        )

    def receipt(self, id_: str, scope: MemoryScope) -> Receipt | None:
        """Return the receipt of a revocation of this tenant and group, None if there is none."""
        found = self._first(
            lambda one: (
                one.receipt == id_
                and one.kind == "revoked"
                and (one.scope.tenant, one.scope.group_id) == (scope.tenant, scope.group_id)
            ),
            1,
        )
        return found[0].as_receipt if found else None

    async def areceipt(self, id_: str, scope: MemoryScope) -> Receipt | None:
        """Async twin of `receipt`."""
        return await in_thread(self.receipt, id_, scope)

    def _first(self, fits: Callable[[Noted], bool], limit: int) -> list[Noted]:
        found: list[Noted] = []
        try:
            for line in self._lines():
                noted = _read(line)
                if noted is not None and fits(noted):
                    found.append(noted)
                if len(found) >= limit:
                    break
        except OSError as error:
            raise StoreUnavailable(
                f"The journal '{self.path}' cannot be read ({type(error).__name__})"
            ) from error
        return found

    def _lines(self) -> Iterator[bytes]:
        """Yield all lines, the newest first, those of the full file before it as well."""
        for path in (self.path, self._full):
            if path.exists():
                yield from _backwards(path)

    @property
    def _full(self) -> Path:
        return self.path.with_name(f"{self.path.name}.1")

    def _append(self, line: bytes) -> None:
        if self.path.exists() and self.path.stat().st_size + len(line) > self._most_bytes:
            self.path.replace(self._full)
        held = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(held).st_size
            if size and os.pread(held, 1, size - 1) != b"\n":
                line = b"\n" + line  # somebody was killed in the middle of a line
            os.write(held, line)
            os.fsync(held)
        finally:
            os.close(held)


def _backwards(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, the last one first."""
    with path.open("rb") as file:
        place, rest = file.seek(0, os.SEEK_END), b""
        while place > 0:
            size = min(_BLOCK, place)
            place -= size
            file.seek(place)
            first, *lines = (file.read(size) + rest).split(b"\n")
            yield from reversed(lines)
            rest = first
        yield rest


def _plain(noted: Noted) -> dict[str, Any]:
    said = {**asdict(noted), "at": noted.at.isoformat()}
    said["scope"] = {name: part for name, part in said["scope"].items() if part is not None}
    return {name: held for name, held in said.items() if held not in ("", 0, ())}


def _read(line: bytes) -> Noted | None:
    """Return what a line says; None for one that was not written to its end."""
    try:
        said = json.loads(line)
        if said["kind"] not in _KINDS:
            return None
        scope, counts = MemoryScope(**said.pop("scope")), Counts(**said.pop("counts", {}))
        at, ids = datetime.fromisoformat(said.pop("at")), tuple(said.pop("ids", ()))
        return Noted(at=at, scope=scope, ids=ids, counts=counts, **said)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
