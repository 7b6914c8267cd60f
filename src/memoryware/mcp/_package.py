"""Whether the package `mcp` is installed; asked before anything heavy is loaded."""

from __future__ import annotations

from importlib.util import find_spec

from memoryware._install import install_command
from memoryware.errors import SettingError


def check_installed() -> None:
    """Check that the package `mcp` is installed.

    Raises:
        SettingError: If it is not; the message has the command to install it.
    """
    if find_spec("mcp") is None:
        raise SettingError(f"the MCP server needs the package mcp: {install_command('mcp')}")
