"""Memory files: content, versions, comparison and undo."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final

from starlette.responses import Response

from memoryware.backends import DiffRow, HistoryBackend, Version, acting, side_by_side
from memoryware.errors import EntryMissing, SettingError, VersionMissing
from memoryware.inspector._layout import (
    button,
    empty,
    field,
    form,
    hidden,
    page,
    plain_text,
    search_form,
)
from memoryware.inspector._markup import (
    Html,
    Piece,
    body,
    h,
    joined,
    one_line,
    plural,
    visible,
    when,
)
from memoryware.inspector._site import Section, Visit
from memoryware.inspector._undo import undo_file

# Comparisons, and who changed a file; the audit page has them as well.

_NAME = 80


def by_person(name: str, reason: str) -> AbstractContextManager[None]:
    """Say for a block that a person changes files, and why."""
    return acting(user=name, reason=reason.strip() or None)


def version_author(version: Version) -> Html:
    """Return who made a version, as far as that is known."""
    author = version.actor
    if author.user and author.agent:
        return h.span(one_line(author.agent, _NAME), " for ", one_line(author.user, _NAME))
    name = author.user or author.agent
    return h.span(one_line(name, _NAME)) if name else h.span("unknown")


def author_names(version: Version) -> tuple[str, ...]:
    """Return the person and the agent that made a version, as far as they are known."""
    author = version.actor
    return tuple(filter(None, (author.user, f"agent:{author.agent}" if author.agent else None)))


def quoted_reason(visit: Visit, text: str | None) -> Html | None:
    """Return why something was done, in the words of who did it."""
    quote = one_line(text, visit.limits.line_chars) if text else None
    return h.p("\u201c", quote, "\u201d", class_="why") if quote else None


def diff_table(rows: Sequence[DiffRow], old: str, new: str, chars: int) -> Html:
    """Return two texts side by side; lines are cut after some characters."""
    head = h.tr(
        h.th("Line", scope="col", class_="number"),
        h.th(old[:1].upper() + old[1:], scope="col"),
        h.th("Line", scope="col", class_="number"),
        h.th(new[:1].upper() + new[1:], scope="col"),
    )
    comparison = h.table(h.thead(head), h.tbody([_row(row, chars) for row in rows]), class_="diff")
    return h.div(
        comparison, class_="card wide", tabindex="0", role="region", aria_label="Comparison"
    )


def _row(row: DiffRow, chars: int) -> Html:
    if row.kind == "gap":
        label = f"{plural(row.hidden, 'line')} the same"
        return h.tr(h.td(label, colspan=4, class_="gap"), class_="gap")
    same = row.kind == "same"
    return h.tr(
        h.td(row.old_number, class_="number"),
        h.td(None if not row.old else _line(row.old, "del", chars, same), class_="was"),
        h.td(row.new_number, class_="number"),
        h.td(None if not row.new else _line(row.new, "ins", chars, same), class_="is"),
        class_=row.kind,
    )


def _line(parts: Sequence[tuple[str, bool]], tag: str, chars: int, same: bool) -> Html:
    left, pieces = chars, list[Piece]()
    for text, differs in parts:
        piece = visible(text[:left])
        pieces.append(piece if same or not differs else getattr(h, tag)(piece))
        left -= len(text)
        if left <= 0:
            pieces.append("\u2026")
            break
    return h.span(pieces, class_="code", dir="auto")


# The pages.

_KINDS: Final = {
    "write": "written",
    "edit": "edited",
    "append": "added to",
    "upload": "uploaded",
    "delete": "deleted",
    "undo": "undone",
    "restore": "restored",
    "found": "found",
    "outside": "changed outside",
    "merged": "merged",
}
"""How a version came to be, in words."""
_NAMES: Final = ("AGENTS.md", "CLAUDE.md", "MEMORY.md")
"""Files that are listed before anything has changed them."""


async def files(visit: Visit) -> Response:
    """List the files, with the last change of each."""
    history = _history(visit)
    paths = await _paths(history)
    start = _number(visit.param("from"), 0)
    page_paths = paths[start : start + visit.limits.rows]
    rows = [h.li(await _file_line(visit, path)) for path in page_paths]
    if not rows:
        message = "No memory file has changed yet. Changes are recorded from now on."
        return page(visit, "Files", empty(message))
    more = start + len(page_paths)
    older = h.a("More", href=visit.url("/files", **{"from": more}), class_="button")
    navigation = (
        h.nav(older, class_="pages", aria_label="More files") if more < len(paths) else None
    )
    count = h.p(plural(len(paths), "file"), ", with every version of each.", class_="quiet")
    return page(visit, "Files", count, h.ul(rows, class_="list"), navigation)


async def show(visit: Visit) -> Response:
    """Show a file: its text, its versions, and the undo of its last change."""
    history, path = _history(visit), visit.param("file")
    versions = await _of_memory(history, path)
    text_now = await _present(history, path)
    version_name = visit.param("version")
    if version_name:
        version = _version(versions, version_name)
        title, text = f"{path}, version {version.number}", await _text_of(history, version)
    else:
        title, text = path, text_now
    whole = visit.url("/files/plain", file=path, version=version_name or None)
    content = (
        body(text, visit.limits.text_chars, whole)
        if text is not None
        else empty(
            "The file does not exist now." if not version_name else "The file did not exist then."
        )
    )
    back = h.a("The current file", href=_url(visit, path)) if version_name else None
    return page(
        visit,
        _title(title),
        h.p(back) if back else None,
        h.section(h.h2("Content", id="content"), content, class_="card", aria_labelledby="content"),
        _undo_card(visit, path, versions) if not version_name else None,
        _history_card(visit, path, versions),
    )


async def plain(visit: Visit) -> Response:
    """Send the whole text of a file, or of a version, as plain text."""
    history, path, version_name = _history(visit), visit.param("file"), visit.param("version")
    versions = await _of_memory(history, path)
    if version_name:
        text = await _text_of(history, _version(versions, version_name))
    else:
        text = await _present(history, path)
    return plain_text(text or "")


async def compare(visit: Visit) -> Response:
    """Show two versions side by side, or a version and the current file."""
    history, path = _history(visit), visit.param("file")
    versions = await _of_memory(history, path)
    old, old_name = await _side(history, path, versions, visit.param("a"))
    new, new_name = await _side(history, path, versions, visit.param("b"))
    limit = visit.limits.compared_chars
    whole = visit.param("all") == "yes"
    if len(old) + len(new) > limit:
        message = f"Together they have more than {limit:,} characters, too many to compare here."
        content: Html = empty(message)
    else:
        rows = await asyncio.to_thread(side_by_side, old, new, around=None if whole else 3)
        content = _compared(visit, rows, old_name, new_name)
    links = [h.a("Back to the file", href=_url(visit, path), class_="button")]
    if not whole:
        query = {"file": path, "a": visit.param("a"), "b": visit.param("b"), "all": "yes"}
        url = visit.url("/files/compare", **query)
        links.append(h.a("Show all lines", href=url, class_="button"))
    return page(
        visit,
        _title(f"What changed in {path}"),
        h.p(old_name, " beside ", new_name, class_="quiet"),
        content,
        h.p(links, class_="row"),
    )


async def undo(visit: Visit) -> Response:
    """Undo the last change of a file, or restore a version."""
    history, path, to = _history(visit), visit.form.get("file"), visit.form.get("to")
    async with visit.site.deciding:
        versions = await _of_memory(history, path)
        newest = versions[0].id if versions else ""
        if visit.form.get("seen") != newest:
            message = "The file has changed since the page was loaded. Check it again, then decide."
            return visit.redirect("/files/show", message, file=path)
        with by_person(visit.by, visit.form.get("reason")):
            version = await history.aundo(path, _number(to, 0) if to else None)
    outcome = "the file is deleted again" if version.after is None else "the previous text is back"
    before = next((earlier for earlier in versions if earlier.current and earlier.kept), None)
    record = None
    if before is not None and before.after is not None:
        record = undo_file(version, before, f"{path}, version {version.number}")
    message = f"Undone as version {version.number}: {outcome}."
    return visit.redirect("/files/show", message, record, file=path)


# What stands on the pages.


async def _file_line(visit: Visit, path: str) -> Piece:
    versions = await _history(visit).alog(path)
    link = h.p(h.a(one_line(path, visit.limits.line_chars), href=_url(visit, path)), class_="line")
    if not versions:
        return [link, h.p("not changed yet", class_="quiet")]
    last = versions[0]
    count = h.span(plural(len(versions), "version"), class_="tag")
    deleted = h.span("deleted", class_="tag status-revoked") if last.after is None else None
    outside = None
    if not any(version.current for version in versions):
        outside = h.span("changed outside since", class_="tag status-superseded")
    return [
        link,
        h.p(
            count, deleted, outside, h.span(_describe_version(last), class_="quiet"), class_="tags"
        ),
    ]


def _undo_card(visit: Visit, path: str, versions: Sequence[Version]) -> Html | None:
    if not versions or visit.site.read_only:
        return None
    before = next((version for version in versions[1:] if version.applied), None)
    compare_link = None
    if before is not None:
        at = visit.url("/files/compare", file=path, a=before.number, b="now")
        compare_link = h.a("See the last change", href=at, class_="button")
    reason = h.input(type="text", name="reason", id="reason", maxlength=500, autocomplete="off")
    undo_form = form(
        visit,
        "/files/undo",
        hidden("file", path),
        hidden("seen", versions[0].id),
        field("Why (optional)", reason, id_="reason"),
        h.div(button("Undo the last change", kind="main"), compare_link, class_="row"),
    )
    hint = "The undo is a version too, so it can be undone."
    return h.section(
        h.h2("Undo", id="undo"), h.p(hint, class_="quiet"), undo_form, class_="card",
        aria_labelledby="undo",
    )  # fmt: skip


def _history_card(visit: Visit, path: str, versions: Sequence[Version]) -> Html:
    title = h.h2("History", id="history")
    if not versions:
        message = "No version of this file is recorded yet."
        return h.section(title, h.p(message), class_="card", aria_labelledby="history")
    rows = [
        _version_line(visit, path, version, versions[0].id)
        for version in versions[: visit.limits.rows]
    ]
    choices = [(f"version {version.number}", str(version.number)) for version in versions]
    chosen = search_form(
        visit,
        "/files/compare",
        hidden("file", path),
        h.div(
            _choice("Compare", "a", choices, at=1 if len(choices) > 1 else 0),
            _choice("with", "b", [("the current file", "now"), *choices], at=0),
            button("Compare"),
            class_="row end",
        ),
    )
    older = f"Versions before {versions[-1].number} were removed."
    dropped = h.p(older, class_="quiet") if versions[-1].dropped else None
    return h.section(
        title, h.ol(rows, class_="list flat", reversed=True), dropped, chosen, class_="card",
        aria_labelledby="history",
    )  # fmt: skip


def _version_line(visit: Visit, path: str, version: Version, newest: str) -> Html:
    link = h.a(
        f"Version {version.number}",
        href=visit.url("/files/show", file=path, version=version.number),
    )
    tags = [
        h.span("now", class_="tag status-current") if version.current else None,
        h.span("did not happen", class_="tag status-revoked") if not version.applied else None,
        h.span("secrets removed", class_="tag") if version.redacted else None,
        h.span("text removed", class_="tag") if not version.kept else None,
    ]
    why = quoted_reason(visit, version.reason)
    back = None
    if (
        not visit.site.read_only
        and version.kept
        and version.applied
        and not version.current
        and version.after
    ):
        back = form(
            visit,
            "/files/undo",
            hidden("file", path),
            hidden("to", version.number),
            hidden("seen", newest),
            button(f"Restore version {version.number}", kind="link"),
            class_="inline",
        )
    size = f"{version.size:,} bytes" if version.after else ""
    return h.li(
        h.p(link, " ", _describe_version(version), class_="line"),
        h.div(tags, h.span(size, class_="quiet"), back, class_="tags"),
        why,
    )


def _choice(label: str, name: str, choices: Sequence[tuple[str, str]], *, at: int) -> Html:
    options = [
        h.option(text, value=value, selected=index == at)
        for index, (text, value) in enumerate(choices)
    ]
    return field(label, h.select(options, name=name, id=f"compare-{name}"), id_=f"compare-{name}")


def _compared(visit: Visit, rows: Sequence[DiffRow], old: str, new: str) -> Html:
    if all(row.kind in ("same", "gap") for row in rows):
        return empty("No differences.")
    return diff_table(rows, old, new, visit.limits.text_chars)


def _describe_version(version: Version) -> Html:
    return joined(
        _KINDS.get(version.kind, version.kind),
        " by ",
        version_author(version),
        ", ",
        when(version.time),
    )


def _title(text: str) -> str:
    return " ".join(text.split())[:200]


def _url(visit: Visit, path: str) -> str:
    return visit.url("/files/show", file=path)


# What the pages read.


def _history(visit: Visit) -> HistoryBackend:
    history: HistoryBackend = visit.site.files
    return history


async def _paths(history: HistoryBackend) -> list[str]:
    """Return the files that have versions, and those of the usual names."""
    paths = set(await history.afiles())
    for name in _NAMES:
        matches = (await history.aglob(name)).matches or []
        paths |= {match["path"] for match in matches}
    return sorted(paths)


async def _of_memory(history: HistoryBackend, path: str) -> list[Version]:
    """Return the versions of a memory file; no other file of the folder is anybody's here.

    Raises:
        EntryMissing: If it is none.
    """
    if path not in await _paths(history):
        raise EntryMissing("There is no memory file with this name")
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
    history: HistoryBackend, path: str, versions: Sequence[Version], name: str
) -> tuple[str, str]:
    """Return a text of a comparison, and its label."""
    if name in ("", "now"):
        return await _present(history, path) or "", "the current file"
    version = _version(versions, name)
    return await _text_of(history, version) or "", f"version {version.number}"


def _version(versions: Sequence[Version], name: str) -> Version:
    number = _number(name, 0)
    for version in versions:
        if version.number == number:
            return version
    raise VersionMissing("", "There is no such version of this file, or it was removed")


def _number(text: str, default: int) -> int:
    if not text:
        return default
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
