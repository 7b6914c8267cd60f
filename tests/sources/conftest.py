"""Fixtures for tests whose layout of folders is drawn in their docstring."""

from __future__ import annotations

import pytest

from sources.looking import Looking


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder is `home/` of the drawing."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def look(request, tmp_path, home):
    """The drawing of the test, put into one kind of place."""
    place, door = request.param
    return Looking(place, door, request.function.__doc__, tmp_path)
