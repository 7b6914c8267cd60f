"""One process of the load run: `python -m benchmarks.load.worker CONFIG`, see `main`."""

from __future__ import annotations

import json
import logging
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from benchmarks.load.making import Group, query_of, text_of
from benchmarks.load.making import groups as groups_of
from benchmarks.load.sides import KINDS, MIXED, PHASES, LangGraph, Side, Tiers, Wish

_SHARES = (60, 10, 30)
"""Of a mixed load, in the order of `KINDS`."""
_BUSY = 0.5
"""Share of the operations that go to the busiest tenth of the groups."""
_PAUSE = 0.05
"""Seconds before something that failed is done once more."""
_GIVE_UP = 60.0
"""Seconds after which it is not done again."""
_REMEMBERED = 500
"""Entries of one worker that wait for their promotion, the newest."""


@dataclass
class Worker:
    """Asks one side for one thing after the other, and writes down what came of it."""

    number: int
    side: Side
    groups: list[Group]
    journal: TextIO
    dice: random.Random
    count: int = 0
    waiting: list[tuple[Wish, Any]] = field(default_factory=list)
    said: dict[Group, str] = field(default_factory=dict)

    def step(self, phase: str = MIXED) -> None:
        """Do one operation of a phase until it is confirmed, or given up."""
        wish = self._wish(phase)
        begin, attempts = time.monotonic(), 0
        cpu = time.process_time()
        while True:
            attempts += 1
            started = time.monotonic()
            try:
                made, confirmed = self.side.do(wish)
            except Exception as error:
                name, text = type(error).__name__, str(error).partition("\n")[0][:300]
                self._note(wish, phase, started, error=name, said=text)
                if time.monotonic() - begin > _GIVE_UP:
                    return
                time.sleep(_PAUSE)
                continue
            cpu = time.process_time() - cpu
            self._note(wish, phase, begin, attempts=attempts, cpu=cpu, **confirmed)
            if wish.kind == "record":
                self._remember(wish, made)
            return

    def _wish(self, phase: str) -> Wish:
        self.count += 1
        (kind,) = self.dice.choices(KINDS, _SHARES) if phase == MIXED else (phase,)
        key = f"{self.number}-{self.count}"
        if kind == "promote" and self.waiting:
            before, made = self.waiting.pop(self.dice.randrange(len(self.waiting)))
            return Wish("promote", before.group, key, before.text, made)
        group = self._group()
        text = text_of(self.dice, group, key)
        if kind == "retrieve":
            return Wish("retrieve", group, key, query_of(self.said.get(group, text)))
        return Wish("record", group, key, text)

    def _group(self) -> Group:
        """Return any group; half of them are of the tenth that is busiest."""
        few = self.groups[: max(1, len(self.groups) // 10)]
        return self.dice.choice(few if self.dice.random() < _BUSY else self.groups)

    def _remember(self, wish: Wish, made: Any) -> None:
        self.waiting = [*self.waiting, (wish, made)][-_REMEMBERED:]
        self.said[wish.group] = wish.text

    def _note(self, wish: Wish, phase: str, begin: float, **more: Any) -> None:
        line = {
            "side": self.side.name, "phase": phase, "kind": wish.kind, "key": wish.key,
            "group": wish.group,
            "begin": begin, "end": time.monotonic(), **more,
        }  # fmt: skip
        self.journal.write(json.dumps(line) + "\n")
        self.journal.flush()


def main() -> None:
    """Open both sides, say so, wait for the moment to begin, and work in turns."""
    config = json.loads(sys.argv[1])
    logging.basicConfig(filename=Path(config["folder"]) / f"log-{config['number']}")
    sides: list[Side] = [Tiers(config["ours"]), LangGraph(config["theirs"])]
    with (Path(config["folder"]) / f"journal-{config['number']}").open("a") as journal:
        workers = [_worker(config, side, journal) for side in sides]
        print("ready", flush=True)
        start = float(sys.stdin.readline())
        with _profiled(config.get("profile")):
            for turn in range(2 * config["turns"]):
                begin = start + turn * config["turn"]
                _work(workers[turn % 2].step, begin, begin + config["turn"])
        for side in sides:
            journal.write(json.dumps({"side": side.name, "embedded": side.embeddings.texts}) + "\n")
    for side in sides:
        with suppress(Exception):
            side.close()


def _worker(config: dict[str, Any], side: Side, journal: TextIO) -> Worker:
    number = config["number"]
    return Worker(number, side, groups_of(config["groups"]), journal, random.Random(number))


def _work(step: Callable[[str], None], begin: float, end: float) -> None:
    """Do what each phase of a turn is for, at the same moments as all other processes."""
    length = end - begin
    for phase, share in PHASES.items():
        time.sleep(max(0.0, begin - time.monotonic()))
        begin += share * length
        while time.monotonic() < begin:
            step(phase)


def _profiled(path: str | None) -> Any:
    import contextlib
    import cProfile

    @contextlib.contextmanager
    def measured() -> Any:
        profile = cProfile.Profile()
        profile.enable()
        yield
        profile.disable()
        profile.dump_stats(path)

    return measured() if path else contextlib.nullcontext()


if __name__ == "__main__":
    main()
