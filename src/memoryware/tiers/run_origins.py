"""Origins that a run declares: those of text that its model sees beside memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware import _langchain
from memoryware.tiers import checking
from memoryware.tiers.provenance import Origin

_RUNS: Final = 1000
"""Runs whose declarations are kept, the newest."""
_Graph = tuple[str, ...]
"""The path of a graph inside a run: the nodes around it; () is the outermost one."""


@dataclass(slots=True)
class _RunDeclarations:
    """The origins that a run has declared, with the graphs in which each was declared.

    Attributes:
        handle: What all steps of the run share. It is kept, so that no later object gets its id.
        origins: The graphs in which an origin was declared.
    """

    handle: Any
    origins: dict[Origin, set[_Graph]] = field(default_factory=dict)


_declared: Final[OrderedDict[int, _RunDeclarations]] = OrderedDict()
_lock: Final = threading.Lock()


def declare_origins(*origins: Origin | str) -> None:
    """Declare the origins of text that the model of this run sees.

    Call it in a hook of a middleware, a function that makes a prompt, a tool or a node, whenever
    you put text of others into a prompt. From then on the origins are part of the lineage of
    what `TieredMemoryMiddleware`, `remember` and `with_memory` record in this graph, in graphs
    inside of it and in graphs around it, so that its trust is theirs at most. The order of
    middleware does not matter. Outside of a run nothing happens.

    Args:
        origins: Origins, or their texts such as `"tool:wiki"`. `Origin.file(path, trusted=False)`
            is a file.

    Raises:
        SettingError: For a value that is not an origin.

    Example:
        >>> @dynamic_prompt
        ... def with_documents(request):
        ...     documents = wiki.search(request.messages[-1].text)
        ...     declare_origins("tool:wiki")
        ...     return documents[0].text
    """
    parsed = [
        origin if isinstance(origin, Origin) else Origin.parse(_text(origin)) for origin in origins
    ]
    declare_in_run(_langchain.run_handle(_langchain.current_runtime()), parsed)


def declare_in_run(handle: Any, origins: Sequence[Origin]) -> None:
    """Declare origins in this graph of a run; see `declare_origins`.

    Args:
        handle: What all steps of the run share; with None nothing happens.
        origins: The origins.
    """
    if handle is None or not origins:
        return
    graph = _graph()
    with _lock:
        declared = _declared.setdefault(id(handle), _RunDeclarations(handle))
        _declared.move_to_end(id(handle))
        for origin in origins:
            declared.origins.setdefault(origin, set()).add(graph)
        while len(_declared) > _RUNS:
            _declared.popitem(last=False)


def has_declared(handle: Any) -> bool:
    """Return whether this process knows declared origins of a run.

    Args:
        handle: What all steps of the run share; see `run_handle`.

    Returns:
        Whether `declare_origins` was called in the run, as long as it is among the newest 1,000.
    """
    declared = _declared.get(id(handle)) if handle is not None else None
    return declared is not None and declared.handle is handle


def declared_origins(*, inside: bool = True) -> tuple[Origin, ...]:
    """Return the origins that were declared so far in this run, in this graph or around it.

    Args:
        inside: Whether graphs inside of this one count as well.

    Returns:
        The origins; none outside of a run.
    """
    handle = _langchain.run_handle(_langchain.current_runtime())
    graph = _graph()
    with _lock:
        declared = _declared.get(id(handle)) if handle is not None else None
        if declared is None:
            return ()
        return tuple(
            origin
            for origin, graphs in declared.origins.items()
            if any(_is_in_line(other, graph, inside=inside) for other in graphs)
        )


def _text(origin: object) -> str:
    checking.instance("an origin", origin, (str, Origin))
    return str(origin)


def _graph() -> _Graph:
    path, _ = _langchain.step_of(_langchain.current_config())
    return tuple(path.split("|")[:-1])


def _is_in_line(declared: _Graph, graph: _Graph, *, inside: bool) -> bool:
    """Return whether one graph is the other or encloses it; siblings do not see each other."""
    if graph[: len(declared)] == declared:
        return True
    return inside and declared[: len(graph)] == graph
