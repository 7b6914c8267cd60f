"""Options that a page names in passing are options of the code."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

from docs.pages import ROOT, pages

CHAPTERS = [
    "memoryware",
    *(
        f"memoryware.{name}"
        for name in (
            "backends",
            "sources",
            "middleware",
            "nodes",
            "tiers",
            "tiers.filters",
            "stores",
            "settings",
            "events",
            "guard",
            "local",
        )
    ),
]
_CALL = re.compile(r"\b([A-Za-z_]+(?:\.open)?)\(([^()`]*(?:\([^()`]*\)[^()`]*)*)\)")
_OPTION = re.compile(r"(?:^|, *)(\w+)=")


def _callable(name: str) -> object | None:
    """Return what a page calls by this name, if a chapter has it."""
    top, _, rest = name.partition(".")
    for chapter in CHAPTERS:
        module = importlib.import_module(chapter)
        if top in getattr(module, "__all__", ()):
            value = getattr(module, top)
            return getattr(value, rest) if rest else value
    return None


def _outside_parentheses(text: str) -> str:
    """Return arguments without those of the calls among them."""
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", text)) != text:
        text = shorter
    return text


def _unknown_options(text: str) -> list[str]:
    """Return the calls of a text that have an option which the code does not have."""
    unknown = []
    for name, arguments in _CALL.findall(text):
        unknown += _unknown_options(arguments)
        called = _callable(name)
        if called is None or not callable(called):
            continue
        options = inspect.signature(called).parameters
        if any(option.kind is inspect.Parameter.VAR_KEYWORD for option in options.values()):
            continue
        unknown += [
            f"{name}({option}=)"
            for option in _OPTION.findall(_outside_parentheses(arguments))
            if option not in options
        ]
    return unknown


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_options_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    inline = [code for code in re.findall(r"`([^`\n]+)`", text) if "(" in code]
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert [wrong for code in (*inline, *blocks) for wrong in _unknown_options(code)] == []


def test_an_option_that_does_not_exist_is_found():
    assert _unknown_options("Ranking(kept=0.2)") == ["Ranking(kept=)"]
    assert _unknown_options("TieredMemory.open(url, limits=TierLimits(hot=1))") == [
        "TierLimits(hot=)"
    ]
    assert _unknown_options('Source("/a.md", owner="team", writable=False)') == []
