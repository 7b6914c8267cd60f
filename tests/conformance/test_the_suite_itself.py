"""What somebody meets who runs the suite on a backend of their own."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conformance.dict_backend import DictBackend
from memoryware._install import install_command
from memoryware.testing import (
    AppendsConformance,
    FileBackendConformance,
    FingerprintsConformance,
)

TESTS = Path(__file__).parents[1]


def test_a_test_of_the_suite_cannot_be_replaced():
    with pytest.raises(TypeError, match=r"cannot be overridden.*test_an_empty_batch"):

        class Replaced(FileBackendConformance):
            async def test_an_empty_batch_is_an_empty_answer(self):
                """Nothing to see here."""

    with pytest.raises(TypeError, match=r"cannot be overridden.*test_glob_dialect"):

        class Removed(FileBackendConformance):
            test_glob_dialect = None


def test_tests_of_ones_own_are_welcome_and_can_be_replaced_by_oneself():
    class Mine(FileBackendConformance):
        def test_mine(self):
            """Mine."""

    class MineToo(Mine):
        def test_mine(self):
            """Mine as well."""

    assert MineToo.test_mine is not Mine.test_mine


async def test_a_backend_that_offers_more_than_is_tested_fails():
    class Partly(FileBackendConformance, AppendsConformance):
        pass

    with pytest.raises(AssertionError, match="must derive from FingerprintsConformance"):
        await Partly().test_what_a_backend_offers_is_tested(
            lambda: DictBackend({}, threading.RLock())
        )


def test_every_test_of_the_suite_is_a_sentence_and_async():
    for suite in (FileBackendConformance, AppendsConformance, FingerprintsConformance):
        tests = [name for name in dir(suite) if name.startswith("test_")]
        assert len(tests) >= 5
        assert [name for name in tests if not getattr(suite, name).pytestmark] == []


MINE = """
import pytest
from memoryware.testing import FileBackendConformance, AppendsConformance, FingerprintsConformance
from conformance.dict_backend import DictBackend
import threading

class TestMine(FileBackendConformance, AppendsConformance, FingerprintsConformance):
    @pytest.fixture
    def open_backend(self):
        files, lock = {}, threading.RLock()
        return lambda: DictBackend(files, lock)

    def test_of_my_own(self):
        assert True
"""


def run_in_a_project(folder, settings, *options):
    """Run pytest where nothing of this project's settings is in force."""
    (folder / "pytest.ini").write_text(f"[pytest]\n{settings}\npythonpath = {TESTS}\n")
    (folder / "test_mine.py").write_text(MINE)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--color=no", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_it_runs_in_a_project_with_other_settings(tmp_path, mode):
    settings = (
        f"asyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"
        "filterwarnings = error\nxfail_strict = true"
    )
    run = run_in_a_project(tmp_path, settings)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "skipped" not in run.stdout


@pytest.mark.slow
def test_a_failure_shows_what_was_compared(tmp_path):
    run = run_in_a_project(tmp_path, "", "-k", "test_an_empty_batch")
    assert "2 passed" in run.stdout
    (tmp_path / "test_mine.py").write_text(
        MINE.replace("DictBackend(files, lock)", "Forgetful(files, lock)").replace(
            "class TestMine",
            "class Forgetful(DictBackend):\n"
            "    def put(self, path, data): super().put(path, data[:3])\n\n"
            "class TestMine",
        )
    )
    options = ("-p", "no:cacheprovider", "-q", "--color=no", "-k", "test_a_write_creates")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "'dee' == 'deep'" in run.stdout, run.stdout[-3000:]


@pytest.mark.parametrize("missing", ["pytest", "pytest_asyncio", "blockbuster"])
def test_without_its_tools_it_says_what_to_install(missing):
    script = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "try:\n"
        "    import memoryware.testing\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"memoryware.testing needs {missing};" in run.stdout
    assert install_command("testing") in run.stdout
