"""Hidden regions: text between machine markers survives every change of a model.

A model does not see comments, so it cannot keep what depends on them. `restore` compares a
text before and after a change and puts back, byte for byte, what is missing or different.
All of it takes time linear in the texts.
"""

from __future__ import annotations

from memoryware.sources._markers import Region, Which, find_markers, find_regions
from memoryware.sources._region_restore import put_back

__all__ = ["Region", "Which", "regions", "restore"]


def regions(text: str, *, which: Which = "marked") -> list[Region]:
    """Find the protected regions of a text.

    Args:
        text: A memory file as it is stored, with any line endings.
        which: "marked" protects what is between a pair of markers, and comments that begin
            with `memoryware:keep`; "all" every other comment outside code as well.

    Returns:
        The outermost regions, in order.
    """
    return find_regions(find_markers(text), which)


def restore(before: str, after: str, *, which: Which = "marked") -> tuple[str, tuple[str, ...]]:
    """Put the protected regions of the old text back into the changed one.

    A region that was changed is put back where it is; a missing one goes around the
    visible text that is left of it, else after the nearest line before it that is still
    there, else before the nearest line after it, else to the start or the end. Copies of a
    region are removed. Nothing else of the changed text is lost.

    Args:
        before: The text before the change.
        after: The text after it.
        which: Which comments are protected, as in `regions`.

    Returns:
        The text, which is `after` itself if nothing was wrong, and the names of the regions
        that were put back.
    """
    if before == after or "<!--" not in before:
        return after, ()
    return put_back(before, after, which)
