"""`MemoryMiddleware`: memory files in the prompt of every model call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Final, Literal, get_args

from langchain.agents.middleware.types import TracePolicy, omit_payload

from memoryware import _checking, _langchain
from memoryware._clock import NewId, random_id
from memoryware.backends import _adapter
from memoryware.backends.protocol import BackendOrFactory
from memoryware.errors import SettingError
from memoryware.guard import Guard
from memoryware.middleware._agent_state import (
    MemoryState,
    MemoryStateKeys,
    MemoryStateUpdate,
    memory_state_schema,
)
from memoryware.middleware._loading import (
    LoadedMemory,
    LoadOptions,
    MemoryLoader,
    OnError,
    Snapshots,
)
from memoryware.middleware._memory_hooks import MemoryHooks, Refresh
from memoryware.middleware._memory_prompt import (
    MEMORY_SYSTEM_PROMPT,
    BlockStyle,
    CountTokens,
    PromptOptions,
    PromptRenderer,
    tags_of,
)
from memoryware.middleware._memory_tools import OwnToolVisibility, edit_memory_tool
from memoryware.middleware._options import (
    DEFAULT_GUARD,
    approximate_tokens,
    check_choices,
    check_guidelines,
    check_middleware_name,
    check_template,
    discovery_start,
    edit_tool_name,
    imports_or_none,
    layout_or_default,
    limits_with_total,
)
from memoryware.middleware._own_tools import register
from memoryware.middleware._path_rules import PathRules
from memoryware.middleware._request_messages import SystemPlacement, append_to_system_message
from memoryware.middleware._write_gate import FromOutside, WriteGate
from memoryware.settings import MemoryLimits
from memoryware.sources.imports import Imports
from memoryware.sources.layout import Layout
from memoryware.sources.policy import WritePolicy
from memoryware.sources.regions import Which
from memoryware.sources.source import Source, sources_of

__all__ = [
    "MEMORY_SYSTEM_PROMPT",
    "DeepMemoryMiddleware",
    "MemoryMiddleware",
    "MemoryState",
    "MemoryStateUpdate",
    "append_to_system_message",
]

WhenEmpty = Literal["prompt", "skip"]
"""The prompt while no memory exists: placeholder and guidelines, or nothing."""


class _NamedText(str):
    """A string that `help` shows by its name: the default prompt would fill a screen."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MEMORY_SYSTEM_PROMPT"


_DEFAULT_PROMPT: Final = _NamedText(MEMORY_SYSTEM_PROMPT)


class MemoryMiddleware(MemoryHooks):
    """Adds memory files, such as AGENTS.md, to the system prompt of every model call.

    What most programs need:

        memory = MemoryMiddleware(backend=FilesystemBackend("."), sources=["/AGENTS.md"])
        agent = create_agent(model, middleware=[memory])

    The files are loaded once per run, and again after a tool call has changed one. The agent may
    change them with `edit_memory` or file tools, as far as the `Source` of each allows it; secrets
    are refused. List this middleware after others that replace the system prompt.

    Options by topic (each is described below):

    - which files: `backend`, `sources`, `start`, `layout`, `nested`, `imports`, `allow`, `deny`
    - when and how much is loaded: `refresh`, `on_error`, `max_tokens`, `count_tokens`, `limits`
    - how the prompt reads: `system_prompt`, `guidelines`, `when_empty`, `placement`,
      `strip_comments`, `show_paths`, `path_separator`, `add_cache_control`
    - what tools may write: `tools`, `guard`, `from_outside`, `inside_tools`, `hidden_regions`
    - several memories, events, tests: `name`, `trace_content`, `new_id`

    Texts of memory stay out of messages, checkpoints, streams and results.

    Args:
        backend: Where the files are: a backend, or a function from the runtime of a run to a
            backend. None is for `sources="auto"` only, and means the disk.
        sources: Paths, or `Source(path, owner, writable, ...)`, in the order in which they
            are shown; one that is listed twice is shown once. "auto" looks for the files
            that people already have, from `start`.
        start: Where "auto" looks from: a folder of the backend, or of the disk.
        layout: What memory files are called and where they lie, for "auto" and `nested`.
        nested: Whether the memory files of folders that the agent works in join; by default
            with "auto" only.
        imports: Whether files after an `@`, as in `@docs/style.md`, are expanded;
            `Imports(...)` has the details.
        allow: Patterns of paths that may be loaded, as for `FileToolsMiddleware`.
        deny: Patterns of paths that may not be loaded; they win over `allow`.
        refresh: "run" reads in each run, "call" before each model call, "thread" once per
            thread and caller (then the text is in the checkpoint).
        on_error: "raise" stops the run on an unreadable source; "warn" goes on without it
            and says so in the prompt. A missing file is an error only where it is required.
        max_tokens: Tokens for all sources together, which one alone may fill; overrides
            `limits.total_tokens`.
        count_tokens: A function from a text to its number of tokens; by default langchain's
            approximation.
        limits: Every other limit.
        system_prompt: A template with the slot `{agent_memory}`, used verbatim; None loads
            without showing anything.
        guidelines: "balanced", "immediate", a text of your own, or None.
        when_empty: "prompt" or "skip"; by default what fits the tools of the request.
        placement: "append" or "prepend", to the system message that is there.
        strip_comments: Leave `<!-- ... -->` outside code away.
        show_paths: Put the path before each text, followed by `path_separator`.
        path_separator: The text between a path and the text of its file.
        add_cache_control: Mark the last system block for prompt caching, with Anthropic
            models only.
        tools: "auto" offers `edit_memory` in requests without another writing tool or
            `read_file`, and refuses it elsewhere; False never offers it.
        guard: Refuses secrets in what tools write to memory files by default, and warns of
            those in what is loaded; see `Guard`. None looks for nothing.
        from_outside: What happens when a tool writes words to a memory file that come from a
            result of an outside tool and that no person said in this thread: "ask" a person, who
            is shown where they come from, "refuse", or "allow". Where nobody can be asked, "ask"
            refuses. The agent's own file tools on the same backend are inside.
        inside_tools: Names of other tools that bring nothing from outside.
        hidden_regions: Comments that survive every change: "marked" pairs, "all", or None.
        name: A name of its own, needed when one agent has several memories.
        trace_content: Whether events and spans may hold memory texts; see events.
        new_id: Returns ids of loaded snapshots; None makes random ones. For tests.

    Raises:
        SettingError: For an option that cannot work (also a `ValueError`).
        TypeError: If `system_prompt` is neither text nor None.
    """

    MEMORY_SYSTEM_PROMPT: ClassVar[str] = MEMORY_SYSTEM_PROMPT
    """The template that is used when none is given; a subclass may override it."""
    trace_policy = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)

    def __init__(
        self,
        *,
        backend: BackendOrFactory | None = None,
        sources: Sequence[str | Source] | Literal["auto"],
        start: str = ".",
        layout: Layout | None = None,
        nested: bool | None = None,
        imports: bool | Imports = False,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        refresh: Refresh = "run",
        on_error: OnError = "raise",
        max_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
        limits: MemoryLimits | None = None,
        system_prompt: str | None = _DEFAULT_PROMPT,
        guidelines: str | None = "balanced",
        when_empty: WhenEmpty | None = None,
        placement: SystemPlacement = "append",
        strip_comments: bool = True,
        show_paths: bool = True,
        path_separator: str = "\n",
        add_cache_control: bool = False,
        tools: Literal["auto", False] = "auto",
        guard: Guard | None = DEFAULT_GUARD,
        from_outside: FromOutside = "ask",
        inside_tools: Collection[str] = (),
        hidden_regions: Which | None = "marked",
        name: str | None = None,
        trace_content: bool = False,
        new_id: NewId | None = None,
    ) -> None:
        super().__init__()
        check_middleware_name(name)
        check_template(system_prompt)
        check_guidelines(guidelines)
        check_choices(
            refresh=(refresh, get_args(Refresh)),
            on_error=(on_error, get_args(OnError)),
            placement=(placement, get_args(SystemPlacement)),
            when_empty=(when_empty, (*get_args(WhenEmpty), None)),
            tools=(tools, ("auto", False)),
            hidden_regions=(hidden_regions, (*get_args(Which), None)),
            from_outside=(from_outside, get_args(FromOutside)),
        )
        _checking.check_flags(strip_comments=strip_comments, show_paths=show_paths)
        _checking.check_flags(add_cache_control=add_cache_control, trace_content=trace_content)
        _checking.check_flags(nested=False if nested is None else nested)
        _checking.check_text("path_separator", path_separator)
        _checking.check_path("start", start)
        _checking.check_function("count_tokens", count_tokens, or_none=True)
        _checking.check_function("new_id", new_id, or_none=True)
        _checking.check_instance("guard", guard, Guard)
        discovers = isinstance(sources, str) and sources == "auto"
        self._looks_at_whole_disk = discovers and backend is None
        if discovers:
            backend, start = discovery_start(backend, start)
        self._backend = backend
        self._check_backend(backend)
        template, self.system_prompt = self._templates(system_prompt)
        limits = limits_with_total(limits, max_tokens)
        self._from_outside: FromOutside = from_outside
        self._inside_tools = frozenset(_checking.checked_names("inside_tools", inside_tools))
        self._name, self._refresh, self._on_error = name, refresh, on_error
        self._trace_content, self.add_cache_control = trace_content, add_cache_control
        listed = () if discovers else tuple(sources_of(sources))
        self.sources = [source.path for source in listed]
        self._load_options = LoadOptions(
            sources=listed,
            on_error=on_error,
            limits=limits,
            rules=PathRules(allow=allow, deny=deny),
            start=start if discovers else None,
            layout=layout_or_default(layout),
            nested=discovers if nested is None else nested,
            imports=imports_or_none(imports),
            guard=guard,
        )
        style = BlockStyle(
            count_tokens=count_tokens or approximate_tokens,
            source_tokens=limits.source_tokens,
            total_tokens=limits.total_tokens,
            strip_comments=strip_comments,
            show_paths=show_paths,
            path_separator=path_separator,
            tags=tags_of(self.system_prompt or ""),
        )
        can_write = discovers or any(source.writable for source in listed)
        self._own_tool = edit_tool_name(name) if tools == "auto" and can_write else ""
        prompt = PromptOptions(template, guidelines, self._own_tool, when_empty, placement)
        policy = WritePolicy(guard, hidden_regions, limits.lost_share, limits.lost_words)
        self._assemble(PromptRenderer(style, prompt), policy, new_id or random_id)

    def _templates(self, template: str | None) -> tuple[str | None, str | None]:
        """Return the template of the user's, if it is one, and the template that is used."""
        if template != MEMORY_SYSTEM_PROMPT:
            return template, template
        own = self.MEMORY_SYSTEM_PROMPT
        return None if own == MEMORY_SYSTEM_PROMPT else own, own

    def _assemble(self, renderer: PromptRenderer, policy: WritePolicy, new_id: NewId) -> None:
        """Create the parts that the hooks use."""
        options, own_tool = self._load_options, self._own_tool
        limits, discovers = options.limits, options.start is not None
        if own_tool:
            writable = [source.path for source in options.sources if source.writable]
            fixed_paths = None if discovers else writable
            files = self._writable_files
            tool = edit_memory_tool(own_tool, fixed_paths, files, self._around_own_tool)
            self.tools = [register(tool, None)]
        self._renderer, self._loader = renderer, MemoryLoader(options)
        self._nothing = LoadedMemory({}, sources=options.sources)
        self._keys = MemoryStateKeys.of(self.name, self._name)
        fixed = None if discovers or options.nested else options.sources
        self._snapshots = Snapshots(self._keys, fixed, size=limits.snapshots, new_id=new_id)
        self._tool_visibility = OwnToolVisibility(own_tool, renderer, limits.snapshots)
        self._gate = WriteGate(policy, limits, own_tool, self._from_outside)
        with_files = _adapter.keeps_files_in_state(self._backend)
        with_texts = self._refresh == "thread" or self._replaces_before_agent()
        self.state_schema = memory_state_schema(
            self._keys, with_files=with_files, with_texts=with_texts
        )

    @property
    def name(self) -> str:
        """The name given, or the class name.

        Raises:
            SettingError: When an agent is built of two memories of one name.
        """
        if self._name is None:
            _refuse_namesakes(self)
        return self._name or type(self).__name__


def _refuse_namesakes(memory: MemoryMiddleware) -> None:
    """Raise a clear error before langchain says "Please remove duplicate middleware instances."."""
    built = _langchain.agent_being_built()
    kind = type(memory).__name__
    for entry in built.middleware if built is not None else ():
        if (
            entry is not memory
            and isinstance(entry, MemoryMiddleware)
            and (entry._name or type(entry).__name__) == kind  # noqa: SLF001 - not `name`: it asks this
        ):
            raise SettingError(
                f'this agent has two memories called "{kind}": give one of them a name of its own,'
                f' such as {kind}(name="team", ...). Its tool is then called edit_memory_team'
            )


class DeepMemoryMiddleware(MemoryMiddleware):
    """One memory file, read again before every model call, its text alone in the tags.

    Args:
        backend: Where the file is.
        memory_file: Its path; None or "" means no memory.
        name: A name of its own, needed when one agent has several memories.
        on_error: What to do when the file cannot be read.
        max_tokens: Tokens that the file may fill.
    """

    def __init__(
        self,
        backend: BackendOrFactory,
        memory_file: str | None = "AGENTS.md",
        *,
        name: str | None = None,
        on_error: OnError = "raise",
        max_tokens: int | None = None,
    ) -> None:
        _checking.check_text("memory_file", memory_file, or_none=True)
        super().__init__(
            backend=backend,
            sources=[memory_file] if memory_file else [],
            name=name,
            refresh="call",
            on_error=on_error,
            guidelines=None,
            when_empty="skip",
            tools=False,
            strip_comments=False,
            show_paths=False,
            max_tokens=max_tokens,
        )
