"""Where memory files are, for the commands that look at them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoryware.backends.opening import open_files
from memoryware.cli._opening import acting, configured
from memoryware.errors import SettingError
from memoryware.events import logger

if TYPE_CHECKING:
    from memoryware.backends.history import HistoryBackend
    from memoryware.middleware.memory import MemoryMiddleware
    from memoryware.sources.source import Source

Root = Annotated[
    str | None,
    typer.Option(help="Where the files are: a folder, or the address of a LangGraph store."),
]
Listed = Annotated[
    list[str] | None,
    typer.Option("--source", help="A memory file, by its path in the root; may come again."),
]
_STORE: Final = "store+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Where the files are.

    Attributes:
        root: A folder, or the address of a store.
        sources: The memory files; None looks for them.
        by: Who acts.
    """

    root: str
    sources: tuple[str, ...] | None = None
    by: str = ""

    @property
    def is_on_disk(self) -> bool:
        """Whether the files are in a folder of this machine."""
        return not self.root.startswith(_STORE)

    def opened(self) -> Any:
        """Return the backend of the root."""
        return open_files(self.root)

    def memory(self, **more: Any) -> MemoryMiddleware:
        """Return what loads the files in an agent; it goes on without what it cannot read.

        Without a list of sources it looks for them: on disk from the root upwards and in the
        home folder, in a store from its top.
        """
        from memoryware.middleware.memory import MemoryMiddleware

        if self.sources is not None:
            return MemoryMiddleware(
                backend=self.opened(), sources=self.sources, on_error="warn", **more
            )
        if self.is_on_disk:
            self.opened()  # a folder that is not there is a mistake
            return MemoryMiddleware(sources="auto", start=self.root, on_error="warn", **more)
        return MemoryMiddleware(
            backend=self.opened(), sources="auto", start="/", on_error="warn", **more
        )

    def read_on_request(self) -> list[Source]:
        """Return the memory files of other names, which are loaded on request only."""
        from memoryware.sources.discovery import ALL_NAMES, Layout, discover

        if self.sources is not None:
            return []
        layout = Layout(names=ALL_NAMES)
        if self.is_on_disk:
            return discover(self.root, layout=layout)
        return discover("/", backend=self.opened(), layout=layout)

    def looked_through(self) -> Any:
        """Return the backend that the paths of `memory` are paths of."""
        from memoryware.sources.discovery import on_disk

        if self.sources is None and self.is_on_disk:
            return on_disk(self.root)[0]
        return self.opened()

    def history(self) -> HistoryBackend:
        """Return the files with their versions."""
        from memoryware.backends._acting import Actor
        from memoryware.backends.history import HistoryBackend

        return HistoryBackend(self.opened(), actor=Actor(user=self.by or None))

    def path(self, given: str) -> str:
        """Return a path of this machine, or one in the root, as one in the root.

        Raises:
            SettingError: For a relative path that is not in the root.
        """
        if not self.is_on_disk:
            return given if given.startswith("/") else f"/{given}"
        root = os.path.realpath(self.root)
        folder, name = os.path.split(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100 - links stay
        host = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - as above
        if host.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
            return f"/{Path(host).relative_to(root).as_posix()}"
        if given.startswith("/"):
            return given
        raise SettingError(f"{given} is not in {self.root}; say where the files are with --root")


def files_of(
    root: str | None,
    sources: Sequence[str] | None = None,
    by: str | None = None,
    file: Path | None = None,
) -> Files:
    """Return where the files are: by the options of a command, then by `memoryware.json`."""
    config = configured(file)
    given = sources or (config.sources if root is None else None)
    listed = None
    if given:
        listed = tuple(one if one.startswith(("/", "~")) else f"/{one}" for one in given)
    folder = config.root or (config.file and config.file.parent)
    return Files(root=root or str(folder or "."), sources=listed, by=acting(by, config))


@contextmanager
def quietly() -> Iterator[None]:
    """Keep from the log what a command shows itself."""
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
