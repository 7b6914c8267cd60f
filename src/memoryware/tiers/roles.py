"""What a node records and recalls, by the part that it plays in a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from memoryware.tiers import checking
from memoryware.tiers.messages import attachments_in
from memoryware.tiers.records import Origin, Role
from memoryware.tiers.values import Layer

Attachments = Literal["outside", "user"]
"""How images, files and documents of a message are trusted: as from outside, or as its writer."""
ROLE_KEY: Final = "memory_role"
"""Key in the metadata of a graph node: the part that it plays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """What holds for one role.

    Attributes:
        record: The tiers that its output goes to; working memory only through the filters.
        recall: The tiers that it is shown: "hot" is working memory, "cold" long-term memory.
        inject: Whether what it recalls is put before its model.
    """

    record: tuple[Layer, ...] = ("quarantine",)
    recall: tuple[Literal["hot", "cold"], ...] = ()
    inject: bool = False


ROLES: Final[Mapping[Role, RoleRules]] = {
    "agent": RoleRules(record=("quarantine", "working"), recall=("hot", "cold"), inject=True),
    "fact_check": RoleRules(recall=("cold",), inject=True),
    "memory_retrieval": RoleRules(record=(), recall=("hot", "cold")),
    "tool": RoleRules(),
    "other": RoleRules(),
}
"""The rules of each role: agents are recorded and shown both tiers, checks of facts stay in
quarantine and see what was promoted, retrieval is never recorded, all others are quarantined."""


JUDGING: Final[frozenset[Role]] = frozenset({"fact_check"})
"""Roles that only judge what others said. Their outputs are kept in quarantine as a record, and
are never candidates for long-term memory: not in a digest, and not to be proposed or promoted."""


def role_in(config: Any, default: Role) -> Role:
    """Return the role that the metadata of a graph node says, else the given one."""
    metadata = (config or {}).get("metadata") or {}
    said = metadata.get(ROLE_KEY)
    roles: tuple[Role, ...] = get_args(Role)
    return next((one for one in roles if one == said), default)


def attachment_origins(messages: Sequence[Any], attachments: Attachments) -> list[Origin]:
    """Return the origins of what people have attached to their messages."""
    if attachments == "user":
        return []
    kinds = sorted(attachments_in(messages))
    return [Origin.file(f"attachment:{kind}", trusted=False) for kind in kinds]


def check_attachments(attachments: Any) -> None:
    """Refuse what is no choice.

    Raises:
        SettingError: Naming the choices.
    """
    checking.choice("attachments", attachments, get_args(Attachments))
