"""A suite is worth what it catches: each seeded fault has to make it fail."""

from __future__ import annotations

import pytest

from conformance import history_faults
from conformance.dict_backend import DictBackend
from conformance.first_failures import played
from conformance.more_faults import FAULTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1000)]
files = pytest.mark.xdist_group("bites")
histories = pytest.mark.xdist_group("histories")
"""Each of the two long runs is made by one worker, for all tests that look at it."""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The first failure of the suite over each faulty backend, from one run of its own."""
    return played("faulty_suite.py", tmp_path_factory.mktemp("bites"))


@pytest.fixture(scope="module")
def outcome_of_histories(tmp_path_factory):
    """The same of the suite of histories."""
    return played("faulty_histories.py", tmp_path_factory.mktemp("bites"))


@files
def test_without_a_fault_everything_passes(outcome):
    name = f"Test{DictBackend.__name__}"
    assert name not in outcome["failed"]
    assert outcome["passed"][name] > 400


@files
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_the_suite_notices_a_backend_that(fault, outcome):
    assert f"Test{fault.__name__}" in outcome["failed"], fault.__doc__


@histories
def test_a_history_without_a_fault_passes(outcome_of_histories):
    assert "TestHistoryBackend" not in outcome_of_histories["failed"]
    assert outcome_of_histories["passed"]["TestHistoryBackend"] >= 60


@histories
@pytest.mark.parametrize("fault", history_faults.FAULTS, ids=lambda one: one.__name__)
def test_the_suite_notices_a_history_that(fault, outcome_of_histories):
    assert f"Test{fault.__name__}" in outcome_of_histories["failed"]
