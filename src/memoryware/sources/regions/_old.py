"""A text before a change: what of it must stay, and what stands around that."""

from __future__ import annotations

from collections.abc import Iterator

from memoryware.sources.markdown.scanning import within
from memoryware.sources.regions._find import Which, find, parts
from memoryware.sources.regions._lines import Lines
from memoryware.sources.regions._mark import Marked


class Old:
    """The text before the change.

    Attributes:
        regions: What must be kept, in order.
        groups: The regions by the lines that they share.
        pairs: The markers of the regions that have some.
        machine: Texts of regions that there must not be more of.
        loose: Markers that stood outside of regions.
        outside: What stood outside of regions, by lines.
    """

    def __init__(self, found: Marked, which: Which) -> None:
        self.found = found
        self.regions = find(found, which)
        by_span = {pair.span: pair for pair in parts(found)}
        self.pairs = {
            index: by_span[region.start, region.end]
            for index, region in enumerate(self.regions)
            if (region.start, region.end) in by_span
        }
        self.machine = {region.text for region in find(found, "marked")}
        spans = [(region.start, region.end) for region in self.regions]
        self.lines = Lines(found.text, found.plain, spans)
        self.loose = {
            found.text[comment.start : comment.end]
            for comment in found.comments
            if not within(spans, comment.start)
        }
        self.outside = set(self.lines.by_content())
        self.groups = list(self._groups())

    def rows(self, index: int) -> tuple[int, int]:
        """Return the first and the last line of a region."""
        region = self.regions[index]
        return self.lines.at(region.start), self.lines.at(region.end - 1)

    def markers(self, index: int) -> Iterator[str]:
        """Return the texts of the markers of a region."""
        for marker in self.pairs.get(index, ()):
            yield self.found.text[marker.start : marker.end]

    def _groups(self) -> Iterator[list[int]]:
        group: list[int] = []
        last = -1
        for index in range(len(self.regions)):
            first, end = self.rows(index)
            if group and first > last:
                yield group
                group = []
            group.append(index)
            last = end
        if group:
            yield group
