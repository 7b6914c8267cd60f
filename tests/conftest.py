"""Fixtures that tests everywhere may ask for."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from doors import Selection

pytest_plugins = ["servers.redis"]

# What the development extra brings is found, as in a virtual environment that is active.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

# A job in the background, or one under nohup, starts with signals that are ignored, and its
# children inherit that: tests that end a child as a person does would depend on who started them.
for number in (signal.SIGINT, getattr(signal, "SIGHUP", None), signal.SIGTERM):
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, handler)


# How long a machine takes to make examples says nothing about the code under test.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


def pytest_configure(config: pytest.Config) -> None:
    """Know what is selected before the suites are imported."""
    Selection.configure(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out tests quicker than pytest-xdist does, with groups as it does."""
    from scheduling import GroupScheduling  # pytest-xdist is not always there

    return GroupScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from what stays to the end: tests, and modules."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture
def in_memory():
    """A folder in memory, where nothing waits for a disk; one on the disk where there is none.

    The backend of the disk and SQLite flush each change, which takes most of the time of a test.
    """
    above = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    folder = Path(above, "memory")  # a backend may lock a file beside its folder
    folder.mkdir()
    yield folder
    shutil.rmtree(above, ignore_errors=True)
