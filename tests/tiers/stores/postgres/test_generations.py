"""PostgreSQL: every change of a group raises its generation, and the tables of 0.1.0 get one."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from memoryware import MemoryScope
from memoryware._runner import run_blocking
from memoryware.settings import PostgresLimits
from memoryware.testing._store import ACME, FLAT, document, entry, within
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.postgres._address import address_of
from memoryware.tiers.stores.postgres._schema import open_database
from memoryware.tiers.stores.postgres._store import BlockingServer
from memoryware.tiers.stores.protocol import Select
from servers import postgres

OTHER = replace(ACME, group_id="other")


def generation(address, scope=ACME):
    """Return the generation of a group, read as its tenant."""
    server = BlockingServer(open_database(address_of(address, PostgresLimits())))

    async def read(port):
        async with port.transaction(Select.within(scope), snapshot=False) as tx:
            return await tx.generation(scope.tenant, scope.group_id)

    try:
        return run_blocking(server.run(read))
    finally:
        run_blocking(server.close())


def test_every_change_of_a_group_raises_its_generation(address, stores):
    waiting, (memory,) = entry("waits"), document("tea")
    refused = lambda record: replace(record, refused="no")
    changes = [
        lambda: stores.quarantine.add(waiting),
        lambda: stores.quarantine.edit(within(), refused),
        lambda: stores.working.push(entry("working"), keep=3),
        lambda: stores.long_term.add([memory]),
        lambda: stores.long_term.put_vectors([(memory, [1, 0, 0])], FLAT),
        lambda: stores.quarantine.load([entry("loaded")]),
        lambda: postgres.asked(address, "UPDATE record SET size = size + 1 WHERE tier = 'working'"),
        lambda: stores.quarantine.delete(within(ids=(waiting.id,))),
    ]
    stores.quarantine.add(entry("elsewhere", OTHER))
    elsewhere, seen = generation(address, OTHER), [generation(address)]
    assert seen == [0]
    for change in changes:
        change()
        seen.append(generation(address))
    assert seen == sorted({*seen}), "one of the changes has not raised it"
    assert generation(address, OTHER) == elsewhere


def test_what_changes_nothing_raises_nothing(address, stores):
    one = stores.quarantine.add(entry("waits", key="once"))
    before = generation(address)
    stores.quarantine.add(replace(one, id="f" * 32))
    stores.quarantine.edit(within(), lambda record: record)
    stores.quarantine.delete(within(ids=("nobody's",)))
    with pytest.raises(ZeroDivisionError):
        stores.quarantine.edit(within(), lambda record: 1 / 0)
    assert generation(address) == before


def test_roles_raise_the_generation_of_their_tenant_alone(address, roles):
    scopes = {tenant: MemoryScope(tenant=tenant, group_id="g") for tenant in ("a", "b")}
    owner, bound = postgres_stores(address), postgres_stores(roles[1])
    for scope in scopes.values():
        owner.quarantine.add(entry("kept", scope))
    was = {tenant: generation(address, scope) for tenant, scope in scopes.items()}
    bound.quarantine.add(entry("more", scopes["b"]))
    assert generation(roles[1], scopes["b"]) > was["b"]
    assert generation(roles[1], scopes["a"]) == 0, "a bound role sees that another tenant wrote"
    assert generation(address, scopes["a"]) == generation(roles[0], scopes["a"]) == was["a"]
    for stores in (owner, bound):
        stores.working.close()


def test_tables_of_the_first_version_get_generations_for_roles_and_running_clients(address, old):
    stores, as_role = old
    stores.quarantine.add(entry("before"))
    failed = []

    def open_it():
        try:
            postgres_stores(address).working.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []
    assert generation(address) == 0
    stores.quarantine.add(entry("by the older version, which was open"))
    first = generation(as_role)
    assert first > 0
    role = postgres_stores(as_role)
    role.quarantine.add(entry("by the role"))
    assert generation(as_role) > first
    assert role.quarantine.find(within()).total == 3
    policies = postgres.asked(
        address,
        "SELECT count(*) FROM pg_policies WHERE schemaname = current_schema() AND tablename = 'part'",
    )
    assert policies == [(1,)]
    role.working.close()


def test_groups_in_parts_have_generations(parted):
    stores = postgres_stores(parted)
    stores.quarantine.add(entry())
    first = generation(parted)
    stores.quarantine.delete(within())
    assert 0 < first < generation(parted)
    stores.working.close()
