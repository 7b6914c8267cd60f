"""What the documentation shows is so."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.util._once import Once

from docs.pages import ROOT, blocks, pages, run
from memoryware.backends._patterns import SKIPPED_FOLDERS
from memoryware.events import _emission

LONG = {"speed.md"}  # measures
WITH_CODE = [page for page in pages() if any(one.language == "python" for one in blocks(page))]


def _name(page) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, which is the home folder as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("MEMORYWARE_MODEL", raising=False)
    # A page sets a tracer provider, which OpenTelemetry lets a process do once.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    # A page listens for the life of its process, and this one goes on with other tests.
    monkeypatch.setattr(_emission, "_subscriptions", [()])
    return tmp_path


def _as_parameter(page):
    marks = [pytest.mark.slow] if page.name in LONG else []
    return pytest.param(page, marks=marks, id=_name(page))


@pytest.mark.parametrize("page", [_as_parameter(page) for page in WITH_CODE])
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, folder):
    assert run(page, folder) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tests_that_a_page_shows_pass(folder):
    (page,) = (one for one in WITH_CODE if one.name == "own-backend.md")
    for block in blocks(page):
        if block.title.endswith(".py"):
            (folder / block.title).write_text(block.text)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert re.search(r"[1-9]\d* passed", ran.stdout)


def test_the_output_of_the_demo_in_the_readme_is_that_of_the_demo(folder):
    shown = [one for one in blocks(ROOT / "README.md") if one.title == "make demo"]
    assert len(shown) == 2
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "quickstart" / "main.py")],
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=50,
    )
    printed = iter(ran.stdout.splitlines())
    missing = [
        line
        for block in shown
        for line in block.text.splitlines()
        if line.strip() not in ("", "...") and line not in printed
    ]
    assert missing == []


def test_links_of_the_readmes_lead_to_files():
    for page in pages()[:2]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{_name(page)}: {target}"


def test_how_to_install_is_said_on_one_page_and_in_the_readme():
    said = re.compile(r"pip install [^`\n]*(?:memoryware|the/clone|-e )")
    others = pages()[1:]
    assert [_name(page) for page in others if said.search(page.read_text())] == ["docs/install.md"]


def test_tables_that_are_made_from_the_code_are_up_to_date_in_the_files():
    spec = importlib.util.spec_from_file_location("made", ROOT / "docs" / "hooks" / "made.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    texts = {page: page.read_text() for page in (ROOT / "docs").rglob("*.md")}
    stale = [_name(page) for page, text in texts.items() if made.written(text) != text]
    assert stale == [], "run: python docs/hooks/made.py"
    assert sum("<!-- end -->" in text for text in texts.values()) >= 2


def test_the_page_on_paths_names_every_folder_that_searches_skip():
    page = (ROOT / "docs" / "concepts" / "paths.md").read_text()
    shown = page.partition("names them:")[2].partition(". Everything else")[0]
    assert set(re.findall(r"`(\.\w+)`", shown)) == SKIPPED_FOLDERS


def test_a_fragment_of_the_changelog_is_one_sentence():
    fragments = list((ROOT / "docs" / "changelog.d").glob("*.md"))
    for fragment in fragments:
        text = fragment.read_text().strip()
        if fragment.name != "README.md":
            assert "\n" not in text, fragment.name
            assert text.endswith("."), fragment.name


def test_no_block_of_code_escapes_the_tests_by_its_name():
    known = {"python", "text", "console", "json", "markdown", "yaml"}
    for page in pages():
        fences = re.findall(r"^ *(?:```|~~~)(?!`)(.*)$", page.read_text(), re.MULTILINE)
        opened = fences[::2]
        assert not fences[1::2] or set(fences[1::2]) == {""}, _name(page)
        assert {one.split(" ")[0] for one in opened} <= known, _name(page)
        assert len(opened) == len(list(blocks(page))), _name(page)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_first_pages_run_as_pasted_scripts_after_the_documented_installation(tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def output_of(*command, cwd=tmp_path):
        ran = subprocess.run(
            command, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=500
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran.stdout

    output_of(sys.executable, "-m", "venv", "fresh")
    folders = ("bin/python", "Scripts/python.exe")
    python = next(path for end in folders if (path := tmp_path / "fresh" / end).exists())
    output_of(python, "-m", "pip", "install", "--quiet", str(ROOT))
    for name in ("README.md", "docs/index.md", "docs/quickstart.md", "docs/quickstart-tiers.md"):
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        parts = list(blocks(ROOT / name))
        pasted = "\n".join(block.text for block in parts if block.language == "python")
        (folder / "pasted.py").write_text(pasted)
        promised = "".join(block.text for block in parts if block.title == "Output")
        printed = output_of(python, "pasted.py", cwd=folder)
        assert printed.split() == promised.split(), name
