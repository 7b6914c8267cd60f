"""What has to be known of a backend to talk to it, and how its paths look to a test."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

_ELSEWHERE = re.compile(r"~|[A-Za-z]:")
"""Beginnings of paths that mean a place of their own."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The answers of a `Suite` that are needed at each call.

    Tests speak of paths below `/`; `root` is put before them on the way in and taken off
    on the way out.
    """

    root: str = ""
    relative_to_root: bool = True
    standing: frozenset[str] = frozenset()
    deadline: float = 30

    def inward(self, path: str) -> str:
        """Return the path that the backend is asked for."""
        if path.startswith(("/", "\\")):
            return self.root + path
        if self.relative_to_root or not self.root or _ELSEWHERE.match(path):
            return path
        return f"{self.root}/{path}"

    def place(self, path: str | None) -> str | None:
        """Return the folder to search; None stays what the backend takes it for."""
        if path is not None:
            return self.inward(path)
        return self.root if self.root and not self.relative_to_root else None

    def outward(self, result: Any, asked: str) -> Any:
        """Return an answer with its path and its error as if there were no root."""
        inner = self.inward(asked)
        if inner == asked and not self.root:
            return result
        changed: dict[str, Any] = {}
        path, error = getattr(result, "path", None), result.error
        if path is not None:
            changed["path"] = asked if path == inner else self.without_root(path)
        if error is not None:
            changed["error"] = error.replace(inner, asked).replace(self.root, "")
        return replace(result, **changed)

    def outward_rows(self, result: Any, rows: str, asked: str) -> Any:
        """Return an answer with entries or matches as if there were no root."""
        if not self.root:
            return result
        found = getattr(result, rows)
        if found:
            found = [{**row, "path": self.without_root(row["path"])} for row in found]
        return replace(self.outward(result, asked), **{rows: found})

    def without_root(self, path: str) -> str:
        """Return the path of a file as a test knows it."""
        assert path.startswith(self.root), f"{path} does not lie below {self.root}"
        return path.removeprefix(self.root) or "/"
