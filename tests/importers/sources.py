"""Files of other systems, and what comes out of them."""

from __future__ import annotations

from pathlib import Path

from memoryware.importers import SourceRecord, read_memories

FILES = Path(__file__).parent / "files"


def texts(source, system=None):
    """The texts of the records of a source, without those that are refused."""
    return [record.text for record in records(source, system)]


def records(source, system=None):
    return [record for record in read_memories(source, system) if isinstance(record, SourceRecord)]


def refusals(source, system=None):
    return [
        str(record)
        for record in read_memories(source, system)
        if not isinstance(record, SourceRecord)
    ]
