"""`TieredMemoryMiddleware`: recall memory of a group, and record the answers of its agent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

from langchain.agents.middleware.types import TracePolicy, omit_payload

from memoryware import _checking
from memoryware._clock import NewId, random_id
from memoryware.middleware._agent_state import TieredStateKeys, tiered_state_schema
from memoryware.middleware._memory_tools import (
    RECALL,
    REMEMBER,
    make_recall_tool,
    make_remember_tool,
    name_of_tool,
)
from memoryware.middleware._option_checks import check_choices, check_middleware_name
from memoryware.middleware._tiered_hooks import TieredHooks
from memoryware.middleware._tiered_options import (
    BlockPlacement,
    Record,
    Retrieve,
    TieredOptions,
    check_memory,
)
from memoryware.middleware._tiered_recall import Recaller, RunRegistry
from memoryware.middleware._tiered_recording import Recorder
from memoryware.scope import GROUP_KEYS, MemoryScope
from memoryware.tiers._run_options import (
    check_max_results,
    check_min_trust,
    check_score_threshold,
    default_scope,
    group_keys_of,
)
from memoryware.tiers.client.memory import TieredMemory
from memoryware.tiers.messages import Attachments
from memoryware.tiers.model import Role
from memoryware.tiers.provenance import Trust

__all__ = ["TieredMemoryMiddleware"]


class TieredMemoryMiddleware(TieredHooks):
    """Recalls memory before the model is called, and records its answers.

    What most programs need:

        memory = TieredMemory.open("sqlite:///memory.db")
        agent = create_agent(model, middleware=[TieredMemoryMiddleware(memory)])
        agent.invoke({"messages": [...]}, context={"group_id": "shop", "user_id": "ann"})

    Each run recalls what fits the newest message, and records its final answer in quarantine and
    working memory. Options, by what they are about (each is described below):

    - what is recalled: `retrieve`, `max_results`, `score_threshold`, `min_trust`, `placement`
    - what is recorded: `record`, `record_tools`, `record_structured`, `role`
    - what the model may do itself: `recall_tool`, `remember_tool`
    - where trust comes from: `inside_tools`, `attachments`
    - whose memory it is: `scope`, `group_keys`, `name`

    Scope: who asks comes from the context or config of the run, never from a message or a tool
    call. Privacy: recalled texts are in the request only. Messages, checkpoints, streams and
    results have ids, names of tools, paths of memory files, and the id of who asked while a run
    waits. In the request no words of others can be taken for the fence of memory.

    Lineage: what the model really made is recorded when the run has ended. Everything that was in
    the thread before it counts, results of tools as well, so its trust is the lowest of all of
    these. With `on_error="warn"` of the memory a failing store never ends a run.

    Args:
        memory: The tiered memory.
        retrieve: "run" asks memory once in each run, with the newest message of the person;
            "call" before each model call; None never.
        max_results: Items that are recalled at most; by default as for `TieredMemory.retrieve`.
        score_threshold: Least cosine of what is recalled; see `TieredMemory.retrieve`.
        min_trust: The least trust of what is recalled, by the tool as well; None for any. Text
            from outside is shown to other users of the group only after a person has promoted
            it, whatever this says; see `share_outside` of `TieredMemory`.
        placement: "message" puts the block at the beginning of the newest message of the
            person, in a copy of it that only the request has. It keeps that position during a
            run, so that a provider's cache serves the calls that follow. "system" appends it to
            the system message; list the middleware after others that do.
        record: "final" records the answer with which a run ends, "each_model_call" every text of
            the model in it; None nothing. All are written in one transaction when the run has
            ended. A run that fails, is cancelled or is given up records nothing, one that waits
            records when it has ended.
        record_tools: Keep the results of tools in quarantine, each as soon as it is there, also of
            a run that fails later.
        record_structured: Record a structured response, as JSON.
        role: The role of this agent: "fact_check" recalls long-term memory alone and records
            in quarantine alone, "memory_retrieval" recalls by its tool alone and records nothing,
            "tool" and "other" recall nothing and record in quarantine alone; see `ROLES`.
            `metadata={"memory_role": ...}` of a graph node sets it as well, for the agent in it.
        recall_tool: Offer the tool `recall(query)`, which searches the caller's own memory. Its
            message says how much was found; the texts are shown while that run lasts. After
            an interrupt they are looked up again. Hidden from a role that recalls nothing.
        remember_tool: Offer the tool `remember(text)`, which puts a note into quarantine.
            Both tools are hidden in a run that has no group.
        inside_tools: Names of tools that bring nothing from outside. What any other tool has
            returned makes all that is said after it untrusted.
        attachments: How images, files and documents in messages of people are trusted: "outside"
            makes what is said after them untrusted, "user" trusts them as what the person wrote,
            such as recordings of the person's own voice.
        scope: Fills what a run does not say; a text is read as its group.
        group_keys: Names under which a context or config may carry the group.
        name: A name of its own, needed when one agent has several memories; their tools are
            then called `recall_<name>` and `remember_<name>`.
        new_id: Makes ids of runs; for tests.

    Raises:
        SettingError: For an option that cannot work.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

    def __init__(
        self,
        memory: TieredMemory,
        *,
        retrieve: Retrieve | None = "run",
        max_results: int | None = None,
        score_threshold: float | None = None,
        min_trust: Trust | None = None,
        placement: BlockPlacement = "message",
        record: Record | None = "final",
        record_tools: bool = False,
        record_structured: bool = False,
        role: Role = "agent",
        recall_tool: bool = True,
        remember_tool: bool = False,
        inside_tools: Collection[str] = (),
        attachments: Attachments = "outside",
        scope: MemoryScope | str | None = None,
        group_keys: Sequence[str] = GROUP_KEYS,
        name: str | None = None,
        new_id: NewId = random_id,
    ) -> None:
        super().__init__()
        check_choices(
            retrieve=(retrieve, (*get_args(Retrieve), None)),
            record=(record, (*get_args(Record), None)),
            placement=(placement, get_args(BlockPlacement)),
            role=(role, get_args(Role)),
            attachments=(attachments, get_args(Attachments)),
        )
        check_score_threshold(score_threshold)
        check_max_results("max_results", 0 if max_results is None else max_results)
        check_min_trust(min_trust)
        check_middleware_name(name)
        self._name, self._new_id = name, new_id
        recall = name_of_tool(RECALL, name) if recall_tool else None
        remember = name_of_tool(REMEMBER, name) if remember_tool else None
        self._options = TieredOptions(
            memory=check_memory(memory),
            name=self.name,
            retrieve=retrieve,
            record=record,
            placement=placement,
            role=role,
            record_tools=record_tools,
            record_structured=record_structured,
            inside=frozenset(_checking.checked_names("inside_tools", inside_tools)),
            attachments=attachments,
            own=frozenset(tool for tool in (recall, remember) if tool),
            score_threshold=score_threshold,
            max_results=max_results,
            min_trust=min_trust,
            scope=default_scope(scope),
            group_keys=group_keys_of(group_keys),
        )
        self._assemble(recall, remember)

    def _assemble(self, recall: str | None, remember: str | None) -> None:
        """Create the parts that the hooks use."""
        self._keys = TieredStateKeys.of(self.name)
        self.state_schema = tiered_state_schema(self._keys)
        self._runs = RunRegistry(self._options.memory, self._new_id)
        self._recaller = Recaller(self._options, self._runs)
        self._recorder = Recorder(self._options, self._runs)
        self.tools = []
        self._tool_takes = {}
        if recall:
            self.tools.append(make_recall_tool(recall, self._search))
            self._tool_takes[recall] = "query"
        if remember:
            self.tools.append(make_remember_tool(remember, self._remember))
            self._tool_takes[remember] = "text"

    @property
    def name(self) -> str:
        """The name given, or the class name."""
        return self._name or type(self).__name__
