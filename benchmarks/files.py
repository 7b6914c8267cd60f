"""Goals 10, 11, 14, 15 and 20: files on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import memory_text, tree_of
from benchmarks._turns import WALL, Scale, in_turns
from memoryware import FilesystemBackend

_FOLDER = "/area000/p0001"


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goals 10, 11, 14, 15 and 20."""
    listed, found = [], []
    for count in (1_000, 10_000, 50_000) if scale.full else (1_000, 10_000):
        pair = _Pair(tree_of(folder, count))
        listed.append(_ls(scale, pair, f"50 entries, tree of {count:,}"))
        if count > 1_000:
            found += _glob(scale, pair, f"{count:,} files")
    return [
        Goal(10, "`ls`", listed),
        Goal(11, "`glob`", found),
        Goal(14, "`read(limit=100)` of a 2 MB file", _read(scale, folder / "read")),
        Goal(15, "Finding out where a path leads", _resolve(scale, folder / "resolve")),
        Goal(20, "`edit`: lock, flush, rename", _edit(scale, folder / "edit")),
    ]


class _Pair:
    """Both backends over one folder."""

    def __init__(self, root: Path) -> None:
        root.mkdir(exist_ok=True)
        self.root, self.ours, self.peer = root, FilesystemBackend(root), PeerFiles(root)


def _ls(scale: Scale, pair: _Pair, name: str) -> Claim:
    host = f"{pair.root}{_FOLDER}"
    _same(pair.ours.ls(_FOLDER).entries, pair.peer.ls(_FOLDER).entries)
    times = in_turns(
        {
            "ours": lambda: pair.ours.ls(_FOLDER),
            "peer": lambda: pair.peer.ls(_FOLDER),
            "floor": lambda: _scan(host, deep=False),
        },
        scale.rounds,
    )
    note = (
        f"{times.text('peer')} against {times.text('ours')};"
        f" `scandir` and `stat` {times.text('floor')}"
    )
    return Claim(f"{name}, faster than the peer", times.ratio("peer", "ours"), 4, note=note)


def _glob(scale: Scale, pair: _Pair, name: str) -> list[Claim]:
    claims = []
    for pattern in ("*.py", "**/*.nope"):
        found = pair.ours.glob(pattern, "/")
        theirs = pair.peer.glob(pattern, "/")
        if not theirs.truncated:
            _same(found.matches, theirs.matches)
        times = in_turns(
            {
                "ours": lambda p=pattern: pair.ours.glob(p, "/"),
                "peer": lambda p=pattern: pair.peer.glob(p, "/"),
                "floor": lambda: _scan(str(pair.root), deep=True),
            },
            scale.share(0.5),
        )
        note = (
            f"{times.text('peer')} against {times.text('ours')};"
            f" `scandir` and `stat` of all {times.text('floor')}"
        )
        what = f"`{pattern}` in {name}, faster than the peer"
        claims.append(Claim(what, times.ratio("peer", "ours"), 8, note=note))
        cut = int(found.truncated)
        claims.append(Claim(f"`{pattern}` in {name}, answers cut off", cut, at_most=0, unit=""))
    return claims


def _read(scale: Scale, place: Path) -> list[Claim]:
    pair = _Pair(place)
    text = memory_text(2_000_000)
    (place / "long.md").write_text(text, encoding="utf-8")
    ours, peer = (one.read("/long.md", 0, 100) for one in (pair.ours, pair.peer))
    if ours.file_data["content"].rstrip("\n") != peer.file_data["content"].rstrip("\n"):
        raise AssertionError("the sides read different lines")
    host = str(place / "long.md")
    times = in_turns(
        {
            "ours": lambda: pair.ours.read("/long.md", 0, 100),
            "peer": lambda: pair.peer.read("/long.md", 0, 100),
            "floor": lambda: _counted(host),
        },
        scale.rounds,
    )
    note = (
        f"{times.text('peer')} against {times.text('ours')};"
        f" `open`, read and count line ends {times.text('floor')}"
    )
    what = f"faster than the peer, which does not count the {ours.total_lines:,} lines"
    if peer.total_lines is not None:
        what = "faster than the peer, all lines counted"
    return [Claim(what, times.ratio("peer", "ours"), 4, note=note)]


def _counted(host: str) -> int:
    with open(host, "rb") as file:
        return file.read().count(b"\n")


def _resolve(scale: Scale, place: Path) -> list[Claim]:
    pair = _Pair(place)
    claims = []
    for depth in (1, 5, 20):
        key = "".join(f"/folder{number}" for number in range(depth - 1)) + "/notes.md"
        file = place / key[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("note\n", encoding="utf-8")
        times = in_turns(
            {
                "ours": lambda k=key: pair.ours._resolve_path(k),
                "peer": lambda k=key: pair.peer._resolve_path(k),
                "our read": lambda k=key: pair.ours.download_files([k]),
                "their read": lambda k=key: pair.peer.download_files([k]),
                "floor": lambda h=str(file): os.stat(h),
            },
            scale.rounds,
        )
        note = (
            f"{times.text('peer')} against {times.text('ours')}; `stat` {times.text('floor')};"
            f" a whole download is {times.ratio('their read', 'our read'):.1f}x faster"
        )
        what = f"{depth} names deep, faster than the peer"
        claims.append(Claim(what, times.ratio("peer", "ours"), 2.5, note=note))
    return claims


def _edit(scale: Scale, place: Path) -> list[Claim]:
    claims = []
    for size, length in (("2 KB", 2_000), ("200 KB", 200_000)):
        pair = _Pair(place)
        calls: dict[str, Callable[[], Any]] = {}
        for name, backend in (("ours", pair.ours), ("peer", pair.peer), ("unflushed", pair.ours)):
            path = f"/{name}-{length}.md"
            text = "state: old\n" + memory_text(length)
            (place / path[1:]).write_text(text, encoding="utf-8")
            calls[name] = _Toggle(backend, path)
        toggle = calls["unflushed"]
        calls["unflushed"] = lambda t=toggle: _unflushed(t)
        times = in_turns(calls, scale.rounds * 3, clock=WALL, calls=10)
        for name, limit, how in (
            ("ours", 2.2, "as it is"),
            ("unflushed", 1.1, "`fsync` switched off for the measurement"),
        ):
            note = f"{times.text(name)} against {times.text('peer')}"
            what = f"{size}, {how}, against the peer"
            claims.append(Claim(what, times.ratio(name, "peer"), at_most=limit, note=note))
    return claims


class _Toggle:
    """Edits one line to and fro."""

    def __init__(self, backend: Any, path: str) -> None:
        self._backend, self._path = backend, path
        self._now, self._next = "state: old", "state: new"

    def __call__(self) -> None:
        result = self._backend.edit(self._path, self._now, self._next)
        if result.error:
            raise AssertionError(result.error)
        self._now, self._next = self._next, self._now


def _unflushed(call: Callable[[], Any]) -> None:
    with _no_flush():
        call()


@contextmanager
def _no_flush() -> Iterator[None]:
    flush = os.fsync
    os.fsync = lambda fd: None  # type: ignore[assignment]
    try:
        yield
    finally:
        os.fsync = flush


def _scan(host: str, *, deep: bool) -> int:
    """Stat each entry of a folder, or of a tree."""
    count = 0
    with os.scandir(host) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            count += 1
            if deep and entry.is_dir(follow_symlinks=False):
                count += _scan(entry.path, deep=True)
    return count


def _same(ours: Any, theirs: Any) -> None:
    """Refuse to compare times of two different answers."""
    mine, other = ({one["path"] for one in found} for found in (ours, theirs))
    if mine != other:
        raise AssertionError(f"the answers differ: {sorted(mine ^ other)[:3]}")
