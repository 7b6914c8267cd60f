"""What the pages stand on: the memory that is shown, who looks at it, and the request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memoryware.inspector.signing import Keys
from memoryware.scope import MemoryScope
from memoryware.settings import InspectorLimits

if TYPE_CHECKING:
    from memoryware.tiers.client.memory import TieredMemory

Authenticate: TypeAlias = Callable[[Request], str | Awaitable[str | None] | None]
"""Says who sends a request, by name; None if nobody who may come in."""
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The names under which a browser on the same machine may ask."""
_DIGITS: Final = 12


def path_in(request: Request) -> str:
    """Return the path of a request within the inspector, as its routes see it.

    It is not read from `request.url`, which a forged Host header has a part in.
    """
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return str(request.scope["path"]).removeprefix(root) or "/"


def number_in(text: str) -> int | None:
    """Return a number that an address or a form has; None for what is none, or too long."""
    if len(text) > _DIGITS or not (text.isascii() and text.isdecimal()):
        return None
    return int(text)


@dataclass(frozen=True)
class Site:
    """One inspector.

    Attributes:
        memory: What is shown.
        scope: Whose memory: exactly this tenant and group.
        files: The history of the memory files, if there is one.
        by: Who acts, where nobody else says so.
        read_only: Whether nothing can be changed.
        authenticate: Says who sends a request; without it the printed token does.
        hosts: The names under which it may be asked; empty for any.
        limits: Every limit.
        sections: The pages, in the order of the navigation.
        keys: What signs sessions and forms.
        deciding: Held while something is decided, so that the second sees what the first did.
        kept: What was counted, for a few seconds.
    """

    memory: TieredMemory
    scope: MemoryScope
    by: str
    files: Any = None
    read_only: bool = False
    authenticate: Authenticate | None = None
    hosts: tuple[str, ...] = LOOPBACK
    limits: InspectorLimits = field(default_factory=InspectorLimits)
    sections: tuple[Section, ...] = ()
    keys: Keys = field(default_factory=Keys)
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)
    kept: dict[str, tuple[float, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """The fields of a form that was sent."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def one(self, name: str, default: str = "") -> str:
        """Return the value of a field."""
        values = self.fields.get(name)
        return values[0] if values else default

    def many(self, name: str) -> tuple[str, ...]:
        """Return the values of fields of the same name, each once."""
        return tuple(dict.fromkeys(self.fields.get(name, ())))


@dataclass(frozen=True)
class Visit:
    """One request to a page, from somebody who may make it.

    Attributes:
        request: The request.
        site: The inspector.
        by: Who makes it.
        session: What tells this visitor from others.
        form: What was sent with it.
    """

    request: Request
    site: Site
    by: str
    session: str
    form: Form = field(default_factory=Form)

    @property
    def memory(self) -> TieredMemory:
        """What is shown."""
        return self.site.memory

    @property
    def scope(self) -> MemoryScope:
        """Whose memory it is."""
        return self.site.scope

    @property
    def limits(self) -> InspectorLimits:
        """Every limit."""
        return self.site.limits

    def asked(self, name: str, default: str = "") -> str:
        """Return a parameter of the address."""
        return self.request.query_params.get(name, default)

    def url(self, path: str, **query: str | int | None) -> str:
        """Return the address of a page, wherever the inspector is mounted."""
        root = str(self.request.scope.get("root_path", "")).rstrip("/")
        said = urlencode({key: one for key, one in query.items() if one not in (None, "")})
        return f"{root}{quote(path)}{'?' if said else ''}{said}"

    def go(self, path: str, said: str = "", **query: str | int | None) -> Response:
        """Send the visitor to a page, which then says what was done."""
        message = self.site.keys.message(self.session, said) if said else None
        return RedirectResponse(self.url(path, **query, said=message), status_code=303)

    @property
    def said(self) -> str | None:
        """What the page before has to say."""
        value = self.asked("said")
        return self.site.keys.message_in(self.session, value) if value else None

    @property
    def form_token(self) -> str:
        """What every form must carry."""
        return self.site.keys.form_token(self.session)


Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]
"""Answers a visit."""


@dataclass(frozen=True)
class Section:
    """Pages that belong together, under one name in the navigation.

    Attributes:
        label: Its name; "" for pages that only others lead to.
        path: Its first page.
        gets: The pages, by path.
        posts: What forms are sent to, by path.
        shown: Whether this inspector has it.
    """

    label: str
    path: str
    gets: Mapping[str, Handler]
    posts: Mapping[str, Handler] = field(default_factory=dict)
    shown: Callable[[Site], bool] = lambda _: True
