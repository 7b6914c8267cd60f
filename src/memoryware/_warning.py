"""Warnings that are logged once for each cause, not once for each call or each process."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

_CAUSES: Final = 1000
"""Causes that are remembered. One that was pushed out by newer ones is logged again."""

_logger: Final = logging.getLogger("memoryware")
_logged: Final[OrderedDict[Hashable, None]] = OrderedDict()
_lock: Final = threading.Lock()


def warn_once(cause: Hashable, message: str, *args: object) -> bool:
    """Log a warning unless it was logged for this cause before.

    Args:
        cause: What makes two warnings the same, such as the kind of the fault and the tenant.
        message: The text, with `%s` for each argument.
        args: The arguments.

    Returns:
        Whether it was logged.
    """
    with _lock:
        is_new = cause not in _logged
        _logged[cause] = None
        _logged.move_to_end(cause)
        while len(_logged) > _CAUSES:
            _logged.popitem(last=False)
    if is_new:
        _logger.warning(message, *args)
    return is_new


def forget_warnings() -> None:
    """Forget which warnings were logged; for tests."""
    with _lock:
        _logged.clear()
