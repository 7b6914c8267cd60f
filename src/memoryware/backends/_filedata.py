"""Stored file records (`FileData`): validate, encode and decode, edit and append."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from memoryware.backends import _text
from memoryware.backends.protocol import FileData, FileInfo
from memoryware.errors import FileNotRegular

_MOMENTS: Final = ("created_at", "modified_at")
_BOM: Final = "\ufeff"


def file_of(raw: Any) -> FileData | None:
    """Validate a stored value as a file record; None if it is something else.

    The result may be the value itself, so it must not be changed. The older form, a list of lines
    without an encoding, is accepted.
    """
    # The type first: isinstance of an abstract class takes six times as long, and listings
    # ask it for every record.
    if type(raw) is not dict and not isinstance(raw, Mapping):
        return None
    content, encoding = raw.get("content"), raw.get("encoding", "utf-8")
    created, modified = raw.get("created_at", ""), raw.get("modified_at", "")
    if encoding not in ("utf-8", "base64"):
        return None
    if isinstance(content, str):
        if isinstance(created, str) and isinstance(modified, str) and "encoding" in raw:
            return raw  # type: ignore[return-value]  # as it is: listings look at thousands
    elif isinstance(content, list) and all(isinstance(line, str) for line in content):
        content = "\n".join(content)
    else:
        return None
    file = FileData(content=content, encoding=encoding)
    if created and isinstance(created, str):
        file["created_at"] = created
    if modified and isinstance(modified, str):
        file["modified_at"] = modified
    return file


def file_at(path: str, raw: Any) -> FileData | None:
    """Return the file record under a path, None if nothing is stored there.

    Raises:
        FileNotRegular: If something else is stored there.
    """
    file = file_of(raw)
    if file is None and raw is not None:
        raise FileNotRegular(
            path,
            f"'{path}' holds a record that is not a file; a file record is"
            ' {"content": "its text", "encoding": "utf-8"}. Overwrite it as a whole, or delete it',
        )
    return file


def moments_of(file: FileData) -> dict[str, str]:
    """Return the timestamps that a file record has."""
    return {moment: str(file[moment]) for moment in _MOMENTS if moment in file}


def bytes_of(path: str, file: FileData) -> bytes:
    """Return the bytes of a file.

    Raises:
        FileNotRegular: If its encoding is "base64" and its content is not.
    """
    # Half of a surrogate pair may come from a store that accepted it once; it must stay readable.
    if file["encoding"] == "utf-8":
        return file["content"].encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(file["content"])
    except (binascii.Error, ValueError):
        raise FileNotRegular(
            path, f"'{path}' is marked as base64 but is not; write it again or delete it"
        ) from None


def bytes_at(path: str, raw: Any, *, whole: bool) -> bytes | None:
    """Return the bytes of the file under a path, None for no file.

    Raises:
        FileNotRegular: If the record is not a file, unless `whole` replaces it anyway.
    """
    if whole and file_of(raw) is None:
        return None
    file = file_at(path, raw)
    return None if file is None else bytes_of(path, file)


def size_of(file: FileData) -> int:
    """Return the number of bytes of a file, without decoding it."""
    content = file["content"]
    if file["encoding"] == "base64":
        # Four characters of base64 for each three bytes, less the padding.
        return len(content) // 4 * 3 - content.count("=", -2)
    return len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))


def info_of(name: str, file: FileData) -> FileInfo:
    """Return the entry of a file in a listing."""
    return {
        "path": name,
        "is_dir": False,
        "size": size_of(file),
        "modified_at": file.get("modified_at", ""),
    }


def cannot_hold(raw: Any, pattern: str) -> bool:
    """Say without decoding that a text record has no match; most records have none."""
    return (
        type(raw) is dict
        and raw.get("encoding") == "utf-8"
        and isinstance(raw.get("content"), str)
        and pattern not in raw["content"]
    )


def text_of(path: str, file: FileData) -> str:
    """Return the text of a file as a reader sees it: decoded, without a byte order mark."""
    if file["encoding"] == "utf-8":
        return file["content"].removeprefix(_BOM)
    return _text.decode(bytes_of(path, file)).text


def file_from_text(path: str, text: str) -> FileData:
    """Return a file with this text.

    Raises:
        TextRefused: If the text cannot be stored as UTF-8.
    """
    _text.encode(path, text)
    return FileData(content=text, encoding="utf-8")


def file_from_bytes(data: bytes) -> FileData:
    """Return a file with these bytes: as text where they are text, else as base64."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or "\0" in text:  # NUL is valid UTF-8, yet no text; databases refuse it
        return FileData(content=base64.b64encode(data).decode("ascii"), encoding="base64")
    return FileData(content=text, encoding="utf-8")


def stamped(file: FileData, before: FileData | None, now: str) -> FileData:
    """Return a changed file with its times: created once, modified now."""
    created = before.get("created_at", now) if before else now
    return FileData(
        content=file["content"], encoding=file["encoding"], created_at=created, modified_at=now
    )


def edited(path: str, file: FileData, old: str, new: str, *, every: bool) -> tuple[FileData, int]:
    """Return a file with `old` replaced by `new`, and how often.

    Raises:
        EditRefused: If the text does not fit, or the file holds no text.
        TextRefused: If the new text cannot be stored.
    """
    if file["encoding"] == "base64":
        data, count = _text.edit_bytes(path, bytes_of(path, file), old, new, every)
        return file_from_bytes(data), count
    mark, body = _marked(file)
    text, count = _text.edit(path, body, old, new, every)
    return FileData(content=mark + text, encoding="utf-8"), count


def surroundings(path: str, file: FileData, old: str) -> str:
    """Return a digest of the whole lines in which an edit of a file would take place.

    Raises:
        FileNotRegular: As `bytes_of`.
    """
    return _text.surroundings(text_of(path, file), old)


def appended(path: str, file: FileData | None, line: str) -> FileData:
    """Return a file with a line added at its end; no file is an empty one.

    Raises:
        EditRefused: If the file holds no text.
        TextRefused: If the line cannot be stored.
    """
    _text.encode(path, line)
    if file and file["encoding"] == "base64":
        return file_from_bytes(_text.append_bytes(path, bytes_of(path, file), line))
    mark, body = _marked(file) if file else ("", "")
    return FileData(content=mark + _text.append(path, body, line), encoding="utf-8")


def _marked(file: FileData) -> tuple[str, str]:
    content = file["content"]
    body = content.removeprefix(_BOM)
    return content[: len(content) - len(body)], body


def digest_of(file: FileData | None) -> str:
    """Return a digest of the content of a file, "" for no file."""
    return "" if file is None else _digest(file["encoding"], file["content"])


@lru_cache(maxsize=32)  # the same texts are asked for again at each read within a step
def _digest(encoding: str, content: str) -> str:
    data = f"{encoding}:{content}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()
