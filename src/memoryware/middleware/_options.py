"""Options of the middlewares: validation, defaults, and `TieredOptions`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from langchain_core.messages import AnyMessage
from langchain_core.messages.utils import count_tokens_approximately

from memoryware import _checking
from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.middleware._agent_state import slug
from memoryware.middleware._memory_prompt import SLOT
from memoryware.middleware._memory_tools import EDIT_MEMORY
from memoryware.scope import MemoryScope
from memoryware.settings import MemoryLimits
from memoryware.sources.discovery import on_disk
from memoryware.sources.imports import Imports
from memoryware.sources.layout import Layout
from memoryware.tiers._run_options import scope_of_run
from memoryware.tiers.actors import identity_of
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import ROLES, Attachments, attachment_origins, role_in
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Origin, Trust
from memoryware.tiers.recall.query import RecallTier
from memoryware.tiers.values import Layer

if TYPE_CHECKING:
    from memoryware.tiers.extraction.manager import MemoryManager

DEFAULT_GUARD: Final = Guard()


def check_choices(**options: tuple[object, Sequence[object]]) -> None:
    """Refuse an option whose value is not one of its choices.

    Args:
        options: By name, the value and what it may be.

    Raises:
        SettingError: Naming the option, the value and the choices.
    """
    for option, (value, choices) in options.items():
        if not any(_is_choice(value, choice) for choice in choices):
            listed = ", ".join(map(repr, choices))
            raise SettingError(f"{option}={value!r}: must be one of {listed}")


def _is_choice(value: object, choice: object) -> bool:
    """Return whether a value is a choice; 0 is not False, although Python has them equal."""
    return value is choice or (
        isinstance(choice, str) and isinstance(value, str) and value == choice
    )


def check_middleware_name(name: object) -> None:
    """Refuse the name of a middleware that is neither None nor a text with something in it.

    Raises:
        SettingError: Naming the option.
    """
    if name is not None and not (isinstance(name, str) and name):
        raise SettingError(f"name={name!r}: must be a text that is not empty, or None")


def approximate_tokens(text: str) -> int:
    """Return langchain's approximate token count of a text."""
    return count_tokens_approximately([text])


# File memory.


def check_template(template: object) -> None:
    """Refuse a template that has no slot for the memory.

    Raises:
        TypeError: If it is neither text nor None.
        SettingError: If the slot is missing.
    """
    if template is None:
        return
    if not isinstance(template, str):
        raise TypeError(f"system_prompt must be text or None, not {type(template).__name__}")
    if SLOT not in template:
        raise SettingError(
            f"system_prompt must contain {SLOT}, the slot that memory is put into;"
            " pass None to load memory without showing it"
        )


def check_guidelines(guidelines: object) -> None:
    """Refuse guidelines that are neither a style nor a text.

    Raises:
        SettingError: Also for a single word, which is a misspelled style.
    """
    if guidelines is None or guidelines in ("balanced", "immediate"):
        return
    if not isinstance(guidelines, str) or len(guidelines.split()) == 1:
        raise SettingError(
            f"guidelines={guidelines!r}: must be 'balanced', 'immediate', a text of your own,"
            " or None"
        )


def edit_tool_name(name: str | None) -> str:
    """Return the name of the writing tool of a middleware with this name."""
    return EDIT_MEMORY if name is None else f"{EDIT_MEMORY}_{slug(name)}"


def limits_with_total(limits: Any, max_tokens: Any) -> MemoryLimits:
    """Return the limits with this total, which one source alone may fill.

    Limits that were passed as well keep their own share of one source, as far as it fits.

    Raises:
        SettingError: If it is not a whole number of at least 1, or `limits` is no `MemoryLimits`.
    """
    if limits is not None and not isinstance(limits, MemoryLimits):
        raise SettingError(f"limits={limits!r}: must be a MemoryLimits(...)")
    if max_tokens is None:
        return limits or MemoryLimits()
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1:
        raise SettingError(f"max_tokens={max_tokens!r}: must be a whole number of at least 1")
    if limits is None:
        return MemoryLimits(total_tokens=max_tokens, source_tokens=max_tokens)
    share = min(limits.source_tokens, max_tokens)
    return replace(limits, total_tokens=max_tokens, source_tokens=share)


def discovery_start(backend: Any, start: Any) -> tuple[Any, str]:
    """Return where `sources="auto"` searches: the backend (or the disk), and the folder in it.

    Raises:
        SettingError: If the start cannot be a folder.
    """
    if not isinstance(start, str | os.PathLike):
        raise SettingError(f"start={start!r}: must be the path of a folder")
    return on_disk(start) if backend is None else (backend, os.fspath(start))


def layout_or_default(layout: Any) -> Layout:
    """Return the layout, by default the usual one.

    Raises:
        SettingError: If it is neither a `Layout` nor None.
    """
    _checking.check_instance("layout", layout, Layout)
    return layout or Layout()


def imports_or_none(imports: Any) -> Imports | None:
    """Return how imports are expanded, None for not at all.

    Raises:
        SettingError: If it is neither a bool nor an `Imports`.
    """
    if isinstance(imports, Imports) or imports is False:
        return imports or None
    if imports is not True:
        raise SettingError(f"imports={imports!r}: must be True, False or Imports(...)")
    return Imports()


Retrieve = Literal["run", "call"]
"""When memory is asked: once in each run, or before each model call."""
Record = Literal["final", "each_model_call"]
"""What is recorded: the answer with which a run ends, or every answer."""
Author = Callable[[AnyMessage], str | None]
"""Returns the id of the person who wrote a message, as far as a service knows; None for nobody."""
BlockPlacement = Literal["message", "system"]
"""Where the block goes: before the newest message of a person, or into the system message."""


def author_option(record_user: Any, record: Record | None) -> bool | Author:
    """Return whose messages are recorded; by default those of the user, if answers are.

    Raises:
        SettingError: If it is neither a bool, a function nor None.
    """
    if record_user is None:
        return record is not None
    if isinstance(record_user, bool):
        return record_user
    if not callable(record_user):
        raise SettingError(
            f"record_user={record_user!r}: must be True, False, or a function that returns the id"
            " of the person who wrote a message"
        )
    author: Author = record_user
    return author


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredOptions:
    """The options of `TieredMemoryMiddleware`, which documents them."""

    memory: TieredMemory
    name: str
    retrieve: Retrieve | None
    record: Record | None
    record_user: bool | Author
    placement: BlockPlacement
    role: Role
    record_tools: bool
    record_structured: bool
    inside: frozenset[str]
    attachments: Attachments
    own: frozenset[str]
    score_threshold: float | None
    max_results: int | None
    min_trust: Trust | None
    scope: MemoryScope
    group_keys: tuple[str, ...]
    manager: MemoryManager | None = None

    def role_in(self, config: Any) -> Role:
        """Return the role in a run: that of the graph node, if it has one, else the option."""
        role = self.role if self.role != "agent" else role_in(config, self.role)
        return "agent" if role == "user" else role  # what a model says is never the user's word

    def author_of(self, message: Any, scope: MemoryScope) -> str | None:
        """Return the id of the person who wrote a message; None if the run's user did not.

        A message with another name was written by another agent or another person, and anybody
        may write any name: without a function that knows, it is nobody's word.
        """
        if not isinstance(self.record_user, bool):
            return self.record_user(message)
        user, name = scope.user_id or "", getattr(message, "name", None)
        is_other = bool(name) and identity_of(str(name)) != identity_of(user)
        return user if self.record_user and not is_other else None

    @property
    def records(self) -> bool:
        """Whether anything of a run is recorded at its end."""
        return self.record is not None or bool(self.record_user)

    def tiers_of(self, role: Role) -> tuple[Layer, ...]:
        """Return which tiers an answer of this role is recorded in; none for some roles."""
        return ROLES[role].record

    def recalled_tiers_of(self, role: Role) -> tuple[RecallTier, ...]:
        """Return which tiers are recalled for this role; none for some roles."""
        return ROLES[role].recall

    def injects(self, role: Role) -> bool:
        """Return whether memory is added to the requests of this role."""
        return self.retrieve is not None and ROLES[role].inject

    def attachment_origins(self, messages: Sequence[Any]) -> list[Origin]:
        """Return the origins of what people have attached to messages."""
        return attachment_origins(messages, self.attachments)

    def max_results_of(self, role: Role) -> int | None:
        """Return how many items are recalled at most."""
        few = role == "fact_check" and self.max_results is None
        return self.memory.limits.fact_memories if few else self.max_results

    def scope_in(self, runtime: Any, config: Any) -> MemoryScope:
        """Return on whose behalf a run acts, filled by the option where the run does not say."""
        scope = scope_of_run(runtime, config, default=self.scope, group_keys=self.group_keys)
        if scope.node_id and scope.node_id.startswith(f"{self.name}."):
            # a hook is a node of its own, and records what the node of the model has made
            return replace(scope, node_id=self.scope.node_id or "model")
        return scope


def manager_option(
    extract: Any, memory: TieredMemory, *, records_user: bool
) -> MemoryManager | None:
    """Return the memory manager of the option `extract`.

    Args:
        extract: True for rules, a chat model or its name, a manager; False or None for none.
        memory: The memory.
        records_user: Whether what the person says is recorded.

    Returns:
        The manager; None if nothing is extracted.

    Raises:
        SettingError: If nothing could be extracted, or the manager is of another memory.
    """
    if extract is None or extract is False:
        return None
    # The patterns of three languages take a moment to load, which nobody else waits for.
    from memoryware.tiers.extraction.manager import MemoryManager

    if not records_user:
        raise SettingError(
            "extract: reads what the person says, which is not recorded; pass record_user=True"
        )
    if not isinstance(extract, MemoryManager):
        return MemoryManager(memory, None if extract is True else extract)
    if extract.memory is not memory:
        raise SettingError("extract: the manager has another memory; make it with this one")
    return extract


def check_memory(memory: Any) -> TieredMemory:
    """Return the memory.

    Raises:
        SettingError: If it is not a `TieredMemory`.
    """
    if isinstance(memory, TieredMemory):
        return memory
    kind = type(memory).__name__
    raise SettingError(
        f'memory must be a TieredMemory, such as TieredMemory.open("sqlite:///memory.db"),'
        f" not {kind}"
    )
