"""The suite over every faulty backend; not part of a normal run (see test_the_suite_bites)."""

from __future__ import annotations

import threading

import pytest

from conformance.dict_backend import DictBackend
from conformance.more_faults import FAULTS
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
)


class _Over(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    deadline = 5
    refuses_missing_folders = True
    listing_size, big_file_chars = 1001, 100_000
    kind: type[DictBackend]

    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: self.kind(files, lock)


for one in [DictBackend, *FAULTS]:
    name = f"Test{one.__name__}"
    globals()[name] = type(name, (_Over,), {"kind": one, "__module__": __name__})
del one
