"""PostgreSQL: addresses, what a database must have, and tables of other versions."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from memoryware._install import install_command
from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.stores import open_stores
from memoryware.testing._store import entry, memory, within
from memoryware.tiers.stores.postgres import _schema as schema
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.text.terms import WORDS_VERSION
from servers import postgres
from tiers.stores.postgres.kit import MODES, call, database


def test_the_address_may_carry_settings(address):
    with pytest.raises(StoreUnavailable, match="pool_size=0: must be"):
        open_stores(f"{address}&pool_size=0")
    with pytest.raises(StoreUnavailable, match="row_security='perhaps'"):
        open_stores(f"{address}&row_security=perhaps")
    with pytest.raises(StoreUnavailable, match="not an address"):
        open_stores("postgresql://host:port/x")
    open_stores(f"{address}&pool_size=3&statement_timeout=5.5").working.close()


@pytest.mark.slow
def test_who_is_not_let_in_hears_why(server):
    for name in ("ann", "bob"):
        postgres.asked(server.url, f"CREATE ROLE {name} LOGIN PASSWORD 'right'")
    rules = "local all postgres trust\nlocal all ann scram-sha-256\n"
    (server.base / "data" / "pg_hba.conf").write_text(rules)
    postgres.asked(server.url, "SELECT pg_reload_conf()")
    place = server.url.partition("@")[2]
    with pytest.raises(StoreUnavailable, match="the password is wrong") as told:
        postgres_stores(f"postgresql://ann:hush@{place}")
    assert "hush" not in str(told.value)
    with pytest.raises(StoreUnavailable, match=r"rejects this user; check its pg_hba\.conf"):
        postgres_stores(f"postgresql://bob:right@{place}")
    with pytest.raises(StoreUnavailable, match=r"\"nobody's\" does not exist.*name right\?"):
        postgres_stores(server.url.replace("/postgres?", "/nobody's?"))


def test_an_address_may_name_several_hosts():
    many = "postgresql://ann:hush@127.0.0.1:1,127.0.0.1:2/x?target_session_attrs=read-write"
    with pytest.raises(StoreUnavailable, match=r"//127\.0\.0\.1:1,127\.0\.0\.1:2/x cannot be rea"):
        postgres_stores(many)
    with pytest.raises(StoreUnavailable, match="not an address"):
        postgres_stores(many.replace(":2/x", ":two/x"))


def test_a_missing_package_names_the_command(address):
    script = (
        "import sys\nsys.modules['psycopg'] = None\nfrom memoryware.stores import open_stores\n"
        "try:\n    open_stores('postgresql://ann:hush@host/x')\n"
        "except OSError as error:\n    print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=True
    )
    assert install_command("postgres") in run.stdout
    assert "hush" not in run.stdout


def test_many_who_open_at_once_make_the_tables_once(address):
    failed = []

    def opening(n):
        try:
            stores = postgres_stores(address)
            stores.quarantine.add(entry(f"{n}"))
            stores.working.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=opening, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []
    assert postgres.asked(address, "SELECT count(*) FROM record") == [(8,)]


def test_a_schema_of_another_program_is_left_alone(address):
    name = address.rpartition("=")[2]
    postgres.asked(address, f'CREATE SCHEMA "{name}"')
    postgres.asked(address, "CREATE TABLE theirs (x int)")
    with pytest.raises(StoreUnavailable, match="another program"):
        postgres_stores(address)


def test_a_newer_schema_is_left_alone_and_an_older_one_brought_up(address, stores, monkeypatch):
    stores.quarantine.add(entry("kept"))
    steps = (*schema.STEPS, "ALTER TABLE record ADD COLUMN mood TEXT")
    monkeypatch.setattr(schema, "STEPS", steps)
    older = f"CHECK (name <> 'memoryware' OR value < {len(steps)})"
    postgres.asked(address, f"ALTER TABLE about ADD CONSTRAINT stays_older {older}")
    with pytest.raises(StoreUnavailable, match="stays_older"):
        postgres_stores(address)  # when the step was done, and not yet noted
    postgres.asked(address, "ALTER TABLE about DROP CONSTRAINT stays_older")
    newer = postgres_stores(address)
    assert newer.quarantine.find(within()).total == 1
    newer.working.close()
    stores.quarantine.add(entry("by the older one, which was open"))
    monkeypatch.undo()
    was = _everything(address)
    with pytest.raises(
        StoreNewer, match=rf"version {len(schema.STEPS) + 1}\.{WORDS_VERSION}.*nothing was changed"
    ):
        postgres_stores(address)
    assert _everything(address) == was


def _everything(address):
    """Return what a schema is made of, and what is in it."""
    columns = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = current_schema() ORDER BY 1, 2"
    )
    return [
        postgres.asked(address, sql)
        for sql in (columns, "SELECT * FROM record", "SELECT * FROM about", "SELECT * FROM done")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_older_version_goes_on_while_the_tables_are_brought_up(
    address, stores, monkeypatch, mode
):
    known, failed, stop = [], [], threading.Event()

    def work(me):
        try:
            while not stop.is_set():
                one = entry(f"{me} {len(known)}")
                call(stores.quarantine, mode, "add", one)
                known.append(one.id)
                found = call(stores.quarantine, mode, "find", within(), limit=5)
                assert 1 <= len(found.items) <= 5
                call(stores.quarantine, mode, "edit", within(ids=(one.id,)), decided)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
    for one in threads:
        one.start()
    steps, newer = schema.STEPS, []
    for name in ("mood", "moon", "more"):
        begun = len(known)
        while len(known) < begun + 10 and not failed:
            time.sleep(0.01)
        steps = (*steps, f"ALTER TABLE record ADD COLUMN {name} TEXT DEFAULT 'x'")
        monkeypatch.setattr(schema, "STEPS", steps)
        newer.append(postgres_stores(address))
    newer[-1].quarantine.add(entry("by the newest"))
    stop.set()
    for one in threads:
        one.join(20)
    assert failed == []
    found = newer[-1].quarantine.find(within()).items
    assert {one.id for one in found if one.status == "promoted"} == {*known}
    assert len(found) == len(known) + 1
    for one in newer:
        one.working.close()


def decided(record):
    return replace(record, status="promoted")


def test_words_that_another_version_made_are_made_anew(stores, address):
    kept = [memory(f"about the orders {n}") for n in range(3)]
    for one in kept:
        stores.long_term.add([one])
    postgres.asked(address, "UPDATE about SET value = %s WHERE name = 'words'", WORDS_VERSION - 1)
    postgres.asked(address, "UPDATE word_index SET tokens = '{1}', often = '{1}', words = ''")
    assert stores.long_term.by_words(["order"], within(), limit=5) == []
    again = postgres_stores(address)
    assert len(again.long_term.by_words(["order"], within(), limit=5)) == 3
    again.working.close()


def test_what_a_database_lacks_is_said():
    name = f"lacking_{os.getpid()}"
    with (
        database(name, "ENCODING 'LATIN1' LOCALE 'C'") as url,
        pytest.raises(StoreUnavailable, match="ENCODING 'UTF8'"),
    ):
        postgres_stores(url)
    with database(name) as url:
        postgres.asked(f"{url}&schema=public", f"CREATE ROLE {name} LOGIN")
        mine = url.replace("postgres@", f"{name}@")
        with pytest.raises(StoreUnavailable, match="CREATE EXTENSION vector"):
            postgres_stores(mine)
        postgres.asked(f"{url}&schema=public", "CREATE EXTENSION vector")
        with pytest.raises(StoreUnavailable, match="may not"):
            postgres_stores(mine)
        postgres.asked(f"{url}&schema=public", "UPDATE pg_extension SET extversion = '0.7.4'")
        with pytest.raises(StoreUnavailable, match=r"0\.7\.4.*0\.8.*ALTER EXTENSION"):
            postgres_stores(url)
    postgres.asked(f"{postgres.url()}&schema=public", f"DROP ROLE {name}")
    with pytest.raises(StoreUnavailable, match="does not exist"):
        postgres_stores(url)
