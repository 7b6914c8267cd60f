"""Path rules: allow, deny and read-only patterns, for the loader and for the file tools.

A rule is a glob pattern over whole paths from the root (`/notes/*.md`, `/team/**`,
`/team/`), or without a slash over the last part of a path (`*.env`). A denied folder is denied
with all files in it, in any case of letters, by every name that it has. An allowed path must be
spelled as in the rule. So a link is allowed by its own name, and denied by its own name or that
of its target. A path is permitted if no rule denies it and every list of allowed paths has it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final, Literal

from memoryware import _checking
from memoryware._runner import Runner
from memoryware.backends import _adapter
from memoryware.backends._paths import folded, normalise
from memoryware.backends._patterns import RulePattern, compile_rule
from memoryware.backends.protocol import BackendProtocol
from memoryware.errors import FileDenied, PathRefused

Operation = Literal["read", "write"]
# How many allowed paths a refusal names.
_NAMED: Final = 10


class PathRules:
    """Rules over paths; without any, everything is permitted.

    Args:
        allow: Only paths that match one of these patterns may be used.
        deny: Paths that match may not be used; they win over `allow`.
        read_only: Paths that match may not be written.
        only: Only these files may be used; no patterns.

    Raises:
        SettingError: If a list is a single string.
        PatternRefused: If a pattern is invalid.
    """

    def __init__(
        self,
        *,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        read_only: Sequence[str] | None = None,
        only: Sequence[str] | None = None,
    ) -> None:
        lists = {"allow": allow, "deny": deny, "read_only": read_only, "only": only}
        for option, value in lists.items():
            _checking.check_texts(option, value, value if isinstance(value, str) else "/notes/*.md")
        self.only = None if only is None else tuple(only)
        self._only_names = frozenset(self.only or ())
        self._shown = tuple(allow or ())
        self._allow = None if allow is None else [compile_rule(pattern) for pattern in allow]
        # Denied in any case of letters, because macOS and Windows open `SECRET.MD` as `secret.md`.
        self._deny = [compile_rule(folded(pattern)) for pattern in deny or ()]
        self._read_only = [compile_rule(folded(pattern)) for pattern in read_only or ()]

    def __bool__(self) -> bool:
        lists = self._deny or self._read_only
        return bool(lists) or self._allow is not None or self.only is not None

    @property
    def judge_links(self) -> bool:
        """Whether the names behind links matter for what is shown."""
        return bool(self._deny)

    async def bound(self, runner: Runner, backend: BackendProtocol) -> PathRules:
        """Return these rules with the files of `only` by the names this backend has for them."""
        if not self.only:
            return self
        names = await absolute_names(runner, backend, self.only)
        rules = copy.copy(self)
        pairs = zip(self.only, names, strict=True)
        rules._only_names = frozenset(  # noqa: SLF001 - a copy of our own kind
            own[0] if own else path for path, own in pairs
        )
        return rules

    def permits(self, operation: Operation, names: Sequence[str]) -> bool:
        """Return whether the file with these absolute names may be used.

        The first name is the one it was called by, the others are behind links.
        """
        if not names or self._matches_any(self._deny, names):
            return False
        if operation == "write" and self._matches_any(self._read_only, names):
            return False
        # The first name only: a link may be allowed whose target lies outside of the patterns.
        if self.only is not None and names[0] not in self._only_names:
            return False
        return self._allow is None or any(rule.matches(names[0]) for rule in self._allow)

    def may_hold(self, names: Sequence[str]) -> bool:
        """Return whether a folder with these names can have a file that may be read."""
        if not names or self._matches_any(self._deny, names):
            return False
        below = names[0].rstrip("/") + "/"
        if self.only is not None and not any(
            only_name.startswith(below) for only_name in self._only_names
        ):
            return False
        return self._allow is None or any(rule.may_hold(names[0]) for rule in self._allow)

    def refusal(self, operation: Operation, path: str, names: Sequence[str]) -> FileDenied:
        """Make the error for a denied path, with the paths that are allowed instead."""
        message = f"permission denied: the path rules do not allow to {operation} {path}. "
        if not names:
            message += "Give the path from the root, as in /notes.md"
        elif operation == "write" and self.permits("read", names):
            message += "It is read-only"
        elif open_here := (self._shown if self.only is None else self.only):
            more = ", ..." if len(open_here) > _NAMED else ""
            message += f"Allowed paths: {', '.join(open_here[:_NAMED])}{more}"
        else:
            message += "Use another path"
        return FileDenied(path, message)

    def _matches_any(self, rules: Sequence[RulePattern], names: Sequence[str]) -> bool:
        if not rules:
            return False
        spelled = [folded(name) for name in names]
        return any(rule.covers(name) for rule in rules for name in spelled)


async def absolute_names(
    runner: Runner, backend: BackendProtocol, paths: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the absolute names of paths, as the backend knows them or else by spelling.

    A path without a name is refused, and so is one for which the backend fails.
    """
    return await _adapter.BackendAdapter(backend).names(runner, list(paths))


def by_spelling(path: str) -> tuple[str, ...]:
    """Return the one name of a path that follows from its spelling, or none if it is refused."""
    try:
        return (normalise(path),)
    except PathRefused:
        return ()
