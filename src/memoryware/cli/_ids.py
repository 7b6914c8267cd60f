"""Ids as people give them: whole, or the beginning of one that is the only one to begin so.

Stores find an id and not the beginning of one, so that a beginning is looked for among the
records that were stored last. Who gives a whole id waits for nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from memoryware.cli import showing
from memoryware.errors import EntryMissing, SettingError
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.model import Record
from memoryware.tiers.revoke import marks_of
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.values import LAYERS

SHORTEST: Final = 6
"""Characters that the beginning of an id must have."""
WHOLE: Final = 32
"""Characters of an id that memory makes; so many are no beginning."""
LOOKED: Final = 2_000
"""Records of each tier, the newest ones, among which a beginning is looked for."""
LISTED: Final = 10
"""Records that are told at most if several begin alike."""
MARK: Final = "#"
"""Before the number of a statement: `ENTRY#2`."""
BEGINNING: Final = f"{SHORTEST} characters or more of one among the newest {LOOKED:,} do"
"""What the help says of it."""


def whole_id(
    memory: TieredMemory,
    which: Select,
    given: str,
    *,
    others: Callable[[], Mapping[str, str]] | None = None,
) -> str:
    """Return the id that is meant by an id or its beginning.

    Args:
        memory: The memory.
        which: Records that count.
        given: The id, or its beginning.
        others: Returns what else has an id, with its text; called if no record has exactly
            the given one.

    Raises:
        EntryMissing: If nothing that was stored lately has such an id.
        SettingError: If several begin so; the message names them.
    """
    is_whole = len(given) >= WHOLE or ":" in given
    if (is_whole and others is None) or _is_there(memory, which, given):
        return given  # what is written like an origin is told by whoever wants an id
    texts = others() if others is not None else {}
    if is_whole or given in texts:
        return given
    found = dict(_beginning(memory, which, given, lambda one: (one.id,)))
    if len(given) >= SHORTEST:
        found |= {id_: text for id_, text in texts.items() if id_.startswith(given)}
    return _only(given, found)


def entry_and_number(memory: TieredMemory, which: Select, given: str) -> tuple[str, str]:
    """Split the id of a statement, such as `ENTRY#2`.

    Returns:
        What names the entry, and the number; "" for an id without one. An imported entry may
        have an id that ends like this itself.
    """
    entry, mark, number = given.rpartition(MARK)
    if mark and number.isdecimal() and not _is_there(memory, which, given):
        return entry, number
    return given, ""


def there(memory: TieredMemory, which: Select, given: str) -> str:
    """Return the id that is meant, of a record that is there.

    Raises:
        EntryMissing: If there is none.
        SettingError: If several begin so; the message names them.
    """
    id_ = whole_id(memory, which, given)
    if not _is_there(memory, which, id_):
        raise EntryMissing(f"there is no {id_!r:.200}; nothing was done")
    return id_


def whole_receipt(memory: TieredMemory, which: Select, given: str) -> str:
    """Return the id of the revocation that is meant by an id or its beginning.

    Raises:
        EntryMissing: If nothing that was stored lately was taken back under such an id.
        SettingError: If several begin so; the message names them.
    """
    if len(given) >= WHOLE:
        return given
    found = _beginning(memory, which, given, marks_of)
    return given if given in found else _only(given, found)


def _is_there(memory: TieredMemory, which: Select, id_: str) -> bool:
    exact = which.also(ids=(id_,))
    return any(store.find(exact, limit=1).items for store in _stores(memory))


def _beginning(
    memory: TieredMemory, which: Select, given: str, ids_of: Callable[[Record], Iterable[str]]
) -> Mapping[str, str]:
    """Return each id that begins so, with the text of a record that has it."""
    if len(given) < SHORTEST:
        return {}
    records = (one for store in _stores(memory) for one in store.find(which, limit=LOOKED).items)
    return {id_: one.content for one in records for id_ in ids_of(one) if id_.startswith(given)}


def _stores(memory: TieredMemory) -> Iterator[Any]:
    return (getattr(memory.parts.stores, tier) for tier in LAYERS)


def _only(given: str, found: Mapping[str, str]) -> str:
    if len(found) == 1:
        return next(iter(found))
    if not found:
        least = f"; the beginning of one has {SHORTEST} characters" if len(given) < SHORTEST else ""
        raise EntryMissing(
            f"there is no id {given!r}, and among the newest {LOOKED:,} of each tier none that"
            f" begins so{least}; list and search name ids"
        )
    lines = [
        f"  {showing.one_line(id_)}  {showing.one_line(text, 80)}"
        for id_, text in list(found.items())[:LISTED]
    ]
    more = [f"  ... and {len(found) - LISTED:,} more"] if len(found) > LISTED else []
    raise SettingError("\n".join([f"several begin with {given}; say more of it:", *lines, *more]))
