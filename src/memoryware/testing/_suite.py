"""What every part of a suite of backends has: the answers of a backend, and its fixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from memoryware.testing._either import Either
from memoryware.testing._guarded import Door, Guarded
from memoryware.testing._terms import Terms

OpenBackend = Callable[[], Any]


class Suite(Guarded):
    """Derive a test class from a suite, override `open_backend`, and answer what differs.

    The answers are class attributes. A test asks an answer to know which of two
    promises to hold the backend to, not whether to run.
    """

    persistent: ClassVar[bool] = True
    """Opened again, the backend has its files; if False it is empty again."""
    deletes: ClassVar[bool] = True
    """If False, `delete` answers an error (or is not implemented) and nothing is gone."""
    keeps_bytes: ClassVar[bool] = True
    """Bytes that are not text come back as they were; if False their upload is an error."""
    keeps_empty_folders: ClassVar[bool] = False
    """Folders are things of their own, as on a disk: they stay when the last file is gone."""
    refuses_missing_folders: ClassVar[bool | None] = None
    """`ls` of a folder that is not there is an error; if False it is an empty listing, as where
    folders follow from the paths of files. None allows both, as in a tree of several backends."""
    tells_created_at: ClassVar[bool] = False
    """`read` tells when a file was created; an overwrite does not change that."""
    tells_case_apart: ClassVar[bool] = True
    """`/a.md` and `/A.md` are two files; if False they are one."""
    forgives_blanks: ClassVar[bool] = True
    """`edit` finds one place that differs only in blanks, and names near lines if none does."""
    has_home: ClassVar[bool] = False
    """`~` means a folder; if False paths that begin with it are refused."""
    relative_to_root: ClassVar[bool] = True
    """Where the fixture `root` names a folder, relative paths begin there; if False at `/`."""
    standing: ClassVar[frozenset[str]] = frozenset()
    """Folders that are there without a file in them, such as mounts: `{"/mnt/"}`."""
    longest_name: ClassVar[int] = 200
    """Bytes that the name of a file may have at least."""
    many_files: ClassVar[int] = 1200
    """Files of the longest listing; fewer where each one is dear."""
    big_file: ClassVar[int] = 2_000_000
    """Characters of the biggest file that the tests write."""

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        """Return a function that opens a backend on the same, at first empty, data."""
        raise NotImplementedError(
            f"{type(self).__name__} must override the fixture `open_backend`: a function that"
            " opens a backend on the same, at first empty, data"
        )

    @pytest.fixture
    def root(self) -> str:
        """Return the folder that stands for `/`, "" where paths begin at `/` anyway."""
        return ""

    @pytest.fixture
    def terms(self, root: str) -> Terms:
        """Return what has to be known to talk to the backend."""
        return Terms(root, self.relative_to_root, self.standing, self.deadline)

    @pytest.fixture
    def backend(self, open_backend: OpenBackend, door: Door, terms: Terms) -> Either:
        """Return a backend seen through one door."""
        return Either(open_backend, door, terms)

    def says_missing_folder(self, result: Any, path: str) -> None:
        """Assert that a listing says that a folder is not there, as this backend says it."""
        error = f"Path '{path}': path_not_found"
        answers: list[tuple[Any, Any]] = []
        if self.refuses_missing_folders is not False:
            answers.append((error, None))
        if not self.refuses_missing_folders:
            answers.append((None, []))
        assert (result.error, result.entries) in answers

    def workers(self, backend: Either, count: int) -> list[Either]:
        """Return workers at one door; half of them share one opening of the data."""
        door: Door = "native" if backend.door == "native" else "blocking"
        return [
            backend.for_worker(door, share=not self.persistent or me % 2 == 0)
            for me in range(count)
        ]
