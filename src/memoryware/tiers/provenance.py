"""Provenance of texts: origins, lineage, and how far a text is trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Literal, Protocol, get_args

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
