"""A week of an agent with three users in two threads: in the end everything agrees."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoryware import HistoryBackend
from memoryware.backends import Version
from scenarios.play_week import history_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL and fork are of POSIX")
RUNS, USERS, THREADS = 200, ("ann", "bob", "cid"), ("t1", "t2")
LAW = "- We answer within a day.\n"


def secret(dice: random.Random) -> str:
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    return "ghp_" + "".join(dice.choices(letters, k=36))


class Week:
    """The runs of a week, and what a careful person would have noted beside them."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self.dice = root, dice
        self.texts: dict[str, str | None] = {"/team.md": LAW}
        self.secrets: list[str] = []
        self.seen: Counter[str] = Counter()
        self.killed: set[str] = set()

    def now(self, path: str) -> str | None:
        file = self.root / "memory" / path[1:]
        return file.read_text() if file.exists() else None

    def plan(self, n: int) -> dict:
        user, thread = self.dice.choice(USERS), self.dice.choice(THREADS)
        run = {"n": n, "user": user, "thread": thread}
        own = f"/users/{user}.md"
        text = self.texts.get(own) or ""
        what = self.dice.choices(
            ("append", "edit", "project", "secret", "law", "wipe", "undo", "kill"),
            (40, 15, 15, 6, 6, 6, 6, 12),
        )[0]
        if what == "undo" and self.seen["append"] > 5 and text:
            return {**run, "undo": own, "what": "undo"}
        if what == "edit" and text.strip():
            old = self.dice.choice(text.splitlines())
            args = {"file_path": own, "old_string": old, "new_string": f"{old} (run {n})"}
            return {**run, "tool": "edit_file", "args": args, "what": "edit"}
        if what == "secret":
            self.secrets.append(secret(self.dice))
            line = f"- The deploy token is {self.secrets[-1]}"
            return self.adds(run, own, line, "secret")
        if what == "law":
            return self.adds(run, "/team.md", "- Be quick.", "law")
        if what == "wipe" and len(text.split()) > 30:
            args = {"file_path": own, "content": f"- Start again in run {n}.\n"}
            run["decision"] = self.dice.choice(("approve", "reject"))
            return {**run, "tool": "write_file", "args": args, "what": "wipe"}
        path = "/project.md" if what == "project" else own
        run = self.adds(run, path, f"- {user} said in run {n} of {thread}: it rains.", "append")
        moment = self.dice.choice((self.dice.uniform(0, 0.3), "injected", "written"))
        return {**run, "what": "kill", "kill": moment} if what == "kill" else run

    @staticmethod
    def adds(run: dict, path: str, line: str, what: str) -> dict:
        args = {"file_path": path, "text": line}
        return {**run, "tool": "append_file", "args": args, "what": what}

    def check(self, run: dict, answer: dict) -> None:
        """Compare a run with what it may have done, and note what it did."""
        path = run.get("undo") or run["args"]["file_path"]
        before, after = self.texts.get(path), self.now(path)
        if "killed" in answer:
            self.seen["killed before" if before == after else "killed after"] += 1
            assert after in (before, self.wanted(run, before))
            self.killed.add(f"run-{run['n']}")
        elif run["what"] == "undo":
            assert after != before
        else:
            done = answer["done"]
            self.seen[f"{run['what']} {done['status']}"] += 1
            refused = run["what"] in ("secret", "law") or run.get("decision") == "reject"
            assert done["status"] == ("error" if refused else "success"), done["said"]
            assert done["asked"] is (run["what"] == "wipe")
            assert after == (before if refused else self.wanted(run, before))
            others = [name for name in USERS if name != run["user"]]
            assert not any(
                f"- {name} said" in done["prompt"].split("/users/")[-1] for name in others
            )
        self.seen[run["what"]] += 1
        self.texts[path] = after

    @staticmethod
    def wanted(run: dict, before: str | None) -> str:
        args = run["args"]
        if run["tool"] == "append_file":
            return (before or "") + args["text"] + "\n"
        if run["tool"] == "write_file":
            return args["content"]
        return (before or "").replace(args["old_string"], args["new_string"], 1)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_after_a_week_history_files_and_events_agree_line_by_line(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/team.md").write_text(LAW)
    week = Week(tmp_path, random.Random(11))
    with ExitStack() as stack:
        script = str(Path(__file__).with_name("play_week.py"))
        player = stack.enter_context(
            subprocess.Popen(
                [sys.executable, script, str(tmp_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            )
        )
        for n in range(RUNS):
            run = week.plan(n)
            player.stdin.write(json.dumps(run) + "\n")
            player.stdin.flush()
            week.check(run, json.loads(player.stdout.readline()))
        player.stdin.close()

    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    everything_happened(week)
    versions_tell_the_files(week)
    events_tell_the_versions(week, events)
    nothing_secret_is_anywhere(week)


def everything_happened(week: Week) -> None:
    kinds = ("append success", "edit success", "secret error", "law error", "undo")
    assert all(week.seen[kind] >= 3 for kind in kinds), week.seen
    assert week.seen["wipe success"] + week.seen["wipe error"] >= 3, week.seen
    assert week.seen["killed before"] >= 2, week.seen
    assert week.seen["killed after"] >= 2, week.seen
    assert week.now("/team.md") == LAW


def versions_tell_the_files(week: Week) -> None:
    """The last version is the file, and each follows from the one before it."""
    history = history_of(week.root, RUNS)
    changed = {path for path, text in week.texts.items() if path != "/team.md"}
    assert set(history.files()) == changed
    for path in changed:
        versions = [one for one in reversed(history.log(path)) if one.applied]
        assert versions[-1].current
        assert history.show(path, versions[-1]) == week.now(path)
        assert history.diff(path, versions[-1]) == ""
        assert [b.before for b in versions[1:]] == [a.after for a in versions[:-1]]
        assert not [one for one in versions if one.kind in ("outside", "found")]


def text_before(history: HistoryBackend, version: Version) -> str:
    """Return what a change replaced: the version before may be of a call that was killed."""
    known = [one for one in history.log(version.path) if one.after == version.before]
    return history.show(version.path, known[0])


def events_tell_the_versions(week: Week, events: list[dict]) -> None:
    """Each change that was told has its version by the same call, and the other way round."""
    history = history_of(week.root, RUNS)
    told = {one["tool_call"]: one for one in events if one["event"] == "written"}
    made = {}
    for path in history.files():
        for one in history.log(path):
            if one.applied and one.kind != "undo":
                made[one.actor.tool_call] = one
            if one.kind == "undo":
                assert one.reason == "a person took it back"
                assert one.actor.user in USERS
    assert set(told) <= set(made)
    assert set(made) - set(told) <= week.killed
    for call, event in told.items():
        version = made[call]
        assert (version.path, version.actor.user) == (event["path"], event["user"])
        assert (version.actor.thread, version.actor.agent) == (event["thread"], "scribe")
        new = history.show(version.path, version)
        old = "" if version.before is None else text_before(history, version)
        assert len(new) == event["characters"]
        came = Counter(new.splitlines()) - Counter(old.splitlines())
        went = Counter(old.splitlines()) - Counter(new.splitlines())
        assert (came.total(), went.total()) == (event["lines_added"], event["lines_removed"])
    blocked = Counter(one["reason"] for one in events if one["event"] == "write_blocked")
    assert blocked["secret"] == week.seen["secret error"]
    assert blocked["read_only"] == week.seen["law error"]
    assert blocked["not_approved"] == week.seen["wipe error"]


def nothing_secret_is_anywhere(week: Week) -> None:
    """No secret is in memory, history or events; the threads hold what the model itself said."""
    assert week.secrets
    for file in week.root.rglob("*"):
        if file.is_file() and not file.name.startswith("threads.db"):
            data = file.read_bytes()
            assert not any(one.encode() in data for one in week.secrets), file
