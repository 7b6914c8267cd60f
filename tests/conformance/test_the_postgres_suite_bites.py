"""What can go wrong in PostgreSQL is noticed: each seeded fault makes the named check fail."""

from __future__ import annotations

import pytest

from conformance.postgres_faults import FAULTS
from conformance.postgres_player import CLUMSY, noticed, passes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_there_are_faults_of_every_kind():
    assert len(FAULTS) >= 60
    assert {one.where for one in FAULTS.values()} >= {"quarantine", "working", "long_term"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_check_notices_a_postgres_that(name):
    fault = FAULTS[name]
    passes(fault)
    failure = noticed(fault)
    assert failure is not None, f"{fault.check} does not notice a PostgreSQL that {name}"
    assert fault.clumsy or not isinstance(failure, CLUMSY), f"seeded badly: {failure!r}"
    assert "syntax error" not in str(failure), f"seeded badly: {failure!r}"
    print(f"{name}: {type(failure).__name__}: {str(failure)[:200]}")
