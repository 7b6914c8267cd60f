"""PostgreSQL: a role bound to a tenant that is up to no good gets nowhere by SQL of its own."""

from __future__ import annotations

import json
import os

import psycopg
import pytest

from memoryware import MemoryScope
from memoryware.stores import copy_stores
from memoryware.testing._store import FLAT, choose_all, document, make_query
from memoryware.tiers.stores.embedded import embedded
from memoryware.tiers.stores.postgres import admit_role, postgres_stores
from memoryware.tiers.stores.protocol import Select
from servers import postgres

A, B = (Select(tenant=one, groups=("g",)) for one in ("a", "b"))


@pytest.fixture
def stores(address, roles):
    made = postgres_stores(address)
    for tenant in ("a", "b"):
        scope = MemoryScope(tenant=tenant, group_id="g")
        made.long_term.add(document(f"tea of {tenant}", scope=scope), [[1, 0, 0]], FLAT)
    yield made
    made.working.close()


@pytest.fixture
def db(roles, stores):
    """A connection of the role that is bound to tenant b."""
    plain, _, schema = roles[1].replace("&schema=", "?schema=").partition("?schema=")
    with psycopg.connect(plain, autocommit=True) as made:
        made.execute(f'SET search_path = "{schema}"')
        made.execute("SET memoryware.owner = '*'")
        yield made


def seen(db):
    return [row[0] for row in db.execute("SELECT content FROM record ORDER BY 1")]


def test_a_table_of_its_own_does_not_stand_for_one_of_ours(db):
    for statement in (
        (
            "CREATE FUNCTION pg_temp.evil() RETURNS text LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'evil runs as %', current_user; END $$"
        ),
        "CREATE TEMP VIEW bound AS SELECT 0::oid AS role, pg_temp.evil() AS owner",
        "CREATE TEMP TABLE word_index (owner text)",
        "GRANT ALL ON bound, word_index TO PUBLIC",
    ):
        db.execute(statement)
    assert db.execute("SELECT content FROM record").fetchall() == [("tea of b",)]
    assert db.execute("SELECT count(*) FROM looked_up('{1}', '{}')").fetchone() == (0,)


def test_rows_of_another_tenant_with_our_numbers_are_not_seen(address):
    stores = postgres_stores(address)
    chunks = document("tea of a", "milk", scope=MemoryScope(tenant="a", group_id="g"))
    stores.long_term.add(chunks, [[1, 0, 0], [0, 1, 0]], FLAT)
    # As a role that is bound to tenant b could write them, which may choose any number.
    query, looked = make_query("tea of", [1, 0, 0]), stores.long_term.search
    before = looked(query, A, choose_all)
    assert [*before.memories.values()] == chunks
    for statement in (
        (
            "INSERT INTO record (seq, tier, id, part, tenant, hash, created, content, body)"
            " SELECT seq, tier, id, 'x', 'b', hash, created, content, body FROM record"
            " WHERE owner = 'ta'"
        ),
        (
            "INSERT INTO word_index (seq, tokens, often) SELECT seq, tokens, '{9}'"
            " FROM word_index WHERE owner = 'ta'"
        ),
        (
            "INSERT INTO vector (space, seq, owner, data) SELECT space, seq, 'tb', '[-1,0,0]'"
            " FROM vector WHERE owner = 'ta'"
        ),
    ):
        postgres.asked(address, f"SET memoryware.owner = 'tb'; {statement}")
    after = looked(query, A, choose_all)
    assert (after.view.candidates, after.memories) == (before.view.candidates, before.memories)
    stores.working.close()


def test_a_function_that_fits_better_is_not_called(address, roles, stores, db):
    postgres.asked(f"{address}", "GRANT CREATE ON SCHEMA public TO PUBLIC")
    try:
        for statement in (
            (
                "CREATE FUNCTION public.array_position(a bigint[], b bigint) RETURNS int"
                " LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$"
            ),
            (
                "CREATE FUNCTION public.evil(a bigint[], b bigint[]) RETURNS boolean"
                " LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$"
            ),
            (
                "CREATE OPERATOR public.&& (FUNCTION = public.evil, LEFTARG = bigint[],"
                " RIGHTARG = bigint[])"
            ),
            (
                "CREATE OPERATOR public.@> (FUNCTION = public.evil, LEFTARG = bigint[],"
                " RIGHTARG = bigint[])"
            ),
        ):
            db.execute(statement)
        for url in (address, roles[0], roles[1]):
            one = postgres_stores(url)
            assert len(one.long_term.by_words(["tea"], B, limit=5)) == 1
            assert len(one.long_term.by_vector([1, 0, 0], B, space=FLAT, limit=5)) == 1
            one.working.close()
    finally:
        db.execute("DROP OPERATOR IF EXISTS public.&& (bigint[], bigint[])")
        db.execute("DROP OPERATOR IF EXISTS public.@> (bigint[], bigint[])")
        db.execute("DROP FUNCTION public.array_position(bigint[], bigint)")
        db.execute("DROP FUNCTION public.evil(bigint[], bigint[])")
        postgres.asked(address, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")


def test_members_of_a_bound_role_and_one_with_a_new_name_are_bound(address, roles, stores):
    member, changed = f"member_{os.getpid()}", f"changed_{os.getpid()}"
    bound = f"bound_{os.getpid()}"
    plain, _, schema = address.replace("&schema=", "?schema=").partition("?schema=")
    postgres.asked(address, f"CREATE ROLE {member} LOGIN NOINHERIT IN ROLE {bound}")
    try:
        with psycopg.connect(plain.replace("postgres@", f"{member}@"), autocommit=True) as db:
            db.execute(f'SET ROLE {bound}; SET search_path = "{schema}"')
            db.execute("SET memoryware.owner = '*'")
            assert seen(db) == ["tea of b"]
        postgres.asked(address, f"ALTER ROLE {bound} RENAME TO {changed}")
        with psycopg.connect(plain.replace("postgres@", f"{changed}@"), autocommit=True) as db:
            db.execute(f"SET search_path = \"{schema}\"; SET memoryware.owner = 'ta'")
            assert seen(db) == ["tea of b"]
    finally:
        postgres.asked(address, f"ALTER ROLE {changed} RENAME TO {bound}; DROP ROLE {member}")


def test_who_is_bound_to_two_tenants_sees_none(address, roles, stores):
    both, second = f"both_{os.getpid()}", f"second_{os.getpid()}"
    plain, _, schema = address.replace("&schema=", "?schema=").partition("?schema=")
    postgres.asked(
        address,
        f"CREATE ROLE {second}; CREATE ROLE {both} LOGIN IN ROLE bound_{os.getpid()}, {second}",
    )
    try:
        admit_role(address, second, "a")
        with psycopg.connect(plain.replace("postgres@", f"{both}@"), autocommit=True) as db:
            db.execute(f"SET search_path = \"{schema}\"; SET memoryware.owner = '*'")
            assert seen(db) == []
    finally:
        postgres.asked(address, f"DROP ROLE {both}; DROP OWNED BY {second}; DROP ROLE {second}")


def test_a_role_that_is_bound_later_may_no_longer_do_what_it_might(address, roles, stores, db):
    allowed = "SELECT has_table_privilege(%s, current_schema() || '.space', %s)"
    app = f"app_{os.getpid()}"
    assert postgres.asked(address, allowed, app, "DELETE") == [(True,)]
    admit_role(address, app, "a")
    for what in ("INSERT", "UPDATE", "DELETE"):
        assert postgres.asked(address, allowed, app, what) == [(False,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("INSERT INTO space (name, dimension, current) VALUES ('evil', 3, true)")


def test_a_row_with_the_name_of_another_tenant_is_shown_to_nobody(address, roles, stores, db):
    body = db.execute("SELECT body FROM record").fetchone()[0]
    forged = json.loads(body) | {"id": "forged", "document_id": "forged"}
    forged["scope"]["tenant"] = "a"
    db.execute(
        "INSERT INTO record (owner, tier, id, part, tenant, group_id, hash, document, created,"
        " valid_from, size, space, content, body) SELECT 'tb', 'long_term', 'forged', %s, 'a', 'g',"
        " 'h', 'forged', created, valid_from, 2, 0, 'pay mallory', %s FROM record",
        ['["a", "g"]', json.dumps(forged)],
    )
    target = embedded()
    for url in (address, roles[0]):
        one = postgres_stores(url)
        for which in (A, Select(tenant="a"), A.also(ids=("forged",))):
            found = one.long_term.find(which).items
            assert "pay mallory" not in [memory.content for memory in found]
        assert one.long_term.by_words(["pay", "mallory"], A, limit=5) == []
        one.working.close()
    report = copy_stores(stores, target)
    assert report.same
    assert target.long_term.find(Select(tenant="a")).total == 1
    assert target.long_term.find(Select(tenant="b")).total == 1


def test_marks_of_others_are_out_of_reach(stores, db, address):
    assert postgres.asked(address, "SELECT count(*) > 0 FROM done") == [(True,)]
    assert db.execute("SELECT count(*) FROM done").fetchone() == (0,)
    assert db.execute("DELETE FROM done").rowcount == 0
