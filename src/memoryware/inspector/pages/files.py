"""Memory files: what they hold, who changed them, what a change was, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from memoryware._twins import in_thread
from memoryware.backends.history import HistoryBackend, Version
from memoryware.backends.looking import Row, side_by_side
from memoryware.errors import EntryMissing, SettingError, VersionMissing
from memoryware.inspector.layout import button, empty, field, form, hidden, page, plain_text
from memoryware.inspector.markup import Html, Piece, h, joined
from memoryware.inspector.pages import comparing
from memoryware.inspector.site import Section, Visit
from memoryware.inspector.texts import body, many, one_line, when

_KINDS: Final = {
    "write": "written",
    "edit": "edited",
    "append": "added to",
    "upload": "put there",
    "delete": "deleted",
    "undo": "undone",
    "restore": "put back",
    "found": "found as it was",
    "outside": "changed outside",
    "merged": "merged",
}
"""How a version came to be, in words."""
_NAMES: Final = ("AGENTS.md", "CLAUDE.md", "MEMORY.md")
"""Files that are listed before anything has changed them."""


async def files(visit: Visit) -> Response:
    """Show which files there are, and what changed each of them last."""
    history = _history(visit)
    paths = await _paths(history)
    start = _number(visit.asked("from"), 0)
    some = paths[start : start + visit.limits.rows]
    rows = [h.li(await _line(visit, one)) for one in some]
    if not rows:
        said = "No memory file has changed yet. Each change from now on is kept here."
        return page(visit, "Files", empty(said))
    more = start + len(some)
    older = h.a("More", href=visit.url("/files", **{"from": more}), class_="button")
    turn = h.nav(older, class_="pages", aria_label="More files") if more < len(paths) else None
    count = h.p(many(len(paths), "file"), ", with every version of each.", class_="quiet")
    return page(visit, "Files", count, h.ul(rows, class_="list"), turn)


async def show(visit: Visit) -> Response:
    """Show a file: its text, its versions, and the undo of its last change."""
    history, path = _history(visit), visit.asked("file")
    versions = await _of_memory(history, path)
    there = await _present(history, path)
    named = visit.asked("version")
    if named:
        one = _version(versions, named)
        title, text = f"{path}, version {one.number}", await _text_of(history, one)
    else:
        title, text = path, there
    whole = visit.url("/files/plain", file=path, version=named or None)
    seen = (
        body(text, visit.limits.text_chars, whole)
        if text is not None
        else empty("There is no such file now." if not named else "There was no file then.")
    )
    back = h.a("The file as it is now", href=_url(visit, path)) if named else None
    return page(
        visit,
        _title(title),
        h.p(back) if back else None,
        h.section(h.h2("Content", id="content"), seen, class_="card", aria_labelledby="content"),
        _undo_card(visit, path, versions) if not named else None,
        _history_card(visit, path, versions),
    )


async def plain(visit: Visit) -> Response:
    """Send the whole text of a file, or of a version, as plain text."""
    history, path, named = _history(visit), visit.asked("file"), visit.asked("version")
    versions = await _of_memory(history, path)
    if named:
        text = await _text_of(history, _version(versions, named))
    else:
        text = await _present(history, path)
    return plain_text(text or "")


async def compare(visit: Visit) -> Response:
    """Show two versions side by side, or a version and the file as it is now."""
    history, path = _history(visit), visit.asked("file")
    versions = await _of_memory(history, path)
    old, old_name = await _side(history, path, versions, visit.asked("a"))
    new, new_name = await _side(history, path, versions, visit.asked("b"))
    most = visit.limits.compared_chars
    whole = visit.asked("all") == "yes"
    if len(old) + len(new) > most:
        said = f"Together they have more than {most:,} characters, too many to compare here."
        seen: Html = empty(said)
    else:
        rows = await in_thread(side_by_side, old, new, around=None if whole else 3)
        seen = _compared(visit, rows, old_name, new_name)
    links = [h.a("Back to the file", href=_url(visit, path), class_="button")]
    if not whole:
        every = {"file": path, "a": visit.asked("a"), "b": visit.asked("b"), "all": "yes"}
        at = visit.url("/files/compare", **every)
        links.append(h.a("Show all lines", href=at, class_="button"))
    return page(
        visit,
        _title(f"What changed in {path}"),
        h.p(old_name, " beside ", new_name, class_="quiet"),
        seen,
        h.p(links, class_="row"),
    )


async def undo(visit: Visit) -> Response:
    """Take back the last change of a file, or bring back one of its versions."""
    history, path, to = _history(visit), visit.form.one("file"), visit.form.one("to")
    async with visit.site.deciding:
        versions = await _of_memory(history, path)
        newest = versions[0].id if versions else ""
        if visit.form.one("seen") != newest:
            said = "The file has changed since you looked at it. Look again, then decide."
            return visit.go("/files/show", said, file=path)
        with comparing.by_person(visit.by, visit.form.one("reason")):
            made = await history.aundo(path, _number(to, 0) if to else None)
    what = "there is no such file again" if made.after is None else "the text of before is back"
    return visit.go("/files/show", f"Undone as version {made.number}: {what}.", file=path)


# What stands on the pages.


async def _line(visit: Visit, path: str) -> Piece:
    versions = await _history(visit).alog(path)
    link = h.p(h.a(one_line(path, visit.limits.line_chars), href=_url(visit, path)), class_="line")
    if not versions:
        return [link, h.p("not changed yet", class_="quiet")]
    last = versions[0]
    kept = h.span(many(len(versions), "version"), class_="tag")
    gone = h.span("deleted", class_="tag status-revoked") if last.after is None else None
    outside = None
    if not any(one.current for one in versions):
        outside = h.span("changed outside since", class_="tag status-superseded")
    return [link, h.p(kept, gone, outside, h.span(_what(last), class_="quiet"), class_="tags")]


def _undo_card(visit: Visit, path: str, versions: Sequence[Version]) -> Html | None:
    if not versions or visit.site.read_only:
        return None
    before = next((one for one in versions[1:] if one.applied), None)
    look = None
    if before is not None:
        at = visit.url("/files/compare", file=path, a=before.number, b="now")
        look = h.a("See the last change", href=at, class_="button")
    reason = h.input(type="text", name="reason", id="reason", maxlength=500, autocomplete="off")
    made = form(
        visit,
        "/files/undo",
        hidden("file", path),
        hidden("seen", versions[0].id),
        field("Why (optional)", reason, id_="reason"),
        h.div(button("Undo the last change", kind="main"), look, class_="row"),
    )
    hint = "The undo is a version itself, so it can be undone as well."
    return h.section(
        h.h2("Undo", id="undo"), h.p(hint, class_="quiet"), made, class_="card",
        aria_labelledby="undo",
    )  # fmt: skip


def _history_card(visit: Visit, path: str, versions: Sequence[Version]) -> Html:
    title = h.h2("History", id="history")
    if not versions:
        said = "No change of this file was kept yet."
        return h.section(title, h.p(said), class_="card", aria_labelledby="history")
    rows = [
        _version_line(visit, path, one, versions[0].id) for one in versions[: visit.limits.rows]
    ]
    choices = [(f"version {one.number}", str(one.number)) for one in versions]
    chosen = h.form(
        hidden("file", path),
        h.div(
            _choice("Compare", "a", choices, at=1 if len(choices) > 1 else 0),
            _choice("with", "b", [("the file as it is now", "now"), *choices], at=0),
            button("Compare"),
            class_="row end",
        ),
        method="get",
        action=visit.url("/files/compare"),
    )
    older = f"Versions before {versions[-1].number} are not kept any more."
    dropped = h.p(older, class_="quiet") if versions[-1].dropped else None
    return h.section(
        title, h.ol(rows, class_="list flat", reversed=True), dropped, chosen, class_="card",
        aria_labelledby="history",
    )  # fmt: skip


def _version_line(visit: Visit, path: str, one: Version, newest: str) -> Html:
    link = h.a(
        f"Version {one.number}", href=visit.url("/files/show", file=path, version=one.number)
    )
    tags = [
        h.span("now", class_="tag status-current") if one.current else None,
        h.span("did not happen", class_="tag status-revoked") if not one.applied else None,
        h.span("secrets taken out", class_="tag") if one.redacted else None,
        h.span("text not kept", class_="tag") if not one.kept else None,
    ]
    why = comparing.quoted(visit, one.reason)
    back = None
    if not visit.site.read_only and one.kept and one.applied and not one.current and one.after:
        back = form(
            visit,
            "/files/undo",
            hidden("file", path),
            hidden("to", one.number),
            hidden("seen", newest),
            button(f"Bring back version {one.number}", kind="link"),
            class_="inline",
        )
    size = f"{one.size:,} bytes" if one.after else ""
    return h.li(
        h.p(link, " ", _what(one), class_="line"),
        h.div(tags, h.span(size, class_="quiet"), back, class_="tags"),
        why,
    )


def _choice(label: str, name: str, choices: Sequence[tuple[str, str]], *, at: int) -> Html:
    options = [
        h.option(said, value=value, selected=place == at)
        for place, (said, value) in enumerate(choices)
    ]
    return field(label, h.select(options, name=name, id=f"compare-{name}"), id_=f"compare-{name}")


def _compared(visit: Visit, rows: Sequence[Row], old: str, new: str) -> Html:
    if all(one.kind in ("same", "gap") for one in rows):
        return empty("They are the same.")
    return comparing.table(rows, old, new, visit.limits.text_chars)


def _what(one: Version) -> Html:
    return joined(
        _KINDS.get(one.kind, one.kind), " by ", comparing.actor(one), ", ", when(one.time)
    )


def _title(text: str) -> str:
    return " ".join(text.split())[:200]


def _url(visit: Visit, path: str) -> str:
    return visit.url("/files/show", file=path)


# What the pages read.


def _history(visit: Visit) -> HistoryBackend:
    held: HistoryBackend = visit.site.files
    return held


async def _paths(history: HistoryBackend) -> list[str]:
    """Return the files that have versions, and those of the usual names."""
    found = set(await history.afiles())
    for name in _NAMES:
        matches = (await history.aglob(name)).matches or []
        found |= {one["path"] for one in matches}
    return sorted(found)


async def _of_memory(history: HistoryBackend, path: str) -> list[Version]:
    """Return the versions of a memory file; no other file of the folder is anybody's here.

    Raises:
        EntryMissing: If it is none.
    """
    if path not in await _paths(history):
        raise EntryMissing("There is no memory file of this name here")
    return list(await history.alog(path))


async def _present(history: HistoryBackend, path: str) -> str | None:
    """Return the text of a file now, None if there is none."""
    (got,) = await history.adownload_files([path])
    if got.content is None:
        return None
    return got.content.decode("utf-8", "replace")


async def _text_of(history: HistoryBackend, version: Version) -> str | None:
    return None if version.after is None else await history.ashow(version.path, version)


async def _side(
    history: HistoryBackend, path: str, versions: Sequence[Version], named: str
) -> tuple[str, str]:
    """Return a text of a comparison, and what it is called."""
    if named in ("", "now"):
        return await _present(history, path) or "", "the file as it is now"
    one = _version(versions, named)
    return await _text_of(history, one) or "", f"version {one.number}"


def _version(versions: Sequence[Version], named: str) -> Version:
    number = _number(named, 0)
    for one in versions:
        if one.number == number:
            return one
    raise VersionMissing("", "There is no such version of this file, or it is not kept any more")


def _number(text: str, none: int) -> int:
    if not text:
        return none
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise SettingError("the number in this address is none")
    return int(text)


SECTION = Section(
    "Files",
    "/files",
    {"/files": files, "/files/show": show, "/files/plain": plain, "/files/compare": compare},
    {"/files/undo": undo},
    shown=lambda site: site.files is not None,
)
