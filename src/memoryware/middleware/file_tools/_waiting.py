"""What the model had in front of it when it asked to replace a whole file.

Between the request and the deed a person may think for hours. An edit is checked
against the text that is there then; a whole-file write or a delete has nothing to
check. So a digest of the file is noted with the request, and compared at the deed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage

from memoryware import _langchain
from memoryware._twins import Via
from memoryware.backends import _foreign
from memoryware.events import logger
from memoryware.middleware._texts import BackendRuntime
from memoryware.middleware.file_tools._access import FileDigest, digests

REPLACING = frozenset({"write_file", "delete"})


async def noted(
    via: Via, backend: Any, tools: frozenset[str], request: Any, answer: Any
) -> dict[str, FileDigest]:
    """Return, by call id, the path and digest of each file that a call of `tools` will change."""
    calls = _changing(getattr(answer, "result", None) or [answer], tools)
    if not calls:
        return {}
    try:
        config = _langchain.current_config()
        facts = BackendRuntime.of(request.state, request.runtime, config)
        files = _foreign.Guest(_foreign.resolve(backend, facts))
        now = await digests(via, files, list(calls.values()))
    except Exception as error:  # noqa: BLE001 - the call itself will say what is wrong
        logger.debug("no digest of files to replace: %s", type(error).__name__)
        return {}
    pairs = zip(calls.items(), now, strict=True)
    return {call: (path, digest) for (call, path), digest in pairs if digest is not None}


def _changing(messages: Sequence[Any], tools: frozenset[str]) -> dict[str, str]:
    found = {}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            arguments: Mapping[str, Any] = call["args"]
            path = arguments.get("file_path") or arguments.get("path")
            if call["name"] in tools and call["id"] and isinstance(path, str):
                found[call["id"]] = path
    return found
