"""Links the pages to the repository that they are built from, if it has an address.

The project has no public address of its own. `MEMORYWARE_REPOSITORY`, or the remote `origin` of
the clone, names one; without either the pages have no link.
"""
# ruff: noqa: INP001 - a hook of mkdocs is a file, not a package

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

_ROOT: Final = Path(__file__).parents[2]
_SSH: Final = re.compile(r"(?:ssh://)?(?:[\w.-]+@)(?P<host>[\w.-]+)[:/](?P<path>[\w./~-]+)")


def on_config(config: Any) -> Any:
    """Set the link in the head of every page."""
    address = public_address(os.environ.get("MEMORYWARE_REPOSITORY") or _origin())
    if address:
        config.repo_url = address
        config.repo_name = "Repository"
    return config


def public_address(remote: str) -> str:
    """Return the address of a repository in a browser.

    Args:
        remote: The URL of a remote, as git knows it.

    Returns:
        An `https` URL without user name, password and `.git`; "" for one that no browser opens.
    """
    if ssh := _SSH.fullmatch(remote):
        remote = f"https://{ssh['host']}/{ssh['path']}"
    parts = urlsplit(remote)
    if parts.scheme != "https" or not parts.hostname or not parts.path.strip("/"):
        return ""
    port = f":{parts.port}" if parts.port else ""
    return f"https://{parts.hostname}{port}{parts.path.rstrip('/').removesuffix('.git')}"


def _origin() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    ran = subprocess.run(  # noqa: S603 - fixed arguments
        [git, "-C", str(_ROOT), "remote", "get-url", "origin"],
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip()
