"""That nobody sees or changes the history of files through the files."""

from __future__ import annotations

import pytest

from memoryware.testing._either import Either, paths_of
from memoryware.testing._remembering import HistorySuite, Remembering


class HidingConformance(HistorySuite):
    """How the folder of the versions looks from outside: as if it were not there."""

    async def _versions(self, outside: Either) -> list[str]:
        """Return the paths of all stored versions, as they are without the history."""
        return paths_of(await outside.glob("*/*.json", self.folder))

    async def test_versions_lie_where_they_are_said_to_be(
        self, backend: Remembering, outside: Either
    ) -> None:
        await backend.put(a="needle")
        found = await self._versions(outside)
        assert "needle" in "".join([str(await outside.text_of(path)) for path in found])

    async def test_versions_are_neither_listed_nor_found_nor_read(
        self, backend: Remembering, outside: Either
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
        self, backend: Remembering
    ) -> None:
        for n in range(4):
            await backend.write("/z.md", f"needle {n}\n")
        found = await backend.grep("needle", max_count=1)

        assert paths_of(found) == ["/z.md"]
        assert not found.truncated

    async def test_versions_are_not_changed_through_the_backend(
        self, backend: Remembering, outside: Either
    ) -> None:
        await backend.put(a="one")
        before = await self._versions(outside)
        version = before[0]
        kept = await outside.bytes_of(version)
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
        assert await outside.bytes_of(version) == kept
        assert (await backend.undo("/a.md")).kind == "undo"

    async def test_files_beside_are_served_in_the_same_batch(
        self, backend: Remembering, outside: Either
    ) -> None:
        await backend.put(a="one")
        version = (await self._versions(outside))[0]
        got = await backend.download_files([version, "/a.md", "/none.md"])
        put = await backend.upload_files([("/b.md", b"1"), (version, b"owned"), ("/c.md", b"2")])

        assert [one.error for one in got] == ["file_not_found", None, "file_not_found"]
        assert [one.error for one in put] == [None, "permission_denied", None]
        assert await backend.files() == ["/a.md", "/b.md", "/c.md"]

    async def test_each_file_of_a_deleted_folder_comes_back(self, backend: Remembering) -> None:
        if not self.deletes:
            return
        texts = {"/f/a.md": "1", "/f/.hidden": "2", "/f/g/.git/c": "3", "/f/g/d.md": "4"}
        await backend.fill({**texts, "/fother.md": "stays"})
        assert (await backend.delete("/f")).error is None
        self.says_missing_folder(await backend.ls("/f"), "/f")
        assert (await backend.delete("/f")).error

        for path, text in texts.items():
            assert await backend.kinds(path) == ["upload", "delete"]
            await backend.undo(path)
            assert await backend.text_of(path) == text
        assert await backend.kinds("/fother.md") == ["upload"]

    async def test_the_root_is_not_emptied_before_it_is_refused(self, backend: Remembering) -> None:
        await backend.fill({"/a.md": "1", "/f/b.md": "2"})
        for root in ("/", "", "//", "/."):
            try:
                assert (await backend.delete(root)).error
            except ValueError:
                pytest.fail(f"{root!r} is a path")

        assert await backend.files() == ["/a.md", "/f/b.md"]
