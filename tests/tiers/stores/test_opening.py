"""Stores by their address."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memoryware import StoreUnavailable, TieredMemory, aopen_stores, open_stores


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("redis://localhost", "postgresql://"),
        ("postgresql://localhost:1/x", "Is the server running"),
        ("postgres://127.0.0.1:1/x", "Is the server running"),
        ("postgresql://host:port/x", "postgresql://user"),
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
