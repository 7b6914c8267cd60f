"""Which memory a command works on: its options, the environment, `memoryware.json`, defaults."""

from __future__ import annotations

import getpass
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from memoryware.config import CommandConfig, find_command_config, load_command_config
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.model import PromotionPolicy, Trust
from memoryware.tiers.stores.opening import FILE, file_of

if TYPE_CHECKING:
    from memoryware.tiers.client.memory import TieredMemory

DEFAULT_STORE: Final = "sqlite:///memory.db"
"""The store that is used if nothing names one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a command was told; None where nothing was said.

    Attributes:
        store: The address of the store.
        group: The group, "" for what has none.
        tenant: The tenant.
        user: The person.
        agent: The persona.
        session: The conversation.
        by: Who acts.
        embeddings: The model, or "none".
        config: The configuration file.
        json: Whether one JSON document is printed.
    """

    store: str | None = None
    group: str | None = None
    tenant: str | None = None
    user: str | None = None
    agent: str | None = None
    session: str | None = None
    by: str | None = None
    embeddings: str | None = None
    config: Path | None = None
    json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which memory a command works on, and who works on it.

    Attributes:
        url: The address of the store.
        scope: Whose memory.
        by: Who acts.
        embeddings: The model, or None: words alone find.
        policy: What a promotion needs.
        json: Whether one JSON document is printed.
        config: What the configuration file says.
        has_group: Whether something said whose memory it is.
        asked: What the command was told.
    """

    url: str
    scope: MemoryScope
    by: str
    embeddings: str | None
    policy: PromotionPolicy
    json: bool
    config: CommandConfig
    has_group: bool
    asked: Options

    @property
    def file(self) -> Path | None:
        """The file of the store; None if it is on a server, or nowhere."""
        return file_at(self.url)

    @property
    def journal(self) -> Path | None:
        """The journal of the store: beside its file, `memory.journal.jsonl` for `memory.db`.

        None if an app keeps none there; a command does not begin one.
        """
        beside = self.file.with_suffix(".journal.jsonl") if self.file else None
        return beside if beside is not None and beside.is_file() else None

    @property
    def again(self) -> str:
        """What a command that follows this one has to be told as well, with a blank before it."""
        said = self.config.scope
        given = {
            "group": (self.asked.group, said.get("group_id")),
            "tenant": (self.asked.tenant, said.get("tenant")),
            "store": (self.asked.store, self.config.store),
        }
        return "".join(
            f" --{name} {shlex.quote(asked)}"
            for name, (asked, known) in given.items()
            if asked is not None and asked != known and shown_address(asked) == asked
        )

    def grouped(self) -> MemoryScope:
        """Return whose memory it is.

        Raises:
            SettingError: If nothing says so.
        """
        if not self.has_group:
            raise SettingError(
                "say whose memory: --group NAME, MEMORYWARE_GROUP, or group_id under scope in"
                ' memoryware.json (memoryware init writes one); --group "" is what has no group'
            )
        return self.scope

    def opened(
        self,
        *,
        make: bool = False,
        on_mismatch: Literal["raise", "words"] = "words",
        on_error: Literal["raise", "warn"] = "raise",
    ) -> TieredMemory:
        """Open the memory.

        Args:
            make: Whether a file that is not there is made.
            on_mismatch: As for `TieredMemory.open`.
            on_error: The same.

        Raises:
            StoreUnavailable: If it cannot be opened, or is not there.
        """
        from memoryware.tiers.client.memory import TieredMemory

        if not make:
            check_there(self.url)
        return TieredMemory.open(
            self.url,
            embeddings=self.embeddings,
            policy=self.policy,
            on_mismatch=on_mismatch,
            on_error=on_error,
            journal=self.journal,
        )


def file_at(url: str) -> Path | None:
    """Return the file at an address; None if it is on a server, or nowhere."""
    first = url.partition(" + ")[0].strip()
    return Path(file_of(first)[0]) if first.startswith(FILE) else None


def shown_address(url: str) -> str:
    """Return an address without what may be a password: the part before the @, and settings."""
    addresses = []
    for one in url.split(" + "):
        scheme, mark, rest = one.strip().partition("://")
        if scheme not in ("sqlite", "memory"):
            rest = rest.rpartition("@")[2].partition("?")[0]
        addresses.append(f"{scheme}{mark}{rest}")
    return " + ".join(addresses)


def check_there(url: str) -> None:
    """Refuse a file that opening would only make, empty.

    Raises:
        StoreUnavailable: If it is not there.
    """
    file = file_at(url)
    if file is not None and not file.exists():
        raise StoreUnavailable(
            f"There is no memory at {file}: name another one with --store, or let memoryware add"
            " make this one"
        )


def resolved(options: Options) -> Place:
    """Return what is meant: options, then the environment, then the file, then the defaults.

    Typer has put the environment where an option was not given.

    Raises:
        ConfigError: If the configuration cannot be used.
        SettingError: For a name that cannot be one.
    """
    config = configured(options.config)
    said = config.scope
    group = said.get("group_id") if options.group is None else options.group
    scope = MemoryScope(
        tenant=options.tenant or said.get("tenant"),
        group_id=group or None,
        user_id=options.user or said.get("user_id"),
        agent_id=options.agent or said.get("agent_id"),
        session_id=options.session or None,
    )
    named = options.embeddings or config.embeddings
    return Place(
        url=options.store or config.store or DEFAULT_STORE,
        scope=scope,
        by=acting(options.by, config),
        embeddings=None if named in (None, "none") else named,
        policy=_policy(config),
        json=options.json,
        config=config,
        has_group=group is not None,
        asked=options,
    )


def configured(file: Path | None) -> CommandConfig:
    """Return what the configuration says: that file, or the nearest one; empty if there is none."""
    found = file or find_command_config()
    return CommandConfig() if found is None else load_command_config(found)


def acting(by: str | None, config: CommandConfig) -> str:
    """Return who acts: who was named, else whom the file names, else who is logged in."""
    return by or config.by or _somebody()


def _somebody() -> str:
    if name := os.environ.get("USER"):
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without names
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else ""


def _policy(config: CommandConfig) -> PromotionPolicy:
    """Return the policy of a configuration.

    Raises:
        ConfigError: For a setting that cannot be.
    """
    said: dict[str, Any] = dict(config.policy)
    if "min_trust" in said:
        said["min_trust"] = _trust(config, said)
    try:
        return PromotionPolicy(**said)
    except (SettingError, TypeError) as error:
        named = next((one for one in said if str(error).startswith(f"{one}=")), "policy")
        raise config.error(named, f"policy: {error}") from None


def _trust(config: CommandConfig, said: Mapping[str, Any]) -> Trust:
    name = str(said["min_trust"]).upper()
    if name not in Trust.__members__:
        names = ", ".join(one.name.lower() for one in Trust)
        raise config.error("min_trust", f"policy: min_trust must be one of {names}")
    return Trust[name]
