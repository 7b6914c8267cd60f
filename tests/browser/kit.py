"""A browser, an inspector that runs in this process, and what a visitor does with both."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from memoryware.inspector import inspector

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "inspector"))

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRED = "MEMORYWARE_BROWSER"
"""Set to "required" where a missing browser is a failure, as in CI."""
TIMEOUT = 25_000
PHONE = {"width": 320, "height": 640}
DESK = {"width": 1200, "height": 900}
WIDTHS = (320, 390, 820, 1280)
"""Of a small phone, a phone, a tablet and a desk."""


def chromium() -> str | None:
    """The Chromium of this machine; none is downloaded."""
    given = os.environ.get("MEMORYWARE_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


def needed() -> str:
    """The Chromium of this machine; without one a test skips, or fails where it is required."""
    path = chromium()
    if path is None:
        said = f"no Chromium here (looked for {', '.join(NAMES)}); apt-get install chromium"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(said)
        pytest.skip(said)
    return path


@contextmanager
def running(app: Any):
    """Serve an app on a free port of this machine; yields its address, without a slash."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:  # as `serve` does
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "the inspector did not start"
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


class Visitor:
    """Somebody with a browser: pages, and what these asked for."""

    def __init__(self, browser: Any, address: str, token: str, **how: Any) -> None:
        self.address, self._token = address, token
        self.requests: list[Any] = []
        self.dialogs: list[str] = []
        self.broken: list[str] = []
        how.setdefault("viewport", DESK)
        how.setdefault("reduced_motion", "reduce")  # nothing has to come to rest first
        self.context = browser.new_context(**how)
        self.context.set_default_timeout(TIMEOUT)
        self.context.on("request", lambda one: self.requests.append(one))
        self.page = self.tab()
        self.page.goto(f"{address}/?token={token}")

    def tab(self) -> Any:
        """Open another tab."""
        page = self.context.new_page()
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.broken.append(str(error)))
        page.on("console", self._console)
        return page

    def go(self, path: str) -> Any:
        """Open a page of the inspector."""
        self.page.goto(self.address + path)
        return self.page

    def status(self) -> str:
        """What the page says was done."""
        return self.page.get_by_role("status").inner_text()

    def foreign(self) -> list[str]:
        """Requests that went elsewhere; what the policy of the page has stopped has not."""
        elsewhere = [one for one in self.requests if not one.url.startswith(self.address + "/")]
        return [one.url for one in elsewhere if one.failure != "csp"]

    def close(self) -> None:
        self.context.close()

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _console(self, said: Any) -> None:
        refused = "Failed to load resource" in said.text  # an answer with a status such as 409
        if said.type == "error" and not refused:
            self.broken.append(said.text)


@contextmanager
def visiting(browser: Any, memory: Any, files: Any = None, how: Any = None, **options: Any):
    """A visitor of an inspector of this memory; in the end nothing of it went elsewhere."""
    options = {"scope": "shop", "by": "ann", **options}
    app = inspector(memory, files=files, **options)
    with running(app) as address:
        visitor = Visitor(browser, address, app.state.site.keys.token, **(how or {}))
        visitor.app = app
        try:
            yield visitor
            assert visitor.foreign() == []
            assert visitor.dialogs == []
            assert visitor.broken == []
        finally:
            visitor.close()
