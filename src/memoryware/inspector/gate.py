"""Who may come in: host, session and forms are checked before any page is asked.

What stands here holds for every page, also for those that are added later: a page cannot
forget it. What a check refuses is answered here and reaches no page.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryware.events import logger
from memoryware.inspector.layout import plain_page
from memoryware.inspector.signing import same
from memoryware.inspector.site import Authenticate, Form, Site, Visit, path_in

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # "no-referrer" would make browsers send "Origin: null" with our own forms
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READS: Final = ("GET", "HEAD")
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::[0-9]{1,5})?", re.ASCII)


class Gate:
    """Lets a request pass to the pages, or says why not."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app, self._site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        request = Request(scope, receive)
        refused = self._is_stranger(request) or await self._stopped(request)
        await (refused or self._app)(scope, receive, guarded)

    def _is_stranger(self, request: Request) -> Response | None:
        """Refuse a host that is not ours: another site's name may lead to this address."""
        host = request.headers.get("host", "")
        if self._site.hosts and _name_of(host) not in self._site.hosts:
            said = f"It may be asked as {', '.join(self._site.hosts)} only."
            return _refusal(request, "This is not the address of the inspector", said, 421)
        return None

    async def _stopped(self, request: Request) -> Response | None:
        """Note who comes, or say why nobody may come like this."""
        if path_in(request).startswith("/static/") and request.method in _READS:
            return None  # nothing in there is anybody's
        if request.method not in (*_READS, "POST"):
            said = "Pages can be read, and forms can be sent."
            return _refusal(request, "This is not possible here", said, 405)
        visit = await self._visit(request)
        if isinstance(visit, Response):
            return visit
        if request.method == "POST":
            sent = await self._sent(request, visit)
            if isinstance(sent, Response):
                return sent
            visit = Visit(request, self._site, visit.by, visit.session, sent)
        request.scope.setdefault("state", {})["visit"] = visit
        return None

    async def _visit(self, request: Request) -> Visit | Response:
        site = self._site
        if site.authenticate is not None:
            try:
                by = await _named(site.authenticate, request)
            except Exception:  # noqa: BLE001 - nobody comes in, and the log has all of it
                logger.exception("who sends a request could not be found out")
                said = "It could not be found out who you are. The log of the server says why."
                return _refusal(request, "Nobody can come in now", said, 503)
            if by is None:
                said = "You have to sign in where this inspector is a part of."
                return _refusal(request, "You are not signed in", said, 401)
            return Visit(request, site, by, f"by:{by}")
        session = request.cookies.get(site.keys.cookie, "")
        known = site.keys.is_session(session, site.limits.session_hours)
        token = request.query_params.get("token")
        if token is not None and request.method == "GET":
            return self._exchanged(request, token, known=known)
        if known:
            return Visit(request, site, site.by, session)
        said = "Open the address that was printed when it was started; it has a token in it."
        return _refusal(request, "You are not signed in", said, 401)

    def _exchanged(self, request: Request, token: str, *, known: bool) -> Response:
        """Answer a token by a cookie; who has one already comes in without."""
        keys = self._site.keys
        session = None if known else keys.exchange(token)
        if session is None and not known:
            said = (
                "Each works once. Start the inspector again for a new one, or use the browser in"
                " which it was opened first."
            )
            return _refusal(request, "This token is wrong or was used", said, 403)
        answer = RedirectResponse(_root(request) + "/", status_code=303)
        if session is not None:
            answer.set_cookie(
                keys.cookie,
                session,
                path=_root(request) or "/",
                httponly=True,
                samesite="strict",
                secure=request.url.scheme == "https",
            )
        return answer

    async def _sent(self, request: Request, visit: Visit) -> Form | Response:
        """Return the fields of a form of ours."""
        if not _is_ours(request):
            said = "The form was sent from another site, so nothing was done."
            return _refusal(request, "This form is not ours", said, 403)
        try:
            async with asyncio.timeout(self._site.limits.form_seconds):
                body = await _body(request, self._site.limits.form_bytes)
        except (TimeoutError, ClientDisconnect):
            said = "It did not arrive whole, so nothing was done."
            return _refusal(request, "This form took too long", said, 408)
        if body is None:
            said = f"A form may have {self._site.limits.form_bytes:,} bytes. Nothing was done."
            return _refusal(request, "This is too much at once", said, 413)
        try:
            fields = parse_qs(
                body.decode(), keep_blank_values=True, max_num_fields=self._site.limits.form_fields
            )
        except ValueError:
            said = "The form cannot be read, so nothing was done. Load the page anew."
            return _refusal(request, "This form cannot be read", said, 400)
        form = Form(fields)
        if not same(form.one("csrf"), visit.form_token):
            said = "It may be from before the inspector was started. Load the page anew."
            return _refusal(request, "This form has expired", said, 403)
        leaves = path_in(request) == "/leave"
        if self._site.read_only and not leaves:
            said = "The inspector was started read-only, so nothing was done."
            return _refusal(request, "Nothing can be changed here", said, 403)
        return form


async def _named(authenticate: Authenticate, request: Request) -> str | None:
    """Return who an app says a visitor is; what is no name is nobody."""
    said: Any = authenticate(request)
    by = await said if inspect.isawaitable(said) else said
    return by if isinstance(by, str) and by.strip() else None


def _is_ours(request: Request) -> bool:
    """Say whether a form was sent from a page of this host; a browser says so by itself."""
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    if origin is not None:
        return bool(host) and origin.partition("://")[2] == host
    return request.headers.get("sec-fetch-site") == "same-origin"


async def _body(request: Request, most: int) -> bytes | None:
    """Return what was sent; None if it is too much, which is not read to its end."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body


def _name_of(host: str) -> str:
    """Return the name of a host without its port; "" for what is no host."""
    known = _HOST.fullmatch(host)
    return known[1].lower() if known else ""


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _refusal(request: Request, title: str, said: str, status: int) -> Response:
    return plain_page(_root(request), title, said, status)
