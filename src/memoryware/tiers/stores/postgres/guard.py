"""Row-level security: the database itself keeps tenants apart."""

from __future__ import annotations

from typing import Final

from memoryware.tiers.stores.postgres.address import quoted
from memoryware.tiers.stores.postgres.schema import GUARDED, TABLES

_GUARD: Final = """
CREATE TABLE bound (role OID PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL);
-- Whoever is a member of a bound role, in whatever way, is bound as well; to two is to none.
-- Functions that run as the owner see nothing that others could have put in the place of a table.
CREATE FUNCTION owner_now() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN session_user = current_user
      OR (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)
    THEN current_setting('memoryware.owner', true)
    ELSE (SELECT CASE count(DISTINCT owner) WHEN 0 THEN current_setting('memoryware.owner', true)
                 WHEN 1 THEN min(owner) END
          FROM {schema}.bound WHERE pg_has_role(session_user, role, 'MEMBER')) END $$;
-- No condition of a query may come before a policy unless it is known to leak nothing, and that
-- of an index of words is not; so this looks into the index, and keeps to the policy by itself.
CREATE FUNCTION looked_up(wanted BIGINT[], unwanted BIGINT[]) RETURNS SETOF word_index
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM {schema}.word_index WHERE tokens && wanted AND NOT tokens && unwanted
  AND (SELECT {schema}.owner_now()) IN (owner, '*') $$;
ALTER TABLE done ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON done USING (role = session_user) WITH CHECK (role = session_user);
"""
_POLICY: Final = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ((SELECT owner_now()) IN (owner, '*'))
  WITH CHECK ((SELECT owner_now()) IN (owner, '*'));
"""


def guard(schema: str) -> str:
    """Return what is done once in a schema; whoever owns the tables is not kept out."""
    return _GUARD.format(schema=schema) + "".join(map(policy, GUARDED))


def policy(table: str) -> str:
    """Return what keeps tenants apart in a table."""
    return _POLICY.format(table=table)


def grants(schema: str, role: str, *, bound: bool) -> str:
    """Return what lets a role work with memory; one that is bound cannot begin or change spaces.

    What it was let do before does not count anymore.
    """
    name = quoted(role)
    tables = ", ".join(f"{schema}.{one}" for one in TABLES)
    spaces = "SELECT" if bound else "SELECT, INSERT, UPDATE, DELETE"
    return "; ".join(
        (
            f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {name}",
            f"GRANT USAGE ON SCHEMA {schema} TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name}",
            f"GRANT {spaces} ON {schema}.space TO {name}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.done TO {name}",
            f"GRANT SELECT ON {schema}.about TO {name}",
            f"GRANT SELECT ON {schema}.part TO {name}",
            f"GRANT USAGE ON SEQUENCE {schema}.record_seq TO {name}",
        )
    )
