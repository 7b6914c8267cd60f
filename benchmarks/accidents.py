"""Goals 18 and 19, counted in a small version: lost lines, and broken files.

The tests do the same with many more kills and writers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks._goals import Claim, Goal
from benchmarks._processes import output_of
from benchmarks._turns import Scale

_PATIENT = 50
"""How often the peer may try each line again."""


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Count goals 18 and 19."""
    return [_lost(folder), _broken(folder, 100 if scale.full else 20)]


def _lost(folder: Path) -> Goal:
    peer, patient = (_written(folder, "peer", 8, 50, tries) for tries in (1, _PATIENT))
    note = (
        f"the peer: {peer['kept']} with one try each; with {_PATIENT} tries {patient['added']}"
        f" reported, {patient['kept']} kept"
    )
    claims = []
    for form, name in (("ours", "by `edit`"), ("append", "by `append`")):
        done = _written(folder, form, 8, 50, 1)
        what = f"lines kept of 400 by 8 processes, {name}"
        claims.append(Claim(what, done["kept"], at_least=400, unit="", note=note))
        claims.append(
            Claim(
                f"errors, {name}",
                done["errors"],
                at_most=0,
                unit="",
                note=f"the peer: {peer['errors']}",
            )
        )
    mine, theirs = (_written(folder, form, 8, 15, 1) for form in ("store", "peer-store"))
    note = f"the peer: {theirs['added']} reported, {theirs['kept']} kept"
    what = "lines kept of 120 by 8 threads, `StoreBackend` over `SqliteStore`"
    claims.append(Claim(what, mine["kept"], at_least=120, unit="", note=note))
    return Goal(18, "Several writers of one file, one try for each line", claims)


def _written(folder: Path, form: str, writers: int, lines: int, tries: int) -> dict[str, int]:
    place = folder / f"writers-{form}-{tries}"
    place.mkdir()
    return _figures("_writers", form, place, writers, lines, tries)


def _broken(folder: Path, kills: int) -> Goal:
    done = {}
    for form in ("ours", "peer"):
        place = folder / f"killed-{form}"
        place.mkdir()
        done[form] = _figures("_killed", form, place, kills)
    ours, peer = done["ours"], done["peer"]
    share = 100 * peer["broken loads"] / peer["loads"]
    kept = f"the peer: {peer['kept']}"
    claims = [
        Claim(
            f"broken files after {kills} kills",
            ours["killed"],
            at_most=0,
            unit="",
            note=f"the peer: {peer['killed']}",
        ),
        Claim(
            f"broken loads of {ours['loads']:,} beside a writer",
            ours["broken loads"],
            at_most=0,
            unit="",
            note=f"the peer: {share:.0f} % of {peer['loads']:,}",
        ),
        Claim(
            "old texts kept of 2 when the new one cannot be stored",
            ours["kept"],
            at_least=2,
            unit="",
            note=kept,
        ),
    ]
    return Goal(19, "A file of 20 KB after a bad moment", claims)


def _figures(module: str, *args: Any) -> dict[str, int]:
    figures: dict[str, int] = json.loads(output_of(module, *args))
    return figures
