"""What is true of every answer, whatever was asked; checked at each call of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoryware.backends.protocol import (
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)


def of_listing(result: LsResult) -> None:
    """Either an error or entries; sorted, each once, folders and only folders end in `/`."""
    _told(result.error)
    assert (result.error is None) != (result.entries is None), "an error or entries, not both"
    paths = _paths(result.entries)
    assert paths == sorted(set(paths)), "entries are sorted by path, and each comes once"
    for entry in result.entries or []:
        _of_entry(entry)


def of_glob(result: GlobResult) -> None:
    """Files only, sorted, each once; a reason is given only for what was cut short."""
    _told(result.error)
    assert result.error is not None or result.matches is not None, "an error or matches"
    assert result.truncated or result.truncation_reason is None, "a reason, but nothing missing"
    paths = _paths(result.matches)
    assert paths == sorted(set(paths)), "matches are sorted by path, and each comes once"
    for entry in result.matches or []:
        _of_entry(entry)
        assert not entry["path"].endswith("/"), "folders never match"


def of_grep(result: GrepResult) -> None:
    """Lines by path and number, without their endings, each once."""
    _told(result.error)
    assert result.error is not None or result.matches is not None, "an error or matches"
    places = [(match["path"], match["line"]) for match in result.matches or []]
    assert places == sorted(set(places)), "matches are sorted by path and line, each line once"
    for match in result.matches or []:
        assert match["path"].startswith("/"), "paths in answers are absolute"
        assert match["line"] >= 1, "lines count from 1"
        assert not set("\r\n") & set(match["text"]), "a line comes without its ending"


def of_read(result: ReadResult) -> None:
    """Either an error or file data; the window's numbers fit together and its text."""
    _told(result.error)
    assert (result.error is None) != (result.file_data is None), "an error or file data, not both"
    if result.file_data is None:
        assert result.total_lines is result.start_line is result.next_offset is None
        return
    assert result.file_data["encoding"] in ("utf-8", "base64")
    for moment in ("created_at", "modified_at"):
        _of_moment(str(result.file_data.get(moment, "")))
    text, start, end = result.file_data["content"], result.start_line, result.end_line
    assert (start is None) == (end is None), "start_line and end_line come together"
    if start is None or end is None:
        assert result.next_offset is None, "an empty window leads nowhere"
        return
    assert not result.no_lines_requested
    assert 1 <= start <= end <= (result.total_lines or 0)
    assert "\r" not in text, "the window has LF line endings"
    assert text.count("\n") + (not text.endswith("\n")) == end - start + 1
    more = end < (result.total_lines or 0)
    assert result.next_offset == (end if more else None), "next_offset is where reading goes on"


def of_change(result: WriteResult | EditResult | DeleteResult, asked: str) -> None:
    """A success names the path as the caller spelled it."""
    _told(result.error)
    if result.error is None:
        assert result.path == asked, "the result names the path as it was asked for"


def of_edit(result: EditResult) -> None:
    """A success says how often the text was replaced."""
    assert result.error is not None or (result.occurrences or 0) >= 1


def of_uploads(result: list[FileUploadResponse], asked: list[str]) -> None:
    """One answer per file, in order."""
    _of_batch(result, asked)


def of_downloads(result: list[FileDownloadResponse], asked: list[str]) -> None:
    """One answer per path, in order, with bytes or an error and never both."""
    _of_batch(result, asked)
    for one in result:
        assert (one.content is None) != (one.error is None), "bytes or an error, not both"
        assert one.content is None or type(one.content) is bytes


def _of_batch(
    result: Sequence[FileDownloadResponse | FileUploadResponse], asked: list[str]
) -> None:
    assert [one.path for one in result] == asked, "one answer per path, in the given order"
    for one in result:
        _told(one.error)


def _of_entry(entry: FileInfo) -> None:
    path, folder = entry["path"], entry.get("is_dir", False)
    assert path.startswith("/"), "paths in answers are absolute"
    assert "//" not in path
    assert path.endswith("/") == folder, "folders and only folders end in '/'"
    assert not folder or entry.get("size", 0) == 0, "a folder has size 0"
    _of_moment(entry.get("modified_at", ""))


def _of_moment(text: str) -> None:
    if text:
        datetime.fromisoformat(text)  # a time is ISO 8601, or empty


def _told(error: str | None) -> None:
    assert error is None or error.strip(), "an error says something"


def _paths(entries: list[FileInfo] | None) -> list[str]:
    return [entry["path"] for entry in entries or []]
