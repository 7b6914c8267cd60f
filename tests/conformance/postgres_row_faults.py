"""PostgreSQL with one fault each, in rows, words, vectors, and the tables of all of them."""

from __future__ import annotations

import json
import struct

from conformance.postgres_player import Fault, both, code, schema, sql
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql import store as sql_store
from memoryware.tiers.stores.postgres import _dialect as pg_dialect
from memoryware.tiers.stores.postgres import _transaction as transaction
from memoryware.tiers.stores.postgres._address import Address
from memoryware.tiers.stores.postgres._connection import HalfVectorDumper, Pipeline
from memoryware.tiers.stores.postgres._dialect import PostgresDialect
from memoryware.tiers.stores.postgres._schema import NAMED
from memoryware.tiers.stores.postgres._transaction import PostgresTransaction
from memoryware.tiers.stores.protocol import Select

NATIVE = {"mode": "native"}
PART = "test_a_part_of_the_content_is_a_condition_whatever_its_case"
FOREIGN = "test_scores_of_a_group_do_not_depend_on_others"
OUTLIVES = "test_a_vector_does_not_outlive_its_text"
NEAREST = "test_the_nearest_comes_first_with_its_cosine"
FEW = "test_a_small_group_among_many_finds_its_nearest_by_the_index"
ONE_PART = "test_a_question_looks_into_the_part_of_its_tenant_only"
DELETED = "test_nothing_of_what_was_deleted_is_left_in_any_table"
NEVER_MEET = "test_strangers_may_have_the_same_ids"


# Rows.


def _replaced(given):
    if given is None:
        return None
    return given.encode("utf-8", "replace").decode().replace("\0", "?")


def _first_only(self, column, texts):
    return f"{column} = ?", [texts[0]]


def _millis(moment, was=sql_dialect.micros):
    return None if moment is None else was(moment) // 1000 * 1000


ROWS = {
    "forgets texts whatever their case": Fault(
        code(pg_dialect, "_folded", lambda content: None), "quarantine", PART
    ),
    "leaves the text whatever its case as it was": Fault(
        sql(", folded = ? WHERE seq", ", folded = coalesce(folded, ?) WHERE seq"),
        "long_term",
        "test_a_changed_content_is_found_by_its_parts_whatever_their_case",
    ),
    "takes a part of a text for a pattern": Fault(
        sql('strpos(lower(record.content COLLATE "C"), ?) > 0', "lower(record.content COLLATE \"C\") LIKE '%' || ? || '%'"), "working", PART
    ),
    "indexes texts of any length": Fault(
        code(PostgresDialect, "key", lambda self, given: pg_dialect.flat(given)),
        "test_texts",
        "test_texts_that_no_index_can_have_are_told_apart",
    ),
    "tells texts apart by how they begin": Fault(
        code(PostgresDialect, "key", lambda self, given: (pg_dialect.flat(given) or "")[:200] or given),
        "test_texts",
        "test_texts_that_begin_alike_are_not_the_same",
    ),
    "mixes up what UTF-8 cannot hold": Fault(
        code(pg_dialect, "flat", _replaced), "quarantine", "test_any_text_can_be_an_id"
    ),
    "mixes up no tenant and one that is called so": Fault(
        code(sql_dialect, "group_key", lambda tenant, group: f"{tenant}/{group}"),
        "quarantine",
        NEVER_MEET,
    ),
    "knows no case in names of groups": Fault(
        code(sql_dialect, "group_key", lambda *names: json.dumps(names).casefold()),
        "long_term",
        NEVER_MEET,
    ),
    "finds what was stored first": Fault(
        code(PostgresDialect, "order_column", lambda self, which: "-record.seq"),
        "quarantine",
        "test_pages_are_parts_of_the_whole_and_say_how_much_there_is",
    ),
    "looks for the first of several only": Fault(
        code(PostgresDialect, "any_of", _first_only),
        "working",
        "test_several_ids_are_found_in_the_order_of_the_store",
        NATIVE,
    ),
    "forgets parts of a millisecond": Fault(
        code(sql_dialect, "micros", _millis),
        "quarantine",
        "test_times_are_conditions_to_the_microsecond",
    ),
    "shows what ends in this moment": Fault(
        sql("record.valid_to > ?", "record.valid_to >= ?"),
        "long_term",
        "test_validity_is_a_condition",
    ),
    "shows what was revoked": Fault(
        sql("record.revocation IS NULL AND ", ""),
        "working",
        "test_what_was_revoked_is_not_live",
        NATIVE,
    ),
    "purges a moment later": Fault(
        sql("expires <= ?", "expires < ?"),
        "working",
        "test_purge_takes_what_expires_at_that_very_moment",
    ),
    "keeps one too many": Fault(
        sql("ORDER BY seq DESC LIMIT ? OFFSET ?)", "ORDER BY seq DESC LIMIT ? OFFSET ? + 1)"),
        "working",
        "test_the_newest_stay_and_come_first",
    ),
    "keeps the old one beside the new": Fault(
        sql("AND id = ? UNION ALL", "AND id = ? AND false UNION ALL"),
        "working",
        "test_an_entry_pushed_again_is_moved_and_replaced",
    ),
    "takes a key for that of another group": Fault(
        sql("tier = 'quarantine' AND record.part = ?", "tier = 'quarantine' AND '' <> ?"),
        "quarantine",
        "test_a_key_belongs_to_its_tenant_and_group",
    ),
    "keeps the vector of a text that is changed right now": Fault(
        both(code(PostgresDialect, "lock_clause", ""), code(Address, "locks", lambda self, which: [])),
        "test_waiting",
        "test_a_vector_that_comes_while_its_text_is_changed_is_passed_over",
        {"mode": "blocking"},
    ),
}  # fmt: skip

# Words.


def _of_tenant(tenant, *groups, was=sql_dialect.tokens_of):
    return was(tenant)


def _once_each(names, words, was=transaction.counted_tokens):
    return was(names, [*dict.fromkeys(words)])


async def _nothing(self, *given):
    """Do nothing."""


WORDS = {
    "counts words of other groups": Fault(
        code(sql_dialect, "tokens_of", _of_tenant), "long_term", FOREIGN
    ),
    "counts memories of other groups": Fault(
        code(
            PostgresDialect,
            "corpus",
            lambda self, which: self.condition("long_term", Select(tenant=which.tenant)),
        ),
        "long_term",
        FOREIGN,
        NATIVE,
    ),
    "looks for how often at the place of the token": Fault(
        code(transaction, "_OFTEN_OF", "word.often[array_position(word.tokens, {})]::float8"),
        "long_term",
        "test_a_text_is_seen_with_its_counts_and_its_size",
    ),
    "counts each word once": Fault(
        code(transaction, "counted_tokens", _once_each), "long_term", "test_a_text_is_seen_with_its_counts_and_its_size"
    ),
    "keeps the words of an old text": Fault(
        both(
            code(PostgresTransaction, "unindex", _nothing),
            sql("?::bigint[], ?::smallint[], ?)", "?::bigint[], ?::smallint[], ?) ON CONFLICT DO NOTHING"),
        ),
        "long_term",
        "test_edits_and_deletes_are_counted",
    ),
    "leaves out some of many words": Fault(
        code(
            transaction, "_SCORES", transaction._SCORES.replace("OFFSET 0", "OFFSET 1")
        ),
        "test_searching",
        "test_many_words_score_as_they_do_elsewhere",
        {"more": ""},
    ),
    "leaves it to chance which equals are found": Fault(
        sql("FETCH FIRST (?::bigint) ROWS WITH TIES", "LIMIT ?"),
        "test_searching",
        "test_of_equals_the_newest_come_first_whatever_the_limit",
    ),
}  # fmt: skip

# Vectors.


def _little(self, obj):
    return struct.pack(">HH", len(obj) // 2, 0) + bytes(obj)


async def _index_only(self, space, query, which, most):
    return await self._by_index(space, query, which, most)


async def _no_further(self, sql, values=(), was=Pipeline.execute):
    return await was(self, sql.replace("strict_order", "off"), values)


VECTORS = {
    "sends halves the wrong way round": Fault(
        code(HalfVectorDumper, "dump", _little), "long_term", NEAREST
    ),
    "knows no distance to a vector without a length": Fault(
        sql("coalesce(nullif(vector.data", "coalesce(coalesce(vector.data"),
        "long_term",
        "test_large_small_and_empty_vectors_are_kept",
    ),
    "takes the far for the near": Fault(
        sql("ORDER BY found.distance", "ORDER BY found.distance DESC"),
        "long_term",
        "test_vectors_are_compared_exactly",
    ),
    "compares by another distance": Fault(
        sql(".<=>) ?", ".<->) ?"), "long_term", NEAREST
    ),
    "keeps the first vector of a memory": Fault(
        sql("DO UPDATE SET data = excluded.data", "DO NOTHING"),
        "long_term",
        "test_vectors_can_be_kept_later",
    ),
    "keeps the vector of an old text": Fault(
        sql("DELETE FROM vector WHERE seq = ?", "SELECT 1 FROM vector WHERE seq = ?"),
        "long_term",
        OUTLIVES,
    ),
    "does not name a text that lost its vector": Fault(
        sql("UPDATE record SET space = 0 WHERE seq = ?", "UPDATE record SET space = space WHERE seq = ?"),
        "long_term",
        OUTLIVES,
        NATIVE,
    ),
    "filters what the index has found afterwards": Fault(
        both(
            code(PostgresTransaction, "nearest", _index_only),
            code(Pipeline, "execute", _no_further),
        ),
        "test_searching",
        FEW,
    ),
    "never asks the index": Fault(
        code(PostgresTransaction, "_by_index", lambda *given: _no_hits()),
        "test_searching",
        FEW,
    ),
    "lets many begin a space at once": Fault(
        code(PostgresTransaction, "alone", _nothing),
        "long_term",
        "test_eight_groups_may_begin_a_space_at_once",
    ),
    "drops no other spaces": Fault(
        sql("DELETE FROM space WHERE id != ?", "SELECT 1 WHERE 0 = ?"),
        "long_term",
        "test_the_first_space_is_the_current_one_until_another_is_adopted",
    ),
}  # fmt: skip


async def _no_hits():
    return []


# Moving house.

WALK = "WHERE tier = 'working' AND seq > ? ORDER BY seq LIMIT ?"


async def _all_new(tx, port, tier, which):
    return []


MOVING = {
    "begins each part of a walk with the last of the one before": Fault(
        sql("'quarantine' AND seq > ? ORDER BY", "'quarantine' AND seq >= ? ORDER BY"),
        "quarantine",
        "test_a_walk_goes_on_where_it_was_in_another_opening",
    ),
    "walks from the newest to the oldest": Fault(
        sql(WALK, WALK.replace("LIMIT", "DESC LIMIT")),
        "working",
        "test_a_walk_brings_what_was_stored_first_first",
        NATIVE,
    ),
    "does not see what is there when it loads": Fault(
        code(sql_store, "locked_rows", _all_new), "long_term", "test_what_is_there_as_it_is_stays"
    ),
    "reads vectors of another space": Fault(
        sql("data::real[] FROM vector WHERE space = ?", "data::real[] FROM vector WHERE space <> ?"),
        "long_term",
        "test_vectors_can_be_read_again",
    ),
}  # fmt: skip


# Tables.

REFERENCE = ",\n  FOREIGN KEY (seq, owner) REFERENCES record ON DELETE CASCADE\n) /* by owner */;\nCREATE INDEX "
LOOSE = "\n) /* by owner */;\nCREATE INDEX "
TABLES = {
    "keeps vectors of what was deleted": Fault(
        schema(f"{REFERENCE}vector_seq", f"{LOOSE}vector_seq"), "long_term", OUTLIVES
    ),
    **{
        f"keeps every {table} of what was deleted": Fault(
            schema(f"{REFERENCE}{table}_name", f"{LOOSE}{table}_name"), "test_texts", DELETED
        )
        for table in ("source", "root")
    },
    "asks every part of a table": Fault(
        code(PostgresDialect, "where", lambda self, tenant: ("", [])),
        "test_parts",
        ONE_PART,
        {"tenant": "tenant 3", "asks": "find"},
    ),
    "looks words up in every part": Fault(
        code(transaction, "_MINE", ""),
        "test_parts",
        ONE_PART,
        {"tenant": None, "asks": "words"},
    ),
    "keeps an id twice": Fault(
        schema(", CONSTRAINT record_own UNIQUE (tier, part, id, owner)", ""),
        "quarantine",
        "test_an_id_is_stored_once_in_its_group",
    ),
    "numbers ahead for each connection": Fault(
        schema("CREATE SEQUENCE record_seq;", "CREATE SEQUENCE record_seq CACHE 20;"),
        "quarantine",
        "test_what_was_stored_last_comes_first_whoever_stored_it",
    ),
}  # fmt: skip

# Generations.

RAISES = "test_every_change_of_a_group_raises_its_generation"
UPGRADED = "test_tables_of_the_first_version_get_generations_for_roles_and_running_clients"

GENERATIONS = {
    **{
        f"does not tell a group that a record was {change}": Fault(
            schema(f"STATEMENT EXECUTE FUNCTION note_{change}", f"STATEMENT WHEN (false) EXECUTE FUNCTION note_{change}"),
            "test_generations",
            RAISES,
        )
        for change in ("added", "changed", "gone")
    },
    "names no memory that changed": Fault(
        schema(f"<= {NAMED} THEN touched END", f"<= {NAMED} THEN '{{}}'::bigint[] END"),
        "test_segments",
        "test_a_search_sees_what_others_added_changed_and_removed",
    ),
    "raises a generation once and for all": Fault(
        schema("DO UPDATE SET generation = nextval('record_seq'),", "DO UPDATE SET generation = known.generation,"),
        "test_generations",
        RAISES,
    ),
    "counts the changes of all groups together": Fault(
        schema("VALUES (of_key, of_owner, nextval", "VALUES (0, of_owner, nextval"),
        "test_generations",
        RAISES,
    ),
    "keeps roles that are there from reading generations": Fault(
        schema("GRANT SELECT ON part TO", "GRANT SELECT ON record TO"),
        "test_generations",
        UPGRADED,
    ),
    "raises generations as whoever writes": Fault(
        schema("note_added() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER", "note_added() RETURNS TRIGGER LANGUAGE plpgsql"),
        "test_generations",
        UPGRADED,
    ),
}  # fmt: skip

FAULTS: dict[str, Fault] = {**GENERATIONS, **ROWS, **WORDS, **VECTORS, **MOVING, **TABLES}
