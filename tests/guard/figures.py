"""The made-up credentials of the benchmark, for tests."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # `benchmarks` is no part of the package
    sys.path.append(str(ROOT))

from benchmarks.secret_lookalikes import lookalikes  # noqa: E402
from benchmarks.secret_lookalikes_later import later_lookalikes  # noqa: E402
from benchmarks.secret_making import Sample, filled, password, samples  # noqa: E402
from benchmarks.secrets import PARTS, false_alarms, score  # noqa: E402

__all__ = [
    "PARTS",
    "Sample",
    "false_alarms",
    "filled",
    "later_lookalikes",
    "lookalikes",
    "password",
    "samples",
    "score",
]
