"""`inspector`: the pages as an ASGI app, which may be mounted in one of yours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

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
from memoryware.inspector.gate import Gate
from memoryware.inspector.layout import page, plain_page
from memoryware.inspector.markup import h
from memoryware.inspector.pages import SECTIONS
from memoryware.inspector.signing import Keys
from memoryware.inspector.site import LOOPBACK, Authenticate, Handler, Section, Site, Visit
from memoryware.inspector.texts import visible
from memoryware.scope import MemoryScope
from memoryware.settings import InspectorLimits
from memoryware.tiers.actors import Actor
from memoryware.tiers.client.memory import TieredMemory

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
    files: Any = None,
    read_only: bool = False,
    authenticate: Authenticate | None = None,
    hosts: Sequence[str] | None = None,
    limits: InspectorLimits | None = None,
    keys: Keys | None = None,
) -> Starlette:
    """Return the pages that show a memory, as an ASGI app.

    Alone it lets in who brings the token of `keys` from an address on this machine. In an app
    of yours, mount it at any path and say with `authenticate` who a visitor is.

    Args:
        memory: What is shown.
        scope: Whose memory: exactly this tenant and group, for every visitor.
        by: Who acts, where `authenticate` does not say.
        files: The history of the memory files; without it the pages of files are left out.
        read_only: Refuse every change.
        authenticate: Returns the name of who sends a request, None for a stranger. It may be
            async. There is no token then, and any host, unless `hosts` says which.
        hosts: The names under which it may be asked, without a port.
        limits: Every limit.
        keys: What signs sessions; processes that share visitors need the same secret.

    Raises:
        SettingError: If `by` or the scope names nobody.
    """
    Actor.of(by)
    where = MemoryScope(group_id=scope) if isinstance(scope, str) else scope
    if not where.group_id:
        raise SettingError("scope: name the group whose memory is shown")
    known = () if authenticate is not None else LOOPBACK
    site = Site(
        memory=memory,
        scope=where,
        by=by,
        files=files,
        read_only=read_only,
        authenticate=authenticate,
        hosts=known if hosts is None else tuple(one.lower() for one in hosts),
        limits=limits or InspectorLimits(),
        keys=keys or Keys(),
    )
    site = replace(site, sections=tuple(one for one in SECTIONS if one.shown(site)))
    app = Starlette(
        routes=_routes(site.sections),
        middleware=[Middleware(Gate, site=site)],
        exception_handlers={HTTPException: _no_page},
    )
    app.state.site = site
    return app


def _routes(sections: Sequence[Section]) -> list[BaseRoute]:
    routes: list[BaseRoute] = [Mount("/static", StaticFiles(directory=_STATIC), name="static")]
    for section in sections:
        routes += [Route(path, _endpoint(one)) for path, one in section.gets.items()]
        routes += [
            Route(path, _endpoint(one), methods=["POST"]) for path, one in section.posts.items()
        ]
    return [*routes, Route("/leave", _endpoint(_leave), methods=["POST"])]


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        visit: Visit = request.state.visit
        try:
            return await handler(visit)
        except MemorywareError as error:
            status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
            return _problem(visit, "This did not work", str(error), status)
        except HTTPException:
            raise
        except Exception:  # noqa: BLE001 - a visitor is told a sentence; the log has all of it
            logger.exception("a page of the inspector failed")
            said = "Something went wrong in the inspector itself. Its log says what."
            return _problem(visit, "This did not work", said, 500)

    return answer


def _problem(visit: Visit, title: str, said: str, status: int) -> Response:
    back = visit.url("/")
    if visit.request.method == "POST":
        back = visit.url(visit.form.one("back", "/")) if _is_path(visit) else back
    link = h.a("Go back", href=back, class_="button")
    why = h.p(visible(said), class_="problem", role="alert")
    return page(visit, title, why, h.p(link), status=status)


def _is_path(visit: Visit) -> bool:
    back = visit.form.one("back", "/")
    return back.startswith("/") and not back.startswith(("//", "/\\"))


async def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    title = "There is no such page" if status == 404 else "This is not possible here"
    said = "It may have been moved, or the address is not whole."
    visit = getattr(request.state, "visit", None)
    if visit is None:
        return plain_page(str(request.scope.get("root_path", "")), title, said, status)
    return _problem(visit, title, said, status)


async def _leave(visit: Visit) -> Response:
    visit.site.keys.end(visit.session)
    answer = RedirectResponse(visit.url("/"), status_code=303)
    answer.delete_cookie(visit.site.keys.cookie, path=visit.url("") or "/")
    return answer
