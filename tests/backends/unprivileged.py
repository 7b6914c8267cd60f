"""Being somebody who is not allowed everything, also where the tests run as root."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def as_nobody():
    """Work with the rights of nobody; where the tests do not run as root nothing changes."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@contextmanager
def open_folder():
    """Make a temporary folder that everybody may enter and write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        for inner in folder.rglob("*"):
            if inner.is_dir() and not inner.is_symlink():
                inner.chmod(0o777)
        shutil.rmtree(folder)
