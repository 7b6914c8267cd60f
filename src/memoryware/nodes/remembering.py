"""`remember`: a node whose output is recorded."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, TypeVar, get_args, overload

from langchain_core.runnables import Runnable, RunnableLambda

from memoryware._twins import blocking, finish, native
from memoryware.errors import SettingError
from memoryware.nodes._content import KEYS, Content
from memoryware.nodes._recording import Recording, record
from memoryware.scope import MemoryScope
from memoryware.tiers._parts import scope_of
from memoryware.tiers.records import Role
from memoryware.tiers.roles import RoleRules
from memoryware.tiers.service import TieredMemory

N = TypeVar("N")
_MARK: Final = "__memoryware_recording__"


@overload
def remember(
    node: N,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | None = None,
    scope: MemoryScope | str | None = None,
    inside_tools: tuple[str, ...] = (),
) -> N: ...


@overload
def remember(
    node: None = None,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | None = None,
    scope: MemoryScope | str | None = None,
    inside_tools: tuple[str, ...] = (),
) -> Callable[[N], N]: ...


def remember(
    node: Any = None,
    *,
    memory: TieredMemory | None = None,
    role: Role | None = None,
    content: Content = KEYS,
    record: RoleRules | None = None,
    scope: MemoryScope | str | None = None,
    inside_tools: tuple[str, ...] = (),
) -> Any:
    """Return a node that does the same, and whose output is recorded once it has returned.

    Works as `remember(node, memory=...)`, `@remember(memory=...)` and `@remember`; on
    functions, async functions, Runnables and compiled graphs. What the node returns passes
    through untouched. A node that fails or waits for a person records nothing; one that is
    repeated is recorded once.

    Args:
        node: The node.
        memory: Where to; may be left to `with_memory`.
        role: The part that it plays; by default what `add_node(..., metadata={"memory_role":
            ...})` says, else "other", which is quarantined and nothing more.
        content: Where its text is: keys of the update in order, or a function of what it
            returned. By default the last message of a model, then "content" and its like.
        record: Other rules than those of its role.
        scope: Fills what the run does not say; a text is read as its group.
        inside_tools: Tools whose results are not from outside.

    Raises:
        SettingError: For a role that is none, or what is no node.
    """
    if role is not None and role not in get_args(Role):
        possible = ", ".join(get_args(Role))
        raise SettingError(f"role={role!r}: must be one of {possible}")
    how = Recording(
        memory=memory,
        role=role,
        content=content,
        rules=record,
        scope=scope_of(scope),
        inside_tools=frozenset(inside_tools),
    )
    if node is None:
        return functools.partial(recorded, how=how)
    return recorded(node, how=how)


def recorded(node: Any, *, how: Recording) -> Any:
    """Return a node that is recorded; one that is already stays as it is."""
    known = recording_of(node)
    if known is not None:
        return _bound(node, known.with_memory(how.memory)) if how.memory is not None else node
    if isinstance(node, Runnable):
        return _marked(_sequence(node, how), how)
    if not callable(node):
        raise SettingError(f"a node must be a function or a Runnable, not {type(node).__name__}")
    return _function(node, how)


def recording_of(node: Any) -> Recording | None:
    """Return how a node is recorded already, if it is."""
    for one in _faces(node):
        found = getattr(one, _MARK, None)
        if isinstance(found, Recording):
            return found
    return None


def _faces(node: Any) -> tuple[Any, ...]:
    """Return a node and the functions that a graph has put into a Runnable for it."""
    return (node, *(getattr(node, name, None) for name in ("func", "afunc")))


def _function(node: Callable[..., Any], how: Recording) -> Callable[..., Any]:
    acts = node if inspect.isroutine(node) or inspect.isclass(node) else type(node).__call__
    wrapped: Callable[..., Any]
    if inspect.iscoroutinefunction(node) or inspect.iscoroutinefunction(acts):

        @functools.wraps(node)
        async def later(*args: Any, **kwargs: Any) -> Any:
            result = await node(*args, **kwargs)
            await record(_now(later), native, result)
            return result

        wrapped = later
    else:

        @functools.wraps(node)
        def now(*args: Any, **kwargs: Any) -> Any:
            result = node(*args, **kwargs)
            finish(record(_now(now), blocking, result))
            return result

        wrapped = now
    return _marked(wrapped, how)  # type: ignore[no-any-return]


def _sequence(node: Runnable[Any, Any], how: Recording) -> Runnable[Any, Any]:
    """Return the node and a step behind it, so that a graph inside can still be seen."""
    held = [how]

    def keep(result: Any) -> Any:
        finish(record(held[0], blocking, result))
        return result

    async def akeep(result: Any) -> Any:
        await record(held[0], native, result)
        return result

    made = node | RunnableLambda(keep, akeep, name="remember")
    object.__setattr__(made, "__memoryware_held__", held)
    return made


def _now(wrapper: Any) -> Recording:
    how: Recording = getattr(wrapper, _MARK)
    return how


def _bound(node: Any, how: Recording) -> Any:
    """Give a memory to a node that was recorded without one."""
    for one in _faces(node):
        if isinstance(getattr(one, _MARK, None), Recording):
            held = getattr(one, "__memoryware_held__", None)
            if held is not None:
                held[0] = how
            _marked(one, how)
    return node


def _marked(node: Any, how: Recording) -> Any:
    object.__setattr__(node, _MARK, how)
    return node
