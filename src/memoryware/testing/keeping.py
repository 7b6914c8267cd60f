"""That every change is kept, with who made it, when and why, and can be looked at."""

from __future__ import annotations

from functools import partial

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends._acting import acting
from memoryware.errors import VersionMissing
from memoryware.testing._either import Either, insist, twin_differences, work_at_once
from memoryware.testing._remembering import History, HistorySuite, Remembering, whole
from memoryware.testing._suite import OpenBackend
from memoryware.testing._terms import Terms

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


class KeepingConformance(HistorySuite):
    """What is kept, and how it is shown."""

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

        assert await backend.kinds("/a.md") == ["upload", "outside", "append"]
        assert await backend.show("/a.md", 2) == "from outside\n"
        assert [bool(one.actor) for one in await backend.log("/a.md")][1] is False

    async def test_every_spelling_has_one_history(self, backend: Remembering) -> None:
        await backend.write("/f/a.md", "1")
        await backend.write("f/a.md", "2")
        await backend.write("//f/./a.md", "3")

        assert len(await backend.log("/f/a.md")) == 3
        assert await backend.log("./f//a.md") == await backend.log("/f/a.md")
        assert await backend.remembered() == ["/f/a.md"]
        assert [one.path for one in await backend.log("f/a.md")] == [whole(backend, "/f/a.md")] * 3

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
        name = whole(backend, "/a.md")

        wanted = f"--- {name}@1\n+++ {name}@2\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
        assert await backend.diff("/a.md", 1, 2) == wanted + "\\ No newline at end of file\n"
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
        self, backend: Remembering
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

    async def test_what_is_remembered_is_listed(self, backend: Remembering) -> None:
        await backend.fill({"/b.md": "1", "/f/g/a.md": "2", "/a b/☕.md": "3"})
        if self.deletes:
            await backend.delete("/b.md")

        assert await backend.remembered() == ["/a b/☕.md", "/b.md", "/f/g/a.md"]

    # Many at once.

    async def test_every_line_of_many_writers_has_its_version(self, backend: Remembering) -> None:
        async def work(me: int, mine: Either) -> None:
            for n in range(EACH):
                await insist(partial(mine.append, "/a.md", f"{me}-{n}"))

        await work_at_once(self.workers(backend, WORKERS), work)
        versions = await backend.log("/a.md")
        lines = str(await backend.text_of("/a.md")).splitlines()
        assert len(lines) == WORKERS * EACH
        assert [one.applied for one in versions] == [True] * WORKERS * EACH
        assert [one.number for one in versions] == [*range(WORKERS * EACH, 0, -1)]
        assert versions[0].current
        for version in versions[:: EACH + 1]:
            shown = (await backend.show("/a.md", version)).splitlines()
            assert shown == lines[: version.number]

    async def test_async_calls_leave_the_event_loop_free(
        self, open_backend: OpenBackend, terms: Terms
    ) -> None:
        if "native" not in self.doors:
            return
        backend = Remembering(open_backend, "native", terms)
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

    async def test_both_doors_have_one_signature(self, open_backend: OpenBackend) -> None:
        assert twin_differences(type(open_backend()), History) == []
