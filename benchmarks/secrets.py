"""`python -m benchmarks.secrets [--chat FILE.zip]`: how well secrets are found, and how fast.

Credentials are made up from a seed, in four parts; see `PARTS`. A credential is found when one
finding covers 95 % of it. A finding that touches no credential, or reaches far beyond one, is a
stray. Texts without a credential that look as if they had one are in two parts as well.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import secret_kinds, secret_last, secret_later, secret_others
from benchmarks._turns import in_turns
from benchmarks.secret_lookalikes import lookalikes
from benchmarks.secret_lookalikes_later import later_lookalikes
from benchmarks.secret_making import Kind, Sample, samples
from memoryware.guard import Finding, Guard

PARTS: dict[str, Sequence[Kind]] = {
    "1, with the rules": secret_kinds.KINDS,
    "2, after them": secret_others.KINDS,
    "3, after mending by 2": secret_later.KINDS,
    "4, after mending by 3": secret_last.KINDS,
}
LOOKALIKES: dict[str, Callable[[], Iterable[Sample]]] = {
    "1, with the rules": lookalikes,
    "2, after part 4": later_lookalikes,
}
EACH, SEED = 14, 1
_COVERED, _BEYOND = 0.95, 12
_PIECE, _MOST = 2048, 24
_LOOKS = [f"{one}{other}qz" for one in "abcdefghij" for other in "klmnopqrst"]
Scan = Callable[[str], list[Finding]]


@dataclass(slots=True)
class Score:
    """What was found of one part."""

    texts: int = 0
    found: int = 0
    strays: int = 0
    missed: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))

    @property
    def recall(self) -> float:
        """The part of the credentials that was found."""
        return self.found / self.texts


def score(scan: Scan, made: Iterable[Sample]) -> Score:
    """Look for the credentials of the samples."""
    result = Score()
    for sample in made:
        start = sample.text.index(sample.secret)
        end = start + len(sample.secret)
        findings = scan(sample.text)
        covered = max((min(one.end, end) - max(one.start, start) for one in findings), default=0)
        result.texts += 1
        if covered >= _COVERED * len(sample.secret):
            result.found += 1
        else:
            result.missed[sample.kind].append(sample)
        result.strays += sum(
            one.end <= start
            or one.start >= end
            or one.end - one.start > len(sample.secret) + _BEYOND
            for one in findings
        )
    return result


def false_alarms(scan: Scan, texts: Iterable[Sample]) -> tuple[int, list[Sample]]:
    """Return how many texts there are and those in which something was found."""
    texts = list(texts)
    return len(texts), [one for one in texts if scan(one.text)]


def turns_of(path: str) -> Iterator[str]:
    """Return the turns of the chats in an archive of JSON files with keys `session_...`."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                yield from _turns(json.loads(archive.read(name)))


def _turns(chat: Any) -> Iterator[str]:
    for name, turns in chat.items():
        if name.startswith("session_") and isinstance(turns, list):
            for turn in turns:
                text = turn.get("text") or turn.get("clean_text")
                if text:
                    yield text


def speed(scan: Scan, text: str) -> str:
    """Return the time that 2 KB take, against that of one look for each word of a list.

    A look is `word in text`, the quickest that Python has; there are a hundred.
    """
    pieces = [text[at : at + _PIECE] for at in range(0, min(len(text), _MOST * _PIECE), _PIECE)]
    times = in_turns(
        {
            "scan": lambda: [scan(piece) for piece in pieces],
            "looks": lambda: [word in piece for piece in pieces for word in _LOOKS],
        },
        rounds=7,
    )
    micro = times.of("scan") * 1e6 / len(pieces)
    return f"{micro:.0f} µs for 2 KB, {times.ratio('scan', 'looks'):.1f} times a hundred looks"


def _prose() -> str:
    """Return what people say about passwords, each line in another way."""
    return "\n".join(one.text for one in lookalikes() if one.kind == "prose")


def _documentation() -> str:
    """Return the pages of the documentation, without the one on secrets."""
    pages = sorted((Path(__file__).parents[1] / "docs").rglob("*.md"))
    return "\n".join(one.read_text("utf-8") for one in pages if "secret" not in one.name)


def main() -> None:
    """Print the figures."""
    options = _options()
    scan = Guard().scan
    kinds = hits = strays = alarms = 0
    print("part                      kinds  texts  found  recall  strays")
    for name, part in PARTS.items():
        result = score(scan, samples(part, options.each, options.seed))
        kinds, hits, strays = kinds + len(part), hits + result.found, strays + result.strays
        print(
            f"{name:25} {len(part):5} {result.texts:6} {result.found:6}"
            f"  {result.recall:6.3f} {result.strays:7}"
        )
        if options.missed:
            for missed in result.missed.values():
                print(f"    {missed[0].kind}: {missed[0].text!r}")
    print(f"{kinds} kinds")
    for name, texts in LOOKALIKES.items():
        count, flagged = false_alarms(scan, texts())
        alarms += len(flagged)
        print(f"look-alikes {name}: {count} texts, {len(flagged)} false alarms")
        for one in flagged:
            print(f"    {one.kind}: {one.text!r}")
    # as many texts with a secret as without one
    shares = [score(scan, samples(part, 3, options.seed + 1)).found for part in PARTS.values()]
    print(f"precision: {sum(shares) / (sum(shares) + strays + alarms):.3f}")
    print(f"speed on the documentation: {speed(scan, _documentation())}")
    print(f"speed on prose about secrets: {speed(scan, _prose())}")
    if options.chat:
        chat = list(turns_of(options.chat))
        count, flagged = false_alarms(scan, (Sample("chat", text) for text in chat))
        print(f"chat: {count} turns, {len(flagged)} false alarms")
        print(f"speed on chat: {speed(scan, chr(10).join(chat))}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets")
    parser.add_argument("--chat", metavar="FILE.zip", help="chats to look through for false alarms")
    parser.add_argument("--each", type=int, default=EACH, help="texts of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--missed", action="store_true", help="show one missed text of each kind")
    return parser.parse_args()


if __name__ == "__main__":
    main()
