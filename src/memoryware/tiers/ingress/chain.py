"""Asks the filters of working memory one after the other; the first that refuses decides."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from memoryware._deadline import call_within
from memoryware._twins import in_thread
from memoryware.tiers._parts import IngressFilter, Parts, Passed, Refusal
from memoryware.tiers.ingress.filters import Quick
from memoryware.tiers.ingress.judge import ConsistencyJudge
from memoryware.tiers.ingress.making import AT_ONCE, redacted
from memoryware.tiers.ingress.near import NearDuplicate
from memoryware.tiers.records import Entry

T = TypeVar("T")
logger = logging.getLogger(__name__)

_OURS: Final = (Quick, ConsistencyJudge, NearDuplicate)
_Answer: TypeAlias = Refusal | Passed | None


async def asked(parts: Parts, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed:
    """Return what the filters say of an entry: the first refusal, or all their labels.

    A filter that fails refuses, with "filter_failed".
    """
    labels: dict[str, Any] = {}
    for one in parts.filters:
        try:
            answer = await parts.runner.call(
                partial(_check, one, parts), partial(_acheck, one, parts), entry, recent
            )
        except Exception as error:  # noqa: BLE001 - a filter of others may raise anything
            name = type(one).__name__
            reason = parts.redacted(str(error))[:500]
            logger.warning("filter %s failed: %s: %s", name, type(error).__name__, reason)
            return Refusal("filter_failed", f"{name}: {type(error).__name__}")
        if isinstance(answer, Refusal):
            return replace(answer, reason=parts.redacted(str(answer.reason)))
        labels |= answer.labels if answer else {}
    return Passed(redacted(parts.guard, labels))


def _check(one: IngressFilter, parts: Parts, entry: Entry, recent: Sequence[Entry]) -> _Answer:
    ask = getattr(one, "check", None) or getattr(one, "acheck")  # noqa: B009 - it may have but one
    given = ask(entry, recent)
    if inspect.isawaitable(given):  # it gets a loop of its own
        given = call_within(parts.limits.filter_timeout, asyncio.run, _awaited(given))
    return _answer(given)


async def _acheck(
    one: IngressFilter, parts: Parts, entry: Entry, recent: Sequence[Entry]
) -> _Answer:
    long = len(entry.content) + sum(len(other.content) for other in recent) > AT_ONCE
    if isinstance(one, _OURS) and not (long and isinstance(one, Quick)):
        return await one.acheck(entry, recent)  # it waits for nothing, or knows how long
    if isinstance(one, Quick):
        return await in_thread(one.check, entry, recent)
    acheck = getattr(one, "acheck", None)
    if acheck is None and inspect.iscoroutinefunction(one.check):
        acheck = one.check
    waiting = acheck(entry, recent) if acheck else in_thread(one.check, entry, recent)
    return _answer(await asyncio.wait_for(waiting, parts.limits.filter_timeout))


async def _awaited(waiting: Awaitable[T]) -> T:
    return await waiting


def _answer(given: Any) -> _Answer:
    if given is not None and not isinstance(given, Refusal | Passed):
        raise TypeError(f"a filter returns Refusal, Passed or None, not {type(given).__name__}")
    answer: _Answer = given
    return answer
