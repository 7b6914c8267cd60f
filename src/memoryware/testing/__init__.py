"""Conformance tests for file backends and for stores of tiered memory.

Test a backend of your own in a few lines of its own project::

    from memoryware.testing import FileBackendConformance

    class TestMyBackend(FileBackendConformance):
        @pytest.fixture
        def open_backend(self, tmp_path):
            return lambda: MyBackend(tmp_path / "memory.db")

pytest then runs every test with the blocking and with the async methods. Class attributes such
as `persistent` or `deletes` declare what a backend can do; each value selects another expected
result, none skips a test. Optional protocols have suites of their own (`AppendsConformance`,
`FingerprintsConformance`, `NamesConformance`): a backend that implements one without deriving
from its suite fails. A backend with a history derives from `HistoryConformance`.

Stores of tiers have a suite for each tier, `QuarantineStoreConformance`,
`WorkingStoreConformance` and `LongTermStoreConformance`: derive a class from each and override
`open_stores`, a function that opens `Stores` on the same data, which is empty at first.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from memoryware._install import install_command

_REQUIRED = ("pytest", "pytest_asyncio", "blockbuster")
_missing = [name for name in _REQUIRED if find_spec(name) is None]
if _missing:
    raise ModuleNotFoundError(
        f"memoryware.testing needs {', '.join(_missing)}; "
        f"install it with: {install_command('testing')}",
        name=_missing[0],
    )

# Without this, a failing assert of a suite would not show the values that it compared.
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
