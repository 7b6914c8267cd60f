"""The entry point of the command: missing extras, errors, exit codes."""

from __future__ import annotations

import os
import sys
from typing import Final

from memoryware.cli._errors import describe_error
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

FAILED: Final = 1
"""A store, a model or a disk failed."""
USAGE: Final = 2
"""Usage error: an unknown option, an invalid value, a missing extra."""
UNREADABLE: Final = 3
"""Data or configuration cannot be read; the message names the file and the line."""
REFUSED: Final = 4
"""Refused by a policy, declined by a person, or not found."""
_REQUIRED: Final = ("typer", "rich", "click")


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code."""
    try:
        from memoryware.cli.app import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _REQUIRED:
            raise
        _exit(USAGE, "the command needs typer and rich: pip install 'memoryware[cli]'")
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
