"""Where the command begins and ends: what is missing, what went wrong, and the exit code."""

from __future__ import annotations

import os
import sys
from typing import Final

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
"""Something failed on the way: a store, a model, a disk."""
WRONG: Final = 2
"""The call was wrong: an unknown option, a value that cannot be, an extra that is missing."""
UNREADABLE: Final = 3
"""The data cannot be read: the message names the file and the line."""
REFUSED: Final = 4
"""It was refused, or is not there: the policy, nothing with that id, or a person said no."""
_NEEDED: Final = ("typer", "rich", "click")


def main() -> None:
    """Run the command with the arguments of the process, and end it with its exit code."""
    try:
        from memoryware.cli.app import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _NEEDED:
            raise
        _leave(WRONG, "the command needs typer and rich: pip install 'memoryware[cli]'")
    try:
        app()
    except (BundleRefused, ConfigError, DatasetRefused) as error:
        _leave(UNREADABLE, str(error))
    except (EntryMissing, EntryRefused, PromotionRefused, VersionMissing) as error:
        _leave(REFUSED, str(error))
    except (ScopeMissing, SettingError) as error:
        _leave(WRONG, str(error))
    except MemorywareError as error:
        _leave(FAILED, f"{type(error).__name__}: {error}")
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        _leave(FAILED, f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))


def _leave(code: int, message: str) -> None:
    sys.stderr.write(f"memoryware: {message}\n")
    sys.exit(code)
