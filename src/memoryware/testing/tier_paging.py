"""Lists come in the order of storing, and in pages that nothing moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memoryware.errors import SettingError
from memoryware.testing._tiers import ACME, Asked, OpenStore, TierSuite, later, shout, within


class TierPagingConformance(TierSuite):
    """What a list of records does, in every tier."""

    async def test_what_was_stored_last_comes_first_whoever_stored_it(
        self, store: Asked, opened: OpenStore
    ) -> None:
        two = self.workers(store, opened)[:2]
        kept = [
            await self.keep(
                Asked(two[n % 2].target, store.door, self.deadline),
                self.make(f"{n}", created_at=later(days=-n)),
            )
            for n in range(6)
        ]
        assert await store.ids(within()) == [one.id for one in reversed(kept)]

    async def test_pages_are_parts_of_the_whole_and_say_how_much_there_is(
        self, store: Asked
    ) -> None:
        await self.keep_all(store, *"abcdefg")
        page = await store.find(within(), limit=3, offset=2)
        assert ([one.content for one in page.items], page.total) == (["e", "d", "c"], 7)
        assert await store.texts(within(), limit=2) == ["g", "f"]
        assert await store.texts(within(), offset=6) == ["a"]
        huge = 2**70
        assert len((await store.find(within(), limit=huge)).items) == 7
        for beyond in ({"limit": 0}, {"limit": 3, "offset": 50}, {"offset": 7}, {"offset": huge}):
            page = await store.find(within(), **beyond)
            assert (page.items, page.total) == ([], 7), beyond
        page = await store.find(within(contains="c"), limit=1)
        assert (len(page.items), page.total) == (1, 1)

    async def test_a_long_list_is_not_cut(self, store: Asked) -> None:
        loaded = [self.make(f"{n}") for n in range(120)]
        await store.load(loaded)
        newest = loaded[::-1]
        page = await store.find(within())
        assert (page.items, page.total) == (newest, 120)
        assert (await store.find(within(), limit=110)).items == newest[:110]
        assert (await store.find(within(), offset=10)).items == newest[10:]
        assert (await store.find(within(), after=page.marks[9])).items == newest[10:]

    async def test_a_mark_leads_from_page_to_page(self, store: Asked) -> None:
        await self.keep_all(store, *"abcdefg")
        seen, mark = list[tuple[list[str], int, int]](), None
        for _ in range(4):
            page = await store.find(within(), limit=2, after=mark)
            seen.append(([one.content for one in page.items], page.newer, page.total))
            mark = page.next
            if mark is None:
                break
        assert seen == [(["g", "f"], 0, 7), (["e", "d"], 2, 7), (["c", "b"], 4, 7), (["a"], 6, 7)]
        whole = await store.find(within())
        assert (len(whole.marks), whole.next) == (7, None)
        page = await store.find(within(), after=whole.marks[1], offset=1, limit=2)
        assert ([one.content for one in page.items], page.newer) == (["d", "c"], 3)
        assert page.marks == whole.marks[3:5]
        for beyond in ({"after": whole.marks[-1]}, {"after": whole.marks[5], "offset": 9}):
            page = await store.find(within(), **beyond)
            assert (page.items, page.total, page.newer, page.next) == ([], 7, 7, None), beyond
        page = await store.find(within(contains="b"), after=whole.marks[2])
        assert ([one.content for one in page.items], page.newer, page.total) == (["b"], 0, 1)

    async def test_what_comes_and_goes_meanwhile_moves_no_page(
        self, store: Asked, opened: OpenStore
    ) -> None:
        kept = await self.keep_all(store, *"abcdef")
        first = await store.find(within(), limit=2)
        await self.keep_all(store, "new", "newer")
        await store.edit(within(ids=(kept[3].id,)), shout)
        await store.delete(within(ids=(kept[4].id, kept[1].id)))
        other = Asked(opened(), store.door, self.deadline) if self.persistent else store
        for one in (store, other):
            page = await one.find(within(), after=first.next, limit=2)
            assert [record.content for record in page.items] == ["d!", "c"]
            assert (page.newer, page.total) == (3, 6)

    async def test_pages_of_several_groups(self, store: Asked) -> None:
        for number in range(6):
            scope = replace(ACME, group_id=f"g{number % 2}")
            await self.keep(store, self.make(str(number), scope=scope))
        which = within().also(groups=("g0", "g1"))
        for some in (which, which.also(groups=None)):
            page = await store.find(some, limit=4)
            rest = await store.find(some, limit=4, after=page.next)
            seen = [[one.content for one in part.items] for part in (page, rest)]
            assert seen == [["5", "4", "3", "2"], ["1", "0"]]

    @pytest.mark.parametrize("mark", ["x", "-1", "1.5", "", "²", "9" * 50, 7])
    async def test_a_mark_that_no_store_gives_is_refused(self, store: Asked, mark: Any) -> None:
        await self.keep_all(store, "one")
        with pytest.raises(SettingError, match="mark"):
            await store.find(within(), after=mark)
