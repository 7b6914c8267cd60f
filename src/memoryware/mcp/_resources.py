"""Resources: memory files and memories that clients list and read, and structured recall."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, unquote

from memoryware.errors import LoadError, SettingError
from memoryware.guard import Guard
from memoryware.mcp import _tools as tools
from memoryware.mcp._requests import ClientInfo, RequestRefused, ShownTexts, shown_text
from memoryware.middleware.memory import MemoryMiddleware
from memoryware.middleware.preview import SourcePreview
from memoryware.scope import MemoryScope, agents_shown_to
from memoryware.settings import McpLimits, TierLimits
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Entry, Memory
from memoryware.tiers.provenance import Origin, Trust
from memoryware.tiers.recall.rank import is_withheld
from memoryware.tiers.rendering import fenced, labels_of, one_line, recalled_block, shown
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import query_words, words_of
from memoryware.tiers.values import ContextItem, Recall, item_of

FILES: Final = "memoryware://files/"
MEMORIES: Final = "memoryware://memories/"
_LINE: Final = 500
"""Characters of a path in a listing."""
_TITLE: Final = 80
_ORIGIN: Final = 60
_ID_CHARS: Final = 64
_WHOLE: Final = 1_000_000
"""Characters of a memory that is read as a resource; recall shows fewer."""
NO_RESOURCE: Final = "there is no such resource; list the resources to see those that there are"
_WHY_WORDS: Final = 8
"""Words of the query that are named as the reason of a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """A resource in a listing.

    Attributes:
        uri: Its URI.
        name: Its name: the path of a file, or the beginning of the id of a memory.
        title: The same for people: the path, or the beginning of the text.
        description: Where it comes from, and how far it is trusted.
        mime_type: The type of its text.
        size: Its size in bytes.
        priority: From 0 to 1: how far it is trusted.
        changed_at: When a memory was promoted.
    """

    uri: str
    name: str
    title: str
    description: str
    mime_type: str = "text/plain"
    size: int | None = None
    priority: float | None = None
    changed_at: datetime | None = None


TEMPLATES: Final[Mapping[str, tuple[str, str, str]]] = {
    f"{FILES}{{+path}}": (
        "memory-file",
        "Memory file",
        "One memory file, by the path that list_sources names, without its first slash.",
    ),
    f"{MEMORIES}{{id}}": (
        "memory",
        "Memory",
        "One text of working or long-term memory, by the id that recall returns.",
    ),
}
"""The templates of the URIs, each with a name, a title and a description."""


class SourceReader:
    """Memory files for clients.

    Args:
        files: Reads them.
        guard: Redacts them.
        limits: The limits.
        shown_texts: What each client was shown.
    """

    def __init__(
        self,
        files: MemoryMiddleware,
        *,
        guard: Guard,
        limits: McpLimits,
        shown_texts: ShownTexts,
    ) -> None:
        self._files, self._guard = files, guard
        self._limits, self._shown = limits, shown_texts

    async def list(self) -> tuple[list[SourcePreview], int]:
        """Return the files that there are, and how many more there are.

        Returns:
            The files, as many as are listed, and the number of those that are not.
        """
        sources = [
            source for source in (await self._files.apreview()).sources if source.state != "missing"
        ]
        listed = sources[: self._limits.listed]
        return listed, len(sources) - len(listed)

    async def read(self, path: str, caller: ClientInfo) -> tuple[SourcePreview, str]:
        """Return a file that is a source, redacted.

        Args:
            path: Its path, exactly.
            caller: The client.

        Returns:
            The file, and its text.

        Raises:
            RequestRefused: If there is no such file.
            LoadError: If it cannot be read.
        """
        for source in (await self._files.apreview()).sources:
            if source.path == path and source.state != "missing":
                if source.state == "failed":
                    raise LoadError("the file", "it cannot be read just now")
                paths = (source.path, *source.imported)
                origins = [Origin.file(path, trusted=source.trusted) for path in paths]
                self._shown.add(caller, origins=origins)
                return source, self._guard.redact(source.text)
        raise RequestRefused(
            "there is no such memory file; list_sources names those that there are"
        )

    async def path_of(self, uri: str) -> str:
        """Return the path of the file with a URI.

        Args:
            uri: The URI, in any spelling of the same characters.

        Returns:
            The path of a source.

        Raises:
            RequestRefused: If no source has it.
        """
        wanted_uri = unquote(uri)
        for source in (await self.list())[0]:
            if unquote(file_uri(source.path)) == wanted_uri:
                return source.path
        raise RequestRefused(NO_RESOURCE)


class MemoryReader:
    """Memories for clients, under the rules of a recall.

    Args:
        memory: The memory.
        scope: The scope of all requests.
        limits: The limits.
        shown_texts: What each client was shown.
    """

    def __init__(
        self,
        memory: TieredMemory,
        *,
        scope: MemoryScope,
        limits: McpLimits,
        shown_texts: ShownTexts,
    ) -> None:
        self._memory, self._scope = memory, scope
        self._limits, self._shown = limits, shown_texts

    async def list(
        self, caller: ClientInfo, after: str | None
    ) -> tuple[list[ContextItem], str | None]:
        """Return a page of the current memories, newest first, and the cursor after it.

        Args:
            caller: The client.
            after: The cursor of the page before.

        Returns:
            The memories, and the cursor of the next page; None at the end.

        Raises:
            RequestRefused: For a cursor of another list.
        """
        try:
            page = await self._memory.parts.native.tiers.long_term.find(
                self._selection(), limit=self._limits.resources_listed, after=_decode_cursor(after)
            )
        except SettingError as error:
            raise RequestRefused("this cursor is not one of this list") from error
        items = [item_of(memory) for memory in page.items if not self._is_withheld(memory)]
        self._shown.add(caller, items)
        return items, None if page.next is None else _encode_cursor(page.next)

    async def read(self, id_: str, caller: ClientInfo) -> tuple[ContextItem, str]:
        """Return a text of working or long-term memory, with its label, marked as data.

        Args:
            id_: The whole id.
            caller: The client.

        Returns:
            The item, and its text.

        Raises:
            RequestRefused: If there is none that a recall might show.
        """
        parts = self._memory.parts.native
        if len(id_) <= _ID_CHARS:
            select = self._selection(ids=(id_,))
            records: list[Memory | Entry] = [*(await parts.tiers.long_term.find(select)).items]
            if not records:
                select = Select.within(self._scope, ids=(id_,), live_at=parts.clock())
                records = [*(await parts.tiers.working.find(select)).items]
            for record in records:
                if not self._is_withheld(record):
                    item = item_of(record)
                    self._shown.add(caller, [item])
                    limits = replace(self._memory.limits, item_chars=_WHOLE)
                    return item, recalled_block([item], limits=limits, note=tools.RECALL_NOTE)
        raise RequestRefused(NO_RESOURCE)

    def _selection(self, **conditions: Any) -> Select:
        """Select the memories that hold now: of the group, of the agent, and of the user alone."""
        # `is_withheld` refuses an agent id that names the memory of another user.
        agents = agents_shown_to(self._scope.user_id, self._scope.agent_id)
        now = self._memory.parts.clock()
        return Select.within(self._scope, agents=agents, live_at=now, **conditions)

    def _is_withheld(self, record: Entry | Memory) -> bool:
        return is_withheld(self._memory.parts, record, self._scope.user_id)


def _encode_cursor(mark: str) -> str:
    """Return the mark of a store as a cursor that tells clients nothing."""
    return urlsafe_b64encode(mark.encode()).decode()


def _decode_cursor(cursor: str | None) -> str | None:
    """Return the mark of a store in a cursor.

    Raises:
        SettingError: For something that is no cursor of this server.
    """
    if cursor is None:
        return None
    try:
        return urlsafe_b64decode(cursor.encode("ascii")).decode()
    except ValueError as error:
        raise SettingError("the cursor is none of ours") from error


# Resources.


def file_uri(path: str) -> str:
    """Return the URI of a memory file.

    Args:
        path: Its path.

    Returns:
        The URI.
    """
    return FILES + quote(path.encode("utf-8", "replace").decode().removeprefix("/"), safe="/~")


def memory_uri(id_: str) -> str:
    """Return the URI of a text of memory.

    Args:
        id_: Its id.

    Returns:
        The URI.
    """
    return MEMORIES + quote(id_, safe="")


def file_resource(source: SourcePreview) -> ListedResource:
    """Return a memory file as a resource.

    Args:
        source: The file.

    Returns:
        The resource.
    """
    path = one_line(source.path, _LINE)
    return ListedResource(
        uri=file_uri(source.path),
        name=path,
        title=path,
        description=source_line(source),
        mime_type="text/markdown",
        size=source.bytes,
        priority=1.0 if source.trusted else 0.0,
    )


def memory_resource(item: ContextItem) -> ListedResource:
    """Return a memory as a resource.

    Args:
        item: The memory.

    Returns:
        The resource.
    """
    return ListedResource(
        uri=memory_uri(item.id),
        name=f"memory {item.id[:8]}",
        title=one_line(item.subject or item.content, _TITLE),
        description=labels_of(item),
        size=len(item.content.encode("utf-8", "replace")),
        priority=item.trust / max(Trust),
        changed_at=item.created_at,
    )


def source_line(source: SourcePreview) -> str:
    """Describe a file in one line that cannot imitate the fence.

    Args:
        source: The file.

    Returns:
        The line.
    """
    details = [f"of the {source.owner}"] if source.owner else []
    details += [] if source.trusted else ["from outside, not trusted"]
    if source.bytes is not None:
        details.append(f"{source.bytes} bytes, about {source.whole} tokens")
    details += {"failed": ["cannot be read"], "empty": ["empty"]}.get(source.state, [])
    path = one_line(source.path, _LINE)
    return f"{path} ({'; '.join(details)})" if details else path


def source_block(source: SourcePreview, text: str) -> str:
    """Return a file marked as data.

    Args:
        source: The file.
        text: Its redacted text.

    Returns:
        The block.
    """
    lines = [source_line(source), "", shown(text) or "(it is empty)"]
    return fenced(lines, note=tools.FILE_NOTE)


# Structured results.


def source_data(source: SourcePreview) -> dict[str, Any]:
    """Return a file for a structured result.

    Args:
        source: The file.

    Returns:
        The object.
    """
    data = {
        "path": one_line(source.path, _LINE),
        "uri": file_uri(source.path),
        "owner": source.owner,
        "trusted": source.trusted,
        "bytes": source.bytes,
        "tokens": source.whole,
    }
    return {name: value for name, value in data.items() if value is not None}


def recall_data(result: Recall, query: str, limits: TierLimits) -> dict[str, Any]:
    """Return recalled texts as a structured result.

    Args:
        result: The recalled items, best first.
        query: The query.
        limits: The limits of the memory: characters of a query and of a text.

    Returns:
        The object.
    """
    words = query_words(query[: limits.query_chars])
    return {
        "note": tools.RECALL_NOTE,
        "memories": [_memory_data(item, words, limits.item_chars) for item in result],
        "contradictions": [
            {
                "first": dispute.first,
                "second": dispute.second,
                "reason": one_line(dispute.reason, None),
            }
            for dispute in result.contradictions
        ],
        "unavailable": [*result.failed],
    }


def _memory_data(item: ContextItem, words: Sequence[str], chars: int) -> dict[str, Any]:
    text = shown_text(item.content, chars)
    data = {
        "id": item.id,
        "uri": memory_uri(item.id),
        "text": text,
        "tier": item.source,
        "verified": item.verified,
        "trust": item.trust.name.lower(),
        "origin": one_line(str(item.provenance.origin), _ORIGIN),
        "time": item.created_at.isoformat(),
        "subject": None if item.subject is None else one_line(item.subject, _LINE),
        "score": round(item.score, 4),
        "why": _why(text, item, words),
    }
    return {name: value for name, value in data.items() if value is not None}


def _why(text: str, item: ContextItem, words: Sequence[str]) -> str:
    """Say why a text was found: what it shares with the query, as far as it is shown."""
    terms = {*words_of(text), *words_of(item.subject or "")}
    shared = [word for word in words if word in terms][:_WHY_WORDS]
    reasons = [f"shares with the query: {', '.join(shared)}"] if shared else []
    if item.similarity is not None:
        reasons.append(f"similar in meaning: {item.similarity:.2f}")
    return "; ".join(reasons) or "recorded lately, or said next to a text that was found"
