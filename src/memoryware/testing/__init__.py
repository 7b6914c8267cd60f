"""Test suites that every backend and every store of tiers must pass, ours and yours.

A backend of your own is checked in a few lines of its own project::

    from memoryware.testing import FileBackendConformance

    class TestMyBackend(FileBackendConformance):
        @pytest.fixture
        def open_backend(self, tmp_path):
            return lambda: MyBackend(tmp_path / "memory.db")

pytest then runs every test through both halves of every pair of twins. What a
backend is or can is told in class attributes such as `persistent` or `deletes`; an
answer turns a promise round, it never drops one. Optional protocols have suites of
their own (`AppendsConformance`, `FingerprintsConformance`, `NamesConformance`), to be
derived from as well: a backend that offers one without its suite fails. A backend that
keeps a history, by `HistoryBackend` or on its own, is held to `HistoryConformance`.

Stores of tiers have a suite for each protocol, `QuarantineStoreConformance`,
`WorkingStoreConformance` and `LongTermStoreConformance`: derive a class for each tier and
override `open_stores`, a function that opens `Stores` on the same, at first empty, data.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

_NEEDED = ("pytest", "pytest_asyncio", "blockbuster")
_missing = [name for name in _NEEDED if find_spec(name) is None]
if _missing:
    raise ModuleNotFoundError(
        f"memoryware.testing needs {', '.join(_missing)}; "
        "install it with: pip install 'memoryware[testing]'",
        name=_missing[0],
    )

# The suites fail with the values that were compared, as tests of one's own do.
import_module("pytest").register_assert_rewrite(
    *(f"{__name__}.{module.name}" for module in iter_modules(__path__))
)

from memoryware.testing._file_backend import (  # noqa: E402
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
    NamesConformance,
)
from memoryware.testing._history import HistoryConformance  # noqa: E402
from memoryware.testing._tier_stores import (  # noqa: E402
    LongTermStoreConformance,
    QuarantineStoreConformance,
    WorkingStoreConformance,
)

__all__ = [
    "AppendsConformance",
    "FileBackendConformance",
    "FingerprintsConformance",
    "HistoryConformance",
    "LongTermStoreConformance",
    "NamesConformance",
    "QuarantineStoreConformance",
    "WorkingStoreConformance",
]
