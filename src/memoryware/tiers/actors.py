"""Actors behind `by=`: people and machines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from memoryware._caching import clearable_cache
from memoryware.errors import SettingError
from memoryware.scope import check_name
from memoryware.tiers import checking
from memoryware.tiers.model import folded
from memoryware.tiers.provenance import Origin, OriginKind, Trust

_PEOPLE: Final[Mapping[str, OriginKind]] = {"person": "person", "user": "user"}
"""The only prefixes of people. They are compared exactly: a look-alike is another prefix."""
_MACHINES: Final[Mapping[str, OriginKind]] = {
    "agent": "agent",
    "subagent": "agent",
    "ai": "agent",
    "assistant": "agent",
    "bot": "agent",
    "chatbot": "agent",
    "copilot": "agent",
    "cron": "agent",
    "daemon": "agent",
    "function": "tool",
    "gpt": "agent",
    "import": "import",
    "llm": "agent",
    "mcp": "tool",
    "model": "agent",
    "robot": "agent",
    "service": "agent",
    "system": "agent",
    "tool": "tool",
    "workflow": "agent",
}
"""Words for machines, and the kind of origin that each is."""
_SPACED: Final = frozenset({"agent", "assistant", "llm", "mcp", "subagent"})
"""Words that make a machine also before a blank. "Ai" and "Bot" are names of people there."""
_ENDS: Final = frozenset({"agent", "assistant", "bot", "llm", "subagent"})
"""Words that make a machine at the end of a name, as in "helper-agent" and "renovate[bot]"."""
_COLONS: Final = str.maketrans(
    dict.fromkeys(
        "\u02d0\u02f8\u0589\u05c3\u0703\u0704\u0903\u0a83\u16ec\u1803\u1809\u205a\u2236\u2982"
        "\ua4fd\ua789\ufe13\ufe30\ufe55\uff1a",
        ":",
    )
    | dict.fromkeys("\u1735\u2044\u2215\u29f8\u2571\u27cb\uff0f", "/")
)
"""What looks like a colon or a slash."""
_PREFIX: Final = re.compile(r"([^:/]*)[:/](.*)", re.DOTALL)
_JOINED: Final = re.compile(r"([^\W_]+?)\d*(?:[\W_]+)([^\s].*)?", re.DOTALL)
_LAST: Final = re.compile(r"(.*[^\W_])([\W_]+)([^\W_]+?)\d*", re.DOTALL)
_NUMBER: Final = re.compile(r"[\W_]+\d+$")
_NOBODY: Final = frozenset({"", "0", "none", "null", "unknown"})
_BOTS: Final = frozenset(
    {"chatgpt", "gemini", "github-copilot", "dependabot", "github-actions", "jenkins"}
)
"""Well-known machines; "Claude" is also the name of people."""
_EDGE: Final = re.compile(r"^[\W_]+|[\W_]+$")
# Attack: "\u0430gent-helper" with a Cyrillic letter reads as an agent and would count as a person,
# and "\u0430nn" as a second person beside "ann" where two people must agree.
_LOOK_ALIKE: Final = str.maketrans(
    {
        other: letter
        for letter, others in {
            "a": "\u0430\u03b1\u0251\u1d00",
            "b": "\u042c\u044c\u13cf\u0299",
            "c": "\u0441\u03f2\u1d04",
            "d": "\u0501\u13e7\u1d05",
            "e": "\u0435\u212e\u1d07",
            "f": "\u03dd\u0192",
            "g": "\u0261\u018d\u0581\u0262",
            "h": "\u04bb\u0570\u029c",
            "i": "\u0456\u03b9\u0131\u0269\u04cf\u1d09",
            "j": "\u0458\u03f3",
            "k": "\u043a\u03ba\u1d0b",
            "l": "\u04c0\u01c0\u217c\u029f",
            "m": "\u043c\u1d0d\u217f",
            "n": "\u0578\u057c\u0274\u043f",
            "o": "\u043e\u03bf\u0585\u1d0f",
            "p": "\u0440\u03c1\u1d18",
            "r": "\u0433\u1d26\u0280",
            "s": "\u0455\ua731\u0282",
            "t": "\u0442\u03c4\u1d1b",
            "u": "\u03c5\u057d\u1d1c",
            "v": "\u03bd\u0475\u1d20",
            "w": "\u0461\u051d\u1d21",
            "x": "\u0445\u03c7",
            "y": "\u0443\u03b3\u04af",
        }.items()
        for other in others
    }
)
"""Letters (folded, lower case) that a reader takes for a Latin one."""


@dataclass(frozen=True, slots=True)
class DecisionActor:
    """An actor on memory: a person or a machine.

    Attributes:
        name: As it was passed.
        origin: The origin of a text that this actor writes.
        is_person: Whether this is a human being.
    """

    name: str
    origin: Origin
    is_person: bool

    @classmethod
    def of(cls, by: str) -> DecisionActor:
        """Return the actor that `by` names.

        A bare name ("ann", "ann@example.com") is a person, and so is what follows `person:` or
        `user:`. Every other prefix before a colon or a slash is a machine, known or not, and so
        is a name that begins or ends with a word for one: "agent-helper", "bot_7", "renovate[bot]".

        Args:
            by: The name, at most as long as any name of memory.

        Returns:
            The actor; `is_person` says which of both it is.

        Raises:
            SettingError: If it is blank, not a text, or too long.
        """
        return _actor_named(by if type(by) is str else _text_of(by))

    def is_same(self, by: str) -> bool:
        """Return whether a name may mean this actor as well, however it is written.

        Somebody without a name may be anybody of the same kind: a policy that asks for two people
        must not take "user:" and "user:ann" for two.

        Args:
            by: A name, as a record or a caller has it.

        Returns:
            Whether both may be one actor.

        Raises:
            SettingError: If the name cannot be an actor; see `DecisionActor.of`.
        """
        other = DecisionActor.of(by)
        return self.is_person == other.is_person and self.may_be_named(other.origin.name)

    def may_be_named(self, name: str) -> bool:
        """Return whether a name of the same kind of actor may mean this one.

        Args:
            name: The name without its prefix; "" may be anyone.

        Returns:
            Whether the names are the same, apart from spelling, or one of them is blank.
        """
        own, other = identity_of(self.origin.name), identity_of(name)
        return not own or not other or own == other


def _text_of(by: Any) -> str:
    """Return "" for nothing.

    Raises:
        SettingError: For anything else that is no text.
    """
    checking.text("by", by or "")
    return by or ""


@clearable_cache(1024)  # the same few people and machines act again and again
def _actor_named(by: str) -> DecisionActor:
    if not folded(by):
        raise SettingError("by: say who does it, such as by='ann' or by='agent:helper'")
    name = by.encode("utf-8", "replace").decode().strip()
    check_name("by", name)
    # Frontends send "null" or "unknown" for a missing user; that must not become a person.
    if identity_of(name) in _NOBODY and not _PREFIX.fullmatch(name.translate(_COLONS)):
        raise SettingError(f"by={name!r}: names nobody; pass a name, such as by='ann'")
    origin = _origin_of(name)
    return DecisionActor(name, origin, origin.trust >= Trust.USER)


@clearable_cache(1024)  # asked of every promotion that a recall or a subject compares
def authority_of(by: str) -> Trust:
    """Return the trust of what an actor decides, as a record names the actor.

    Args:
        by: The name as it was noted.

    Returns:
        `Trust.USER` or more for a person; `Trust.UNTRUSTED` for a machine, and for a name that
        `DecisionActor.of` refuses, which only another program can have written.
    """
    try:
        actor = DecisionActor.of(by)
    except SettingError:
        return Trust.UNTRUSTED
    return actor.origin.trust if actor.is_person else Trust.UNTRUSTED


def is_person(by: str) -> bool:
    """Return whether a record names a person; False for a name that `DecisionActor.of` refuses.

    Args:
        by: The name as it was noted.

    Returns:
        Whether the record names a human being.
    """
    return authority_of(by) > Trust.UNTRUSTED


def identity_of(name: str) -> str:
    """Return the normal form of a name, by which two spellings of it are equal.

    Prefixes of people and punctuation around the name do not count.

    Args:
        name: The name, with or without a prefix such as "user:".

    Returns:
        The normal form. It is for comparing only: look-alike letters are replaced.
    """
    plain = _bare(_skeleton(name.translate(_COLONS)))
    while True:
        prefix, colon, rest = plain.partition(":")
        if not colon or prefix.strip() not in _PEOPLE:
            return plain
        plain = _bare(rest)


def _bare(name: str) -> str:
    first, last = 0, len(name)
    while first < last and unicodedata.category(name[first])[0] in "PZ":
        first += 1
    while last > first and unicodedata.category(name[last - 1])[0] in "PZ":
        last -= 1
    return name[first:last]


def _origin_of(name: str) -> Origin:
    plain = unicodedata.normalize("NFKC", name.translate(_COLONS))
    split = _PREFIX.fullmatch(plain)
    if split is not None:
        prefix, rest = folded(split[1]), split[2].strip()
        if prefix in _PEOPLE:
            return Origin(_PEOPLE[prefix], rest)
        machine = _machine(prefix)
        return Origin(machine, rest) if machine else Origin("agent", plain)
    visible = _EDGE.sub("", folded(plain))
    if _skeleton(visible) in _BOTS:
        return Origin("agent", visible)
    if machine := _machine(visible):
        return Origin(machine)
    first = _JOINED.fullmatch(visible)
    if first is not None and (machine := _machine(first[1])):
        # Only "agent helper", not "Ai Tanaka" or "Bot Jansen".
        spaced = visible[len(first[1]) :][:1].isspace()
        if not spaced or _skeleton(first[1]) in _SPACED:
            return Origin(machine, (first[2] or "").strip())
    last = _LAST.fullmatch(_NUMBER.sub("", visible))
    if last is not None and _skeleton(last[3]) in (_SPACED if last[2].isspace() else _ENDS):
        return Origin("agent", last[1].strip())
    return Origin("person", name)


def _machine(word: str) -> OriginKind | None:
    """Return the kind of machine that a word names, also with digits behind it ("agent7")."""
    plain = _skeleton(word)
    return _MACHINES.get(plain) or _MACHINES.get(_skeleton(word.rstrip("0123456789")))


def _skeleton(name: str) -> str:
    """Return a name with look-alike letters replaced, for comparing only."""
    return folded(name).translate(_LOOK_ALIKE)
