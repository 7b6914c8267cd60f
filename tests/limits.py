"""Limits with other constants than the package has, to reach them with little data."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

L = TypeVar("L")


def limited(limits: type[L], **values: Any) -> L:
    """Make limits of which constants have other values as well as settings.

    Args:
        limits: A class of `memoryware.settings`.
        **values: Settings, which are checked, and constants, which a subclass overrides.

    Returns:
        The limits, of a subclass of `limits`.
    """
    settings = {field.name for field in fields(limits)}  # type: ignore[arg-type]
    constants = {name: value for name, value in values.items() if name not in settings}
    unknown = constants.keys() - limits.__annotations__.keys()
    assert not unknown, f"{limits.__name__} has no {', '.join(sorted(unknown))}"
    small = type(f"Small{limits.__name__}", (limits,), constants)
    return small(**{name: value for name, value in values.items() if name in settings})
