"""The entry point of the command: missing extras, and the exit codes of errors."""

from __future__ import annotations

import os
import sys
from typing import Final

from memoryware._install import install_command
from memoryware.cli._errors import describe_error
from memoryware.cli._exit_codes import FAILED, REFUSED, UNREADABLE, USAGE
from memoryware.errors import (
    BundleRefused,
    ConfigError,
    DatasetRefused,
    EntryMissing,
    EntryRefused,
    MemorywareError,
    PromotionRefused,
    ScopeMissing,
    SettingError,
    VersionMissing,
)

_REQUIRED: Final = ("typer", "rich", "click")


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code."""
    try:
        from memoryware.cli.app import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _REQUIRED:
            raise
        _exit(USAGE, f"the command needs typer and rich: {install_command('cli')}")
    except KeyboardInterrupt:  # while importing; later, typer handles it
        _exit(FAILED, "aborted")
    try:
        app()
    except (BundleRefused, ConfigError, DatasetRefused) as error:
        _exit(UNREADABLE, describe_error(error))
    except (EntryMissing, EntryRefused, PromotionRefused, VersionMissing) as error:
        _exit(REFUSED, describe_error(error))
    except (ScopeMissing, SettingError) as error:
        _exit(USAGE, describe_error(error))
    except MemorywareError as error:
        _exit(FAILED, describe_error(error))
    except BrokenPipeError:  # such as `memoryware list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        _exit(FAILED, f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))


def _exit(code: int, message: str) -> None:
    sys.stderr.write(f"memoryware: {message}\n")
    sys.exit(code)
