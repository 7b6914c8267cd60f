"""What `ls` shows of a folder."""

from __future__ import annotations

from dataclasses import replace

from memoryware.testing._either import Either, paths_of
from memoryware.testing._suite import Suite

TREE = {
    "/AGENTS.md": "rules",
    "/a.md": "a",
    "/a/x.md": "x",
    "/a/deep/er/y.md": "y",
    "/a-b/x.md": "x",
    "/.agent/AGENTS.md": "hidden",
    "/.env": "",
    "/mem/one.md": "1",
    "/mem-evil/two.md": "2",
    "/m_m/three.md": "3",
    "/m%m/four.md": "4",
}


class ListingConformance(Suite):
    """What `ls` shows."""

    async def test_a_listing_has_direct_children_sorted_with_folders_marked(
        self, backend: Either
    ) -> None:
        await backend.fill(TREE)

        assert paths_of(await backend.ls("/")) == [
            *("/.agent/", "/.env", "/AGENTS.md", "/a-b/", "/a.md", "/a/"),
            *("/m%m/", "/m_m/", "/mem-evil/", "/mem/"),
        ]
        assert paths_of(await backend.ls("/a")) == ["/a/deep/", "/a/x.md"]
        assert paths_of(await backend.ls("/a/deep")) == ["/a/deep/er/"]
        assert paths_of(await backend.ls("/.agent")) == ["/.agent/AGENTS.md"]

    async def test_a_folder_is_not_its_neighbour_with_a_longer_name(self, backend: Either) -> None:
        await backend.fill(TREE)

        assert paths_of(await backend.ls("/mem")) == ["/mem/one.md"]
        assert paths_of(await backend.ls("/m_m")) == ["/m_m/three.md"]
        assert paths_of(await backend.ls("/m%m")) == ["/m%m/four.md"]
        for path in ("/me", "/m"):
            self.says_missing_folder(await backend.ls(path), path)

    async def test_an_empty_backend_has_an_empty_root(self, backend: Either) -> None:
        result = await backend.ls("/")

        assert (result.error, result.entries) == (None, [])

    async def test_standing_folders_are_listed_without_a_file(self, backend: Either) -> None:
        terms = replace(backend.terms, standing=frozenset())
        as_it_is = Either(lambda: backend.target, backend.door, terms)
        for folder in sorted(self.standing):
            parent = folder[:-1].rpartition("/")[0] or "/"
            assert folder in paths_of(await as_it_is.ls(parent))
            assert paths_of(await backend.ls(folder)) == []

    async def test_a_missing_folder_has_nothing_in_it(self, backend: Either) -> None:
        await backend.fill(TREE)

        for path in ("/nothing", "/a/nothing/", "a/deep/no"):
            self.says_missing_folder(await backend.ls(path), path)

    async def test_a_file_cannot_be_listed(self, backend: Either) -> None:
        await backend.fill(TREE)

        assert (await backend.ls("/a.md")).error == "Path '/a.md': not_a_directory"
        assert (await backend.ls("a/x.md")).error == "Path 'a/x.md': not_a_directory"

    async def test_sizes_are_bytes(self, backend: Either) -> None:
        await backend.fill({"/empty.md": "", "/tea.md": "é☕", "/crlf.md": "a\r\n", "/f/a.md": "x"})
        sizes = {e["path"]: e.get("size") for e in (await backend.ls("/")).entries or []}
        found = {e["path"]: e.get("size") for e in (await backend.glob("*")).matches or []}

        assert sizes == {"/empty.md": 0, "/tea.md": 5, "/crlf.md": 3, "/f/": 0}
        assert found == {"/empty.md": 0, "/tea.md": 5, "/crlf.md": 3, "/f/a.md": 1}
        await backend.edit("/tea.md", "☕", "🍵🍵")
        (tea,) = [e for e in (await backend.ls("/")).entries or [] if e["path"] == "/tea.md"]
        assert tea.get("size") == 10

    async def test_the_size_of_what_is_not_text_is_its_bytes(self, backend: Either) -> None:
        data = b"\xff\xfe\0\x01\x02" if self.keeps_bytes else b"plain"
        await backend.fill({"/a.bin": data})

        (entry,) = (await backend.ls("/")).entries or []
        assert entry.get("size") == 5

    async def test_a_long_listing_is_complete(self, backend: Either) -> None:
        many = {f"/many/{n:04d}.md": f"needle {n}" for n in range(self.many_files)}
        await backend.fill({**many, "/other.md": "x"})

        assert paths_of(await backend.ls("/many")) == sorted(many)
        assert paths_of(await backend.glob("/many/*")) == sorted(many)
        assert paths_of(await backend.grep("needle", "/many")) == sorted(many)
        assert paths_of(await backend.ls("/")) == ["/many/", "/other.md"]
        if self.deletes:
            await backend.delete("/many")
            assert await backend.files() == ["/other.md"]
