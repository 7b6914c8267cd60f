"""What tests of PostgreSQL may ask for."""

from __future__ import annotations

import pytest

from tiers.stores.postgres import kit

address = pytest.fixture(kit.address)
stores = pytest.fixture(kit.stores)
server = pytest.fixture(kit.server)
proxy = pytest.fixture(kit.proxy)
roles = pytest.fixture(kit.roles)
replica = pytest.fixture(kit.replica)
pooler = pytest.fixture(kit.pooler)
parted = pytest.fixture(kit.parted)
filled = pytest.fixture(kit.filled)
old = pytest.fixture(kit.old)
relay = pytest.fixture(kit.relay)
