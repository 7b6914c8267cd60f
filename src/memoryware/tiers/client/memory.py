"""`TieredMemory`: open a memory, with its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypedDict, get_args

from typing_extensions import Unpack

from memoryware._clock import Clock, NewId, random_id, utc_now
from memoryware._closing import ClosedOnExit
from memoryware._copying import ReconstructedOnUnpickling, opened_by
from memoryware._runner import ASYNC, BLOCKING, Runner, in_thread, run_blocking
from memoryware.errors import SettingError
from memoryware.guard import Guard, rounded
from memoryware.settings import Ranking, TierLimits
from memoryware.tiers import checking
from memoryware.tiers._parts import (
    IngressFilter,
    OnError,
    OnMismatch,
    Parts,
    TtlScope,
    WorkingRanking,
    checked,
)
from memoryware.tiers.client.entries import EntryOperations, RecallOperations
from memoryware.tiers.client.lifecycle import AuditOperations, LifecycleOperations
from memoryware.tiers.client.promotions import PromotionOperations
from memoryware.tiers.client.several import SeveralOperations
from memoryware.tiers.embedding import (
    Embedder,
    Reranker,
    Rescorer,
    anamed_embeddings,
    named_embeddings,
    space_name,
)
from memoryware.tiers.filters import default_filters
from memoryware.tiers.journal import Journal
from memoryware.tiers.policy import PromotionPolicy
from memoryware.tiers.reindex import check_space
from memoryware.tiers.stores.opening import absolute_address, aopen_stores, open_stores
from memoryware.tiers.stores.protocol import Stores

if TYPE_CHECKING:
    from langchain_core.cross_encoders import BaseCrossEncoder
    from langchain_core.embeddings import Embeddings


_REDACT = Guard(on_secret="redact")  # noqa: S106 - a mode, not a secret


class OpenOptions(TypedDict, total=False):
    """The options of `TieredMemory` that `open` passes on; they are described there."""

    embeddings: Embeddings | str | None
    embedding_space: str | None
    model: Any
    limits: TierLimits | None
    ranking: Ranking | None
    reranker: Reranker | BaseCrossEncoder | None
    guard: Guard | None
    filters: Sequence[IngressFilter] | None
    policy: PromotionPolicy | None
    splitter: Any
    on_error: OnError
    ttl_scope: TtlScope
    working_ranking: WorkingRanking | None
    share_outside: bool
    clock: Clock
    new_id: NewId
    journal: Journal | str | PathLike[str] | None


class TieredMemory(
    ReconstructedOnUnpickling,
    ClosedOnExit,
    EntryOperations,
    PromotionOperations,
    RecallOperations,
    LifecycleOperations,
    SeveralOperations,
    AuditOperations,
):
    """Memory in three tiers: quarantine, working memory, long-term memory.

    `TieredMemory.open("sqlite:///memory.db")` is the usual way; this constructor takes stores
    of your own. Every method has an async twin whose name begins with `a`. It may be used by
    several threads and tasks, and several processes may open one file.

    Args:
        stores: The stores of the three tiers.
        embeddings: A LangChain `Embeddings` object, "local" or "local:multilingual" for a model
            on this machine, or "provider:model" for `init_embeddings`. Without one, words alone
            find.
        embedding_space: The name of its space, which is stored with the vectors; the name of
            its model by default. Vectors of two spaces are never compared.
        model: A chat model that may write a statement of a digest that has several wordings;
            without one the words of an entry are used.
        limits: Every limit.
        ranking: The weights by which recalled texts are ranked.
        reranker: A model that scores the best candidates again: a `Reranker`, or a LangChain
            cross-encoder.
        guard: Finds secrets, which are removed from every text before it is stored; None stores
            them.
        filters: The filters of working memory, in order; the first that refuses decides.
            `default_filters(limits)` by default.
        policy: The requirements of a promotion.
        splitter: A LangChain `TextSplitter` for long-term memory; by default chunks of
            `chunk_chars` characters.
        on_error: "warn" lets an agent run on when its memory fails, "raise" ends the run.
            What you call yourself raises either way, except `retrieve`, which raises
            `StoreClosed` either way.
        ttl_scope: "item" lets each entry of working memory expire after its own time, "list"
            lets every write renew the whole list of its group; what has expired before is
            removed and not revived. Other groups wait for `cleanup_working_memory`.
        working_ranking: "relevance", the default, ranks working memory by what fits the query, by
            the same measure as long-term memory; "recency" ranks it by age alone.
        share_outside: Show text that came from outside to all users of its group at once. By
            default only the user in whose run it came is shown it, until a person promotes it.
        clock: Returns the current time, with a time zone.
        new_id: Returns a new id.
        journal: A file, or a `Journal`, that logs which memories each run was shown, and who
            revoked, restored or forgot records. Without one the audit log lacks these, and
            restoring a revocation takes its receipt.

    Raises:
        SettingError: For an invalid option.
    """

    def __init__(
        self,
        stores: Stores,
        *,
        embeddings: Embeddings | str | None = None,
        embedding_space: str | None = None,
        model: Any = None,
        limits: TierLimits | None = None,
        ranking: Ranking | None = None,
        reranker: Reranker | BaseCrossEncoder | None = None,
        guard: Guard | None = _REDACT,
        filters: Sequence[IngressFilter] | None = None,
        policy: PromotionPolicy | None = None,
        splitter: Any = None,
        on_error: OnError = "warn",
        ttl_scope: TtlScope = "item",
        working_ranking: WorkingRanking | None = None,
        share_outside: bool = False,
        clock: Clock = utc_now,
        new_id: NewId = random_id,
        journal: Journal | str | PathLike[str] | None = None,
    ) -> None:
        checking.choice("on_error", on_error, get_args(OnError))
        checking.choice("ttl_scope", ttl_scope, get_args(TtlScope))
        if working_ranking is not None:
            checking.choice("working_ranking", working_ranking, get_args(WorkingRanking))
        checking.instance("share_outside", share_outside, (bool,))
        checked(
            stores=stores,
            embeddings=embeddings,
            embedding_space=embedding_space,
            model=model,
            limits=limits,
            ranking=ranking,
            reranker=reranker,
            guard=guard,
            filters=filters,
            policy=policy,
            splitter=splitter,
            clock=clock,
            new_id=new_id,
        )
        limits = limits or TierLimits()
        self.parts = Parts(
            stores=stores,
            policy=policy or PromotionPolicy(),
            filters=default_filters(limits, guard) if filters is None else tuple(filters),
            embedder=_embedder(embeddings, embedding_space, limits),
            model=model,
            splitter=splitter,
            guard=guard,
            limits=limits,
            ranking=ranking or Ranking(),
            rescorer=Rescorer(reranker, limits.rerank_timeout) if reranker is not None else None,
            on_error=on_error,
            ttl_scope=ttl_scope,
            working_ranking=working_ranking,
            share_outside=share_outside,
            clock=clock,
            new_id=new_id,
            journal=_journal(journal),
        )

    @property
    def limits(self) -> TierLimits:
        """Every limit."""
        return self.parts.limits

    @property
    def on_error(self) -> OnError:
        """What happens if a tier fails in a run."""
        return self.parts.on_error

    @classmethod
    def open(
        cls,
        url: str = "sqlite:///memory.db",
        *,
        on_mismatch: OnMismatch = "raise",
        **options: Unpack[OpenOptions],
    ) -> Self:
        """Open the memory at an address, and make it if it is not there.

        Args:
            url: "sqlite:///memory.db" is a file in the current folder, "sqlite:////var/m.db"
                one by its full path, "memory://" lives as long as the process.
                "sqlite:///memory.db + redis://host" keeps working memory in Redis.
            on_mismatch: What to do if the vectors there are of another model: "raise", or
                "words" to let words alone find until `reindex()`.
            options: As for the class.

        Returns:
            The memory. Close it, or use it with `with`.

        Raises:
            StoreUnavailable: If it cannot be opened; the message says what to do.
            StoreNewer: If a newer version has written it.
            EmbeddingMismatch: If its vectors are of another model.
        """
        return run_blocking(cls._open(BLOCKING, url, on_mismatch, options))

    @classmethod
    async def aopen(
        cls,
        url: str = "sqlite:///memory.db",
        *,
        on_mismatch: OnMismatch = "raise",
        **options: Unpack[OpenOptions],
    ) -> Self:
        """Open the memory at an address, and make it if it is not there.

        Args:
            url: "sqlite:///memory.db" is a file in the current folder, "sqlite:////var/m.db"
                one by its full path, "memory://" lives as long as the process.
                "sqlite:///memory.db + redis://host" keeps working memory in Redis.
            on_mismatch: What to do if the vectors there are of another model: "raise", or
                "words" to let words alone find until `reindex()`.
            options: As for the class.

        Returns:
            The memory. Close it, or use it with `with`.

        Raises:
            StoreUnavailable: If it cannot be opened; the message says what to do.
            StoreNewer: If a newer version has written it.
            EmbeddingMismatch: If its vectors are of another model.
        """
        await in_thread(
            rounded, ""
        )  # its table is a file, which a recall must not read on the loop
        return await cls._open(ASYNC, url, on_mismatch, options)

    @classmethod
    async def _open(
        cls, runner: Runner, url: str, on_mismatch: OnMismatch, options: OpenOptions
    ) -> Self:
        checking.choice("on_mismatch", on_mismatch, get_args(OnMismatch))
        checked(limits=options.get("limits"))
        patience = (options.get("limits") or TierLimits()).lock_timeout
        # before there is a file: the package of the model may be missing
        named = await runner.call(named_embeddings, anamed_embeddings, options.get("embeddings"))
        stores = await runner.call(open_stores, aopen_stores, url, lock_timeout=patience)
        try:
            memory = cls(stores, **{**options, "embeddings": named})
            memory.parts = replace(memory.parts, on_mismatch=on_mismatch)
            await check_space(replace(memory.parts, runner=runner), on_mismatch)
            address = await runner.offload(absolute_address, url)
            opened_by(memory, cls.open, (address,), {"on_mismatch": on_mismatch, **options})
        except BaseException:
            for store in (stores.quarantine, stores.working, stores.long_term):
                await runner.call(store.close, store.aclose)
            raise
        return memory

    # A copy is the same memory: it has the same connections, and closing one would close both.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.parts.stores.reopen is None:
            self.parts.stores.__reduce_ex__(protocol)  # which says what to do
        return super().__reduce_ex__(protocol)

    def close(self) -> None:
        """Close the stores, and the managers that learn for this memory. May be called twice.

        Operations that are called later raise `StoreClosed`. What waits in a durable queue is
        read by the next process; close a manager with another queue before, so that it reads it.
        """
        run_blocking(self._close(BLOCKING))

    async def aclose(self) -> None:
        """Close the stores, and the managers that learn for this memory. May be called twice.

        Operations that are called later raise `StoreClosed`. What waits in a durable queue is
        read by the next process; close a manager with another queue before, so that it reads it.
        """
        await self._close(ASYNC)

    async def _close(self, runner: Runner) -> None:
        for queue in self.parts.queues.all():
            await runner.offload(queue.close)
        stores = self.parts.stores
        for store in (stores.quarantine, stores.working, stores.long_term):
            await runner.call(store.close, store.aclose)


def _journal(journal: Journal | str | PathLike[str] | None) -> Journal | None:
    return journal if journal is None or isinstance(journal, Journal) else Journal(journal)


def _embedder(embeddings: Any, space: str | None, limits: TierLimits) -> Embedder | None:
    if embeddings is None:
        if space is not None:
            raise SettingError(
                f"embedding_space={space!r}: names the space of embeddings=, and there are none"
            )
        return None
    model = named_embeddings(embeddings)
    name = space or space_name(model)
    return Embedder(model, name, limits.embed_batch, limits.embed_timeout)
