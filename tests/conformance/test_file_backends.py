"""Backends that do not ship pass the suite: of somebody else, the model of records, blocking only.

Those that ship have theirs in tests/backends/test_*_suite.py.
"""

from __future__ import annotations

import threading

import pytest

from conformance.dict_backend import DictBackend
from conformance.drawer import Drawer
from doors import everyday
from memoryware import BackendProtocol
from memoryware.backends import FileUploadResponse, HistoryBackend
from memoryware.backends.protocol import DEFAULT_READ_LIMIT
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    HistoryConformance,
)


@everyday("native")
class TestDict(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    refuses_missing_folders = True

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: DictBackend(files, lock)


@everyday("blocking")
class TestDrawer(FileBackendConformance, AppendsConformance):
    reports_created_at = True

    @pytest.fixture
    def open_backend(self):
        drawer, lock = {}, threading.RLock()
        return lambda: Drawer(drawer, lock)


@everyday("blocking")
class TestDrawerWithHistory(HistoryConformance):
    """Versions are stored and dropped while the file is locked, and without a lock."""

    reports_created_at = True

    @pytest.fixture
    def open_backend(self):
        drawer, lock = {}, threading.RLock()
        return lambda: HistoryBackend(Drawer(drawer, lock))


class BlockingOnly(BackendProtocol):
    """A backend that knows nothing of loops: its async half is that of the protocol."""

    def __init__(self, inner):
        self.inner = inner

    def ls(self, path):
        return self.inner.ls(path)

    def read(self, file_path, offset=0, limit=DEFAULT_READ_LIMIT):
        return self.inner.read(file_path, offset, limit)

    def write(self, file_path, content):
        return self.inner.write(file_path, content)

    def edit(self, file_path, old_string, new_string, replace_all=False):
        return self.inner.edit(file_path, old_string, new_string, replace_all)

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        return self.inner.grep(pattern, path, glob, max_count=max_count)

    def glob(self, pattern, path=None):
        return self.inner.glob(pattern, path)

    def upload_files(self, files):
        return [self.upload(path, data) for path, data in files]

    def upload(self, path, data):
        try:
            data.decode()
        except UnicodeDecodeError:
            return FileUploadResponse(path=path, error=f"'{path}' is not text")
        return self.inner.upload_files([(path, data)])[0]

    def download_files(self, paths):
        return self.inner.download_files(paths)


@everyday("native")
class TestBlockingOnly(FileBackendConformance):
    """It cannot delete, forgets when it is closed, and takes text only."""

    deletes = persistent = stores_binary = False

    @pytest.fixture
    def open_backend(self):
        return lambda: BlockingOnly(DictBackend({}, threading.RLock()))
