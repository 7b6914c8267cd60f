"""Record the answers of a model, each once, with its lineage."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from pydantic import BaseModel

from memoryware import _langchain
from memoryware._runner import Runner
from memoryware.errors import MemorywareError, StoreUnavailable, StoreUnconfirmed
from memoryware.events import emit, logger
from memoryware.middleware._agent_state import ThreadLineage
from memoryware.middleware._options import TieredOptions
from memoryware.middleware._request_messages import answers_in, final_answer, ids_in, last_call
from memoryware.middleware._tiered_recall import (
    PARENT_RUN,
    Messages,
    ModelAnswer,
    ParentRun,
    PendingAnswer,
    RunContext,
    RunRegistry,
)
from memoryware.scope import MemoryScope
from memoryware.tiers.automatic import AFTER_RUN, promote_due
from memoryware.tiers.messages import (
    RECALLED,
    RECORDED,
    UNKNOWN_RECALL,
    answer_of,
    has_user,
    kind_of,
    media_in,
    outside_tools,
    text_of,
    value_in,
)
from memoryware.tiers.model import hash_of
from memoryware.tiers.provenance import UNTRUSTED, Origin, Provenance
from memoryware.tiers.run_origins import declared_origins
from memoryware.tiers.thread_history import outermost_messages, position_in, settle_thread
from memoryware.tiers.values import ContextItem, Layer, Output, Recorded, item_of

# Keys of `additional_kwargs` in which another middleware may have noted a verdict.
_ANSWER_NOTES: Final = ("confidence", "verify_pending")
# The key of `additional_kwargs` in which LangChain's middleware names itself as the author of a
# message of type "human": summaries, pinned skills.
_MADE_BY: Final = "lc_source"
_QUARANTINE: Final[tuple[Layer, ...]] = ("quarantine",)


class Recorder:
    """Records for the runs of one middleware."""

    def __init__(self, options: TieredOptions, runs: RunRegistry) -> None:
        self._options, self._runs = options, runs

    async def record(
        self, runner: Runner, context: RunContext, *, every: bool, structured: Any = None
    ) -> ThreadLineage:
        """Record what the model said in one transaction, and return the updated thread state.

        Args:
            runner: Calls what may block.
            context: The run, with all its messages.
            every: Whether every answer is recorded, or only one with which the run ended.
            structured: The structured response of the run, if there is one.
        """
        # Answers are collected until the run has ended, and not written one by one: whether an
        # answer counts is known only then (a run that fails or is given up records nothing), and
        # each transaction waits for the disk. A process that is killed loses none that counts: the
        # state of the thread has the ids of answers, so with a checkpointer another process
        # resumes the run and records them at its end. Their idempotency keys are made of the
        # message, so that a run that is resumed after its flush records nothing twice.
        thread = replace(context.thread, answer_ids=(), asked_ids=())
        utterances = await self._utterances(runner, context)
        due = self._answers_due(context, every=every, structured=structured)
        answers = await self._outputs(runner, context, due)
        made_of = tuple(output.key for output in utterances if output.key)
        outputs = [*utterances, *(replace(output, made_of=made_of) for output in answers)]
        tiers = self._options.tiers_of(context.role)
        for output, recorded in zip(
            outputs, await self._record(runner, context, outputs, tiers), strict=True
        ):
            if recorded is None:
                continue
            if output.role == "user":
                context.run.recorded.add(output.key or "")
                continue
            self._note_recorded(context, output)
            provenance = recorded.entry.provenance
            named = {root.name for root in provenance.roots if root.kind == "user"}
            askers = tuple(user for user in thread.askers if user not in named)
            thread = replace(thread, last=recorded.entry.id, askers=askers)
        return thread

    async def promote_due(self, runner: Runner, context: RunContext) -> None:
        """Promote what the policy accepts by itself, now that the run is recorded."""
        memory = self._options.memory
        if memory.parts.policy.promotes_after is None or not context.scope.group_id:
            return
        try:
            await promote_due(memory.parts.on(runner), context.scope, limit=AFTER_RUN)
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            if memory.on_error == "raise":
                raise
            logger.warning("what is due was not promoted (%s)", type(error).__name__)

    async def enqueue(self, runner: Runner, context: RunContext) -> bool:
        """Enqueue the thread for the memory manager, if there is one; return whether it was."""
        manager = self._options.manager
        if manager is None or not context.scope.group_id or not self._records_user(context):
            return False
        try:
            await runner.call(manager.submit, manager.asubmit, context.scope)
        except Exception as error:  # the messages are recorded, and `catch_up` finds them
            if self._options.memory.on_error == "raise":
                raise
            kind = type(error).__name__
            logger.warning("a thread was not enqueued for the memory manager: %s: %s", kind, error)
            return False
        return True

    async def settle(self, runner: Runner, context: RunContext) -> None:
        """Revoke recorded answers that the thread has discarded since, as by time travel."""
        memory = self._options.memory
        if self._options.records:
            raises = memory.on_error == "raise"
            await settle_thread(
                memory.parts.on(runner), context.scope, context.messages, may_raise=raises
            )

    async def hold(self, runner: Runner, context: RunContext) -> None:
        """Keep the answers so far with their lineage, until the run has ended."""
        for index, message in answers_in(context.messages, context.thread.answer_ids):
            if message.id and message.id not in context.run.pending_answers:
                answer = _answer(message, index)
                context.run.pending_answers[message.id] = PendingAnswer(
                    answer, *await self.lineage(runner, context, answer)
                )

    # What the person says.

    def listen(self, context: RunContext) -> tuple[str, ...]:
        """Return the ids of the messages that the person has written since the last answer.

        They are named when the run begins: what is added later, such as a summary or a picture
        that a tool has read, comes from other code, whatever its type.
        """
        if not self._records_user(context):
            return ()
        newest: list[str] = []
        for message in reversed(context.messages):
            kind = kind_of(message)
            if kind == "human" and message.id and not message.additional_kwargs.get(_MADE_BY):
                newest.append(message.id)
            elif kind not in ("human", "system", "developer"):
                break
        there = {message.id for message in context.messages}
        before = [id_ for id_ in context.thread.asked_ids if id_ in there]
        return tuple(dict.fromkeys([*before, *reversed(newest)]))

    def hear(self, context: RunContext) -> None:
        """Keep the messages of the person as the model is shown them now."""
        due = {*context.thread.asked_ids}
        context.run.questions |= {
            message.id: message for message in context.messages if message.id in due
        }

    def _records_user(self, context: RunContext) -> bool:
        """Return whether messages of a run may be recorded as those of a person.

        What an agent is asked by the tool of another agent was written by a model.
        """
        return bool(self._options.record_user) and context.role == "agent" and not PARENT_RUN.get()

    async def _by_people(self, runner: Runner, messages: Messages) -> list[AnyMessage]:
        """Return the messages that a person has written, and no node or tool of a graph around.

        An agent in a node is asked either what the person has said, which the state of the
        outermost graph has as well, or something that a program or a model has written.
        """
        if not messages or not _langchain.runs_inside_another_graph():
            return [*messages]
        messages_outside = await outermost_messages(runner, self._options.memory.parts)
        outer = [other for other in messages_outside if kind_of(other) == "human"]
        ids, texts = {other.id for other in outer}, {text_of(other) for other in outer}
        return [message for message in messages if message.id in ids or text_of(message) in texts]

    async def _utterances(self, runner: Runner, context: RunContext) -> list[Output]:
        """Return what is to be recorded of the person's messages: each once, as they wrote it."""
        if not self._records_user(context):
            return []
        there = {message.id: message for message in context.messages}
        outputs: dict[str, Output] = {}
        due = [
            message
            for id_ in context.thread.asked_ids
            if (message := there.get(id_) or context.run.questions.get(id_)) is not None
        ]
        for message in await self._by_people(runner, due):
            author, text = self._options.author_of(message, context.scope), text_of(message)
            key = _key(context.scope, message.id or "", text)
            if not text or author is None or key in context.run.recorded:
                continue
            if len(text) > self._options.memory.limits.entry_chars:
                logger.info("a message of %s characters is too long to be recorded", len(text))
                emit(context.event_context, "rejected", tier="quarantine", reason="refused")
                continue
            metadata = {**_media(message), **position_in(message)}
            said_by = Provenance(Origin("user", author))
            outputs[key] = Output(text, metadata, "user", said_by, key)
        return list(outputs.values())

    def _answers_due(
        self, context: RunContext, *, every: bool, structured: Any
    ) -> list[ModelAnswer]:
        if self._options.record is None:
            return []
        answer_ids = context.thread.answer_ids
        if every:
            messages = list(answers_in(context.messages, answer_ids))
        else:
            final = final_answer(context.messages, answer_ids)
            messages = [final] if final else []
        due = [_answer(message, index) for index, message in messages]
        if every:
            there = {message.id for message in context.messages}  # others were summed up meanwhile
            gone = [
                pending.answer
                for name, pending in context.run.pending_answers.items()
                if name not in there
            ]
            due = [*gone, *due]
        # With ProviderStrategy the text of the answer is the structured response as JSON.
        if structured is None:
            return due
        due = [answer for answer in due if not _is_json(answer.text)]
        last = last_call(context.messages, answer_ids)
        if last is None or not self._options.record_structured:
            return due
        return [*due, ModelAnswer(_as_json(structured), last[1], last[0], {"structured": True})]

    async def record_tool(
        self, runner: Runner, context: RunContext, results: Sequence[ToolMessage], tool: str
    ) -> None:
        """Keep the results of a tool call in quarantine, as soon as they are there.

        Args:
            runner: Calls what may block.
            context: The run.
            results: What the tool returned. A message may carry any name.
            tool: The name under which the model called the tool.
        """
        # They do not wait for the end of the run, as answers do: a reviewer wants to see what a
        # tool brought in also of a run that fails, and a call that has ended is not repeated when
        # a run is resumed, so a lost result would be lost for good.
        texts = {id(result): text_of(result) for result in results if result.status != "error"}
        results = [result for result in results if texts.get(id(result))]
        if not results or not self._options.tiers_of(context.role):
            return
        if tool in self._options.inside:
            provenance, shown = await self.lineage(runner, context)
        else:
            provenance, shown = Provenance(Origin("tool", tool)), context.run.items
        outputs = [
            Output(
                texts[id(result)],
                {"tool": tool, **_media(result)},
                role="tool",
                provenance=provenance,
                key=_key(context.scope, result.tool_call_id, texts[id(result)]),
                shown=shown,
            )
            for result in results
        ]
        await self._record(runner, context, outputs, _QUARANTINE)

    async def remember(
        self, runner: Runner, context: RunContext, text: str, call: str
    ) -> Recorded | None:
        """Record what a model wants to remember; None if it could not be kept."""
        # It is written at once, so that the answer of the tool can say whether it was kept.
        provenance, shown = await self.lineage(runner, context)
        key = _key(context.scope, call, text)
        output = Output(text, {"remember": True}, context.role, provenance, key, shown)
        (recorded,) = await self._record(
            runner, context, [output], self._options.tiers_of(context.role)
        )
        return recorded

    async def _outputs(
        self, runner: Runner, context: RunContext, answers: Sequence[ModelAnswer]
    ) -> list[Output]:
        """Return what is to be recorded of answers: each once, with its lineage."""
        if not self._options.tiers_of(context.role):
            return []
        outputs: dict[str, Output] = {}
        for answer in answers:
            key = _key(context.scope, answer.message.id or "", answer.text)
            if key in context.run.recorded or key in outputs:
                continue
            pending = context.run.pending_answers.get(answer.message.id or "")
            if pending is None:
                pending = PendingAnswer(answer, *await self.lineage(runner, context, answer))
            metadata = {**answer.metadata, **position_in(answer.message)}
            outputs[key] = Output(
                answer.text, metadata, context.role, pending.provenance, key, pending.shown
            )
        return list(outputs.values())

    def _note_recorded(self, context: RunContext, output: Output) -> None:
        """Note in the run, and in a run around it, that an answer was recorded."""
        context.run.recorded.add(output.key or "")
        parent = PARENT_RUN.get()
        if parent is not None and output.provenance is not None:
            parent.run.nested.append(output.provenance)

    async def _record(
        self,
        runner: Runner,
        context: RunContext,
        outputs: Sequence[Output],
        tiers: Collection[Layer],
    ) -> list[Recorded | None]:
        """Record outputs together; of each that could not be kept, log and report the failure.

        Returns:
            What became of each, in order; with `on_error="warn"` None for one that failed.
        """
        # Where they cannot be recorded together, since one is too long or holds what the store
        # cannot keep, each is recorded by itself, so that the others are not lost with it. Their
        # keys make that safe after a commit without an answer. If the store is away, they are not
        # tried once more: `record_many` does so itself until the store fails.
        memory = self._options.memory
        if not outputs:
            return []
        try:
            recorded: list[Recorded] = await runner.call(
                memory.record_many, memory.arecord_many, outputs, context.scope, tiers=tiers
            )
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            is_away = isinstance(error, StoreUnavailable) and not isinstance(
                error, StoreUnconfirmed
            )
            if len(outputs) > 1 and not is_away:
                return [
                    recorded
                    for output in outputs
                    for recorded in await self._record(runner, context, [output], tiers)
                ]
            if memory.on_error == "raise":
                raise
            self._report_failure(context, error, count=len(outputs))
            return [None] * len(outputs)
        self._runs.note([item_of(record.entry) for record in recorded], context.scope)
        return [*recorded]

    def _report_failure(self, context: RunContext, error: Exception, *, count: int) -> None:
        """Log outputs that memory could not keep, and report an event for each."""
        reason = f": {error}" if isinstance(error, MemorywareError) else ""
        texts = "a text" if count == 1 else f"{count} texts"
        kind = type(error).__name__
        logger.warning("memory could not keep %s (%s%s); the run goes on", texts, kind, reason)
        for _ in range(count):
            emit(context.event_context, "rejected", tier="quarantine", reason="store_failed")

    # Lineage.

    async def lineage(
        self, runner: Runner, context: RunContext, answer: ModelAnswer | None = None
    ) -> tuple[Provenance, tuple[ContextItem, ...]]:
        """Return the provenance of an answer, and the items that memory had shown before it.

        All that the model could see counts: recalled texts, also of earlier turns, results of
        tools, messages of people, and answers of agents that its tools have called.
        """
        messages = context.messages if answer is None else context.messages[: answer.index + 1]
        recalled = [*context.thread.recalled_ids, *(id_.id for id_ in context.run.items)]
        recalled += ids_in(messages, self._options.own, RECALLED)
        written = ids_in(messages, self._options.own, RECORDED)
        records = await self._records_by_id(
            runner, context, list(dict.fromkeys([*recalled, *written]))
        )
        sources = [records[id_] for id_ in dict.fromkeys(recalled) if id_ in records]
        parent = PARENT_RUN.get()
        sources += parent.items if parent else ()
        before = await self._roots_before(runner, context)
        roots = [root for source in sources for root in source.provenance.roots]
        roots += [*self.roots_of(context, messages), *before, *(parent.roots if parent else ())]
        if not records.keys() >= set(recalled):  # forgotten, or another group's: nobody can tell
            roots.append(UNKNOWN_RECALL)
        ids = [source.id for source in sources]
        for provenance in context.run.nested:
            ids, roots = [*ids, *provenance.sources], [*roots, *provenance.roots]
        name = context.scope.agent_id or (answer.message.name if answer else None) or ""
        shown = {
            record.id: record for record in (*records.values(), *(parent.items if parent else ()))
        }
        return Provenance(Origin("agent", name), tuple(ids), tuple(roots)), tuple(shown.values())

    def roots_of(
        self, context: RunContext, messages: Messages, *, inside: bool = True
    ) -> list[Origin]:
        """Return the people, tools, files and documents that messages come from.

        Args:
            context: The run.
            messages: The messages.
            inside: Whether origins that nested agents declared count.
        """
        options = self._options
        proven = {*context.thread.inside, *context.run.inside}
        tools = outside_tools(messages, inside=options.inside, proven=proven)
        tools |= {*context.thread.tools} - options.inside
        askers = [
            *context.thread.askers,
            *([context.scope.user_id or ""] if has_user(messages) else []),
        ]
        users = [Origin("user", user) for user in dict.fromkeys(askers)]
        unseen = {*context.thread.roots, *self.unseen_roots(messages, inside=inside)}
        further = [Origin.parse(root) for root in sorted(unseen)]
        return [*users, *(Origin("tool", tool) for tool in sorted(tools)), *further]

    def unseen_roots(
        self, messages: Messages, state: Any = None, *, inside: bool = True
    ) -> list[str]:
        """Return origins of what the model sees and is the text of no message.

        Args:
            messages: The messages that the model sees.
            state: The state of the agent, in which deep agents keep the files that they show.
            inside: Whether origins that nested agents declared count.
        """
        declared = declared_origins(inside=inside)
        # Our own middleware shows its texts there as well, and declares them with their trust.
        own_paths = {
            origin.name.removeprefix(UNTRUSTED) for origin in declared if origin.kind == "file"
        }
        files = value_in(state, "memory_contents")
        shown = files if isinstance(files, Mapping) else {}
        paths = [str(path) for path, text in shown.items() if path and str(text).strip()]
        origins = [
            *declared,
            *(Origin.file(path) for path in paths if path not in own_paths),
            *self._options.attachment_origins(messages),
        ]
        redacted = self._options.memory.parts.redacted
        return [f"{origin.kind}:{redacted(origin.name)}" for origin in origins]

    def as_parent(self, context: RunContext) -> ParentRun:
        """Return the lineage that agents which its tools call inherit from a run."""
        # What agents inside declare from now on, they declare beside the one that is called.
        roots = [*self.roots_of(context, context.messages, inside=False)]
        roots += [root for item in context.run.items for root in item.provenance.roots]
        around = PARENT_RUN.get()
        items = context.run.items
        if around is not None:
            roots, items = [*roots, *around.roots], (*items, *around.items)
        return ParentRun(context.run, items, tuple(dict.fromkeys(roots)))

    async def _roots_before(self, runner: Runner, context: RunContext) -> tuple[Origin, ...]:
        """Return the origins of the answers before: other people may have asked them."""
        if not context.thread.last:
            return ()
        records = await self._records_by_id(runner, context, [context.thread.last])
        entry = records.get(context.thread.last)
        return entry.provenance.roots if entry is not None else ()

    async def _records_by_id(
        self, runner: Runner, context: RunContext, ids: Sequence[str]
    ) -> Mapping[str, ContextItem]:
        """Return records by their ids; none if the store fails."""
        try:
            return await self._runs.items_by_id(runner, ids, context.scope)
        except Exception as error:  # stores may be anybody's; with "raise" it goes on
            if self._options.memory.on_error == "raise":
                raise
            logger.warning("lineage could not be read (%s)", type(error).__name__)
            return {}


def _answer(message: AIMessage, index: int) -> ModelAnswer:
    notes = {
        key: message.additional_kwargs[key]
        for key in _ANSWER_NOTES
        if key in message.additional_kwargs
    }
    return ModelAnswer(answer_of(message), message, index, {**notes, **_media(message)})


def _media(message: AnyMessage) -> dict[str, Any]:
    media = media_in(message)
    return {"media": media} if media else {}


def _key(scope: MemoryScope, message: str, text: str) -> str:
    return f"{scope.session_id or ''}:{message}:{hash_of(text)}"


def _as_json(structured: Any) -> str:
    if isinstance(structured, BaseModel):
        structured = structured.model_dump(mode="json")
    elif is_dataclass(structured) and not isinstance(structured, type):
        structured = asdict(structured)
    return json.dumps(structured, ensure_ascii=False, default=str)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def tool_messages_in(result: Any) -> Iterator[ToolMessage]:
    """Yield the tool messages in what a tool call returned."""
    update = getattr(result, "update", None)
    messages = update.get("messages") if isinstance(update, Mapping) else [result]
    yield from (message for message in messages or () if isinstance(message, ToolMessage))
