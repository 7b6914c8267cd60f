"""Goal 22: processor time until something can be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median

from benchmarks._goals import Claim, Goal
from benchmarks._turns import Scale

_BACKEND = "from memoryware.backends.filesystem import FilesystemBackend"
_MEMORY = "import memoryware.middleware.memory"
_PEER = "import deepagents"
_FLOOR = "import langchain.agents"


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 22."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    codes = (_BACKEND, _MEMORY, _PEER, _FLOOR)
    seconds: dict[str, list[float]] = {code: [] for code in codes}
    for number in range(-1, scale.share(0.7)):
        for code in codes:
            taken = _cpu_of(code, environment)
            if number >= 0:  # the first turn writes the compiled files
                seconds[code].append(taken)

    def ratio(one: str, other: str) -> float:
        return median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))

    def note(one: str, other: str) -> str:
        return " against ".join(f"{median(seconds[x]) * 1000:.0f} ms" for x in (one, other))

    claims = [
        Claim(
            "a backend, less than `import deepagents`",
            ratio(_PEER, _BACKEND),
            10,
            note=note(_PEER, _BACKEND),
        ),
        Claim(
            "the memory middleware against `import langchain.agents`",
            ratio(_MEMORY, _FLOOR),
            at_most=1.05,
            note=note(_MEMORY, _FLOOR),
        ),
    ]
    return [Goal(22, "Imports, processor time", claims)]


def _cpu_of(code: str, environment: dict[str, str]) -> float:
    """Return the processor seconds of a fresh interpreter that runs this code."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], environment)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"this failed in a fresh interpreter: {code}")
    return used.ru_utime + used.ru_stime
