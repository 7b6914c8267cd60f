"""Load the names of a module on first use (PEP 562), so that `import memoryware` stays quick."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    module: str,
    homes: Mapping[str, Sequence[str]],
    *,
    moved: Mapping[str, str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a module whose names live in other modules.

    Args:
        module: Name of the module that offers the names.
        homes: Names to offer, by the module that defines them.
        moved: Names that the module offered once, separated by spaces, by their public home
            now; they load with a `DeprecationWarning`. `Old=New` is one that was renamed.

    Returns:
        The two functions, to be bound in the module's own namespace.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    moved_to: dict[str, tuple[str, str]] = {}
    for home, names in (moved or {}).items():
        for name in names.split():
            old, _, new = name.partition("=")
            moved_to[old] = home, new or old

    def load(name: str) -> Any:
        if name in moved_to:
            home, new = moved_to[name]
            warnings.warn(
                f"{module}.{name} is now {home}.{new}; the old import ends with 0.3",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(import_module(home), new)
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*home_of, *vars(sys.modules[module])})

    return load, list_names
