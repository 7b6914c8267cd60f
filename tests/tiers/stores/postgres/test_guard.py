"""PostgreSQL: the database itself keeps tenants apart, whatever a statement says."""

from __future__ import annotations

import psycopg
import pytest

from memoryware import MemoryScope, StoreUnavailable
from memoryware.conformance._documents import FLAT, document
from memoryware.conformance._tiers import entry, later
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.protocol import Select, Space
from tiers.stores.postgres.kit import counted


def test_a_tenant_sees_nothing_of_another_by_statements_by_hand(roles):
    app, bound = roles
    stores = postgres_stores(app)
    for tenant in ("a", "b", None):
        scope = MemoryScope(tenant, "g")
        stores.quarantine.add(entry(f"entry of {tenant}", scope))
        stores.long_term.add(document(f"tea of {tenant}", scope=scope), [[1, 0, 0]], FLAT)
    tables = ["record", "source", "root", "word_index", "vector"]
    for sets, wanted in (("ta", 1), ("tb", 1), ("n", 1), ("tc", 0), ("", 0)):
        script = (
            f"SET memoryware.owner = '{sets}'; SELECT count(*) FROM record WHERE tier = 'long_term'"
        )
        assert counted(app, script) == wanted
        for one in tables[2:]:
            assert counted(app, f"SET memoryware.owner = '{sets}'; SELECT count(*) FROM {one}") in (
                wanted, 2 * wanted,
            )  # fmt: skip
    for sets in ("ta", "*", "tb"):  # whatever a bound role says
        script = f"SET memoryware.owner = '{sets}'; SELECT string_agg(content, ',') FROM record"
        assert counted(bound, script) == "entry of b,tea of b"
        script = f"SET memoryware.owner = '{sets}'; UPDATE record SET size = 9 RETURNING 1"
        assert counted(bound, script) == 1
        looked = "SELECT count(*) FROM looked_up((SELECT array_agg(t) FROM word_index, unnest(tokens) t), '{}')"
        assert counted(bound, f"SET memoryware.owner = '{sets}'; {looked}") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        counted(
            bound,
            "SET memoryware.owner = 'ta'; INSERT INTO root SELECT seq, 'x', 'ta' FROM record RETURNING 1",
        )
    stores.working.close()


def test_a_role_that_owns_nothing_can_do_everything_for_its_tenants(roles):
    app, bound = roles
    stores = postgres_stores(app)
    for tenant in ("a", "b"):
        scope = MemoryScope(tenant, "g")
        stores.working.push(entry("x", scope, expires_at=later(hours=1)), keep=5)
        stores.long_term.add(document("green tea", "door", scope=scope))
    assert len(stores.long_term.unembedded(FLAT, limit=9)) == 4
    every = [(one, [1, 0, 0]) for one in stores.long_term.unembedded(FLAT, limit=9)]
    assert stores.long_term.put_vectors(every, FLAT) == 4
    which = Select(tenant="b", groups=("g",))
    assert len(stores.long_term.by_vector([1, 0, 0], which, space=FLAT, limit=9)) == 2
    assert len(stores.long_term.by_words(["tea"], which, limit=9)) == 1
    of_b = postgres_stores(bound)
    assert len(of_b.long_term.by_words(["tea"], which, limit=9)) == 1
    assert of_b.long_term.by_words(["tea"], Select(tenant="a", groups=("g",)), limit=9) == []
    assert of_b.long_term.spaces() == {FLAT: 2}
    assert of_b.working.purge(later(hours=2)) == 1
    with pytest.raises(StoreUnavailable, match="may not"):
        of_b.long_term.add(document("for a", scope=MemoryScope("a", "g")))
    with pytest.raises(StoreUnavailable, match="may not"):
        of_b.long_term.adopt(Space("other", 2), drop_others=True)
    assert stores.working.purge(later(hours=2)) == 1
    stores.working.close()
    of_b.working.close()
