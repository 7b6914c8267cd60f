"""The list of a group in Redis: its key, its elements, and the scripts that change it.

An element is a line: the version of this form, the number of the entry in the order of
storing, when it expires by our clock (microseconds) and by the clock of the server
(milliseconds), a mark of who wrote it, a digest of the id, and the entry as JSON. So scripts
see what they need and read no JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from memoryware.errors import StoreNewer, StoreUnavailable
from memoryware.tiers.model import Entry
from memoryware.tiers.stores.codec import entry_from_json, record_to_json
from memoryware.tiers.stores.redis._server import Script

_FORM: Final = "1"
_ELEMENT: Final = re.compile(
    rb"(?P<form>\d+)\|(?:(?P<seq>\d+)\|(?P<expires>-?\d*)\|(?P<deadline>\d*)\|(?P<mark>[0-9a-f]+)\|"
    rb"(?P<id>[0-9a-f]{32})\|(?P<body>.*))?",
    re.DOTALL,
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_LISTS: Final = 256
"""Lists whose elements a process keeps taken apart."""
_LARGEST: Final = 1 << 16
"""Bytes of a list of which it does so."""
_NOBODY: Final = "%"
"""What `quote` never makes: the empty text, as opposed to no text at all."""


def name_of(tenant: str | None, group: str | None) -> str:
    """Return tenant and group as one text; no two pairs have the same, and a plain group is it."""
    return f"{_part(tenant)}/{_part(group)}" if tenant is not None else _part(group)


def key_of(prefix: str, name: str) -> str:
    """Return the key of a list; a cluster keeps a key by what stands in its braces."""
    return f"{prefix}{{{name}}}"


def _part(text: str | None) -> str:
    if not text:
        return "" if text is None else _NOBODY
    return quote(text, safe="@+:", errors="surrogatepass")


@dataclass(frozen=True)
class Element:
    """One element of a list, taken apart.

    Attributes:
        seq: Its number in the order of storing.
        expires: When it expires, in microseconds, or "".
        deadline: When the server drops it, in milliseconds, or "".
        mark: Who wrote it.
        entry: The entry.
    """

    seq: int
    expires: str
    deadline: str
    mark: str
    entry: Entry


def element_of(raw: bytes) -> Element:
    """Return an element as it was written.

    Raises:
        StoreNewer: If a newer version wrote it.
        StoreUnavailable: If it cannot be read.
    """
    match = _ELEMENT.fullmatch(raw) or _ELEMENT.match(raw)
    if match and int(match["form"]) > int(_FORM):
        raise StoreNewer("A newer version of memoryware has written this working memory: update it")
    try:
        if match is None or match["body"] is None:
            raise ValueError("no element of ours")  # noqa: TRY301 - reported below like the others
        expires, data = match["expires"].decode(), json.loads(match["body"])
        if expires:
            moment = _EPOCH + timedelta(microseconds=int(expires))
            data["expires_at"] = moment.isoformat()
        entry = entry_from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise StoreUnavailable(
            "An entry of working memory in Redis cannot be read: another program has written under"
            " our keys; choose another prefix, ?prefix=name:"
        ) from error
    return Element(
        int(match["seq"]), expires, match["deadline"].decode(), match["mark"].decode(), entry
    )


@dataclass(frozen=True, slots=True)
class ListContent:
    """What a list had when it was read.

    Attributes:
        joined: Its elements as the server has sent them.
        raw: Each of them.
        elements: Each of them taken apart.
    """

    joined: bytes
    raw: Sequence[bytes]
    elements: Sequence[Element]


class RecentLists:
    """The lists that were read last, so that an element is taken apart once.

    Whether an element is the same is seen by its bytes. Nothing waits for a lock here, which a
    fork could find taken.
    """

    def __init__(self) -> None:
        self._lists: dict[str, ListContent] = {}
        self._last_drop = object()

    def begin(self) -> object:
        """Return what `content_of` needs of the moment before the server is asked."""
        return self._last_drop

    def content_of(self, name: str, joined: bytes, begun: object) -> ListContent:
        """Return the content of a list.

        Args:
            name: The list.
            joined: Its elements as `READ` returns them.
            begun: What `begin` returned; if something was dropped since, nothing is kept.

        Raises:
            StoreNewer: If a newer version wrote an element.
            StoreUnavailable: If an element cannot be read.
        """
        before = self._lists.pop(name, None)
        if before is None or before.joined != joined:
            raw = joined.split(b"\n") if joined else []
            decoded = dict(zip(before.raw, before.elements, strict=True)) if before else {}
            elements = [decoded.get(data) or element_of(data) for data in raw]
            content = ListContent(joined, raw, elements)
        else:
            content = before
        if len(joined) <= _LARGEST:
            self._lists[name] = content
            for oldest in [*self._lists][: max(0, len(self._lists) - _MOST_LISTS)]:
                self._lists.pop(oldest, None)
        if begun is not self._last_drop:
            self._lists.pop(name, None)
        return content

    def drop(self, names: Sequence[str]) -> None:
        """Forget lists of which something was removed."""
        self._last_drop = object()
        for name in names:
            self._lists.pop(name, None)


def body_of(entry: Entry) -> str:
    """Return an entry as JSON in ASCII, without when it expires: that stands before it."""
    return json.dumps(record_to_json(replace(entry, expires_at=None)), ensure_ascii=True)


def id_of(entry: Entry) -> str:
    """Return a digest of the id of an entry."""
    data = entry.id.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def micros_of(moment: datetime | None) -> str:
    """Return a moment in microseconds since 1970, "" for none."""
    return "" if moment is None else str((moment - _EPOCH) // timedelta(microseconds=1))


def lifetime_of(entry: Entry, grace: float) -> str:
    """Return how many milliseconds the server has to keep an entry, "" for ever.

    Two clocks are never compared: the server counts from now what lies between recording and
    expiry by our clock, and some grace.
    """
    if entry.expires_at is None:
        return ""
    lives = max((entry.expires_at - entry.created_at).total_seconds(), 0) + min(grace, 1e9)
    return str(int(lives * 1000) + 1)


def digest_of(elements: Sequence[bytes]) -> str:
    """Return a digest of a list, the same as that of `SWAP`."""
    return hashlib.sha1(b"\n".join(elements), usedforsecurity=False).hexdigest()


def payload_of(entry: Entry, mark: str) -> str:
    """Return the part of an element behind its times: mark, digest of the id, and JSON."""
    return f"{mark}|{id_of(entry)}|{body_of(entry)}"


_COMMON: Final = """
local function whole(number) return string.format('%.0f', number) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function parts(element)
  return string.match(element, '^1|(%d+)|(%-?%d*)|(%d*)|%x+|(%x+)|')
end
local function settle(key)
  local last, first, count = 0, '', 0
  local elements = redis.call('LRANGE', key, 0, -1)
  for _, element in ipairs(elements) do
    local _, expires, deadline = parts(element)
    count = count + 1
    if not deadline or deadline == '' then last = nil
    elseif last and tonumber(deadline) > last then last = tonumber(deadline) end
    if expires and expires ~= '' and (first == '' or tonumber(expires) < tonumber(first)) then
      first = expires
    end
  end
  if count > 0 then
    if last then redis.call('PEXPIREAT', key, whole(last)) else redis.call('PERSIST', key) end
  end
  return {count, first}, elements
end
"""

READ: Final = Script("return table.concat(redis.call('LRANGE', KEYS[1], 0, -1), '\\n')")
"""On a list: returns its elements as one text, which takes a client less time than many."""

PUSH: Final = Script(
    _COMMON
    + """
local key, keep, renew = KEYS[1], tonumber(ARGV[1]), ARGV[2] == '1'
local id, expires, life, written = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local deadline = life == '' and '' or whole(now + tonumber(life))
local seq = time[1] * 1000000 + time[2]
for _, element in ipairs(redis.call('LRANGE', key, 0, -1)) do
  local number, _, ends, of = parts(element)
  if number and tonumber(number) >= seq then seq = tonumber(number) + 1 end
  if of == id or (ends and ends ~= '' and tonumber(ends) <= now) then
    redis.call('LREM', key, 1, element)
  end
end
redis.call('LPUSH', key, table.concat({'1', whole(seq), expires, deadline, written}, '|'))
if keep < 1 then redis.call('DEL', key) else redis.call('LTRIM', key, 0, keep - 1) end
if renew then
  for place, element in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local number, rest = string.match(element, '^1|(%d+)|%-?%d*|%d*|(.*)$')
    if number then
      local new = table.concat({'1', number, expires, deadline, rest}, '|')
      redis.call('LSET', key, place - 1, new)
    end
  end
end
local _, elements = settle(key)
return table.concat(elements, '\\n')
"""
)
"""On a list: keep, renew, digest of the id, expiry, life, and what is written.

Puts an entry first, keeps the newest, drops what the server keeps no longer, and lets the whole
list go with its last entry. Returns the list as `READ` does."""

SWAP: Final = Script(
    _COMMON
    + """
local at = 1
local function take() at = at + 1; return ARGV[at - 1] end
for _, key in ipairs(KEYS) do
  if redis.sha1hex(table.concat(redis.call('LRANGE', key, 0, -1), '\\n')) ~= take() then
    return false
  end
end
local answers = {}
for _, key in ipairs(KEYS) do
  local gone = 0
  for _ = 1, tonumber(take()) do
    local place, before, life, written = take(), take(), take(), take()
    if before == '' then
      redis.call('LSET', key, place, '')
      gone = gone + 1
    else
      local deadline = life
      if string.sub(life, 1, 1) == '+' then deadline = whole(now + tonumber(life)) end
      redis.call('LSET', key, place, table.concat({before, deadline, written}, '|'))
    end
  end
  if gone > 0 then redis.call('LREM', key, 0, '') end
  answers[#answers + 1] = settle(key)
end
return answers
"""
)
"""On some lists, if they are still what was seen: a digest for each; then for each how many
changes, and each change: its place, what stands before its deadline ("" to remove it), the
deadline or "+" and a life, and what stands behind it. All of it happens, or nothing."""

PURGE: Final = Script(
    _COMMON
    + """
local moment, gone = tonumber(ARGV[1]), 0
for _, element in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local _, expires = parts(element)
  if expires and expires ~= '' and tonumber(expires) <= moment then
    gone = gone + redis.call('LREM', KEYS[1], 1, element)
  end
end
local answer = settle(KEYS[1])
return {gone, answer[1], answer[2]}
"""
)
"""On a list: a moment. Returns how many had expired, how many are left, and when the first does."""
