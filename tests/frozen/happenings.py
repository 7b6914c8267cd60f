"""The events and the log lines of the sample, in their order."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozen.reads import Reader
from frozen.sample import Sample
from memoryware import TieredMemory
from memoryware.events import listen
from memoryware.tiers.stores.embedded import embedded

_VARYING = {"type", "ms"}
_ONCE = "This is logged once"
"""In messages that another test of the same process may have caused already."""


def happenings(wrap: Callable[[TieredMemory], Any] = lambda memory: memory) -> list[str]:
    """Write the sample into stores of this process; return what listeners and the log were told.

    Args:
        wrap: What is put around each memory, such as its asynchronous half.
    """
    stores, told = embedded(), list[Any]()
    handler = logging.Handler(logging.INFO)
    handler.emit = told.append
    logger = logging.getLogger("memoryware")
    level, disabled = logger.level, logging.root.manager.disable
    logging.disable(logging.NOTSET)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with tempfile.TemporaryDirectory() as folder, listen(told.append):

            def opened(**options: Any) -> Any:
                memory = TieredMemory(stores, journal=Path(folder) / "journal", **options)
                memory.close, memory.aclose = _stay, _astay  # all have the same stores
                return wrap(memory)

            labels = Sample(opened).write()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logging.disable(disabled)
    reader = Reader(None, labels)  # only its texts are used
    lines = [reader.text(_line(one)) for one in told]
    return [line for line in lines if _ONCE not in line]


def _stay() -> None: ...


async def _astay() -> None: ...


def _line(one: Any) -> str:
    if isinstance(one, logging.LogRecord):
        return f"{one.levelname} {one.name}: {one.getMessage()}"
    event = {name: value for name, value in sorted(one.items()) if name not in _VARYING}
    return f"event {event.pop('event')} {json.dumps(event, sort_keys=True)}"
