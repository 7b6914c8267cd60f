"""`KingfisherDetector`: what the scanner of another project finds, added to what we find."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memoryware.errors import SettingError
from memoryware.guard.finding import Span


class KingfisherDetector:
    """Finds what the package `kingfisher-secret-scanner` finds.

    For `Guard(detectors=[KingfisherDetector()])`. Making one takes seconds, because hundreds of
    rules are compiled, so make it once; a text takes microseconds. Nothing leaves the process.

    Args:
        scanner: A `kingfisher_sdk.Scanner` of your own, with rules of your own; by default one
            with the rules of the package, which it keeps compiled in the cache folder of the
            user.

    Raises:
        SettingError: If the package is not installed.
    """

    def __init__(self, *, scanner: Any = None) -> None:
        self._scanner = _scanner() if scanner is None else scanner

    def __call__(self, text: str, /) -> list[Span]:
        """Return kind, start and end of everything found."""
        data = text.encode("utf-8", "replace")
        places = _Places(text, data)
        spans = []
        for found in self._scanner.scan(data):
            if found.visible:
                kind = found.rule_id.rpartition(".")[2].replace("-", " ")
                start, end = found.location["start_offset"], found.location["end_offset"]
                secret = found.secret.encode("utf-8", "replace")
                at = data.find(secret, start, end)
                if at >= 0:  # the place may be that of a name and its value
                    start, end = at, at + len(secret)
                spans.append((kind, places.of(start), places.of(end)))
        return spans


class _Places:
    """Places in a text by places in its bytes."""

    def __init__(self, text: str, data: bytes) -> None:
        self._data = None if len(text) == len(data) else data

    def of(self, offset: int) -> int:
        if self._data is None:
            return offset
        return len(self._data[:offset].decode("utf-8", "ignore"))


def _scanner() -> Any:
    try:
        sdk = import_module("kingfisher_sdk")
    except ImportError:
        raise SettingError(
            "KingfisherDetector() needs a package that is not installed: run"
            " `pip install 'memoryware[kingfisher]'`"
        ) from None
    return sdk.Scanner()
