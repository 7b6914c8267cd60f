"""Namespaces of a store: valid and encoded, and chosen by hand where no graph is running.

The namespace of a store is often made from the runtime of a run. A script that looks at the
history of one user has no run; it says whose files it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any, Final

from memoryware.errors import NamespaceError, SettingError
from memoryware.scope import MemoryScope

# Parts of a namespace that every store takes as they are.
_LEGAL: Final = re.compile(r"[A-Za-z0-9\-_@+:~]+")


@dataclass(frozen=True, slots=True)
class NamespaceOverride:
    """A namespace, or the scope from which one is made."""

    namespace: tuple[str, ...] | None = None
    scope: MemoryScope | None = None

    def as_runtime(self, store: Any) -> Any:
        """Return a stand-in for the runtime of a run, with the parts of the scope."""
        scope = self.scope or MemoryScope()
        parts = {field.name: getattr(scope, field.name) for field in fields(scope)}
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


_ADDRESS: Final[ContextVar[NamespaceOverride | None]] = ContextVar(
    "memoryware_address", default=None
)


@contextmanager
def override_namespace(scope: Any = None, namespace: Any = None) -> Iterator[None]:
    """Let store backends inside the block use this namespace; without either nothing changes.

    Args:
        scope: On whose behalf; the namespace function is called with it.
        namespace: The namespace itself, as a sequence of texts.

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
    address = NamespaceOverride(None if namespace is None else tuple(namespace), scope)
    reset = _ADDRESS.set(address)
    try:
        yield
    finally:
        _ADDRESS.reset(reset)


def current_override() -> NamespaceOverride | None:
    """Return the override of the running block, None without one."""
    return _ADDRESS.get()


def refuse_template(namespace: tuple[str, ...]) -> None:
    """Refuse `("memory", "{user_id}")`, which would be one namespace for everybody."""
    # Braces are percent-encoded by then.
    if any("%7B" in part and "%7D" in part for part in namespace):
        raise NamespaceError(
            "A namespace is not a template: the part in braces would be the same for every user."
            ' Pass a function: namespace=lambda runtime: ("memory", runtime.context.user_id)'
        )


def encoded(namespace: Any) -> tuple[str, ...]:
    """Percent-encode a namespace for every store; different ones stay different.

    Raises:
        NamespaceError: If it is empty, or a part is empty, not text, or has a `*`.
    """
    if isinstance(namespace, str) or not isinstance(namespace, Sequence) or not namespace:
        raise NamespaceError(
            f"A namespace is a tuple of texts such as ('memory', user_id), not {namespace!r}"
        )
    for part in namespace:
        if not isinstance(part, str) or not part:
            raise NamespaceError(
                f"The namespace {tuple(namespace)!r} has the part {part!r}; every part must be"
                " text that is not empty (for a number: str(id)), or users without an id"
                " would share one"
            )
        # Several stores take it as a wildcard in a prefix, which would list all tenants.
        if "*" in part:
            raise NamespaceError(
                f"The namespace {tuple(namespace)!r} has the part {part!r}: '*' stands for any"
                " namespace where a store lists or searches; write the very name"
            )
    first, *rest = namespace
    # LangGraph keeps this root to itself.
    first = "%6Canggraph" if first == "langgraph" else _encoded_part(first)
    return (first, *map(_encoded_part, rest))


def _encoded_part(part: str) -> str:
    if _LEGAL.fullmatch(part):
        return part
    data = part.encode("utf-8", "surrogatepass")
    return "".join(chr(b) if _LEGAL.fullmatch(chr(b)) else f"%{b:02X}" for b in data)
