"""For a service with memory: what is done in the background, in a process of its own.

    python worker.py

It deletes expired entries of working memory, embeds memories whose model was away, learns facts
from conversations, promotes what the policy accepts by itself, and reports what waits for a
reviewer. On SIGTERM it finishes the job at hand, closes memory, and exits with 0. A job that fails
is logged and tried again; the others go on. Several workers do no harm.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from memoryware import MemoryScope, PromotionPolicy, TieredMemory
from memoryware.errors import MemorywareError
from memoryware.settings import ExtractionLimits
from memoryware.tiers import MemoryManager


@dataclass
class Job:
    """Work that is done again and again.

    Attributes:
        name: Its name in the log.
        seconds: The pause between two times.
        work: Does it; returns numbers for the log, never texts of memory.
        due: When it is done next, on the clock `time.monotonic`.
    """

    name: str
    seconds: float
    work: Callable[[TieredMemory], Mapping[str, Any]]
    due: float = 0.0


def cleanup(memory: TieredMemory) -> Mapping[str, Any]:
    """Delete expired entries of working memory; they are not shown anyway."""
    return {"deleted": memory.cleanup_working_memory()}


def embed(memory: TieredMemory) -> Mapping[str, Any]:
    """Embed memories that were promoted while the embedding model was away."""
    return {"embedded": memory.embed_pending(limit=200)}


def learn(manager: MemoryManager) -> Mapping[str, Any]:
    """Propose the facts of conversations that have fallen silent, for review."""
    extractions = manager.flush()
    # After the flush: a thread that is enqueued again starts to wait again.
    enqueued = sum(manager.catch_up(scope) for scope in groups())
    return {"enqueued": enqueued, "facts": sum(len(result.facts) for result in extractions)}


def promote(memory: TieredMemory) -> Mapping[str, Any]:
    """Promote what the policy accepts without a decision; nothing with the default policy."""
    return {"promoted": sum(len(memory.promote_due(scope)) for scope in groups())}


def report(memory: TieredMemory) -> Mapping[str, Any]:
    """Count what waits for a reviewer, by group. Send it where your reviewers look."""
    return {"waiting": {str(scope.group_id): memory.count_waiting(scope) for scope in groups()}}


def groups() -> list[MemoryScope]:
    """Return the groups of `REPORT_GROUPS`: "shop bakery", or "acme/shop" of a tenant."""
    names = [name.rpartition("/") for name in os.environ.get("REPORT_GROUPS", "").split()]
    return [MemoryScope(tenant=tenant or None, group_id=group) for tenant, _, group in names]


def default_jobs(memory: TieredMemory) -> list[Job]:
    every = float(os.environ.get("EVERY", "60"))  # seconds
    jobs = [
        Job("cleanup", every, cleanup),
        Job("promote", every, promote),
        Job("report", 10 * every, report),
    ]
    if os.environ.get("EMBEDDINGS"):
        jobs.append(Job("embed", every, embed))
    if name := os.environ.get("LEARN"):  # "rules", or a model such as "openai:gpt-4.1-mini"
        limits = ExtractionLimits(delay_seconds=float(os.environ.get("LEARN_DELAY", "30")))
        model = None if name == "rules" else name
        manager = MemoryManager(memory, model, limits=limits, background=False)
        jobs.insert(1, Job("learn", every, lambda _: learn(manager)))
    return jobs


def policy() -> PromotionPolicy:
    """Return the policy that `POLICY` names: "reviewed", or "automatic" after `POLICY_DAYS`."""
    days = os.environ.get("POLICY_DAYS")
    after = timedelta(days=float(days)) if days else None
    return PromotionPolicy.recipe(os.environ.get("POLICY", "reviewed"), after=after)


def run(memory: TieredMemory, jobs: list[Job], stop: threading.Event) -> None:
    """Do jobs when they are due, until `stop` is set."""
    alive = Path(os.environ.get("ALIVE_FILE", "/tmp/worker-alive"))  # for a health check
    while not stop.is_set():
        for job in jobs:
            if job.due <= time.monotonic() and not stop.is_set():
                do(job, memory)
                job.due = time.monotonic() + job.seconds
        alive.touch()
        stop.wait(min(5.0, max(0.0, min(job.due for job in jobs) - time.monotonic())))


def do(job: Job, memory: TieredMemory) -> None:
    """Do a job once; a store or a model that is away does not end the worker."""
    started = time.monotonic()
    try:
        result = job.work(memory)
    except (MemorywareError, OSError) as error:
        log(job=job.name, error=type(error).__name__, message=str(error))
    else:
        log(job=job.name, seconds=round(time.monotonic() - started, 3), **result)


def log(**facts: Any) -> None:
    """Write a line of JSON, which log collectors read as it is."""
    print(json.dumps(facts), flush=True)


def main() -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    address = os.environ.get("MEMORY_URL", "sqlite:///memory.db")
    embeddings = os.environ.get("EMBEDDINGS")
    with TieredMemory.open(address, embeddings=embeddings, policy=policy()) as memory:
        log(worker="started", pid=os.getpid())
        run(memory, default_jobs(memory), stop)
    log(worker="stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
