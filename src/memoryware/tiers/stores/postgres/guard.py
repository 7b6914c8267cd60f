"""Row-level security: the database itself keeps tenants apart."""

from __future__ import annotations

from typing import Final

from memoryware.tiers.stores.postgres.address import quoted
from memoryware.tiers.stores.postgres.schema import TABLES

_GUARD: Final = """
CREATE TABLE bound (role NAME PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL);
CREATE FUNCTION owner_now() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = {schema}, pg_catalog AS $$
  SELECT coalesce((SELECT owner FROM bound WHERE role = session_user),
                  current_setting('memoryware.owner', true)) $$;
-- No condition of a query may come before a policy unless it is known to leak nothing, and that
-- of an index of words is not; so this looks into the index, and keeps to the policy by itself.
CREATE FUNCTION looked_up(wanted BIGINT[], unwanted BIGINT[]) RETURNS SETOF word_index
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = {schema}, pg_catalog AS $$
  SELECT * FROM word_index WHERE tokens && wanted AND NOT tokens && unwanted
  AND (SELECT owner_now()) IN (owner, '*') $$;
"""
_POLICY: Final = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ((SELECT owner_now()) IN (owner, '*'))
  WITH CHECK ((SELECT owner_now()) IN (owner, '*'));
"""


def guard(schema: str) -> str:
    """Return what is done once in a schema; whoever owns the tables is not kept out."""
    policies = (_POLICY.format(table=one) for one in TABLES)
    return _GUARD.format(schema=schema) + "".join(policies)


def grants(schema: str, role: str, *, bound: bool) -> str:
    """Return what lets a role work with memory; one that is bound cannot change spaces."""
    name = quoted(role)
    tables = ", ".join(f"{schema}.{one}" for one in TABLES)
    spaces = "SELECT, INSERT" if bound else "SELECT, INSERT, UPDATE, DELETE"
    return "; ".join(
        (
            f"GRANT USAGE ON SCHEMA {schema} TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name}",
            f"GRANT {spaces} ON {schema}.space TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.done TO {name}",
            f"GRANT SELECT ON {schema}.about TO {name}",
            f"GRANT USAGE ON SEQUENCE {schema}.record_seq TO {name}",
        )
    )
