"""Every example runs as a user runs it, and says what it promises."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICKSTART = EXAMPLES / "quickstart" / "main.py"
HELPERS = {"scripted"}
SAYS = {
    "group_chat": """\
ann: No fish for me.
  the model is shown: /ME.md | - Ann does not eat fish.
bo: I pay.
  the model is shown: /ME.md | - Bo pays.
ann: What do you know of me?
  the model is shown: /ME.md | - Ann does not eat fish.
bo: And of me?
  the model is shown: /ME.md | - Bo pays.
""",
    "owners": """\
error: Error: '/TEAM.md' may only be read and holds what the team has agreed on. Save it where it belongs instead: /PROJECT.md (facts and rules of this project); /ANN.md (what holds for this user everywhere)
success: Added to the end of /ANN.md

A person is asked: a change of /PROJECT.md needs consent.

--- /PROJECT.md
+++ /PROJECT.md
@@ -1 +1,2 @@
 - The shop sells tea.
+- The shop sells coffee, too.

/TEAM.md:
- We answer within a day.

/PROJECT.md:
- The shop sells tea.
- The shop sells coffee, too.

/ANN.md:
- Ann answers when she can.
""",
    "discovery": """\
user: ~/.codex/AGENTS.md
project: /repo/AGENTS.md
project: /repo/web/AGENTS.md

Model call 1 knows
~/.codex/AGENTS.md
/repo/AGENTS.md
/repo/web/AGENTS.md

Model call 2 knows
~/.codex/AGENTS.md
/repo/AGENTS.md
/repo/web/AGENTS.md
/repo/pay/AGENTS.md
""",
    "imports": """\
/shop/AGENTS.md wants /company.md: yes
/shop/AGENTS.md wants /diary.md: no

/shop/AGENTS.md
# Shop

[from /shop/docs/style.md]
- Prices are in euro.
- Ask @bo about taxes.

[from /shop/docs/more.md]
- Round up.
[end of /shop/docs/more.md]
[end of /shop/docs/style.md]

[from /company.md]
- We close at five.
[end of /company.md]

[import refused: /diary.md is not approved]
""",
    "events": """\
loaded 2 files, 59 characters
showed 24 tokens, cut nothing
ann: append_file /AGENTS.md +1
loaded 2 files, 84 characters
showed 30 tokens, cut nothing
ann: no append_file /AGENTS.md (secret, password)
loaded 2 files, 84 characters
showed 30 tokens, cut nothing
ann: no append_file /TEAM.md (read_only)
loaded 2 files, 84 characters
showed 30 tokens, cut nothing

loaded: 4
injected: 4
written: 1
write_blocked: 2
write_blocked.secret: 1
""",
    "approval": """\
The agent wants: append_file '- Bo may spend it all.'
  a person rejects it

The agent wants: append_file '- Ask Ann about the budget.'
  a person approves it

- The budget is 100.
- Ask Ann about the budget.
""",
    "files_in_state": """\
In the result:
- Answer in French.
- Invoices go to Bo.

In the next prompt of this thread:
/memory/AGENTS.md
- Answer in French.
- Invoices go to Bo.
""",
    "from_config": """\
prompt: You keep the books of a small bakery.
memory: /memories/AGENTS.md
folder: memories

/memories/AGENTS.md
- Flour is bought monthly.

The prompt begins: You keep the books of a small bakery.
""",
    "history": """\
3, edit, clerk, ann, friday
2, append, clerk, ann, monday
1, write

--- /AGENTS.md@2
+++ /AGENTS.md@3
@@ -1,2 +1,2 @@
-- Our customers are bakeries.
+- Our customers are butchers.
 - Invoices are due in 30 days.

4, undo, bo, we sell to bakeries
3, edit, clerk, ann, friday
2, append, clerk, ann, monday
1, write

- Our customers are bakeries.
- Invoices are due in 30 days.
""",
    "mounted_folders": """\
ls: ['/memories/', '/skills/']
write_file: Updated file /draft.md
append_file: Added to the end of /memories/AGENTS.md
edit_file: Error: permission denied: the path rules do not allow to write /skills/release.md. It is read-only

On disk: memories/AGENTS.md skills/release.md
""",
    "per_user": """\
ann@example.org
/AGENTS.md
- Likes long answers.

auth0|bo
/AGENTS.md
- Likes short answers.

ann@example_org
(No memory loaded)
""",
    "plain_graph": """\
written:  The orders of the shop are in PostgreSQL 16, on the server db2.
verified: False, ['It is 17.']

quarantine: fact_check, by the node 'check'
quarantine: agent, by the node 'write'
long_term: The orders of the shop are in PostgreSQL 17, on db2.  (promoted by a person)
working: The orders of the shop are in PostgreSQL 16, on the server db2.  (wrong, says a check)
""",
    "plain_agent": """\
The file now:
# Team

- Our time zone is CET.
- The stand-up is at 9:30.

What the model got on the next run:
/AGENTS.md
# Team

- Our time zone is CET.
- The stand-up is at 9:30.
""",
    "learning": """\
Monday. Lea talks, and Carl reviews:
  carl approves: My name is Lea Moreau.
  carl approves: The delivery day is Monday.
  carl approves: I work as a buyer for the shop.
  carl approves: Please always answer in short sentences.
  carl approves: I prefer metric units.

A week later:
  When is the delivery day? On Monday.

Lea corrects it:
  carl approves: The delivery day is Tuesday now.
  When is the delivery day? On Tuesday.

Lea is forgotten:
  Counts(quarantine=24, working=5, long_term=6)
  When is the delivery day? I do not know.
""",
    "tiered": """\
ann of the shop: We have moved the orders to db2.
  Understood: the orders of the shop are in PostgreSQL on db2 since this Monday.

Waiting, from user:ann:
  We have moved the orders to db2.
Waiting, from agent:clerk, user:ann:
  Understood: the orders of the shop are in PostgreSQL on db2 since this Monday.
  ann promotes it

bo of the shop: Where are the orders?
  On db2.
eve of the bakery: Where are the orders?
  I do not know that.
""",
    "user_and_project": """\
~/.agent/AGENTS.md
- I am Ann. I like short answers.

./AGENTS.md
- This project is written in Go.
- Deploy from the branch `live`.

success: Added to the end of {cwd}/AGENTS.md
error: Error: permission denied: the path rules do not allow to read /etc/hostname. Allowed paths: ~/.agent/AGENTS.md, \
./AGENTS.md
""",
    "with_deepagents": """\
The second turn of the same thread got:
/AGENTS.md
- The customer is called Iris, and she likes tables.
""",
    "without_file_tools": """\
error: Error: '/secrets.txt' is not a memory file. You can write: /notes/AGENTS.md
success: Updated memory file /notes/AGENTS.md
- Ann writes British English.
""",
}


@pytest.fixture
def run_example(monkeypatch, capsys, tmp_path):
    """Run a script in this process, leaving nothing behind; return what it printed."""

    def run(name: str) -> str:
        monkeypatch.syspath_prepend(str(EXAMPLES))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        monkeypatch.delitem(sys.modules, "scripted", raising=False)
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        monkeypatch.delitem(sys.modules, "scripted", raising=False)
        return capsys.readouterr().out

    return run


def test_every_example_is_listed_for_readers_and_run_here():
    scripts = {one.stem for one in EXAMPLES.glob("*.py")} - HELPERS
    listed = (EXAMPLES / "README.md").read_text()
    assert scripts == set(SAYS)
    assert [name for name in scripts if f"({name}.py)" not in listed] == []


@pytest.mark.parametrize("name", SAYS)
def test_an_example_says_what_it_promises(name, run_example):
    said = run_example(name).strip()
    wanted = SAYS[name].strip()
    before, slot, after = wanted.partition("{cwd}")
    assert said.startswith(before)
    assert said.endswith(after)
    assert slot or said == wanted


def test_every_example_says_whom_it_is_for():
    for name in SAYS:
        assert (EXAMPLES / f"{name}.py").read_text().startswith('"""For '), name


# The quickstart runs by itself, as `make demo` does it.


def _demo(
    *, code: str | None = None, script: Path = QUICKSTART, **environ: str
) -> subprocess.CompletedProcess[str]:
    keep = {key: value for key, value in os.environ.items() if key != "MEMORYWARE_MODEL"}
    return subprocess.run(
        [sys.executable, *(["-c", code] if code else [str(script)])],
        env={**keep, "PYTHONIOENCODING": "utf-8", **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=50,
    )


@pytest.mark.slow
def test_the_demo_proves_all_that_it_claims_and_makes_no_other_noise():
    ran = _demo()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    assert ran.stdout.count("   yes  ") == 16
    assert "NO " not in ran.stdout
    assert "+- Use pnpm for packages, never npm." in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.slow
def test_the_demo_runs_on_servers_as_well():
    ran = _demo(script=QUICKSTART.with_name("on_servers.py"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    assert ran.stdout.count("   yes  ") == 8
    assert "NO " not in ran.stdout


_WITH_CORE_ONLY = f"""
import runpy, sys
for name in ("deepagents", "langchain_anthropic", "pytest", "blockbuster", "hypothesis"):
    sys.modules[name] = None
sys.path.insert(0, {str(QUICKSTART.parent)!r})
runpy.run_path({str(QUICKSTART)!r}, run_name="__main__")
"""


@pytest.mark.slow
def test_the_demo_needs_nothing_but_the_library():
    ran = _demo(code=_WITH_CORE_ONLY)
    assert ran.returncode == 0, ran.stderr


_FORGETTING = f"""
import runpy, sys
sys.path.insert(0, {str(QUICKSTART.parent)!r})
from memoryware import HistoryBackend
from memoryware.backends import EditResult
HistoryBackend.edit = lambda self, path, *_: EditResult(path=path, occurrences=1)
runpy.run_path({str(QUICKSTART)!r}, run_name="__main__")
"""


@pytest.mark.slow
def test_the_demo_fails_where_a_save_is_accepted_and_lost():
    ran = _demo(code=_FORGETTING)
    assert ran.returncode == 1
    assert "NO   what was learned is in the file" in ran.stdout


@pytest.mark.slow
def test_a_model_name_that_cannot_be_used_is_told_in_one_line():
    ran = _demo(MEMORYWARE_MODEL="nobody:nothing")
    assert ran.returncode == 2
    assert ran.stderr.startswith("MEMORYWARE_MODEL=nobody:nothing: ")
    assert "Traceback" not in ran.stderr
