"""Stores with one fault each, which the suites of the tiers have to notice: faults of any tier."""

from __future__ import annotations

import time
import unicodedata
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta

from memoryware.errors import StoreUnavailable
from memoryware.tiers.provenance import Provenance
from memoryware.tiers.stores._locking import Ticket
from memoryware.tiers.stores.embedded import key_of
from memoryware.tiers.stores.selecting import is_selected

FAULTS: list[type] = []
MOMENT = 0.02
"""Seconds a fault leaves to others: less, and a busy machine gets round to nobody in time."""


def fault(kind):
    FAULTS.append(kind)
    return kind


def copied(record):
    """A record that shares nothing that can be changed."""
    return replace(record, metadata=deepcopy(record.metadata))


class Fault:
    """Something to put before a store that is right otherwise."""

    lasts = True
    """Opened again, it has its records."""

    isolated = True
    """Transactions let nobody else in, and undo everything if they fail; else each call does."""

    one_half = False
    """The blocking half is right."""

    on_the_loop = False
    """The asynchronous half runs on the event loop, not in a thread."""

    @contextmanager
    def _alone(self):
        ticket = Ticket()
        try:
            self._turns.enter(ticket)
            yield
        finally:
            self._turns.leave(ticket)

    def _loosely(self, which, name, takes):
        """Everything that fits but for one condition, which is decided by `takes`."""
        if getattr(which, name) in (None, ""):
            return super()._fitting(which)
        lax = which.also(**{name: "" if name in ("contains", "prefix") else None})
        return [one for one in super()._fitting(lax) if takes(one)]


# Pages.


@fault
class FindsOldestFirst(Fault):
    def _fitting(self, which):
        return super()._fitting(which)[::-1]


@fault
class FindsByTime(Fault):
    def _fitting(self, which):
        return sorted(super()._fitting(which), key=lambda one: one.created_at, reverse=True)


@fault
class IgnoresTheLimit(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, offset=offset, after=after)


@fault
class IgnoresTheLimitInOneHalf(Fault):
    one_half = True

    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, offset=offset, after=after)


@fault
class TakesNoneForTheLimit(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, limit=limit or None, offset=offset, after=after)


@fault
class IgnoresTheOffset(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        return super().find(which, limit=limit, after=after)


@fault
class CountsThePage(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        page = super().find(which, limit=limit, offset=offset, after=after)
        return replace(page, total=len(page.items) + offset)


@fault
class FindsTheNewestHundred(Fault):
    def _fitting(self, which):
        return super()._fitting(which)[:30]


# Whose it is.


@fault
class TakesGroupsByPrefix(Fault):
    def _fitting(self, which):
        groups = which.groups or ()
        return self._loosely(
            which,
            "groups",
            lambda one: any(str(one.scope.group_id).startswith(str(g)) for g in groups),
        )


@fault
class TakesGroupsByCase(Fault):
    def _fitting(self, which):
        groups = [one and one.lower() for one in which.groups or ()]
        return self._loosely(
            which,
            "groups",
            lambda one: (one.scope.group_id and one.scope.group_id.lower()) in groups,
        )


@fault
class TakesGroupsByForm(Fault):
    """Two spellings of one letter are one group."""

    def _fitting(self, which):
        def form(text):
            return text and unicodedata.normalize("NFC", text)

        groups = [form(one) for one in which.groups or ()]
        return self._loosely(which, "groups", lambda one: form(one.scope.group_id) in groups)


@fault
class StripsGroups(Fault):
    def _fitting(self, which):
        groups = [one and one.strip() for one in which.groups or ()]
        return self._loosely(
            which,
            "groups",
            lambda one: (one.scope.group_id and one.scope.group_id.strip()) in groups,
        )


@fault
class TakesNoGroupForAnEmptyOne(Fault):
    def _fitting(self, which):
        groups = [one or "" for one in which.groups or ()]
        return self._loosely(which, "groups", lambda one: (one.scope.group_id or "") in groups)


@fault
class TakesNoGroupForAWord(Fault):
    def _fitting(self, which):
        groups = [*map(str, which.groups or ())]
        return self._loosely(which, "groups", lambda one: str(one.scope.group_id) in groups)


@fault
class TakesNoTenantForAll(Fault):
    def _fitting(self, which):
        if which.tenant is not None:
            return super()._fitting(which)
        return [
            one
            for one in reversed(self._records.values())
            if is_selected(one, which.also(tenant=one.scope.tenant))
        ]


@fault
class JoinsTenantAndGroup(Fault):
    separator = "."

    def _fitting(self, which):
        def joined(tenant, group):
            return f"{tenant or ''}{self.separator}{group or ''}" if tenant and group else None

        wanted = {joined(which.tenant, one) for one in which.groups or ()} - {None}
        if not wanted:
            return super()._fitting(which)
        lax = [
            one
            for one in reversed(self._records.values())
            if joined(one.scope.tenant, one.scope.group_id) in wanted
        ]
        return [
            one
            for one in lax
            if is_selected(one, which.also(tenant=one.scope.tenant, groups=(one.scope.group_id,)))
        ]


@fault
class JoinsTenantAndGroupByAControlCharacter(JoinsTenantAndGroup):
    separator = "\x1f"


@fault
class EditsAcrossGroups(Fault):
    """What is named by its id is found anywhere in the tenant."""

    def edit(self, which, change):
        return super().edit(which.also(groups=None) if which.ids else which, change)


@fault
class DeletesAcrossTenants(Fault):
    def delete(self, which):
        for tenant in {one.scope.tenant for one in self._records.values()} if which.ids else ():
            super().delete(which.also(tenant=tenant, groups=None))
        return super().delete(which)


# Conditions.


@fault
class IgnoresUsers(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(users=None))


@fault
class TakesNoSessionForAny(Fault):
    def _fitting(self, which):
        lax = which.sessions is not None and None in which.sessions
        return super()._fitting(which.also(sessions=None) if lax else which)


@fault
class TakesNoValuesForAny(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(agents=which.agents or None))


@fault
class TakesNoGroupsForAll(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(groups=which.groups or None))


@fault
class TakesFewIds(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(ids=which.ids[:999]) if which.ids else which)


@fault
class ComparesOneHash(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(hashes=which.hashes[:1]) if which.hashes else which)


@fault
class ContainsByCase(Fault):
    def _fitting(self, which):
        return self._loosely(which, "contains", lambda one: which.contains in one.content)


@fault
class ContainsByAsciiCase(Fault):
    def _fitting(self, which):
        def low(text):
            return "".join(one.lower() if one.isascii() else one for one in text)

        return self._loosely(which, "contains", lambda one: low(which.contains) in low(one.content))


@fault
class BeginsWithAnyId(Fault):
    """Ids that were not generated are selected by their beginning as well."""

    def _fitting(self, which):
        return self._loosely(which, "prefix", lambda one: one.id.startswith(which.prefix))


@fault
class BeginsInTheMiddle(Fault):
    def _fitting(self, which):
        return self._loosely(
            which, "prefix", lambda one: len(one.id) == 32 and which.prefix in one.id
        )


@fault
class BeginsWithAtMostEight(Fault):
    def _fitting(self, which):
        return super()._fitting(which.also(prefix=which.prefix[:8]))


@fault
class ContainsByPattern(Fault):
    def _fitting(self, which):
        pieces = which.contains.casefold().split("%")
        return self._loosely(
            which, "contains", lambda one: all(piece in one.content.casefold() for piece in pieces)
        )


@fault
class BeginsAfterwards(Fault):
    def _fitting(self, which):
        since = which.since and which.since + timedelta(microseconds=1)
        return super()._fitting(which.also(since=since))


@fault
class EndsAfterwards(Fault):
    def _fitting(self, which):
        before = which.before and which.before + timedelta(microseconds=1)
        return super()._fitting(which.also(before=before))


@fault
class ComparesWholeSeconds(Fault):
    def _fitting(self, which):
        before = which.before and which.before.replace(microsecond=0)
        return super()._fitting(which.also(before=before))


@fault
class LooksAtTheOriginOnly(Fault):
    def _fitting(self, which):
        return self._loosely(which, "root", lambda one: str(one.provenance.origin) == which.root)


@fault
class TakesRootsByPrefix(Fault):
    def _fitting(self, which):
        return self._loosely(
            which,
            "root",
            lambda one: any(str(r).startswith(which.root) for r in one.provenance.roots),
        )


@fault
class LooksAtTheFirstSource(Fault):
    def _fitting(self, which):
        return self._loosely(
            which, "made_of", lambda one: {*one.provenance.sources[:1]} & {*which.made_of}
        )


@fault
class WantsAllSources(Fault):
    def _fitting(self, which):
        return self._loosely(
            which, "made_of", lambda one: {*which.made_of} <= {*one.provenance.sources}
        )


@fault
class ShowsWhatWasRevoked(Fault):
    def _fitting(self, which):
        def alive(one):
            return is_selected(replace(one, revocation=None), which.also(revocations=None))

        return self._loosely(which, "live_at", alive)


@fault
class OneConditionIsEnough(Fault):
    def _fitting(self, which):
        if which.agents and which.contains:
            both = (
                super()._fitting(which.also(agents=None)),
                super()._fitting(which.also(contains="")),
            )
            ids = {one.id for found in both for one in found}
            return [one for one in reversed(self._records.values()) if one.id in ids]
        return super()._fitting(which)


# Keeping.


class _Returns(Fault):
    """Gives back something else than it was given."""

    def find(self, which, *, limit=None, offset=0, after=None):
        page = super().find(which, limit=limit, offset=offset, after=after)
        return replace(page, items=[self.other(one) for one in page.items])


@fault
class StripsContents(_Returns):
    def other(self, record):
        return replace(record, content=record.content.strip())


@fault
class NormalisesContents(_Returns):
    def other(self, record):
        return replace(record, content=unicodedata.normalize("NFC", record.content))


@fault
class MakesNewlinesAlike(_Returns):
    def other(self, record):
        return replace(record, content=record.content.replace("\r\n", "\n"))


@fault
class CutsContents(_Returns):
    def other(self, record):
        return replace(record, content=record.content[:65_535])


@fault
class LosesMicroseconds(_Returns):
    def other(self, record):
        return replace(record, created_at=record.created_at.replace(microsecond=0))


@fault
class LosesVerdicts(_Returns):
    def other(self, record):
        return replace(record, verdict=None)


@fault
class LosesNodes(_Returns):
    def other(self, record):
        return replace(record, scope=replace(record.scope, node_id=None))


@fault
class SortsSources(_Returns):
    def other(self, record):
        made = record.provenance
        return replace(
            record, provenance=Provenance(made.origin, tuple(sorted(made.sources)), made.roots)
        )


@fault
class LosesRoots(_Returns):
    def other(self, record):
        made = record.provenance
        return replace(record, provenance=Provenance(made.origin, made.sources))


@fault
class KeepsFlatMetadata(_Returns):
    def other(self, record):
        flat = {key: one for key, one in record.metadata.items() if not isinstance(one, list)}
        return replace(record, metadata=flat)


@fault
class SharesMetadata(Fault):
    def find(self, which, *, limit=None, offset=0, after=None):
        page = super().find(which, limit=limit, offset=offset, after=after)
        return replace(page, items=[self._records[key_of(one)] for one in page.items])


# Edits and deletes.


@fault
class ReturnsAllThatFits(Fault):
    def edit(self, which, change):
        super().edit(which, change)
        return self.find(which).items


@fault
class KeepsHalfOfAFailure(Fault):
    isolated = False

    def edit(self, which, change):
        changed = []
        for one in self._fitting(which):
            changed += super().edit(which.also(ids=(one.id,)), change)
        return changed


@fault
class LetsAFailedChangeSpoilIt(Fault):
    isolated = False

    def edit(self, which, change):
        return super().edit(which, lambda one: change(self._records[key_of(one)]))


@fault
class SwallowsAFailure(Fault):
    def edit(self, which, change):
        try:
            return super().edit(which, change)
        except RuntimeError:
            return []


@fault
class EditsMoveToTheFront(Fault):
    def edit(self, which, change):
        changed = super().edit(which, change)
        for one in changed:
            self._records[key_of(one)] = self._records.pop(key_of(one))
        return changed


@fault
class EditsWithoutALock(Fault):
    isolated = False

    def edit(self, which, change):
        before = [*map(replace, self._fitting(which))]
        after = [change(one) for one in before]
        time.sleep(MOMENT)
        differing = [both for both in zip(before, after, strict=True) if both[0] != both[1]]
        for old, new in differing:
            with self._alone():
                if key_of(old) in self._records:
                    self._records[key_of(old)] = new
                    self._changed(old, new)
        return [new for _, new in differing]


@fault
class EditsAreSeenByHalves(Fault):
    isolated = False

    def edit(self, which, change):
        made = [(one, change(replace(one))) for one in super().find(which).items]
        found = []
        for old, _ in made:
            found += super().edit(which.also(ids=(old.id,)), lambda one: change(one))
            time.sleep(MOMENT)
        return found


@fault
class EditsTheFirstOnly(Fault):
    def edit(self, which, change):
        first = self._fitting(which)[:1]
        return super().edit(which.also(ids=tuple(one.id for one in first)), change)


@fault
class AsyncEditsDoNothing(Fault):
    one_half = True

    def edit(self, which, change):
        return [change(one) for one in self.find(which).items if change(one) != one]


@fault
class DeletesTheFirstOnly(Fault):
    def delete(self, which):
        first = self._fitting(which)[:1]
        return super().delete(which.also(ids=tuple(one.id for one in first)))


@fault
class CountsNoDeletes(Fault):
    def delete(self, which):
        return min(1, super().delete(which))


@fault
class ForgetsTheDeletedForGood(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._gone = set()

    def delete(self, which):
        gone = {one.id for one in self._fitting(which)}
        count = super().delete(which)
        self._gone |= gone
        return count

    def _fitting(self, which):
        return [one for one in super()._fitting(which) if one.id not in self._gone]


# Doors.


@fault
class BlocksTheLoop(Fault):
    one_half = on_the_loop = True

    def find(self, which, *, limit=None, offset=0, after=None):
        time.sleep(0.001)
        return super().find(which, limit=limit, offset=offset, after=after)


@fault
class BlocksTheLoopInADelete(Fault):
    one_half = on_the_loop = True

    def delete(self, which):
        time.sleep(0.001)
        return super().delete(which)


@fault
class ForgetsAllWhenItIsOpened(Fault):
    lasts = False


@fault
class ClosesOnce(Fault):
    closed = False

    def close(self):
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True
        super().close()


@fault
class EmptiesItselfWhenClosed(Fault):
    def close(self):
        self._records.clear()
        super().close()


@fault
class WorksOnWhenClosed(Fault):
    def close(self):
        """Nothing is open."""


@fault
class SaysSomethingElseWhenClosed(Fault):
    def _must_be_open(self):
        try:
            super()._must_be_open()
        except StoreUnavailable as error:
            raise ValueError("closed") from error


# Ids.


class _Named(Fault):
    """Finds what is named by its id in its own way."""

    def _named(self, which):
        return [*self.named(which)] if which.ids else super()._named(which)


@fault
class FindsTheLastWithAnId(_Named):
    def named(self, which):
        last = {one.id: one for one in self._records.values()}
        return [one for id_, one in last.items() if id_ in which.ids]


@fault
class FindsIdsInTheirOwnOrder(_Named):
    def named(self, which):
        known = {(one.id, *key_of(one)[:2]): one for one in self._records.values()}
        groups = which.groups or {one.scope.group_id for one in self._records.values()}
        names = [(one, which.tenant, group) for one in which.ids for group in groups]
        return [known[one] for one in dict.fromkeys(names) if one in known]


@fault
class FindsAnIdAsOftenAsItIsAskedFor(_Named):
    def named(self, which):
        every = list(reversed(self._records.values()))
        return [one for one in every for id_ in which.ids if one.id == id_]


@fault
class CannotSpellIds(_Named):
    def named(self, which):
        def spelt(id_):
            return id_.encode("utf-8", "replace").partition(b"\0")[0]

        wanted = {*map(spelt, which.ids)}
        lax = [one for one in reversed(self._records.values()) if spelt(one.id) in wanted]
        return lax

    def _fitting(self, which):
        lax = self._named(which)
        return [one for one in lax if is_selected(one, which.also(ids=None))]
