"""One browser for all tests here, and a week of memory for each of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from browser.kit import needed, visiting


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let one worker run them all, so that one browser runs at a time; they are slow."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("browser"))
            if "browser" in item.fixturenames:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def browser():
    """A Chromium that is there; without one the tests skip, or fail where it is required.

    It is gone after each file: while it is there an event loop is running, and no async test
    of another folder can be run.
    """
    path = needed()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # as root, Chromium has no sandbox to start; what it opens is ours alone
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        opened = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"] if root else [], timeout=60_000
        )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def lived(tmp_path_factory):
    """A week that was lived through once: its folder, and the ids of what came up in it."""
    from week import Week

    folder = tmp_path_factory.mktemp("week")
    once = Week(folder).whole()
    once.memory.close()
    return folder, once.ids


@pytest.fixture
def week(lived, tmp_path):
    """A memory after that week, with its files; what happens to it happens to a copy."""
    from week import Week

    folder, ids = lived
    shutil.copytree(folder, tmp_path / "week")
    copy = Week(tmp_path / "week", first=5000)
    copy.ids.update(ids)
    copy.clock.until(6, 18)
    yield copy
    copy.memory.close()


@pytest.fixture
def visitor(browser, week):
    """Ann, who looks at that week."""
    from week import SHOP

    with visiting(browser, week.memory, week.files, scope=SHOP) as one:
        yield one
