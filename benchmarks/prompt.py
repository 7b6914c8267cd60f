"""Goals 1 and 5: what one model call pays for memory, and the comments in it."""

from __future__ import annotations

from collections.abc import Callable
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
from benchmarks._turns import CPU, Scale, duration, in_turns
from memoryware import FilesystemBackend, FileToolsMiddleware, MemoryMiddleware
from memoryware.sources.markdown import strip_comments

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
    claims = []
    for form, as_agent in (("texts in the state", False), ("as in an agent", True)):
        calls: dict[str, Callable[[], Any]] = {}
        for size in _SIZES:
            calls |= _calls(folder, size, as_agent=as_agent)
        times = in_turns(calls, scale.rounds * 2)
        growth = times.ratio("ours 2 MB", "ours 2 KB")
        claims.append(Claim(f"2 MB against 2 KB, {form}", growth, at_most=1.3))
        ratio, worst = max((times.ratio(f"ours {size}", f"floor {size}"), size) for size in _SIZES)
        what = f"against `request.override` alone, {form}, worst size"
        claims.append(Claim(what, ratio, at_most=1.5, note=worst))
        for size, limit in _FASTER.items():
            ours, peer, floor = (f"{side} {size}" for side in ("ours", "peer", "floor"))
            note = (
                f"{times.text(peer)} against {times.text(ours)};"
                f" `request.override` {times.text(floor)}"
            )
            what = f"faster than the peer, {size}, {form}"
            claims.append(Claim(what, times.ratio(peer, ours), at_least=limit, note=note))
    return Goal(1, "`modify_request`, unchanged memory", claims)


def _calls(folder: Path, size: str, *, as_agent: bool) -> dict[str, Callable[[], Any]]:
    """Return one memory size in all variants: as by hand, or with all that an agent adds."""
    count, length = _SIZES[size]
    place = folder / f"prompt-{count}-{length}"
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
    return {
        f"ours {size}": lambda: ours.modify_request(mine),
        f"peer {size}": lambda: peer.modify_request(theirs),
        f"floor {size}": lambda: mine.override(system_message=ready),
    }


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
    times = in_turns(calls, scale.rounds)
    return [Claim(name, times.of(name) * 1000, at_most=50, unit=" ms") for name in inputs]
