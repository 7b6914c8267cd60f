"""Examples that stand below the help of each command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("init --group shop", "init --store postgresql://ann@db/memory --four-eyes"),
    "add": (
        "add 'We deploy on Fridays.'",
        "add --propose < note.md",
        "add --key release-7 'Version 7 is out.'",
    ),
    "list": ("list", "list --layer quarantine --limit 50", "list --words deploy --json"),
    "show": ("show 2bd9138907de4a949a79ac4cf56ccd59",),
    "search": (
        "search 'when do we deploy?' --explain",
        "search deploy --at 2026-05-01T12:00",
    ),
    "digest": ("digest", "digest --days 7 --json"),
    "review": ("review", "printf 'a\\nr outdated\\nq\\n' | memoryware review"),
    "propose": ("propose 2bd9138907de4a949a79ac4cf56ccd59",),
    "promote": (
        "promote 2bd9138907de4a949a79ac4cf56ccd59",
        "promote '2bd9138907de4a949a79ac4cf56ccd59#2'",
        "promote 2bd9138907de4a949a79ac4cf56ccd59 --whole --subject deploys --by bo",
    ),
    "reject": ("reject 2bd9138907de4a949a79ac4cf56ccd59 --reason 'not true anymore'",),
    "supersede": ("supersede 2bd9138907de4a949a79ac4cf56ccd59 'We deploy on Mondays.'",),
    "revoke": (
        "revoke 2bd9138907de4a949a79ac4cf56ccd59 --dry-run",
        "revoke --origin tool:web_search --reason 'it was poisoned'",
    ),
    "restore": ("restore cc5f267f405b426bab25073eee437365",),
    "forget": (
        "forget --words 'old address' --dry-run",
        "forget --everything --user bo --yes",
    ),
    "export": ("export week.jsonl", "export - | gzip > week.jsonl.gz"),
    "backup": ("backup memory-2026-11-29.db",),
    "import": ("import week.jsonl --name backup",),
    "copy": (
        "copy sqlite:///memory.db postgresql://ann@db/memory",
        "copy sqlite:///memory.db sqlite:///second.db --exact --dry-run",
    ),
    "reindex": ("reindex --embeddings local", "reindex --pending"),
    "doctor": ("doctor", "doctor --ask-model --json"),
    "sources": ("sources", "sources --root notes --json"),
    "prompt": ("prompt",),
    "log": ("log AGENTS.md",),
    "diff": ("diff AGENTS.md",),
    "undo": ("undo AGENTS.md --dry-run",),
    "scan": ("scan", "scan notes --personal"),
    "mcp": ("mcp --group shop", "mcp --group shop --read-only --http 127.0.0.1:8765"),
}


def epilog(command: str) -> str | None:
    """Return the examples of a command, one a line."""
    lines = EXAMPLES.get(command, ())
    if not lines:
        return None
    return "\n\n".join(["Examples:", *map(whole, lines)])


def whole(example: str) -> str:
    """Return an example as it is typed."""
    return example if "memoryware " in example else f"memoryware {example}"
