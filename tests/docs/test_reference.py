"""The reference lists every public name, and each once."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from importlib import import_module

import pytest

from docs.pages import ROOT
from memoryware import TieredMemory

PAGES = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
TARGETS = [name for page in PAGES for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)]
CHAPTERS = (
    *("backends", "demo", "errors", "events", "guard", "importers", "inspector", "local", "mcp"),
    *(
        "middleware",
        "nodes",
        "settings",
        "sources",
        "sources.regions",
        "stores",
        "testing",
        "tiers",
    ),
)
FOR_OUR_OWN_TEXTS = {
    *("drop_hidden", "fence_pattern", "forged", "neutralise", "printable_name", "printable_text"),
    *("quote_headings", "reveal", "rounded", "unlabelled", "unscored", "Fence"),
    *("has_tracer", "is_heard", "on_disk"),
}
"""Public for the chapters of this package; no program needs them."""


def test_every_method_of_tiered_memory_is_listed_once():
    public = {name for name in dir(TieredMemory) if not name.startswith("_")}
    properties = {name for name in public if isinstance(getattr(TieredMemory, name), property)}
    twins = {name for name in public if name.startswith("a") and name[1:] in public}
    listed = [name.split(".")[2] for name in TARGETS if name.startswith("memoryware.TieredMemory.")]
    assert sorted(listed) == sorted(public - properties - twins)


def test_no_object_is_listed_twice():
    objects = Counter(map(_object, TARGETS))
    assert [value for value, count in objects.items() if count > 1] == []


def _object(target):
    """Return the object of a name such as memoryware.TieredMemory.record."""
    module, *rest = target.split(".")
    value = import_module(module)
    for name in rest:
        value = getattr(value, name, None) or import_module(f"{value.__name__}.{name}")
    return value


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_public_class_and_function_is_in_the_reference(chapter):
    home = import_module(f"memoryware.{chapter}")
    names = getattr(home, "__all__", None) or [
        name
        for name, value in vars(home).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == home.__name__
    ]
    missing = [
        name
        for name in names
        if (inspect.isclass(getattr(home, name)) or inspect.isfunction(getattr(home, name)))
        and not (name[0] == "a" and name[1:] in names)
        and name not in FOR_OUR_OWN_TEXTS
        and not any(re.search(rf"\b{name}\b", page) for page in PAGES)
    ]
    assert missing == [], "add it to a page in docs/reference"
