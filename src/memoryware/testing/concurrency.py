"""No accepted change is lost and none is seen by halves, however many there are at once."""

from __future__ import annotations

from functools import partial

from blockbuster import blockbuster_ctx

from memoryware.testing._either import Either, insist, work_at_once
from memoryware.testing._suite import OpenBackend, Suite
from memoryware.testing._terms import Terms

WORKERS = 8
EACH = 5


class ConcurrencyConformance(Suite):
    """What happens when many work at once, and whose thread pays for it."""

    async def test_edits_by_eight_at_once_are_all_there(self, backend: Either) -> None:
        await self._edits_are_all_there(backend, self.workers(backend, WORKERS))

    async def test_edits_by_threads_and_tasks_together_are_all_there(
        self, open_backend: OpenBackend, terms: Terms
    ) -> None:
        backend = Either(open_backend, self.doors[0], terms)
        doors = [self.doors[me % len(self.doors)] for me in range(WORKERS)]
        workers = [backend.for_worker(door, share=True) for door in doors]

        await self._edits_are_all_there(backend, workers)

    async def _edits_are_all_there(self, backend: Either, workers: list[Either]) -> None:
        slots = [f"slot {n:02d}: " for n in range(WORKERS * EACH)]
        await backend.put(a="".join(f"{slot}empty {'x' * 200}\n" for slot in slots))

        async def work(me: int, mine: Either) -> None:
            for slot in slots[me::WORKERS]:
                await insist(partial(mine.edit, "/a.md", f"{slot}empty", f"{slot}done"))

        await work_at_once(workers, work)
        rows = str(await backend.text_of("/a.md")).splitlines()
        assert rows == [f"{slot}done {'x' * 200}" for slot in slots]

    async def test_new_files_by_eight_at_once_are_all_there(self, backend: Either) -> None:
        async def work(me: int, mine: Either) -> None:
            for n in range(EACH):
                await insist(partial(mine.write, f"/new/{me}-{n}.md", f"{me} {n}"))
                (answer,) = await mine.upload_files([(f"/up/{me}/{n}.md", f"{n}".encode())])
                assert answer.error is None

        await work_at_once(self.workers(backend, WORKERS), work)
        written = {f"/new/{me}-{n}.md": f"{me} {n}" for me in range(WORKERS) for n in range(EACH)}
        uploaded = {f"/up/{me}/{n}.md": f"{n}" for me in range(WORKERS) for n in range(EACH)}
        wanted = {**written, **uploaded}
        assert await backend.files() == sorted(wanted)
        assert {path: await backend.text_of(path) for path in wanted} == wanted

    async def test_overwrites_at_once_leave_one_of_the_texts(self, backend: Either) -> None:
        texts = [f"{me}" * (me + 1) * 10_000 for me in range(WORKERS)]

        async def work(me: int, mine: Either) -> None:
            for _ in range(EACH):
                await insist(partial(mine.write, "/a.md", texts[me]))
                assert await mine.text_of("/a.md") in texts, "a text seen by halves"

        await work_at_once(self.workers(backend, WORKERS), work)
        assert await backend.text_of("/a.md") in texts
        assert await backend.files() == ["/a.md"]

    async def test_a_reader_never_sees_half_a_change(self, backend: Either) -> None:
        whole = [f"{n}\n" * 20_000 for n in range(2)]
        await backend.put(a=whole[0])

        async def work(me: int, mine: Either) -> None:
            for n in range(2 * EACH):
                if me == 0:
                    await insist(partial(mine.write, "/a.md", whole[n % 2]))
                else:
                    assert await mine.text_of("/a.md") in whole

        await work_at_once(self.workers(backend, WORKERS), work)

    async def test_deletes_and_writes_at_once_harm_nothing_else(self, backend: Either) -> None:
        await backend.put(a="text", other="stays")

        async def work(me: int, mine: Either) -> None:
            for n in range(EACH):
                if me % 2 and self.deletes:
                    await mine.delete("/f")
                else:
                    await insist(partial(mine.write, f"/f/{me}.md", f"{n}"))
                    await mine.read(f"/f/{me}.md")
                    await mine.glob("**/*.md")
                    await mine.grep("stays")
                    await mine.ls("/f")

        await work_at_once(self.workers(backend, WORKERS), work)
        assert await backend.text_of("/other.md") == "stays"
        assert await backend.text_of("/a.md") == "text"
        of_workers = {f"/f/{me}.md" for me in range(WORKERS)}
        assert {*await backend.files()} - of_workers == {"/a.md", "/other.md"}

    async def test_the_async_half_leaves_the_event_loop_free(
        self, open_backend: OpenBackend, terms: Terms
    ) -> None:
        if "native" not in self.doors:
            return
        backend = Either(open_backend, "native", terms)
        await backend.put(warm="up")
        with blockbuster_ctx():
            assert (await backend.write("/f/a.md", "needle one")).error is None
            assert (await backend.read("/f/a.md")).error is None
            assert (await backend.edit("/f/a.md", "one", "two")).error is None
            assert (await backend.ls("/f")).error is None
            assert (await backend.glob("**/*.md")).error is None
            assert (await backend.grep("needle")).error is None
            assert await backend.text_of("/f/a.md") == "needle two"
            await backend.fill({"/f/b.md": "needle", "/f/sub/c.md": "needle"})
            assert (await backend.read("/nothing.md")).error
            assert (await backend.edit("/nothing.md", "a", "b")).error
            assert (await backend.grep("needle", "/f", "*.md", max_count=1)).truncated
            if self.deletes:
                assert (await backend.delete("/f")).error is None
