"""Whatever the order of the steps, a backend behaves like a dictionary."""

from __future__ import annotations

import random

import pytest

from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

PATHS = ("/a.md", "/b.txt", "/f/a.md", "/f/g/a.md", "/f/g/b.md", "/f2/a.md", "/☕/é.md")
WORDS = ("tea", "milk", "sugar", "☕", "two words", "line\nbreak", "cr\r\nlf\r\n", "")
STEPS = 60


class RandomStepsConformance(Suite):
    """What holds after any steps."""

    @pytest.mark.parametrize("seed", range(5))
    async def test_behaves_like_a_dictionary(self, backend: Either, seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - dice, not a secret
        model: dict[str, str] = {}
        for step in range(STEPS):
            await self._step(backend, dice, model, step)
            if step % 10 == 9:
                await self._agree(backend, model)
        await self._agree(backend.again() if self.persistent else backend, model)

    async def _step(
        self, backend: Either, dice: random.Random, model: dict[str, str], step: int
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
                inside = [one for one in model if one.startswith("/f/")]
                error = (await backend.delete("/f")).error
                assert error is None if inside else error or self.keeps_empty_folders
                for one in inside:
                    del model[one]

    async def _edit(
        self, backend: Either, model: dict[str, str], path: str, old: str, *, every: bool
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

    async def _agree(self, backend: Either, model: dict[str, str]) -> None:
        assert {path: await backend.text_of(path) for path in PATHS} == {
            path: model.get(path) for path in PATHS
        }
        assert await backend.files() == sorted(model)
        assert paths_of(await backend.glob("*.md", "/f")) == sorted(
            path for path in model if path.startswith("/f/")
        )
        found = await backend.grep("tea")
        lines = [
            (path, number)
            for path in sorted(model)
            for number, line in enumerate(model[path].replace("\r\n", "\n").split("\n"), 1)
            if "tea" in line
        ]
        assert [(match["path"], match["line"]) for match in found.matches or []] == lines
        if not self.keeps_empty_folders:
            shown = {
                "/" + path.split("/")[1] + ("/" if path.count("/") > 1 else "") for path in model
            }
            assert paths_of(await backend.ls("/")) == sorted(shown)
