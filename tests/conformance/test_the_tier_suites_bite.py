"""The suites of the tiers are worth what they catch: each seeded fault has to make one fail."""

from __future__ import annotations

import pytest

from conformance.store_players import FAULTS, first_failure, in_order

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
CASES = [(tier, fault) for tier, faults in FAULTS.items() for fault in faults]


@pytest.mark.parametrize(
    ("tier", "least"), [("quarantine", 80), ("working", 90), ("long_term", 150)]
)
def test_without_a_fault_everything_passes(tier, least):
    assert len(in_order(tier)) >= 100
    assert len(FAULTS[tier]) >= least
    assert first_failure(tier, type("Nothing", (), {})) is None


@pytest.mark.parametrize(
    ("tier", "fault"), CASES, ids=[f"{tier}-{fault.__name__}" for tier, fault in CASES]
)
def test_the_suite_notices_a_store_that(tier, fault):
    assert first_failure(tier, fault), f"nothing notices {fault.__name__}: {fault.__doc__}"
