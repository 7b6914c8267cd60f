"""`Preview`: the memory part of the prompt, and the state of each memory source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from memoryware.middleware._loading import LoadedMemory
from memoryware.middleware._memory_prompt import CountTokens, MemoryBlock, SourceBlock
from memoryware.sources.source import Owner, Source, Writable

SourceState = Literal["shown", "cut", "same", "empty", "missing", "failed"]
"""The state of a source: all or a part of it is shown, or why nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePreview:
    """One source in a preview.

    Attributes:
        path: Its path in the backend.
        owner: Whose notes it holds.
        writable: Whether an agent may change it.
        trusted: Whether it says what its owner wrote; otherwise it is from outside.
        why: Why it is a source, in words.
        state: "shown", "cut" to what fits, "same" as one that is shown, "empty", "missing", or
            "failed".
        detail: The announcement in place of what is left out, or the code of a failure.
        bytes: Its size, without imports; None if it was not read.
        tokens: Tokens of the text that is shown.
        whole: Tokens that the text would have if nothing were cut.
        text: The text that is shown.
        imported: The files that are imported into it.
        suspect: What a person should look at, a sentence each; never the text itself.
    """

    path: str
    owner: Owner | None = None
    writable: Writable = True
    trusted: bool = True
    why: str = ""
    state: SourceState
    detail: str = ""
    bytes: int | None = None
    tokens: int = 0
    whole: int = 0
    text: str = ""
    imported: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The memory part of a prompt, and the state of each source.

    Attributes:
        text: The part of the system message, byte for byte; "" if there is none.
        tokens: Tokens of that part.
        sources: The sources, in the order in which they are shown.
    """

    text: str = ""
    tokens: int = 0
    sources: tuple[SourcePreview, ...] = ()


def preview_of(
    loaded: LoadedMemory, block: MemoryBlock, text: str, count: CountTokens, start: str | None
) -> Preview:
    """Return the preview of loaded memory.

    Args:
        loaded: The memory.
        block: The block that was made of it.
        text: The finished part of the prompt.
        count: Counts the tokens of a text.
        start: Where the files were looked for; None if they were named.

    Returns:
        The preview.
    """
    parts = {part.path: part for part in block.parts}
    problems = dict(loaded.problems)
    suspects = _suspects(loaded, block)
    sources = tuple(
        replace(
            _source(source, loaded, parts.get(source.path), problems.get(source.path), count),
            why=_why(source, start),
            suspect=suspects.get(source.path, ()),
        )
        for source in loaded.sources
    )
    return Preview(text=text, tokens=count(text) if text else 0, sources=sources)


def _source(
    source: Source,
    loaded: LoadedMemory,
    part: SourceBlock | None,
    problem: str | None,
    count: CountTokens,
) -> SourcePreview:
    state, detail = _state(source, loaded, part, problem)
    return SourcePreview(
        path=source.path,
        owner=source.owner,
        writable=source.writable,
        trusted=source.trusted,
        state=state,
        detail=detail,
        bytes=loaded.sizes.get(source.path),
        tokens=count(part.shown) if part and part.shown else 0,
        whole=count(part.whole) if part else 0,
        text=part.text if part else "",
        imported=tuple(path for path, into in loaded.imported.items() if into is source),
    )


def _state(
    source: Source, loaded: LoadedMemory, part: SourceBlock | None, problem: str | None
) -> tuple[SourceState, str]:
    if problem is not None:
        missing = problem == "file_not_found"
        return ("missing", "it is required") if missing else ("failed", problem)
    if source.path not in loaded.contents:
        return "missing", ""
    if part is None:
        return "empty", ""
    if part.cut:
        return "cut", part.announcement
    return ("same", part.announcement) if part.announcement else ("shown", "")


def _suspects(loaded: LoadedMemory, block: MemoryBlock) -> Mapping[str, tuple[str, ...]]:
    """Return by source what a person should look at, in files imported into it as well."""
    notes: dict[str, list[str]] = {}
    for path, finding in loaded.secrets:
        into = loaded.imported.get(path)
        home = into.path if into is not None else path
        where = f"line {finding.line}" if home == path else f"{path}, line {finding.line}"
        notes.setdefault(home, []).append(f"{where}: looks like a secret ({finding.kind})")
    for part in block.parts:
        notes.setdefault(part.path, []).extend(part.suspect)
    return {path: tuple(sentences) for path, sentences in notes.items() if sentences}


def _why(source: Source, start: str | None) -> str:
    if start is None:
        return "named in the sources"
    folder = _folder(source.path)
    here = start.rstrip("/") or "/"
    if folder == here or folder in (f"{here.rstrip('/')}/.agents", f"{here.rstrip('/')}/.claude"):
        return "in the start folder"
    if source.path.startswith("~") or source.owner == "user":
        return "of the user"
    if f"{here.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/"):
        return f"in a folder above, {folder}"
    return f"in {folder}"


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"
