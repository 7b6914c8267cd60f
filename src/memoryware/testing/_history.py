"""The suite of backends with a history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends._actor import acting
from memoryware.backends._versions import UNSET, Version
from memoryware.errors import SettingError, VersionMissing
from memoryware.testing._backend import (
    BackendProxy,
    BackendSuite,
    BackendTraits,
    OpenBackend,
    paths_of,
    retry,
    run_workers,
    twin_differences,
)
from memoryware.testing._suite import Mode

# The base.

OpenOutside = Callable[[], Any]


class History(Protocol):
    """Protocol: a backend with a history."""

    def log(self, path: str) -> list[Version]: ...

    async def alog(self, path: str) -> list[Version]: ...

    def show(self, path: str, version: Any) -> str: ...

    async def ashow(self, path: str, version: Any) -> str: ...

    def diff(self, path: str, a: Any = UNSET, b: Any = None) -> str: ...

    async def adiff(self, path: str, a: Any = UNSET, b: Any = None) -> str: ...

    def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    async def aundo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    def restore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    async def arestore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    def files(self) -> list[str]: ...

    async def afiles(self) -> list[str]: ...


class HistoryProxy(BackendProxy):
    """Calls a backend with a history in one mode, and checks every result."""

    async def log(self, path: str) -> list[Version]:
        versions: list[Version] = await self._ask("log", self._in(path))
        _check_log(versions)
        return versions

    async def show(self, path: str, version: Any) -> str:
        return str(await self._ask("show", self._in(path), version))

    async def diff(self, path: str, *versions: Any) -> str:
        return str(await self._ask("diff", self._in(path), *versions))

    async def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version:
        version: Version = await self._ask("undo", self._in(path), to, reason=reason)
        assert version.current, "the version of an undo is the current one"
        return version

    async def restore(self, path: str, at: Any) -> Version:
        version: Version = await self._ask("restore", self._in(path), at)
        assert version.current
        return version

    async def remembered(self) -> list[str]:
        return [self.traits.without_root(path) for path in await self._ask("files")]

    async def kinds(self, path: str) -> list[str]:
        """Return the kinds of the versions of a file, oldest first."""
        return [version.kind for version in reversed(await self.log(path))]


def _check_log(versions: list[Version]) -> None:
    """Newest first, each once, in one unbroken chain, and at most one is current."""
    numbers = [version.number for version in versions]
    assert numbers == sorted(numbers, reverse=True), "the newest version comes first"
    assert len({version.id for version in versions}) == len(versions), "each version comes once"
    assert sum(version.current for version in versions) <= 1, "a file holds one version at most"
    assert all(version.time.tzinfo is not None for version in versions), "a time has a zone"
    assert [version.dropped for version in versions[:-1]] == [0] * len(versions[:-1])
    applied = [version for version in versions if version.applied]
    for later, earlier in pairwise(applied):
        if later.number > earlier.number:
            assert later.kind == "merged" or later.before == earlier.after, (
                f"version {later.number} does not follow {earlier.number}"
            )


class HistorySuite(BackendSuite):
    """The base of the suite of a backend with a history."""

    folder: ClassVar[str] = "/.memoryware/history"
    """The hidden folder of the versions."""

    @pytest.fixture
    def backend(self, open_backend: OpenBackend, mode: Mode, traits: BackendTraits) -> HistoryProxy:
        """Return the backend in one mode."""
        return HistoryProxy(open_backend, mode, traits)

    @pytest.fixture
    def open_outside(self, open_backend: OpenBackend) -> OpenOutside:
        """Return a function that opens the same files without their history."""
        return lambda: open_backend().inner

    @pytest.fixture
    def outside(self, open_outside: OpenOutside, mode: Mode, traits: BackendTraits) -> BackendProxy:
        """Return the same files without their history."""
        return BackendProxy(open_outside, mode, traits)


def whole(backend: HistoryProxy, path: str) -> str:
    """Return the path of a file as the history names it."""
    return backend.traits.inward(path)


# Versions.

WORKERS, EACH = 6, 4
ODD_TEXTS: tuple[bytes, ...] = (
    b"",
    b"no end of line",
    b"one\r\ntwo\r\n",
    b"one\rtwo",
    b"\xef\xbb\xbfwith a mark\n",
    "Grüße, 日本語, ☕\n".encode(),
    b'tab\there, quote " and \\ back\n\n\n',
    "\u2028 and \x0b and \x7f\n".encode(),
)


class VersionConformance(HistorySuite):
    """Every change is a version, with its author, time and reason."""

    async def test_every_change_is_a_version(self, backend: HistoryProxy) -> None:
        assert await backend.log("/f/a.md") == []
        await backend.write("/f/a.md", "one\n")
        await backend.edit("/f/a.md", "one", "two")
        await backend.append("/f/a.md", "three")
        await backend.upload_files([("/f/a.md", b"four\n")])
        if self.deletes:
            await backend.delete("/f/a.md")

        expected = ["write", "edit", "append", "upload", *(["delete"] if self.deletes else [])]
        assert await backend.kinds("/f/a.md") == expected
        versions = await backend.log("/f/a.md")
        assert [version.number for version in reversed(versions)] == [*range(1, len(expected) + 1)]
        assert [version.size for version in reversed(versions)][:4] == [4, 4, 10, 5]
        assert [version.current for version in versions] == [True] + [False] * (len(expected) - 1)
        assert all(version.applied and version.kept for version in versions)
        texts = [await backend.show("/f/a.md", n) for n in range(1, 5)]
        assert texts == ["one\n", "two\n", "two\nthree\n", "four\n"]

    async def test_what_changes_nothing_is_no_version(self, backend: HistoryProxy) -> None:
        await backend.put(a="one\n")
        before = await backend.log("/a.md")
        assert (await backend.write("/a.md", "one\n")).error is None
        assert (await backend.edit("/a.md", "one", "one")).error is None
        assert (await backend.edit("/a.md", "missing", "two")).error
        assert (await backend.edit("/b.md", "missing", "two")).error
        assert (await backend.write("/a.md", "half \ud800")).error

        assert await backend.log("/a.md") == before
        assert await backend.log("/b.md") == []
        assert await backend.remembered() == ["/a.md"]

    async def test_the_text_before_the_first_change_is_kept(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await outside.write("/a.md", "was there\n")
        assert await backend.log("/a.md") == []
        await backend.edit("/a.md", "was", "is")

        assert await backend.kinds("/a.md") == ["found", "edit"]
        assert await backend.show("/a.md", 1) == "was there\n"
        await backend.undo("/a.md")
        assert await backend.text_of("/a.md") == "was there\n"

    async def test_what_something_else_wrote_is_kept(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="one\n")
        await outside.write("/a.md", "from outside\n")
        assert [version.current for version in await backend.log("/a.md")] == [False]
        await backend.append("/a.md", "more")

        assert await backend.kinds("/a.md") == ["upload", "outside", "append"]
        assert await backend.show("/a.md", 2) == "from outside\n"
        assert [bool(version.actor) for version in await backend.log("/a.md")][1] is False

    async def test_every_spelling_has_one_history(self, backend: HistoryProxy) -> None:
        await backend.write("/f/a.md", "1")
        await backend.write("f/a.md", "2")
        await backend.write("//f/./a.md", "3")

        assert len(await backend.log("/f/a.md")) == 3
        assert await backend.log("./f//a.md") == await backend.log("/f/a.md")
        assert await backend.remembered() == ["/f/a.md"]
        assert [version.path for version in await backend.log("f/a.md")] == [
            whole(backend, "/f/a.md")
        ] * 3

    async def test_who_did_it_and_why_is_kept(self, backend: HistoryProxy) -> None:
        with acting(agent="cook", user="ann", thread="t", tool_call="c-1", reason="salt"):
            await backend.put(a="one")
            with acting(user="bo"):
                await backend.write("/a.md", "two")
        await backend.undo("/a.md", reason="too much")

        third, second, first = await backend.log("/a.md")
        authors = [
            (version.actor.agent, version.actor.user, version.reason) for version in (first, second)
        ]
        assert authors == [("cook", "ann", "salt"), ("cook", "bo", "salt")]
        assert (first.actor.thread, first.actor.tool_call) == ("t", "c-1")
        assert (third.kind, third.reason, third.actor.user) == ("undo", "too much", None)

    async def test_odd_texts_come_back_byte_for_byte(self, backend: HistoryProxy) -> None:
        for text in ODD_TEXTS:
            await backend.fill({"/a.md": text})
        newest = await backend.log("/a.md")
        for version, text in zip(newest, reversed(ODD_TEXTS), strict=True):
            await backend.undo("/a.md", to=version.number)
            assert await backend.bytes_of("/a.md") == text

    async def test_bytes_that_are_no_text_are_kept_where_a_text_was(
        self, backend: HistoryProxy
    ) -> None:
        if not self.stores_binary:
            return
        data = b"\0\xff\xfe\0 not a text"
        await backend.fill({"/a.md": b"text\n"})
        await backend.fill({"/a.md": data})
        await backend.fill({"/a.md": b"again\n"})

        assert await backend.kinds("/a.md") == ["upload"] * 3
        await backend.undo("/a.md")
        assert await backend.bytes_of("/a.md") == data
        assert "are not text" in await backend.diff("/a.md", 2, 3)

    # Looking back.

    async def test_a_version_is_named_by_number_by_id_or_by_itself(
        self, backend: HistoryProxy
    ) -> None:
        await backend.put(a="one")
        await backend.put(a="two")
        first = (await backend.log("/a.md"))[-1]

        assert {await backend.show("/a.md", name) for name in (1, "1", first.id, first)} == {"one"}
        for wrong in (0, 3, -1, "none", "3"):
            with pytest.raises(VersionMissing):
                await backend.show("/a.md", wrong)
            with pytest.raises(VersionMissing):
                await backend.undo("/a.md", to=wrong)
        with pytest.raises(VersionMissing):
            await backend.show("/never.md", 1)
        with pytest.raises(ValueError):
            await backend.show("/../a.md", 1)
        assert await backend.text_of("/a.md") == "two"

    async def test_a_diff_says_what_changed(self, backend: HistoryProxy) -> None:
        await backend.put(a="one\ntwo\n")
        await backend.put(a="one\nthree")
        name = whole(backend, "/a.md")

        expected = f"--- {name}@1\n+++ {name}@2\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
        assert await backend.diff("/a.md", 1, 2) == expected + "\\ No newline at end of file\n"
        assert await backend.diff("/a.md", 1) == (await backend.diff("/a.md", 1, 2)).replace(
            f"{name}@2", name
        )
        assert await backend.diff("/a.md", 2) == ""
        assert await backend.diff("/a.md", None, 1) == (
            f"--- (no file)\n+++ {name}@1\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        )
        now = (await backend.diff("/a.md", None)).splitlines()
        assert now[1:4] == [f"+++ {name}", "@@ -0,0 +1,2 @@", "+one"]

    async def test_a_diff_without_versions_is_of_the_last_change(
        self, backend: HistoryProxy
    ) -> None:
        with pytest.raises(VersionMissing):
            await backend.diff("/a.md")
        await backend.put(a="one\n")
        assert await backend.diff("/a.md") == await backend.diff("/a.md", None)
        await backend.put(a="two\n")
        assert await backend.diff("/a.md") == await backend.diff("/a.md", 1)
        await backend.put(a="three\n")
        assert await backend.diff("/a.md") == await backend.diff("/a.md", 2)
        await backend.undo("/a.md")
        assert "-three\n+two\n" in await backend.diff("/a.md")
        if self.deletes:
            await backend.delete("/a.md")
            assert "-two\n" in await backend.diff("/a.md")

    async def test_what_is_remembered_is_listed(self, backend: HistoryProxy) -> None:
        await backend.fill({"/b.md": "1", "/f/g/a.md": "2", "/a b/☕.md": "3"})
        if self.deletes:
            await backend.delete("/b.md")

        assert await backend.remembered() == ["/a b/☕.md", "/b.md", "/f/g/a.md"]

    # Many at once.

    async def test_every_line_of_many_writers_has_its_version(self, backend: HistoryProxy) -> None:
        async def work(me: int, mine: BackendProxy) -> None:
            for n in range(EACH):
                await retry(partial(mine.append, "/a.md", f"{me}-{n}"))

        await run_workers(self.workers(backend, WORKERS), work)
        versions = await backend.log("/a.md")
        lines = str(await backend.text_of("/a.md")).splitlines()
        assert len(lines) == WORKERS * EACH
        assert [version.applied for version in versions] == [True] * WORKERS * EACH
        assert [version.number for version in versions] == [*range(WORKERS * EACH, 0, -1)]
        assert versions[0].current
        for version in versions[:: EACH + 1]:
            shown = (await backend.show("/a.md", version)).splitlines()
            assert shown == lines[: version.number]

    async def test_async_calls_leave_the_event_loop_free(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        if "native" not in self.modes:
            return
        backend = HistoryProxy(open_backend, "native", traits)
        await backend.put(warm="up")
        with blockbuster_ctx():
            await backend.put(a="one\n")
            await backend.append("/a.md", "two")
            assert len(await backend.log("/a.md")) == 2
            assert await backend.show("/a.md", 1) == "one\n"
            assert await backend.diff("/a.md", 1, 2)
            first = (await backend.log("/a.md"))[-1]
            await backend.undo("/a.md")
            await backend.restore("/a.md", first.time)
            assert await backend.remembered() == ["/a.md", "/warm.md"]

    async def test_both_modes_have_one_signature(self, open_backend: OpenBackend) -> None:
        assert twin_differences(type(open_backend()), History) == []


# Undo and restore.

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)


class UndoConformance(HistorySuite):
    """`undo` and `restore`."""

    async def test_undo_takes_back_one_change_after_the_other(self, backend: HistoryProxy) -> None:
        for text in ("one", "two", "three", "four"):
            await backend.put(a=text)
        undone = []
        for _ in range(3):
            version = await backend.undo("/a.md")
            undone.append(
                (version.kind, version.number, version.restored, await backend.text_of("/a.md"))
            )

        assert undone == [
            ("undo", 5, 3, "three"),
            ("undo", 6, 2, "two"),
            ("undo", 7, 1, "one"),
        ]
        assert [version.number for version in await backend.log("/a.md")] == [*range(7, 0, -1)]
        assert (await backend.log("/a.md"))[0].current

    async def test_a_change_after_an_undo_is_the_next_to_be_undone(
        self, backend: HistoryProxy
    ) -> None:
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        await backend.undo("/a.md")
        await backend.put(a="other")

        texts = []
        for _ in range(2):
            await backend.undo("/a.md")
            texts.append(await backend.text_of("/a.md"))
        assert texts == ["two", "one"]

    async def test_an_undo_is_taken_back_by_saying_to_which_version(
        self, backend: HistoryProxy
    ) -> None:
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        newest = (await backend.log("/a.md"))[0]
        await backend.undo("/a.md", to=1)
        assert await backend.text_of("/a.md") == "one"
        version = await backend.undo("/a.md", to=newest)

        assert await backend.text_of("/a.md") == "three"
        assert (version.restored, version.number) == (3, 5)
        await backend.undo("/a.md")
        assert await backend.text_of("/a.md") == "two", "it goes on from where it went back to"

    async def test_undo_to_what_is_there_changes_nothing(self, backend: HistoryProxy) -> None:
        await backend.put(a="one")
        await backend.put(a="two")
        before = await backend.log("/a.md")

        assert (await backend.undo("/a.md", to=2)).number == 2
        assert await backend.log("/a.md") == before

    async def test_a_deleted_file_comes_back(self, backend: HistoryProxy) -> None:
        if not self.deletes:
            return
        await backend.put(a="kept\n")
        await backend.delete("/a.md")
        assert (await backend.log("/a.md"))[0].after is None
        with pytest.raises(VersionMissing):
            await backend.show("/a.md", 2)
        await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "kept\n"
        await backend.undo("/a.md", to=2)
        assert await backend.bytes_of("/a.md") is None

    async def test_undoing_the_first_change_takes_the_file_away(
        self, backend: HistoryProxy
    ) -> None:
        if not self.deletes:
            return
        await backend.put(a="new")
        version = await backend.undo("/a.md")

        assert (version.kind, version.after, version.restored) == ("undo", None, 0)
        assert await backend.bytes_of("/a.md") is None
        with pytest.raises(VersionMissing):
            await backend.undo("/a.md")
        await backend.undo("/a.md", to=1)
        assert await backend.text_of("/a.md") == "new"

    async def test_there_is_nothing_to_undo_before_what_was_found(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await outside.write("/a.md", "found")
        for path in ("/a.md", "/never.md"):
            with pytest.raises(VersionMissing):
                await backend.undo(path)
        await backend.put(a="changed")
        await backend.undo("/a.md")
        with pytest.raises(VersionMissing, match="begins"):
            await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "found"
        with pytest.raises(ValueError):
            await backend.undo("/../a.md")

    async def test_undo_takes_back_what_something_else_wrote_but_keeps_it(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="ours")
        await outside.write("/a.md", "theirs")
        await backend.undo("/a.md")

        assert await backend.text_of("/a.md") == "ours"
        assert await backend.kinds("/a.md") == ["upload", "outside", "undo"]
        await backend.undo("/a.md", to=2)
        assert await backend.text_of("/a.md") == "theirs"

    async def test_a_file_is_made_what_it_was_at_a_time(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await outside.write("/a.md", "found")
        for text in ("one", "two", "three"):
            await backend.put(a=text)
        times = [version.time for version in reversed(await backend.log("/a.md"))]
        expected = [(times[2], "two"), (times[1], "one"), (times[3], "three")]
        for time, text in (*expected, (datetime.now(UTC) + timedelta(days=1), "three")):
            await backend.restore("/a.md", time)
            assert await backend.text_of("/a.md") == text

        with pytest.raises(VersionMissing):
            await backend.restore("/a.md", LONG_AGO)
        with pytest.raises(SettingError):
            await backend.restore("/a.md", datetime(2020, 1, 1))  # noqa: DTZ001 - that is the mistake
        assert await backend.text_of("/a.md") == "three"

    async def test_before_it_was_made_a_file_was_not_there(self, backend: HistoryProxy) -> None:
        if not self.deletes:
            return
        await backend.put(a="new")
        version = await backend.restore("/a.md", LONG_AGO)

        assert (version.kind, version.restored, version.after) == ("restore", 0, None)
        assert await backend.bytes_of("/a.md") is None


# The folder of the versions is hidden.


class HiddenVersionConformance(HistorySuite):
    """How the folder of the versions looks from outside: as if it were not there."""

    async def _versions(self, outside: BackendProxy) -> list[str]:
        """Return the paths of all stored versions, as they are without the history."""
        return paths_of(await outside.glob("*/*.json", self.folder))

    async def test_versions_lie_where_they_are_said_to_be(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="needle")
        versions = await self._versions(outside)
        assert "needle" in "".join([str(await outside.text_of(path)) for path in versions])

    async def test_versions_are_neither_listed_nor_found_nor_read(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="needle")
        version = (await self._versions(outside))[0]
        top = "/" + self.folder.split("/")[1]

        assert paths_of(await backend.ls("/")) == ["/a.md"]
        for pattern in ("**", "**/*.json", "**/.*", f"{top[1:]}/**", f"{top}/**/*.json", "*.json"):
            assert set(paths_of(await backend.glob(pattern))) <= {"/a.md"}, pattern
        assert paths_of(await backend.grep("needle")) == ["/a.md"]
        assert paths_of(await backend.grep("needle", glob=f"{top[1:]}/**")) == []
        for folder in (top, self.folder, f"/.{self.folder}", version.rpartition("/")[0]):
            assert (await backend.ls(folder)).error
            assert paths_of(await backend.glob("**", folder)) == []
            assert paths_of(await backend.grep("needle", folder)) == []
        for path in (version, version[1:], f"/.{version}", version.replace("/", "//")):
            assert (await backend.read(path)).error
            assert await backend.bytes_of(path) is None

    async def test_what_is_hidden_does_not_count_against_a_limit(
        self, backend: HistoryProxy
    ) -> None:
        for n in range(4):
            await backend.write("/z.md", f"needle {n}\n")
        result = await backend.grep("needle", max_count=1)

        assert paths_of(result) == ["/z.md"]
        assert not result.truncated

    async def test_versions_are_not_changed_through_the_backend(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="one")
        before = await self._versions(outside)
        version = before[0]
        content = await outside.bytes_of(version)
        folder = version.rpartition("/")[0]
        top = "/" + self.folder.split("/")[1]
        for path in (version, f"/.{version}", version[1:], version.upper(), f"{folder}/new.json"):
            assert (await backend.write(path, "owned")).error
            assert (await backend.append(path, "owned")).error
            assert (await backend.edit(path, "one", "owned")).error
            (answer,) = await backend.upload_files([(path, b"owned")])
            assert answer.error == "permission_denied"
        for path in (version, folder, self.folder, top, f"/.{top}/", "/"):
            assert (await backend.delete(path)).error, path

        assert await self._versions(outside) == before
        assert await outside.bytes_of(version) == content
        assert (await backend.undo("/a.md")).kind == "undo"

    async def test_files_beside_are_served_in_the_same_batch(
        self, backend: HistoryProxy, outside: BackendProxy
    ) -> None:
        await backend.put(a="one")
        version = (await self._versions(outside))[0]
        got = await backend.download_files([version, "/a.md", "/none.md"])
        put = await backend.upload_files([("/b.md", b"1"), (version, b"owned"), ("/c.md", b"2")])

        assert [answer.error for answer in got] == ["file_not_found", None, "file_not_found"]
        assert [answer.error for answer in put] == [None, "permission_denied", None]
        assert await backend.files() == ["/a.md", "/b.md", "/c.md"]

    async def test_each_file_of_a_deleted_folder_comes_back(self, backend: HistoryProxy) -> None:
        if not self.deletes:
            return
        texts = {"/f/a.md": "1", "/f/.hidden": "2", "/f/g/.git/c": "3", "/f/g/d.md": "4"}
        await backend.fill({**texts, "/fother.md": "stays"})
        assert (await backend.delete("/f")).error is None
        self.assert_missing_folder(await backend.ls("/f"), "/f")
        assert (await backend.delete("/f")).error

        for path, text in texts.items():
            assert await backend.kinds(path) == ["upload", "delete"]
            await backend.undo(path)
            assert await backend.text_of(path) == text
        assert await backend.kinds("/fother.md") == ["upload"]

    async def test_the_root_is_not_emptied_before_it_is_refused(
        self, backend: HistoryProxy
    ) -> None:
        await backend.fill({"/a.md": "1", "/f/b.md": "2"})
        for root in ("/", "", "//", "/."):
            try:
                assert (await backend.delete(root)).error
            except ValueError:
                pytest.fail(f"{root!r} is a path")

        assert await backend.files() == ["/a.md", "/f/b.md"]


# The whole contract.


class HistoryConformance(VersionConformance, UndoConformance, HiddenVersionConformance):
    """The contract of a backend with a history, in addition to that of a file backend.

    Derive a class and override the fixture `open_backend`. Override `open_outside` as well
    if the backend has no `inner` that can be used by itself, and set `folder` to where the
    versions are.
    """
