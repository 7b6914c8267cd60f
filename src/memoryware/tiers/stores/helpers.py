"""What a store over another engine need not write again; see the guide "A store of your own".

`RecordStore` and `RecordTransaction` implement the contract over rows. A store that implements
`Transaction` itself, with queries of its engine, finds here how records become JSON and come back,
whether a record fits a selection (`fits`), how memories in hand are searched (`look`), and how a
page is cut from a list (`page_of`).
"""

from __future__ import annotations

from memoryware.tiers.stores.base import RecordStore, RecordTransaction, StoredRecord
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
    "RecordStore",
    "RecordTransaction",
    "StoredRecord",
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
