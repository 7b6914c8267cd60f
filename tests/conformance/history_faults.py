"""Histories with one fault each, which their suite has to notice."""

from __future__ import annotations

from dataclasses import replace

from memoryware.backends._base import FileUpdate
from memoryware.backends._wrapping import WrappingBackend
from memoryware.backends.history import HistoryBackend
from memoryware.errors import FileMissing

FAULTS: list[type[HistoryBackend]] = []


def fault(kind):
    FAULTS.append(kind)
    return kind


# Keeping.


@fault
class KeepsNothing(HistoryBackend):
    async def _before_write(self, via, change):
        pass


@fault
class ForgetsDeletes(HistoryBackend):
    async def _before_write(self, via, change):
        if change.after is not None:
            await super()._before_write(via, change)


@fault
class KeepsTheTextBefore(HistoryBackend):
    async def _before_write(self, via, change):
        await super()._before_write(via, replace(change, after=change.before or b""))


@fault
class ForgetsWhatItFinds(HistoryBackend):
    """Neither the text before the first change nor what something else wrote is kept."""

    def __init__(self, inner, **options):
        super().__init__(inner, **options)
        pages = self._writer.pages
        self._writer.pages = lambda change, line: pages(change, line)[-1:]


@fault
class KeepsBySpelling(HistoryBackend):
    async def _step(self, via, path, identity, make, mode):
        await super()._step(via, path, path, make, mode)


@fault
class KeepsLfOnly(HistoryBackend):
    async def _before_write(self, via, change):
        if change.after is not None:
            change = replace(change, after=change.after.replace(b"\r\n", b"\n"))
        await super()._before_write(via, change)


@fault
class KeepsWhatIsRefused(HistoryBackend):
    async def _edit(self, via, path, old, new, every):
        await self._change_file(via, path, self._same, "replace")
        return await super()._edit(via, path, old, new, every)

    async def _same(self, via, before):
        return FileUpdate((before or b"") + b" ")


@fault
class KeepsAfterwards(HistoryBackend):
    """The version is stored when others may have changed the file again."""

    async def _before_write(self, via, change):
        pass

    async def _after_write(self, via, change):
        await super()._before_write(via, change)


@fault
class KeepsEveryWrite(HistoryBackend):
    async def _write(self, via, path, content):
        await self._change_file(via, path, self._other, "replace")
        return await super()._write(via, path, content)

    async def _other(self, via, before):
        return FileUpdate((before or b"") + b"!")


@fault
class ForgetsWho(HistoryBackend):
    async def _log(self, via, path):
        return [replace(one, actor=type(one.actor)()) for one in await super()._log(via, path)]


@fault
class ForgetsWhy(HistoryBackend):
    async def _log(self, via, path):
        return [replace(one, reason=None) for one in await super()._log(via, path)]


# Looking back.


@fault
class LogsOldestFirst(HistoryBackend):
    async def _log(self, via, path):
        return (await super()._log(via, path))[::-1]


@fault
class LogsWhatIsCurrentOnly(HistoryBackend):
    async def _log(self, via, path):
        return (await super()._log(via, path))[:3]


@fault
class DiffsBackwards(HistoryBackend):
    async def _diff(self, via, path, a, b):
        return await super()._diff(via, path, b, a) if b else await super()._diff(via, path, a, b)


@fault
class ListsWhatIsThereOnly(HistoryBackend):
    async def _files(self, via):
        files = await super()._files(via)
        got = await self._guest.download(via, files)
        return [path for path, one in zip(files, got, strict=True) if one.content is not None]


@fault
class ShowsTheNewestForWhatIsMissing(HistoryBackend):
    async def _show(self, via, path, version):
        try:
            return await super()._show(via, path, version)
        except LookupError:
            return ""


# Going back.


@fault
class UndoesTheUndo(HistoryBackend):
    """A second undo takes back the first."""

    async def _undo(self, via, path, to, reason):
        versions = [one for one in await self._log(via, path) if one.applied]
        if to is None and len(versions) > 1:
            to = versions[1]
        return await super()._undo(via, path, to, reason)


@fault
class UndoesOnlyOneStep(HistoryBackend):
    async def _undo(self, via, path, to, reason):
        return await super()._undo(via, path, None, reason)


@fault
class UndoesWithoutATrace(HistoryBackend):
    async def _before_write(self, via, change):
        if change.kind != "undo":
            await super()._before_write(via, change)


@fault
class CannotBringBackTheDeleted(HistoryBackend):
    async def _undo(self, via, path, to, reason):
        (got,) = await self._guest.download(via, [path])
        if got.error and await self._log(via, path):
            raise FileMissing(path)
        return await super()._undo(via, path, to, reason)


@fault
class RestoresTheNextText(HistoryBackend):
    async def _restore(self, via, path, at, reason):
        log = [one for one in await self._log(via, path) if one.time > at]
        return await super()._restore(via, path, log[-1].time if log else at, reason)


@fault
class OverwritesWhatIsOutside(HistoryBackend):
    """An undo goes back behind what something else wrote, which is not kept."""

    async def _undo(self, via, path, to, reason):
        versions = await self._log(via, path)
        if to is None and versions and not versions[0].current:
            await self._guest.write(via, path, path, await self._show(via, path, versions[0]))
        return await super()._undo(via, path, to, reason)


# Hiding.


@fault
class ListsVersions(HistoryBackend):
    async def _ls(self, via, path):
        return await WrappingBackend._ls(self, via, path)


@fault
class FindsVersions(HistoryBackend):
    async def _glob(self, via, pattern, path):
        return await WrappingBackend._glob(self, via, pattern, path)


@fault
class SearchesVersions(HistoryBackend):
    async def _grep(self, via, pattern, path, glob, max_count):
        return await WrappingBackend._grep(self, via, pattern, path, glob, max_count)


@fault
class CountsHiddenMatches(HistoryBackend):
    async def _grep(self, via, pattern, path, glob, max_count):
        found = await WrappingBackend._grep(self, via, pattern, path, glob, max_count)
        found.matches = await self._shown(via, found.matches or [])
        return found


@fault
class ReadsVersions(HistoryBackend):
    async def _read(self, via, path, offset, limit):
        return await WrappingBackend._read(self, via, path, offset, limit)


@fault
class LoadsVersions(HistoryBackend):
    async def _download(self, via, paths):
        return await WrappingBackend._download(self, via, paths)


@fault
class LetsVersionsBeWritten(HistoryBackend):
    async def _check_path(self, via, path, names):
        pass


@fault
class HidesOneSpelling(HistoryBackend):
    async def _check_path(self, via, path, names):
        if path.startswith("/.memoryware/"):
            await super()._check_path(via, path, names)


@fault
class DeletesFoldersAtOnce(HistoryBackend):
    async def _delete_folder(self, via, path, name):
        await self._guest.delete(via, path, path)


@fault
class EmptiesTheRoot(HistoryBackend):
    async def _delete(self, via, path):
        for one in (await self._ls(via, path)).entries or []:
            await super()._delete(via, one["path"])
        return await super()._delete(via, path)
