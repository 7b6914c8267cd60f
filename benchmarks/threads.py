"""Goal 8: memory of the process for each conversation that is kept."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import memory_files
from benchmarks._processes import output_of
from benchmarks._turns import Scale

_THREADS = 40
_FORMS = ("bare", "ours", "peer")
_SMALLEST = 1024
"""Bytes; what is less is noise of the allocator, and counts as this much."""


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 8."""
    place = folder / "threads"
    paths = memory_files(place, 3, 200_000)
    kept: dict[str, list[float]] = {form: [] for form in _FORMS}
    for _ in range(scale.share(0.4)):
        for form in _FORMS:
            kept[form].append(_per_thread(form, place, paths))
    bare = median(kept["bare"])
    ours, peer = (median(kept[form]) - bare for form in ("ours", "peer"))
    note = (
        f"{peer / 1024:,.0f} KB against {ours / 1024:.1f} KB;"
        f" a thread without memory keeps {bare / 1024:,.0f} KB"
    )
    ratio = peer / max(ours, _SMALLEST)
    claim = Claim("less than the peer's for 3x200 KB", ratio, at_least=50, note=note)
    return [Goal(8, "Resident memory per thread in `InMemorySaver`, 10 model calls", [claim])]


def _per_thread(form: str, place: Path, paths: list[str]) -> float:
    return float(output_of("_retained", form, place, _THREADS, *paths))
