"""StateBackend passes the one suite, with a run of a graph around each call."""

from __future__ import annotations

import pytest

from backends.in_graph import InGraph, Thread
from doors import everyday
from memoryware.testing import AppendsConformance, FileBackendConformance


@everyday("native")
class TestState(FileBackendConformance, AppendsConformance):
    reports_created_at = True
    refuses_missing_folders = False

    @pytest.fixture
    def open_backend(self):
        thread = Thread()
        return lambda: InGraph(thread)
