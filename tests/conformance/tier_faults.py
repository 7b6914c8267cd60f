"""Stores with one fault each, which the suites of the tiers have to notice: faults of one tier."""

from __future__ import annotations

import time
from dataclasses import replace

from conformance.store_faults import MOMENT, Fault, copied
from memoryware.errors import StoreUnavailable
from memoryware.tiers.stores.embedded import key_of
from memoryware.tiers.stores.protocol import Select

QUARANTINE: list[type] = []
WORKING: list[type] = []


def quarantine(kind):
    QUARANTINE.append(kind)
    return kind


def working(kind):
    WORKING.append(kind)
    return kind


def part(record):
    return record.scope.tenant, record.scope.group_id


# Quarantine.


class _Keys(Fault):
    """Finds the entry with the same key in its own way."""

    def same(self, known, new):
        return known.key == new.key and part(known) == part(new)

    def add(self, entry):
        with self._alone():
            for one in [*self._records.values()] if entry.key is not None else ():
                if self.same(one, entry):
                    return self.known(one, entry)
            return super().add(replace(entry, key=None)) and self._keyed(entry)

    def known(self, one, entry):
        return one

    def _keyed(self, entry):
        self._records[key_of(entry)] = copied(entry)
        return entry


@quarantine
class IgnoresKeys(_Keys):
    def same(self, known, new):
        return False


@quarantine
class SharesKeysBetweenGroups(_Keys):
    def same(self, known, new):
        return known.key == new.key and known.scope.tenant == new.scope.tenant


@quarantine
class SharesKeysBetweenTenants(_Keys):
    def same(self, known, new):
        return known.key == new.key and known.scope.group_id == new.scope.group_id


@quarantine
class JoinsGroupAndKey(_Keys):
    def same(self, known, new):
        def joined(one):
            return f"{one.scope.tenant}:{one.scope.group_id}:{one.key}"

        return joined(known) == joined(new)


@quarantine
class HasAKeyForEachUser(_Keys):
    def same(self, known, new):
        return super().same(known, new) and known.scope.user_id == new.scope.user_id


@quarantine
class HasAKeyForEachSession(_Keys):
    def same(self, known, new):
        return super().same(known, new) and known.scope.session_id == new.scope.session_id


@quarantine
class HasAKeyForEachContent(_Keys):
    def same(self, known, new):
        return super().same(known, new) and known.content == new.content


@quarantine
class FoldsKeys(_Keys):
    def same(self, known, new):
        return part(known) == part(new) and (known.key or "").lower() == (new.key or "").lower()


@quarantine
class TakesAnEmptyKeyForNone(Fault):
    def add(self, entry):
        if entry.key == "":
            super().add(replace(entry, key=None))
            self._records[key_of(entry)] = entry
            return entry
        return super().add(entry)


@quarantine
class TakesNoKeyForAKey(Fault):
    def add(self, entry):
        for one in self._records.values():
            if entry.key is None and one.key is None and part(one) == part(entry):
                return one
        return super().add(entry)


@quarantine
class ReturnsWhatItDidNotKeep(_Keys):
    def known(self, one, entry):
        return entry


@quarantine
class ReplacesTheKnown(_Keys):
    def known(self, one, entry):
        self._records[key_of(one)] = replace(entry, id=one.id)
        return self._records[key_of(one)]


@quarantine
class ReturnsTheKnownAsItWas(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._first = {}

    def add(self, entry):
        kept = super().add(entry)
        return self._first.setdefault(kept.id, kept)


@quarantine
class RemembersKeysOfTheDeleted(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._keys = {}

    def add(self, entry):
        known = self._keys.get((*part(entry), entry.key)) if entry.key is not None else None
        if known is not None and key_of(known) not in self._records:
            return known
        kept = super().add(entry)
        self._keys[*part(entry), entry.key] = kept
        return kept


@quarantine
class ForgetsKeysWhenEdited(Fault):
    def edit(self, which, change):
        changed = super().edit(which, change)
        for one in changed:
            if one.status != "pending":
                self._records[key_of(one)] = replace(self._records[key_of(one)], key=None)
        return changed


@quarantine
class LooksForTheKeyFirst(Fault):
    isolated = False

    def add(self, entry):
        for one in self.find(Select.within(entry.scope)).items:
            if entry.key is not None and one.key == entry.key:
                return one
        time.sleep(MOMENT)
        with self._alone():
            self._must_be_new([entry])
            self._records[key_of(entry)] = copied(entry)
        return entry


@quarantine
class KeepsTheNewestHundred(Fault):
    def add(self, entry):
        kept = super().add(entry)
        for one in self._fitting(Select.within(entry.scope))[100:]:
            del self._records[key_of(one)]
        return kept


@quarantine
class DropsTheDecided(Fault):
    def edit(self, which, change):
        changed = super().edit(which, change)
        for one in changed:
            if one.status == "rejected":
                del self._records[key_of(one)]
        return changed


@quarantine
class MixesStatuses(Fault):
    def _fitting(self, which):
        if which.statuses and "pending" in which.statuses:
            which = which.also(statuses=(*which.statuses, "proposed"))
        return super()._fitting(which)


@quarantine
class ReplacesAKnownId(Fault):
    def _must_be_new(self, records):
        pass


@quarantine
class KnowsIdsOfOtherGroups(Fault):
    def _must_be_new(self, records):
        if any(one.id == new.id for new in records for one in self._records.values()):
            raise StoreUnavailable("this id is there already")


@quarantine
class AddsNothingInOneHalf(Fault):
    one_half = True

    def add(self, entry):
        return entry


# Working memory.


@working
class KeepsOneMore(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep + 1, renew=renew)


@working
class KeepsOneLess(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=max(1, keep - 1), renew=renew)


@working
class KeepsTheOldest(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        for one in self._fitting(Select.within(entry.scope))[:-keep]:
            del self._records[key_of(one)]


@working
class DropsByTime(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        mine = sorted(self._fitting(Select.within(entry.scope)), key=lambda one: one.created_at)
        for one in mine[:-keep]:
            del self._records[key_of(one)]


@working
class DropsOnlyOne(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        mine = self._fitting(Select.within(entry.scope))
        if len(mine) > keep:
            del self._records[key_of(mine[-1])]


@working
class HasOneListForAll(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        for one in [*reversed(self._records.values())][keep:]:
            del self._records[key_of(one)]


@working
class HasOneListForATenant(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        for one in self._fitting(Select(tenant=entry.scope.tenant))[keep:]:
            del self._records[key_of(one)]


@working
class HasAListForEachUser(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        mine = Select.within(entry.scope, users=(entry.scope.user_id,))
        for one in self._fitting(mine)[keep:]:
            del self._records[key_of(one)]


@working
class MovesWhatStrangersHave(Fault):
    """An entry is known by its id alone."""

    def push(self, entry, *, keep, renew=False):
        for key in [key for key in self._records if key[2] == entry.id]:
            del self._records[key]
        super().push(entry, keep=keep, renew=renew)


@working
class MovesWhatOtherTenantsHave(Fault):
    def push(self, entry, *, keep, renew=False):
        for key in [key for key in self._records if key[1:] == key_of(entry)[1:]]:
            del self._records[key]
        super().push(entry, keep=keep, renew=renew)


@working
class DoesNotMove(Fault):
    def push(self, entry, *, keep, renew=False):
        if key_of(entry) in self._records:
            self._records[key_of(entry)] = entry
        else:
            super().push(entry, keep=keep, renew=renew)


@working
class MovesTheOldOne(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(self._records.get(key_of(entry), entry), keep=keep, renew=renew)


@working
class PushesOutBeforeItLooks(Fault):
    def push(self, entry, *, keep, renew=False):
        for one in self._fitting(Select.within(entry.scope))[keep - 1 :]:
            self._records.pop(key_of(one), None)
        super().push(entry, keep=keep, renew=renew)


@working
class RenewsAlways(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep, renew=True)


@working
class NeverRenews(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep)


@working
class RenewsEverybody(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep, renew=renew)
        for one in [*self._records.values()] if renew else ():
            self._records[key_of(one)] = replace(one, expires_at=entry.expires_at)


@working
class OnlyProlongs(Fault):
    def push(self, entry, *, keep, renew=False):
        before = {key: one.expires_at for key, one in self._records.items()}
        super().push(entry, keep=keep, renew=renew)
        for one in [*self._records.values()]:
            old = before.get(key_of(one))
            if renew and old and one.expires_at and old > one.expires_at:
                self._records[key_of(one)] = replace(one, expires_at=old)


@working
class CannotRenewForEver(Fault):
    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep, renew=renew and entry.expires_at is not None)


@working
class IsTooLongForAMoment(Fault):
    isolated = False

    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=10**9, renew=renew)
        time.sleep(MOMENT)
        with self._alone():
            for one in self._fitting(Select.within(entry.scope))[keep:]:
                del self._records[key_of(one)]


@working
class IsAwayForAMoment(Fault):
    isolated = False

    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep, renew=renew)
        # After the push, for others look then: before it they would push it themselves.
        record = self._records.pop(key_of(entry), None)
        time.sleep(MOMENT)
        if record is not None:
            self._records[key_of(entry)] = record


@working
class PurgesOnlyTheNameless(Fault):
    def purge(self, now):
        return self._purged(
            [one for one in self._records.values() if one.scope.tenant is None], now
        )

    def _purged(self, some, now):
        gone = [key_of(one) for one in some if one.expires_at and one.expires_at <= now]
        for one in gone:
            del self._records[one]
        return len(gone)


@working
class PurgesAMomentLater(PurgesOnlyTheNameless):
    def purge(self, now):
        return self._purged([one for one in self._records.values() if one.expires_at != now], now)


@working
class PurgesWhatNeverExpires(Fault):
    def purge(self, now):
        for one in [key for key, one in self._records.items() if one.expires_at is None]:
            del self._records[one]
        return super().purge(now)


@working
class PurgesInWholeSeconds(Fault):
    def purge(self, now):
        return super().purge(now.replace(microsecond=999_999))


@working
class CountsNoPurges(Fault):
    def purge(self, now):
        return min(1, super().purge(now))


@working
class PurgesByWhatWasPushed(Fault):
    """An index of times that edits do not change."""

    def __init__(self, *args):
        super().__init__(*args)
        self._times = {}

    def push(self, entry, *, keep, renew=False):
        super().push(entry, keep=keep, renew=renew)
        known = self._fitting(Select.within(entry.scope)) if renew else [entry]
        self._times |= {key_of(one): entry.expires_at for one in known}

    def purge(self, now):
        gone = [one for one in self._records if self._times[one] and self._times[one] <= now]
        for one in gone:
            del self._records[one]
        return len(gone)


@working
class HidesWhatHasExpired(Fault):
    def _fitting(self, which):
        return [
            one
            for one in super()._fitting(which)
            if not one.expires_at or one.expires_at > one.created_at
        ]


@working
class ShowsWhatExpiresNow(Fault):
    def _fitting(self, which):
        if which.live_at is None:
            return super()._fitting(which)
        lax = super()._fitting(which.also(live_at=None, revocations=which.revocations or (None,)))
        return [one for one in lax if not one.expires_at or one.expires_at >= which.live_at]


@working
class BlocksTheLoopInAPush(Fault):
    one_half = on_the_loop = True

    def push(self, entry, *, keep, renew=False):
        time.sleep(0.001)
        super().push(entry, keep=keep, renew=renew)


@working
class PurgesNothingInOneHalf(Fault):
    one_half = True

    def purge(self, now):
        return 0
