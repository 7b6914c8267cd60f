"""One record, changed in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memoryware._clock import Clock
from memoryware._twins import Via
from memoryware.backends._filedata import bytes_at, file_from_bytes, file_of, stamped
from memoryware.backends._making import FolderThere, Make, Mode, made
from memoryware.backends._port import Change, Records, in_the_way
from memoryware.errors import FileIsDirectory, FileMissing


@dataclass(frozen=True, slots=True)
class Record:
    """A place among records, by its normal name; errors speak of `path`."""

    records: Records
    path: str
    name: str
    clock: Clock

    async def change(self, via: Via, make: Make, mode: Mode) -> None:
        """Change what is there, as `Changes.change_file` says.

        Raises:
            FileError: As there.
        """
        records, name = self.records, self.name
        async with records.holding(via, [name]):
            (raw,) = await records.get(via, [name])
            await self._check(via, mode, raw)
            before = bytes_at(self.path, raw, whole=mode == "replace")
            new = await made(via, make, before, mode, self.path)
            if new.after is not None:
                base = file_of(raw)
                done = stamped(file_from_bytes(new.after), base, self.clock().isoformat())
                await records.put(via, {name: Change(done, base, new.steps)})
            elif raw is not None:
                await records.drop(via, [name])

    async def _check(self, via: Via, mode: Mode, raw: Any) -> None:
        """Refuse a step that does not find what it needs.

        Raises:
            FileError: As `Changes.change_file` says.
        """
        path, name = self.path, self.name
        if mode == "delete":
            if name == "/":
                raise FileIsDirectory(path, f"'{path}' is the root, which cannot be deleted")
            if await self.records.has_below(via, name):
                raise FolderThere(path)
            if raw is None:
                raise FileMissing(path, f"'{path}' not found")
        elif raw is None:
            problem = await in_the_way(via, self.records, path, name)
            if problem or mode == "change":
                raise problem or FileMissing(path)

    async def add(self, via: Via, data: bytes) -> None:
        """Store new bytes, without asking what is there and without waiting for others."""
        new = stamped(file_from_bytes(data), None, self.clock().isoformat())
        await self.records.put(via, {self.name: Change(new, None)})
