"""The types that users get are tested as well: mypy reads their code in strict mode."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def _mypy(*files: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, [EXAMPLES, files[0].parent]))},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("mypy")
def test_code_of_users_passes_mypy_in_strict_mode():
    assert _mypy(Path(__file__).with_name("user_code.py")) == ""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.xdist_group("mypy")
def test_the_examples_pass_mypy_in_strict_mode():
    quickstart = sorted((EXAMPLES / "quickstart").glob("*.py"))
    assert _mypy(*quickstart, *sorted(EXAMPLES.glob("*.py"))) == ""
