"""The figures of the load run, and its section on the page."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import quantiles
from typing import Any

from benchmarks._page import PAGE
from benchmarks.load.check import Checked, Journals
from benchmarks.load.making import Group
from benchmarks.load.sides import FOUND, KINDS, MIXED, PHASES

_BEGIN, _END = "<!-- load: begin -->", "<!-- load: end -->"
_HEAD = "| | | operations/s | CPU of the client | p50 | p95 | p99 | longest |"
_RULE = "|---|---|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Outage:
    """One restart.

    Attributes:
        side: Whose turn it was.
        begin: When the servers were killed.
        away: Seconds until both answered again.
    """

    side: str
    begin: float
    away: float


def figures(sides: dict[str, Journals], seconds: float) -> list[str]:
    """Return the table: each phase of each side."""
    lines = [_HEAD, _RULE]
    for name, journals in sides.items():
        for phase, share in PHASES.items():
            done = _of(journals, phase)
            lines.append(_row(name if phase == MIXED else "", phase, done, seconds * share))
    shown = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in ratios(sides).items())
    return [*lines, "", f"Operations of ours for one of theirs: {shown}."]


def ratios(sides: dict[str, Journals]) -> dict[str, float]:
    """Return how many operations ours confirmed in each phase for one of the peer's."""
    ours, theirs = sides.values()
    return {phase: len(_of(ours, phase)) / max(len(_of(theirs, phase)), 1) for phase in PHASES}


def _of(journals: Journals, phase: str) -> list[dict[str, Any]]:
    """Return what was confirmed in a phase and is of its kind."""
    kinds = KINDS if phase == MIXED else (phase,)
    return [done for done in journals.done if done["phase"] == phase and done["kind"] in kinds]


def _row(name: str, kind: str, done: Sequence[dict[str, Any]], seconds: float) -> str:
    took = [one["end"] - one["begin"] for one in done]
    if len(took) < 2:
        return f"| {name} | {kind} | {len(took)} | | | | | |"
    cuts = quantiles(took, n=100, method="inclusive")
    cpu = sum(one["cpu"] for one in done) / len(done)
    shown = " | ".join(_time(one) for one in (cpu, cuts[49], cuts[94], cuts[98], max(took)))
    return f"| {name} | {kind} | {len(took) / seconds:,.1f} | {shown} |"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def outages(sides: dict[str, Journals], restarts: Sequence[Outage]) -> Iterator[str]:
    """Say for each restart how long nothing was confirmed, and what raised."""
    for one in restarts:
        ends = sorted(done["end"] for done in sides[one.side].done)
        place = bisect_left(ends, one.begin)
        around = ends[max(0, place - 1) :]
        gap = max(
            (b - a for a, b in pairwise(around) if a < one.begin + one.away),
            default=0.0,
        )
        yield (
            f"Restart in a turn of {one.side}: the servers were away for {one.away:.2f} s, and"
            f" nothing was confirmed for {gap:.2f} s."
        )


def errors(name: str, journals: Journals) -> Iterator[str]:
    """Say what raised, how often, and what was done only in part."""
    kinds = Counter((one["kind"], one["error"]) for one in journals.failed)
    listed = ", ".join(f"{count} x {kind}: {error}" for (kind, error), count in kinds.items())
    again = sum(one["attempts"] > 1 for one in journals.done)
    late = Counter((one["kind"], one["degraded"]) for one in journals.done if "degraded" in one)
    parts = ", ".join(f"{count} x {kind}: {what}" for (kind, what), count in late.items())
    yield f"{name}: raised {listed or 'nothing'}; {again} confirmed at a later attempt."
    if parts:
        yield f"{name}: confirmed in part: {parts}."
    refused = Counter(one["refused"] for one in journals.done if one.get("refused"))
    if refused:
        said = ", ".join(f"{count} x {reason}" for reason, count in refused.items())
        yield f"{name}: working memory did not take {said}."


def answers(name: str, journals: Journals) -> str:
    """Say how much of what could be found was found, and what was embedded for it."""
    ends: dict[Group, list[float]] = defaultdict(list)
    for one in journals.confirmed("promote"):
        ends[one["group"]].append(one["end"])
    for times in ends.values():
        times.sort()
    found = expected = 0
    for one in journals.confirmed("retrieve"):
        before = min(FOUND, bisect_left(ends[one["group"]], one["begin"]))
        expected += before
        found += min(one["found"], before)
    each = journals.embedded / max(1, len(journals.done))
    return (
        f"{name}: retrievals showed {found:,} of {expected:,} memories that the group had for them"
        f" (at most {FOUND} each); {each:.1f} texts embedded for one operation."
    )


def verdict(name: str, checked: Checked, journals: Journals) -> list[str]:
    """Say what the check has found, with the first of what is wrong."""
    counts = ", ".join(f"{count:,} in {where}" for where, count in checked.counts.items())
    kinds = Counter(one["kind"] for one in journals.done)
    said = f"{kinds['record']:,} records and {kinds['promote']:,} promotions were confirmed"
    if not checked.wrong:
        return [f"{name}: {said}; every one is there, once, in the right place ({counts})."]
    first = [f"  {one}" for one in checked.wrong[:20]]
    return [f"{name}: {said} ({counts}). WRONG: {len(checked.wrong)}", *first]


def write(lines: Sequence[str]) -> None:
    """Put the section between its marks on the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    if not rest or not after:
        raise SystemExit(f"{PAGE.name} has lost the marks {_BEGIN} and {_END}")
    block = "\n".join([_BEGIN, "", *lines, "", _END])
    PAGE.write_text(before + block + after, encoding="utf-8")
