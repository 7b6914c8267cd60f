"""Requests of clients: who asks, what they were shown, and the errors that they get."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memoryware.errors import EntryRefused, MemorywareError, StoreUnavailable
from memoryware.events import logger
from memoryware.settings import McpLimits
from memoryware.tiers.provenance import Origin
from memoryware.tiers.rendering import cut, shown
from memoryware.tiers.values import ContextItem

_LOOKED_AT: Final = 20
"""A text is looked at to so many times the length that is shown; hidden characters go."""
_SESSION_CHARS: Final = 16
"""Characters of the digest of a session; who reads records must not learn the session itself."""


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client of a request.

    Attributes:
        session: The session of the transport; "" for standard input and output.
        client: The name that the client gives itself; recorded, but not trusted.
        is_remote: Whether it came over HTTP. Without a session, as in the protocol of 2026-07-28,
            clients with the same name cannot be told apart there.
    """

    session: str = ""
    client: str = ""
    is_remote: bool = False

    @property
    def connection(self) -> str:
        """The connection, as records have it: equal for all requests of one client."""
        if self.session:
            digest = hashlib.sha256(self.session.encode("utf-8", "replace")).hexdigest()
            return f"http:{digest[:_SESSION_CHARS]}"
        return "http" if self.is_remote else "stdio"

    @property
    def key(self) -> tuple[str, str]:
        """The key of what is kept for the client while the server runs."""
        return self.connection, self.client


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The result of a tool call.

    Attributes:
        text: The result as text.
        ok: Whether the call succeeded.
        data: The structured result, by the schema of the tool; None if the call failed.
    """

    text: str
    ok: bool = True
    data: Mapping[str, Any] | None = None


class RequestRefused(Exception):
    """An invalid request; the message is a sentence for the client, without its period."""


class RequestFailed(Exception):
    """A request that could not be answered; the message is a sentence for the client.

    Args:
        message: The sentence.
        is_invalid: Whether the request itself was wrong.
    """

    def __init__(self, message: str, *, is_invalid: bool = False) -> None:
        super().__init__(message)
        self.is_invalid = is_invalid


def failure_of(name: str, error: Exception) -> RequestFailed:
    """Return what a client is told about an error, and log the type of the error.

    The sentence quotes neither stored texts nor the request.

    Args:
        name: The tool, resource or prompt that was asked for.
        error: The error.

    Returns:
        The error for the client.
    """
    if isinstance(error, RequestRefused):
        return RequestFailed(f"{error}.", is_invalid=True)
    if isinstance(error, EntryRefused):
        return RequestFailed(
            "this text cannot be kept; write it shorter, as plain text.", is_invalid=True
        )
    kind = type(error).__name__
    logger.warning("the MCP request %s failed: %s", name, kind)
    logger.debug("details of the failure", exc_info=error)
    if isinstance(error, StoreUnavailable):
        return RequestFailed(f"memory cannot be reached just now ({kind}). Go on without it.")
    if isinstance(error, MemorywareError):
        return RequestFailed(f"memory refused it ({kind}). Go on without it.")
    return RequestFailed("something went wrong in memory. Go on without it.")


def shown_text(text: str, chars: int) -> str:
    """Return a stored text for a structured result: no hidden characters, no forged fences.

    Args:
        text: The text.
        chars: How many characters at most.

    Returns:
        The text, cut with a mark at its end.
    """
    # A text may be much longer than what is shown of it.
    return cut(shown(text[: chars * _LOOKED_AT]), chars)


class ShownTexts:
    """What each client was shown: the lineage of its next notes.

    Args:
        limits: How many texts of a client are kept, and of how many clients.
    """

    def __init__(self, limits: McpLimits) -> None:
        self._limits = limits
        self._items: OrderedDict[tuple[str, str], OrderedDict[str, ContextItem]] = OrderedDict()
        self._origins: OrderedDict[tuple[str, str], OrderedDict[Origin, None]] = OrderedDict()

    def add(
        self, caller: ClientInfo, items: Iterable[ContextItem] = (), origins: Iterable[Origin] = ()
    ) -> None:
        """Note what a client is shown.

        Args:
            caller: The client.
            items: Recalled entries and memories.
            origins: Origins of other texts, such as memory files.
        """
        self._keep(self._items, caller, {item.id: item for item in items})
        self._keep(self._origins, caller, dict.fromkeys(origins))

    def items(self, caller: ClientInfo) -> tuple[ContextItem, ...]:
        """Return the entries and memories that a client was shown.

        Args:
            caller: The client.

        Returns:
            The items, the newest last.
        """
        return tuple(self._items.get(caller.key, {}).values())

    def roots(self, caller: ClientInfo) -> tuple[Origin, ...]:
        """Return the origins of all that a client was shown.

        Args:
            caller: The client.

        Returns:
            The origins.
        """
        items = self.items(caller)
        of_items = (root for item in items for root in item.provenance.roots)
        return tuple(dict.fromkeys((*of_items, *self._origins.get(caller.key, {}))))

    def _keep(
        self,
        shown: OrderedDict[tuple[str, str], OrderedDict[Any, Any]],
        caller: ClientInfo,
        new: Mapping[Any, Any],
    ) -> None:
        if not new:
            return
        texts = shown.setdefault(caller.key, OrderedDict())
        shown.move_to_end(caller.key)
        for key, value in new.items():
            texts[key] = value
            texts.move_to_end(key)
        while len(texts) > self._limits.remembered:
            texts.popitem(last=False)
        while len(shown) > self._limits.clients:
            shown.popitem(last=False)
