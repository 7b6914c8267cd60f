"""Hands tests to the workers of pytest-xdist, at a cost that does not grow with their number.

`--dist loadgroup` hands out one test at a time and looks through all that a worker has done before
each: with twenty thousand tests that took as much of two cores as a tenth of the tests. Here what
is done is dropped, and tests without a group go out by eights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

_TOGETHER = 8


class GroupScheduling(LoadGroupScheduling):
    """Keeps each `xdist_group` in one worker, and hands out the other tests by eights."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._units: dict[str, str] = {}
        self._indices: dict[str, int] = {}

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if not self._units:
            for index, nodeid in enumerate(collection):
                group = super()._split_scope(nodeid)
                self._units[nodeid] = f"{index // _TOGETHER}" if group == nodeid else group
                self._indices[nodeid] = index

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        nodeid = self.registered_collections[node][item_index]
        units, name = self.assigned_work[node], self._units[nodeid]
        units[name][nodeid] = True
        if all(units[name].values()):
            del units[name]
        self._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]

    def _assign_work_unit(self, node: WorkerController) -> None:
        name, unit = self.workqueue.popitem(last=False)
        self.assigned_work[node][name] = unit
        node.send_runtest_some([self._indices[nodeid] for nodeid, done in unit.items() if not done])
