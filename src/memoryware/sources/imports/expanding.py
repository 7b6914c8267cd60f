"""`Imports`: a memory file is put together from several, as far as its owner allows it.

A line that is only `@path/to/file.md` is replaced by the text of that file, between two
lines that name it; what cannot be imported is said in its place. Of a mention in a sentence
the text comes after the paragraph. Every file is asked
for once and shown once, all of one depth come in one batch, and limits bound the whole.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware import _checking
from memoryware._twins import Via, in_thread
from memoryware.backends._text import decode, is_binary
from memoryware.errors import FileError, SettingError
from memoryware.settings import ImportLimits
from memoryware.sources.imports._file import File, Target, named, render
from memoryware.sources.imports._place import Place

Approve = Callable[[str, str], bool | Awaitable[bool]]
"""Asked with the importing and the imported path whether a file from elsewhere may come in."""
Fetch = Callable[[Via, list[str]], Coroutine[Any, Any, Sequence[tuple[bytes | None, str | None]]]]
"""Returns bytes, or an error code, for each path."""
NamesOf = Callable[[Via, list[str]], Coroutine[Any, Any, Sequence[tuple[str, ...]]]]
"""Returns for each path its absolute name and then the name that it links to, if another."""

DEFAULT_SUFFIXES: Final = (
    ".md",
    ".mdx",
    ".mdc",
    ".markdown",
    ".txt",
    ".rst",
    ".adoc",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
)
"""Ends of names that make a path of what stands after `@`."""
_CODE_AT_MOST: Final = 80
_REASONS: Final = {
    "file_not_found": "import not found: {name}",
    "is_directory": "import refused: {name} is a folder",
    "permission_denied": "import refused: {name} may not be read",
    "invalid_path": "import refused: {name} is outside the root, or no file",
    "too_large": "import skipped: {name} is too large to be read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """How a memory file imports others, by paths such as `@docs/style.md`.

    Attributes:
        roots: Folders whose files are imported without a question; None stands for the folder
            of the outermost importing file, with what is below it. A link counts as where it
            leads. The root of the backend and the rules of the middleware hold in any case.
        approve: Asked once about each file outside the roots, with the path that imports it
            and where it really is; it may be async. Only a true answer imports. None refuses
            them all.
        suffixes: Ends of file names that make a path of what stands after `@`. A path that
            begins with `./`, `../` or `~/` needs none.
        limits: How deep, how many and how much.

    Raises:
        SettingError: For a value that cannot be.
    """

    roots: Sequence[str] | None = None
    approve: Approve | None = None
    suffixes: Sequence[str] = DEFAULT_SUFFIXES
    limits: ImportLimits = field(default_factory=ImportLimits)

    def __post_init__(self) -> None:
        if self.roots is not None:
            object.__setattr__(self, "roots", _texts("roots", self.roots, "/docs"))
            for root in self.roots:
                _check_root(root)
        suffixes = _texts("suffixes", self.suffixes, ".md")
        for suffix in suffixes:
            if not suffix.startswith(".") or len(suffix) < 2 or "/" in suffix:
                raise SettingError(f"suffixes holds {suffix!r}: write it with its dot, as '.md'")
        object.__setattr__(self, "suffixes", tuple(one.lower() for one in suffixes))
        _checking.check_function("approve", self.approve, or_none=True)
        if not isinstance(self.limits, ImportLimits):
            raise SettingError(f"limits={self.limits!r}: give ImportLimits(...)")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its imports in it.

    Attributes:
        text: The whole; the very text that was given if nothing in it is an import.
        imported: Every path that was asked for, to be watched for changes.
        shown: Those of them whose text is in it.
        notes: What was not imported and why, one sentence each, without memory text.
    """

    text: str
    imported: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


async def expand(
    via: Via,
    path: str,
    text: str,
    fetch: Fetch,
    options: Imports,
    *,
    names: NamesOf | None = None,
    known: Collection[str] = (),
) -> Expanded:
    """Return a memory file with the files that it imports.

    Args:
        via: Which half of a pair of twins to take.
        path: Where the text is from.
        text: Its text.
        fetch: Gets other files of its backend.
        options: What may be imported.
        names: Tells where paths really lead; None goes by their spelling.
        known: Paths that are shown in this memory anyway, so not once more here.

    Raises:
        SettingError: If `approve` is async and the run is not.
    """
    if "@" not in text:
        return Expanded(text)
    try:
        outermost = File(Place.of(path), depth=0)
    except FileError:
        return Expanded(text, notes=("imports cannot be followed from a path like this one",))
    outermost.read(text, options.suffixes, options.limits.lines)
    if not outermost.lines:
        return Expanded(text, notes=tuple(outermost.notes()))
    expansion = _Expansion(
        via, _World(fetch, names), options, outermost, {place.key for place in _read(known)}
    )
    level = [outermost]
    while level:
        level = await expansion.next_level(level)
    files = expansion.files.values()
    return Expanded(
        render(outermost),
        imported=tuple(expansion.asked),
        shown=tuple(one.place.spelled for one in files if one.depth and not one.report),
        notes=tuple(note for file in files for note in file.notes()),
    )


@dataclass(frozen=True, slots=True)
class _World:
    """What is outside of the texts."""

    fetch: Fetch
    names: NamesOf | None

    async def places(self, via: Via, places: Sequence[Place]) -> list[list[Place]]:
        """Return every place that each path means: where it says, and where it leads."""
        if self.names is None:
            return [[place] for place in places]
        told = await self.names(via, [place.spelled for place in places])
        found = [list(_read(names)) for names in told]
        # A name that cannot be judged judges for none of the others.
        return [
            one if len(one) == len(names) else [] for one, names in zip(found, told, strict=True)
        ]


class _Expansion:
    """All files of one expansion, each once, and what may still come in."""

    def __init__(
        self,
        via: Via,
        world: _World,
        options: Imports,
        outermost: File,
        elsewhere: set[tuple[str, ...]],
    ) -> None:
        self._via, self._world, self._options = via, world, options
        self._outermost, self._elsewhere = outermost, elsewhere
        self._roots: list[Place] | None = None
        self._paths_left = options.limits.lines
        self._bytes_left = options.limits.total_bytes
        self._texts = {outermost.text: outermost}
        self.files = {outermost.place.key: outermost}
        self.asked: list[str] = []

    async def next_level(self, level: Sequence[File]) -> list[File]:
        """Follow the imports of files of one depth; return the files that they bring in."""
        new = [pair for file in level for pair in self._followed(file)]
        if not new:
            return []
        await self._judge(new)
        wanted = [file for _, file in new if not file.report]
        paths = [file.place.spelled for file in wanted]
        self.asked += paths
        if paths:
            answers = await self._world.fetch(self._via, paths)
            for file, (content, error) in zip(wanted, answers, strict=True):
                file.report = self._taken(file, content, error)
        return [file for file in wanted if not file.report]

    def _followed(self, file: File) -> Iterator[tuple[File, File]]:
        """Find the targets of a file; return those that are new, with the file itself."""
        for line in file.lines:
            if self._paths_left < len(line.paths):
                if self._paths_left >= 0:
                    most = self._options.limits.lines
                    report = f"import skipped: more than {most} paths on import lines"
                    file.targets.append([Target(report=report)])
                self._paths_left = -1
                return
            self._paths_left -= len(line.paths)
            targets = [self._target(file, written) for written in line.paths]
            file.targets.append(targets)
            yield from ((file, one.file) for one in targets if one.file and one.is_here)

    def _target(self, file: File, written: str) -> Target:
        try:
            place = file.place.folder.then(written)
        except FileError:
            return Target(report=f"import refused: {named(written)} is no path below the root")
        there = self.files.get(place.key)
        if there is not None:
            return Target(there)
        name, depth = named(place.spelled), self._options.limits.depth
        if place.key in self._elsewhere:
            return Target(report=f"import skipped: {name} is in this memory already")
        if file.depth >= depth:
            return Target(report=f"import skipped: {name} is deeper than {depth}")
        new = self.files[place.key] = File(place, file.depth + 1)
        return Target(new, is_here=True)

    async def _judge(self, new: Sequence[tuple[File, File]]) -> None:
        """Refuse files that are neither inside the roots nor approved."""
        roots = await self._allowed()
        places = await self._world.places(self._via, [file.place for _, file in new])
        approve = self._options.approve
        for (importing, file), means in zip(new, places, strict=True):
            if not means:
                file.report = f"import refused: {file.name} is no path below the root"
            elif all(any(place.is_below(root) for root in roots) for place in means):
                continue
            elif approve is None:
                file.report = f"import refused: {file.name} is outside the allowed folders"
            else:
                paths = importing.place.spelled, means[-1].spelled
                if not await self._via(_ask, _ask_async, approve, *paths):
                    file.report = f"import refused: {file.name} is not approved"

    async def _allowed(self) -> list[Place]:
        if self._roots is None:
            given = self._options.roots
            folder = self._outermost.place.folder
            roots = [folder] if given is None else [Place.of(root) for root in given]
            found = await self._world.places(self._via, roots)
            self._roots = [place for places in found for place in places]
        return self._roots

    def _taken(self, file: File, content: bytes | None, error: str | None) -> str:
        """Take in a file that was read; return why it is not imported, or ""."""
        name, limits = file.name, self._options.limits
        if content is None:
            code = error or "file_not_found"
            return _REASONS.get(code, "import failed: {name} ({code})").format(
                name=name, code=" ".join(code.split())[:_CODE_AT_MOST]
            )
        if len(content) > limits.file_bytes:
            return (
                f"import skipped: {name} has {len(content)} bytes,"
                f" more than the {limits.file_bytes} allowed"
            )
        if len(content) > self._bytes_left:
            return f"import skipped: {name} does not fit into {limits.total_bytes} bytes in all"
        if is_binary(content):
            return f"import skipped: {name} is not text"
        file.read(decode(content).text, self._options.suffixes, limits.lines)
        same = self._texts.setdefault(file.text, file)
        if same is not file and file.text.strip():
            return f"import skipped: {name} has the same text as {same.name}"
        self._bytes_left -= len(content)
        return ""


def _ask(approve: Approve, importing: str, imported: str) -> bool:
    answer = approve(importing, imported)
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise SettingError(
            "approve is async, so run the agent with ainvoke or astream; or give a plain function"
        )
    return bool(answer)


async def _ask_async(approve: Approve, importing: str, imported: str) -> bool:
    if inspect.iscoroutinefunction(approve):
        return bool(await approve(importing, imported))
    answer = await in_thread(approve, importing, imported)
    return bool(await answer if inspect.isawaitable(answer) else answer)


def _read(paths: Iterable[str]) -> Iterator[Place]:
    for path in paths:
        with contextlib.suppress(FileError):
            yield Place.of(path)


def _check_root(root: str) -> None:
    try:
        Place.of(root)
    except FileError as error:
        raise SettingError(f"roots holds {root!r}: {error}") from error


def _texts(option: str, given: Any, example: str) -> tuple[str, ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise SettingError(f"{option}={given!r}: give a list, such as [{example!r}]")
    texts = tuple(given)
    for one in texts:
        if not isinstance(one, str) or not one:
            raise SettingError(f"{option} holds {one!r}: it takes texts such as {example!r}")
    return texts
