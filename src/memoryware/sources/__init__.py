"""Memory files: sources and owners, discovery, imports, write policies, checks and secret scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.sources.checks import Flaw, Leak, acheck, ascan, check, scan
    from memoryware.sources.discovery import adiscover, discover, on_disk
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.layout import ALL_NAMES, Layout
    from memoryware.sources.policy import agreed
    from memoryware.sources.source import Owner, Source, Writable

__all__ = [
    "ALL_NAMES",
    "Flaw",
    "GuardedBackend",
    "Imports",
    "Layout",
    "Leak",
    "Owner",
    "Source",
    "Writable",
    "acheck",
    "adiscover",
    "agreed",
    "ascan",
    "check",
    "discover",
    "on_disk",
    "scan",
]
_HOMES: Final = {
    "memoryware.sources.checks": ("Flaw", "Leak", "acheck", "ascan", "check", "scan"),
    "memoryware.sources.discovery": ("adiscover", "discover", "on_disk"),
    "memoryware.sources.guarded": ("GuardedBackend",),
    "memoryware.sources.imports": ("Imports",),
    "memoryware.sources.layout": ("ALL_NAMES", "Layout"),
    "memoryware.sources.policy": ("agreed",),
    "memoryware.sources.source": ("Owner", "Source", "Writable"),
}
__getattr__, __dir__ = attach(__name__, _HOMES)
