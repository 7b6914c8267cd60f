"""`Layout`: options of discovery (file names, owners, root markers) and their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final

from memoryware import _checking
from memoryware.backends._paths import folded, is_normal
from memoryware.errors import SettingError
from memoryware.events import logger
from memoryware.settings import DiscoveryLimits
from memoryware.sources.source import OWNERS, Owner, Source, Writable

DEFAULT_NAMES: Final = ("AGENTS.override.md", "AGENTS.md")
"""The file names that are looked for in a folder; the first that has text is taken."""
ALL_NAMES: Final = (
    *DEFAULT_NAMES,
    "AGENT.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".claude/rules/*.md",
    ".cursor/rules/*.mdc",
)
"""Every name that is known here, in the order in which one of a folder is taken; of the patterns
at the end all files are."""
USER_FILES: Final = (
    "~/.deepagents/AGENTS.md",
    "~/.config/opencode/AGENTS.md",
    "~/.copilot/copilot-instructions.md",
    "~/.gemini/GEMINI.md",
    "~/.qwen/QWEN.md",
    "~/.claude/CLAUDE.md",
    "~/.codex/AGENTS.override.md",
    "~/.codex/AGENTS.md",
    "~/.agents/AGENTS.md",
)
"""Memory files of the user for all projects; those with a name in `names` are read."""
ROOT_MARKERS: Final = (".git", ".hg", ".jj")
"""What the root folder of a repository has in it, as a folder or as a file."""
DEFAULT_OWNERS: Final[Mapping[str, Owner | None]] = MappingProxyType({"CLAUDE.local.md": "user"})
"""Whose notes a file of a repository holds, by its name; those of others are the project's."""
_KNOWN_AT_MOST: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where memory files are searched for, who owns them, and who may write them.

    Attributes:
        names: File names to search for in a folder; the first that has text is taken. A name may
            have folders, as `.github/copilot-instructions.md` does. Of a pattern such as
            `.claude/rules/*.md` all files join, after the one that is taken.
        user: Whether to search for files of the user as well.
        user_files: Where those are, farthest first: `~/...`, or a path from the root of the
            backend. One file per folder is taken, if its name is in `names`.
        root_markers: Names of files or folders that mark the root of a repository.
        writable: Whether an agent may change these files: one answer for all, or one by
            owner, "ask" for owners that are not named.
        owners: The owner of a file by its name as in `names`, or as in `user_files`.
            Others are the user's where `user_files` names them, else the project's.
        offer: Name of a file for a project without any: it is among the sources,
            in the root of the repository, although it does not exist, so that a first note
            can be saved.
        outside_links: Whether a memory file of a repository may be a link out of it. With such
            a link a cloned repository could put any file of this machine into the prompt.
        limits: How far and how much to search.

    Raises:
        SettingError: For an option of the wrong kind.
    """

    names: Sequence[str] = DEFAULT_NAMES
    user: bool = True
    user_files: Sequence[str] = USER_FILES
    root_markers: Sequence[str] = ROOT_MARKERS
    writable: Writable | Mapping[Owner, Writable] = "ask"
    owners: Mapping[str, Owner | None] = field(default_factory=lambda: DEFAULT_OWNERS, hash=False)
    offer: str | None = None
    outside_links: bool = False
    limits: DiscoveryLimits = field(default_factory=DiscoveryLimits)

    def __post_init__(self) -> None:
        _checking.check_flags(user=self.user, outside_links=self.outside_links)
        _checking.check_text("offer", self.offer, or_none=True)
        for option in ("names", "user_files", "root_markers"):
            texts = _checking.checked_texts(option, getattr(self, option), "AGENTS.md")
            object.__setattr__(self, option, tuple(dict.fromkeys(texts)))
        if not self.names:
            raise SettingError("names=(): name at least one file, such as 'AGENTS.md'")
        for name in self.names:
            _must_be_relative("names", name)
            if "*" in name.rpartition("/")[0]:
                raise SettingError(
                    f"names holds {name!r}: a '*' stands in the last part only, as in"
                    " '.claude/rules/*.md'"
                )
        for name in self.root_markers:
            _must_be_relative("root_markers", name)
            if "/" in name:
                raise SettingError(
                    f"root_markers holds {name!r}: a marker is a name such as '.git'"
                )
        for path in self.user_files:
            _must_be_whole(path)
        if self.offer is not None:
            _must_be_relative("offer", self.offer)
        _check_owners(self.owners)
        object.__setattr__(self, "owners", dict(self.owners))
        if isinstance(self.writable, Mapping):
            _check_owners(dict(zip(self.writable, self.writable, strict=True)), "writable")
            object.__setattr__(self, "writable", dict(self.writable))
        for owner in OWNERS:
            Source("/AGENTS.md", writable=self.writable_by(owner))  # it knows what is right
        if not isinstance(self.limits, DiscoveryLimits):
            raise SettingError(f"limits={self.limits!r}: give DiscoveryLimits(...)")

    @property
    def single_names(self) -> list[str]:
        """The names of which one is taken in each folder."""
        return [name for name in self.names if "*" not in name]

    @property
    def patterns(self) -> list[str]:
        """The names of which all files join."""
        return [name for name in self.names if "*" in name]

    def owner_of(self, name: str) -> Owner | None:
        """Return the owner of a file of a repository by its name.

        Args:
            name: The name as in `names`, such as `AGENTS.md`.

        Returns:
            The owner; "project" for a name that `owners` does not have.
        """
        if name in self.owners:
            return self.owners[name]
        # In the order of the dict, as a person wrote it: the first pattern wins.
        fitting = [
            pattern for pattern in self.owners if "*" in pattern and fnmatchcase(name, pattern)
        ]
        return self.owners[fitting[0]] if fitting else "project"

    def name_of(self, path: str) -> str:
        """Return the name of `names` that a path ends with, in any case of letters.

        Args:
            path: A normal path.

        Returns:
            The longest such name; "" if the path is no memory file.
        """
        spelled = folded(path)
        ends = [name for name in self.single_names if spelled.endswith(folded(f"/{name}"))]
        for pattern in self.patterns:
            tail = path.split("/")[-pattern.count("/") - 1 :]
            if fnmatchcase(folded("/".join(tail)), folded(pattern)):
                ends.append("/".join(tail))
        return max(ends, key=len, default="")

    def writable_by(self, owner: Owner | None) -> Writable:
        """Return whether an agent may change a file of this owner.

        Args:
            owner: The owner; None for nobody in particular.

        Returns:
            As `writable` says, "ask" where it says nothing.
        """
        if not isinstance(self.writable, Mapping):
            return self.writable
        return self.writable.get(owner, "ask") if owner else "ask"


class DiscoveryWarnings:
    """Log each warning once, however often discovery runs."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, ...]] = set()

    def first(self, *facts: str) -> bool:
        """Remember facts, and say whether they are new.

        Args:
            facts: What identifies the warning.

        Returns:
            Whether they were not remembered before.
        """
        if facts in self._logged:
            return False
        # A server that runs for months must not remember the folders of every user.
        if len(self._logged) >= _KNOWN_AT_MOST:
            self._logged.clear()
        self._logged.add(facts)
        return True

    def warn(self, sentence: str, *facts: str) -> None:
        """Log a warning, unless it was logged before.

        Args:
            sentence: The message, with `%s` for each fact.
            facts: What it is about.
        """
        if self.first(sentence, *facts):
            logger.warning(sentence, *facts)


def _check_owners(value: Any, option: str = "owners") -> None:
    if not isinstance(value, Mapping):
        raise SettingError(f"{option}={value!r}: give a dict from names to owners")
    for name, owner in value.items():
        if owner not in OWNERS and not (owner is None and option == "owners"):
            either = "None or " if option == "owners" else ""
            raise SettingError(
                f"{option}[{name!r}]={owner!r}: must be {either}one of {', '.join(OWNERS)}"
            )


def _must_be_relative(option: str, name: str) -> None:
    if not name or not is_normal("/" + name):
        raise SettingError(
            f"{option} holds {name!r}: a name is looked for in each folder, so it has no"
            " '..', no '~' and no slash in front, as in 'AGENTS.md'"
        )


def _must_be_whole(path: str) -> None:
    if not is_normal(path[1:] if path.startswith("~/") else path) or path in ("/", "~/"):
        raise SettingError(
            f"user_files holds {path!r}: begin with '~/' or '/', as in '~/.codex/AGENTS.md'"
        )
