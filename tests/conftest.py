"""Fixtures that tests everywhere may ask for."""

from __future__ import annotations

pytest_plugins = ["servers.redis"]
