"""How files of data sets are opened, taken apart and refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from memoryware._json_reading import JsonInvalid, decoder, parse_json
from memoryware.errors import DatasetRefused

T = TypeVar("T")
_CHUNK: Final = 1 << 20
"""Characters that are read at once of a long list."""


class Fields:
    """A JSON object of a data set whose fields are asked for by name and kind."""

    def __init__(self, value: Any, path: Path | str, line: int = 0, what: str = "") -> None:
        self.path, self.line, self.what = str(path), line, what
        if not isinstance(value, dict):
            raise self.refused(f"{what or 'this'} must be a JSON object")
        self.value: Mapping[str, Any] = value

    def refused(self, message: str) -> DatasetRefused:
        """Return the error that names this place."""
        return DatasetRefused(self.path, message, self.line)

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """Return a field; with a default it may be missing or null.

        Raises:
            DatasetRefused: If it is missing or of another kind.
        """
        found = self.value.get(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, kind):
            of = f" of {self.what}" if self.what else ""
            said = "is missing" if found is None else f"is {type(found).__name__}"
            raise self.refused(f'"{name}"{of} must be {_KINDS[kind]}; it {said}')
        return found

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of texts."""
        found = self.get(name, list)
        if not all(isinstance(one, str) for one in found):
            raise self.refused(f'"{name}" must be a list of texts')
        return found


_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    int: "a whole number",
}


def parsed(text: str | bytes, path: Path | str, line: int = 0) -> Any:
    """Return the value that a JSON text is.

    Raises:
        DatasetRefused: If it is none.
    """
    try:
        return parse_json(text)
    except UnicodeDecodeError:
        raise DatasetRefused(str(path), "is not UTF-8", line) from None
    except JsonInvalid as error:
        raise DatasetRefused(str(path), error.problem, line or error.line or 0) from None


def opened(path: Path) -> IO[str]:
    """Return a file of text, opened.

    Raises:
        DatasetRefused: If there is none, or it may not be read.
    """
    try:
        return path.open(encoding="utf-8")
    except OSError as error:
        raise DatasetRefused(str(path), f"cannot be read: {error.strerror}") from None


def whole(path: Path) -> bytes:
    """Return everything in a file.

    Raises:
        DatasetRefused: If there is none, or it may not be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetRefused(str(path), f"cannot be read: {error.strerror}") from None


def items_of(path: Path) -> Iterator[Any]:
    """Yield the items of a file that is one JSON list of objects, holding one at a time.

    Raises:
        DatasetRefused: If it is no such file.
    """
    reader, waiting, step, is_first = decoder(), "", _CHUNK, True
    with opened(path) as file:
        while True:
            waiting = _gone_past(waiting, "[" if is_first else ",")
            try:
                item, end = reader.raw_decode(waiting)
            except RecursionError:
                raise DatasetRefused(str(path), "has too many lists inside each other") from None
            except JsonInvalid as error:
                raise DatasetRefused(str(path), error.problem) from None
            except json.JSONDecodeError:
                more = _more(file, step, path)
                step *= 2  # what is begun is looked at again: seldom enough to stay linear
                if more:
                    waiting += more
                    continue
                if waiting.strip() not in ("]", "[]", "[ ]"):
                    raise DatasetRefused(str(path), "is no JSON list, or is cut off") from None
                return
            yield item
            waiting, step, is_first = waiting[end:], _CHUNK, False


def _more(file: IO[str], size: int, path: Path) -> str:
    try:
        return file.read(size)
    except UnicodeDecodeError:
        raise DatasetRefused(str(path), "is not UTF-8") from None


def _gone_past(waiting: str, sign: str) -> str:
    """Return what follows a sign, if the text begins with it."""
    text = waiting.lstrip()
    return text[1:].lstrip() if text.startswith(sign) else text


def moment(text: str, *forms: str) -> datetime | None:
    """Return the moment that a text names, in UTC if it names no zone; None if it names none."""
    for form in forms:
        try:
            found = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the zone comes next
        except ValueError:
            continue
        return found.replace(tzinfo=UTC)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
