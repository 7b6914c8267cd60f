"""Each model file is loaded once in a process, and stays: copies of tests would add up."""

from __future__ import annotations

import pytest

from memoryware.local import _model


@pytest.fixture(autouse=True)
def copies_are_unloaded(tmp_path_factory):
    """Unload models whose file is of a test."""
    yield
    encoders = _model._process.now.encoders
    for key in [key for key in encoders if key[1].is_relative_to(tmp_path_factory.getbasetemp())]:
        del encoders[key]
