"""What a person expects of any command: help, short options, moved commands, errors, completion."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
import typer

from cli.running import COMMAND, command_of, here
from memoryware import MemoryScope
from memoryware.cli.app import MOVED, app

SHOP = MemoryScope(group_id="shop")


def commands(group=None, path=()):
    """Yield each command with its path."""
    for name, command in (group or command_of(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


EACH = dict(commands())


def test_no_option_of_a_command_is_another_one_as_well():
    for path, command in EACH.items():
        names = [
            name for option in command.params for name in (*option.opts, *option.secondary_opts)
        ]
        assert len(names) == len(set(names)), path


def test_a_short_option_is_the_same_word_everywhere():
    words = {}
    for path, command in EACH.items():
        for option in command.params:
            for name in option.opts:
                if len(name) == 2 and name.startswith("-"):
                    assert words.setdefault(name, option.opts[0]) == option.opts[0], path
    assert {"-g", "-u", "-n", "-q", "-y", "-t", "-o", "-w", "-r", "-f", "-e"} <= set(words)


@pytest.mark.parametrize(
    "path", [(), ("list",), ("files",), ("files", "history"), ("bench", "recall")]
)
def test_h_prints_help(monkeypatch, capsys, path):
    short, long = (here(monkeypatch, capsys, *path, name) for name in ("-h", "--help"))
    assert short == long
    assert (short.code, short.err) == (0, "")
    assert "Usage: memoryware" in short.out


def test_without_a_command_there_is_help(monkeypatch, capsys):
    for path in ((), ("files",)):
        ran = here(monkeypatch, capsys, *path)
        assert (ran.code, ran.err) == (2, ""), path
        assert "Usage: memoryware" in ran.out


@pytest.mark.parametrize("old", MOVED)
def test_a_command_of_0_1_is_a_usage_error_that_names_the_new_one(monkeypatch, capsys, old):
    ran = here(monkeypatch, capsys, old, "AGENTS.md")
    assert (ran.code, ran.out) == (2, "")
    assert f"{old} is now: memoryware {MOVED[old]}" in ran.err
    assert ("memoryware reopen" in ran.err) is (old == "undo")
    assert tuple(MOVED[old].split()) in EACH


@pytest.mark.parametrize(
    ("args", "new"),
    [
        (("list", "--layer", "working"), "--tier"),
        (("digest", "--days", "7"), "--since"),
        (("review", "--older-than", "7"), "--before"),
        (("digest", "--of-user", "bo"), "--user"),
        (("search", "tea", "--days", "7"), "--since"),
        (("supersede", "2bd91389", "new", "--since", "2026-05-01"), "--valid-from"),
        (("--install-completion",), "memoryware completion"),
    ],
)
def test_an_option_of_0_1_is_a_usage_error_that_names_the_new_one(cli, args, new):
    ran = cli(*args)
    assert (ran.code, ran.out) == (2, "")
    assert f" is now: {new}" in ran.err


def test_a_misspelled_command_or_option_names_near_ones(cli):
    assert "Did you mean 'list'" in cli("lsit").err
    assert "--limit" in cli("list", "--limt", "3").err


@pytest.mark.parametrize(
    ("args", "code", "kind"),
    [
        (("list", "--nonsense"), 2, "usage"),
        (("nonsense",), 2, "usage"),
        (("list", "-n", "many"), 2, "usage"),
        (("list", "--store", "sqlite:///none.db"), 1, "store_unavailable"),
        (("show", "0" * 32), 4, "entry_missing"),
        (("list", "--config", "none.json"), 3, "config_error"),
        (("files", "diff", "none.md", "--root", "."), 4, "version_missing"),
        (("search", "tea", "--at", "noon"), 2, "usage"),
    ],
)
def test_with_json_an_error_is_a_json_object_on_standard_error(cli, memory, args, code, kind):
    ran = cli(*args, "--json")
    assert (ran.code, ran.out) == (code, "")
    (line,) = ran.err.splitlines()
    document = json.loads(line)
    error = document["error"]
    assert document["schema"] == 1
    assert (error["code"], error["exit_code"]) == (kind, code)
    assert error["message"]
    assert isinstance(error["hint"], str)


def test_a_hint_says_what_to_do_and_the_message_what_was_wrong(cli):
    error = json.loads(cli("list", "--json").err)["error"]
    assert error["message"].startswith("There is no memory at ")
    assert error["hint"].startswith("set another one with --store")


def test_what_follows_two_dashes_is_no_option(cli, memory):
    assert "memoryware: " in cli("show", "--", "--json").err


def test_each_json_document_names_the_version_of_its_schema(cli, memory):
    memory.log_quarantine("Tea at four.", SHOP)
    for args in (
        ("list",),
        ("search", "tea"),
        ("digest",),
        ("doctor", "--quick"),
        ("groups",),
    ):
        document = json.loads(cli(*args, "--json").out)
        assert next(iter(document.items())) == ("schema", 1), args


# Times.


def test_a_time_is_a_date_or_an_age(cli, memory):
    memory.log_quarantine("Tea at four.", SHOP)
    for moment in ("1h", "30m", "7d", "2w", "1.5d", "2020-01-01", "2020-01-01T12:00Z"):
        assert "Tea" in cli("digest", "--since", moment).out, moment
        assert "Tea" not in cli("digest", "--before", moment).out, moment
    for wrong in ("7", "d", "-7d", "soon", "7 d", "7y"):
        ran = cli("digest", f"--since={wrong}")
        assert (ran.code, f"--since {wrong}" in ran.err) == (2, True), wrong


# Completion.


def candidates(monkeypatch, capsys, *words, shell="bash"):
    with monkeypatch.context() as patch:
        patch.setenv("_MEMORYWARE_COMPLETE", shell)
        return here(monkeypatch, capsys, *words).out.splitlines()


def test_commands_options_and_values_are_completed(monkeypatch, capsys):
    complete = lambda *words, **more: candidates(monkeypatch, capsys, *words, **more)
    assert complete("re") == ["reindex", "reject", "reopen", "restore", "review", "revoke"]
    assert complete("files", "") == ["check", "diff", "history", "list", "preview", "restore"]
    assert complete("list", "--ti") == ["--tier"]
    assert complete("list", "-t", "") == ["long-term", "quarantine", "working"]
    assert complete("list", "--tier", "w") == ["working"]
    assert complete("completion", "") == ["bash", "fish", "zsh"]
    assert complete("list", "--words", "") == []
    assert complete("files", "li", shell="fish")[0].startswith("list\tList the memory files")
    assert complete("files", "li", shell="zsh")[0].startswith("list:List the memory files")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_one_that_it_can_read(monkeypatch, capsys, shell, tmp_path):
    script = here(monkeypatch, capsys, "completion", shell).out
    assert f"_MEMORYWARE_COMPLETE={shell}" in script
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


COMPLETING = {
    "bash": """
eval "$(memoryware completion bash)"
COMP_WORDS=({line}) COMP_CWORD=2
[[ "{line}" == *" " ]] && COMP_WORDS+=("")
_memoryware
[[ ${{#COMPREPLY[@]}} == 0 ]] || printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "fish": """
memoryware completion fish | source
complete -C "{line}" | string split -f 1 \\t
""",
    "zsh": """
_describe() {{ print -l ${{candidates%%:*}} }}
_files() {{ print -l -- * }}
compdef() {{ }}
eval "$(memoryware completion zsh)"
words=({line}) CURRENT=3
[[ "{line}" == *" " ]] && words+=("")
_memoryware
""",
}


@pytest.mark.parametrize("shell", COMPLETING)
@pytest.mark.slow
def test_a_shell_completes_words_with_the_script_and_files_where_there_are_none(tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    there = tmp_path / "there"
    there.mkdir()
    (there / "export.jsonl").write_text("")
    (tmp_path / "memoryware").write_text(f'#!/bin/sh\nexec {sys.executable} -m memoryware "$@"\n')
    (tmp_path / "memoryware").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    def complete(line):
        ran = subprocess.run(
            [shell, "-c", COMPLETING[shell].format(line=line)],
            env={**os.environ, "PATH": path, "HOME": f"{tmp_path}"},
            cwd=there,
            capture_output=True,
            text=True,
        )
        assert ran.stderr == ""
        return ran.stdout.splitlines()

    assert complete("memoryware files re") == ["restore"]
    assert "history" in complete("memoryware files ")
    assert "export.jsonl" not in complete("memoryware files ")
    files = [] if shell == "bash" else ["export.jsonl"]  # bash takes files by itself
    assert complete("memoryware import ") == files


# Signals and pipes.


@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_one_line(shop, memory):
    memory.log_quarantine("Tea at four.", SHOP)
    with subprocess.Popen(
        [*COMMAND, "review"],
        cwd=shop,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as running:
        while b"[?]" not in (running.stderr.read1() or b"[?] it ended"):
            pass
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=50)
    assert (running.returncode, err.decode()) == (130, "memoryware: interrupted\n")


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(shop, memory):
    memory.record_many([f"Record {number}. {'x' * 300}" for number in range(400)], SHOP)
    ran = subprocess.run(
        ["bash", "-c", f"{' '.join(COMMAND)} list -n 1000 | head -1; echo ${{PIPESTATUS[0]}}"],
        cwd=shop,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[1:] == ["141"]


def test_typer_raises_what_we_catch():
    names = [kind.__name__ for kind in typer.BadParameter.__mro__]
    assert names[:3] == ["BadParameter", "UsageError", "ClickException"]
