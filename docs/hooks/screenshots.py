"""Makes the pictures of the inspector that the guides show, from a week that is lived anew.

    .venv/bin/python docs/hooks/screenshots.py

It needs a Chromium on this machine (`apt-get install chromium`), and downloads nothing.
"""
# ruff: noqa: INP001, T201 - a script beside the hooks of mkdocs

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
INTO: Final = ROOT / "docs" / "img" / "inspector"
MOST_BYTES: Final = 150_000
PAGES: Final = {
    "overview": "/",
    "review": "/review",
    "memories": "/memories",
    "search": "/memories?q=goods+back+days",
    "memory": "/memories/one?id={poison-memory}",
    "supersede": "/memories/one?id={returns-memory}",
    "revoke": "/memories/revoke?id={port-memory}",
    "files": "/files",
    "file": "/files/show?file=/AGENTS.md",
    "compare": "/files/compare?file=/AGENTS.md&a=1&b=now",
    "sessions": "/sessions",
    "session": "/sessions/one?id=friday-invoices",
    "audit": "/audit",
}
"""Every page, and one state of it that is worth a look."""
SIZE: Final = {"width": 1100, "height": 760}
PHONE: Final = {"width": 390, "height": 760}


def main() -> None:
    """Make every picture, in light and dark, and two as a phone shows them."""
    sys.path[:0] = [str(ROOT / "examples" / "inspector"), str(ROOT / "tests")]
    from playwright.sync_api import sync_playwright
    from week import SHOP, Week

    from browser.kit import chromium, running
    from memoryware.inspector import inspector

    path = chromium()
    if path is None:
        sys.exit("There is no Chromium here: apt-get install chromium")
    INTO.mkdir(parents=True, exist_ok=True)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        week = Week(Path(folder)).whole()
        app = inspector(week.memory, scope=SHOP, by="ann", files=week.files)
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        with running(app) as address:
            context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
            page = context.new_page()
            page.goto(f"{address}/?token={app.state.site.keys.token}")
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                for name, where in PAGES.items():
                    page.goto(address + where.format(**week.ids))
                    _shoot(page, f"{name}-{theme}.png")
            page.set_viewport_size(PHONE)
            for name in ("review", "audit"):
                page.goto(address + PAGES[name])
                _shoot(page, f"{name}-phone.png")
        browser.close()
        week.memory.close()


def _shoot(page: Any, name: str) -> None:
    picture = page.screenshot()
    if len(picture) > MOST_BYTES:
        sys.exit(f"{name} has {len(picture):,} bytes, more than {MOST_BYTES:,}")
    (INTO / name).write_bytes(picture)
    print(f"{name}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
