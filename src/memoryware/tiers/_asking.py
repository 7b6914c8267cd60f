"""Asking a chat model something about texts of memory, which it gets as data."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from memoryware._deadline import call_within
from memoryware.events import logger
from memoryware.tiers._parts import Parts
from memoryware.tiers.showing import FENCE, shown

_CONFIG: Final = {"tags": ["nostream"], "run_name": "tiered_memory"}
"""What is answered here is not streamed to whoever reads the answer of the agent."""


async def ask_model(parts: Parts, task: str, data: str) -> str | None:
    """Return what the model of this memory answers; None if it fails or takes too long."""
    model, seconds = parts.model, parts.limits.model_timeout
    asked: list[Any] = [
        {"role": "system", "content": task},
        {"role": "user", "content": f"<{FENCE}>\n{shown(data)}\n</{FENCE}>"},
    ]
    try:
        answer = await parts.runner.call(
            lambda: call_within(seconds, model.invoke, asked, _CONFIG),
            lambda: asyncio.wait_for(model.ainvoke(asked, _CONFIG), seconds),
        )
    except Exception as error:  # noqa: BLE001 - models fail in many ways; memory goes on
        logger.warning("the model of memory did not answer: %s", type(error).__name__)
        return None
    text = getattr(answer, "text", answer)
    return str(text() if callable(text) and not isinstance(text, str) else text)
