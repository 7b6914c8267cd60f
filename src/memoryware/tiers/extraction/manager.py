"""`MemoryManager`: learn facts from conversations, in the background, as proposals for review."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal

from memoryware._closing import ClosedOnExit
from memoryware._copying import SharedOnCopy
from memoryware._runner import run_blocking
from memoryware.errors import SettingError, StoreClosed, StoreUnavailable
from memoryware.events import logger
from memoryware.scope import MemoryScope
from memoryware.settings import ExtractionLimits
from memoryware.tiers import checking
from memoryware.tiers._parts import Parts, group_of, scope_of
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.extraction.facts import ConversationTurn, Extraction, ExtractionUsage
from memoryware.tiers.extraction.job_queue import QueuedThread, ThreadJobQueue, queue_beside
from memoryware.tiers.extraction.learning import Learner, unread_threads
from memoryware.tiers.extraction.model_extractor import usage_before
from memoryware.tiers.extraction.turns import turns_of

ReviewedTexts = Literal["facts", "everything"]
"""What a digest shows of a conversation that was read: the facts, or its messages as well."""
_IDLE: Final = 60.0
"""Seconds after which the worker looks for threads that other processes have enqueued."""
_LEAST_WAIT: Final = 0.05
_CLOSING: Final = 5.0
"""Seconds that closing a memory waits for a conversation that is being read."""


class MemoryManager(SharedOnCopy, ClosedOnExit):
    """Extracts facts from conversations, compares them with memory, and proposes them.

    What it proposes is in quarantine, with its lineage, until somebody promotes it; nothing is
    promoted by a model. `TieredMemoryMiddleware(extract=...)` enqueues each run; a worker in the
    background reads a thread once it has been silent for `delay_seconds`.

    Args:
        memory: The memory.
        model: A LangChain chat model, or a name such as "openai:gpt-4.1-mini" for
            `init_chat_model`. Without one rules extract, which cost nothing. They also step in
            where the model fails, answers nonsense twice, or its tokens are used up.
        limits: Delays, bounds and budget.
        queue: The file of the queue. By default it is beside a memory in a SQLite file, and in
            the process for others; then `catch_up` finds after a restart what was not read.
        review: "facts" leaves messages out of digests once their facts were extracted;
            "everything" leaves them in.
        background: Whether a thread reads what is due. Without it call `flush` yourself.

    Raises:
        SettingError: For an invalid option.

    Example:
        >>> manager = MemoryManager(memory)
        >>> manager.learn([{"role": "user", "content": "I prefer metric units."}], scope)
    """

    def __init__(
        self,
        memory: TieredMemory,
        model: Any = None,
        *,
        limits: ExtractionLimits | None = None,
        queue: str | PathLike[str] | None = None,
        review: ReviewedTexts = "facts",
        background: bool = True,
    ) -> None:
        checking.instance("memory", memory, (TieredMemory,))
        checking.choice("review", review, ("facts", "everything"))
        checking.instance("background", background, (bool,))
        if limits is not None:
            checking.instance("limits", limits, (ExtractionLimits,))
        self._memory = memory
        self.limits = limits or ExtractionLimits()
        path = queue_beside(memory.parts.stores) if queue is None else Path(queue)
        self._queue = ThreadJobQueue(path)
        self._owner = memory.parts.new_id()
        self._learner = Learner(_chat_model(model), self.limits, self._queue, review=review)
        self._worker = _BackgroundFlush(self) if background else None
        self._opened = _ManagedQueue(self._queue, self._worker)
        memory.parts.queues.add(self._opened)

    @property
    def memory(self) -> TieredMemory:
        """The memory that it proposes facts for."""
        return self._memory

    @property
    def is_durable(self) -> bool:
        """Whether the queue survives the end of the process."""
        return self._queue.is_durable

    @property
    def waiting(self) -> int:
        """How many threads wait for extraction."""
        return self._queue.count()

    # Without storing anything.

    def extract(self, messages: Sequence[Any], scope: MemoryScope | str) -> Extraction:
        """Return the facts of a conversation, compared with memory. Nothing is stored.

        Args:
            messages: Messages of LangChain, mappings with role and content, or pairs of both.
            scope: Whose memory the facts are compared with, and which user speaks.

        Returns:
            The proposals, and what they have cost.

        Raises:
            ScopeMissing: Without a group.
        """
        return run_blocking(self._extract(self._memory.parts, messages, scope_of(scope)))

    async def aextract(self, messages: Sequence[Any], scope: MemoryScope | str) -> Extraction:
        """Return the facts of a conversation, compared with memory. Nothing is stored.

        Args:
            messages: Messages of LangChain, mappings with role and content, or pairs of both.
            scope: Whose memory the facts are compared with, and which user speaks.

        Returns:
            The proposals, and what they have cost.

        Raises:
            ScopeMissing: Without a group.
        """
        return await self._extract(self._memory.parts.native, messages, scope_of(scope))

    def estimate(self, messages: Sequence[Any]) -> ExtractionUsage:
        """Estimate what extracting a conversation would cost, without calling the model.

        Args:
            messages: As for `extract`.

        Returns:
            Calls and tokens; none if rules extract.
        """
        if self._learner.model is None:
            return ExtractionUsage()
        return usage_before(self._turns(messages), self.limits)

    # Storing.

    def learn(self, messages: Sequence[Any], scope: MemoryScope | str) -> Extraction:
        """Record a conversation in quarantine, and propose its facts at once.

        Messages that were recorded before, by this method or by `TieredMemoryMiddleware` in the
        same session, are recorded once, and read once.

        Args:
            messages: As for `extract`. Results of tools are not recorded; they lower the trust of
                the answers after them.
            scope: Tenant, group and user; its session is the thread.

        Returns:
            The proposals, with the ids of their entries.

        Raises:
            ScopeMissing: Without a group.
            StoreUnavailable: If quarantine cannot be written.
        """
        return run_blocking(self._learn(self._memory.parts, messages, scope_of(scope)))

    async def alearn(self, messages: Sequence[Any], scope: MemoryScope | str) -> Extraction:
        """Record a conversation in quarantine, and propose its facts at once.

        Messages that were recorded before, by this method or by `TieredMemoryMiddleware` in the
        same session, are recorded once, and read once.

        Args:
            messages: As for `extract`. Results of tools are not recorded; they lower the trust of
                the answers after them.
            scope: Tenant, group and user; its session is the thread.

        Returns:
            The proposals, with the ids of their entries.

        Raises:
            ScopeMissing: Without a group.
            StoreUnavailable: If quarantine cannot be written.
        """
        return await self._learn(self._memory.parts.native, messages, scope_of(scope))

    def submit(self, scope: MemoryScope | str) -> None:
        """Enqueue a thread whose messages are in quarantine; it is read when it falls silent.

        This takes under a millisecond and calls no model.

        Args:
            scope: Tenant, group, user and session.

        Raises:
            ScopeMissing: Without a group.
            StoreUnavailable: If the queue cannot be written.
        """
        thread = group_of(scope_of(scope), "learning")
        self._queue.put(
            thread,
            now=self._now(),
            delay=self.limits.delay_seconds,
            longest=self.limits.longest_delay_seconds,
        )
        if self._worker is not None:
            self._worker.wake()

    async def asubmit(self, scope: MemoryScope | str) -> None:
        """Enqueue a thread whose messages are in quarantine; it is read when it falls silent.

        This takes under a millisecond and calls no model.

        Args:
            scope: Tenant, group, user and session.

        Raises:
            ScopeMissing: Without a group.
            StoreUnavailable: If the queue cannot be written.
        """
        await self._memory.parts.native.runner.offload(self.submit, scope)

    def flush(self, *, everything: bool = False) -> list[Extraction]:
        """Extract the facts of the threads that are due.

        Several processes may do so at once: each thread is read by one of them, and its facts are
        stored once, also if a process is killed in between.

        Args:
            everything: Whether threads that are not silent yet are read as well.

        Returns:
            One result for each thread. A thread whose extraction fails is logged, and tried again
            later.

        Raises:
            StoreUnavailable: If the queue cannot be read.
            StoreClosed: After `close`.
        """
        return run_blocking(self._flush(self._memory.parts, everything=everything))

    async def aflush(self, *, everything: bool = False) -> list[Extraction]:
        """Extract the facts of the threads that are due.

        Several processes may do so at once: each thread is read by one of them, and its facts are
        stored once, also if a process is killed in between.

        Args:
            everything: Whether threads that are not silent yet are read as well.

        Returns:
            One result for each thread. A thread whose extraction fails is logged, and tried again
            later.

        Raises:
            StoreUnavailable: If the queue cannot be read.
            StoreClosed: After `close`.
        """
        return await self._flush(self._memory.parts.native, everything=everything)

    def catch_up(self, scope: MemoryScope | str) -> int:
        """Enqueue the threads of a group that have messages which were never read.

        Call it after a restart where the queue is not durable, or was lost with its machine.

        Args:
            scope: Tenant and group.

        Returns:
            How many threads were enqueued; of the newest 1,000 entries of the group.
        """
        return run_blocking(self._catch_up(self._memory.parts, scope_of(scope)))

    async def acatch_up(self, scope: MemoryScope | str) -> int:
        """Enqueue the threads of a group that have messages which were never read.

        Call it after a restart where the queue is not durable, or was lost with its machine.

        Args:
            scope: Tenant and group.

        Returns:
            How many threads were enqueued; of the newest 1,000 entries of the group.
        """
        return await self._catch_up(self._memory.parts.native, scope_of(scope))

    def close(self) -> None:
        """Stop the worker and close the queue. May be called twice.

        What waits in a durable queue is read by the next process; of another queue it is read now.
        """
        run_blocking(self._close(self._memory.parts))

    async def aclose(self) -> None:
        """Stop the worker and close the queue. May be called twice.

        What waits in a durable queue is read by the next process; of another queue it is read now.
        """
        await self._close(self._memory.parts.native)

    # The coroutines behind the methods.

    async def _extract(
        self, parts: Parts, messages: Sequence[Any], scope: MemoryScope
    ) -> Extraction:
        group_of(scope, "learning")
        turns = self._turns(messages)
        reconciled, extraction = await self._learner.read(parts, scope, turns)
        facts = tuple(item.fact for item in reconciled)
        return replace(extraction, facts=facts)

    async def _learn(self, parts: Parts, messages: Sequence[Any], scope: MemoryScope) -> Extraction:
        scope = group_of(scope, "learning")
        if not scope.session_id:
            scope = replace(scope, session_id=parts.new_id())
        await self._learner.record(parts, scope, turns_of(messages))
        return await self._learner.learn(parts, scope)

    async def _flush(self, parts: Parts, *, everything: bool) -> list[Extraction]:
        results: list[Extraction] = []
        done: set[tuple[str, str, str, str]] = set()
        while True:
            threads, has_more = await parts.runner.offload(self._take, everything), False
            for thread in threads:
                if thread.key in done:  # it failed, or was enqueued again: the next flush has it
                    await parts.runner.offload(self._queue.release, thread, self._owner)
                    continue
                done.add(thread.key)
                extraction = await self._learn_queued(parts, thread)
                if extraction is not None:
                    results.append(extraction)
                has_more = True
            if not has_more:
                return results

    def _take(self, everything: bool) -> list[QueuedThread]:
        return self._queue.take(
            now=self._now(),
            owner=self._owner,
            lease=self.limits.lease_seconds,
            limit=self.limits.threads,
            everything=everything,
        )

    async def _learn_queued(self, parts: Parts, thread: QueuedThread) -> Extraction | None:
        """Read one thread of the queue; None if that failed."""
        try:
            extraction = await self._learner.learn(parts, thread.scope)
        except StoreClosed:
            self._queue.release(thread, self._owner)
            raise
        except Exception as error:  # noqa: BLE001 - another thread of the queue may do better
            # While a store is away, the number of attempts says nothing about the thread.
            is_away = isinstance(error, StoreUnavailable)
            again = self._queue.fail(
                thread,
                self._owner,
                again_at=self._now() + self.limits.retry_seconds * 2 ** min(thread.attempts, 5),
                most=sys.maxsize if is_away else self.limits.attempts,
            )
            logger.warning(
                "the facts of a thread were not extracted (%s: %s); %s",
                type(error).__name__,
                error,
                "it is tried again" if again else "catch_up(scope) finds it again",
            )
            return None
        self._queue.finish(thread, self._owner)
        return extraction

    async def _catch_up(self, parts: Parts, scope: MemoryScope) -> int:
        threads = await unread_threads(parts, group_of(scope, "learning"), self.limits.looked_back)
        for thread in threads:
            self.submit(thread)
        return len(threads)

    async def _close(self, parts: Parts) -> None:
        if self._worker is not None:
            await parts.runner.offload(self._worker.stop)
        if not self.is_durable:
            with suppress(StoreClosed):
                await self._flush(parts, everything=True)
        self._queue.close()

    def _turns(self, messages: Sequence[Any]) -> list[ConversationTurn]:
        redact = self._memory.parts.redacted
        return [replace(turn, text=redact(turn.text)) for turn in turns_of(messages)]

    def _now(self) -> float:
        return self._memory.parts.clock().timestamp()

    def _seconds_to_next(self) -> float:
        """Return how long the worker may sleep."""
        due = self._queue.next_due()
        return _IDLE if due is None else min(max(due - self._now(), 0.0), _IDLE)


class _BackgroundFlush:
    """The thread of a manager that reads what is due.

    It is started by the first thread that is enqueued, and is a daemon: a model that hangs does not
    keep the interpreter from exiting, and a durable queue has what it did not finish.
    """

    def __init__(self, manager: MemoryManager) -> None:
        self._manager = manager
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def wake(self) -> None:
        """Start the thread, or let it look at the queue again."""
        with self._lock:
            if self._is_stopped:
                return
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._serve, name="memoryware-manager", daemon=True
                )
                self._thread.start()
        self._changed.set()

    def stop(self, timeout: float | None = None) -> None:
        """End the thread, after the conversation that it is reading; wait for it some seconds."""
        with self._lock:
            self._is_stopped = True
            thread = self._thread
        self._changed.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _serve(self) -> None:
        while not self._is_stopped:
            self._changed.clear()
            try:
                self._manager.flush()
                seconds = self._manager._seconds_to_next()  # noqa: SLF001 - of the same module
            except StoreClosed:
                return
            except Exception as error:  # noqa: BLE001 - the thread is to survive a store that is away
                logger.warning("the memory manager: %s: %s", type(error).__name__, error)
                seconds = _IDLE
            self._changed.wait(max(seconds, _LEAST_WAIT))


class _ManagedQueue:
    """The queue of a manager, as its memory knows it: to forget in it, and to close it."""

    def __init__(self, queue: ThreadJobQueue, worker: _BackgroundFlush | None) -> None:
        self.queue = queue
        self._worker = worker

    def close(self) -> None:
        """Close the queue, since its memory is closed; what waits in the process is not read."""
        if self._worker is not None:
            self._worker.stop(_CLOSING)
        self.queue.close()


def _chat_model(model: Any) -> Any:
    """Return the chat model of an option.

    Raises:
        SettingError: If it is neither a name nor a chat model.
    """
    if isinstance(model, str):
        from langchain.chat_models import init_chat_model  # takes a second; only who names a model

        return init_chat_model(model)
    if model is not None and not (hasattr(model, "invoke") and hasattr(model, "ainvoke")):
        raise SettingError(
            f"model={type(model).__name__}: pass a LangChain chat model, a name such as"
            ' "openai:gpt-4.1-mini", or None for rules'
        )
    return model
