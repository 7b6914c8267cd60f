"""PostgreSQL with one fault each in what `search` sees."""

from __future__ import annotations

from dataclasses import replace

from conformance.postgres_player import Fault, code, sql
from memoryware.tiers.stores._sql import searching
from memoryware.tiers.stores.postgres import _transaction as transaction
from memoryware.tiers.stores.postgres._dialect import PostgresDialect
from memoryware.tiers.stores.postgres._transaction import PostgresTransaction
from memoryware.tiers.stores.protocol import SearchView, Select

NATIVE = {"mode": "native"}
BESIDE = "test_what_is_beside_a_near_text_is_seen_with_its_own_cosine"
THREADS = "test_the_newest_of_the_threads_are_looked_through"
MANY = "test_any_number_of_words_is_counted"
SAME = "test_sees_what_the_reference_sees"


def _oldest_best(scores, most):
    return sorted(scores, key=lambda one: (-scores[one], one))[:most]


async def _whatever_fits(self, column, threads, was=searching.SqlSearch.members):
    lax = Select(tenant=self.selection.tenant, groups=self.selection.groups)
    return await was(replace(self, selection=lax), column, threads)


async def _first_words(self, names, words, numbers, was=PostgresTransaction.word_counts):
    found = await was(self, names, words[:24], numbers)
    return {one: (*often, *[0] * (len(words) - 24)) for one, often in found.items()}


async def _first_names(self, names, words, numbers, was=PostgresTransaction.word_counts):
    return await was(self, names[:1], words, numbers)


async def _not_checked(tx, space):
    """Check nothing."""


async def _without_numbers(tx, which, numbers, was=searching._memories):
    found = await was(tx, which, numbers)
    return found and dict(zip(numbers, found.values(), strict=False))


def _fitting(self, which):
    return self.condition("long_term", which)


async def _best_only(self, hits, was=searching.SqlSearch.threads):
    return await was(self, [*hits][:1])


def _unpaired(threads, hits, reach, was=searching.with_neighbours):
    return [(number, False) for number, _ in was(threads, hits, reach)]


SEARCH = {
    "looks through the oldest of a thread": Fault(
        sql("ORDER BY seq DESC LIMIT ?", "ORDER BY seq LIMIT ?"), "long_term", THREADS
    ),
    "takes a chunk with a session into its document too": Fault(
        sql("coalesce(session_id, '') = ''", "true"), "long_term", SAME, {"seed": 0}
    ),
    "counts names of strangers among those of a thread": Fault(
        sql("(part, session_id) IN (VALUES", "('', session_id) NOT IN (VALUES"),
        "long_term",
        "test_threads_of_several_groups_stay_apart",
    ),
    "takes an empty session for a session": Fault(
        sql("nullif(session_id, '')", "coalesce(session_id, 'none')"),
        "long_term",
        "test_documents_are_threads_and_sessions_where_these_are_asked_for",
        NATIVE,
    ),
    "sees the oldest of equals": Fault(
        code(searching, "newest_best", _oldest_best),
        "long_term",
        "test_of_equal_texts_the_newest_are_seen",
    ),
    "shows beside a hit what was revoked": Fault(
        code(searching.SqlSearch, "members", _whatever_fits),
        "long_term",
        "test_what_does_not_fit_is_passed_over",
    ),
    "looks at the thread of one hit": Fault(
        code(searching.SqlSearch, "threads", _best_only),
        "long_term",
        "test_documents_are_threads_and_sessions_where_these_are_asked_for",
        NATIVE,
    ),
    "says of nothing that it follows": Fault(
        code(searching, "with_neighbours", _unpaired), "long_term", "test_chunks_beside_a_hit_are_seen"
    ),
    "counts the first words of many": Fault(
        code(PostgresTransaction, "word_counts", _first_words), "long_term", MANY
    ),
    "counts in the first of several groups": Fault(
        code(PostgresTransaction, "word_counts", _first_names),
        "long_term",
        "test_several_groups_and_a_whole_tenant_are_counted",
    ),
    "counts among what fits": Fault(
        code(PostgresDialect, "corpus", _fitting),
        "long_term",
        "test_everything_of_the_group_is_counted",
    ),
    "takes a distance for the cosine of what is beside": Fault(
        sql("SELECT seq, 1 - (data", "SELECT seq, (data"), "long_term", BESIDE
    ),
    "measures what is beside in another space": Fault(
        sql("FROM vector WHERE space = ? AND seq = ANY", "FROM vector WHERE space >= ? AND seq = ANY"),
        "long_term",
        "test_vectors_of_another_space_are_not_compared",
    ),
    "searches a space that is not the current one": Fault(
        code(searching, "_must_be_current", _not_checked),
        "long_term",
        "test_another_space_than_the_current_one_is_refused",
    ),
    "reads at the wrong places": Fault(
        code(searching, "_memories", _without_numbers), "long_term", SAME, {"seed": 2}
    ),
    "tells nothing of counts where no groups are asked for": Fault(
        code(searching, "SearchView", lambda *given, having=(): SearchView(*given)),
        "long_term",
        "test_several_groups_and_a_whole_tenant_are_counted",
    ),
    "counts and measures rows that another tenant has put there": Fault(
        code(transaction, "_MINE", ""),
        "test_trespass",
        "test_rows_of_another_tenant_with_our_numbers_are_not_seen",
    ),
}  # fmt: skip

FAULTS: dict[str, Fault] = {**SEARCH}
