"""Read large JSON files element by element, and JSON Lines line by line, with line numbers."""

from __future__ import annotations

import mmap
import re
from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple

from memoryware._json_reading import JsonInvalid, parse_json
from memoryware.errors import ImportRefused

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]', re.DOTALL)
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_LONGEST_LINE: Final = 64 << 20
_CHUNK: Final = 1 << 20
Data = bytes | mmap.mmap


class JsonElement(NamedTuple):
    """An element of a JSON file.

    Attributes:
        key: The key of the top-level object that it belongs to; "" in a top-level list.
        line: The line at which it begins, from 1.
        value: Its value.
        in_list: Whether it is one element of a list; else the whole value of its key.
    """

    key: str
    line: int
    value: Any
    in_list: bool


class JsonFile:
    """A JSON file whose long lists are read one element at a time.

    Args:
        data: The bytes of the file, in UTF-8.
        path: Its name in messages.
    """

    def __init__(self, data: Data, path: str) -> None:
        self.data, self.path = data, path
        self._line, self._counted = 1, 0
        self._start = len(_BOM) if data[:3] == _BOM else 0

    def error(self, message: str, line: int = 0) -> ImportRefused:
        """Return the error that names the file and line."""
        return ImportRefused(self.path, message, line)

    def first_byte(self) -> bytes:
        """Return the first byte that is not white space; b"" if there is none."""
        position = self._skip_blank(self._start)
        return self.data[position : position + 1]

    def first_line(self) -> Any:
        """Return the value of the first line if it is whole JSON of its own; else None.

        Only short lines count: a file of one long line is read element by element.
        """
        end = self.data.find(b"\n", self._start, self._start + _CHUNK)
        if end < 0 and len(self.data) - self._start > _CHUNK:
            return None
        try:
            return self._parse(self.data[self._start : end if end >= 0 else len(self.data)], 1)
        except ImportRefused:
            return None

    def whole(self) -> Any:
        """Return the value of the whole file.

        Raises:
            ImportRefused: If it is no JSON.
        """
        return self._parse(self.data[self._start :], 1)

    def elements(self) -> Iterator[JsonElement]:
        """Yield the elements of the top-level list, or of all lists in the top-level object.

        Values of the object that are no lists come whole, and so does an empty list.

        Yields:
            Each element.

        Raises:
            ImportRefused: If the file is not one JSON list or object, or is cut off.
        """
        start = self._skip_blank(self._start)
        opener = self.data[start : start + 1]
        if opener == b"[":
            end = yield from self._list(start, "")
        elif opener == b"{":
            end = yield from self._object(start)
        elif not opener:
            raise self.error("is empty")
        else:
            raise self.error("is not JSON: it must begin with [ or {", self._line_at(start))
        rest = self._skip_blank(end)
        if rest < len(self.data):
            raise self.error("has something after the end of its JSON", self._line_at(rest))

    def _object(self, start: int) -> Generator[JsonElement, None, int]:
        position, keys = start + 1, set[str]()
        while True:
            position = self._skip_blank(position)
            if self.data[position : position + 1] == b"}" and not keys:
                return position + 1
            line = self._line_at(position)
            token = _TOKEN.match(self.data, position)
            if token is None or token[0][:1] != b'"':
                raise self._cut_off(position, "a key in double quotes is missing")
            key = self._parse(token[0], line)
            if key in keys:
                raise self.error(f"the key {key[:60]!r} is there twice; keep one of them", line)
            keys.add(key)
            position = self._skip_blank(token.end())
            if self.data[position : position + 1] != b":":
                raise self._cut_off(position, "a colon is missing")
            position = self._skip_blank(position + 1)
            if self.data[position : position + 1] == b"[" and not self._is_empty_list(position):
                position = yield from self._list(position, key)
            else:
                line, (end, _) = self._line_at(position), self._value_end(position)
                yield JsonElement(
                    key, line, self._parse(self.data[position:end], line), in_list=False
                )
                position = end
            position = self._skip_blank(position)
            closer = self.data[position : position + 1]
            position += 1
            if closer == b"}":
                return position
            if closer != b",":
                raise self._cut_off(position - 1, "a comma or } is missing")

    def _is_empty_list(self, position: int) -> bool:
        inside = self._skip_blank(position + 1)
        return self.data[inside : inside + 1] == b"]"

    def _list(self, start: int, key: str) -> Generator[JsonElement, None, int]:
        if self._is_empty_list(start):
            return self._skip_blank(start + 1) + 1
        position = start + 1
        while True:
            position = self._skip_blank(position)
            line, (end, closer) = self._line_at(position), self._value_end(position)
            yield JsonElement(key, line, self._parse(self.data[position:end], line), in_list=True)
            position = end + 1
            if closer == b"]":
                return position
            if closer != b",":
                raise self._cut_off(end, "a comma or ] is missing")

    def _value_end(self, start: int) -> tuple[int, bytes]:
        """Return where a value ends, and the comma or bracket behind it."""
        depth = 0
        for token in _TOKEN.finditer(self.data, start):
            mark = token[0]
            if mark in (b"[", b"{"):
                depth += 1
            elif mark in (b"]", b"}"):
                depth -= 1
                if depth < 0:
                    return token.start(), mark
            elif mark == b"," and not depth:
                return token.start(), mark
        raise self._cut_off(len(self.data), "it ends within a value")

    def _parse(self, text: bytes, line: int) -> Any:
        try:
            return parse_json(text)
        except UnicodeDecodeError as error:
            at = line + text.count(b"\n", 0, error.start)
            raise self.error("is not UTF-8; save it as UTF-8", at) from None
        except JsonInvalid as error:
            raise self.error(error.problem, line + (error.line or 1) - 1) from None

    def _cut_off(self, position: int, problem: str) -> ImportRefused:
        return self.error(
            f"is not valid JSON, or is cut off: {problem}",
            self._line_at(min(position, len(self.data))),
        )

    def _skip_blank(self, position: int) -> int:
        while True:
            chunk = self.data[position : position + 256]
            stripped = chunk.lstrip(_BLANK)
            if stripped or not chunk:
                return position + len(chunk) - len(stripped)
            position += len(chunk)

    def _line_at(self, position: int) -> int:
        """Return the number of a line; positions only grow, so that each byte is counted once."""
        while self._counted < position:
            end = min(position, self._counted + _CHUNK)
            self._line += self.data[self._counted : end].count(b"\n")
            self._counted = end
        return self._line

    # JSON Lines.

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Yield the value of each line that is not blank, with its number.

        Yields:
            The number of the line, from 1, and its value.

        Raises:
            ImportRefused: If a line is no JSON, or longer than 64 MiB.
        """
        position, number = self._start, 0
        while position < len(self.data):
            number += 1
            end = self.data.find(b"\n", position)
            end = len(self.data) if end < 0 else end
            if end - position > _LONGEST_LINE:
                raise self.error("has a line longer than 64 MiB; is it JSON Lines?", number)
            line = self.data[position:end].strip(_BLANK)
            if line:
                yield number, self._parse(line, number)
            position = end + 1
