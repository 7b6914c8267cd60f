"""The options that commands share, and the memory that they name."""

from __future__ import annotations

import getpass
import inspect
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, Literal, ParamSpec

import typer

from memoryware.config import CommandConfig, find_command_config, load_command_config
from memoryware.errors import SettingError, StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.provenance import Trust
from memoryware.tiers.stores.opening import FILE, file_of

if TYPE_CHECKING:
    from memoryware.tiers.client.memory import TieredMemory


# The memory: from options, the environment, `memoryware.json` and defaults, in this order.

DEFAULT_STORE: Final = "sqlite:///memory.db"
"""The default of `--store`."""
_USERS_AMONG: Final = 1000
"""Newest records of a group among whose users a near name is looked for."""
_NEAR: Final = 0.5
"""How alike names of groups are to be suggested; see `difflib.get_close_matches`."""
MODEL_NAMES: Final = '"local", "local:multilingual" or "provider:model"'
"""The embedding models that `--embeddings` may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """The shared options of a command; None for those that were not given.

    Attributes:
        store: The address of the store.
        group: The group, "" for records without one.
        tenant: The tenant.
        user: The person.
        agent: The agent.
        session: The session.
        by: Who acts.
        embeddings: The embedding model, or "none".
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
class CommandContext:
    """The memory that a command works on, and who acts.

    Attributes:
        url: The URL of the store.
        scope: The scope.
        by: Who acts.
        embeddings: The embedding model; None for search by words alone.
        policy: The promotion policy.
        json: Whether one JSON document is printed.
        config: The configuration file.
        has_group: Whether a group is given.
        options: The options as they were given.
        typed: The names of the shared options that were typed, not taken from the environment.
        is_personal: Whether a typed `--user` without any group names the memory of one person.
    """

    url: str
    scope: MemoryScope
    by: str
    embeddings: str | None
    policy: PromotionPolicy
    json: bool
    config: CommandConfig
    has_group: bool
    options: MemoryOptions
    typed: frozenset[str] = frozenset()
    is_personal: bool = False

    @property
    def user_filter(self) -> str | None:
        """The user whose records are meant: a typed `--user`; another source says who asks.

        None for the memory of one person, all of which is meant.
        """
        return self.options.user if "user" in self.typed and not self.is_personal else None

    @property
    def file(self) -> Path | None:
        """The file of the store; None for a server or a store in memory."""
        return file_of_url(self.url)

    @property
    def journal(self) -> Path | None:
        """The journal next to the file of the store, `memory.journal.jsonl` for `memory.db`.

        None if there is none; a command does not create one.
        """
        beside = self.file.with_suffix(".journal.jsonl") if self.file else None
        return beside if beside is not None and beside.is_file() else None

    @property
    def repeat_options(self) -> str:
        """The options that a follow-up command needs to work on the same memory, as text."""
        configured = self.config.scope
        values = {
            "group": (self.options.group, configured.get("group_id")),
            "user": (self.options.user if self.is_personal else None, None),
            "tenant": (self.options.tenant, configured.get("tenant")),
            "store": (self.options.store, self.config.store),
        }
        return "".join(
            f" --{name} {shlex.quote(option)}"
            for name, (option, setting) in values.items()
            if option is not None and option != setting and redact_url(option) == option
        )

    def require_group(self) -> MemoryScope:
        """Return the scope of a command that needs a group.

        Raises:
            SettingError: If no group is given.
        """
        if not self.has_group:
            raise SettingError(
                "no group is given: use --group NAME, MEMORYWARE_GROUP, or scope.group_id in"
                " memoryware.json (memoryware init writes one); --user NAME alone is the memory of"
                ' one person, --group "" selects records without a group'
            )
        return self.scope

    def open_memory(
        self,
        *,
        make: bool = False,
        on_mismatch: Literal["raise", "words"] = "words",
        on_error: Literal["raise", "warn"] = "raise",
    ) -> TieredMemory:
        """Open the memory.

        Args:
            make: Whether to create a file that does not exist.
            on_mismatch: As for `TieredMemory.open`.
            on_error: As for `TieredMemory.open`.

        Returns:
            The open memory.

        Raises:
            StoreUnavailable: If it cannot be opened, or does not exist.
        """
        from memoryware.tiers.client.memory import TieredMemory

        if not make:
            require_file(self.url)
        return TieredMemory.open(
            self.url,
            embeddings=self.embeddings,
            policy=self.policy,
            on_mismatch=on_mismatch,
            on_error=on_error,
            journal=self.journal,
        )


def suggest_groups(context: CommandContext, memory: TieredMemory) -> None:
    """Say on standard error that a group has no records at all, and which groups have a near name.

    Args:
        context: The tenant and the group.
        memory: The memory.
    """
    if context.json:
        return
    tenant, name = context.scope.tenant, context.scope.group_id
    groups = memory.groups()
    own = [group.group_id for group in groups if group.tenant == tenant]
    if name in own or not groups:
        return
    near = get_close_matches(name or "", [group for group in own if group], cutoff=_NEAR)
    elsewhere = [group.tenant for group in groups if group.group_id == name]
    hint = "memoryware groups lists all of them"
    if near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    elif elsewhere:
        hint = f"tenant {elsewhere[0]!r} has one of this name: --tenant"
    typer.echo(f"memoryware: group {name!r} has no records; {hint}", err=True)


def suggest_users(context: CommandContext, memory: TieredMemory) -> None:
    """Say on standard error that a user has no records in a group, and who has a near name.

    Args:
        context: The group, and the user who was typed.
        memory: The memory.
    """
    user, scope = context.user_filter, context.scope
    if context.json or user is None or memory.list(scope, user=user, limit=0).total:
        return
    rows = memory.list(scope, limit=_USERS_AMONG).items
    users = dict.fromkeys(row.record.scope.user_id for row in rows if row.record.scope.user_id)
    if not users:
        return
    near = get_close_matches(user, [*users], cutoff=_NEAR)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "check the spelling"
    typer.echo(
        f"memoryware: user {user!r} has no records in group {scope.group_id!r}; {hint}", err=True
    )


def file_of_url(url: str) -> Path | None:
    """Return the file of a URL; None for a server or a store in memory."""
    first = url.partition(" + ")[0].strip()
    return Path(file_of(first)[0]) if first.startswith(FILE) else None


def redact_url(url: str) -> str:
    """Remove from a URL what may contain a password: the part before the @, and the query."""
    addresses = []
    for part in url.split(" + "):
        scheme, mark, rest = part.strip().partition("://")
        if scheme not in ("sqlite", "memory"):
            rest = rest.rpartition("@")[2].partition("?")[0]
        addresses.append(f"{scheme}{mark}{rest}")
    return " + ".join(addresses)


def require_file(url: str) -> None:
    """Refuse a store file that does not exist; opening it would create an empty one.

    Raises:
        StoreUnavailable: If it does not exist.
    """
    file = file_of_url(url)
    if file is None or file.exists():
        return
    if not file.parent.is_dir():
        raise StoreUnavailable(
            f"There is no folder {file.parent} for the memory {file.name}: create the folder, or"
            " set another memory with --store"
        )
    raise StoreUnavailable(
        f"There is no memory at {file}: set another one with --store, or create it with"
        " memoryware add"
    )


def resolve_context(options: MemoryOptions, typed: frozenset[str] = frozenset()) -> CommandContext:
    """Combine options, the environment, the configuration file and defaults, in this order.

    Typer has replaced missing options by the environment already. A `--user` that was typed, where
    nothing names a group, is the memory of that person. One from the environment or the
    configuration is not: with a group that was forgotten a command would change another memory.

    Args:
        options: The options.
        typed: The names of those that were typed.

    Returns:
        The memory, and who acts.

    Raises:
        ConfigError: If the configuration cannot be used.
        SettingError: For an invalid name.
    """
    config = load_config(options.config)
    defaults = config.scope
    group = defaults.get("group_id") if options.group is None else options.group
    is_personal = group is None and "user" in typed and bool(options.user)
    if is_personal:
        group = MemoryScope.personal(options.user or "").group_id
    scope = MemoryScope(
        tenant=options.tenant or defaults.get("tenant"),
        group_id=group or None,
        user_id=options.user or defaults.get("user_id"),
        agent_id=options.agent or defaults.get("agent_id"),
        session_id=options.session or None,
    )
    model = options.embeddings or config.embeddings
    return CommandContext(
        url=options.store or config.store or DEFAULT_STORE,
        scope=scope,
        by=acting_identity(options.by, config),
        embeddings=None if model in (None, "none") else model,
        policy=_policy(config),
        json=options.json,
        config=config,
        has_group=group is not None,
        options=options,
        typed=typed,
        is_personal=is_personal,
    )


def load_config(file: Path | None) -> CommandConfig:
    """Load a configuration file, by default the nearest one; empty if there is none."""
    path = file or find_command_config()
    return CommandConfig() if path is None else load_command_config(path)


def acting_identity(by: str | None, config: CommandConfig) -> str:
    """Return who acts: by the option, the configuration, or the login name."""
    return by or config.by or _login_name()


def _login_name() -> str:
    if name := os.environ.get("USER"):
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without names
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else ""


def _policy(config: CommandConfig) -> PromotionPolicy:
    """Return the policy of a configuration.

    Raises:
        ConfigError: For an invalid setting.
    """
    settings: dict[str, Any] = dict(config.policy)
    if "min_trust" in settings:
        settings["min_trust"] = _trust(config, settings)
    recipe, days = settings.pop("recipe", "reviewed"), settings.pop("after_days", None)
    if days is not None and (isinstance(days, bool) or not isinstance(days, int | float)):
        raise config.error("after_days", "policy: after_days must be a number of days")
    try:
        after = None if days is None else timedelta(days=days)
        return PromotionPolicy.recipe(recipe, after=after, **settings)
    except (SettingError, TypeError) as error:
        named = next((name for name in settings if str(error).startswith(f"{name}=")), "policy")
        raise config.error(named, f"policy: {error}") from None


def _trust(config: CommandConfig, settings: Mapping[str, Any]) -> Trust:
    name = str(settings["min_trust"]).upper()
    if name not in Trust.__members__:
        names = ", ".join(level.name.lower() for level in Trust)
        raise config.error("min_trust", f"policy: min_trust must be one of {names}")
    return Trust[name]


# The options.

P = ParamSpec("P")

_PANEL: Final = "Memory options"
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only whole ids, one a line.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Reason = Annotated[
    str, typer.Option("--reason", "-r", help="The reason; stored with the decision.")
]
OriginFilter = Annotated[
    str | None,
    typer.Option(
        "--origin",
        "-o",
        metavar="ORIGIN",
        help="Only records with this origin in their lineage, such as tool:web_search or tool.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only records from then on: 7d, 12h, 2026-05-01."),
]
Before = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only records from before then: 7d, 12h, 2026-05-01."),
]


def _config(panel: str | None = None) -> Any:
    return typer.Option(
        "--config",
        metavar="FILE",
        rich_help_panel=panel,
        help="The configuration file. Default: the nearest memoryware.json.",
    )


Config = Annotated[Path | None, _config()]
_SHARED: Final[dict[str, Any]] = {
    "store": Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="MEMORYWARE_STORE",
            rich_help_panel=_PANEL,
            help="The store: sqlite:///FILE or postgresql://..., optionally + redis://...",
        ),
    ],
    "group": Annotated[
        str | None,
        typer.Option(
            "--group",
            "-g",
            envvar="MEMORYWARE_GROUP",
            rich_help_panel=_PANEL,
            help='The group; "" for records without one.',
        ),
    ],
    "tenant": Annotated[
        str | None,
        typer.Option(envvar="MEMORYWARE_TENANT", rich_help_panel=_PANEL, help="The tenant."),
    ],
    "user": Annotated[
        str | None,
        typer.Option(
            "--user",
            "-u",
            envvar="MEMORYWARE_USER",
            rich_help_panel=_PANEL,
            help="The user; without a group, the one whose own memory it is.",
        ),
    ],
    "agent": Annotated[str | None, typer.Option(rich_help_panel=_PANEL, help="The agent.")],
    "session": Annotated[str | None, typer.Option(rich_help_panel=_PANEL, help="The session.")],
    "by": Annotated[
        str | None,
        typer.Option(
            envvar="MEMORYWARE_BY",
            rich_help_panel=_PANEL,
            help="Who acts: a name, or agent:NAME for a program. Default: your login name.",
        ),
    ],
    "embeddings": Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            rich_help_panel=_PANEL,
            help=f'The embedding model: {MODEL_NAMES}; "none" for words alone.',
        ),
    ],
    "config": Annotated[Path | None, _config(_PANEL)],
    "json": Json,
}


def memory_command(command: Callable[Concatenate[CommandContext, P], None]) -> Callable[..., None]:
    """Decorate a command: add the shared options, and pass their `CommandContext` first.

    Typer reads options from the signature, which is combined here.

    Args:
        command: A function of a `CommandContext` and of options of its own.

    Returns:
        A function for Typer.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [_parameter(name) for name in _SHARED]

    parsed = inspect.Parameter(
        "parsed", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context, default=None
    )

    @wraps(command)
    def with_context(*args: Any, parsed: Any, **options: Any) -> None:
        memory_options = MemoryOptions(**{name: options.pop(name) for name in _SHARED})
        typed = frozenset(name for name in _SHARED if is_typed(parsed, name))
        command(resolve_context(memory_options, typed), *args, **options)

    typer_function: Any = with_context
    parameters = [*own, *shared, parsed]
    typer_function.__signature__ = inspect.Signature(parameters)
    typer_function.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    }
    del typer_function.__wrapped__  # otherwise Typer reads the signature of `command`
    return with_context


def is_typed(parsed: Any, name: str) -> bool:
    """Return whether an option was typed, and not taken from the environment or its default.

    Args:
        parsed: The context of Typer.
        name: The parameter.

    Returns:
        Whether it was.
    """
    source = parsed.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE: Final = re.compile(r"([0-9]{1,9}(?:[.][0-9]{1,6})?)([mhdw])")


def parse_moment(option: str, text: str | None) -> datetime | timedelta | None:
    """Parse a moment: a time, or how long ago it was.

    Args:
        option: The option, for the message.
        text: Such as 2026-05-01, 2026-05-01T12:00, 7d, 12h, 30m or 2w; None if it is not given.

    Returns:
        The time, in the local time zone if it names none, or the time since then.

    Raises:
        SettingError: If it is neither.
    """
    if text is None:
        return None
    if age := _AGE.fullmatch(text):
        return _duration(float(age[1]), _UNITS[age[2]])
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo else time.astimezone()
    except (ValueError, OverflowError):
        raise SettingError(
            f"{option} {text}: not a time; write it as 2026-05-01, as 2026-05-01T12:00, or as an"
            " age, such as 7d, 12h or 30m"
        ) from None


def _duration(number: float, unit: str) -> timedelta:
    try:
        return timedelta(**{unit: number})
    except OverflowError:
        return timedelta.max


def time_of(moment: datetime | timedelta | None, now: datetime) -> datetime | None:
    """Return the time that a moment is.

    Args:
        moment: What `parse_moment` returned.
        now: The time from which an age is counted back.

    Returns:
        The time; the earliest one for an age that is longer.
    """
    if not isinstance(moment, timedelta):
        return moment
    try:
        return now - moment
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _parameter(name: str) -> inspect.Parameter:
    default = next(option.default for option in fields(MemoryOptions) if option.name == name)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_SHARED[name]
    )
