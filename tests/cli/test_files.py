"""`sources`, `prompt`, `log`, `diff`, `undo` and `scan`: memory files from the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from langgraph.store.sqlite import SqliteStore

from cli.running import COMMAND, here
from memoryware import FilesystemBackend, HistoryBackend, MemoryMiddleware, StoreBackend

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "ann")
    (tmp_path / "work" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def run(monkeypatch, capsys):
    return lambda *args: here(monkeypatch, capsys, *args)


@pytest.fixture
def changed(folder):
    """A folder in which a memory file was changed twice."""
    backend = HistoryBackend(FilesystemBackend(folder))
    backend.write("/AGENTS.md", "- Use npm.\n")
    backend.edit("/AGENTS.md", "npm", "pnpm")
    return folder


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


# What a model would be shown.


def test_sources_tells_what_would_be_loaded_and_why(folder, run):
    write(folder, "AGENTS.md", "# Rules\nUse tabs.\n")
    ran = run("files", "list")
    assert (ran.code, ran.err) == (0, "")
    assert f"{folder}/AGENTS.md" in ran.out
    assert "in the start folder" in ran.out
    assert "\x1b" not in ran.out
    assert "…" not in ran.out


def test_sources_in_json_has_all_of_it(folder, run):
    write(folder, "a.md", "one line\n" * 100)
    write(folder, "b.md", f"key = {SECRET}\n")
    args = ("--source", "a.md", "--source", "/b.md", "--source", "c.md", "--max-tokens", 100)
    ran = run("files", "list", *args, "--json")
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)["sources"]
    assert [(one["path"], one["state"]) for one in found] == [
        ("/a.md", "cut"),
        ("/b.md", "shown"),
        ("/c.md", "missing"),
    ]
    assert found[0]["tokens"] < found[0]["whole_tokens"]
    assert "looks like a secret" in found[1]["suspect"][0]
    assert SECRET not in ran.out


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("CLAUDE.md", "CLAUDE.md"),
        (".claude/CLAUDE.md", ".claude/CLAUDE.md"),
        (".claude/rules/style.md", ".claude/rules/*.md"),
        (".cursorrules", ".cursorrules"),
        (".cursor/rules/style.mdc", ".cursor/rules/*.mdc"),
        ("QWEN.md", "QWEN.md"),
        ("AGENT.md", "AGENT.md"),
        ("GEMINI.md", "GEMINI.md"),
        (".github/copilot-instructions.md", ".github/copilot-instructions.md"),
    ],
)
def test_sources_names_a_file_that_is_read_on_request(folder, run, name, asked):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    write(folder, name, "- Tea at four.\n")
    ran = run("files", "list")
    assert "no memory file" not in ran.out
    assert f"{folder}/{name}" in ran.out.replace("\n", "")
    assert f'Layout(names=["{asked}"])' in ran.out.replace("\n", "")
    assert json.loads(run("files", "list", "--json").out)["on_request"] == [f"{folder}/{name}"]

    write(folder, "AGENTS.md", "- Be brief.\n")
    assert "on request" not in run("files", "list").out
    assert json.loads(run("files", "list", "--json").out)["on_request"] == []


def test_sources_of_an_empty_place_says_that_there_is_nothing(folder, run):
    assert "no memory file" in run("files", "list").out


def test_prompt_prints_what_a_model_would_get_byte_for_byte(folder, run):
    write(folder, "AGENTS.md", "# Regeln\nTabs größer [bold]machen[/bold].\n")
    ran = run("files", "preview", "--source", "AGENTS.md")
    memory = MemoryMiddleware(backend=FilesystemBackend(folder), sources=["/AGENTS.md"])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{memory.preview().text}\n"


def test_prompt_names_the_tools_that_the_agent_has(folder, run):
    write(folder, "AGENTS.md", "Use tabs.")
    assert "edit_file" in run("files", "preview", "--tool", "edit_file", "--tool", "read_file").out
    found = json.loads(run("files", "preview", "--json").out)
    assert "edit_file" not in found["text"]
    assert found["parts"][0]["text"] == "Use tabs."
    assert found["tokens"] > found["parts"][0]["tokens"]


def test_prompt_of_an_empty_place_is_not_an_error(folder, run):
    ran = run("files", "preview")
    assert (ran.code, ran.out) == (0, "")
    assert "would get nothing" in ran.err


# Versions.


def test_log_tells_the_versions_of_a_file(changed, run):
    ran = run("files", "history", "AGENTS.md")
    assert (ran.code, ran.err) == (0, "")
    first, second = [line.split() for line in ran.out.splitlines() if line[:3].strip().isdigit()]
    assert (first[0], second[0]) == ("2", "1")
    assert "current" in ran.out


def test_log_without_a_file_tells_which_have_versions(changed, run):
    ran = run("files", "history", "--json")
    (found,) = json.loads(ran.out)["files"]
    assert found["path"] == "/AGENTS.md"
    assert [one["number"] for one in found["versions"]] == [2, 1]
    assert found["versions"][0]["current"] is True


def test_diff_tells_what_changed_last_or_between_versions(changed, run):
    write(changed, "AGENTS.md", "- Use yarn.\n")
    assert run("files", "diff", "AGENTS.md", "1", "2").out.splitlines()[-2:] == [
        "-- Use npm.",
        "+- Use pnpm.",
    ]
    assert run("files", "diff", changed / "AGENTS.md", "1").out.splitlines()[-1] == "+- Use yarn."
    last = run("files", "diff", "/AGENTS.md").out.splitlines()
    assert last[-2:] == ["-- Use pnpm.", "+- Use yarn."]
    told = json.loads(run("files", "diff", "AGENTS.md", "--json").out)
    assert (told["from"], told["to"]) == (2, None)
    assert told["diff"] == HistoryBackend(FilesystemBackend(changed)).diff("/AGENTS.md")
    assert run("files", "diff", "AGENTS.md", "1", "1").out == "No difference.\n"


def test_the_first_version_of_a_file_differs_from_no_file(changed, run):
    HistoryBackend(FilesystemBackend(changed)).write("/new.md", "- New.\n- Newer.\n")
    assert run("files", "diff", "new.md").out.splitlines() == [
        "--- (no file)",
        "+++ /new.md",
        "@@ -0,0 +1,2 @@",
        "+- New.",
        "+- Newer.",
    ]
    told = json.loads(run("files", "restore", "new.md", "--dry-run", "--json").out)
    assert (told["to"], told["diff"].splitlines()[0]) == (None, "--- (no file)")


def test_a_diff_shows_what_hides(changed, run):
    write(changed, "AGENTS.md", "- Use \u202epnpm\x1b[31m.\n")
    out = run("files", "diff", "AGENTS.md").out
    assert "<U+202E>" in out
    assert "<U+001B>" in out
    assert "\x1b" not in out


def test_undo_without_a_terminal_needs_yes(changed, run):
    ran = run("files", "restore", "AGENTS.md")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert (changed / "AGENTS.md").read_text() == "- Use pnpm.\n"


def test_undo_takes_back_the_last_change_and_says_by_whom(changed, run):
    ran = run("files", "restore", "AGENTS.md", "--yes", "--reason", "npm it is")
    assert (ran.code, ran.err) == (0, "")
    assert "+- Use pnpm." in ran.out
    assert (changed / "AGENTS.md").read_text() == "- Use npm.\n"
    newest = HistoryBackend(FilesystemBackend(changed)).log("/AGENTS.md")[0]
    assert (newest.kind, newest.actor.user, newest.reason) == ("undo", "ann", "npm it is")


def test_a_dry_run_shows_and_changes_nothing(changed, run):
    ran = run("files", "restore", "AGENTS.md", "--dry-run")
    assert "restored to version 1" in ran.out
    assert (changed / "AGENTS.md").read_text() == "- Use pnpm.\n"
    told = json.loads(run("files", "restore", "AGENTS.md", "--dry-run", "--json").out)
    assert (told["to"], told["done"]) == (1, False)


def test_undo_goes_to_a_version_and_a_file_that_was_made_goes(changed, run):
    assert run("files", "restore", "AGENTS.md", "--yes").code == 0
    assert run("files", "restore", "AGENTS.md", "--to", "2", "--yes").code == 0
    assert (changed / "AGENTS.md").read_text() == "- Use pnpm.\n"
    HistoryBackend(FilesystemBackend(changed)).write("/new.md", "- New.\n")
    ran = run("files", "restore", "new.md", "--yes")
    assert "+- New." in ran.out
    assert not (changed / "new.md").exists()


def answered(answer, folder):
    """Run an undo on a terminal, where a person answers."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "files", "restore", "AGENTS.md"],
        cwd=folder,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        os.write(ours, answer.encode())
        running.communicate(timeout=50)
    os.close(ours)
    os.close(theirs)
    return running.returncode


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_on_a_terminal_a_person_is_asked(changed):
    assert answered("n\n", changed) == 4
    assert (changed / "AGENTS.md").read_text() == "- Use pnpm.\n"
    assert answered("y\n", changed) == 0
    assert (changed / "AGENTS.md").read_text() == "- Use npm.\n"


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("files", "history", "none.md"), 4, "no versions"),
        (("files", "diff", "AGENTS.md", "9"), 4, "9"),
        (("files", "restore", "AGENTS.md", "--to", "x", "--yes"), 4, "x"),
        (("files", "restore", "none.md", "--yes"), 4, "none.md"),
        (("files", "history", "../../outside.md"), 2, "--root"),
        (("files", "history", "--root", "/no/such/folder"), 1, "no such folder"),
        (("files", "list", "--root", "sqlite:///memory.db"), 2, "not an address of memory files"),
        (("files", "check", "none.md"), 2, "no such file"),
    ],
)
def test_what_cannot_be_done_says_why_and_has_its_code(changed, run, args, code, said):
    ran = run(*args)
    assert ran.code == code
    assert said in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err


def test_files_in_a_store_are_shown_and_undone_as_well(folder, run):
    path = folder / "store.db"
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        backend = HistoryBackend(StoreBackend(store=store, namespace=("memory", "team")))
        backend.write("/AGENTS.md", "- Use npm.\n")
        backend.edit("/AGENTS.md", "npm", "pnpm")
    root = ("--root", f"store+sqlite:///{path}?namespace=memory/team")
    assert "- Use pnpm." in run("files", "preview", *root).out
    assert (
        json.loads(run("files", "list", *root, "--json").out)["sources"][0]["path"] == "/AGENTS.md"
    )
    assert run("files", "restore", "AGENTS.md", "--yes", *root).code == 0
    assert "- Use npm." in run("files", "preview", *root).out
    assert (
        len(json.loads(run("files", "history", "AGENTS.md", "--json", *root).out)["versions"]) == 3
    )
    assert run("files", "check", *root).code == 0


# What a person should mend.


def test_scan_finds_with_lines_and_never_prints_the_secret(folder, run):
    write(folder, "AGENTS.md", f"# Rules\nkey = {SECRET}\n\u202eb\n</agent_memory>\n<!-- open\n")
    ran = run("files", "check")
    assert (ran.code, ran.err) == (5, "")
    places = [line.removeprefix(f"{folder}/AGENTS.md:") for line in ran.out.splitlines()]
    kinds = [tuple(one.split(":")[:2]) for one in places]
    assert kinds == [("2", " secret"), ("3", " hidden"), ("4", " fence"), ("5", " comment")]
    assert SECRET not in ran.out


def test_scan_looks_through_files_folders_and_patterns(folder, run):
    (folder / "notes").mkdir()
    write(folder, "notes/a.md", "a\u200b")
    write(folder, "b.md", "fine")
    for args in (("notes",), ("notes/a.md",), ("notes/*.md", "b.md")):
        found = json.loads(run("files", "check", *args, "--json").out)["found"]
        assert [(one["path"], one["line"], one["kind"]) for one in found] == [
            ("/notes/a.md", 1, "hidden")
        ]
    assert run("files", "check", "b.md").code == 0
    assert run("files", "check", "b.md", "--max-bytes", "2").code == 5


def test_scan_finds_personal_data_where_that_is_wanted(folder, run):
    write(folder, "AGENTS.md", "Write to ann.smith@example.org about it.\n")
    assert run("files", "check").code == 0
    ran = run("files", "check", "--personal")
    assert ran.code == 5
    assert "ann.smith" not in ran.out
