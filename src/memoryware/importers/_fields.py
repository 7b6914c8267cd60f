"""Read fields of foreign records by name and type, with reasons for those that are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from memoryware.importers.records import RefusedRecord, SourceRecord

Read = Iterator[SourceRecord | RefusedRecord]
_NO_TEXT: Final = "has no text"
_MAX_SECONDS: Final = 253_402_300_799  # the year 9999
_MILLISECONDS: Final = 100_000_000_000
"""Numbers above are milliseconds: as seconds they are in the year 5138."""


def as_text(value: Any) -> str | None:
    """Return an id or a name as text; None if it is missing, blank, or of another kind."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def as_time(value: Any) -> datetime | None:
    """Return a time with its zone, UTC if it has none; None if it is no time.

    Args:
        value: A time in ISO 8601, seconds or milliseconds since 1970, or a `datetime`.

    Returns:
        The time.
    """
    if isinstance(value, datetime):
        time = value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > _MILLISECONDS else value
        if not 0 < seconds < _MAX_SECONDS:
            return None
        return datetime.fromtimestamp(seconds, UTC)
    elif isinstance(value, str):
        try:
            time = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    else:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def rest_of(record: Mapping[str, Any], *used: str) -> dict[str, Any]:
    """Return the fields of a record that are not used elsewhere and have a value."""
    return {
        name: value
        for name, value in record.items()
        if name not in used and value not in (None, "", [], {})
    }


def refuse(location: str, reason: str, id_: Any = "") -> RefusedRecord:
    """Return a refusal."""
    return RefusedRecord(id=as_text(id_) or "", reason=reason, location=location)


def refuse_text(location: str, field: str, value: Any, id_: Any = "") -> RefusedRecord:
    """Return the refusal of a record whose text is missing or no text."""
    if value is None or value == "":
        return refuse(location, f"{_NO_TEXT}: the field {field!r} is missing or empty", id_)
    return refuse(location, f"the field {field!r} is {kind_of(value)}, and must be text", id_)


def kind_of(value: Any) -> str:
    """Return the kind of a JSON value in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"
