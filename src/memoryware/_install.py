"""The pip command that installs an extra, from wherever this package was installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit


def install_command(extra: str, *options: str) -> str:
    """Return the command that adds an extra to this installation.

    A package that was installed from a clone, as it is while no registry has it, must be installed
    from that clone again: pip recorded where it is (PEP 610).

    Args:
        extra: The name of the extra.
        *options: Options of `pip install`, such as "--force-reinstall".

    Returns:
        A command for a shell.
    """
    return " ".join(["pip install", *options, _requirement(extra, _origin())])


def _requirement(extra: str, origin: dict[str, Any]) -> str:
    """Return what pip takes: a folder, a direct reference, or the name alone.

    Args:
        extra: The name of the extra.
        origin: The record of PEP 610; empty if pip wrote none.

    Returns:
        The last words of the command.
    """
    parts = urlsplit(str(origin.get("url", "")))
    if "dir_info" in origin and parts.scheme == "file":
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"{editable}'{_path(parts.path)}[{extra}]'"
    if parts.scheme:
        vcs = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
        host = parts.netloc.rpartition("@")[2]  # without a user and a token
        return f"'memoryware[{extra}] @ {vcs}{urlunsplit(parts._replace(netloc=host))}'"
    return f"'memoryware[{extra}]'"


def _path(path: str) -> str:
    text = unquote(path)
    return text[1:] if text[2:3] == ":" else text  # /C:/clone on Windows


def _origin() -> dict[str, Any]:
    """Return what pip recorded about the origin of this installation, or that it is a clone."""
    from importlib import metadata

    try:
        record = metadata.distribution("memoryware").read_text("direct_url.json")
        return dict(json.loads(record)) if record else {}
    except metadata.PackageNotFoundError:  # on PYTHONPATH
        clone = Path(__file__).parents[2]
        is_clone = (clone / "pyproject.toml").is_file()
        return {"url": clone.as_uri(), "dir_info": {}} if is_clone else {}
    except (OSError, ValueError, TypeError):
        return {}
