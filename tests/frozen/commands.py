"""What the commands print with `--json` on the sample data, at the moment of reading."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from frozen.reads import Reader, reading_clock
from frozen.sample import new_ids
from memoryware import TieredMemory
from memoryware.cli import doctor
from memoryware.cli.main import main

READS = (
    "list",
    "list --tier quarantine --limit 5",
    "list --tier working",
    "list --tier long-term --offset 3 --limit 4",
    "list --words refunds",
    "list --tenant acme --group Ops",
    "list --group nobody",
    "show <several-statements>",
    "show <rejected>",
    "show <checked-entry>",
    "show <echo>",
    "show <proposal of memory-refund-agent>",
    "show <memory-refund>",
    "show <memory-chunks#2>",
    "show <memory-grounds>",
    "show <memory-coupon>",
    "show <memory-odd-0>",
    "show <memory-odd-1>",
    "show 00000000",
    "search 'who signs refunds'",
    "search 'who signs refunds' --explain --limit 3",
    "search 'who signs refunds' --tier long-term --at 2026-02-02T09:30+00:00",
    "search 'queue at the counter' --tier working --min-trust unverified --since 1d",
    "search 'long answers' --agent helper",
    "search 'zzz'",
    "digest",
    "digest --limit 3",
    "digest --origin import",
    "digest --user ann --trust user",
    "digest --tenant acme",
    "revoke <memory-checked> --dry-run",
    "revoke --origin tool:web_search --dry-run",
    "restore <receipt-coupon> --dry-run",
    "forget --user ann --everything --dry-run",
    "forget <memory-grounds> --keep-derived --dry-run",
    "supersede <memory-language> 'The shop answers in German only.' --dry-run",
    "export bundle.jsonl",
)
"""Commands that change nothing; `<label>` stands for the id that has it."""
WRITES = (
    "add 'The scale in hall two is calibrated in April.' --key card-9 --by ann",
    "add 'The scale in hall two is calibrated in April.' --key card-9 --by ann",
    "add 'The roof garden is closed.' --propose --by bob",
    "add 'The api key is sk-proj-Zx81Lm0PqRs7Tu2VwXy9AbCdEfGh' --by ann",
    "propose <pending-user> <verify-pending> --by bob",
    "promote <pending-agent> --by carol --subject supplier",
    "promote <rejected> --by bob",
    "promote <several-statements>#1 --by carol",
    "promote <proposal of memory-refund-agent> --by carol",
    "reject <pending-user> <no-confidence> --by carol --reason 'not needed'",
    "supersede <memory-language> 'The shop answers in German only.' --by carol --yes",
    "revoke <memory-checked> --by carol --reason 'wrong page' --yes",
    "revoke <mistaken> --alone --by carol --yes",
    "restore <receipt-coupon> --by dora",
    "forget --words 'alarm code' --by carol --yes",
    "forget <odd-entry-0> --by carol --yes",
    "forget --user nobody --everything --by carol --yes",
    "backup copy.db",
    "list --limit 60",
)
"""Commands that change memory, one after the other."""


def outputs(folder: Path, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return what each command prints, with labels in place of ids.

    Args:
        folder: With the SQLite file of the data, `memory.db`.
        labels: The labels of its ids.
    """
    reader = Reader(None, labels)  # type: ignore[arg-type]  # only its text is used
    ids = {label: id_ for id_, label in labels.items()}
    found: dict[str, Any] = {}
    new = _NewLabels()
    with _surroundings(folder, new):
        for number, line in enumerate((*READS, *WRITES)):
            answer = run([_with_ids(word, ids) for word in _words(line)])
            text = reader.text(json.dumps(answer)).replace(str(folder), "FOLDER")
            text = new.in_place_of_ids(text)
            # how large a file is belongs to its schema
            text = re.sub(r'"bytes": \d+', '"bytes": "a number"', text)
            found[f"{number + 1}. {line}"] = json.loads(text)
    return found


def run(arguments: list[str]) -> dict[str, Any]:
    """Run a command in this process and return its exit code and what it printed."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["memoryware", *arguments, "--json"]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    text = out.getvalue()
    try:
        printed = json.loads(text)
    except ValueError:
        printed = [json.loads(line) for line in text.splitlines() if line.startswith("{")] or text
    return {"code": code, "out": printed, "err": err.getvalue()}


def _words(line: str) -> list[str]:
    """Split a line at blanks outside of quotes and angle brackets."""
    words, word, until = [], "", ""
    for character in line:
        if until:
            until = "" if character == until else until
            word += "" if character == "'" else character
        elif character == " ":
            words.append(word)
            word = ""
        else:
            until = {"'": "'", "<": ">"}.get(character, "")
            word += "" if character == "'" else character
    return [*words, word]


def _with_ids(word: str, ids: Mapping[str, str]) -> str:
    before, mark, rest = word.partition("<")
    label, end, after = rest.partition(">")
    return f"{before}{ids[label]}{after}" if mark and end else word


class _NewLabels:
    """Labels of the ids that commands make: how many an operation makes is its own business."""

    def __init__(self) -> None:
        self._next = new_ids()
        for _ in range(10_000):  # none that the data has already
            self._next()
        self._made: dict[str, str] = {}
        self._shown = 0

    def new_id(self) -> str:
        """Make an id, which has no label until it is shown."""
        made = self._next()
        self._made[made] = ""
        return made

    def in_place_of_ids(self, text: str) -> str:
        """Return a text with labels in place of new ids, in the order in which they are shown."""

        def label(found: re.Match[str]) -> str:
            if found[0] not in self._made:
                return found[0]
            if not self._made[found[0]]:
                self._shown += 1
                self._made[found[0]] = f"<new {self._shown}>"
            return self._made[found[0]]

        return re.sub(r"\b[0-9a-f]{32}\b", label, text)


@contextmanager
def _surroundings(folder: Path, new: _NewLabels) -> Iterator[None]:
    """Work in a folder with a configuration, a fixed person, clock and ids."""
    (folder / "memoryware.json").write_text(
        '{"store": "sqlite:///memory.db", "scope": {"group_id": "shop"}}'
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in [one for one in os.environ if one.startswith("MEMORYWARE_")]:
            patch.delenv(name)
        patch.setenv("USER", "ann")
        patch.setenv("HOME", str(folder))
        patch.setenv("TZ", "UTC")
        patch.chdir(folder)
        patch.setattr(sys, "argv", [])
        # The commands take the clock and the ids that `TieredMemory` has by default.
        defaults = TieredMemory.__init__.__kwdefaults__
        patch.setitem(defaults, "clock", reading_clock())
        patch.setitem(defaults, "new_id", new.new_id)
        patch.setattr(doctor, "utc_now", reading_clock())
        yield
