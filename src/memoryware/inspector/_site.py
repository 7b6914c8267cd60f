"""The types of the inspector: site, visit, form and section."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memoryware.inspector._signing import Keys
from memoryware.scope import MemoryScope
from memoryware.settings import InspectorLimits

if TYPE_CHECKING:
    from memoryware.tiers import TieredMemory

Authenticate: TypeAlias = Callable[[Request], str | Awaitable[str | None] | None]
"""Returns the name of who sends a request; None to refuse it."""
GroupsOf: TypeAlias = Callable[[str], Iterable[str] | Awaitable[Iterable[str]]]
"""Returns the groups that a visitor may see, by the name of the visitor."""
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The host names of this machine."""
Cache: TypeAlias = dict[str, tuple[float, Any]]
"""Values by name, with the time when they were computed."""
WAITING_COUNT: Final = "waiting"
"""Name of the cached number of waiting entries."""
_DIGITS: Final = 12


def path_in(request: Request) -> str:
    """Return the path of a request in the inspector, without its mount point.

    It is not read from `request.url`, which depends on the Host header.
    """
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return str(request.scope["path"]).removeprefix(root) or "/"


def number_in(text: str) -> int | None:
    """Parse a number of a URL or form; None if it is none or too long."""
    if len(text) > _DIGITS or not (text.isascii() and text.isdecimal()):
        return None
    return int(text)


@dataclass(frozen=True)
class Site:
    """The configuration and state of one inspector.

    Attributes:
        memory: The memory.
        scope: The tenant, and the group that is shown first.
        groups: The groups that visitors may see beside it: names, or a function.
        files: The history of the memory files, if there is one.
        by: Who acts, unless `authenticate` says so.
        read_only: Whether changes are refused.
        can_forget: Whether visitors may delete records for good.
        authenticate: Identifies visitors; without it they need the printed token.
        hosts: The allowed host names; empty for any.
        limits: The limits.
        sections: The pages, in the order of the navigation.
        keys: What signs sessions and forms.
        deciding: A lock of decisions, so that the second of two sees the first.
        cache: For each group, values by name with the time when they were computed.
    """

    memory: TieredMemory
    scope: MemoryScope
    by: str
    groups: Sequence[str] | GroupsOf = ()
    files: Any = None
    read_only: bool = False
    can_forget: bool = False
    authenticate: Authenticate | None = None
    hosts: tuple[str, ...] = LOOPBACK
    limits: InspectorLimits = field(default_factory=InspectorLimits)
    sections: tuple[Section, ...] = ()
    keys: Keys = field(default_factory=Keys)
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)
    cache: dict[str, Cache] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmittedForm:
    """The fields of a form."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of a field."""
        values = self.fields.get(name)
        return values[0] if values else default

    def many(self, name: str) -> tuple[str, ...]:
        """Return all values of a field, without duplicates."""
        return tuple(dict.fromkeys(self.fields.get(name, ())))


@dataclass(frozen=True)
class Visit:
    """An authenticated request to a page.

    Attributes:
        request: The request.
        site: The inspector.
        by: Who sends it.
        session: The session; signatures depend on it.
        form: The form that was sent with it.
        groups: The groups that the visitor may see.
        group: The one that is shown.
    """

    request: Request
    site: Site
    by: str
    session: str
    form: SubmittedForm = field(default_factory=SubmittedForm)
    groups: tuple[str, ...] = ()
    group: str = ""

    @property
    def memory(self) -> TieredMemory:
        """The memory of the inspector."""
        return self.site.memory

    @property
    def scope(self) -> MemoryScope:
        """The tenant of the inspector, and the group that is shown."""
        own = self.site.scope
        return own if self.is_first_group else replace(own, group_id=self.group)

    @property
    def cache(self) -> Cache:
        """The cached values of the group that is shown."""
        return self.site.cache.setdefault(self.scope.group_id or "", {})

    @property
    def waiting(self) -> int | None:
        """How many entries wait for a decision; None if that was not counted yet.

        The navigation, the titles, the overview and the review queue all show this number.
        """
        cached = self.cache.get(WAITING_COUNT)
        return None if cached is None else int(cached[1])

    @property
    def is_first_group(self) -> bool:
        """Whether the group is the one that is shown first, which URLs do not name."""
        return self.group in ("", self.site.scope.group_id)

    @property
    def limits(self) -> InspectorLimits:
        """The limits of the inspector."""
        return self.site.limits

    def param(self, name: str, default: str = "") -> str:
        """Return a parameter of the query.

        Args:
            name: The name of the parameter.
            default: Returned if the URL does not have it.

        Returns:
            Its value.
        """
        return self.request.query_params.get(name, default)

    def url(self, path: str, **query: str | int | None) -> str:
        """Return the URL of a page, wherever the inspector is mounted.

        Args:
            path: The path of the page in the inspector.
            query: Parameters; None and "" are left out. The group is added if it is not the
                first one, so that the URL shows the same to others.

        Returns:
            An absolute path with a query.
        """
        if not self.is_first_group:
            query = {"group": self.group, **query}
        root = str(self.request.scope.get("root_path", "")).rstrip("/")
        encoded = urlencode({key: value for key, value in query.items() if value not in (None, "")})
        return f"{root}{quote(path)}{'?' if encoded else ''}{encoded}"

    def redirect(
        self, path: str, message: str = "", undo: Undo | None = None, /, **query: str | int | None
    ) -> Response:
        """Redirect to a page, which shows a message.

        Args:
            path: The path of the page in the inspector.
            message: Shown at the top of the page; signed, so that no link can forge one.
            undo: What it takes to undo the action; the page has a form for that.
            query: Further parameters of the URL.

        Returns:
            A redirect.
        """
        signed = self.site.keys.message(self.session, message) if message else None
        token = None
        if undo is not None:
            record = {**undo, "back": [path, {key: value for key, value in query.items() if value}]}
            token = self.site.keys.undo(self.session, record)
            token = token if len(token) <= self.limits.undo_chars else None
        url = self.url(path, **query, said=signed, undo=token)
        return RedirectResponse(url, status_code=303)

    @property
    def undo(self) -> Undo | None:
        """What it takes to undo the last action, from the URL or the form; None without one."""
        value = self.form.get("undo") or self.param("undo")
        if not value:
            return None
        return self.site.keys.undo_in(self.session, value, self.limits.session_hours)

    @property
    def message(self) -> str | None:
        """The message that `redirect` signed; None without one."""
        value = self.param("said")
        return self.site.keys.message_in(self.session, value) if value else None

    @property
    def form_token(self) -> str:
        """The CSRF token that every form must contain."""
        return self.site.keys.form_token(self.session)


Undo: TypeAlias = dict[str, Any]
"""What it takes to undo an action, as JSON: "kind", "label", and what the kind needs."""
Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]
"""Handles a visit."""


@dataclass(frozen=True)
class Section:
    """An entry of the navigation with its pages.

    Attributes:
        label: Its name; "" for pages without an entry in the navigation.
        path: Its first page.
        gets: Handlers of GET, by path.
        posts: Handlers of POST, by path.
        shown: Whether an inspector has this section.
        shows_waiting: Whether its entry shows how many entries wait for a decision.
    """

    label: str
    path: str
    gets: Mapping[str, Handler]
    posts: Mapping[str, Handler] = field(default_factory=dict)
    shown: Callable[[Site], bool] = lambda _: True
    shows_waiting: bool = False
