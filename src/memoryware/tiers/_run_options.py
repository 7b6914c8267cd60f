"""Options that middleware and graph nodes share: whose memory a run uses, and what is recalled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from memoryware._checking import checked_names
from memoryware.errors import SettingError
from memoryware.scope import (
    PERSONAL_AGENT,
    PERSONAL_GROUP,
    MemoryScope,
    is_personal_agent,
    read_id,
)
from memoryware.tiers import checking
from memoryware.tiers._parts import scope_of
from memoryware.tiers.messages import value_in
from memoryware.tiers.provenance import Trust
from memoryware.tiers.recall.query import RecallTier


def default_scope(scope: MemoryScope | str | None) -> MemoryScope:
    """Return the scope that fills what a run does not say; a text is read as its group.

    Raises:
        SettingError: If it is neither a scope, a text nor None.
    """
    if not isinstance(scope, MemoryScope | str | None):
        raise SettingError(f"scope={scope!r}: must be a MemoryScope, the name of a group, or None")
    return scope_of(scope)


def group_keys_of(group_keys: Sequence[str]) -> tuple[str, ...]:
    """Return the names under which the context or config of a run may carry its group.

    Raises:
        SettingError: If it is a single text, has an entry that is no name, or is empty.
    """
    names = checked_names("group_keys", group_keys)
    if not names:
        raise SettingError("group_keys=(): name at least one key, such as 'group_id'")
    return names


def check_max_results(option: str, value: Any) -> None:
    """Refuse a number of results that is not a whole number of at least 0.

    Raises:
        SettingError: Naming the option and the value.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingError(f"{option}={value!r}: must be at least 0, or None")


def check_score_threshold(value: Any) -> None:
    """Refuse a threshold that is not a cosine or None.

    Raises:
        SettingError: Naming the option and the value.
    """
    if value is not None and not (is_number(value) and -1 <= value <= 1):
        raise SettingError(f"score_threshold={value!r}: must be from -1 to 1, or None")


def check_min_trust(value: Any) -> None:
    """Refuse what is neither a `Trust` nor None.

    Raises:
        SettingError: Naming the option.
    """
    checking.instance("min_trust", value, (Trust, type(None)))


def check_recalled_tiers(tiers: Collection[Any], *, or_none: bool = False) -> None:
    """Refuse tiers to recall from other than "working" and "long_term".

    Raises:
        SettingError: Naming the option and the value, also for no tier unless `or_none`.
    """
    if not {*tiers} <= {*get_args(RecallTier)} or not (tiers or or_none):
        raise SettingError(f"tiers={tiers!r}: must be 'working', 'long_term' or both")


def is_number(value: Any) -> bool:
    """Return whether a value is an int or a float; True and False are neither."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def scope_of_run(
    runtime: Any,
    config: Any,
    *,
    default: MemoryScope,
    group_keys: Sequence[str],
    state: Any = None,
    state_group: str | None = None,
) -> MemoryScope:
    """Return on whose behalf a run acts.

    Args:
        runtime: The runtime of the run.
        config: Its config.
        default: Fills what neither of them says.
        group_keys: Names under which they may carry the group.
        state: The state of the graph.
        state_group: The key of the state that may name the group where they do not; None for
            none.

    Raises:
        SettingError: For the personal memory of another user, or a reserved agent id.
    """
    scope = MemoryScope.of(runtime, config, group_keys=group_keys)
    if not scope.group_id and state_group:
        group = read_id(state_group, value_in(state, state_group), "the state")
        scope = replace(scope, group_id=group)
    missing = {
        part.name: getattr(default, part.name)
        for part in fields(MemoryScope)
        if not getattr(scope, part.name)
    }
    scope = replace(scope, **missing)
    if scope.group_id == PERSONAL_GROUP:  # that of the user of the run, if it has one
        scope = replace(
            scope, group_id=f"{PERSONAL_GROUP}{scope.user_id}" if scope.user_id else None
        )
    _refuse_others_memory(scope)
    return scope


def _refuse_others_memory(scope: MemoryScope) -> None:
    """Refuse a run that names the memory of one person as its group or agent.

    A client may write the context of a run, and so any name of a group.
    """
    own = f"{PERSONAL_GROUP}{scope.user_id or ''}"
    if scope.is_personal and scope.group_id != own:
        raise SettingError(
            f"group_id: a group that begins with {PERSONAL_GROUP!r} is the memory of one person,"
            " and the user of this run is another one, or has no id; leave the group out and pass"
            " scope=MemoryScope.personal(), or name the group differently"
        )
    if is_personal_agent(scope.agent_id):
        raise SettingError(
            f"agent_id: names that begin with {PERSONAL_AGENT!r} are reserved for what is shown to"
            " one user alone; name the agent differently"
        )
