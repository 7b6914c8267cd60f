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
    async def _before_write(self, runner, change):
        pass


@fault
class ForgetsDeletes(HistoryBackend):
    async def _before_write(self, runner, change):
        if change.after is not None:
            await super()._before_write(runner, change)


@fault
class KeepsTheTextBefore(HistoryBackend):
    async def _before_write(self, runner, change):
        await super()._before_write(runner, replace(change, after=change.before or b""))


@fault
class ForgetsWhatItFinds(HistoryBackend):
    """Neither the text before the first change nor what something else wrote is kept."""

    def __init__(self, inner, **options):
        super().__init__(inner, **options)
        pages = self._writer.pages
        self._writer.pages = lambda change, line: pages(change, line)[-1:]


@fault
class KeepsBySpelling(HistoryBackend):
    async def _step(self, runner, path, identity, make, mode):
        await super()._step(runner, path, path, make, mode)


@fault
class KeepsLfOnly(HistoryBackend):
    async def _before_write(self, runner, change):
        if change.after is not None:
            change = replace(change, after=change.after.replace(b"\r\n", b"\n"))
        await super()._before_write(runner, change)


@fault
class KeepsWhatIsRefused(HistoryBackend):
    async def _edit(self, runner, path, old, new, every):
        await self._change_file(runner, path, self._same, "replace")
        return await super()._edit(runner, path, old, new, every)

    async def _same(self, runner, before):
        return FileUpdate((before or b"") + b" ")


@fault
class KeepsAfterwards(HistoryBackend):
    """The version is stored when others may have changed the file again."""

    async def _before_write(self, runner, change):
        pass

    async def _after_write(self, runner, change):
        await super()._before_write(runner, change)


@fault
class KeepsEveryWrite(HistoryBackend):
    async def _write(self, runner, path, content):
        await self._change_file(runner, path, self._other, "replace")
        return await super()._write(runner, path, content)

    async def _other(self, runner, before):
        return FileUpdate((before or b"") + b"!")


@fault
class ForgetsWho(HistoryBackend):
    async def _log(self, runner, path):
        return [replace(one, actor=type(one.actor)()) for one in await super()._log(runner, path)]


@fault
class ForgetsWhy(HistoryBackend):
    async def _log(self, runner, path):
        return [replace(one, reason=None) for one in await super()._log(runner, path)]


# Looking back.


@fault
class LogsOldestFirst(HistoryBackend):
    async def _log(self, runner, path):
        return (await super()._log(runner, path))[::-1]


@fault
class LogsWhatIsCurrentOnly(HistoryBackend):
    async def _log(self, runner, path):
        return (await super()._log(runner, path))[:3]


@fault
class DiffsBackwards(HistoryBackend):
    async def _diff(self, runner, path, a, b):
        return (
            await super()._diff(runner, path, b, a)
            if b
            else await super()._diff(runner, path, a, b)
        )


@fault
class ListsWhatIsThereOnly(HistoryBackend):
    async def _files(self, runner):
        files = await super()._files(runner)
        got = await self._guest.download(runner, files)
        return [path for path, one in zip(files, got, strict=True) if one.content is not None]


@fault
class ShowsTheNewestForWhatIsMissing(HistoryBackend):
    async def _show(self, runner, path, version):
        try:
            return await super()._show(runner, path, version)
        except LookupError:
            return ""


# Going back.


@fault
class UndoesTheUndo(HistoryBackend):
    """A second undo takes back the first."""

    async def _undo(self, runner, path, to, reason):
        versions = [one for one in await self._log(runner, path) if one.applied]
        if to is None and len(versions) > 1:
            to = versions[1]
        return await super()._undo(runner, path, to, reason)


@fault
class UndoesOnlyOneStep(HistoryBackend):
    async def _undo(self, runner, path, to, reason):
        return await super()._undo(runner, path, None, reason)


@fault
class UndoesWithoutATrace(HistoryBackend):
    async def _before_write(self, runner, change):
        if change.kind != "undo":
            await super()._before_write(runner, change)


@fault
class CannotBringBackTheDeleted(HistoryBackend):
    async def _undo(self, runner, path, to, reason):
        (got,) = await self._guest.download(runner, [path])
        if got.error and await self._log(runner, path):
            raise FileMissing(path)
        return await super()._undo(runner, path, to, reason)


@fault
class RestoresTheNextText(HistoryBackend):
    async def _restore(self, runner, path, at, reason):
        log = [one for one in await self._log(runner, path) if one.time > at]
        return await super()._restore(runner, path, log[-1].time if log else at, reason)


@fault
class OverwritesWhatIsOutside(HistoryBackend):
    """An undo goes back behind what something else wrote, which is not kept."""

    async def _undo(self, runner, path, to, reason):
        versions = await self._log(runner, path)
        if to is None and versions and not versions[0].current:
            await self._guest.write(runner, path, path, await self._show(runner, path, versions[0]))
        return await super()._undo(runner, path, to, reason)


# Hiding.


@fault
class ListsVersions(HistoryBackend):
    async def _ls(self, runner, path):
        return await WrappingBackend._ls(self, runner, path)


@fault
class FindsVersions(HistoryBackend):
    async def _glob(self, runner, pattern, path):
        return await WrappingBackend._glob(self, runner, pattern, path)


@fault
class SearchesVersions(HistoryBackend):
    async def _grep(self, runner, pattern, path, glob, max_count):
        return await WrappingBackend._grep(self, runner, pattern, path, glob, max_count)


@fault
class CountsHiddenMatches(HistoryBackend):
    async def _grep(self, runner, pattern, path, glob, max_count):
        found = await WrappingBackend._grep(self, runner, pattern, path, glob, max_count)
        found.matches = await self._shown(runner, found.matches or [])
        return found


@fault
class ReadsVersions(HistoryBackend):
    async def _read(self, runner, path, offset, limit):
        return await WrappingBackend._read(self, runner, path, offset, limit)


@fault
class LoadsVersions(HistoryBackend):
    async def _download(self, runner, paths):
        return await WrappingBackend._download(self, runner, paths)


@fault
class LetsVersionsBeWritten(HistoryBackend):
    async def _check_path(self, runner, path, names):
        pass


@fault
class HidesOneSpelling(HistoryBackend):
    async def _check_path(self, runner, path, names):
        if path.startswith("/.memoryware/"):
            await super()._check_path(runner, path, names)


@fault
class DeletesFoldersAtOnce(HistoryBackend):
    async def _delete_folder(self, runner, path, name):
        await self._guest.delete(runner, path, path)


@fault
class EmptiesTheRoot(HistoryBackend):
    async def _delete(self, runner, path):
        for one in (await self._ls(runner, path)).entries or []:
            await super()._delete(runner, one["path"])
        return await super()._delete(runner, path)
