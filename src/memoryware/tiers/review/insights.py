"""The insight that one entry, or one statement of an entry, is by itself."""

from __future__ import annotations

from dataclasses import replace

from memoryware.tiers.model import Entry, hash_of
from memoryware.tiers.proposals import statements_in
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.values import Insight


def insight_of_entry(insight: Insight, entry: Entry) -> Insight:
    """Return the insight that one entry of an insight is by itself.

    Args:
        insight: An insight of several entries.
        entry: One of them, as it is now.

    Returns:
        The statement in the words of this entry, and with its lineage alone.
    """
    digests = insight.covers.get(entry.id, ())
    every = statements_in(entry)
    texts = [every[key] for key in digests if key in every]
    text = texts[0] if texts else entry.content if len(every) > 1 else next(iter(every.values()))
    return replace(
        insight,
        id=hash_of(f"{entry.id}\n{text}"),
        scope=entry.scope,
        summary=text,
        source_entry_ids=(entry.id,),
        provenance=Provenance.derived(entry.provenance.origin, [entry]),
        extractive=True,
        repeats=(),
        covers={entry.id: digests} if digests else {},
    )


def insight_of_statement(entry: Entry, digest: str) -> Insight:
    """Return the insight that one statement of an entry is by itself.

    Args:
        entry: The entry.
        digest: The digest of the statement, as `statements_in` has it.

    Returns:
        The statement in the words of the entry; a decision about it leaves the other statements
        of the entry waiting.
    """
    every = statements_in(entry)
    return Insight(
        id=hash_of(f"{entry.id}\n{every[digest]}"),
        scope=entry.scope,
        summary=every[digest],
        source_entry_ids=(entry.id,),
        provenance=Provenance.derived(entry.provenance.origin, [entry]),
        covers={entry.id: (digest,)} if len(every) > 1 else {},
    )
