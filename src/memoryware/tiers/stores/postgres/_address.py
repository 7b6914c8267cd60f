"""The address of a PostgreSQL database, and the settings and locks of a transaction there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from memoryware.errors import SettingError, StoreUnavailable
from memoryware.settings import PostgresLimits
from memoryware.tiers.stores._sql.dialect import group_key
from memoryware.tiers.stores.protocol import Select

ANYBODY: Final = "*"
"""The owner that stands for all tenants."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.@ -]{0,60}")
_MANY: Final = 64
"""Groups from which a change waits for all of its tenant, not for each of them."""
_VARIABLE: Final = ("search_path", "memoryware.owner")
"""Settings whose values differ from transaction to transaction, or may hold any character."""
Command: TypeAlias = tuple[str, Sequence[object]]
"""A statement with `?` where values belong, and the values."""
_TRUE: Final = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}


@dataclass(frozen=True, slots=True)
class Address:
    """An address, without our own settings.

    Attributes:
        conninfo: What libpq is given.
        shown: How messages name it, without a password.
        limits: The settings.
    """

    conninfo: str
    shown: str
    limits: PostgresLimits

    @property
    def schema(self) -> str:
        """The schema as SQL has it."""
        return quoted(self.limits.schema)

    def key(self, *parts: str) -> int:
        """Return the number of the lock that stands for something in this schema."""
        text = "\x1f".join(("memoryware", self.limits.schema, *parts))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)

    def settings(
        self, selection: Select | None, path: str, *, is_durable: bool, writes: bool = False
    ) -> Command:
        """Return the statement that sets what a transaction about these records needs.

        All of it ends with the transaction, so that sessions may be those of a pooler. The owner
        is what row-level security compares with.

        Args:
            selection: The records; None for those of all tenants.
            path: The search path.
            is_durable: Whether to insist that a commit waits for the disk of the server.
            writes: Whether it is to write: planning an INSERT into tables with as many indexes
                takes longer than doing it. Plans of reads differ between tenants of many and of
                few memories, and are worth it, unless ids or hashes leave one index to take.
        """
        limits = self.limits
        owner = ANYBODY if selection is None else owner_of(selection.tenant)
        fixed = {
            "statement_timeout": _millis(limits.statement_timeout),
            "lock_timeout": _millis(limits.lock_timeout),
            "idle_in_transaction_session_timeout": _millis(limits.statement_timeout),
            "plan_cache_mode": plan_mode(selection, writes=writes),
            "jit": "off",
        }
        if is_durable:
            fixed["synchronous_commit"] = "on"
        # With their schema: a role may be allowed to put functions where its session looks first.
        calls = [f"pg_catalog.set_config('{name}', '{fixed[name]}', true)" for name in fixed]
        calls += [f"pg_catalog.set_config('{name}', ?::text, true)" for name in _VARIABLE]
        return f"SELECT {', '.join(calls)}", [path, owner]

    def locks(self, selection: Select | None) -> list[Command]:
        """Return what makes others wait who write the same groups, always in one order."""
        if selection is None:
            return []
        tenant = self.key("tenant", owner_of(selection.tenant))
        groups = selection.groups
        if groups is None or len(groups) > _MANY:
            return [("SELECT pg_advisory_xact_lock(?)", [tenant])]
        keys = sorted({self.key("part", group_key(selection.tenant, group)) for group in groups})
        shared = ("SELECT pg_advisory_xact_lock_shared(?)", [tenant])
        return [shared, *(("SELECT pg_advisory_xact_lock(?)", [key]) for key in keys)]


def plan_mode(selection: Select | None, *, writes: bool) -> str:
    """Return whether the server keeps the plans of statements about these records."""
    is_narrow = selection is not None and (
        selection.ids is not None or selection.hashes is not None
    )
    return "auto" if writes or is_narrow else "force_custom_plan"


def address_of(url: str, limits: PostgresLimits) -> Address:
    """Return what an address says; settings that stand in it win.

    Raises:
        StoreUnavailable: If it is no address, or a setting in it is none.
    """
    split = urlsplit(url)
    try:
        options = parse_qsl(split.query, keep_blank_values=True, strict_parsing=bool(split.query))
        settings = {field.name: field for field in fields(PostgresLimits)}
        ours = {name: value for name, value in options if name in settings}
        unknown = [name for name, _ in options if name not in settings and name not in _of_libpq()]
        if unknown:
            raise StoreUnavailable(
                f"postgresql://...: {unknown[0]!r} in the address is not a setting, neither of"
                " PostgresLimits nor of libpq"
            )
        rest = urlencode(
            [(name, value) for name, value in options if name not in settings], quote_via=quote
        )
        conninfo = f"postgresql://{split.netloc}{split.path}{rest and f'?{rest}'}"
        shown = _shown(conninfo_to_dict(conninfo))
    except (ValueError, psycopg.ProgrammingError):
        raise StoreUnavailable(
            "postgresql://...: this is not an address; use postgresql://user:password@host/database"
        ) from None  # what libpq says of it may show the password
    try:
        changed = {name: _read(name, value, getattr(limits, name)) for name, value in ours.items()}
        limits = replace(limits, **changed)
    except (ValueError, KeyError, SettingError) as error:
        raise StoreUnavailable(f"{shown}: a setting in the address is wrong: {error}") from error
    return Address(conninfo, shown, limits)


@cache
def _of_libpq() -> frozenset[str]:
    """Return what an address can say to libpq."""
    return frozenset(option.keyword.decode() for option in pq.Conninfo.get_defaults()) | {"ssl"}


def _shown(parts: dict[str, Any]) -> str:
    """Return where an address leads, without who goes there.

    Raises:
        ValueError: If a port is no number.
    """
    hosts = str(parts.get("host", "")).split(",")
    ports = str(parts.get("port", "")).split(",")
    for port in filter(None, ports):
        if not 0 < int(port) < 1 << 16:
            raise ValueError(port)
    ports = ports * len(hosts) if len(ports) == 1 else ports
    addresses = [
        f"{host}:{port}" if port else host for host, port in zip(hosts, ports, strict=True)
    ]
    return f"postgresql://{','.join(addresses)}/{parts.get('dbname', '')}"


def owner_of(tenant: str | None) -> str:
    """Return a tenant as the database knows it; nothing in it needs quotes."""
    if tenant is None:
        return "n"
    if _PLAIN.fullmatch(tenant):
        return f"t{tenant}"
    digest = hashlib.blake2b(tenant.encode("utf-8", "surrogatepass"), digest_size=32)
    return f"h{digest.hexdigest()}"


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _read(name: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in _TRUE:
            raise ValueError(f"{name}={text!r} must be true or false")
        return _TRUE[text.lower()]
    if isinstance(default, str):
        return text
    if not text.isascii() or "_" in text or text != text.strip():
        raise ValueError(f"{name}={text!r} must be a number")  # Python takes 1_0 for 10
    return type(default)(text)


def _millis(seconds: float) -> int:
    return max(1, min(2**31 - 1, round(seconds * 1000))) if seconds < 2**31 else 2**31 - 1
