"""Provenance of texts: origins, lineage, how far a text is trusted, and what a run declares."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Literal, Protocol, get_args

from memoryware import _langchain
from memoryware.scope import check_name
from memoryware.tiers import checking

OriginKind = Literal["person", "user", "agent", "tool", "import", "file"]
"""The kind of an origin: a person who edits memory, a user of an agent, an agent, a tool, a bundle,
or a file that the model was shown."""


class Trust(IntEnum):
    """How far a text is trusted; the lowest of all that it was made from."""

    UNTRUSTED = 0
    """From outside: the result of a tool, an imported bundle."""
    UNVERIFIED = 1
    """A model said it."""
    USER = 2
    """A user of the agent said it."""
    PERSON = 3
    """A person wrote it into memory."""


_TRUST: Final[Mapping[str, Trust]] = {
    "person": Trust.PERSON,
    "user": Trust.USER,
    "agent": Trust.UNVERIFIED,
    "tool": Trust.UNTRUSTED,
    "import": Trust.UNTRUSTED,
    "file": Trust.PERSON,
}
UNTRUSTED: Final = "untrusted:"
"""Begins the name of a file that is not trusted. A path that begins so loses trust by it, and no
path gains any."""
_FILE_NAME: Final = 900
"""Characters of a path that are kept in an origin."""


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """The origin of a text, such as `tool:web_search` or `user:ann`.

    Attributes:
        kind: The kind of its author.
        name: The name of its author; "" if unknown.
    """

    kind: OriginKind
    name: str = ""

    def __post_init__(self) -> None:
        checking.choice("the kind of an origin", self.kind, get_args(OriginKind))
        check_name("the name of an origin", self.name)

    @classmethod
    def file(cls, path: str, *, trusted: bool = True) -> Origin:
        """Return the origin of a file that a model is shown.

        Args:
            path: The file.
            trusted: Whether it says what its owner wrote. Otherwise it is from outside, and the
                name of the origin begins with "untrusted:".

        Returns:
            The origin.
        """
        # PostgreSQL stores no NUL in text. Of a long path the end distinguishes files.
        name = path.replace("\0", "").encode("utf-8", "replace").decode()[-_FILE_NAME:]
        return cls("file", name if trusted else f"{UNTRUSTED}{name}")

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Return the origin that `str(origin)` wrote.

        Args:
            text: Such as "tool:web_search".

        Returns:
            The origin.

        Raises:
            SettingError: If it does not begin with a kind and a colon.
        """
        kind, _, name = text.partition(":")
        return cls(kind, name)  # type: ignore[arg-type]  # checked by the class

    @property
    def trust(self) -> Trust:
        """How far a text of this origin alone is trusted."""
        if self.kind == "file" and self.name.startswith(UNTRUSTED):
            return Trust.UNTRUSTED
        return _TRUST[self.kind]

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a text: its author, its sources and its lineage.

    Attributes:
        origin: Who made it.
        sources: Ids of the entries and memories that it was made from.
        roots: Every origin of its whole lineage, its own included, in order.
    """

    origin: Origin
    sources: tuple[str, ...] = ()
    roots: tuple[Origin, ...] = ()

    def __post_init__(self) -> None:
        checking.instance("the origin of a provenance", self.origin, (Origin,))
        for root in self.roots:
            checking.instance("a root of a provenance", root, (Origin,))
        checking.texts("the sources of a provenance", self.sources)
        object.__setattr__(self, "sources", tuple(dict.fromkeys(self.sources)))
        # Sorted, so that equal lineages are equal whatever order they were collected in.
        object.__setattr__(self, "roots", tuple(sorted({self.origin, *self.roots})))

    @classmethod
    def derived(
        cls,
        origin: Origin,
        records: Iterable[HasProvenance] = (),
        roots: Iterable[Origin] = (),
    ) -> Provenance:
        """Return the provenance of a text that somebody made of records.

        Args:
            origin: Who made it.
            records: The records that it was made of.
            roots: Further origins of its lineage.

        Returns:
            The provenance.
        """
        sources = list(records)
        inherited = [root for source in sources for root in source.provenance.roots]
        return cls(origin, tuple(source.id for source in sources), (*inherited, *roots))

    @property
    def trust(self) -> Trust:
        """How far the text is trusted: as far as the least of its lineage."""
        roots = self.roots
        return roots[0].trust if len(roots) == 1 else min(root.trust for root in roots)


class HasProvenance(Protocol):
    """A record with a lineage: an entry or a memory."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def provenance(self) -> Provenance:
        """Its provenance."""


# Origins that a run declares.


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
