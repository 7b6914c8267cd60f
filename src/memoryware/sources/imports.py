"""`Imports`: expand `@path` lines of a memory file with the text of other files.

A line that is only `@path/to/file.md` is replaced by the text of that file, between two lines that
name it; for an import that is refused, a line gives the reason. For a mention in a sentence the
text comes after the paragraph. Every file is fetched once and shown once, all files of one depth
in one batch, within limits.

An imported text cannot affect the text around it: an open code block in it is closed, the start
of an unclosed comment becomes `&lt;!--`, and lines that look like our own are escaped.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, Final

from memoryware import _checking
from memoryware._runner import Runner, in_thread
from memoryware.backends._text import decode, is_binary
from memoryware.errors import FileError, SettingError
from memoryware.settings import ImportLimits
from memoryware.sources._import_lines import (
    ImportLine,
    ImportPath,
    first_ignored_line,
    import_lines,
)
from memoryware.sources.markdown import plain_lines, spans

Approve = Callable[[str, str], bool | Awaitable[bool]]
"""Approves an import from outside the roots: gets the importing and the imported path."""
Fetch = Callable[
    [Runner, list[str]], Coroutine[Any, Any, Sequence[tuple[bytes | None, str | None]]]
]
"""Returns bytes, or an error code, for each path."""
NamesOf = Callable[[Runner, list[str]], Coroutine[Any, Any, Sequence[tuple[str, ...]]]]
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
"""Ends of file names that make a path of the word after `@`."""
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
        roots: Folders whose files are imported without approval; None stands for the folder
            of the outermost importing file, with what is below it. A link counts as where it
            leads. The root of the backend and the rules of the middleware hold in any case.
        approve: Called once for each file outside the roots, with the path that imports it
            and where it really is; it may be async. Only a true answer imports. None refuses
            them all.
        suffixes: Ends of file names that make a path of the word after `@`. A path that
            begins with `./`, `../` or `~/` needs none.
        limits: How deep, how many and how much.

    Raises:
        SettingError: For an option of the wrong kind.
    """

    roots: Sequence[str] | None = None
    approve: Approve | None = None
    suffixes: Sequence[str] = DEFAULT_SUFFIXES
    limits: ImportLimits = field(default_factory=ImportLimits)

    def __post_init__(self) -> None:
        if self.roots is not None:
            object.__setattr__(self, "roots", _checking.checked_texts("roots", self.roots, "/docs"))
            for root in self.roots:
                _check_root(root)
        suffixes = _checking.checked_texts("suffixes", self.suffixes, ".md")
        for suffix in suffixes:
            if not suffix.startswith(".") or len(suffix) < 2 or "/" in suffix:
                raise SettingError(f"suffixes holds {suffix!r}: write it with its dot, as '.md'")
        object.__setattr__(self, "suffixes", tuple(suffix.lower() for suffix in suffixes))
        _checking.check_function("approve", self.approve, or_none=True)
        if not isinstance(self.limits, ImportLimits):
            raise SettingError(f"limits={self.limits!r}: give ImportLimits(...)")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its imports expanded.

    Attributes:
        text: The whole; the given text itself if nothing in it is an import.
        imported: Every path that was requested, to be watched for changes.
        shown: Those of them whose text is in it.
        notes: What was not imported and why, one sentence each, without memory text.
    """

    text: str
    imported: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


async def expand(
    runner: Runner,
    path: str,
    text: str,
    fetch: Fetch,
    options: Imports,
    *,
    names: NamesOf | None = None,
    loaded: Collection[str] = (),
) -> Expanded:
    """Expand the imports of a memory file.

    Args:
        runner: Calls what may block.
        path: Where the text is from.
        text: Its text.
        fetch: Reads other files of its backend.
        options: What may be imported.
        names: Resolves the links of paths; None goes by their spelling.
        loaded: Paths that are in this memory anyway, so not once more here.

    Returns:
        The text with its imports, and what became of each.

    Raises:
        SettingError: If `approve` is async and the run is not.
    """
    if "@" not in text:
        return Expanded(text)
    try:
        outermost = _ImportedFile(ImportPath.of(path), depth=0)
    except FileError:
        return Expanded(text, notes=("imports cannot be followed from a path like this one",))
    outermost.read(text, options.suffixes, options.limits.lines)
    if not outermost.lines:
        return Expanded(text, notes=tuple(outermost.notes()))
    expansion = _Expansion(
        runner,
        _ImportReader(fetch, names),
        options,
        outermost,
        {path.key for path in _read(loaded)},
    )
    level = [outermost]
    while level:
        level = await expansion.next_level(level)
    files = expansion.files.values()
    return Expanded(
        _render(outermost),
        imported=tuple(expansion.requested),
        shown=tuple(file.location.spelled for file in files if file.depth and not file.report),
        notes=tuple(note for file in files for note in file.notes()),
    )


@dataclass(frozen=True, slots=True)
class _ImportReader:
    """Access to the backend: reads files, and resolves links."""

    fetch: Fetch
    names: NamesOf | None

    async def names_of(self, runner: Runner, paths: Sequence[ImportPath]) -> list[list[ImportPath]]:
        """Return all names of each path: its own, and the one that links lead to."""
        if self.names is None:
            return [[path] for path in paths]
        answers = await self.names(runner, [path.spelled for path in paths])
        names_of_each = [list(_read(names)) for names in answers]
        # A name that cannot be judged judges for none of the others.
        return [
            paths_of_one if len(paths_of_one) == len(names) else []
            for paths_of_one, names in zip(names_of_each, answers, strict=True)
        ]


class _Expansion:
    """All files of one expansion, each once, and how much may still be added."""

    def __init__(
        self,
        runner: Runner,
        world: _ImportReader,
        options: Imports,
        outermost: _ImportedFile,
        elsewhere: set[tuple[str, ...]],
    ) -> None:
        self._runner, self._world, self._options = runner, world, options
        self._outermost, self._elsewhere = outermost, elsewhere
        self._roots: list[ImportPath] | None = None
        self._paths_left = options.limits.lines
        self._bytes_left = options.limits.total_bytes
        self._texts = {outermost.text: outermost}
        self.files = {outermost.location.key: outermost}
        self.requested: list[str] = []

    async def next_level(self, level: Sequence[_ImportedFile]) -> list[_ImportedFile]:
        """Follow the imports of files of one depth; return the files that they add."""
        new = [pair for file in level for pair in self._followed(file)]
        if not new:
            return []
        await self._check_allowed(new)
        files = [file for _, file in new if not file.report]
        paths = [file.location.spelled for file in files]
        self.requested += paths
        if paths:
            answers = await self._world.fetch(self._runner, paths)
            for file, (content, error) in zip(files, answers, strict=True):
                file.report = self._accept(file, content, error)
        return [file for file in files if not file.report]

    def _followed(self, file: _ImportedFile) -> Iterator[tuple[_ImportedFile, _ImportedFile]]:
        """Find the targets of a file; return those that are new, with the file itself."""
        # Counted over the whole expansion: ten files with ten imports each are a hundred.
        for line in file.lines:
            if self._paths_left < len(line.paths):
                if self._paths_left >= 0:
                    most = self._options.limits.lines
                    report = f"import skipped: more than {most} paths on import lines"
                    file.targets.append([_ImportTarget(report=report)])
                self._paths_left = -1
                return
            self._paths_left -= len(line.paths)
            targets = [self._target(file, written) for written in line.paths]
            file.targets.append(targets)
            yield from ((file, target.file) for target in targets if target.file and target.is_here)

    def _target(self, file: _ImportedFile, written: str) -> _ImportTarget:
        try:
            path = file.location.folder.then(written)
        except FileError:
            return _ImportTarget(
                report=f"import refused: {_printable_path(written)} is no path below the root"
            )
        there = self.files.get(path.key)
        if there is not None:
            return _ImportTarget(there)
        name, depth = _printable_path(path.spelled), self._options.limits.depth
        # The same rules twice in one prompt only cost tokens.
        if path.key in self._elsewhere:
            return _ImportTarget(report=f"import skipped: {name} is in this memory already")
        if file.depth >= depth:
            return _ImportTarget(report=f"import skipped: {name} is deeper than {depth}")
        new = self.files[path.key] = _ImportedFile(path, file.depth + 1)
        return _ImportTarget(new, is_here=True)

    async def _check_allowed(self, new: Sequence[tuple[_ImportedFile, _ImportedFile]]) -> None:
        """Refuse files that are neither inside the roots nor approved."""
        roots = await self._allowed_roots()
        names_of_paths = await self._world.names_of(
            self._runner, [file.location for _, file in new]
        )
        approve = self._options.approve
        for (importing, file), means in zip(new, names_of_paths, strict=True):
            if not means:
                file.report = f"import refused: {file.name} is no path below the root"
            elif all(any(path.is_below(root) for root in roots) for path in means):
                continue
            elif approve is None:
                file.report = f"import refused: {file.name} is outside the allowed folders"
            else:
                paths = importing.location.spelled, means[-1].spelled
                if not await self._runner.call(_ask, _ask_async, approve, *paths):
                    file.report = f"import refused: {file.name} is not approved"

    async def _allowed_roots(self) -> list[ImportPath]:
        if self._roots is None:
            root_texts = self._options.roots
            folder = self._outermost.location.folder
            roots = [folder] if root_texts is None else [ImportPath.of(root) for root in root_texts]
            names_of_roots = await self._world.names_of(self._runner, roots)
            self._roots = [path for paths in names_of_roots for path in paths]
        return self._roots

    def _accept(self, file: _ImportedFile, content: bytes | None, error: str | None) -> str:
        """Add a file that was read; return why it is not imported, or ""."""
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
        # In the order of the lines, so that the same memory always fits the same files.
        if len(content) > self._bytes_left:
            return f"import skipped: {name} does not fit into {limits.total_bytes} bytes in all"
        # A picture decoded with replacements would fill the prompt with U+FFFD.
        if is_binary(content):
            return f"import skipped: {name} is not text"
        file.read(decode(content).text, self._options.suffixes, limits.lines)
        # CLAUDE.md and AGENTS.md are often copies of each other.
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


def _read(paths: Iterable[str]) -> Iterator[ImportPath]:
    for path in paths:
        with contextlib.suppress(FileError):
            yield ImportPath.of(path)


def _check_root(root: str) -> None:
    try:
        ImportPath.of(root)
    except FileError as error:
        raise SettingError(f"roots holds {root!r}: {error}") from error


_OURS: Final = re.compile(
    r"^([ \t]*+)(?=\[(?:from|end of|import [a-z ]{1,16}:) [^\n]*\][ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_OPENER: Final = "&lt;!--"
_NAMED_AT_MOST: Final = 200
_IN_NAMES: Final = str.maketrans("[]`", "()'")


@dataclass(slots=True, eq=False)
class _ImportTarget:
    """The outcome of one path on an import line.

    Attributes:
        file: The file that it leads to.
        is_here: Whether the text of the file is shown here, and not at another import of it.
        report: Why there is no file.
    """

    file: _ImportedFile | None = None
    is_here: bool = False
    report: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether the text of a file is shown here."""
        return self.is_here and not self.report and self.file is not None and not self.file.report


@dataclass(slots=True, eq=False)
class _ImportedFile:
    """A file that imports or is imported.

    Attributes:
        location: Its path.
        depth: How many imports lead to it.
        text: Its text, with LF line endings.
        lines: Its import lines.
        targets: The outcome of each path of each line; lines without any stay as they are.
        report: Why its text is not shown.
    """

    location: ImportPath
    depth: int
    text: str = ""
    lines: list[ImportLine] = field(default_factory=list)
    targets: list[list[_ImportTarget]] = field(default_factory=list)
    report: str = ""
    _openers: list[int] = field(default_factory=list)
    _closer: str = ""
    _passed_over: int = 0

    @property
    def name(self) -> str:
        """The path as it is shown."""
        return _printable_path(self.location.spelled)

    def read(self, text: str, suffixes: Sequence[str], most: int) -> None:
        """Set the text and find import lines in it, one more than the most that are followed."""
        text = plain_lines(text.replace("\r\n", "\n"))
        if self.depth:
            # A file could otherwise end its own block and speak in the name of another file.
            text = _OURS.sub(r"\1\\", text).strip("\n")
        spans_of_text = list(spans(text))
        self.text = text
        self.lines = import_lines(text, spans_of_text, suffixes, most + 1)
        self._openers = [span.start for span in spans_of_text if span.kind == "unclosed"]
        self._closer = spans_of_text[-1].closer if spans_of_text else ""
        if len(self.lines) <= most:
            self._passed_over = first_ignored_line(text, spans_of_text, suffixes, self.lines)

    def notes(self) -> Iterator[str]:
        """Yield why imports of this file failed, one sentence each."""
        for line, targets in zip(self.lines, self.targets, strict=False):
            start = line.mentioned[0][0] if line.mentioned else line.start
            number = self.text.count("\n", 0, start) + 1
            for target in targets:
                missed = target.report or (target.is_here and target.file and target.file.report)
                if missed:
                    yield f"{self.name}, line {number}: {missed}"
        if self._passed_over:
            yield (
                f"{self.name}, line {self._passed_over}: a path after '@' was not imported;"
                " an import must not be indented like code"
            )
        if self._openers and self.lines:
            yield f"{self.name}: a comment is never closed; its text is shown to the model"

    def pieces(self) -> Iterator[str | list[_ImportTarget]]:
        """Return the text in pieces, with the targets in place of their lines.

        A mention in a sentence adds only a file that is shown; problems of the others are in the
        notes, since the sentence stays.
        """
        edits: list[tuple[int, int, str | list[_ImportTarget]]] = [
            (at, at + 4, _OPENER) for at in self._openers
        ]
        lines = zip(self.lines, self.targets, strict=False)
        for line, targets in lines:
            shown = [target for target in targets if target.is_shown] if line.mentioned else targets
            if shown or not line.mentioned:
                edits.append((line.start, line.end, shown))
        position = 0
        for start, end, put in sorted(edits, key=lambda edit: edit[0]):
            yield self.text[position:start]
            yield put
            position = end
        yield self.text[position:]
        if self._closer:
            yield f"\n{self._closer}"


class _ImportExpander:
    """The text so far."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._shown: set[_ImportedFile] = set()
        self._tail = "\n\n"  # the last two characters
        self._gap = False  # whether a blank line must come before more text

    @property
    def text(self) -> str:
        return "".join(self._out)

    def file(self, file: _ImportedFile) -> None:
        self._shown.add(file)
        for piece in file.pieces():
            if isinstance(piece, str):
                self._put(piece)
                continue
            for index, target in enumerate(piece):
                if index:
                    self._put("\n")
                self._target(target)

    def _target(self, target: _ImportTarget) -> None:
        file = target.file
        report = target.report or (file.report if file else "")
        if file and not report and (file in self._shown or not target.is_here):
            where = "above" if file in self._shown else "below"
            report = f"import skipped: {file.name} is already shown {where}"
        if report or not file:
            self._put(f"[{report}]")
            return
        self._blank_line()
        self._put(f"[from {file.name}]\n")
        self.file(file)
        if not self._tail.endswith("\n"):
            self._put("\n")
        self._gap = False  # lines that end files may follow each other
        self._put(f"[end of {file.name}]")
        self._gap = True

    def _put(self, text: str) -> None:
        if self._gap and text.strip("\n"):
            self._gap = False
            if not self._tail.endswith("\n\n") and not text.startswith("\n\n"):
                text = f"\n{text}"
        self._out.append(text)
        self._tail = (self._tail + text)[-2:]

    def _blank_line(self) -> None:
        self._gap = False
        if self._tail != "\n\n":
            self._put("\n" if self._tail.endswith("\n") else "\n\n")


def _render(outermost: _ImportedFile) -> str:
    """Return the text of a file with all its imports in it."""
    rendering = _ImportExpander()
    rendering.file(outermost)
    return rendering.text


def _printable_path(path: str) -> str:
    """Return a path that is safe inside a line of ours."""
    short = path if len(path) <= _NAMED_AT_MOST else f"{path[:_NAMED_AT_MOST]}…"
    return "".join(char if char.isprintable() else "?" for char in short.translate(_IN_NAMES))
