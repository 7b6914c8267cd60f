"""PostgreSQL: the database itself keeps tenants apart, whatever a statement says."""

from __future__ import annotations

import psycopg
import pytest

from memoryware import MemoryScope
from memoryware.errors import StoreUnavailable
from memoryware.testing._store import FLAT, document, entry, later
from memoryware.tiers.provenance import Origin, Provenance
from memoryware.tiers.stores.postgres import admit_role, postgres_stores
from memoryware.tiers.stores.postgres._schema import TABLES
from memoryware.tiers.stores.protocol import Select, Space
from memoryware.tiers.text.terms import WORDS_VERSION
from servers import postgres
from tiers.stores.postgres.kit import counted


def test_a_tenant_sees_nothing_of_another_by_statements_by_hand(roles, address):
    app, bound = roles
    stores = postgres_stores(app)
    made = Provenance(Origin("tool", "x"), ("e1",))
    for tenant in ("a", "b", None):
        scope = MemoryScope(tenant=tenant, group_id="g")
        stores.quarantine.add(entry(f"entry of {tenant}", scope))
        memory = document(f"tea of {tenant}", scope=scope, provenance=made)
        stores.long_term.add(memory, [[1, 0, 0]], FLAT)
    ((tokens,),) = postgres.asked(address, "SELECT array_agg(t) FROM word_index, unnest(tokens) t")
    looked = f"SELECT count(*) FROM looked_up(ARRAY{tokens}, '{{}}')"
    wanted = {"record": 2, "source": 1, "root": 2, "word_index": 1, "vector": 1}
    for owner, times in (("ta", 1), ("tb", 1), ("n", 1), ("tc", 0), ("", 0), ("*", 3)):
        for table in TABLES:
            found = counted(app, as_(owner, f"SELECT count(*) FROM {table}"))
            assert found == times * wanted[table]
        assert counted(app, as_(owner, looked)) == times
    for owner in ("ta", "*", "tb"):  # whatever a bound role says
        for table in TABLES:
            assert counted(bound, as_(owner, f"SELECT count(*) FROM {table}")) == wanted[table]
        every = "SELECT string_agg(content, ',') FROM record"
        assert counted(bound, as_(owner, every)) == "entry of b,tea of b"
        changed = "UPDATE record SET size = size WHERE tier = 'long_term' RETURNING content"
        assert counted(bound, as_(owner, changed)) == "tea of b"
        assert counted(bound, as_(owner, looked)) == 1
    stores.working.close()


@pytest.mark.parametrize("table", TABLES)
def test_nobody_writes_for_a_tenant_that_is_not_theirs(roles, address, table):
    app, bound = roles
    stores = postgres_stores(app)
    made = Provenance(Origin("tool", "x"), ("e1",))
    scope = MemoryScope(tenant="b", group_id="g")
    stores.long_term.add(document("tea", scope=scope, provenance=made), [[1, 0, 0]], FLAT)
    for role in (app, bound):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            postgres.asked(role, as_("tb", f"UPDATE {table} SET owner = 'ta'"))
    stores.working.close()


def test_the_last_admission_of_a_role_counts(roles, address):
    _, bound = roles
    stores = postgres_stores(address)
    for tenant in ("a", "b"):
        stores.quarantine.add(entry(f"of {tenant}", MemoryScope(tenant=tenant, group_id="g")))
    name = bound.partition("//")[2].partition("@")[0]
    every = "SELECT string_agg(content, ',' ORDER BY content) FROM record"
    admit_role(address, name, "a")
    assert counted(bound, as_("tb", every)) == "of a"
    admit_role(address, name)
    assert counted(bound, as_("tb", every)) == "of b"
    admit_role(address, name, None)
    assert counted(bound, as_("tb", every)) is None
    stores.working.close()


def test_words_that_are_made_anew_stay_with_their_tenant(roles, address):
    stores = postgres_stores(address)
    which = Select(tenant="a", groups=("g",))
    stores.long_term.add(document("about the orders", scope=MemoryScope(tenant="a", group_id="g")))
    postgres.asked(address, "UPDATE about SET value = %s WHERE name = 'words'", WORDS_VERSION - 1)
    postgres_stores(address).working.close()
    app = postgres_stores(roles[0])
    assert len(app.long_term.by_words(["order"], which, limit=5)) == 1
    for one in (stores, app):
        one.working.close()


def as_(owner, sql):
    """Return a statement of somebody who says to be this owner."""
    return f"SET memoryware.owner = '{owner}'; {sql}"


def test_a_role_that_owns_nothing_can_do_everything_for_its_tenants(roles):
    app, bound = roles
    stores = postgres_stores(app)
    for tenant in ("a", "b"):
        scope = MemoryScope(tenant=tenant, group_id="g")
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
        of_b.long_term.add(document("for a", scope=MemoryScope(tenant="a", group_id="g")))
    with pytest.raises(StoreUnavailable, match="may not"):
        of_b.long_term.adopt(Space("other", 2), drop_others=True)
    assert stores.working.purge(later(hours=2)) == 1
    stores.working.close()
    of_b.working.close()
