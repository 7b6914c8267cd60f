"""Concurrency, sync and async parity, and random sequences of operations."""

from __future__ import annotations

import random
from functools import partial

import pytest
from blockbuster import blockbuster_ctx

from memoryware.backends.protocol import BackendProtocol
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

# Concurrency.

WORKERS = 8
EACH = 5


class ConcurrencyConformance(BackendSuite):
    """Concurrent changes are all kept, and the async methods do not block the event loop."""

    async def test_edits_by_eight_at_once_are_all_there(self, backend: BackendProxy) -> None:
        await self._edits_are_all_there(backend, self.workers(backend, WORKERS))

    async def test_edits_by_threads_and_tasks_together_are_all_there(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        backend = BackendProxy(open_backend, self.modes[0], traits)
        modes = [self.modes[me % len(self.modes)] for me in range(WORKERS)]
        workers = [backend.for_worker(mode, share=True) for mode in modes]

        await self._edits_are_all_there(backend, workers)

    async def _edits_are_all_there(
        self, backend: BackendProxy, workers: list[BackendProxy]
    ) -> None:
        slots = [f"slot {n:02d}: " for n in range(WORKERS * EACH)]
        await backend.put(a="".join(f"{slot}empty {'x' * 200}\n" for slot in slots))

        async def work(me: int, mine: BackendProxy) -> None:
            for slot in slots[me::WORKERS]:
                await retry(partial(mine.edit, "/a.md", f"{slot}empty", f"{slot}done"))

        await run_workers(workers, work)
        rows = str(await backend.text_of("/a.md")).splitlines()
        assert rows == [f"{slot}done {'x' * 200}" for slot in slots]

    async def test_new_files_by_eight_at_once_are_all_there(self, backend: BackendProxy) -> None:
        async def work(me: int, mine: BackendProxy) -> None:
            for n in range(EACH):
                await retry(partial(mine.write, f"/new/{me}-{n}.md", f"{me} {n}"))
                (answer,) = await mine.upload_files([(f"/up/{me}/{n}.md", f"{n}".encode())])
                assert answer.error is None

        await run_workers(self.workers(backend, WORKERS), work)
        written = {f"/new/{me}-{n}.md": f"{me} {n}" for me in range(WORKERS) for n in range(EACH)}
        uploaded = {f"/up/{me}/{n}.md": f"{n}" for me in range(WORKERS) for n in range(EACH)}
        expected = {**written, **uploaded}
        assert await backend.files() == sorted(expected)
        assert {path: await backend.text_of(path) for path in expected} == expected

    async def test_overwrites_at_once_leave_one_of_the_texts(self, backend: BackendProxy) -> None:
        texts = [f"{me}" * (me + 1) * 10_000 for me in range(WORKERS)]

        async def work(me: int, mine: BackendProxy) -> None:
            for _ in range(EACH):
                await retry(partial(mine.write, "/a.md", texts[me]))
                assert await mine.text_of("/a.md") in texts, "a text seen by halves"

        await run_workers(self.workers(backend, WORKERS), work)
        assert await backend.text_of("/a.md") in texts
        assert await backend.files() == ["/a.md"]

    async def test_a_reader_never_sees_half_a_change(self, backend: BackendProxy) -> None:
        whole = [f"{n}\n" * 20_000 for n in range(2)]
        await backend.put(a=whole[0])

        async def work(me: int, mine: BackendProxy) -> None:
            for n in range(2 * EACH):
                if me == 0:
                    await retry(partial(mine.write, "/a.md", whole[n % 2]))
                else:
                    assert await mine.text_of("/a.md") in whole

        await run_workers(self.workers(backend, WORKERS), work)

    async def test_deletes_and_writes_at_once_harm_nothing_else(
        self, backend: BackendProxy
    ) -> None:
        await backend.put(a="text", other="stays")

        async def work(me: int, mine: BackendProxy) -> None:
            for n in range(EACH):
                if me % 2 and self.deletes:
                    await mine.delete("/f")
                else:
                    await retry(partial(mine.write, f"/f/{me}.md", f"{n}"))
                    await mine.read(f"/f/{me}.md")
                    await mine.glob("**/*.md")
                    await mine.grep("stays")
                    await mine.ls("/f")

        await run_workers(self.workers(backend, WORKERS), work)
        assert await backend.text_of("/other.md") == "stays"
        assert await backend.text_of("/a.md") == "text"
        of_workers = {f"/f/{me}.md" for me in range(WORKERS)}
        assert {*await backend.files()} - of_workers == {"/a.md", "/other.md"}

    async def test_the_async_half_leaves_the_event_loop_free(
        self, open_backend: OpenBackend, traits: BackendTraits
    ) -> None:
        if "native" not in self.modes:
            return
        backend = BackendProxy(open_backend, "native", traits)
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


# Sync and async parity.


class SyncAsyncConformance(BackendSuite):
    """What `x` and `ax` have in common."""

    async def test_twins_have_one_signature_which_is_that_of_the_protocol(
        self, open_backend: OpenBackend
    ) -> None:
        assert twin_differences(type(open_backend()), BackendProtocol) == []


# Random sequences of operations, compared with a dictionary.

PATHS = ("/a.md", "/b.txt", "/f/a.md", "/f/g/a.md", "/f/g/b.md", "/f2/a.md", "/☕/é.md")
WORDS = ("tea", "milk", "sugar", "☕", "two words", "line\nbreak", "cr\r\nlf\r\n", "")
STEPS = 60


class RandomStepsConformance(BackendSuite):
    """What holds after any steps."""

    @pytest.mark.parametrize("seed", range(5))
    async def test_behaves_like_a_dictionary(self, backend: BackendProxy, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        model: dict[str, str] = {}
        for step in range(STEPS):
            await self._step(backend, dice, model, step)
            if step % 10 == 9:
                await self._agree(backend, model)
        await self._agree(backend.again() if self.persistent else backend, model)

    async def _step(
        self, backend: BackendProxy, dice: random.Random, model: dict[str, str], step: int
    ) -> None:
        path, word = dice.choice(PATHS), dice.choice(WORDS)
        text = f"{step}: {word} {dice.choice(WORDS)}"
        match dice.choice(["write", "write", "upload", "edit", "every", "delete", "folder"]):
            case "write":
                assert (await backend.write(path, text)).error is None
                model[path] = text
            case "upload":
                other = dice.choice(PATHS)
                await backend.fill({path: text, other: word})
                model |= {path: text, other: word}
            case "edit":
                await self._edit(backend, model, path, word or "tea", every=False)
            case "every":
                await self._edit(backend, model, path, word or "tea", every=True)
            case "delete" if self.deletes:
                error = (await backend.delete(path)).error
                assert (error is None) == (model.pop(path, None) is not None)
            case "folder" if self.deletes:
                inside = [path for path in model if path.startswith("/f/")]
                error = (await backend.delete("/f")).error
                assert error is None if inside else error or self.stores_empty_folders
                for path in inside:
                    del model[path]

    async def _edit(
        self, backend: BackendProxy, model: dict[str, str], path: str, old: str, *, every: bool
    ) -> None:
        old = old.strip()
        result = await backend.edit(path, old, "<new>", replace_all=every)
        lf = model.get(path, "")
        count = lf.replace("\r\n", "\n").count(old.replace("\r\n", "\n"))
        assert result.error is None if count == 1 or (every and count) else result.error
        if result.error is None:
            assert result.occurrences == count
            model[path] = (
                lf.replace("cr\r\nlf", "<new>") if "\r" in old else lf.replace(old, "<new>")
            )

    async def _agree(self, backend: BackendProxy, model: dict[str, str]) -> None:
        assert {path: await backend.text_of(path) for path in PATHS} == {
            path: model.get(path) for path in PATHS
        }
        assert await backend.files() == sorted(model)
        assert paths_of(await backend.glob("*.md", "/f")) == sorted(
            path for path in model if path.startswith("/f/")
        )
        result = await backend.grep("tea")
        lines = [
            (path, number)
            for path in sorted(model)
            for number, line in enumerate(model[path].replace("\r\n", "\n").split("\n"), 1)
            if "tea" in line
        ]
        assert [(match["path"], match["line"]) for match in result.matches or []] == lines
        if not self.stores_empty_folders:
            shown = {
                "/" + path.split("/")[1] + ("/" if path.count("/") > 1 else "") for path in model
            }
            assert paths_of(await backend.ls("/")) == sorted(shown)
