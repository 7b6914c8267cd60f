"""`~` and `~user` at the start of a host path.

Python opens `~/notes` as a folder that is literally named `~`, which people then find in their
project, so every host path of an option or a configuration file comes through here.
"""

from __future__ import annotations

import os
from pathlib import Path

from memoryware.errors import SettingError


def expand_home(path: str | os.PathLike[str], option: str) -> Path:
    """Return a host path with the home folder in place of `~` or `~user`.

    Args:
        path: The path.
        option: What it was given as, for the error.

    Returns:
        The path; unchanged if it does not begin with `~`.

    Raises:
        SettingError: If nobody knows that home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise SettingError(
            f"{option}={os.fspath(path)!r}: the home folder is not known here; write the whole path"
        ) from None
