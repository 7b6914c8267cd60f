"""Tables in parts by tenant: a question of one tenant looks into one part, as safely as before."""

from __future__ import annotations

import os
import random
import time

import psycopg
import pytest

from limits import limited
from memoryware.errors import StoreUnavailable
from memoryware.scope import MemoryScope
from memoryware.settings import PostgresLimits
from memoryware.stores import copy_stores
from memoryware.testing._store import FLAT, choose_all, document, within
from memoryware.testing._store import make_query as asked
from memoryware.tiers.stores.postgres import admit_role, postgres_stores
from memoryware.tiers.stores.postgres._schema import TABLES
from memoryware.tiers.stores.protocol import Select, Space
from servers import postgres
from tiers.stores.postgres.kit import TENANTS


def parts_of(address, table):
    return postgres.asked(
        address, f"SELECT tableoid::regclass::text, owner, count(*) FROM {table} GROUP BY 1, 2"
    )


def test_all_rows_of_a_tenant_are_in_one_part_and_tenants_are_in_several(filled, address):
    found = {}
    for table in ("record", "word_index", "vector", "root"):
        for part, owner, _ in parts_of(address, table):
            found.setdefault(owner, set()).add(part.rpartition("_")[2])
    assert len(found) == len(TENANTS)
    assert all(len(parts) == 1 for parts in found.values())
    assert len({min(parts) for parts in found.values()}) == 4


def scans(address):
    """Return how often each table was read, once the server has counted all of it."""
    last = None
    while True:
        rows = postgres.asked(
            address,
            "SELECT relname, coalesce(seq_scan, 0) + coalesce(idx_scan, 0)"
            " FROM pg_stat_user_tables WHERE schemaname = current_schema()",
        )
        if last == (last := sorted(rows)):
            return dict(rows)
        time.sleep(0.2)


ASKS = {
    "find": lambda one, which: one.long_term.find(which),
    "words": lambda one, which: one.long_term.by_words(["tea"], which, limit=5),
    "vector": lambda one, which: one.long_term.by_vector([1, 0, 0], which, space=FLAT, limit=5),
    "search": lambda one, which: (
        one.long_term.search(asked("tea", [1, 0, 0], sessions=True), which, choose_all).memories
    ),
    "everywhere": lambda one, which: one.long_term.by_words(
        ["tea"], Select(tenant=which.tenant), limit=5
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("tenant", [None, "tenant 3"])
def test_a_question_looks_into_the_part_of_its_tenant_only(parted, filled, address, tenant, asks):
    which = within(MemoryScope(tenant=tenant, group_id="g"))
    (mine,) = {
        part.rpartition("_")[2]
        for part, owner, _ in parts_of(address, "vector")
        if owner == ("n" if tenant is None else f"t{tenant}")
    }
    filled.working.close()
    before = scans(address)
    asking = postgres_stores(parted)
    assert ASKS[asks](asking, which)
    asking.working.close()
    after = scans(address)
    touched = {name for name, number in after.items() if number > before[name]}
    parts = {one.rpartition("_")[2] for one in touched if one.rpartition("_")[0] in TABLES}
    assert parts == {mine}


def test_another_number_of_parts_is_refused_and_none_is_the_one_that_is_there(
    address, parted, filled
):
    for given, there in ((f"{address}&partitions=5", 4), (address, 4)):
        if given == address:
            opened = postgres_stores(given)
            assert opened.long_term.find(within(MemoryScope(tenant=None, group_id="g"))).total == 1
            opened.working.close()
            continue
        with pytest.raises(StoreUnavailable, match=f"partitions={there}.*copy_stores"):
            postgres_stores(given)


@pytest.mark.slow
def test_whole_tables_become_parted_ones_by_moving(address):
    with postgres.schema_at(postgres.url()) as other:
        whole = postgres_stores(address)
        for tenant in TENANTS:
            whole.long_term.add(
                document(f"tea of {tenant}", scope=MemoryScope(tenant=tenant, group_id="g")),
                [[1, 0, 0]],
                FLAT,
            )
        report = copy_stores(whole, f"{other}&partitions=3")
        assert (report.same, report.kept, report.vectors) == (True, len(TENANTS), len(TENANTS))
        assert len({part for part, _, _ in parts_of(other, "vector")}) == 3
        whole.working.close()


@pytest.mark.slow
def test_the_index_finds_as_many_as_were_asked_for_in_a_part(address):
    dice, space = random.Random(1), Space("wide", 8)
    stores = postgres_stores(
        f"{address}&partitions=2", limits=limited(PostgresLimits, exact_vectors=50)
    )
    for tenant in ("a", "b", "c", "d"):
        for n in range(3):
            chunks = document(
                *(f"{n} {m}" for m in range(60)), scope=MemoryScope(tenant=tenant, group_id="g")
            )
            made = [[dice.gauss(0, 1) for _ in range(8)] for _ in chunks]
            stores.long_term.add(chunks, made, space)
    for tenant in ("a", "b", "c", "d"):
        query = [dice.gauss(0, 1) for _ in range(8)]
        which = within(MemoryScope(tenant=tenant, group_id="g"))
        hits = stores.long_term.by_vector(query, which, space=space, limit=20)
        assert {hit.memory.scope.tenant for hit in hits} == {tenant}
        assert len(hits) == 20
    stores.working.close()


def test_a_role_bound_to_a_tenant_gets_at_no_part_directly(address, parted, filled):
    if os.environ.get("TEST_POSTGRES_URL"):
        pytest.skip("makes roles")
    role = f"parted_{os.getpid()}"
    postgres.asked(address, f"CREATE ROLE {role} LOGIN")
    try:
        admit_role(parted, role, "tenant 3")
        mine = parted.replace("postgres@", f"{role}@")
        bound = postgres_stores(mine)
        own = within(MemoryScope(tenant="tenant 3", group_id="g"))
        assert bound.long_term.by_vector([1, 0, 0], own, space=FLAT, limit=5)
        assert bound.long_term.find(within(MemoryScope(tenant="tenant 4", group_id="g"))).total == 0
        bound.long_term.add(
            document("more tea", scope=MemoryScope(tenant="tenant 3", group_id="g"))
        )
        bound.working.close()
        plain, _, schema = address.partition("&schema=" if "&schema=" in address else "?schema=")
        with psycopg.connect(plain.replace("postgres@", f"{role}@"), autocommit=True) as db:
            db.execute(f'SET search_path = "{schema}"')
            db.execute("SET memoryware.owner = '*'")
            owners = db.execute("SELECT DISTINCT owner FROM record").fetchall()
            assert owners == [("ttenant 3",)]
            for table in TABLES:
                for part in range(4):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        db.execute(f"SELECT 1 FROM {table}_{part}")
    finally:
        postgres.asked(address, f"DROP OWNED BY {role}; DROP ROLE {role}")
