"""One fault at a time, in a backend that is right otherwise."""

from __future__ import annotations

import asyncio
import posixpath
import re
import time
from dataclasses import replace
from itertools import groupby

from conformance.dict_backend import DictBackend
from memoryware.backends import (
    EditResult,
    FileInfo,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    _patterns,
    _text,
)
from memoryware.backends._paths import normalise
from memoryware.backends.protocol import DeleteResult, FileUploadResponse
from memoryware.errors import FileMissing

FAULTS: list[type[DictBackend]] = []
MOMENT = 0.02
"""Seconds a fault leaves to others: less, and a busy machine gets round to nobody in time."""


def fault(kind: type[DictBackend]) -> type[DictBackend]:
    FAULTS.append(kind)
    return kind


# Paths.


@fault
class ResolvesDots(DictBackend):
    """`..` is resolved instead of refused."""

    def get(self, path):
        return super().get(posixpath.normpath(path) if ".." in path else path)


@fault
class TakesBackslashesForNames(DictBackend):
    """A backslash is part of a name in reads."""

    def get(self, path):
        if "\\" in path:
            raise FileMissing(path)
        return super().get(path)


@fault
class AnswersARefusedPath(DictBackend):
    """A refused path is an error value instead of a ValueError."""

    async def _read(self, runner, path, offset, limit):
        try:
            return await super()._read(runner, path, offset, limit)
        except ValueError as error:
            return ReadResult(error=str(error))


@fault
class RaisesForAMissingFile(DictBackend):
    """A missing file is an exception instead of an error value."""

    def read(self, file_path, offset=0, limit=2000):
        result = super().read(file_path, offset, limit)
        if result.error:
            raise FileNotFoundError(result.error)
        return result


@fault
class WritesBelowAFile(DictBackend):
    """A file may be a folder as well."""

    def put(self, path, data):
        self.files[normalise(path)] = data


# Reading.


@fault
class ForgetsTheOffset(DictBackend):
    """The async half alone reads from the start."""

    async def aread(self, file_path, offset=0, limit=2000):
        return await super().aread(file_path, 0, limit)


@fault
class HasAnotherDefault(DictBackend):
    """The async half alone has another limit."""

    async def aread(self, file_path, offset=0, limit=1000):
        return await super().aread(file_path, offset, limit)


@fault
class CountsLinesFromOne(DictBackend):
    """The offset is a line number."""

    async def _read(self, runner, path, offset, limit):
        return await super()._read(runner, path, offset - 1, limit)


@fault
class SplitsAtOtherSigns(DictBackend):
    """Form feeds and the like end lines."""

    async def _read(self, runner, path, offset, limit):
        result = await super()._read(runner, path, offset, limit)
        if result.total_lines:
            result.total_lines = len(_text.decode(self.get(path)).text.splitlines())
        return result


@fault
class ShowsTheMark(DictBackend):
    """A byte order mark is shown as text."""

    async def _read(self, runner, path, offset, limit):
        if _text.is_media(path):
            return await super()._read(runner, path, offset, limit)
        return _text.window(path, self.get(path).decode("utf-8", "replace"), offset, limit)


# Writing.


@fault
class ChangesLineEndings(DictBackend):
    """Text is stored with LF."""

    async def _write(self, runner, path, content):
        return await super()._write(runner, path, content.replace("\r\n", "\n"))


@fault
class StoresHalfCharacters(DictBackend):
    """Half a character is replaced instead of refused."""

    async def _write(self, runner, path, content):
        content = content.encode("utf-8", "replace").decode()
        return await super()._write(runner, path, content)


@fault
class DecodesUploads(DictBackend):
    """Bytes that are not text are stored as text."""

    async def _upload(self, runner, files):
        files = [(path, data.decode("utf-8", "replace").encode()) for path, data in files]
        return await super()._upload(runner, files)


@fault
class DeletesNothing(DictBackend):
    """The async half alone only says that it deleted."""

    async def adelete(self, file_path):
        normalise(file_path)
        return DeleteResult(path=file_path)


@fault
class DeletesNeighbours(DictBackend):
    """`/mem` takes `/mem-evil` along."""

    async def _delete(self, runner, path):
        name = normalise(path)
        result = await super()._delete(runner, path)
        for one in [one for one in self.files if one.startswith(name)]:
            del self.files[one]
        return result


@fault
class DeletesTheRoot(DictBackend):
    """The root can be deleted."""

    async def _delete(self, runner, path):
        if normalise(path) == "/":
            self.files.clear()
            return DeleteResult(path=path)
        return await super()._delete(runner, path)


# Editing.


@fault
class EditsTheFirstOfMany(DictBackend):
    """Text that is not unique is replaced once."""

    async def _edit(self, runner, path, old, new, every):
        text = self.get(path).decode("utf-8", "replace")
        if not every and old and text.count(old) > 1:
            self.put(path, text.replace(old, new, 1).encode())
            return EditResult(path=path, occurrences=1)
        return await super()._edit(runner, path, old, new, every)


@fault
class LosesTheMark(DictBackend):
    """An edit drops the byte order mark."""

    async def _edit(self, runner, path, old, new, every):
        result = await super()._edit(runner, path, old, new, every)
        self.put(path, self.get(path).removeprefix(b"\xef\xbb\xbf"))
        return result


@fault
class NeedsTheSameLineEndings(DictBackend):
    """Text with LF is not found in a file with CRLF."""

    async def _edit(self, runner, path, old, new, every):
        if old and old.encode("utf-8", "replace") not in self.get(path):
            return EditResult(error=f"Error: String not found in file: {old!r}")
        return await super()._edit(runner, path, old, new, every)


@fault
class CreatesByEditing(DictBackend):
    """An edit of a missing file creates it."""

    async def _edit(self, runner, path, old, new, every):
        if not old and normalise(path) not in self.files:
            self.put(path, new.encode("utf-8", "replace"))
            return EditResult(path=path, occurrences=1)
        return await super()._edit(runner, path, old, new, every)


@fault
class CountsEditsWrong(DictBackend):
    """`replace_all` says that it replaced one."""

    async def _edit(self, runner, path, old, new, every):
        return replace(await super()._edit(runner, path, old, new, every), occurrences=1)


# Listing and searching.


@fault
class ListsWithoutOrder(DictBackend):
    """Entries come in the order of their creation."""

    async def _ls(self, runner, path):
        result = await super()._ls(runner, path)
        return LsResult(entries=[*reversed(result.entries or [])])


@fault
class ListsNeighbours(DictBackend):
    """`/mem` shows what is in `/mem-evil`."""

    async def _ls(self, runner, path):
        result = await super()._ls(runner, path)
        folder = normalise(path)
        near = [one for one in self.files if one.startswith(f"{folder}-")]
        return LsResult(entries=sorted([*result.entries, *map(self.info, near)], key=_path))


@fault
class ListsAThousand(DictBackend):
    """A long listing is cut short without a word."""

    async def _ls(self, runner, path):
        return LsResult(entries=((await super()._ls(runner, path)).entries or [])[:1000])


@fault
class CountsCharacters(DictBackend):
    """A size is the number of characters."""

    def info(self, name):
        return FileInfo(path=name, is_dir=False, size=len(_text.decode(self.files[name]).text))


@fault
class FindsFolders(DictBackend):
    """Folders match a glob."""

    async def _glob(self, runner, pattern, path):
        result = await super()._glob(runner, pattern, path)
        folders = {one.rpartition("/")[0] for one in self.files} - {""}
        wanted = _patterns.compile_glob(pattern).matches
        found = [FileInfo(path=one, is_dir=False) for one in folders if wanted(one[1:])]
        return GlobResult(matches=sorted([*result.matches, *found], key=_path))


@fault
class PassesOverDotFolders(DictBackend):
    """Files in dot folders are not found."""

    def found(self, wanted, folder):
        return (one for one in super().found(wanted, folder) if "/.agent/" not in one)


@fault
class IgnoresCaseInNames(DictBackend):
    """A glob does not tell letters apart by case."""

    async def _glob(self, runner, pattern, path):
        matches = _patterns.compile_glob(pattern.lower()).matches
        found = self.found(lambda one: matches(one.lower()), normalise(path or "/"))
        return GlobResult(matches=[self.info(one) for one in found])


@fault
class GrepsByExpression(DictBackend):
    """What to find is a regular expression, as far as it is one."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        literal = await super()._grep(runner, pattern, path, glob, max_count)
        try:
            expression = re.compile(pattern)
        except re.error:
            return literal
        if literal.error or glob or max_count is not None:
            return literal
        names = self.found(lambda one: not _patterns.is_skipped(one), normalise(path or "/"))
        texts = [(name, _text.decode(self.files[name]).text) for name in names]
        rows = [(name, _text.to_lf(text).split("\n")) for name, text in texts if "\0" not in text]
        found = [
            GrepMatch(path=name, line=number, text=line)
            for name, lines in rows
            for number, line in enumerate(lines, 1)
            if expression.search(line)
        ]
        return GrepResult(matches=found)


@fault
class HidesThatMoreIsThere(DictBackend):
    """`max_count` cuts without saying so."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        return replace(await super()._grep(runner, pattern, path, glob, max_count), truncated=False)


@fault
class CountsPerFile(DictBackend):
    """`max_count` counts in each file."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        every = await super()._grep(runner, pattern, path, glob, None)
        if max_count is None:
            return every
        files = groupby(every.matches, key=_path)
        kept = [one for _, rows in files for one in [*rows][:max_count]]
        return GrepResult(matches=kept, truncated=len(kept) < len(every.matches))


@fault
class CountsCarriageReturns(DictBackend):
    """A lone CR does not end a line."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        result = await super()._grep(runner, pattern, path, glob, max_count)
        for one in result.matches or []:
            if b"\n" not in self.files[one["path"]]:
                one["line"] = 1
        return result


# Batches.


@fault
class AnswersOutOfOrder(DictBackend):
    """A batch is answered in the order of the paths."""

    async def _download(self, runner, paths):
        return sorted(await super()._download(runner, paths), key=lambda one: one.path)


@fault
class StopsAtTheFirstError(DictBackend):
    """One bad file keeps those after it from being stored."""

    async def _upload(self, runner, files):
        answers = []
        for one in files:
            bad = answers and answers[-1].error
            answers += (
                [FileUploadResponse(path=one[0], error=bad)]
                if bad
                else await super()._upload(runner, [one])
            )
        return answers


@fault
class HasItsOwnCodes(DictBackend):
    """An error of a batch is a sentence of the backend."""

    async def _download(self, runner, paths):
        answers = await super()._download(runner, paths)
        return [replace(one, error=one.error and f"{one.error}!") for one in answers]


# Many at once, and other openings.


@fault
class EditsWithoutALock(DictBackend):
    """Between reading and writing somebody else may write."""

    async def _edit(self, runner, path, old, new, every):
        data, count = _text.edit_bytes(path, self.get(path), old, new, every)
        await runner.call(time.sleep, asyncio.sleep, MOMENT)
        self.put(path, data)
        return EditResult(path=path, occurrences=count)


@fault
class AppendsWithoutALock(DictBackend):
    """Lines that are added at once overwrite each other."""

    async def _append(self, runner, path, line):
        before = self.files.get(normalise(path), b"")
        await runner.call(time.sleep, asyncio.sleep, MOMENT)
        self.put(path, _text.append_bytes(path, before, line))
        return EditResult(path=path, occurrences=1)


@fault
class WritesByHalves(DictBackend):
    """A reader may see the first half of a new text."""

    async def _write(self, runner, path, content):
        data = _text.encode(path, content)
        self.put(path, data[: len(data) // 2])
        await runner.call(time.sleep, asyncio.sleep, MOMENT)
        return await super()._write(runner, path, content)


@fault
class KeepsWhatItHasRead(DictBackend):
    """A file that was read once is not read again."""

    def get(self, path):
        known = self.__dict__.setdefault("known", {})
        if path not in known:
            known[path] = super().get(path)
        return known[path]

    def put(self, path, data):
        self.__dict__.setdefault("known", {}).pop(path, None)
        super().put(path, data)


@fault
class BlocksTheLoop(DictBackend):
    """The async half waits where nobody else can work."""

    async def aglob(self, pattern, path=None):
        time.sleep(0.001)  # noqa: ASYNC251 - this is the fault
        return self.glob(pattern, path)


@fault
class NeverComesBack(DictBackend):
    """A search for braces waits for ever."""

    async def aglob(self, pattern, path=None):
        if "{" in pattern:
            await asyncio.sleep(3600)
        return await super().aglob(pattern, path)


@fault
class HasAPlainTwin(DictBackend):
    """The async half is no coroutine function."""

    def als(self, path):
        return asyncio.to_thread(self.ls, path)


# What a backend may offer.


@fault
class AppendsToTheLastLine(DictBackend):
    """A line is added to one that has no end yet."""

    async def _append(self, runner, path, line):
        with self.lock:
            self.put(path, self.files.get(normalise(path), b"") + _text.encode(path, line + "\n"))
        return EditResult(path=path, occurrences=1)


@fault
class TakesTheSizeForTheContent(DictBackend):
    """A change that keeps the size keeps the fingerprint."""

    def token(self, path):
        token = super().token(path)
        return token and f"{normalise(path)} {len(self.files.get(normalise(path), b''))}"


@fault
class TakesTheContentForTheFile(DictBackend):
    """Two files with one text share a fingerprint."""

    def token(self, path):
        token = super().token(path)
        return token and token.rpartition(" ")[2]


@fault
class HasNoTokenForNothing(DictBackend):
    """A missing file has no fingerprint."""

    def token(self, path):
        token = super().token(path)
        return token if token and normalise(path) in self.files else None


def _path(one):
    return one["path"]
