"""What a store over another engine need not write again; see the guide "A store of your own".

Records become JSON and come back, `fits` decides whether a record is meant by a selection, `look`
searches memories that were read into Python, and `page_of` cuts a page of a list. A store that
can do one of these in its engine does it there and needs the rest.
"""

from __future__ import annotations

from memoryware.tiers.stores.codec import entry_from_json, memory_from_json, record_to_json
from memoryware.tiers.stores.selecting import (
    Item,
    Part,
    fits,
    is_live,
    look,
    number_of_mark,
    page_of,
    same_document,
    thread_of,
    whole_of,
    without_doubles,
)

__all__ = [
    "Item",
    "Part",
    "entry_from_json",
    "fits",
    "is_live",
    "look",
    "memory_from_json",
    "number_of_mark",
    "page_of",
    "record_to_json",
    "same_document",
    "thread_of",
    "whole_of",
    "without_doubles",
]
