"""What a history promises, whatever backend the files and their versions are in."""

from __future__ import annotations

from memoryware.testing.hiding import HidingConformance
from memoryware.testing.keeping import KeepingConformance
from memoryware.testing.undoing import UndoingConformance


class HistoryConformance(KeepingConformance, UndoingConformance, HidingConformance):
    """Every test that a backend with a history has to pass, beside those of a file backend.

    Derive a class and override the fixture `open_backend`. Override `open_outside` as well
    if the backend has no `inner` that can be used by itself, and set `folder` to where the
    versions are.
    """
