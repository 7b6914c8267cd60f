"""The groups of a tenant, for a visitor who may see all of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from memoryware.inspector._site import GroupsOf

if TYPE_CHECKING:
    from memoryware.tiers import TieredMemory

_SECONDS: Final = 10.0
"""How long a list is used: each page asks for it, and a store counts all records for it."""


def every_group(memory: TieredMemory, tenant: str | None = None) -> GroupsOf:
    """Return a function for `inspector(groups=...)` that lists every group of a tenant.

    Args:
        memory: The memory.
        tenant: The tenant; None for the one without a name.

    Returns:
        A function of the name of a visitor, whom it does not ask: pass it where every visitor may
        see every group.
    """
    cached: tuple[float, list[str]] = (float("-inf"), [])

    async def list_groups(_visitor: str) -> list[str]:
        nonlocal cached
        if time.monotonic() - cached[0] > _SECONDS:
            groups = await memory.agroups()
            names = [group.group_id for group in groups if group.tenant == tenant]
            cached = (time.monotonic(), [name for name in names if name])
        return cached[1]

    return list_groups
