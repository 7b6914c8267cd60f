"""Which memory a command works on, and on whose behalf."""

from __future__ import annotations

import getpass
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from memoryware.cli import _options as options
from memoryware.config import MemoryConfig, load_memory_config
from memoryware.errors import ConfigError, SettingError
from memoryware.scope import MemoryScope

if TYPE_CHECKING:
    from memoryware.tiers.policy import PromotionPolicy
    from memoryware.tiers.service import TieredMemory

_SHARED: Final = {
    "store": options.Store,
    "group": options.Group,
    "tenant": options.Tenant,
    "user": options.User,
    "agent": options.Agent,
    "session": options.Session,
    "by": options.By,
    "config": options.Config,
}
"""The options of every command on tiered memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which memory is meant, on whose behalf, and who acts.

    Attributes:
        store: The address of the memory.
        embeddings: The embedding model, or None.
        said: Whose memory, as far as anybody said it.
        by: Who acts.
        config: What the configuration file says.
    """

    store: str
    embeddings: str | None
    said: MemoryScope
    by: str
    config: MemoryConfig

    @property
    def scope(self) -> MemoryScope:
        """Whose memory is meant.

        Raises:
            SettingError: If nobody said which group.
        """
        if not self.said.group_id:
            raise SettingError(
                "say whose memory is meant: --group NAME, or MEMORYWARE_GROUP, or"
                ' "scope": {"group_id": "NAME"} in memoryware.json'
            )
        return self.said

    def policy(self) -> PromotionPolicy:
        """Return what a promotion needs here.

        Raises:
            ConfigError: If the configuration file has a wrong one.
        """
        from memoryware.tiers.policy import PromotionPolicy

        try:
            return PromotionPolicy.of(self.config.policy)
        except SettingError as error:
            raise ConfigError(f"{self.config.file}: {error}") from None

    @contextmanager
    def opened(self, *, new: bool = False, embeds: bool = True) -> Iterator[TieredMemory]:
        """Open the memory, and close it afterwards.

        Args:
            new: Whether it may be made if it is not there.
            embeds: Whether the embedding model is needed, which may take a second to load.

        Raises:
            StoreUnavailable: If it is not there, or cannot be opened.
        """
        from memoryware.tiers.service import TieredMemory
        from memoryware.tiers.stores.opening import must_be_there

        policy = self.policy()
        if not new:
            must_be_there(self.store)
        with TieredMemory.open(
            self.store,
            embeddings=self.embeddings if embeds else None,
            policy=policy,
            on_mismatch="words",
        ) as memory:
            yield memory


def place_of(
    *,
    store: str | None = None,
    group: str | None = None,
    tenant: str | None = None,
    user: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    by: str | None = None,
    config: Path | None = None,
) -> Place:
    """Return which memory is meant: the options win over the file, and that over defaults."""
    loaded = load_memory_config(config)
    said = {
        "tenant": tenant,
        "group_id": group,
        "user_id": user,
        "agent_id": agent,
        "session_id": session,
    }
    scope = MemoryScope(**{**loaded.scope, **{name: one for name, one in said.items() if one}})
    return Place(
        store=store or loaded.store,
        embeddings=loaded.embeddings,
        said=scope,
        by=acting(by, loaded),
        config=loaded,
    )


def acting(by: str | None, config: MemoryConfig) -> str:
    """Return who acts: who was named, else whom the file names, else who is logged in."""
    if by or config.by:
        return by or config.by or ""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody has a name here
        return ""


def on_memory(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options; its first argument is the `Place` that they name."""
    hints = get_type_hints(command, include_extras=True)
    _, *own = inspect.signature(command).parameters.values()
    kind = inspect.Parameter
    parameters = [one.replace(annotation=hints[one.name]) for one in own]
    parameters += [
        kind(name, kind.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in _SHARED.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        shared = {name: given.pop(name) for name in _SHARED}
        command(place_of(**shared), **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # as functools does
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__  # else its own signature is looked at
    return run
