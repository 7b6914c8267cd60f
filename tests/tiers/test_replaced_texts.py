"""An insight that says again what was superseded names what took its place."""

from __future__ import annotations

import pytest

from memoryware.scope import MemoryScope
from memoryware.tiers.digest import digest
from memoryware.tiers.promote import promote, supersede
from memoryware.tiers.revoke import revoke
from memoryware.tiers.values import Replacement
from tiers.kit import DOORS, parts, run
from tiers.long_term import ACME, waiting

FRIDAY, MONDAY = "We deploy on Fridays.", "We deploy on Mondays."
PNPM, OFFICE = "Use pnpm, never npm.", "The office in Rome opens at nine."


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


async def test_what_repeats_a_superseded_text_says_what_replaced_it(door):
    p = parts()
    (old,) = (await run(door, promote, p, FRIDAY, ACME, by="ann")).memories
    p.clock.forward(days=1)
    replaced_at = p.clock()
    new = await run(door, supersede, p, old.id, MONDAY, ACME, by="ann")
    p.clock.forward(days=1)
    repeated = waiting(p, f"{FRIDAY} {PNPM}")
    waiting(p, OFFICE)
    insights = {one.summary: one for one in (await run(door, digest, p, ACME)).insights}
    (replacement,) = insights[FRIDAY].replaced
    assert replacement == Replacement(memory_id=old.id, at=replaced_at, by=new.document_id)
    assert insights[FRIDAY].source_entry_ids == (repeated.id,)
    assert insights[PNPM].replaced == insights[OFFICE].replaced == ()


async def test_what_was_taken_back_or_is_of_another_group_is_not_said_to_be_replaced(door):
    p = parts()
    (old,) = (await run(door, promote, p, FRIDAY, ACME, by="ann")).memories
    await run(door, supersede, p, old.id, MONDAY, ACME, by="ann")
    await run(door, revoke, p, old.id, ACME, by="ann")
    waiting(p, FRIDAY)
    waiting(p, FRIDAY, scope=MemoryScope(group_id="other"))
    for scope in (ACME, MemoryScope(group_id="other")):
        (insight,) = (await run(door, digest, p, scope)).insights
        assert insight.replaced == ()
