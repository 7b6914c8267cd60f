"""A StateBackend as a backend of its own: every call is a run of a small graph."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from typing import Any, NotRequired, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from memoryware import BackendProtocol, StateBackend
from memoryware.backends.protocol import DEFAULT_READ_LIMIT
from memoryware.backends.state import FilesChannel


class FileState(TypedDict):
    """The least that a state needs for StateBackend."""

    files: NotRequired[FilesChannel]
    runs: NotRequired[int]


class Thread:
    """One thread of one graph; its runs come one after the other, as in a conversation."""

    def __init__(self) -> None:
        self._one_run = threading.Lock()
        self._work: Any = None
        self._result: Any = None
        builder = StateGraph(FileState)

        def node(state: FileState) -> dict[str, int]:
            self._result = self._work()
            return {"runs": 1}

        async def anode(state: FileState) -> dict[str, int]:
            self._result = await self._work()
            return {"runs": 1}

        for name, one in (("sync", node), ("async", anode)):
            builder.add_node(name, one)
            builder.add_edge(name, END)
        builder.add_conditional_edges(START, lambda _: self._door, ["sync", "async"])
        self.graph = builder.compile(checkpointer=InMemorySaver())
        self.config: Any = {"configurable": {"thread_id": "one"}}

    def run(self, work: Any) -> Any:
        with self._one_run:
            self._work, self._door = work, "sync"
            self.graph.invoke({}, self.config)
            return self._result

    async def arun(self, work: Any) -> Any:
        async with self._alone():
            self._work, self._door = work, "async"
            await self.graph.ainvoke({}, self.config)
            return self._result

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        while not self._one_run.acquire(blocking=False):  # noqa: ASYNC110 - threads wait as well
            await asyncio.sleep(0.001)
        try:
            yield
        finally:
            self._one_run.release()


class InGraph(BackendProtocol):
    """Calls a StateBackend inside a run of its thread."""

    def __init__(self, thread: Thread) -> None:
        self.thread, self.inner = thread, StateBackend()

    def ls(self, path):
        return self.thread.run(lambda: self.inner.ls(path))

    async def als(self, path):
        return await self.thread.arun(lambda: self.inner.als(path))

    def read(self, file_path, offset=0, limit=DEFAULT_READ_LIMIT):
        return self.thread.run(lambda: self.inner.read(file_path, offset, limit))

    async def aread(self, file_path, offset=0, limit=DEFAULT_READ_LIMIT):
        return await self.thread.arun(lambda: self.inner.aread(file_path, offset, limit))

    def write(self, file_path, content):
        return self.thread.run(lambda: self.inner.write(file_path, content))

    async def awrite(self, file_path, content):
        return await self.thread.arun(lambda: self.inner.awrite(file_path, content))

    def edit(self, file_path, old_string, new_string, replace_all=False):
        wanted = (file_path, old_string, new_string, replace_all)
        return self.thread.run(lambda: self.inner.edit(*wanted))

    async def aedit(self, file_path, old_string, new_string, replace_all=False):
        wanted = (file_path, old_string, new_string, replace_all)
        return await self.thread.arun(lambda: self.inner.aedit(*wanted))

    def append(self, file_path, line):
        return self.thread.run(lambda: self.inner.append(file_path, line))

    async def aappend(self, file_path, line):
        return await self.thread.arun(lambda: self.inner.aappend(file_path, line))

    def delete(self, file_path):
        return self.thread.run(lambda: self.inner.delete(file_path))

    async def adelete(self, file_path):
        return await self.thread.arun(lambda: self.inner.adelete(file_path))

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        return self.thread.run(lambda: self.inner.grep(pattern, path, glob, max_count=max_count))

    async def agrep(self, pattern, path=None, glob=None, *, max_count=None):
        return await self.thread.arun(
            lambda: self.inner.agrep(pattern, path, glob, max_count=max_count)
        )

    def glob(self, pattern, path=None):
        return self.thread.run(lambda: self.inner.glob(pattern, path))

    async def aglob(self, pattern, path=None):
        return await self.thread.arun(lambda: self.inner.aglob(pattern, path))

    def upload_files(self, files):
        return self.thread.run(lambda: self.inner.upload_files(files))

    async def aupload_files(self, files):
        return await self.thread.arun(lambda: self.inner.aupload_files(files))

    def download_files(self, paths):
        return self.thread.run(lambda: self.inner.download_files(paths))

    async def adownload_files(self, paths):
        return await self.thread.arun(lambda: self.inner.adownload_files(paths))
