"""Which pending entries are in review: not all of them are shown to reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memoryware.cli._ids import ALL
from memoryware.scope import MemoryScope
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Record
from memoryware.tiers.proposals import unreviewed_reason
from memoryware.tiers.values import Listed
from memoryware.tiers.wording import unreviewed_label


class InReview:
    """The entries that `digest` and `review` show.

    Args:
        memory: The memory.
        scope: The scope of the quarantine.
    """

    def __init__(self, memory: TieredMemory, scope: MemoryScope) -> None:
        page = memory.digest(scope, since=ALL)
        self._ids = {id_ for insight in page.insights for id_ in insight.entry_ids}
        self._has_all = not page.more

    def reason_against(self, record: Record) -> str | None:
        """Return why a pending entry is not in review.

        Args:
            record: The record.

        Returns:
            The reason in words; None for everything else. Of very many entries a digest reads the
            newest, and the others are in review as far as it is known.
        """
        if not isinstance(record, Entry) or record.status != "pending":
            return None
        if record.expires_at is not None or record.id in self._ids:
            return None
        code = unreviewed_reason(record) or ("decided" if self._has_all else None)
        return None if code is None else unreviewed_label(code)

    def summary(self, rows: Iterable[Listed]) -> str:
        """Say how many pending entries are in review, and why the others are not.

        Args:
            rows: Pending entries.

        Returns:
            One or two sentences.
        """
        counts = Counter(self.reason_against(row.record) for row in rows)
        in_review, others = counts.pop(None, 0), sum(counts.values())
        if not others:
            return f"{in_review:,} pending, all of them in review: memoryware digest."
        because = "; ".join(f"{count:,}: {reason}" for reason, count in counts.most_common())
        return (
            f"{in_review + others:,} pending, {in_review:,} of them in review: memoryware digest."
            f" Not in review are {because}."
        )
