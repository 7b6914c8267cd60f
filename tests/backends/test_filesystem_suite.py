"""The disk keeps every promise of the protocol, in each of the ways it can work."""

from __future__ import annotations

from functools import cached_property

import pytest

from doors import everyday
from memoryware.backends import _disk_search
from memoryware.backends._disk import Disk
from memoryware.backends.filesystem import FilesystemBackend
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)
from memoryware.testing._file_search import GlobConformance, GrepConformance


class _OnDisk(
    FileBackendConformance, AppendsConformance, FingerprintsConformance, NamesConformance
):
    stores_empty_folders = True
    refuses_missing_folders = True
    max_name_bytes = 255
    listing_size = 300


@everyday("native")
class TestVirtualRoot(_OnDisk):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: FilesystemBackend(tmp_path / "root")


@everyday("blocking")
class TestHostPaths(_OnDisk):
    expands_home = True

    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: FilesystemBackend(in_memory, virtual_mode=False)

    @pytest.fixture
    def root(self, in_memory):
        return str(in_memory)


class ByName(FilesystemBackend):
    """What a system gets that cannot open relative to a folder, and locks a second file."""

    @cached_property
    def _disk(self):
        return Disk(str(self.cwd), self._limits, supports_dir_fd=False)


@everyday()
class TestFoldersByName(_OnDisk):
    @pytest.fixture
    def open_backend(self, in_memory):
        return lambda: ByName(in_memory)


@everyday("native")
class TestRipgrep(GrepConformance, GlobConformance):
    """In these small trees ripgrep would never be asked, if it were not at once."""

    @pytest.fixture
    def open_backend(self, in_memory, monkeypatch):
        monkeypatch.setattr(_disk_search, "RIPGREP_AFTER", -1)
        return lambda: FilesystemBackend(in_memory)
