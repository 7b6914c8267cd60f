"""Records as rows of a SQLite file, and selections as conditions on them."""

from __future__ import annotations

import json
import re
from binascii import unhexlify
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, TypeAlias

from memoryware._caching import clearable_cache
from memoryware.errors import SettingError
from memoryware.scope import MemoryScope
from memoryware.tiers.model import Entry, Memory, folded
from memoryware.tiers.provenance import BEGINNING, Origin, Provenance
from memoryware.tiers.stores._columns import packed_words
from memoryware.tiers.stores._sql import dialect as sql_dialect
from memoryware.tiers.stores._sql.dialect import (
    ANY_OF,
    Condition,
    SqlDialect,
    flat,
    group_key,
    micros,
    unflat,
)
from memoryware.tiers.stores.codec import copies_of, value_from_json, value_to_json
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.stores.selecting import id_range

Key: TypeAlias = str | bytes | None
"""A text as it is compared: 32 hexadecimal digits as 16 bytes, others as text."""
TIERS: Final[Mapping[str, int]] = {"quarantine": 0, "long_term": 1, "working": 2}
COLUMNS: Final = (
    "grp", "tier", "id", "provenance", "created", "begins", "ends", "revocation", "status",
    "agent_id", "user_id", "session_id", "document", "subject", "topic", "superseded", "once",
    "hash", "sources", "words", "content", "more",
)  # fmt: skip
STATUSES: Final = ("pending", "proposed", "promoted", "rejected", "revoked")
"""A status is stored as its index."""
_READ: Final = (
    "(SELECT key FROM part WHERE part.id = record.grp),"
    " (SELECT body FROM provenance WHERE provenance.id = record.provenance), "
    + ", ".join(
        f"record.{column}"
        for column in COLUMNS
        if column not in ("grp", "tier", "provenance", "words")
    )
)
_SPEAKER: Final = (
    "CASE WHEN instr(record.more, '\"speaker\"') THEN record.more END,"
    " substr(record.content, 1, CASE WHEN substr(record.content, 1, 1) = char(1)"
    f" THEN {sql_dialect.STORED_BEGINNING} ELSE {BEGINNING} END),"
    " (SELECT body FROM provenance WHERE provenance.id = record.provenance)"
)
_HEX: Final = re.compile("[0-9a-f]{32}")
_FEW: Final = 64
"""Values of a list that are written as single parameters; lengths are powers of two, so that few
statements have to be prepared."""
_BOUND: Final = 8192
"""Keys of 16 bytes that are written as single parameters; JSON cannot have them."""
_RARE: Final[Mapping[type, Mapping[str, Any]]] = {
    Memory: {
        "chunk_index": 0, "chunk_count": 1, "metadata": {}, "verdict": None, "revocations": (),
        "further": (),
    },
    Entry: {
        "metadata": {}, "refused": None, "echo_of": (), "duplicate_of": (), "proposed_by": None,
        "proposers": (), "waits": None, "decided_by": None, "decided_at": None, "memory_ids": (),
        "verdict": None, "revocations": (), "decided": {}, "ungrouped": False,
    },
}  # fmt: skip
"""What is kept in `more` where it is not this."""
_RARE_VALUES: Final[Mapping[type, tuple[Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]]] = {
    kind: (attrgetter(*names), tuple(names.values())) for kind, names in _RARE.items()
}
_EPOCH: Final = sql_dialect.EPOCH
_ANY_OF: Final = {
    **{name: ANY_OF[name] for name in ANY_OF if name != "statuses"},
    "statuses": "status",
}
"""As `ANY_OF`; the index of statuses has all entries of a group that wait, so it comes last."""


def key_of(text: str | None) -> Key:
    """Encode a text for a column that is compared."""
    if text is None:
        return None
    if len(text) == 32:
        try:
            key = unhexlify(text)
        except ValueError:  # other characters
            return flat(text)
        if key.hex() == text:  # digits in upper case are another text
            return key
    return flat(text)


def text_of(key: Key) -> str | None:
    """Decode what `key_of` returned."""
    return key if key is None else key.hex() if isinstance(key, bytes) else unflat(key)


@clearable_cache(1024)
def _origin_in(body: str) -> Origin | None:
    try:
        return Origin.parse(json.loads(body)["origin"])
    except (SettingError, ValueError, TypeError, KeyError, AttributeError):
        # damaged: reading it reports that
        return None


class SqliteDialect(SqlDialect):
    """The SQL of SQLite: lists are parameters, long ones JSON; a `+` disables an index.

    SQLite likes to take an index that spares sorting, even if that reads all rows.
    """

    read = _READ
    part = "(SELECT key FROM part WHERE part.id = record.grp)"
    expires = "ends"
    current = "record.ends IS NULL AND record.revocation IS NULL"

    speaker_columns = _SPEAKER
    origin_in = staticmethod(_origin_in)

    def stored_group_key(self, part: str) -> Any:
        return part

    def in_tier(self, tier: str, *, loose: bool = False) -> str:
        return f"{'+' if loose else ''}tier = {TIERS[tier]}"

    def key(self, text: str | None) -> Any:
        return key_of(text)

    def loose(self, column: str) -> str:
        return f"+{column}"

    def unsorted(self) -> str:
        return "+record.seq"

    def any_of(self, column: str, texts: Sequence[Any]) -> Condition:
        if not texts:
            return "0", []
        if len(texts) <= _FEW:
            length = 1 << max(0, len(texts) - 1).bit_length()
            marks = ", ".join("?" * length)
            return f"{column} IN ({marks})", [*texts, *([texts[-1]] * (length - len(texts)))]
        if len(texts) <= _BOUND and all(type(text) is bytes for text in texts):
            # A function of ours that SQLite calls for each text takes several times as long.
            length = 1 << (len(texts) - 1).bit_length()
            marks = f"?{', ?' * (length - 1)}"
            return f"{column} IN ({marks})", [*texts, *([texts[-1]] * (length - len(texts)))]
        plain = json.dumps([text_of(text) for text in texts])
        return f"{column} IN (SELECT memoryware_key(value) FROM json_each(?))", [plain]

    def numbered(self, column: str, numbers: Iterable[int]) -> Condition:
        return f"{column} IN (SELECT value FROM json_each(?))", [json.dumps([*numbers])]

    def within(self, scope: MemoryScope) -> Condition:
        return _IN_PART, [group_key(scope.tenant, scope.group_id)]

    def contains(self, folded: str) -> Condition:
        return "memoryware_has(record.content, ?)", [flat(folded)]

    def order_column(self, selection: Select) -> str:
        key = _key(selection)
        several = key is not None and len(getattr(selection, key)) > 1
        return self.unsorted() if several else "record.seq"

    def record(self, tier: str, row: Sequence[Any]) -> Any:
        return self.records(tier, [row])[0]

    def records(self, tier: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        is_memory = tier == "long_term"
        try:
            return copies_of(
                [
                    (_remembered_record if len(row[_CONTENT]) <= _SHORT_CONTENT else _record)(
                        is_memory, row
                    )
                    for row in rows
                ]
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise sql_dialect.damaged(tier) from error

    def status_of(self, row: Sequence[Any]) -> str:
        """Return the status of an entry from its row."""
        status = row[8]
        return STATUSES[status] if isinstance(status, int) else status

    def has_sources(self, row: Sequence[Any]) -> bool:
        """Return whether a record may have sources, from its row."""
        return row[18] is not None or (row[20] is not None and '"further"' in row[20])

    def values(self, tier: str, record: Any, words: Sequence[str] | None) -> tuple[Any, ...]:
        """Encode a record as the values of `COLUMNS` behind `provenance`.

        Args:
            tier: Its tier.
            record: The record.
            words: The words of its content; None for an entry.
        """
        scope, is_entry = record.scope, isinstance(record, Entry)
        created, content = micros(record.created_at), flat(record.content)
        ends = micros(record.expires_at if is_entry else record.valid_to)
        agent, user, session = scope.agent_id, scope.user_id, scope.session_id
        revocation = record.revocation
        if is_entry:
            begins = None
            document = subject = topic = superseded = None
        else:
            begins = record.valid_from
            begins = None if begins == record.created_at else micros(begins)
            document, subject = record.document_id, flat(record.subject)
            document = None if document == record.id else key_of(document)
            topic = None if subject is None else flat(folded(record.subject))
            subject = None if subject == topic else subject
            superseded = record.superseded_by
        return (
            created,
            begins,
            ends,
            None if revocation is None else key_of(revocation),
            _status(record.status) if is_entry else None,
            None if agent is None else key_of(agent),
            None if user is None else key_of(user),
            None if session is None else key_of(session),
            document,
            subject,
            topic,
            None if superseded is None else key_of(superseded),
            key_of(record.key) if tier == "quarantine" else None,
            key_of(record.content_hash),
            _packed_sources(record.provenance.sources),
            None if words is None else packed_words(words),
            content,
            _more(record, has_key=tier == "quarantine"),
        )

    def _conditions(self, tier: str, selection: Select) -> Iterator[Condition]:
        key = _key(selection)
        yield f"record.tier = {TIERS[tier]}", []
        yield from self._of_groups(selection, key)
        for name in _ANY_OF:
            values = getattr(selection, name)
            if values is not None:
                yield from self._one_of(tier, name, values, is_key=name == key)
        if selection.root is not None:
            yield (
                "+record.provenance IN (SELECT provenance FROM root WHERE name = ?)",
                [flat(selection.root)],
            )
        if selection.made_of is not None:
            among, values = self._among("source.name", selection.made_of)
            yield f"record.seq IN (SELECT seq FROM source WHERE {among})", values
        if selection.since is not None:
            yield "record.created >= ?", [micros(selection.since)]
        if selection.before is not None:
            yield "record.created < ?", [micros(selection.before)]
        if selection.contains:
            yield self.contains(selection.contains.casefold())
        if selection.prefix:
            yield self.begins_with(selection.prefix)
        if selection.live_at is not None:
            yield "record.revocation IS NULL", []
            if tier == "long_term":
                begun_by = micros(selection.live_at + selection.ahead)
                yield "ifnull(record.begins, record.created) <= ?", [begun_by]
            yield "(record.ends IS NULL OR record.ends > ?)", [micros(selection.live_at)]

    def begins_with(self, prefix: str) -> Condition:
        low, high = id_range(prefix)
        if low > high:
            return "0", []
        return "record.id BETWEEN ? AND ?", [bytes.fromhex(low), bytes.fromhex(high)]

    def group_counts(self, tier: str) -> Condition:
        return f"SELECT {tier}, key FROM part WHERE id != 0 AND {tier} > 0", []

    def counted_group(self, tier: str, row: Sequence[Any]) -> tuple[str | None, str | None] | None:  # noqa: ARG002 - all tiers have the same keys
        tenant, group = json.loads(row[1])
        return tenant, group

    def _of_groups(self, selection: Select, key: str | None) -> Iterator[Condition]:
        column = "record.grp" if key in (None, "statuses", "ids") else "+record.grp"
        if selection.groups is None:
            column = "+record.grp" if key is not None else "record.grp"
            yield f"{column} IN (SELECT id FROM part WHERE tenant IS ?)", [flat(selection.tenant)]
            return
        parts = [group_key(selection.tenant, group) for group in selection.groups]
        if len(parts) == 1:
            yield f"{column} = (SELECT id FROM part WHERE key = ?)", parts
        else:
            yield (
                f"{column} IN (SELECT id FROM part WHERE key IN (SELECT value FROM json_each(?)))",
                [json.dumps(parts)],
            )

    def _one_of(
        self, tier: str, name: str, values: Sequence[str | None], *, is_key: bool
    ) -> Iterator[Condition]:
        if tier == "long_term" and name == "documents":
            own, more = self._among("document", values)
            same, ids = self._among("id", values)
            either = (
                f"SELECT seq FROM record WHERE {own} UNION ALL"
                f" SELECT seq FROM record WHERE {same} AND tier = 1 AND document IS NULL"
            )
            yield f"record.seq IN ({either})", [*more, *ids]
            return
        if name == "subjects":
            named = [value for value in values if value is not None]
            topics = [flat(folded(subject)) for subject in named]
            both = ["record.topic IS NULL"] if None in values else []
            if named:
                column = "record.topic" if is_key else "+record.topic"
                among, more = self.any_of(column, list(dict.fromkeys(topics)))
                exact, texts = self.any_of(
                    "ifnull(record.subject, record.topic)", [flat(subject) for subject in named]
                )
                both.append(f"({among} AND {exact})")
                yield f"({' OR '.join(both)})", [*more, *texts]
            else:
                yield both[0] if both else "0", []
            return
        if name == "statuses":
            statuses = [_status(value) for value in values if value is not None]
            among, more = self.any_of("record.status", statuses or [-1])
            yield among if is_key else among.replace("record.", "+record.", 1), more
            return
        column = f"record.{_ANY_OF[name]}"
        yield self._among(column if is_key else f"+{column}", values)


_IN_PART: Final = "record.grp = (SELECT id FROM part WHERE key = ?)"


def _key(selection: Select) -> str | None:
    """Return the condition whose index is taken."""
    if selection.prefix and not selection.ids:
        return "prefix"
    for name in _ANY_OF:
        values = getattr(selection, name)
        if values is not None and None not in values:
            return name
    return None


def _status(status: str) -> int | str:
    return STATUSES.index(status) if status in STATUSES else status


def body_of(record: Entry | Memory) -> tuple[str, tuple[str, ...]]:
    """Return what a record shares with others as JSON, and all roots of its lineages."""
    provenance = record.provenance
    if isinstance(record, Entry):
        return _body(
            provenance.origin, provenance.roots, "role", record.role, (), record.scope.node_id
        )
    further = tuple(
        dict.fromkeys(
            root
            for promotion_record in record.further
            for root in promotion_record.provenance.roots
        )
    )
    return _body(
        provenance.origin, provenance.roots, "by", record.promoted_by, further, record.scope.node_id
    )


@clearable_cache(1024)
def _body(
    origin: Origin,
    roots: tuple[Origin, ...],
    name: str,
    value: str,
    further: tuple[Origin, ...],
    node: str | None,
) -> tuple[str, tuple[str, ...]]:
    also = [origin for origin in further if origin not in roots]
    body = {"origin": str(origin), "roots": [*map(str, roots)], name: value}
    names = (*map(str, roots), *map(str, also))
    body |= {"also": sorted(map(str, also))} if also else {}
    text = json.dumps(body if node is None else body | {"node": node})
    return text, tuple(str(flat(name)) for name in names)


@clearable_cache(1024)
def _shared(body: str) -> tuple[Provenance, str, str | None]:
    data = json.loads(body)
    roots = tuple(map(Origin.parse, data["roots"]))
    provenance = Provenance(Origin.parse(data["origin"]), (), roots)
    return provenance, data["by"] if "by" in data else data["role"], data.get("node")


@clearable_cache(4096)
def _scope(
    key: str, agent: str | None, user: str | None, session: str | None, node: str | None
) -> MemoryScope:
    tenant, group = json.loads(key)
    return MemoryScope(
        tenant=tenant,
        group_id=group,
        user_id=user,
        agent_id=agent,
        session_id=session,
        node_id=node,
    )


def _packed_sources(sources: tuple[str, ...]) -> str | bytes | None:
    if not sources:
        return None
    if all(map(_HEX.fullmatch, sources)):
        return bytes.fromhex("".join(sources))
    return json.dumps(sources)


def _sources_of(packed: str | bytes) -> tuple[str, ...]:
    if isinstance(packed, str):
        return tuple(json.loads(packed))
    text = packed.hex()
    return tuple(text[start : start + 32] for start in range(0, len(text), 32))


def _more(record: Any, *, has_key: bool) -> str | None:
    kind = type(record)
    read, defaults = _RARE_VALUES[kind]
    values = read(record)
    rare: dict[str, Any] = {}
    if values != defaults:
        pairs = zip(_RARE[kind].items(), values, strict=True)
        rare = {
            name: dict(value) if name == "metadata" else value_to_json(value)
            for (name, usual), value in pairs
            if value != usual
        }
    times = ("created_at", "expires_at" if kind is Entry else "valid_to")
    for name in times if kind is Entry else (*times, "valid_from"):
        moment = getattr(record, name)
        if moment is not None and moment.utcoffset():  # a row keeps moments, not time zones
            rare[name] = moment.isoformat()
    if kind is Entry and record.key is not None and not has_key:
        rare["key"] = record.key
    return json.dumps(rare, separators=(",", ":")) if rare else None


def _moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def _common(row: Sequence[Any]) -> tuple[dict[str, Any], str, Any]:
    """Return the fields that both kinds have, the third value of their provenance, and more."""
    shared, third, node = _shared(row[2])
    sources = row[18]
    if sources is not None:
        shared = _with_sources(row[2], sources)
    fields = {
        "id": text_of(row[3]),
        "scope": _scope(row[1], text_of(row[9]), text_of(row[10]), text_of(row[11]), node),
        "content": unflat(row[19]),
        "created_at": _moment(row[4]),
        "provenance": shared,
        "revocation": text_of(row[7]),
    }
    more = json.loads(row[20]) if row[20] is not None else {}
    return fields, third, more


@clearable_cache(1024)
def _with_sources(body: str, sources: str | bytes) -> Provenance:
    provenance = _shared(body)[0]
    return Provenance(provenance.origin, _sources_of(sources), provenance.roots)


def _text(stored: str | None) -> str | None:
    return None if stored is None else unflat(stored)


def _record(is_memory: bool, row: Sequence[Any]) -> Any:
    return _memory(row) if is_memory else _entry(row)


# The fifty entries of working memory are read for each that is recorded: to find a row in a
# dictionary takes a tenth of the time that decoding it takes.
_remembered_record = clearable_cache(4096)(_record)
_CONTENT: Final = 19
_SHORT_CONTENT: Final = 2000
"""Characters; longer contents would make the dictionary large."""


def _memory(row: Sequence[Any]) -> Memory:
    fields, by, more = _common(row)
    begins, ends, document, subject, topic = row[5], row[6], row[12], row[13], row[14]
    fields |= {
        "promoted_by": by,
        "document_id": fields["id"] if document is None else text_of(document),
        "content_hash": text_of(row[17]),
        "subject": _text(topic if subject is None else subject),
        "valid_from": fields["created_at"] if begins is None else _moment(begins),
        "valid_to": None if ends is None else _moment(ends),
        "superseded_by": text_of(row[15]),
    }
    return Memory(**_with_more(fields, more, Memory))


def _entry(row: Sequence[Any]) -> Entry:
    fields, role, more = _common(row)
    status = row[8]
    fields |= {
        "role": role,
        "status": STATUSES[status] if isinstance(status, int) else status,
        "expires_at": None if row[6] is None else _moment(row[6]),
        "key": text_of(row[16]),
    }
    return Entry(**_with_more(fields, more, Entry))


def _with_more(fields: dict[str, Any], more: Mapping[str, Any], kind: type) -> dict[str, Any]:
    for name, value in more.items():
        if name in fields or name in _RARE[kind] or name == "key":
            fields[name] = value if name == "metadata" else value_from_json(name, value)
    return fields


def has(content: str, folded: str) -> bool:
    """Return whether a kept content has a text, whatever its case; that is folded and flat."""
    return unflat(folded) in unflat(content).casefold()
