"""Leaves the async twin of a method or function out of the reference: each is listed once.

The page "Reference" says how a twin is called.
"""
# ruff: noqa: INP001 - an extension of griffe is a file, not a package

from __future__ import annotations

from typing import Any

import griffe


class Twins(griffe.Extension):
    """Removes `arecord` where there is `record`, in classes and modules."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Remove the twins of methods."""
        _remove_twins(cls)

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Remove the twins of functions."""
        _remove_twins(mod)


def _remove_twins(parent: griffe.Class | griffe.Module) -> None:
    for name in [name for name in parent.members if f"a{name}" in parent.members]:
        twin = parent.members[f"a{name}"]
        if twin.is_alias or twin.is_function:
            parent.del_member(f"a{name}")
