"""The command and its groups; the module of a command is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from shutil import get_terminal_size
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from memoryware._version import __version__
from memoryware.cli._layout import NARROW

# Examples below the help of each command.

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("init -g shop", "init --store postgresql://ann@db/memory --four-eyes"),
    "completion": ("completion bash >> ~/.bashrc", "completion fish | source"),
    "add": (
        "add 'We deploy on Fridays.'",
        "add --propose < note.md",
        "add --key release-7 'Version 7 is out.'",
    ),
    "list": (
        "list",
        "list -t quarantine --state pending -n 50",
        "list -o tool:web_search --since 7d --json",
        "list -q -u bo --state pending | xargs memoryware reject",
    ),
    "show": ("show 2bd91389", "show 2bd91389 cc5f267f --json"),
    "search": (
        "search 'when do we deploy?' --explain",
        "search deploy --at 2026-05-01T12:00",
    ),
    "groups": ("groups", "groups --all-tenants --json"),
    "digest": ("digest", "digest --since 7d --json"),
    "review": ("review", "printf 'a\\nr outdated\\nq\\n' | memoryware review"),
    "propose": ("propose 2bd91389",),
    "promote": (
        "promote 2bd91389 cc5f267f",
        "promote '2bd91389#2'",
        "promote 2bd91389 --whole --subject deploys --by bo",
    ),
    "reject": ("reject 2bd91389 cc5f267f -r 'not true anymore'",),
    "reopen": ("reopen 2bd91389 cc5f267f", "reopen '2bd91389#2' --dry-run"),
    "supersede": ("supersede 2bd91389 'We deploy on Mondays.'",),
    "revoke": (
        "revoke 2bd91389 --dry-run",
        "revoke -o tool:web_search -r 'it was poisoned'",
    ),
    "restore": ("restore cc5f267f",),
    "forget": (
        "forget --words 'old address' --dry-run",
        "forget --everything -u bo -y",
    ),
    "export": ("export week.jsonl", "export - | gzip > week.jsonl.gz"),
    "backup": ("backup memory-2026-11-29.db",),
    "import": (
        "import mem0.json --from mem0 --dry-run",
        "import week.jsonl --name backup",
    ),
    "copy": (
        "copy sqlite:///memory.db postgresql://ann@db/memory",
        "copy sqlite:///memory.db sqlite:///second.db --exact --dry-run",
    ),
    "reindex": ("reindex --embeddings local", "reindex --pending"),
    "doctor": ("doctor", "doctor --ask-model --json"),
    "files list": ("files list", "files list --root notes --json"),
    "files preview": ("files preview",),
    "files history": ("files history AGENTS.md",),
    "files diff": ("files diff AGENTS.md",),
    "files restore": ("files restore AGENTS.md --dry-run", "files restore AGENTS.md --to 2"),
    "files check": ("files check", "files check notes --personal"),
    "inspect": ("inspect", "inspect --read-only --port 8080"),
    "mcp": ("mcp -g shop", "mcp -g shop --read-only --http 127.0.0.1:8765"),
}


def _epilog(command: str) -> str | None:
    """Return the help text with the examples of a command, one a line; None if it has none."""
    lines = EXAMPLES.get(command, ())
    if not lines:
        return None
    return "\n\n".join(["Examples:", *map(_typed, lines)])


def _typed(example: str) -> str:
    """Return an example as a person types it."""
    return example if example.startswith(("memoryware ", "printf ")) else f"memoryware {example}"


# The commands. Each is named by its module and function; `group` in place of a function is a table
# of further commands.

_PACKAGE: Final = "memoryware.cli"
_PANELS: Final[Mapping[str, Mapping[str, str]]] = {
    "Set up": {
        "init": "init:init",
        "doctor": "doctor:doctor",
        "completion": "completion:completion",
    },
    "Read memory": {
        "list": "browse:list_",
        "show": "browse:show",
        "search": "browse:search",
        "groups": "groups:groups",
    },
    "Review and promote": {
        "add": "promote:add",
        "digest": "review:digest",
        "review": "review:review",
        "propose": "promote:propose",
        "promote": "promote:promote",
        "reject": "promote:reject",
        "reopen": "reopen:reopen",
        "supersede": "promote:supersede",
    },
    "Revoke and delete": {
        "revoke": "revoke:revoke",
        "restore": "revoke:restore",
        "forget": "revoke:forget",
    },
    "Export and copy": {
        "export": "transfer:export",
        "import": "import_:import_",
        "copy": "transfer:copy",
        "backup": "transfer:backup",
        "reindex": "transfer:reindex",
    },
    "Memory files": {"files": "group:files"},
    "Serve and measure": {
        "inspect": "inspect:inspect",
        "mcp": "mcp:mcp",
        "bench": "group:bench",
    },
}
_FILES: Final[Mapping[str, str]] = {
    "list": "files:list_files",
    "preview": "files:preview_files",
    "check": "files:check_files",
    "history": "files:file_history",
    "diff": "files:diff_file",
    "restore": "files:restore_file",
}
_SENTENCE: Final = 200
"""Characters of the help of a command in a list of commands."""
_HELP: Final[Mapping[str, str]] = {
    "files": "Memory files: what an agent is shown of them, their versions, their problems.",
    "bench": "Measure memory on your own machine.",
}
MOVED: Final[Mapping[str, str]] = {
    "sources": "files list",
    "prompt": "files preview",
    "log": "files history",
    "diff": "files diff",
    "undo": "files restore",
    "scan": "files check",
}
"""Commands of 0.1, and what they are now."""
_ALSO: Final[Mapping[str, str]] = {
    "undo": "; a decision is undone with memoryware reopen, a revocation with memoryware restore"
}
"""What else somebody who types such a command may look for."""


@dataclass(frozen=True, slots=True)
class _CommandSpec:
    """A command that is not imported yet.

    Attributes:
        path: How it is called, such as "files list".
        home: Its module and function.
        panel: The heading of the help under which it is listed.
    """

    path: str
    home: str
    panel: str | None = None

    def build(self) -> Any:
        """Import the command and make what parses its arguments."""
        module, _, function = self.home.partition(":")
        name = self.path.rpartition(" ")[2]
        if module == "group":
            return _group(name, _subcommands(function), self.panel)
        command = getattr(import_module(f"{_PACKAGE}.{module}"), function)
        single = typer.Typer(**_settings())
        single.command(
            name=name,
            cls=LeafCommand,
            epilog=_epilog(self.path),
            rich_help_panel=self.panel,
            context_settings=_context(),
        )(command)
        return typer.main.get_command(single)


def _subcommands(group: str) -> Mapping[str, _CommandSpec]:
    table = _FILES if group == "files" else {"recall": "bench:recall"}
    return {name: _CommandSpec(f"{group} {name}", home) for name, home in table.items()}


class _LazyCommands(MutableMapping[str, Any]):
    """Commands by name, each made when it is asked for: all of them take 130 ms of CPU."""

    def __init__(self, specs: Mapping[str, _CommandSpec]) -> None:
        self._specs, self._built = dict(specs), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._specs[name].build()
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._specs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._specs

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)


class _StackedHelp:
    """Help in which each option has a line of its own, where there is no room for two columns."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; see `TyperCommand`."""
        if get_terminal_size().columns < NARROW:
            formatter.write_dl = partial(_write_stacked, formatter)
        super().format_help(ctx, formatter)  # type: ignore[misc]  # of what it is mixed into


def _write_stacked(formatter: Any, rows: Sequence[tuple[str, str]], **_: Any) -> None:
    for name, text in rows:
        formatter.write_text(name)
        formatter.indent()
        formatter.write_text(text)
        formatter.dedent()


class LeafCommand(_StackedHelp, TyperCommand):
    """A command that has no commands below it."""


class CommandGroup(_StackedHelp, TyperGroup):
    """A group of commands that knows the names that its commands had."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands; in a narrow terminal their help is not cut; see `TyperGroup`."""
        if get_terminal_size().columns >= NARROW:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            for name, command in self.commands.items():
                _write_stacked(formatter, [(name, command.get_short_help_str(_SENTENCE))])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called; see `TyperGroup`."""
        new = MOVED.get(args[0]) if args and args[0] not in self.commands else None
        if new is not None:
            ctx.fail(f"{args[0]} is now: memoryware {new}{_ALSO.get(args[0], '')}")
        return super().resolve_command(ctx, args)


def _context() -> dict[str, Any]:
    context: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
    if (width := get_terminal_size().columns) < NARROW:
        context["terminal_width"] = width  # by default help is never narrower than 50 columns
    return context


def _settings() -> dict[str, Any]:
    """Return the settings of each part of the command: in a narrow terminal help has no frames."""
    settings: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False}
    if get_terminal_size().columns < NARROW:
        settings["rich_markup_mode"] = None
    return settings


def _group(name: str, specs: Mapping[str, _CommandSpec], panel: str | None = None) -> Any:
    parts = typer.Typer(
        name=name,
        cls=CommandGroup,
        help=_HELP[name],
        no_args_is_help=True,
        context_settings=_context(),
        **_settings(),
    )
    parts.callback()(lambda: None)
    built: Any = typer.main.get_command(parts)
    built.commands, built.rich_help_panel = _LazyCommands(specs), panel
    return built


class _Root(CommandGroup):
    """The command itself."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _LazyCommands(
            {
                name: _CommandSpec(name, home, panel)
                for panel, commands in _PANELS.items()
                for name, home in commands.items()
            }
        )


app = typer.Typer(
    name="memoryware",
    cls=_Root,
    no_args_is_help=True,
    help="Memory for agents that its owners can trust.",
    context_settings=_context(),
    **_settings(),
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Memory for agents that its owners can trust."""
