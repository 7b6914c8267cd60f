"""Authentication: checks of the host, the session and the form token of every request.

They run before any page, also before pages that are added later: no page can leave them out.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryware.events import logger
from memoryware.inspector._layout import plain_page
from memoryware.inspector._signing import same
from memoryware.inspector._site import Authenticate, Site, SubmittedForm, Visit, path_in

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


class AuthMiddleware:
    """ASGI middleware: checks host, session and form token, and refuses a request with a page."""

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
        refused = self._check_host(request) or await self._authenticate(request)
        await (refused or self._app)(scope, receive, guarded)

    def _check_host(self, request: Request) -> Response | None:
        """Refuse an unknown host name (DNS rebinding)."""
        host = request.headers.get("host", "")
        if self._site.hosts and _host_name(host) not in self._site.hosts:
            message = f"Allowed host names: {', '.join(self._site.hosts)}."
            return _refusal(request, "Wrong host name", message, 421)
        return None

    async def _authenticate(self, request: Request) -> Response | None:
        """Authenticate a request, and set its visit; return a page that refuses it otherwise."""
        if path_in(request).startswith("/static/") and request.method in _READS:
            return None  # the same files for everybody
        if request.method not in (*_READS, "POST"):
            message = "Only GET, HEAD and POST are allowed."
            return _refusal(request, "Method not allowed", message, 405)
        visit = await self._visit(request)
        if isinstance(visit, Response):
            return visit
        visit = await self._choose_group(request, visit)
        if isinstance(visit, Response):
            return visit
        if request.method == "POST":
            form = await self._read_form(request, visit)
            if isinstance(form, Response):
                return form
            visit = replace(visit, form=form)
        request.scope.setdefault("state", {})["visit"] = visit
        return None

    async def _visit(self, request: Request) -> Visit | Response:
        site = self._site
        if site.authenticate is not None:
            try:
                by = await _call_authenticate(site.authenticate, request)
            except Exception:  # noqa: BLE001 - refused; the log has the traceback
                logger.exception("authenticate failed")
                message = "The server could not authenticate you. Its log has the details."
                return _refusal(request, "Authentication failed", message, 503)
            if by is None:
                message = "Sign in to the application that this inspector belongs to."
                return _refusal(request, "You are not signed in", message, 401)
            return Visit(request, site, by, f"by:{by}")
        session = request.cookies.get(site.keys.cookie, "")
        has_session = site.keys.is_session(session, site.limits.session_hours)
        token = request.query_params.get("token")
        if token is not None and request.method == "GET":
            return self._exchange_token(request, token, has_session=has_session)
        if has_session:
            return Visit(request, site, site.by, session)
        message = "Open the URL that was printed when the inspector started; it contains a token."
        return _refusal(request, "You are not signed in", message, 401)

    async def _choose_group(self, request: Request, visit: Visit) -> Visit | Response:
        """Set the group that the URL names, if the visitor may see it."""
        own = self._site.scope.group_id or ""
        try:
            names = await _call_groups(self._site, visit.by)
        except Exception:  # noqa: BLE001 - refused; the log has the traceback
            logger.exception("groups failed")
            message = "The server could not list your groups. Its log has the details."
            return _refusal(request, "The groups are not available", message, 503)
        groups = tuple(dict.fromkeys((own, *names)))
        group = request.query_params.get("group") or own
        if group not in groups:
            # The same for a group that does not exist: nobody learns which ones there are.
            message = "There is no group of this name, or you may not see it."
            return _refusal(request, "Unknown group", message, 404)
        return replace(visit, groups=groups, group=group)

    def _exchange_token(self, request: Request, token: str, *, has_session: bool) -> Response:
        """Exchange a token for a session cookie, unless the visitor has one."""
        keys = self._site.keys
        session = None if has_session else keys.exchange(token)
        if session is None and not has_session:
            message = (
                "A token works once. Restart the inspector for a new one, or use the browser in"
                " which it was used."
            )
            return _refusal(request, "Invalid or used token", message, 403)
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

    async def _read_form(self, request: Request, visit: Visit) -> SubmittedForm | Response:
        """Read a form, and check its origin, size and token."""
        if not _is_same_origin(request):
            message = "The form was sent from another site, so nothing was changed."
            return _refusal(request, "Form from another site", message, 403)
        try:
            async with asyncio.timeout(self._site.limits.form_seconds):
                body = await _read_body(request, self._site.limits.form_bytes)
        except (TimeoutError, ClientDisconnect):
            message = "The form did not arrive completely, so nothing was changed."
            return _refusal(request, "Form timed out", message, 408)
        if body is None:
            message = (
                f"A form may have {self._site.limits.form_bytes:,} bytes. Nothing was changed."
            )
            return _refusal(request, "Form too large", message, 413)
        try:
            fields = parse_qs(
                body.decode(), keep_blank_values=True, max_num_fields=self._site.limits.form_fields
            )
        except ValueError:
            message = "The form is invalid, so nothing was changed. Reload the page."
            return _refusal(request, "Invalid form", message, 400)
        form = SubmittedForm(fields)
        if not same(form.get("csrf"), visit.form_token):
            message = "The inspector may have been restarted. Reload the page."
            return _refusal(request, "Expired form", message, 403)
        leaves = path_in(request) == "/leave"
        if self._site.read_only and not leaves:
            message = "The inspector is read-only, so nothing was changed."
            return _refusal(request, "Read-only", message, 403)
        return form


async def _call_authenticate(authenticate: Authenticate, request: Request) -> str | None:
    """Call `authenticate`; anything but a name refuses the request."""
    name: Any = authenticate(request)
    by = await name if inspect.isawaitable(name) else name
    return by if isinstance(by, str) and by.strip() else None


async def _call_groups(site: Site, by: str) -> list[str]:
    """Return the names of the groups that a visitor may see, sorted."""
    if callable(site.groups):
        listed: Any = site.groups(by)
        names = await listed if inspect.isawaitable(listed) else listed
    else:
        names = site.groups
    return sorted({name for name in names if isinstance(name, str) and name.strip()})


def _is_same_origin(request: Request) -> bool:
    """Whether a form was sent from a page of this host, by the headers that browsers set."""
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    if origin is not None:
        return bool(host) and origin.partition("://")[2] == host
    return request.headers.get("sec-fetch-site") == "same-origin"


async def _read_body(request: Request, limit: int) -> bytes | None:
    """Read the body; None if it is longer than `limit`, without reading the rest."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    return body


def _host_name(host: str) -> str:
    """Return a host name without its port; "" for an invalid header."""
    match = _HOST.fullmatch(host)
    return match[1].lower() if match else ""


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _refusal(request: Request, title: str, text: str, status: int) -> Response:
    return plain_page(_root(request), title, text, status)
