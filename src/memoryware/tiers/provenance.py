"""Provenance of texts: origins, lineage, how far a text is trusted, and who said it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args

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


# Who said a text.


SPEAKER: Final = "speaker"
"""Metadata key of the speaker of a text, if that is not its origin."""
NAME_CHARS: Final = 100
"""Characters of a name that are compared with a query, and under which a text is found."""
BEGINNING: Final = 42
"""Characters of a text that decide whether it begins with a `LABEL`."""
LABEL: Final = re.compile(r"([^\W\d_][^\n:\uff1a]{0,39})(?::\s|\uff1a)")
"""A label: a name before a colon, as chats are often stored: "Ann: I am back".

It may be a topic as well ("Staging: the server is db2"). That is harmless where the label only
decides whether two neighbours in a thread are of one speaker.
"""
NAME_LABEL: Final = re.compile(
    r"\s*([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30})?)(?::\s|\uff1a)"
)
"""A label of one or two words, as `text.contradictions` compares those of two texts.

There a topic that is taken for a speaker would hide a contradiction, so that more is asked of it.
"""
_SPEAKER_KINDS: Final = {"person": "person", "user": "person", "agent": "agent"}
"""Kinds of origins that speak of themselves; a tool, a file or a bundle has texts of anybody."""
_PLACES: Final = frozenset({"import", "file"})
"""Kinds of origins that say where a text was found, and not who said it."""


class _Attributed(Protocol):
    """A text with the signs of who said it: an entry, a memory or a recalled item."""

    @property
    def content(self) -> str: ...

    @property
    def metadata(self) -> Mapping[str, Any]: ...

    @property
    def provenance(self) -> Provenance: ...


class Speaker(NamedTuple):
    """Who "I" is in a text.

    Attributes:
        kind: "person" or "agent"; "" if only the name is known, or nothing.
        name: The name in lower case; "" if unknown.
    """

    kind: str = ""
    name: str = ""

    def is_other(self, speaker: Speaker) -> bool:
        """Return whether another speaker is known to be somebody else.

        Args:
            speaker: The other.

        Returns:
            Whether that is known.
        """
        if self.name and speaker.name and self.name != speaker.name:
            return True
        return bool(self.kind and speaker.kind) and self.kind != speaker.kind


UNKNOWN_SPEAKER: Final = Speaker()


class Attribution(NamedTuple):
    """The signs of who said a text, and the views of its speaker that are computed from them.

    A record has up to three signs: the speaker in its metadata, a label at the beginning of its
    text, and its origin. The first one decides. The views differ in the signs that they accept:

    - `stated`, the name with which the text is indexed and embedded: metadata.
    - `name`, which a query may mention: metadata, or the origin if it is a person or an agent.
    - `speaker`, who "I" is where texts may contradict each other: the same.
    - `key`, whether two neighbours in a thread are of one speaker: all three, but no origin that
      is a file or a bundle.

    Metadata and labels are claims of the text. Trust, corroboration, promotion policies and
    personal facts ask who answers for a text instead, which is `Provenance.roots`.

    Attributes:
        stated: What `stated_speaker` returns of the metadata.
        beginning: The text, or at least its first `BEGINNING` characters.
        origin: The origin of the text; None if it cannot be read.
    """

    stated: str
    beginning: str
    origin: Origin | None

    @property
    def name(self) -> str:
        """The name of the speaker, which a query may mention; "" if nobody is known.

        The words of a label are words of the text, which are compared with the query anyway.
        """
        name = self.stated
        if not name and self.origin is not None and self.origin.kind in _SPEAKER_KINDS:
            name = self.origin.name
        return name[:NAME_CHARS]

    @property
    def key(self) -> str | None:
        """A key that is equal for the texts of one speaker; None if nobody is known.

        Stores keep digests of it, so that names are compared as they are written.
        """
        if self.stated:
            return self.stated
        if label := LABEL.match(self.beginning):
            return label[1]
        return None if self.origin is None or self.origin.kind in _PLACES else str(self.origin)

    @property
    def speaker(self) -> Speaker:
        """Who "I" is in the text; `UNKNOWN_SPEAKER` for a tool, a file or a bundle.

        Labels are compared by pairs of texts, see `NAME_LABEL`.
        """
        if self.stated:
            return Speaker(name=self.stated.casefold())
        if self.origin is None or self.origin.kind not in _SPEAKER_KINDS:
            return UNKNOWN_SPEAKER
        return Speaker(_SPEAKER_KINDS[self.origin.kind], self.origin.name.strip().casefold())


def stated_speaker(metadata: Mapping[str, Any]) -> str:
    """Return the name of the speaker that metadata state.

    Args:
        metadata: The metadata of a text.

    Returns:
        `speaker` of the metadata; "" for none, for a value that is no text, and for a blank one.
    """
    name = metadata.get(SPEAKER) if metadata else None
    return name.strip() if isinstance(name, str) else ""


def attribution_of(record: _Attributed) -> Attribution:
    """Return the attribution of a text.

    Args:
        record: The entry, memory or recalled item.

    Returns:
        The attribution.
    """
    return Attribution(stated_speaker(record.metadata), record.content, record.provenance.origin)


def speaker_names(records: Sequence[_Attributed]) -> list[str]:
    """Return the name of who said each of many records: `Attribution.name`.

    Args:
        records: The records.

    Returns:
        A name for each, in the same order.
    """
    by_origin: dict[int, str] = {}  # most records share a few origins, and state no speaker
    names: list[str] = []
    for record in records:
        origin, is_stated = id(record.provenance.origin), SPEAKER in record.metadata
        name = None if is_stated else by_origin.get(origin)
        if name is None:
            name = attribution_of(record).name
            if not is_stated:
                by_origin[origin] = name
        names.append(name)
    return names


def common_speaker(records: Iterable[_Attributed], provenance: Provenance) -> Speaker:
    """Return who "I" is in a text that is made of records.

    Args:
        records: The records; none for a text of its own.
        provenance: The provenance of the text.

    Returns:
        The speaker; `UNKNOWN_SPEAKER` if there are several.
    """
    speakers = {attribution_of(record).speaker for record in records}
    speakers = speakers or {Attribution("", "", provenance.origin).speaker}
    return speakers.pop() if len(speakers) == 1 else UNKNOWN_SPEAKER
