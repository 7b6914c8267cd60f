"""The exit codes of the command; 0 means done."""

from __future__ import annotations

from typing import Final

FAILED: Final = 1
"""A store, a model or a disk failed."""
USAGE: Final = 2
"""Usage error: an unknown option, an invalid value, a missing extra."""
UNREADABLE: Final = 3
"""Data or configuration cannot be read; the message names the file and the line."""
REFUSED: Final = 4
"""Refused by a policy, declined by a person, or not found."""
PROBLEMS: Final = 5
"""A check ran and reports problems."""
INTERRUPTED: Final = 130
"""Ctrl-C, as shells report it: 128 and the number of SIGINT."""
CLOSED_PIPE: Final = 141
"""Who reads the output has ended, such as `head -1`: 128 and the number of SIGPIPE."""
