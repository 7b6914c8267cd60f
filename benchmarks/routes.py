"""Goal 16: finding the backend of a path among many routes."""

from __future__ import annotations

from pathlib import Path

from deepagents.backends import CompositeBackend as PeerComposite
from deepagents.backends import FilesystemBackend as PeerFiles

from benchmarks._goals import Claim, Goal
from benchmarks._inputs import memory_files
from benchmarks._turns import Scale, in_turns
from memoryware import CompositeBackend, FilesystemBackend

_COUNTS = (1, 1000)


def goals(scale: Scale, folder: Path) -> list[Goal]:
    """Measure goal 16."""
    place = folder / "routes"
    (path,) = memory_files(place, 1, 2_000)
    direct, peer_direct = FilesystemBackend(place), PeerFiles(place)
    routes = {count: [f"/team{n:04d}/notes/" for n in range(count)] for count in _COUNTS}
    ours = {
        count: CompositeBackend(direct, dict.fromkeys(names, direct))
        for count, names in routes.items()
    }
    many = routes[1000]
    peer = PeerComposite(peer_direct, dict.fromkeys(many, peer_direct))
    found = in_turns(
        {
            "ours": lambda: ours[1000]._get_backend_and_key(path),
            "ours of 1": lambda: ours[1]._get_backend_and_key(path),
            "peer": lambda: peer._get_backend_and_key(path),
        },
        scale.rounds,
    )
    reads = {str(count): (lambda o=one: o.read(path)) for count, one in ours.items()}
    through = f"{many[-1]}{path[1:]}"
    reads |= {
        "direct": lambda: direct.read(path),
        "routed": lambda: ours[1000].read(through),
        "peer": lambda: peer.read(path),
        "peer direct": lambda: peer_direct.read(path),
    }
    times = in_turns(reads, scale.rounds * 2)
    note = f"{found.text('peer')} against {found.text('ours')}"
    peer_note = f"the peer {times.ratio('peer', 'peer direct'):.1f}x"
    claims = [
        Claim("1,000 routes, faster than the peer", found.ratio("peer", "ours"), 50, note=note),
        Claim("1,000 routes against one", found.ratio("ours", "ours of 1"), at_most=1.3),
    ]
    for name, what in (
        ("1", "one route, a path outside of it"),
        ("1000", "1,000 routes, a path outside of them"),
        ("routed", "1,000 routes, a path in one of them"),
    ):
        note = f"{times.text(name)} against {times.text('direct')}"
        note += f"; {peer_note}" if name == "1000" else ""
        ratio = times.ratio(name, "direct")
        claims.append(Claim(f"a read of 2 KB, {what}, against none", ratio, None, 1.3, note=note))
    return [Goal(16, "`CompositeBackend`", claims)]
