"""Whose files an operation means, said by hand where no graph is running.

The namespace of a store is often made from the runtime of a run. A script that looks at the
history of one user has no run; it says whose files it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any, Final

from memoryware.errors import SettingError
from memoryware.scope import MemoryScope


@dataclass(frozen=True, slots=True)
class Address:
    """A namespace, or the scope from which one is made."""

    namespace: tuple[str, ...] | None = None
    scope: MemoryScope | None = None

    def as_runtime(self, store: Any) -> Any:
        """Return what a namespace function can read of a run, with the parts of the scope."""
        scope = self.scope or MemoryScope()
        parts = {one.name: getattr(scope, one.name) for one in fields(scope)}
        configurable = {name: value for name, value in parts.items() if value is not None}
        if scope.session_id is not None:
            configurable["thread_id"] = scope.session_id
        user = SimpleNamespace(identity=scope.user_id)
        return SimpleNamespace(
            context=SimpleNamespace(**parts),
            config={"configurable": configurable, "metadata": {}},
            store=store,
            state={},
            server_info=SimpleNamespace(user=user if scope.user_id else None),
        )


_ADDRESS: Final[ContextVar[Address | None]] = ContextVar("memoryware_address", default=None)


@contextmanager
def addressed(scope: Any = None, namespace: Any = None) -> Iterator[None]:
    """Let store backends inside the block work on these files; without either nothing changes.

    Args:
        scope: On whose behalf; the namespace function is asked with it.
        namespace: The very namespace, as a sequence of texts.

    Raises:
        SettingError: If both are given, or one is of another kind.
    """
    if scope is None and namespace is None:
        yield
        return
    if scope is not None and namespace is not None:
        raise SettingError("scope= and namespace=: give one of them")
    if scope is not None and not isinstance(scope, MemoryScope):
        raise SettingError(f"scope={scope!r}: must be a MemoryScope(...)")
    if namespace is not None and (
        isinstance(namespace, str) or not isinstance(namespace, Sequence)
    ):
        raise SettingError(f"namespace={namespace!r}: must be a tuple such as ('memory', 'ann')")
    address = Address(None if namespace is None else tuple(namespace), scope)
    reset = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(reset)


def current_address() -> Address | None:
    """Return what was said by hand, None for nothing."""
    return _ADDRESS.get()
