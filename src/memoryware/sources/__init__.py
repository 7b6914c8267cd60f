"""Memory files and their owners: sources, discovery, imports, consent, checks and scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoryware._lazy import attach

if TYPE_CHECKING:
    from memoryware.sources.checking import Flaw, acheck, check
    from memoryware.sources.consent import agreed
    from memoryware.sources.discovery import ALL_NAMES, Layout, adiscover, discover, on_disk
    from memoryware.sources.guarded import GuardedBackend
    from memoryware.sources.imports import Imports
    from memoryware.sources.scanning import Leak, ascan, scan
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
    "memoryware.sources.checking": ("Flaw", "acheck", "check"),
    "memoryware.sources.consent": ("agreed",),
    "memoryware.sources.discovery": ("ALL_NAMES", "Layout", "adiscover", "discover", "on_disk"),
    "memoryware.sources.guarded": ("GuardedBackend",),
    "memoryware.sources.imports": ("Imports",),
    "memoryware.sources.scanning": ("Leak", "ascan", "scan"),
    "memoryware.sources.source": ("Owner", "Source", "Writable"),
}
__getattr__, __dir__ = attach(__name__, _HOMES)
