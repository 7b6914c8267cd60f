"""Open files that other programs wrote: regular files, any Unicode encoding, zip archives."""

from __future__ import annotations

import codecs
import contextlib
import lzma
import mmap
import os
import shutil
import sqlite3
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, Self

from memoryware.errors import ImportRefused

_SQLITE: Final = b"SQLite format 3\0"
_ZIP: Final = b"PK\x03\x04"
_BOMS: Final = (
    # UTF-32 before UTF-16: the mark of the one begins with that of the other.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK: Final = 1 << 20
_UNPACKED: Final = 2 << 30
"""Bytes of one file of an archive; a small archive can unpack to any size."""
TEXT_BYTES: Final = 10 << 20
"""Bytes of a file that is read as a whole: notes and lists of memories."""


def require_source(path: Path) -> os.stat_result:
    """Require a regular file or a folder; a pipe would block, and a device never ends.

    Args:
        path: The path; a link is followed.

    Returns:
        Its status.

    Raises:
        ImportRefused: If it is missing, unreadable or something else.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ImportRefused(str(path), f"cannot be read ({reason}); check the path") from None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise ImportRefused(str(path), "is neither a file nor a folder; copy it to a file first")
    return status


def first_bytes(path: Path, size: int = 64) -> bytes:
    """Return the first bytes of a file.

    Args:
        path: The file.
        size: How many.

    Returns:
        The bytes, fewer at the end of the file.

    Raises:
        ImportRefused: If it cannot be read.
    """
    require_source(path)
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path | str, error: OSError) -> ImportRefused:
    """Return the error for a file that the system does not let us read."""
    reason = error.strerror or type(error).__name__
    return ImportRefused(str(path), f"cannot be read ({reason}); check its permissions")


def printable(name: str, most: int = 200) -> str:
    """Return a name from a file of strangers for a message: no control characters, not endless."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in name)
    return plain if len(plain) <= most else plain[:most] + "\u2026"


def is_sqlite(path: Path) -> bool:
    """Return whether a file is a SQLite database."""
    return first_bytes(path, len(_SQLITE)) == _SQLITE


def is_zip(path: Path) -> bool:
    """Return whether a file is a zip archive."""
    return first_bytes(path, len(_ZIP)) == _ZIP


@contextmanager
def mapped(path: Path, label: str = "") -> Iterator[bytes | mmap.mmap]:
    """Map a text file into memory as UTF-8; one in UTF-16 or UTF-32 is converted first.

    Args:
        path: The file.
        label: Its name in messages, if that is not the path.

    Yields:
        Its bytes in UTF-8; a byte order mark of UTF-8 is still there.

    Raises:
        ImportRefused: If it cannot be read or converted.
    """
    encoding = _encoding(first_bytes(path))
    with contextlib.ExitStack() as closing:
        try:
            file: IO[bytes] = closing.enter_context(path.open("rb"))
            if encoding:
                file = _as_utf8(file, encoding, label or str(path), closing)
            if not os.fstat(file.fileno()).st_size:
                yield b""
                return
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise unreadable(label or path, error) from None
        yield closing.enter_context(view)


def _encoding(start: bytes) -> str | None:
    """Return the encoding of a text that is not in UTF-8; None if it seems to be."""
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return encoding
    # PowerShell writes UTF-16; without a mark every other byte of ASCII is zero.
    if len(start) >= 4 and start[1] == 0 != start[0]:
        return "utf-16-le"
    if len(start) >= 4 and start[0] == 0 != start[1]:
        return "utf-16-be"
    return None


def _as_utf8(
    file: IO[bytes], encoding: str, label: str, closing: contextlib.ExitStack
) -> IO[bytes]:
    converted = closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is entered
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk := file.read(_CHUNK):
            converted.write(decoder.decode(chunk).encode())
        converted.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        raise ImportRefused(label, f"is not valid {encoding.upper()}; save it as UTF-8") from None
    converted.flush()
    return converted


def read_text(path: Path, label: str = "") -> str:
    """Return a text file with LF line endings.

    Args:
        path: The file.
        label: Its name in messages, if that is not the path.

    Returns:
        The text.

    Raises:
        ImportRefused: If it cannot be read, is not Unicode, or is larger than `TEXT_BYTES`.
    """
    size = require_source(path).st_size
    if size > TEXT_BYTES:
        raise ImportRefused(
            label or str(path),
            f"has {size:,} bytes, and a text file may have {TEXT_BYTES:,}; split it",
        )
    with mapped(path, label) as data:
        raw = bytes(data)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(label or str(path), "is not UTF-8; save it as UTF-8", line) from None
    if "\0" in text:
        raise ImportRefused(label or str(path), "is not a text file: it has NUL bytes in it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Folders and archives.


class SourceFolder:
    """The files of a folder or a zip archive, by their paths in it.

    Links that lead out of the folder are not followed: an export that somebody sent could
    otherwise import any file of this machine.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._archive: zipfile.ZipFile | None = None
        self.skipped: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        if not self.path.is_dir():
            try:
                self._archive = zipfile.ZipFile(self.path)
            except (*_ZIP_ERRORS, OSError):
                raise ImportRefused(
                    str(self.path), "is not a complete zip archive; download it again"
                ) from None
            self._temporary = tempfile.TemporaryDirectory(prefix="memoryware-import-")
        return self

    def __exit__(self, *error: object) -> None:
        if self._archive is not None:
            self._archive.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def names(self, *suffixes: str) -> list[str]:
        """Return the paths of its files, sorted, those with these suffixes.

        Args:
            suffixes: Such as ".md", in lower case; none for all files.

        Returns:
            The paths, with "/".
        """
        if self._archive is not None:
            listed = [info.filename for info in self._archive.infolist() if not info.is_dir()]
        else:
            listed = list(self._walk())
        return sorted(name for name in listed if not suffixes or name.lower().endswith(suffixes))

    def _walk(self) -> Iterator[str]:
        root = self.path.resolve()
        self.skipped.clear()
        for folder, folders, files in os.walk(self.path):
            folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED)
            for name in sorted(files):
                path = Path(folder, name)
                label = path.relative_to(self.path).as_posix()
                if path.is_symlink() and not path.resolve().is_relative_to(root):
                    self.skipped.append((printable(label), "is a link out of the folder"))
                elif path.is_file():
                    yield label

    def named(self, *names: str) -> list[str]:
        """Return the paths of files with one of these names, in any folder."""
        return [path for path in self.names() if path.rpartition("/")[2] in names]

    def file(self, name: str) -> Path:
        """Return a file on the disk; one of an archive is unpacked first.

        Args:
            name: A path that `names` returned.

        Returns:
            The file.

        Raises:
            ImportRefused: If it cannot be unpacked, or is too large.
        """
        if self._archive is None or self._temporary is None:
            return self.path / name
        label = f"{self.path}: {printable(name)}"
        info = self._archive.getinfo(name)
        if info.file_size > _UNPACKED:
            raise ImportRefused(label, "is too large; unpack it, and pass the folder")
        # The name is never part of a path: "../../x" in an archive must lead nowhere.
        target = Path(self._temporary.name, f"{info.header_offset}-{Path(name).name[-80:]}")
        if target.exists():
            return target
        try:
            with self._archive.open(info) as packed, target.open("wb") as unpacked:
                _copy(packed, unpacked, label)
            with contextlib.suppress(ValueError, OverflowError):  # any bits can be a date
                written_at = datetime(*info.date_time).timestamp()  # noqa: DTZ001 - zips have no zone
                os.utime(target, (written_at, written_at))
        except (*_ZIP_ERRORS, OSError) as error:
            target.unlink(missing_ok=True)
            raise ImportRefused(
                label, f"cannot be unpacked ({error}); unpack it yourself"
            ) from None
        return target


_ZIP_ERRORS: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(RuntimeError, ValueError, EOFError),  # encrypted; unknown methods and names; cut off
)
"""What `zipfile` raises for archives that are damaged or unusual."""
_NOT_ENTERED: Final = frozenset({".git", "node_modules", ".venv", "__pycache__", ".obsidian"})


def _copy(packed: IO[bytes], unpacked: IO[bytes], label: str) -> None:
    # The size in the directory of an archive is a claim.
    written = 0
    while chunk := packed.read(_CHUNK):
        written += len(chunk)
        if written > _UNPACKED:
            raise ImportRefused(label, "is too large; unpack it, and pass the folder")
        unpacked.write(chunk)


# SQLite.


@contextmanager
def sqlite_rows(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file of another program for reading, without changing it.

    A file with a write-ahead log is copied first, since reading it would write its index.

    Args:
        path: The file.

    Yields:
        A connection.

    Raises:
        ImportRefused: If it is no SQLite file, is damaged, or locked.
    """
    if not is_sqlite(path):
        raise ImportRefused(str(path), "is not a SQLite file")
    with contextlib.ExitStack() as closing:
        try:
            if Path(f"{path}-wal").exists():
                folder = closing.enter_context(tempfile.TemporaryDirectory())
                path = _copied_with_log(path, Path(folder))
            # Batches are read in changing threads, one after the other.
            connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            closing.callback(connection.close)
            yield connection
        except (sqlite3.Error, OSError) as error:
            is_locked = getattr(error, "sqlite_errorname", "") in ("SQLITE_BUSY", "SQLITE_LOCKED")
            advice = "close the program that uses it" if is_locked else "it may be damaged"
            raise ImportRefused(
                str(path), f"cannot be read ({printable(str(error))}); {advice}"
            ) from None
        except UnicodeDecodeError:
            raise ImportRefused(str(path), "cannot be read: its schema is damaged") from None


def _copied_with_log(path: Path, folder: Path) -> Path:
    for name in (path.name, f"{path.name}-wal"):
        shutil.copyfile(path.with_name(name), folder / name)
    return folder / path.name


def tables_of(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the tables of a database with the names of their columns."""
    names = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    return {name: columns_of(connection, name) for name in names}


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of the columns of a table."""
    rows: Sequence[Any] = connection.execute(
        "SELECT name FROM pragma_table_info(?)", (table,)
    ).fetchall()
    return {row[0] for row in rows}
