"""Stores by their address."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from memoryware import TieredMemory
from memoryware._install import install_command
from memoryware.errors import StoreUnavailable
from memoryware.stores import aopen_stores, open_stores
from memoryware.tiers.stores.protocol import Select
from servers import postgres


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("redis://localhost", "postgresql://"),
        ("postgresql://localhost:1/x", "Is the server running"),
        ("postgres://127.0.0.1:1/x", "Is the server running"),
        ("postgresql://host:port/x", "postgresql://user"),
        ("postgresql://host:99999/x", "postgresql://user"),
        ("postgresql://a:1,b:1/x", "postgresql://a:1,b:1/x cannot be reached"),
        ("postgresql://localhost:1/x?poolsize=3", "'poolsize' in the address is not a setting"),
        ("postgresql://localhost:1/x?pool_size=0", "pool_size"),
        ("sqlite:///nowhere/x.db?durabilty=full", "'durabilty' in the address is not a setting"),
        ("sqlite:///nowhere/x.db?durability=off", "must be full or normal"),
        ("sqlite:///nowhere/x.db?durability=full&a=b", "'a' in the address is not a setting"),
        ("postgresql://localhost/x+redis://:pw@h", "space on both sides"),
        ("sqlite:///x.db+redis://:pw@h", "space on both sides"),
        ("sqlite:///x.db +redis://:pw@h", "space on both sides"),
        ("mysql://h/db?password=pw", r"mysql://\.\.\. is not an address"),
        ("postgresql://h/db?password=pw + postgresql://h/x", r"postgresql://\.\.\. \+ postgresql"),
        ("sqlite:///x.db + redis://h?password=pw + redis://i?password=pw", "one Redis"),
        ("mysql://x", "sqlite:///"),
        ("sqlite://", "sqlite:///memory.db"),
        ("sqlite://memory.db", "sqlite:///memory.db"),
        ("sqlite:///", "sqlite:///memory.db"),
        ("sqlite:///:memory:", "sqlite:///memory.db"),
        ("memory.db", "sqlite:///"),
        ("", "sqlite:///"),
        ("memory://x", "memory://"),
    ],
)
async def test_an_address_that_cannot_be_says_what_can(url, hint):
    with pytest.raises(StoreUnavailable, match=hint):
        open_stores(url)
    with pytest.raises(StoreUnavailable, match=hint):
        await aopen_stores(url)


async def test_memory_is_new_each_time():
    one, two = TieredMemory.open("memory://"), await TieredMemory.aopen("memory://")
    one.promote("The orders are here.", "shop", by="ann")
    assert (len(one.retrieve("orders", "shop")), len(two.retrieve("orders", "shop"))) == (1, 0)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "redis", "rediss", "mysql", "x"])
def test_a_password_in_an_address_is_not_repeated(scheme):
    with pytest.raises(StoreUnavailable) as raised:
        open_stores(f"{scheme}://ann:hush@127.0.0.1:1/db")
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://ann:hush@localhost",
        "valkeys://ann:hush@localhost",
        "redis://ann:hush@localhost + redis://ann:hush@localhost",
    ],
)
async def test_redis_alone_has_no_place_for_what_must_stay(url):
    with pytest.raises(StoreUnavailable, match=r"postgresql://\.\.\. \+ redis://") as raised:
        await aopen_stores(url)
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///x.db + sqlite:///y.db",
        "sqlite:///x.db + redis://a + redis://b",
        "memory:// + memory:// + redis://a",
        "sqlite:///x.db + mysql://ann:hush@b",
    ],
)
def test_a_plus_joins_one_database_and_one_redis(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnavailable, match="one database and one Redis") as raised:
        open_stores(url)
    assert "hush" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_file_and_a_redis_are_one_memory(tmp_path, redis_url, redis_prefix, order):
    both = [f"sqlite:///{tmp_path}/memory.db", f"{redis_url}?prefix={redis_prefix}"]
    url = " + ".join(both[one] for one in order)
    text = "The orders are in the big table of the shop, one row for each of them."
    with TieredMemory.open(url) as memory:
        made = memory.record(text, "shop", {"confidence": 0.9})
        assert made.working
        memory.promote(made.entry, by="ann")
        memory.record(
            "New orders come in at night and are counted in the morning.",
            "shop",
            {"confidence": 1.0},
        )
    async with await TieredMemory.aopen(url) as again:
        found = await again.aretrieve("orders", "shop")
        assert {one.source for one in found} == {"working", "long_term"}
        await again.aforget("shop")
        assert len(await again.aretrieve("orders", "shop")) == 0
    assert (tmp_path / "memory.db").exists()


def test_a_missing_package_says_how_to_install_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "memoryware.tiers.stores.redis", raising=False)
    for name in [one for one in sys.modules if one.startswith("memoryware.tiers.stores.redis.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreUnavailable, match=re.escape(install_command("redis"))):
        open_stores("memory:// + redis://localhost")


def test_a_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    open_stores("sqlite:///~/memory.db").working.close()
    assert (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("path", ["~nobody-is-called-so/x.db", "a\0b.db", "\ud800.db", "x" * 300])
def test_a_path_that_cannot_be_is_said(path):
    with pytest.raises(StoreUnavailable):
        open_stores(f"sqlite:///{path}")


def test_a_wait_without_end_can_be_asked_for(tmp_path):
    open_stores(f"sqlite:///{tmp_path}/memory.db", lock_timeout=float("inf")).working.close()


def test_opening_a_file_loads_no_langchain(tmp_path):
    script = (
        "import sys\nfrom memoryware.tiers.stores.opening import open_stores\n"
        f"open_stores('sqlite:///{tmp_path}/memory.db')\n"
        "print({one.split('.')[0] for one in sys.modules}"
        " & {'langchain', 'langchain_core', 'langgraph', 'numpy', 'asyncio'})"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "set()"


def test_of_several_servers_the_one_that_is_there_is_used(tmp_path):
    with postgres.schema_at(postgres.url()) as address:
        several = address.replace("host=", f"host={tmp_path},")
        stores = open_stores(f"{several}&target_session_attrs=read-write")
        assert stores.quarantine.find(Select()).total == 0
        stores.quarantine.close()
