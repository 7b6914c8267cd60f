"""Smaller faults, each of which one test of the suite is there for."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from conformance.dict_backend import DictBackend
from conformance.faults import FAULTS, fault
from memoryware.backends import (
    EditResult,
    GlobResult,
    GrepResult,
    LsResult,
    WriteResult,
    _patterns,
    _text,
)
from memoryware.backends._paths import normalise

__all__ = ["FAULTS"]

# Paths and names.


@fault
class CutsNames(DictBackend):
    """A long name is cut."""

    def put(self, path, data):
        super().put(path[:150], data)


@fault
class RaisesForALongPath(DictBackend):
    """A path that the system does not take is an exception."""

    def put(self, path, data):
        if len(path) > 4096:
            raise OSError(36, "File name too long")
        super().put(path, data)


@fault
class FoldsCaseOfNames(DictBackend):
    """Names that differ in case are one."""

    def put(self, path, data):
        super().put(path.lower() if "agents.md" in path.lower() else path, data)


@fault
class SearchesBySpelling(DictBackend):
    """A search answers with the path as it was given."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        result = await super()._grep(runner, pattern, path, glob, max_count)
        if path and path.endswith(".md"):
            result.matches = [{**one, "path": path} for one in result.matches or []]
        return result


# Reading and writing.


@fault
class ReadsAHundredLines(DictBackend):
    """Without a limit a hundred lines come."""

    async def _read(self, runner, path, offset, limit):
        return await super()._read(runner, path, offset, 100 if limit == 2000 else limit)


@fault
class SaysNothingOfNoLines(DictBackend):
    """A read of no lines looks like that of an empty file."""

    async def _read(self, runner, path, offset, limit):
        return replace(await super()._read(runner, path, offset, limit), no_lines_requested=False)


@fault
class WritesWhileReading(DictBackend):
    """A read leaves the file with LF."""

    async def _read(self, runner, path, offset, limit):
        result = await super()._read(runner, path, offset, limit)
        if result.error is None and not _text.is_media(path):
            self.files[normalise(path)] = self.get(path).replace(b"\r\n", b"\n")
        return result


@fault
class ComposesCharacters(DictBackend):
    """Text is stored in another normal form."""

    async def _write(self, runner, path, content):
        return await super()._write(runner, path, unicodedata.normalize("NFC", content))


@fault
class ListsAMissingFolder(DictBackend):
    """A folder that is not there is empty."""

    def ls(self, path):
        result = super().ls(path)
        missing = result.error and "path_not_found" in result.error
        return LsResult(entries=[]) if missing else result


@fault
class ListsAFile(DictBackend):
    """A file is a folder with itself in it."""

    def ls(self, path):
        name = normalise(path)
        if name in self.files:
            return LsResult(entries=[self.info(name)])
        return super().ls(path)


@fault
class OverwritesTheBeginning(DictBackend):
    """An upload leaves the end of a longer text."""

    async def _upload(self, runner, files):
        files = [(path, data + self._rest(path, data)) for path, data in files]
        return await super()._upload(runner, files)

    def _rest(self, path, data):
        return self.files.get(path, b"")[len(data) :]


@fault
class KeepsTheFirstOfTwo(DictBackend):
    """A file that a batch has twice gets the first content."""

    async def _upload(self, runner, files):
        return [*reversed(await super()._upload(runner, [*reversed(files)]))]


@fault
class FailsWithoutFiles(DictBackend):
    """An empty batch is an exception."""

    async def _download(self, runner, paths):
        assert paths[0] is not None
        return await super()._download(runner, paths)


@fault
class OpensEmpty(DictBackend):
    """Another opening does not have the files."""

    def __init__(self, files, lock):
        super().__init__({}, lock)


# Editing.


@fault
class TakesNothingForTheBeginning(DictBackend):
    """An empty old text means the beginning of the file."""

    async def _edit(self, runner, path, old, new, every):
        if not old and self.get(path):
            self.put(path, _text.encode(path, new) + self.get(path))
            return EditResult(path=path, occurrences=1)
        return await super()._edit(runner, path, old, new, every)


@fault
class ForgivesTooMuch(DictBackend):
    """Blanks do not matter, and the first place is taken."""

    async def _edit(self, runner, path, old, new, every):
        text = self.get(path).decode("utf-8", "replace")
        loose = re.search(re.escape(old.strip()), text) if old.strip() else None
        if loose and old not in text and "\n" not in old.strip() and "\r" not in text:
            self.put(path, _text.encode(path, text[: loose.start()] + new + text[loose.end() :]))
            return EditResult(path=path, occurrences=1)
        return await super()._edit(runner, path, old, new, every)


@fault
class SaysOnlyNo(DictBackend):
    """An edit that finds nothing does not say what is there."""

    async def _edit(self, runner, path, old, new, every):
        try:
            return await super()._edit(runner, path, old, new, every)
        except ValueError as error:
            if "nearest" in str(error):
                return EditResult(error=f"Error: String not found in file: {old!r}")
            raise


# Searching.


@fault
class IgnoresCaseInText(DictBackend):
    """A search does not tell letters apart by case."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        result = await super()._grep(runner, pattern, path, glob, max_count)
        if result.matches or pattern.lower() == pattern:
            return result
        return await super()._grep(runner, pattern.lower(), path, glob, max_count)


@fault
class SearchesBinaryFiles(DictBackend):
    """What is not text is searched."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        kept = self.files
        self.files = {name: data.replace(b"\0", b" ") for name, data in kept.items()}
        try:
            return await super()._grep(runner, pattern, path, glob, max_count)
        finally:
            self.files = kept


@fault
class ShowsTheMarkInLines(DictBackend):
    """A byte order mark is part of the first line."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        result = await super()._grep(runner, pattern, path, glob, max_count)
        for one in result.matches or []:
            if one["line"] == 1 and self.files[one["path"]].startswith(b"\xef\xbb\xbf"):
                one["text"] = "\ufeff" + one["text"]
        return result


@fault
class SearchesTheFoldersOfTools(DictBackend):
    """`.git` is searched like any folder."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        return await super()._grep(
            runner, pattern, path, glob or "{**,.git/**,**/.venv/**}", max_count
        )


@fault
class ReadsIgnoreFiles(DictBackend):
    """`.gitignore` hides files from a search."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        result = await super()._grep(runner, pattern, path, glob, max_count)
        if "/.gitignore" in self.files:
            return GrepResult(matches=[])
        return result


@fault
class AcceptsAnyText(DictBackend):
    """A text that no line can hold is not found, without an error."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        if "\n" in pattern:
            return GrepResult(matches=[])
        return await super()._grep(runner, pattern, path, glob, max_count)


@fault
class AcceptsAnyPattern(DictBackend):
    """A pattern that leads outside matches nothing, without an error."""

    async def _glob(self, runner, pattern, path):
        if ".." in pattern:
            return GlobResult(matches=[])
        return await super()._glob(runner, pattern, path)


@fault
class FiltersByWholePath(DictBackend):
    """The glob of a search counts from the root, wherever the search is."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        if not glob or "/" not in glob:
            return await super()._grep(runner, pattern, path, glob, max_count)
        wanted = _patterns.compile_glob(glob).matches
        result = await super()._grep(runner, pattern, path, None, None)
        return GrepResult(matches=[one for one in result.matches if wanted(one["path"][1:])])


@fault
class TakesNamesForPatterns(DictBackend):
    """Signs in a name mean something."""

    async def _glob(self, runner, pattern, path):
        return await super()._glob(runner, pattern.replace("+", "*"), path)


@fault
class RemembersSearches(DictBackend):
    """A search is answered as the last time."""

    async def _grep(self, runner, pattern, path, glob, max_count):
        known = self.__dict__.setdefault("searches", {})
        key = (pattern, path, glob, max_count)
        if key not in known:
            known[key] = await super()._grep(runner, pattern, path, glob, max_count)
        return known[key]


@fault
class EmptiesARewrittenFile(DictBackend):
    """A write of the same text empties the file."""

    async def _write(self, runner, path, content):
        data = _text.encode(path, content)
        same = self.files.get(normalise(path)) == data
        self.put(path, b"" if same and data else data)
        return WriteResult(path=path)
