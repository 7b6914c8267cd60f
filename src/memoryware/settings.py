"""Every limit by name, with its default and its range.

Pass a changed copy: `FileLimits(lock_timeout=5)`. A value outside its range raises
`SettingError`, which names the setting, the value and the range.

A limit that nobody has a reason to change is a constant (`ClassVar`) beside the settings of its
area. It can still be overridden in a subclass, where an experiment needs it.
"""

# long: every limit in one place, where people look for it
from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from memoryware.errors import SettingError


def _limit(default: float | None, low: float, high: float | None = None) -> Any:
    return field(default=default, metadata={"low": low, "high": high})


class _Ranged:
    def __post_init__(self) -> None:
        for setting in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            low, high = setting.metadata.get("low"), setting.metadata.get("high")
            value = getattr(self, setting.name)
            if low is None or (value is None and setting.default is None):
                continue
            good = isinstance(value, int | float) and not isinstance(value, bool) and value >= low
            if good and setting.type == "int" and isinstance(value, float) and math.isfinite(value):
                if not value.is_integer():
                    raise SettingError(f"{setting.name}={value!r}: must be a whole number")
                object.__setattr__(self, setting.name, int(value))  # 10e6 is whole, too
            if not good or (high is not None and value > high):
                upper = f" and at most {high}" if high is not None else ""
                limits = f"at least {low}{upper}"
                limits += ", or None" if setting.default is None else ""
                raise SettingError(f"{setting.name}={value!r}: must be a number of {limits}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits(_Ranged):
    """Limits of the file backends."""

    lock_timeout: float = _limit(30.0, 0)
    """Seconds to wait for a file that somebody else is writing."""
    grep_timeout: float = _limit(15.0, 0)
    """Seconds after which `grep` returns what it has, marked truncated."""
    grep_max_bytes: int = _limit(10 * 1024 * 1024, 1)
    """Files larger than this are not searched."""

    # Seconds after which `glob` returns what it has, marked truncated.
    glob_timeout: ClassVar[float] = 30.0
    # A larger file on disk is neither read nor changed, because that takes it whole.
    read_max_bytes: ClassVar[int] = 256 * 1024 * 1024
    # Symbolic links that one path may pass through.
    symlink_hops: ClassVar[int] = 40
    # Folders inside each other that a path on disk may have and a search enters.
    folder_depth: ClassVar[int] = 200
    # Items that a listing asks a store for at once.
    store_page: ClassVar[int] = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimits(_Ranged):
    """Limits of the memory that is shown to the model."""

    source_tokens: int = _limit(25_000, 1)
    """Tokens that one source may fill."""
    total_tokens: int = _limit(100_000, 1)
    """Tokens that all sources together may fill; the last listed is served first."""
    lost_share: float = _limit(0.5, 0, 1)
    """Share of the words of a memory file that a change may lose before a person is asked."""

    # Runs whose loaded memory one middleware keeps at the same time.
    snapshots: ClassVar[int] = 1024
    # Backends whose last loaded memory one middleware keeps, to compare fingerprints.
    warm_backends: ClassVar[int] = 64
    # Finished prompt blocks that one middleware keeps.
    rendered_blocks: ClassVar[int] = 256
    # Words that an edit of a part of a file may lose, whatever their share.
    lost_words: ClassVar[int] = 20
    # Seconds that a tool call waits for another one that is changing the same memory file.
    turn_timeout: ClassVar[float] = 60
    # Lines of a difference that a person is shown.
    diff_lines: ClassVar[int] = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits(_Ranged):
    """Limits of what the file tools say to the model."""

    read_lines: int = _limit(100, 1)
    """Lines that `read_file` returns when the model gives no limit."""
    result_tokens: int = _limit(20_000, 1)
    """Tokens of one tool result; the rest is announced, not sent."""

    # Characters that `grep` shows of one line, around the match.
    line_chars: ClassVar[int] = 5000
    # Matches that `grep` returns when the model gives no number.
    grep_matches: ClassVar[int] = 1000
    # A larger picture, sound, video or document is not shown.
    media_bytes: ClassVar[int] = 5 * 1024 * 1024
    # Times that a tool starts again when a file changes while it works on it.
    edit_attempts: ClassVar[int] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryLimits(_Ranged):
    """Limits of the search for memory files that are there already."""

    depth: int = _limit(64, 0, 400)
    """Folders above the start, or above a file that an agent touched, that are looked at."""

    # Memory files that are found at most; the nearest are kept.
    files: ClassVar[int] = 100
    # Folders whose files an agent touched that are kept in mind; the last touched are kept.
    folders: ClassVar[int] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLimits(_Ranged):
    """What a check of memory files finds too much."""

    file_bytes: int = _limit(256 * 1024, 1)
    """Bytes above which a file is too large."""

    # Characters above which a line is too long.
    line_chars: ClassVar[int] = 10_000
    # Flaws of one kind that are reported of one file; the rest is counted.
    reported: ClassVar[int] = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits(_Ranged):
    """Limits of what one memory file may import."""

    depth: int = _limit(5, 1, 50)
    """Imports inside each other that are followed."""

    # Paths on import lines that are looked at, in all files together; others stay as they are.
    lines: ClassVar[int] = 200
    # A larger file is not imported.
    file_bytes: ClassVar[int] = 256 * 1024
    # Bytes of all files together; those nearest to the outermost file are served first.
    total_bytes: ClassVar[int] = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLimits(_Ranged):
    """Limits of what a history keeps; the newest two versions of a file always stay."""

    versions: int = _limit(100, 2)
    """Versions of one file."""
    age_days: float = _limit(365, 0)
    """Days that a version stays after a newer one took its place."""
    total_bytes: int = _limit(256 * 1024 * 1024, 1)
    """Bytes of all versions of all files together, looked at now and then."""

    # Bytes of all versions of one file together.
    file_bytes: ClassVar[int] = 16 * 1024 * 1024
    # The content of a larger version is not kept; that it was there is.
    text_bytes: ClassVar[int] = 1024 * 1024
    # One in so many changes holds the versions of all files against these limits.
    sweep_after: ClassVar[int] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(_Ranged):
    """What counts how much where recalled texts are ranked; the defaults are the best measured.

    Weights are relative; scaling all of them changes nothing.
    """

    words: float = _limit(1.5, 0)
    """A text that has every word of the question, and its neighbours' words."""
    meaning: float = _limit(1.5, 0)
    """A cosine of 1 to the question."""
    outstanding: float = _limit(2.0, 0)
    """How far a cosine is above that of the text at the rank `compared`."""
    before: tuple[float, ...] = (0.7, 0.4, 0.2)
    """What a word counts in the text before, in the one before that, and so on; () for none."""
    after: tuple[float, ...] = (0.5, 0.3, 0.15)
    """The same of the texts after."""
    sessions: bool = True
    """Whether all memories of one session are neighbours, as where turns are promoted one by one;
    else only the chunks of one document are."""
    beside: float = _limit(0.35, 0, 1)
    """What the cosines of the two texts beside one count in its own."""
    in_time: float = _limit(0.4, 0)
    """A text of the days that the question names."""
    speaker: float = _limit(0.15, 0)
    """A text of somebody whom the question names."""
    unverified: float = _limit(0.4, 0)
    """Taken from a text of working memory that nobody has promoted; never more than half of it."""
    agent: float = _limit(0.5, 0, 1)
    """The share of its score that a long text of an agent loses, unless the question asks what the
    agent said: the advice of an assistant repeats the words of the person it advises."""
    least: float = _limit(0.0, 0)
    """The score below which a memory is not shown, where texts are compared by meaning; 0 shows as
    many as may be. Which value suits depends on the model and the texts."""

    # The rank by meaning above which a text stands out.
    compared: ClassVar[int] = 10
    # Taken from a text that is a question itself.
    question: ClassVar[float] = 0.2
    # Words from which on a text of an agent is long, and at which it is long altogether.
    agent_words: ClassVar[tuple[int, int]] = (35, 85)
    # Words of a neighbour that count in full: of a longer text a smaller part answers a question.
    neighbour_words: ClassVar[int] = 45
    # What a neighbour counts that the same person said in another text of their own.
    monologue: ClassVar[float] = 0.3
    # Where no text has more than one word of a longer question: how many times more meaning
    # counts, and the share of its score for words that a text with one of them keeps.
    one_shared: ClassVar[tuple[float, float]] = (2.0, 0.1)
    # The same where no text has more than two, or the question has one only.
    two_shared: ClassVar[tuple[float, float]] = (1.83, 0.4)
    # Added to the newest of the texts that are shown where a question asks for how things are now,
    # and to the oldest where it asks for the first; a part of it to those in between.
    newest: ClassVar[float] = 0.2
    oldest: ClassVar[float] = 0.1
    # The cosine that a text with all words is taken to have as long as it has no vector.
    unmeasured: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        _Ranged.__post_init__(self)
        if not isinstance(self.sessions, bool):
            raise SettingError(f"sessions={self.sessions!r}: must be True or False")
        for name, fits, allowed in (
            ("before", _is_share, "numbers from 0 to 1"),
            ("after", _is_share, "numbers from 0 to 1"),
        ):
            value = getattr(self, name)
            if not isinstance(value, list | tuple) or not all(map(fits, value)):
                raise SettingError(f"{name}={value!r}: must be {allowed}, or ()")
            object.__setattr__(self, name, tuple(value))

    @property
    def steps(self) -> tuple[tuple[int, float], ...]:
        """Neighbours by how far away they are, those before with a minus, and what they count."""
        before = [(-step, weight) for step, weight in enumerate(self.before, 1)]
        return (*before, *enumerate(self.after, 1))

    @property
    def reach(self) -> int:
        """How far away the farthest neighbour is that counts."""
        return max(len(self.before), len(self.after), 1 if self.beside else 0)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TierLimits(_Ranged):
    """Limits of the tiers."""

    working_hours: float = _limit(24.0, 0)
    """Hours that an entry stays in working memory."""
    working_entries: int = _limit(50, 1)
    """Entries that working memory keeps of one group; the newest stay."""
    entry_chars: int = _limit(1_000_000, 1)
    """Characters of one entry; a longer text is refused."""
    min_chars: int = _limit(0, 0)
    """Characters that a text must have to enter working memory; 0 takes any that says something."""
    min_confidence: float = _limit(0.8, 0, 1)
    """The least `confidence` with which a text enters working memory."""
    working_items: int = _limit(10, 0)
    """Entries of working memory in one recall."""
    long_term_items: int = _limit(10, 0)
    """Memories of the group in one recall."""
    agent_items: int = _limit(3, 0)
    """Memories of the agent itself in one recall."""
    rerank_candidates: int = _limit(25, 1)
    """Texts of working memory, of the group and of the agent each that a reranker scores."""
    rerank_timeout: float = _limit(30.0, 0)
    """Seconds that it may take for all of them; then the order without it stays."""
    item_chars: int = _limit(500, 2)
    """Characters of one recalled text in a prompt; storage keeps all of it."""
    chunk_chars: int = _limit(500, 1)
    """Characters of one chunk in long-term memory."""
    embed_batch: int = _limit(128, 1)
    """Texts in one call of the embedding model."""
    embed_timeout: float = _limit(60.0, 0)
    """Seconds that a call of the embedding model may take."""
    model_timeout: float = _limit(60.0, 0)
    """Seconds that a call of a chat model for memory may take."""
    filter_timeout: float = _limit(120.0, 0)
    """Seconds that an async filter of yours may take to decide on an entry."""
    digest_days: float | None = _limit(None, 0)
    """Days that a digest looks back; None for all that waits."""
    lock_timeout: float = _limit(30.0, 0)
    """Seconds to wait for a store that somebody else is writing."""
    clock_skew_hours: float = _limit(24.0, 0, 24 * 365)
    """Hours that the clock of another machine may be ahead; what it promotes is current at once."""

    # Cosine from which two texts say the same.
    near_duplicate: ClassVar[float] = 0.9
    # Characters of each shown or remembered text with which a new one is compared.
    echo_chars: ClassVar[int] = 20_000
    # Cosine from which working memory shows what came from outside and shares no word.
    outside_similarity: ClassVar[float] = 0.5
    # Memories that each list of a search names before they are ranked together.
    candidates: ClassVar[int] = 50
    # Memories of the threads of what was found among which neighbours are looked for.
    neighbours: ClassVar[int] = 5000
    # Characters of each of them that it is shown, from the beginning.
    rerank_chars: ClassVar[int] = 2000
    # Characters of a query that are looked at.
    query_chars: ClassVar[int] = 4000
    # Characters of an entry in working memory that a query is held against.
    working_chars: ClassVar[int] = 20_000
    # Cosine below which the retrieval node leaves a text out.
    node_threshold: ClassVar[float] = 0.7
    # Texts that the retrieval node shows.
    node_results: ClassVar[int] = 5
    # Memories that a check of facts is shown.
    fact_memories: ClassVar[int] = 2
    # Search results that a check of facts is shown.
    fact_searches: ClassVar[int] = 3
    # Claims of one text that are checked, the first ones.
    fact_claims: ClassVar[int] = 20
    # Share of claims that must hold.
    fact_confidence: ClassVar[float] = 0.8
    # Least confidence with which a model has judged a claim; below it nobody knows.
    claim_confidence: ClassVar[float] = 0.7
    # Characters that two chunks inside one paragraph share.
    chunk_overlap: ClassVar[int] = 50
    # Seconds that a search of a check of facts may take.
    search_timeout: ClassVar[float] = 60.0
    # Memories without a vector that a promotion tries again to embed.
    retry_unembedded: ClassVar[int] = 128
    # Waiting entries that one digest looks at, newest first.
    digest_entries: ClassVar[int] = 1000
    # Wordings of one statement that the model is shown to write it once.
    digest_notes: ClassVar[int] = 50
    # Lines of one page of a listing.
    listed: ClassVar[int] = 50
    # Newest records of each tier that a page of sessions or of the audit is made from.
    looked_back: ClassVar[int] = 1000
    # Records that one revocation takes back at most; more is refused.
    lineage: ClassVar[int] = 10_000
    # Promotions of the same text that a memory stands on; later ones are not remembered.
    grounds: ClassVar[int] = 32
    # Ids that a process keeps in mind after it has forgotten them; see `source_gone`.
    forgotten_ids: ClassVar[int] = 10_000
    # Runs whose recalled texts one middleware keeps at the same time.
    runs: ClassVar[int] = 1024
    # Ids of messages, and of recalled records, that a conversation keeps in mind; the newest.
    thread_ids: ClassVar[int] = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits(_Ranged):
    """Limits of the memory manager, which extracts facts from conversations."""

    delay_seconds: float = _limit(30.0, 0)
    """Seconds of silence in a thread after which its facts are extracted."""
    longest_delay_seconds: float = _limit(300.0, 0)
    """Seconds after which they are extracted although the thread goes on."""
    turns: int = _limit(200, 1)
    """Messages of a thread that are read at once, the newest; older ones are read after them."""
    turn_chars: int = _limit(4000, 100)
    """Characters of one message that a model is shown; the rest is left out."""
    input_tokens: int = _limit(6000, 200)
    """Tokens of one call of the model, counted approximately; more messages take more calls."""
    calls: int = _limit(4, 1)
    """Calls of the model for one thread at a time, repairs not counted; rules read the rest."""
    facts: int = _limit(100, 1)
    """Facts that one extraction proposes at most; `problem` of its result reports more."""
    tokens_per_day: float | None = _limit(None, 0)
    """Tokens that the model may use in a day (UTC); rules extract when they are used up. None for
    as many as it takes."""
    lease_seconds: float = _limit(300.0, 1)
    """Seconds for which a process reserves a thread; another one takes it over after that."""

    # Attempts with a thread whose extraction fails; `catch_up` finds it again.
    attempts: ClassVar[int] = 5
    # Seconds before the second attempt; each further one waits twice as long.
    retry_seconds: ClassVar[float] = 30.0
    # Threads that one flush takes at a time.
    threads: ClassVar[int] = 20
    # Memories of the same matter that a fact is compared with.
    compared: ClassVar[int] = 10
    # Characters of a fact; what is longer is no atomic fact.
    fact_chars: ClassVar[int] = 400
    # Newest entries of a group in which `catch_up` looks for threads that were not read.
    looked_back: ClassVar[int] = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class McpLimits(_Ranged):
    """Limits of what the MCP server does for its clients."""

    recalled: int = _limit(8, 1)
    """Texts of one `recall` when the client gives no `limit`."""
    most_recalled: int = _limit(18, 1)
    """Texts of one `recall`, whatever the client asks for."""
    note_chars: int = _limit(4000, 1)
    """Characters of one text for `remember`."""
    notes_per_hour: int = _limit(60, 0)
    """Notes that one client may put forward in an hour, counted in quarantine, so that a restart
    does not reset it. Over HTTP a client is a session."""
    call_timeout: float = _limit(30.0, 0.01)
    """Seconds that one call may take."""
    head_seconds: float = _limit(15.0, 0.01)
    """Seconds in which the head of a request over HTTP must be there."""

    # The same of all clients of a group together, also of those that connect anew.
    all_notes_per_hour: ClassVar[int] = 600
    # Notes on one page of `list_notes`.
    notes_listed: ClassVar[int] = 50
    # Memories on one page of resources.
    resources_listed: ClassVar[int] = 50
    # Tokens of one memory file that `read_source` returns; the rest is announced.
    read_tokens: ClassVar[int] = 20_000
    # Files that `list_sources` names.
    listed: ClassVar[int] = 200
    # Characters of a path; a longer one is no source.
    path_chars: ClassVar[int] = 1000
    # Calls that are worked on at the same time; others wait, within their timeout.
    calls: ClassVar[int] = 8
    # Texts that one client was shown, the newest, that its next notes are held to come from.
    remembered: ClassVar[int] = 256
    # Clients at the same time over HTTP.
    clients: ClassVar[int] = 64
    # Seconds after which a client over HTTP that says nothing is forgotten.
    idle_seconds: ClassVar[float] = 1800.0
    # Bytes of one request over HTTP.
    request_bytes: ClassVar[int] = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresLimits(_Ranged):
    """Settings of the stores in PostgreSQL."""

    schema: str = "memoryware"
    """The schema that the tables are in; it is made if it is not there."""
    row_security: bool = False
    """Whether the database itself keeps tenants apart, for roles that do not own the tables."""
    partitions: int = _limit(0, 0, 1000)
    """Parts that the tables are made in, by a hash of the tenant; 0 for whole tables. Only counts
    when they are made."""
    prepared_statements: bool = True
    """Whether the server keeps statements ready; say no for a pooler that cannot have them."""
    pool_size: int = _limit(10, 1)
    """Connections that one process has at most for blocking calls, and each event loop of it."""
    pool_timeout: float = _limit(30.0, 0)
    """Seconds to wait for a connection while all are in use, or the server is away. One that was
    waited for in vain is asked once by each call, until it is back."""
    statement_timeout: float = _limit(60.0, 0.001)
    """Seconds that one statement may take, and a function of yours that changes records."""
    lock_timeout: float = _limit(30.0, 0.001)
    """Seconds to wait for a group that somebody else is writing."""
    indexed: int = _limit(250_000, 0)
    """Memories of the groups searched last that a process holds in segments, so that the server is
    asked for changes only; 0 for none. It takes NumPy and up to 1,800 bytes of a memory with a
    vector of 384 numbers. A group of more than 20,000 memories is always searched by the server."""

    # Seconds after which a connection that nobody used is closed and not used again.
    idle_timeout: ClassVar[float] = 300.0
    # Seconds that making one connection may take.
    connect_timeout: ClassVar[float] = 10.0
    # Memories up to which all are compared with a query; among more an index is asked.
    exact_vectors: ClassVar[int] = 10_000
    # Candidates that the index of vectors looks at in one go: more find more, and take longer.
    index_breadth: ClassVar[int] = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorLimits(_Ranged):
    """Limits of the inspector."""

    session_hours: float = _limit(12.0, 0)
    """Hours after which a visitor has to come in anew."""

    # Bytes that a form may have.
    form_bytes: ClassVar[int] = 5_000_000
    # Fields that a form may have.
    form_fields: ClassVar[int] = 2000
    # Seconds that a form may take to arrive.
    form_seconds: ClassVar[float] = 60.0
    # Seconds that the head of a request may take to arrive.
    head_seconds: ClassVar[float] = 15.0
    # Bytes that the head of a request may have.
    head_bytes: ClassVar[int] = 65_536
    # Seconds that requests have to come to their end when the server is stopped.
    stop_seconds: ClassVar[int] = 5
    # Characters of a text that a page shows; the whole of it is a link away.
    text_chars: ClassVar[int] = 4000
    # Characters that two texts may have together to be shown side by side.
    compared_chars: ClassVar[int] = 400_000
    # Characters of a text in a list.
    line_chars: ClassVar[int] = 240
    # Lines of a list on one page.
    rows: ClassVar[int] = 50
    # Groups of the review queue on one page.
    groups: ClassVar[int] = 25
    # Seconds for which counts of the overview are kept.
    kept_seconds: ClassVar[float] = 30.0
    # The newest records of a tier from which shares and tokens of the overview are counted.
    sample: ClassVar[int] = 1000
    # Characters of a text that can be edited in a page.
    edit_chars: ClassVar[int] = 100_000
    # Days that the review queue looks back; None for all that waits.
    queue_days: ClassVar[float | None] = None
    # Seconds after which the groups of the review queue are made anew.
    queue_seconds: ClassVar[float] = 60.0
    # Characters and lines of a statement that a card of the review queue shows; a longer one is
    # read and decided on a page of its own.
    review_chars: ClassVar[int] = 800
    review_lines: ClassVar[int] = 20
    # Characters of what it takes to undo an action; it is a part of a URL.
    undo_chars: ClassVar[int] = 6000
    # Results of a search with less than this share of the best score are weak.
    weak_share: ClassVar[float] = 0.4
    # Groups that the head of a page lists; a page has all of them.
    listed_groups: ClassVar[int] = 20
