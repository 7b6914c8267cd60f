"""Row-level security: the database itself keeps tenants apart."""

from __future__ import annotations

from typing import Final

_TABLES: Final = ("record", "source", "root", "word_index", "vector")

GUARD: Final = """
CREATE TABLE bound (role NAME PRIMARY KEY, owner TEXT COLLATE "C" NOT NULL);
COMMENT ON TABLE bound IS 'roles that see one tenant, whatever they set';
CREATE FUNCTION owner_now() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = SCHEMA, pg_catalog AS $$
  SELECT coalesce((SELECT owner FROM bound WHERE role = session_user),
                  current_setting('memoryware.owner', true)) $$;
""" + "".join(
    f"""
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ((SELECT owner_now()) IN (owner, '*'))
  WITH CHECK ((SELECT owner_now()) IN (owner, '*'));
"""
    for table in _TABLES
)
"""What is done once; whoever owns the tables is not kept out."""
