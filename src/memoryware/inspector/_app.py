"""`inspector`: the pages as an ASGI app; `serve`: the app on a port of this machine."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from memoryware._http_heads import head_timeout
from memoryware.errors import (
    EntryMissing,
    EntryRefused,
    FileError,
    MemorywareError,
    PromotionRefused,
    SettingError,
    StoreUnavailable,
    VersionMissing,
)
from memoryware.events import logger
from memoryware.inspector._auth import AuthMiddleware
from memoryware.inspector._layout import page, plain_page
from memoryware.inspector._markup import h, visible
from memoryware.inspector._pages import SECTIONS
from memoryware.inspector._review_queue import count_waiting
from memoryware.inspector._signing import Keys
from memoryware.inspector._site import (
    LOOPBACK,
    Authenticate,
    GroupsOf,
    Handler,
    Section,
    Site,
    Visit,
)
from memoryware.scope import MemoryScope
from memoryware.settings import InspectorLimits
from memoryware.tiers import TieredMemory
from memoryware.tiers.actors import DecisionActor

_STATIC: Final = Path(__file__).parent / "static"
_STATUS: Final[tuple[tuple[type[Exception], int], ...]] = (
    (EntryMissing, 404),
    (PromotionRefused, 409),
    (EntryRefused, 422),
    (VersionMissing, 404),
    (FileError, 422),
    (SettingError, 422),
    (StoreUnavailable, 503),
)


def inspector(
    memory: TieredMemory,
    *,
    scope: MemoryScope | str,
    by: str,
    groups: Sequence[str] | GroupsOf = (),
    files: Any = None,
    read_only: bool = False,
    can_forget: bool | None = None,
    authenticate: Authenticate | None = None,
    hosts: Sequence[str] | None = None,
    limits: InspectorLimits | None = None,
    keys: Keys | None = None,
) -> Starlette:
    """Make the inspector, an ASGI app with pages to browse and review a memory.

    Alone it requires the token of `keys`, and a host name of this machine. In an app of your
    own, mount it at any path and identify visitors with `authenticate`.

    Args:
        memory: The memory.
        scope: The scope or group for every visitor: exactly this tenant, and this group first.
        by: Who acts, if `authenticate` is not given.
        groups: Further groups of the tenant that visitors may see: their names, or a function
            (which may be async) that returns those of a visitor by name. It is called for each
            request.
        files: A `HistoryBackend` with the memory files; without it there are no pages for files.
        read_only: Refuse all changes.
        can_forget: Let visitors delete records for good, after a preview. None allows it only
            without `authenticate`, to the person whose machine this is.
        authenticate: Returns the name of who sends a request, None to refuse it. It may be
            async. It replaces the token, and allows any host unless `hosts` is given.
        hosts: The allowed host names, without a port.
        limits: The limits.
        keys: Signs sessions; processes that share visitors need the same secret.

    Returns:
        The app, for `serve`, any ASGI server, or `Mount`.

    Raises:
        SettingError: If `by` or the group of the scope is empty, or `groups` is one text.
    """
    DecisionActor.of(by)
    owner = MemoryScope(group_id=scope) if isinstance(scope, str) else scope
    if not owner.group_id:
        raise SettingError(
            "scope: a group is required; pass its name, or a MemoryScope with group_id"
        )
    if isinstance(groups, str):
        raise SettingError(f"groups={groups!r}: pass a list of names, such as [{groups!r}]")
    default_hosts = () if authenticate is not None else LOOPBACK
    site = Site(
        memory=memory,
        scope=owner,
        by=by,
        groups=groups if callable(groups) else tuple(groups),
        files=files,
        read_only=read_only,
        can_forget=authenticate is None if can_forget is None else can_forget,
        authenticate=authenticate,
        hosts=default_hosts if hosts is None else tuple(host.lower() for host in hosts),
        limits=limits or InspectorLimits(),
        keys=keys or Keys(),
    )
    site = replace(site, sections=tuple(section for section in SECTIONS if section.shown(site)))
    app = Starlette(
        routes=_routes(site.sections),
        middleware=[Middleware(AuthMiddleware, site=site)],
        exception_handlers={HTTPException: _no_page},
    )
    app.state.site = site
    return app


def _routes(sections: Sequence[Section]) -> list[BaseRoute]:
    routes: list[BaseRoute] = [Mount("/static", StaticFiles(directory=_STATIC), name="static")]
    for section in sections:
        routes += [Route(path, _endpoint(handler)) for path, handler in section.gets.items()]
        routes += [
            Route(path, _endpoint(handler), methods=["POST"])
            for path, handler in section.posts.items()
        ]
    return [*routes, Route("/leave", _endpoint(_leave), methods=["POST"])]


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        visit: Visit = request.state.visit
        try:
            if request.method != "POST":
                await count_waiting(visit)
            return await handler(visit)
        except MemorywareError as error:
            status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
            return _problem(visit, "This failed", str(error), status)
        except HTTPException:
            raise
        except Exception:  # noqa: BLE001 - the page has a sentence, the log the traceback
            logger.exception("a page of the inspector failed")
            message = "An internal error of the inspector. The log has the details."
            return _problem(visit, "This failed", message, 500)

    return answer


def _problem(visit: Visit, title: str, text: str, status: int) -> Response:
    back = visit.url("/")
    if visit.request.method == "POST":
        back = visit.url(visit.form.get("back", "/")) if _is_path(visit) else back
    link = h.a("Go back", href=back, class_="button")
    problem = h.p(visible(text), class_="problem", role="alert")
    return page(visit, title, problem, h.p(link), status=status)


def _is_path(visit: Visit) -> bool:
    back = visit.form.get("back", "/")
    return back.startswith("/") and not back.startswith(("//", "/\\"))


async def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    title = "Page not found" if status == 404 else "Method not allowed"
    text = "The page may have moved, or the URL is incomplete."
    visit = getattr(request.state, "visit", None)
    if visit is None:
        return plain_page(str(request.scope.get("root_path", "")), title, text, status)
    return _problem(visit, title, text, status)


async def _leave(visit: Visit) -> Response:
    visit.site.keys.end(visit.session)
    answer = RedirectResponse(visit.url("/"), status_code=303)
    root = str(visit.request.scope.get("root_path", "")).rstrip("/")
    answer.delete_cookie(visit.site.keys.cookie, path=root or "/")
    return answer


# Serving.

_BACKLOG: Final = 128


def serve(
    app: Starlette,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the inspector until the process is interrupted.

    Args:
        app: The app that `inspector` returned.
        host: The address to listen on; the default is reachable from this machine only.
        port: The port; 0 chooses a free one.
        ready: Called with the URL to open, with its token, once the port is open.

    Raises:
        SettingError: If the port is not available.
    """
    site: Site = app.state.site
    with closing(_open_socket(host, port)) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        token = f"?token={site.keys.token}" if site.authenticate is None else ""
        config = uvicorn.Config(
            app,
            http=head_timeout(site.limits.head_seconds),
            log_level="warning",
            access_log=False,  # the token of the first request would be in it
            server_header=False,
            h11_max_incomplete_event_size=site.limits.head_bytes,
            timeout_graceful_shutdown=site.limits.stop_seconds,
        )
        ready(address + token)
        with suppress(KeyboardInterrupt):  # Ctrl-C is the way to stop it
            uvicorn.Server(config).run(sockets=[listener])


def _open_socket(host: str, port: int) -> socket.socket:
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on sockets that name IPPROTO_TCP. Without it, Nagle's algorithm
    # and delayed acknowledgements add some 40 ms to each page.
    listener = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingError(
            f"port={port}: not available at {host} ({error.strerror or error}); use another one,"
            " or 0 for a free one"
        ) from None
    return listener
