"""`GuardedBackend`: enforce the write policies of memory files in the backend, for all writers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryware import _checking, _langchain
from memoryware._runner import Runner
from memoryware.backends._actor import current_actor
from memoryware.backends._adapter import BackendAdapter
from memoryware.backends._base import ChangeKind
from memoryware.backends._paths import folded
from memoryware.backends._text import decode, text_in
from memoryware.backends._wrapping import FileChange, WrappingBackend
from memoryware.backends.protocol import BackendLike
from memoryware.errors import FileDenied, FileError, SecretRefused
from memoryware.events import EventContext, emit
from memoryware.guard import Guard
from memoryware.scope import MemoryScope
from memoryware.settings import MemoryLimits
from memoryware.sources.policy import WriteKind, WritePolicy, WriteVerdict, is_agreed
from memoryware.sources.regions import Which
from memoryware.sources.source import Source, identity_of, sources_of

_USUAL: Final = Guard()
# Operation as the policy names it; all others replace the whole text.
_KINDS: Final[dict[ChangeKind, WriteKind]] = {
    "edit": "edit",
    "append": "append",
    "delete": "delete",
}


class GuardedBackend(WrappingBackend):
    """A backend that enforces the owners' rules for every change of memory files.

    `MemoryMiddleware` enforces the same rules for the tools of its own agent. This one is for all
    other writers: sub-agents without it, tools of your own, code. Hidden regions are restored,
    secrets refused or redacted, and writes to read-only files refused. A change that needs a
    person's consent passes only inside an approved tool call, or inside `agreed()`.

    Put it around a `HistoryBackend`, so that the stored text is what is kept, and undo with
    that one.

    Args:
        inner: The backend; ours, deepagents' or anybody's.
        sources: The memory files, as for `MemoryMiddleware`. None means all files, all of them
            writable; then only secrets and hidden regions are checked.
        guard: Finds secrets, and says what to do about them; None does not look for any.
        hidden_regions: Comments that survive every change: "marked", "all", or None.
        limits: How much text a change may lose without consent.

    Raises:
        SettingError: If `inner` is no backend, or an option is of the wrong kind.
    """

    def __init__(
        self,
        inner: BackendLike,
        sources: Sequence[str | Source] | None = None,
        *,
        guard: Guard | None = _USUAL,
        hidden_regions: Which | None = "marked",
        limits: MemoryLimits | None = None,
    ) -> None:
        super().__init__(inner)
        _checking.check_instance("guard", guard, Guard)
        _checking.check_instance("limits", limits, MemoryLimits)
        if hidden_regions not in ("marked", "all", None):
            raise _checking.wrong("hidden_regions", hidden_regions, "'marked', 'all' or None")
        limits = limits or MemoryLimits()
        self._sources = None if sources is None else sources_of(sources)
        share, words = 1.0 if sources is None else limits.lost_share, limits.lost_words
        self._policy = WritePolicy(guard, hidden_regions, share, words)

    async def _check_change(self, runner: Runner, change: FileChange) -> bytes | None:
        source = await self._source_of(runner, change)
        if source is None:
            return change.after
        before, after = text_in(change.before), text_in(change.after)
        kind = _KINDS.get(change.kind, "write")
        recoded = before == after and change.before != change.after
        verdict = self._policy.judge(
            source, kind, before, after, recoded=recoded, others=self._sources or ()
        )
        # Inside the write nobody can be asked: the file is locked, and there may be no run to
        # pause.
        if verdict.refused or (verdict.asks and not is_agreed()):
            _emit_blocked(change.path, verdict)
            raise _refusal(change.path, verdict)
        if verdict.after == after or change.after is None or verdict.after is None:
            return change.after
        form = decode(change.after)
        if form.lossy:  # it cannot be rewritten without harm to what is no text
            raise FileDenied(change.path, f"'{change.path}' is not valid text; nothing was changed")
        return form.bom + verdict.after.encode(form.encoding)

    async def _source_of(self, runner: Runner, change: FileChange) -> Source | None:
        """Return the memory file that is changed, None for other files."""
        if self._sources is None:
            return Source(change.path)
        index = await SourceIndex.of(runner, self._inner, self._sources)
        hit = await index.by(runner, change.identity)
        return strictest(hit) if hit else None


def _emit_blocked(path: str, verdict: WriteVerdict) -> None:
    runtime = _langchain.current_runtime()
    writer = getattr(runtime, "stream_writer", None)
    emit(
        EventContext(writer, MemoryScope.current()),
        "write_blocked",
        path=path,
        tool="",
        tool_call=current_actor().tool_call or "",
        reason=verdict.refused or "not_approved",
        kinds=[finding.kind for finding in verdict.findings],
        lines=[finding.line for finding in verdict.findings],
    )


def _refusal(path: str, verdict: WriteVerdict) -> FileError:
    if verdict.refused == "secret":
        return SecretRefused(path, verdict.message)
    if verdict.refused:
        return FileDenied(path, verdict.message)
    message = f"{verdict.question}, and nobody has approved it; nothing was changed"
    return FileDenied(path, message)


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """Index of the memory files of a run by all their names, ignoring case."""

    adapter: BackendAdapter
    sources: tuple[tuple[Source, frozenset[str]], ...]

    @classmethod
    async def of(cls, runner: Runner, backend: object, sources: Sequence[Source]) -> SourceIndex:
        """Ask a backend for the names of all memory files.

        Args:
            runner: Calls what may block.
            backend: The backend.
            sources: The memory files.

        Returns:
            The index.
        """
        adapter = BackendAdapter(backend)
        names = await adapter.names(runner, [source.path for source in sources])
        pairs = zip(sources, names, strict=True)
        return cls(adapter, tuple((source, _names(source.path, own)) for source, own in pairs))

    async def by(self, runner: Runner, path: str, *, folder: bool = False) -> list[Source]:
        """Look up the memory files at a path.

        Args:
            runner: Calls what may block.
            path: The path, in any spelling.
            folder: Whether files inside the path count as well.

        Returns:
            The sources, in their order.
        """
        (own,) = await self.adapter.names(runner, [path])
        own_names = _names(path, own)
        below = tuple(name.rstrip("/") + "/" for name in own_names) if folder else ()
        return [
            source
            for source, names in self.sources
            if names & own_names or any(name.startswith(below) for name in names if below)
        ]

    def is_file(self, source: Source, path: str) -> bool:
        """Return whether a path is this very file, rather than a folder that it lies in.

        Args:
            source: A source of this index.
            path: A path that means it.

        Returns:
            False for a folder.
        """
        name = folded(identity_of(path))
        return not any(own.startswith(name.rstrip("/") + "/") for own in self._names_of(source))

    def _names_of(self, source: Source) -> frozenset[str]:
        return next(names for other, names in self.sources if other is source)


def _names(path: str, own: Sequence[str]) -> frozenset[str]:
    # macOS and Windows take names that differ in case for one file.
    return frozenset(map(folded, own or (identity_of(path),)))


def strictest(sources: Sequence[Source]) -> Source:
    """Choose the strictest of several sources that are one file.

    Args:
        sources: At least one.

    Returns:
        The one that may be written least.
    """
    return min(sources, key=lambda source: (source.writable is True, source.writable == "ask"))
