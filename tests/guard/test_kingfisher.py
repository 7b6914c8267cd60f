"""The detector of another project, added to ours."""

from __future__ import annotations

import random
import re
import sys
from dataclasses import dataclass

import pytest

from guard.figures import filled
from memoryware._install import install_command
from memoryware.errors import SettingError
from memoryware.guard import Detector, Guard, KingfisherDetector

TOKEN = filled(random.Random(8), "ghp_<A36>")


@pytest.fixture(scope="module")
def kingfisher():
    """The real scanner, without the cache in the home folder."""
    sdk = pytest.importorskip("kingfisher_sdk", reason="the extra [kingfisher] is not installed")
    return KingfisherDetector(scanner=sdk.Scanner(sdk.Rules(cache=False)))


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "hé 密码 \U0001f600 "])
def test_what_it_finds_is_added(kingfisher, before):
    detector: Detector = kingfisher
    text = f"{before}token {TOKEN}, that is all"

    assert [text[start:end] for _, start, end in detector(text)] == [TOKEN]
    (found,) = Guard(detectors=[detector], secrets=False).scan(text)
    assert (found.kind, text[found.start : found.end]) == ("github pat", TOKEN)
    assert len(Guard(detectors=[detector]).scan(text)) == 1


@pytest.mark.slow
def test_harmless_text_passes_both(kingfisher):
    assert Guard(detectors=[kingfisher]).scan("The password must have 12 characters.") == []
    assert kingfisher("\ud800 lone surrogate") == []


@dataclass
class Found:
    """What a scanner of kingfisher answers, as far as it is used."""

    rule_id: str
    secret: str
    location: dict[str, int]
    visible: bool = True


class Scanner:
    """Finds `<...>`, tells the place with the brackets, and one thing that is not to be shown."""

    def scan(self, data: bytes) -> list[Found]:
        start, end = data.index(b"<"), data.index(b">") + 1
        place = {"start_offset": start, "end_offset": end}
        secret = data[start + 1 : end - 1].decode()
        return [Found("made.some-rule", secret, place), Found("made.helper", "x", place, False)]


def test_places_in_bytes_become_places_in_text():
    text = "é 密 <sécret> é"

    assert KingfisherDetector(scanner=Scanner())(text) == [("some rule", 5, 11)]


def test_a_missing_package_is_named_with_what_to_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)

    with pytest.raises(SettingError, match=re.escape(install_command("kingfisher"))):
        KingfisherDetector()
