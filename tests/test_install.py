"""Errors name a command that installs an extra from where the package came from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoryware._install import _requirement, install_command

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        ({}, "'memoryware[cli]'"),
        ({"url": "file:///srv/my%20clone", "dir_info": {}}, "'/srv/my clone[cli]'"),
        (
            {"url": "file:///srv/clone", "dir_info": {"editable": True}},
            "-e '/srv/clone[cli]'",
        ),
        ({"url": "file:///C:/clone", "dir_info": {}}, "'C:/clone[cli]'"),
        (
            {"url": "file:///srv/memoryware-1.0-py3-none-any.whl", "archive_info": {}},
            "'memoryware[cli] @ file:///srv/memoryware-1.0-py3-none-any.whl'",
        ),
        (
            {"url": "https://ann:hush@code.example/m.git", "vcs_info": {"vcs": "git"}},
            "'memoryware[cli] @ git+https://code.example/m.git'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came_from(origin, requirement):
    assert _requirement("cli", origin) == requirement


def test_options_stand_before_the_package():
    command = install_command("local", "--force-reinstall")
    assert command.startswith("pip install --force-reinstall ")
    assert command.endswith("[local]'")


def test_a_clone_on_the_path_that_pip_has_not_installed_is_named():
    code = "from memoryware._install import install_command; print(install_command('redis'))"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],  # without site-packages
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert ran.stdout.strip() == f"pip install '{ROOT}[redis]'"
