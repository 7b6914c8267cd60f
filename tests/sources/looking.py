"""Looking for the files of a drawing on every kind of backend, through both doors."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend as TheirDisk
from langgraph.store.memory import InMemoryStore

from backends.in_graph import InGraph, Thread
from memoryware import CompositeBackend, FilesystemBackend, StoreBackend
from memoryware._runner import ASYNC, BLOCKING, Runner, run_blocking
from memoryware.sources.discovery import adiscover, discover, discover_nested, discover_via
from memoryware.sources.layout import DiscoveryWarnings, Layout
from memoryware.sources.source import Source
from sources.trees import as_files, plant

DISKS = ("host", "rooted")
PLACES = (*DISKS, "theirs", "store", "state", "composite")
DOORS = ("blocking", "native")


def places(*which: str) -> Any:
    """Run a test on kinds of places, through both doors of each; it gets a `look`."""
    ways = [(place, door) for place in which for door in DOORS]
    return pytest.mark.parametrize("look", ways, indirect=True, ids="-".join)


class Looking:
    """A drawing that has been put into one kind of place, and ways to look at it.

    Paths go in and come out as the drawing has them (`repo/AGENTS.md`, `~/.codex/...`).
    """

    def __init__(self, place: str, door: str, drawing: str, folder: Path) -> None:
        self.place, self.door, self.folder = place, door, folder
        self.runner: Runner = BLOCKING if door == "blocking" else ASYNC
        self.prefix = str(folder) if place == "host" else ""
        self.notices = DiscoveryWarnings()
        self.backend = self._backend(drawing)

    def _backend(self, drawing: str) -> Any:
        if self.place in ("store", "state", "composite"):
            files = as_files(drawing)
            if self.place == "state":
                backend: Any = InGraph(Thread())
            elif self.place == "store":
                backend = StoreBackend(namespace=("one",), store=InMemoryStore())
            else:  # every second folder of the top is mounted from elsewhere
                tops = sorted({path.split("/")[1] for path, _ in files if path.count("/") > 1})
                mounted = {f"/{one}/": FilesystemBackend(self.folder / one) for one in tops[::2]}
                default = StoreBackend(namespace=("two",), store=InMemoryStore())
                backend = CompositeBackend(default=default, routes=mounted)
            assert [one.error for one in backend.upload_files(files)] == [None] * len(files)
            return backend
        plant(drawing, self.folder)
        if self.place == "theirs":
            return TheirDisk(root_dir=self.folder, virtual_mode=True)
        anchor = self.folder.anchor if self.place == "host" else self.folder
        return FilesystemBackend(root_dir=anchor)

    def at(self, start: str, **options: Any) -> list[str]:
        """Return what is found for a start folder: the owner and the path of each."""
        return self.shown(self.sources(start, **options))

    def sources(self, start: str, **options: Any) -> list[Source]:
        """Return what is found for a start folder, as it comes."""
        backend = None if self.place == "host" else self.backend
        where = self._in(start)
        if self.door == "blocking":
            return discover(where, backend=backend, layout=Layout(**options))
        return asyncio.run(adiscover(where, backend=backend, layout=Layout(**options)))

    def root(self, start: str) -> str:
        """Return the root of the repository that a start folder is in."""
        found = self._run(discover_via(self.runner, self.backend, self._in(start), Layout()))
        return str(found.root).removeprefix(self.prefix).removeprefix("/")

    def layout_at(self, start: str, **options: Any) -> list[str]:
        """Return what is found with a layout, also what is only offered."""
        looked = discover_via(self.runner, self.backend, self._in(start), Layout(**options))
        return self.named(self._run(looked).sources)

    def again(self, start: str, permits: Any = None) -> list[str]:
        """Look as a middleware does, which says a thing once and has rules."""
        given = (self.runner, self.backend, self._in(start), Layout(), self.notices)
        return self.shown(self._run(discover_via(*given, permits=permits)).sources)

    def beside(
        self,
        *folders: str,
        known: list[Any] = (),
        root: str | None = None,
        loaded: dict[str, str] | None = None,
        permits: Any = None,
        **options: Any,
    ) -> list[str]:
        """Return the nested files of folders that were touched."""
        sources = [one if isinstance(one, Source) else Source(self._in(one)) for one in known]
        looked = discover_nested(
            self.runner,
            self.backend,
            [self._in(one) for one in folders],
            sources,
            Layout(**options),
            root=None if root is None else self._in(root),
            loaded={self._in(path): text for path, text in (loaded or {}).items()},
            notices=self.notices,
            permits=permits,
        )
        return self.shown(self._run(looked))

    def shown(self, sources: list[Source]) -> list[str]:
        """Return sources in the words of a test, each readable where it was found."""
        for one in sources:
            (got,) = self._run(self.via_download([one.path]))
            assert got.error is None, (one.path, got.error)
        return self.named(sources)

    def named(self, sources: list[Source]) -> list[str]:
        """Return sources in the words of a test."""
        return [
            f"{one.owner} {one.path.removeprefix(self.prefix).removeprefix('/')}" for one in sources
        ]

    def told(self, caplog: Any) -> list[str]:
        """Return the warnings, in the words of a test."""
        messages = [one.getMessage() for one in caplog.records if one.name == "memoryware"]
        return [re.sub(rf"(^| ){re.escape(self.prefix)}/", r"\1", one) for one in messages]

    async def via_download(self, paths: list[str]) -> Any:
        """Read as the loader of a middleware reads."""
        return await self.runner.call(
            self.backend.download_files, self.backend.adownload_files, paths
        )

    def _in(self, path: str) -> str:
        return path if path.startswith("~") else f"{self.prefix}/{path}".rstrip("/") or "/"

    def _run(self, operation: Any) -> Any:
        return run_blocking(operation) if self.door == "blocking" else asyncio.run(operation)
