"""The command, as a person runs it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from bench.made import EXAMPLE, longmemeval
from memoryware import __version__
from memoryware._install import install_command

pytestmark = pytest.mark.slow
RUN = [sys.executable, "-m", "memoryware"]


def run(*args, code=None, **more):
    command = [sys.executable, "-c", code] if code else RUN
    environ = {
        key: value
        for key, value in os.environ.items()
        if key not in ("FORCE_COLOR", "GITHUB_ACTIONS")
    }
    return subprocess.run(
        [*command, *map(str, args)],
        env={**environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=50,
        **more,
    )


def test_the_example_is_measured_and_told_in_a_table_without_colours():
    ran = run("bench", "recall", "jsonl", EXAMPLE, "--lists")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "jsonl, all: retrieve" in ran.stdout
    assert "jsonl, all: words alone" in ran.stdout
    assert "shares no word with its answer" in ran.stdout
    assert "all: R@10" in ran.stdout
    assert "questions: 52, and 0 left out" in ran.stdout
    assert "\x1b" not in ran.stdout
    assert "…" not in ran.stdout


def test_everything_is_written_where_it_is_wanted(tmp_path):
    names = [tmp_path / name for name in ("r.json", "r.svg", "r.jsonl")]
    ran = run(
        "bench",
        "recall",
        "jsonl",
        EXAMPLE,
        "--json",
        names[0],
        "--plot",
        names[1],
        "--each",
        names[2],
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(names[0].read_text("utf-8"))
    assert report["about"]["memoryware"] == __version__
    assert ET.parse(names[1]).getroot().tag.endswith("svg")
    assert len(names[2].read_text("utf-8").splitlines()) == report["about"]["questions"] == 52
    assert "jsonl, all: retrieve" in ran.stdout


def test_json_on_the_output_is_nothing_but_json(tmp_path):
    ran = run("bench", "recall", "longmemeval", longmemeval(tmp_path / "s.json"), "--json", "-")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["about"]["dataset"] == "longmemeval"


def test_a_table_can_be_markdown():
    ran = run("bench", "recall", "jsonl", EXAMPLE, "--markdown")
    rows = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert len(rows) == 9
    assert rows[0].replace(" ", "").startswith("|questions|n|R@5|R@10|")
    assert set(rows[1]) <= set("|-: ")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["jsonl", "gone"], 3, "gone: there is no such file or folder"),
        (["jsonl", "bad"], 3, "turns.jsonl, line 2: "),
        (["jsonl", EXAMPLE, "--split", "held"], 2, "split is an option of locomo"),
        (["jsonl", EXAMPLE, "--plot", "x.png"], 2, "must end in .svg"),
        (["jsonl", EXAMPLE, "--json", "nowhere/x.json"], 2, "the folder 'nowhere' does not exist"),
        (["beir", EXAMPLE], 2, "'beir' is not one of"),
        (["jsonl", EXAMPLE, "--first", "0"], 2, "greater than or equal to 1"),
        (["jsonl", EXAMPLE, "--store", "ftp://x"], 1, "is not an address of stores"),
    ],
)
def test_what_went_wrong_is_one_sentence_and_a_number(tmp_path, args, code, said):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "turns.jsonl").write_text("\n{}\n")
    ran = run("bench", "recall", *args, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_the_version_and_the_help_are_there():
    assert run("--version").stdout.strip() == __version__
    ran = run("bench", "recall", "--help")
    assert ran.returncode == 0
    for option in ("--embeddings", "--cache", "--lists", "--exact", "--json", "--plot"):
        assert option in ran.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_command_says_what_to_install(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None\nfrom memoryware.cli.main import main\nmain()"
    )
    ran = run(code=code)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert install_command("cli") in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_matplotlib_everything_but_the_plot_works(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"sys.argv = ['memoryware', 'bench', 'recall', 'jsonl', {str(EXAMPLE)!r}] + {{}}\n"
        "from memoryware.cli.main import main\nmain()"
    )
    assert run(code=code.format([])).returncode == 0
    ran = run(code=code.format(["--plot", str(tmp_path / "x.svg")]))
    assert ran.returncode == 2
    assert install_command("bench") in ran.stderr
