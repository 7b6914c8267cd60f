"""Run the filters of working memory in order; the first refusal decides."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from memoryware._deadline import call_within
from memoryware._runner import OFFLOAD_CHARS, in_thread
from memoryware.guard import Guard
from memoryware.tiers._parts import IngressFilter, Parts, Passed, Refusal
from memoryware.tiers.filters.builtin import SyncFilter
from memoryware.tiers.filters.judge import ConsistencyJudge
from memoryware.tiers.filters.near_duplicate import NearDuplicate
from memoryware.tiers.model import Entry
from memoryware.tiers.screening import redacted

T = TypeVar("T")
logger = logging.getLogger(__name__)

_Answer: TypeAlias = Refusal | Passed | None
_NO_LABELS = Passed()


def waiting_filters(filters: Sequence[IngressFilter]) -> tuple[IngressFilter, ...]:
    """Return the filters that may wait: for a model, an embedder, or code of the application.

    The others are pure and quick, so that they can run inside a transaction.

    Args:
        filters: A chain of filters.

    Returns:
        Those that `check_filters` must not be called with, in order.
    """
    return tuple(item for item in filters if not isinstance(item, SyncFilter))


def check_filters(
    entry: Entry,
    recent: Sequence[Entry],
    filters: Sequence[IngressFilter],
    guard: Guard | None = None,
) -> Refusal | Passed:
    """Run filters that do not wait: no model is called and nothing is awaited.

    Args:
        entry: The candidate.
        recent: Working memory of its group, newest first.
        filters: Filters of which `waiting_filters` returns none.
        guard: Removes secrets from labels, reasons and errors; None removes none.

    Returns:
        The first refusal, or a pass with all labels. A filter that fails refuses, with
        "filter_failed".
    """
    labels: dict[str, Any] = {}
    for item in filters:
        try:
            answer = _checked_answer(item.check(entry, recent))
        except Exception as error:  # noqa: BLE001 - detectors of the application may raise anything
            return _failure(item, error, guard)
        if isinstance(answer, Refusal):
            return _redacted_refusal(answer, guard)
        labels |= answer.labels if answer else {}
    return Passed(redacted(guard, labels)) if labels else _NO_LABELS


async def ask_filters(parts: Parts, entry: Entry, recent: Sequence[Entry]) -> Refusal | Passed:
    """Run all filters of a memory, also those that wait.

    Args:
        parts: The filters, the guard and the limits.
        entry: The candidate.
        recent: Working memory of its group, newest first.

    Returns:
        The first refusal, or a pass with all labels. A filter that fails or takes longer than
        `filter_timeout` refuses, with "filter_failed".
    """
    guard, filters = parts.guard, parts.filters
    characters = len(entry.content) + sum(len(other.content) for other in recent)
    if characters <= OFFLOAD_CHARS and not waiting_filters(filters):
        return check_filters(entry, recent, filters, guard)
    labels: dict[str, Any] = {}
    for item in filters:
        try:
            answer = await parts.runner.call(
                partial(_check, item, parts),
                partial(_acheck, item, parts, offload=characters > OFFLOAD_CHARS),
                entry,
                recent,
            )
        except Exception as error:  # noqa: BLE001 - filters of the application may raise anything
            return _failure(item, error, guard)
        if isinstance(answer, Refusal):
            return _redacted_refusal(answer, guard)
        labels |= answer.labels if answer else {}
    return Passed(redacted(guard, labels)) if labels else _NO_LABELS


def _check(item: IngressFilter, parts: Parts, entry: Entry, recent: Sequence[Entry]) -> _Answer:
    check = getattr(item, "check", None) or getattr(item, "acheck")  # noqa: B009 - one may be missing
    answer = check(entry, recent)
    if inspect.isawaitable(answer):  # a blocking call has no event loop; it gets its own
        answer = call_within(parts.limits.filter_timeout, asyncio.run, _awaited(answer))
    return _checked_answer(answer)


async def _acheck(
    item: IngressFilter, parts: Parts, entry: Entry, recent: Sequence[Entry], *, offload: bool
) -> _Answer:
    if isinstance(item, SyncFilter):
        return await in_thread(item.check, entry, recent) if offload else item.check(entry, recent)
    if isinstance(item, ConsistencyJudge | NearDuplicate):  # these have a timeout of their own
        return await item.acheck(entry, recent)
    acheck = getattr(item, "acheck", None)
    if acheck is None and inspect.iscoroutinefunction(item.check):
        acheck = item.check
    waiting = acheck(entry, recent) if acheck else in_thread(item.check, entry, recent)
    return _checked_answer(await asyncio.wait_for(waiting, parts.limits.filter_timeout))


async def _awaited(waiting: Awaitable[T]) -> T:
    return await waiting


def _checked_answer(answer: Any) -> _Answer:
    if answer is not None and not isinstance(answer, Refusal | Passed):
        raise TypeError(f"a filter returns Refusal, Passed or None, not {type(answer).__name__}")
    checked: _Answer = answer
    return checked


def _failure(item: IngressFilter, error: Exception, guard: Guard | None) -> Refusal:
    name = type(item).__name__
    message = (guard.redact(str(error)) if guard else str(error))[:500]
    logger.warning("filter %s failed: %s: %s", name, type(error).__name__, message)
    return Refusal("filter_failed", f"{name}: {type(error).__name__}")


def _redacted_refusal(refusal: Refusal, guard: Guard | None) -> Refusal:
    reason = str(refusal.reason)
    return replace(refusal, reason=guard.redact(reason) if guard else reason)
