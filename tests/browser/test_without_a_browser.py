"""What becomes of these tests on a machine that has no browser."""

from __future__ import annotations

import pytest

from browser.kit import REQUIRED, needed


@pytest.fixture
def no_chromium(monkeypatch):
    monkeypatch.delenv("MEMORYWARE_CHROMIUM", raising=False)
    monkeypatch.delenv(REQUIRED, raising=False)
    monkeypatch.setenv("PATH", "")


def test_they_skip_and_say_what_to_install(no_chromium):
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        needed()


def test_they_fail_where_a_browser_is_required(no_chromium, monkeypatch):
    monkeypatch.setenv(REQUIRED, "required")
    with pytest.raises(pytest.fail.Exception, match="no Chromium here"):
        needed()
