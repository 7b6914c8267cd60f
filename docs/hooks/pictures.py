"""Makes the pictures of the inspector: every page, light and dark, from the week of the guide.

    .venv/bin/python docs/hooks/pictures.py

The week is lived through day by day (`examples/inspector/week.py`), and each page is taken on
the evening on which the guide opens it. It needs a Chromium of the system; see Contributing.
"""
# ruff: noqa: INP001, T201 - a script, which says what it made

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "inspector")]

FOLDER: Final = ROOT / "docs" / "img" / "inspector"
MOST_BYTES: Final = 150_000
WIDTH: Final = 1000
TALLEST: Final = 1100
PHONE: Final = {"width": 360, "height": 720}
THEMES: Final = ("light", "dark")
_ROOT: Final = ["--no-sandbox"]
"""As root, Chromium has no sandbox to start."""


@dataclass(frozen=True)
class Picture:
    """One page on one evening.

    Attributes:
        name: The beginning of the name of its files.
        day: How many days of the week have been lived through, 1 on Monday evening.
        path: The page; the names of records of the week stand in braces.
        phone: Whether it is taken on a phone.
    """

    name: str
    day: int
    path: str
    phone: bool = False


PICTURES: Final = (
    Picture("review", 1, "/review"),
    Picture("review-phone", 1, "/review", phone=True),
    Picture("memories", 3, "/memories"),
    Picture("superseded", 4, "/memories/one?id={returns-memory}"),
    Picture("search", 5, "/memories?q=goods+back:+how+many+days"),
    Picture("session", 5, "/sessions/one?id=friday-invoices"),
    Picture("memory", 5, "/memories/one?id={plan}"),
    Picture("revoke", 5, "/memories/revoke?id={poison-memory}"),
    Picture("origin", 5, "/origins?of=tool:web_search"),
    Picture("file", 6, "/files/show?file=/AGENTS.md"),
    Picture("compare", 6, "/files/compare?file=/AGENTS.md&a=2&b=3"),
    Picture("files", 7, "/files"),
    Picture("sessions", 7, "/sessions"),
    Picture("audit", 7, "/audit"),
    Picture("overview", 7, "/"),
    Picture("overview-phone", 7, "/", phone=True),
    Picture("conflict", 8, "/review?conflict=memory"),
)
"""Every page of the inspector, in the order of the guide."""


def main() -> None:
    """Make all pictures anew."""
    from playwright.sync_api import sync_playwright
    from week import Week

    from browser.kit import chromium

    path = chromium()
    if path is None:
        raise SystemExit("There is no Chromium here; apt-get install chromium")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        week = Week(Path(folder))
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        args = ["--hide-scrollbars", "--font-render-hinting=none", *_ROOT * root]
        browser = playwright.chromium.launch(executable_path=path, args=args)
        for number, live in enumerate(_days(week), start=1):
            live()
            due = [one for one in PICTURES if one.day == number]
            if due:
                _evening(browser, week, due)
        browser.close()
        week.memory.close()


def _days(week: Any) -> list[Callable[[], None]]:
    return [
        week.monday,
        week.tuesday,
        week.wednesday,
        week.thursday,
        week.friday,
        week.saturday,
        week.sunday,
        lambda: _next_monday(week),
    ]


def _next_monday(week: Any) -> None:
    """Let the agent say something that contradicts long-term memory, as the guide shows it."""
    week.clock.until(7, 9)
    text = "Customers may send goods back within 60 days; the shop pays for the parcel."
    week.said("returns-later", text, "monday-mail", user="bob")


def _evening(browser: Any, week: Any, due: list[Picture]) -> None:
    """Take the pictures of one evening."""
    from week import SHOP

    from browser.kit import visiting

    with visiting(browser, week.memory, week.files, scope=SHOP) as ann:
        for one in due:
            for theme in THEMES:
                _take(ann, one, one.path.format(**week.ids), theme)
        if any(one.name == "file" for one in due):
            _undo(ann, week)


def _undo(visitor: Any, week: Any) -> None:
    """Bring back the line that should not have gone, as the guide tells it."""
    week.clock.forward(10)
    page = visitor.go("/files/show?file=/AGENTS.md")
    page.get_by_label("Why (optional)").fill("releases are asked for")
    page.get_by_role("button", name="Undo the last change").click()
    visitor.status()


def _take(visitor: Any, picture: Picture, path: str, theme: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size(PHONE if picture.phone else {"width": WIDTH, "height": 400})
    visitor.go(path)
    if not picture.phone:
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": WIDTH, "height": min(height, TALLEST)})
    file = FOLDER / f"{picture.name}-{theme}.png"
    page.screenshot(path=file, animations="disabled")
    size = file.stat().st_size
    print(f"{file.relative_to(ROOT)}: {size:,} bytes")
    if size >= MOST_BYTES:
        raise SystemExit(f"{file.name} has {size:,} bytes, {MOST_BYTES:,} are allowed")


if __name__ == "__main__":
    main()
