"""Hidden regions: what stands between machine markers survives every change of a model.

A model does not see comments, so it cannot keep what hangs on them. `restore` compares a
text before and after a change and puts back, byte for byte, what is missing or different.
All of it takes time linear in the texts.
"""

from __future__ import annotations

from memoryware.sources.regions._find import Region, Which, find
from memoryware.sources.regions._mark import marked
from memoryware.sources.regions._put import put_back

__all__ = ["Region", "Which", "regions", "restore"]


def regions(text: str, *, which: Which = "marked") -> list[Region]:
    """Return the protected parts of a text in order; those inside others belong to them.

    Args:
        text: A memory file as it is stored, with any line endings.
        which: "marked" protects what is between a pair of markers, and comments that begin
            with `memoryware:keep`; "all" every other comment outside code as well.
    """
    return find(marked(text), which)


def restore(before: str, after: str, *, which: Which = "marked") -> tuple[str, tuple[str, ...]]:
    """Return the changed text with every protected part of the old one in it.

    A part that was changed is put back where it is; one that is missing goes around the
    visible text that is left of it, else after the nearest line before it that is still
    there, else before the nearest line after it, else to the start or the end. Copies of a
    part are taken out. Nothing else of the changed text is lost.

    Returns:
        The text, which is `after` itself if nothing was wrong, and the names of the parts
        that were put back.
    """
    if before == after or "<!--" not in before:
        return after, ()
    return put_back(before, after, which)
