"""The suite of tier 2 notices what can go wrong in Redis: each seeded fault makes a test fail."""

from __future__ import annotations

import pytest

from conformance.redis_faults import FAULTS, first_failure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_without_a_fault_everything_passes(redis_url):
    assert len(FAULTS) >= 24
    assert first_failure(redis_url, None) is None


@pytest.mark.parametrize("fault", FAULTS)
def test_the_suite_notices_a_redis_that(redis_url, fault):
    assert first_failure(redis_url, fault), f"nothing notices a Redis that {fault}"
