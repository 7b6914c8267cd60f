"""Goals 1 and 5: what one model call pays for memory, and the comments in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepagents.backends import FilesystemBackend as PeerFiles
from deepagents.middleware.memory import MemoryMiddleware as PeerMemory
from deepagents.middleware.memory import _strip_html_comments
from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import SystemMessage

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import WIDE, contents_of, in_node, memory_files
from benchmarks._model import BusyModel
from benchmarks._turns import CPU, Scale, Times, duration, in_turns
from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware
from memoryware.middleware._comments import strip_comments

_SIZES = {
    "2 KB": (1, 2_000),
    "3x20 KB": (3, 20_000),
    "3x200 KB": (3, 200_000),
    "2 MB": (10, 200_000),
}
_FASTER = {"2 KB": 6.0, "3x20 KB": 12.0, "3x200 KB": 100.0}
_OPENER = "<!--"


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goals 1 and 5."""
    return [_requests(scale, folder), _comments(scale)]


def _requests(scale: Scale, folder: Path) -> Goal:
    by_hand = {size: _timed(scale, folder, size, as_agent=False) for size in _SIZES}
    as_agent = {size: _timed(scale, folder, size, as_agent=True) for size in _SIZES}
    claims = []
    for form, times in (("texts in the state", by_hand), ("as in an agent", as_agent)):
        growth = times["2 MB"].of("ours") / times["2 KB"].of("ours")
        claims.append(Claim(f"2 MB against 2 KB, {form}", growth, at_most=1.3))
        worst = max(times, key=lambda size, t=times: t[size].ratio("ours", "floor"))
        ratio = times[worst].ratio("ours", "floor")
        what = f"against `request.override` alone, {form}, worst size"
        claims.append(Claim(what, ratio, at_most=1.5, note=worst))
        for size, limit in _FASTER.items():
            ratio = times[size].ratio("peer", "ours")
            note = f"{times[size].text('peer')} against {times[size].text('ours')}"
            what = f"faster than the peer, {size}, {form}"
            claims.append(Claim(what, ratio, at_least=limit, note=note))
    return Goal(1, "`modify_request`, unchanged memory", claims)


def _timed(scale: Scale, folder: Path, size: str, *, as_agent: bool) -> Times:
    """Time one memory size: as the peer is asked, or with all that a real request has."""
    count, length = _SIZES[size]
    place = folder / f"prompt-{length}"
    paths = memory_files(place, count, length)
    backend = FilesystemBackend(place)
    ours = MemoryMiddleware(backend=backend, sources=paths, limits=WIDE)
    peer = PeerMemory(backend=PeerFiles(place), sources=paths)
    texts = {"memory_contents": contents_of(place, paths)}
    state: Any = texts
    more: dict[str, Any] = {"system_message": SystemMessage("You are a careful helper.")}
    if as_agent:
        state = ours.before_agent({}, None, in_node(ours))
        more["tools"] = FileToolsMiddleware(backend=backend).tools
    model = BusyModel()
    mine = ModelRequest(model=model, messages=[], state=state, **more)
    theirs = ModelRequest(model=model, messages=[], state=texts, **more)
    ready = ours.modify_request(mine).system_message
    return in_turns(
        {
            "ours": lambda: ours.modify_request(mine),
            "peer": lambda: peer.modify_request(theirs),
            "floor": lambda: mine.override(system_message=ready),
        },
        scale.rounds,
    )


def _comments(scale: Scale) -> Goal:
    kilobyte = 1024
    text = _OPENER * (64 * kilobyte // len(_OPENER))
    ours = in_turns({"ours": lambda: strip_comments(text)}, scale.rounds).of("ours")
    start = CPU()
    _strip_html_comments(text)  # once: it takes seconds
    peer = CPU() - start
    note = f"{duration(peer)} against {duration(ours)}"
    claims = [Claim("64 KB of openers, faster than the peer", peer / ours, 1000, note=note)]
    claims += [_doubled(scale), *_megabytes(scale)]
    return Goal(5, "Stripping comments", claims)


def _doubled(scale: Scale) -> Claim:
    texts = {size: _OPENER * (size * 1024 // len(_OPENER)) for size in (64, 128, 256, 512, 1024)}
    calls = {str(size): (lambda t=text: strip_comments(t)) for size, text in texts.items()}
    times = in_turns(calls, scale.rounds)
    steps = {f"{size} to {size * 2} KB": (str(size * 2), str(size)) for size in list(texts)[:-1]}
    worst = max(steps, key=lambda step: times.ratio(*steps[step]))
    what = "twice as many openers, worst step"
    return Claim(what, times.ratio(*steps[worst]), at_most=2.5, note=worst)


def _megabytes(scale: Scale) -> list[Claim]:
    size = 1024 * 1024
    plain = "- a line of a memory file with nothing special in it.\n"
    openers = plain.replace("- a", "<!-- note, a") + plain
    closed = "<!-- a remark of the author, not for the model -->\n" + plain
    inputs = {
        "1 MB of openers": _OPENER * (size // 4),
        "1 MB of text, an opener every 110 characters": openers * (size // len(openers)),
        "1 MB of closed comments": closed * (size // len(closed)),
        "1 MB of plain text": plain * (size // len(plain)),
        "one opener and 1 MB of text": _OPENER + plain * (size // len(plain)),
    }
    calls = {name: (lambda t=text: strip_comments(t)) for name, text in inputs.items()}
    times = in_turns(calls, scale.share(0.5))
    return [Claim(name, times.of(name) * 1000, at_most=50, unit=" ms") for name in inputs]
