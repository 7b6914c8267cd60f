"""The entry point of the command: missing extras, interrupts, errors and their exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Any, Final, NoReturn

from memoryware._install import install_command
from memoryware.cli._errors import CommandError, command_error
from memoryware.cli._exit_codes import CLOSED_PIPE, INTERRUPTED, REFUSED, USAGE
from memoryware.cli._layout import hang
from memoryware.errors import MemorywareError

_REQUIRED: Final = ("typer", "rich", "click")
COMPLETION_VARIABLE: Final = "_MEMORYWARE_COMPLETE"
"""The environment variable that names the shell that asks for candidates."""
_INTERRUPTED: Final = CommandError(INTERRUPTED, "interrupted", "interrupted")


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code."""
    args = sys.argv[1:]
    try:
        import rich  # noqa: F401 - commands import what they need of it later

        from memoryware.cli.app import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _REQUIRED:
            raise
        message = f"the command needs typer and rich: {install_command('cli')}"
        _exit(CommandError(USAGE, "extra_missing", message), args)
    except KeyboardInterrupt:  # while importing
        _exit(_INTERRUPTED, args)
    try:
        code = _complete(app, args) if COMPLETION_VARIABLE in os.environ else _run(app, args)
        sys.stdout.flush()  # here, and not when Python ends: a closed pipe is noticed with it
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            sys.stderr.write("\n")  # the terminal has printed ^C
        _exit(_INTERRUPTED, args)
    except BrokenPipeError:  # such as `memoryware list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = CLOSED_PIPE
    except (MemorywareError, OSError) as error:
        _exit(command_error(error), args)
    sys.exit(code)


def _complete(app: Any, words: Sequence[str]) -> int:
    """Print the candidates for the last word of a command line."""
    import typer

    from memoryware.cli.completion import format_candidates

    shell = os.environ[COMPLETION_VARIABLE]
    if text := format_candidates(typer.main.get_command(app), words, shell):
        typer.echo(text)
    return 0


def _run(app: Any, args: Sequence[str]) -> int:
    """Parse the arguments, run the command, and return its exit code."""
    import typer

    # Its base is private in releases of typer that carry a copy of click.
    usage_error: Any = typer.BadParameter.__mro__[2]
    # `Typer.__call__` does the same, but ends the process on a closed pipe, and frames errors.
    command = typer.main.get_command(app)
    colour = False if os.environ.get("NO_COLOR") else None
    try:
        with command.make_context("memoryware", [*args], color=colour) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    except typer.Abort as aborted:  # at a question
        if isinstance(aborted.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        return REFUSED
    except usage_error as error:
        if type(error).__name__ != "NoArgsIsHelpError":
            _exit(command_error(error), args)
        if error.message.strip():  # frames are printed already
            typer.echo(error.message)
        return USAGE
    return 0


def _exit(error: CommandError, args: Sequence[str]) -> NoReturn:
    options = args[: args.index("--")] if "--" in args else args
    text = error.as_json() if "--json" in options else f"memoryware: {error.text}"
    width = get_terminal_size().columns if sys.stderr.isatty() else None
    for line in text.split("\n"):
        lines = [line] if width is None else hang(line, width, "  ")
        sys.stderr.write("".join(f"{part}\n" for part in lines))
    sys.exit(error.exit_code)
