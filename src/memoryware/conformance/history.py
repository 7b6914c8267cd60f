"""What a history promises, whatever backend the files and their versions are in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Protocol

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends._acting import acting
from memoryware.backends._versions import Version
from memoryware.conformance._either import Door, Either, insist, paths_of, twin_differences
from memoryware.conformance._either import work_at_once
from memoryware.conformance._suite import OpenBackend, Suite
from memoryware.conformance._terms import Terms
from memoryware.errors import VersionMissing

WORKERS, EACH = 6, 4
OpenOutside = Callable[[], Any]
ODD_TEXTS: tuple[bytes, ...] = (
    b"",
    b"no end of line",
    b"one\r\ntwo\r\n",
    b"one\rtwo",
    b"\xef\xbb\xbfwith a mark\n",
    "Grüße, 日本語, ☕\n".encode(),
    b"tab\there, quote \" and \\ back\n\n\n",
    "\u2028 and \x0b and \x7f\n".encode(),
)


class History(Protocol):
    """What a backend with a history offers; its twins are not named here."""

    def log(self, path: str) -> list[Version]: ...

    async def alog(self, path: str) -> list[Version]: ...

    def show(self, path: str, version: Any) -> str: ...

    async def ashow(self, path: str, version: Any) -> str: ...

    def diff(self, path: str, a: Any, b: Any = None) -> str: ...

    async def adiff(self, path: str, a: Any, b: Any = None) -> str: ...

    def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    async def aundo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version: ...

    def restore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    async def arestore(self, path: str, at: Any, *, reason: str | None = None) -> Version: ...

    def files(self) -> list[str]: ...

    async def afiles(self) -> list[str]: ...


class Remembering(Either):
    """A backend with a history, seen through one door."""

    async def log(self, path: str) -> list[Version]:
        versions: list[Version] = await self._ask("log", self._in(path))
        _of_log(versions)
        return versions

    async def show(self, path: str, version: Any) -> str:
        return str(await self._ask("show", self._in(path), version))

    async def diff(self, path: str, a: Any, b: Any = None) -> str:
        return str(await self._ask("diff", self._in(path), a, b))

    async def undo(self, path: str, to: Any = None, *, reason: str | None = None) -> Version:
        made: Version = await self._ask("undo", self._in(path), to, reason=reason)
        assert made.current, "what an undo has made is what the file is now"
        return made

    async def restore(self, path: str, at: Any) -> Version:
        made: Version = await self._ask("restore", self._in(path), at)
        assert made.current
        return made

    async def remembered(self) -> list[str]:
        return [self.terms.without_root(path) for path in await self._ask("files")]

    async def kinds(self, path: str) -> list[str]:
        """Return the kinds of the versions of a file, oldest first."""
        return [one.kind for one in reversed(await self.log(path))]


def _of_log(versions: list[Version]) -> None:
    """Newest first, each once, in one unbroken chain, and at most one is current."""
    numbers = [one.number for one in versions]
    assert numbers == sorted(numbers, reverse=True), "the newest version comes first"
    assert len({one.id for one in versions}) == len(versions), "each version comes once"
    assert sum(one.current for one in versions) <= 1, "a file holds one version at most"
    assert all(one.time.tzinfo is not None for one in versions), "a time has a zone"
    assert [one.dropped for one in versions[:-1]] == [0] * len(versions[:-1])
    applied = [one for one in versions if one.applied]
    for later, earlier in zip(applied, applied[1:], strict=False):
        if later.number > earlier.number:
            assert later.kind == "merged" or later.before == earlier.after, (
                f"version {later.number} does not follow {earlier.number}"
            )


class HistoryConformance(Suite):
    """What every backend with a history does. Each change goes through it unless said so."""

    folder: ClassVar[str] = "/.memoryware/history"
    """Where the versions are, as it is hidden."""
    several_at_once: ClassVar[bool] = True
    """Whether its callers can really work at the same time."""

    @pytest.fixture
    def backend(self, open_backend: OpenBackend, door: Door, terms: Terms) -> Remembering:
        """Return a backend seen through one door."""
        return Remembering(open_backend, door, terms)

    @pytest.fixture
    def open_outside(self, open_backend: OpenBackend) -> OpenOutside:
        """Return a function that opens the same files without their history."""
        return lambda: open_backend().inner

    @pytest.fixture
    def outside(self, open_outside: OpenOutside, door: Door, terms: Terms) -> Either:
        """Return the same files without their history."""
        return Either(open_outside, door, terms)

    # Keeping.

    async def test_every_change_is_a_version(self, backend: Remembering) -> None:
        assert await backend.log("/f/a.md") == []
        await backend.write("/f/a.md", "one\n")
        await backend.edit("/f/a.md", "one", "two")
        await backend.append("/f/a.md", "three")
        await backend.upload_files([("/f/a.md", b"four\n")])
        if self.deletes:
            await backend.delete("/f/a.md")

        wanted = ["write", "edit", "append", "upload", *(["delete"] if self.deletes else [])]
        assert await backend.kinds("/f/a.md") == wanted
        versions = await backend.log("/f/a.md")
        assert [one.number for one in reversed(versions)] == [*range(1, len(wanted) + 1)]
        assert [one.size for one in reversed(versions)][:4] == [4, 4, 10, 5]
        assert [one.current for one in versions] == [True] + [False] * (len(wanted) - 1)
        assert all(one.applied and one.kept for one in versions)
        texts = [await backend.show("/f/a.md", n) for n in range(1, 5)]
        assert texts == ["one\n", "two\n", "two\nthree\n", "four\n"]

    async def test_what_changes_nothing_is_no_version(self, backend: Remembering) -> None:
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
        self, backend: Remembering, outside: Either
    ) -> None:
        await outside.write("/a.md", "was there\n")
        assert await backend.log("/a.md") == []
        await backend.edit("/a.md", "was", "is")

        assert await backend.kinds("/a.md") == ["found", "edit"]
        assert await backend.show("/a.md", 1) == "was there\n"
        await backend.undo("/a.md")
        assert await backend.text_of("/a.md") == "was there\n"

    async def test_what_something_else_wrote_is_kept(
        self, backend: Remembering, outside: Either
    ) -> None:
        await backend.put(a="one\n")
        await outside.write("/a.md", "from outside\n")
        assert [one.current for one in await backend.log("/a.md")] == [False]
        await backend.append("/a.md", "more")

        assert await backend.kinds("/a.md") == ["write", "outside", "append"]
        assert await backend.show("/a.md", 2) == "from outside\n"
        assert [bool(one.actor) for one in await backend.log("/a.md")][1] is False

    async def test_every_spelling_has_one_history(self, backend: Remembering) -> None:
        await backend.write("/f/a.md", "1")
        await backend.write("f/a.md", "2")
        await backend.write("//f/./a.md", "3")

        assert len(await backend.log("/f/a.md")) == 3
        assert await backend.log("./f//a.md") == await backend.log("/f/a.md")
        assert await backend.remembered() == ["/f/a.md"]
        assert [one.path for one in await backend.log("f/a.md")] == [
            self._whole(backend, "/f/a.md")
        ] * 3

    def _whole(self, backend: Remembering, path: str) -> str:
        return backend.terms.inward(path)

    async def test_who_did_it_and_why_is_kept(self, backend: Remembering) -> None:
        with acting(agent="cook", user="ann", thread="t", tool_call="c-1", reason="salt"):
            await backend.put(a="one")
            with acting(user="bo"):
                await backend.write("/a.md", "two")
        await backend.undo("/a.md", reason="too much")

        third, second, first = await backend.log("/a.md")
        told = [(one.actor.agent, one.actor.user, one.reason) for one in (first, second)]
        assert told == [("cook", "ann", "salt"), ("cook", "bo", "salt")]
        assert (first.actor.thread, first.actor.tool_call) == ("t", "c-1")
        assert (third.kind, third.reason, third.actor.user) == ("undo", "too much", None)

    async def test_odd_texts_come_back_byte_for_byte(self, backend: Remembering) -> None:
        for text in ODD_TEXTS:
            await backend.fill({"/a.md": text})
        newest = await backend.log("/a.md")
        for version, text in zip(newest, reversed(ODD_TEXTS), strict=True):
            await backend.undo("/a.md", to=version.number)
            assert await backend.bytes_of("/a.md") == text

    async def test_bytes_that_are_no_text_are_kept_where_a_text_was(
        self, backend: Remembering
    ) -> None:
        if not self.keeps_bytes:
            return
        data = b"\0\xff\xfe\0 not a text"
        await backend.fill({"/a.md": b"text\n"})
        await backend.fill({"/a.md": data})
        await backend.fill({"/a.md": b"again\n"})

        assert await backend.kinds("/a.md") == ["upload"] * 3
        await backend.undo("/a.md")
        assert await backend.bytes_of("/a.md") == data
        assert "are no text" in await backend.diff("/a.md", 2, 3)

    # Looking back.

    async def test_a_version_is_named_by_number_by_id_or_by_itself(
        self, backend: Remembering
    ) -> None:
        await backend.put(a="one")
        await backend.put(a="two")
        first = (await backend.log("/a.md"))[-1]

        assert {await backend.show("/a.md", one) for one in (1, "1", first.id, first)} == {"one"}
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

    async def test_a_diff_says_what_changed(self, backend: Remembering) -> None:
        await backend.put(a="one\ntwo\n")
        await backend.put(a="one\nthree")
        name = self._whole(backend, "/a.md")

        wanted = f"--- {name}@1\n+++ {name}@2\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
        assert await backend.diff("/a.md", 1, 2) == wanted + "\\ No newline at end of file\n"
        assert await backend.diff("/a.md", 1) == (await backend.diff("/a.md", 1, 2)).replace(
            f"{name}@2", name
        )
        assert await backend.diff("/a.md", 2) == ""
