r"""Folders and files from a drawing, so that what a test shows is what is there.

repo/
├── .git/                       a folder; what stands after blanks is a remark
├── AGENTS.md: be brief         a file and its text, `\n` is a line end
├── CLAUDE.md -> AGENTS.md      a link
├── blank.md:                   an empty file
├── closed.md: secret [denied]  a file, or a folder, that nobody may read
└── pipe.md [pipe]              a named pipe
"""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"^(?P<rails>(?:│   |    |├── |└── )*)(?P<what>\S.*)$")
_TOP = re.compile(r"^[\w.~-]+(?:/(?: \[denied\])?(?:\s{3,}.*)?$|\.md: \S)")
_REMARK = re.compile(r"\s{3,}\S.*$")


@dataclass(frozen=True)
class Node:
    """One line of a drawing; `path` is relative, `text` is what a file holds or a link says."""

    path: str
    kind: str
    text: str = ""
    denied: bool = False


def drawn(drawing: str) -> list[Node]:
    """Return what a drawing shows; lines that draw nothing are prose."""
    nodes: list[Node] = []
    above: list[str] = []
    for line in inspect.cleandoc(drawing).splitlines():
        found = _LINE.match(line)
        rails = found["rails"] if found else ""
        is_top = _TOP.match(line) is not None
        if found is None or not (rails.endswith("── ") or is_top):
            continue
        depth = len(rails) // 4
        node = _node("/".join(above[:depth]), _REMARK.sub("", found["what"]))
        del above[depth:]
        above.append(Path(node.path).name)
        nodes.append(node)
    return nodes


def _node(folder: str, what: str) -> Node:
    denied, what = what.endswith(" [denied]"), what.removesuffix(" [denied]")
    where = f"{folder}/" if folder else ""
    if what.endswith(" [pipe]"):
        return Node(where + what.removesuffix(" [pipe]"), "pipe")
    if what.endswith("/"):
        return Node(where + what.rstrip("/"), "folder", denied=denied)
    if " -> " in what:
        name, target = what.split(" -> ")
        return Node(where + name, "link", target)
    name, colon, text = what.partition(":")
    assert colon, f"a file needs a colon and its text: {what!r}"
    return Node(
        where + name, "file", text.strip().replace(r"\n", "\n").replace(r"\r", "\r"), denied
    )


def plant(drawing: str, folder: Path) -> list[Node]:
    """Make on disk what a drawing shows; `{disk}` in a link stands for the folder."""
    nodes = drawn(drawing)
    for node in nodes:
        path = folder / node.path
        if node.kind == "folder":
            path.mkdir(parents=True)
        elif node.kind == "pipe":
            os.mkfifo(path)
        elif node.kind == "link":
            path.symlink_to(node.text.replace("{disk}", str(folder)))
        else:
            path.write_bytes(node.text.encode())
    for node in nodes:
        if node.denied:
            (folder / node.path).chmod(0)
    return nodes


def as_files(drawing: str) -> list[tuple[str, bytes]]:
    """Return the files of a drawing for a backend that has no folders, links and pipes.

    An empty folder gets a file, because there it would not exist.
    """
    nodes = drawn(drawing)
    assert {node.kind for node in nodes} <= {"folder", "file"}, "not for this kind of backend"
    files = [(f"/{node.path}", node.text.encode()) for node in nodes if node.kind == "file"]
    for node in nodes:
        if node.kind == "folder" and not any(p.startswith(f"/{node.path}/") for p, _ in files):
            files.append((f"/{node.path}/HEAD", b"ref"))
    return files
