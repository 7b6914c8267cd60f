"""Fixtures that tests everywhere may ask for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

pytest_plugins = ["servers.redis"]

# What the development extra brings is found, as in a virtual environment that is active.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
