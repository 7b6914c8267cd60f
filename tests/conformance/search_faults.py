"""Long-term memory with one fault each in its search, which its suite has to notice."""

from __future__ import annotations

import time
from dataclasses import replace
from unittest.mock import patch

from conformance.store_faults import Fault
from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.stores import embedded, selecting
from memoryware.tiers.stores._locking import Ticket
from memoryware.tiers.stores.embedded import key_of
from memoryware.tiers.stores.protocol import SearchResult, SearchView, Select
from memoryware.tiers.stores.selecting import is_selected

FAULTS: list[type] = []
EVERY = 10**9


def fault(kind):
    FAULTS.append(kind)
    return kind


class _Asks(Fault):
    """Looks for something else than was asked."""

    def search(self, query, which, choose):
        return super().search(self.other(query), which, choose)


class _Sees(Fault):
    """Sees something else than there is."""

    def search(self, query, which, choose):
        def chosen(view):
            return choose(self.other(view, query, which))

        found = super().search(query, which, chosen)
        return SearchResult(self.other(found.view, query, which), found.memories)


class _Looks(Fault):
    """Works with another function than the reference."""

    place, name = selecting, ""

    def search(self, query, which, choose):
        with patch.object(self.place, self.name, self.wrong):
            return super().search(query, which, choose)


# What is seen.


@fault
class SeesNothingBeside(_Asks):
    def other(self, query):
        return replace(query, reach=0)


@fault
class ReachesOneTooFar(_Asks):
    def other(self, query):
        return replace(query, reach=query.reach + 1)


@fault
class KnowsNoSessions(_Asks):
    def other(self, query):
        return replace(query, sessions=False)


@fault
class TakesSessionsUnasked(_Asks):
    def other(self, query):
        return replace(query, sessions=True)


@fault
class LooksThroughWholeThreads(_Asks):
    def other(self, query):
        return replace(query, thread=EVERY)


@fault
class TakesNoneOfAThreadForAll(_Asks):
    def other(self, query):
        return replace(query, thread=query.thread or EVERY)


@fault
class LimitsBothTogether(_Asks):
    def other(self, query):
        return replace(query, limit=(query.limit + 1) // 2)


@fault
class LooksForTheFirstWord(_Looks):
    place, name = embedded, "build_view"

    @staticmethod
    def wrong(items, query, corpus):
        first, known = selecting.build_view(items, replace(query, words=query.words[:1]), corpus)
        padded = (0,) * (len(query.words) - 1)
        seen = [replace(one, counts=(*one.counts, *padded)) for one in first.candidates]
        return replace(first, candidates=seen, having=(*first.having, *padded)), known


@fault
class SeesTheOldestOfEquals(_Looks):
    name = "newest_best"

    @staticmethod
    def wrong(scores, most):
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]


@fault
class SeesTheWorst(_Looks):
    name = "newest_best"

    @staticmethod
    def wrong(scores, most):
        return sorted(scores, key=lambda place: (scores[place], -place))[:most]


@fault
class MixesThreadsOfStrangers(_Looks):
    place, name = embedded, "thread_key"

    @staticmethod
    def wrong(memory, query):
        return selecting.thread_key(memory, query)[1:]


@fault
class TakesNoSessionForOne(_Looks):
    place, name = embedded, "thread_key"

    @staticmethod
    def wrong(memory, query):
        session = memory.scope.session_id if query.sessions else memory.document_id
        return memory.scope.group_id, session


@fault
class TakesASessionForADocument(_Looks):
    place, name = embedded, "thread_key"

    @staticmethod
    def wrong(memory, query):
        group, _, name = selecting.thread_key(memory, query)
        return group, name.casefold()


class _Speaks(_Looks):
    """Compares other speakers than the reference."""

    place, name = embedded, "build_view"

    @classmethod
    def wrong(cls, items, query, corpus):
        return selecting.build_view([cls.said(one) for one in items], query, corpus)


@fault
class KnowsNoSpeakers(_Speaks):
    @staticmethod
    def said(item):
        return replace(item, speaker=None)


@fault
class TakesAllForOneSpeaker(_Speaks):
    @staticmethod
    def said(item):
        return replace(item, speaker="somebody")


@fault
class TakesOneWithoutANameForASpeaker(_Speaks):
    @staticmethod
    def said(item):
        return replace(item, speaker=item.speaker or "nobody")


@fault
class TakesEachChunkForSaidAgain(_Speaks):
    @staticmethod
    def said(item):
        return replace(item, document=object())


@fault
class LooksThroughTheOldest(_Looks):
    place, name = embedded, "build_view"

    @staticmethod
    def wrong(items, query, corpus):
        many = [one.thread for one in items]
        lone = [
            one
            if many[:at].count(one.thread) < query.thread
            else replace(one, thread=(one.thread, at))
            for at, one in enumerate(items)
        ]
        return selecting.build_view(lone, query, corpus)


@fault
class SeesWhatDoesNotFitBesideAHit(Fault):
    def search(self, query, which, choose):
        lax = Select(tenant=which.tenant, groups=which.groups)
        hits = super().search(replace(query, reach=0), which, lambda s: range(len(s.candidates)))
        ids = {key_of(one) for one in hits.memories.values()}
        found = super().search(query, lax, lambda s: range(len(s.candidates)))
        near = [place for place, one in found.memories.items() if key_of(one) in ids]
        places = [
            place
            for place in found.memories
            if any(abs(place - other) <= query.reach for other in near)
        ]
        seen = [found.view.candidates[place] for place in places]
        seen[:1] = [replace(one, follows=False) for one in seen[:1]]
        view = replace(found.view, candidates=seen)
        return SearchResult(view, {at: found.memories[places[at]] for at in choose(view)})


@fault
class ForgetsToAskWhoMayBeShown(Fault):
    def search(self, query, which, choose):
        return super().search(query, which.also(live_at=None), choose)


@fault
class SearchesAllGroups(Fault):
    def search(self, query, which, choose):
        return super().search(query, which.also(groups=None), choose)


@fault
class WantsAVectorOfEverything(Fault):
    def search(self, query, which, choose):
        if query.vector is not None and query.space is not None:
            known = self._index.vectors.get(query.space.name, {})
            ids = tuple(one.id for one in self._fitting(which) if key_of(one) in known)
            which = which.also(ids=ids)
        return super().search(query, which, choose)


@fault
class OrdersThreadsByTime(Fault):
    def _fitting(self, which):
        found = super()._fitting(which)
        if self._searching:
            found.sort(key=lambda one: one.created_at, reverse=True)
        return found

    _searching = False

    def search(self, query, which, choose):
        self._searching = True
        try:
            return super().search(query, which, choose)
        finally:
            self._searching = False


@fault
class CannotTakeOddWords(Fault):
    def search(self, query, which, choose):
        if not all(word.replace("_", "").isalnum() for word in query.words):
            raise ValueError("no word")
        return super().search(query, which, choose)


@fault
class LooksWhenItIsClosed(Fault):
    isolated = False

    def _must_be_open(self):
        if not self._searching:
            super()._must_be_open()

    _searching = False

    def search(self, query, which, choose):
        self._searching = True
        try:
            return super().search(query, which, choose)
        finally:
            self._searching = False


# What is told of it.


@fault
class CountsWhatFitsOnly(Fault):
    def _corpus(self, which):
        fitting = {key_of(one) for one in self._fitting(self._asked or which)}
        return {key: one for key, one in super()._corpus(which).items() if key in fitting}

    _asked = None

    def search(self, query, which, choose):
        self._asked = which
        try:
            return super().search(query, which, choose)
        finally:
            self._asked = None


@fault
class CountsTheWholeTenant(_Sees):
    def other(self, view, query, which):
        every = self._corpus(which.also(groups=None))
        having = tuple(sum(word in one for one in every.values()) for word in query.words)
        return replace(view, having=having, count=len(every))


@fault
class NamesOnlyWordsThatSomeHave(_Sees):
    def other(self, view, query, which):
        return replace(view, having=tuple(one for one in view.having if one))


@fault
class CountsInTheOrderOfTheAlphabet(_Sees):
    def other(self, view, query, which):
        order = sorted(range(len(query.words)), key=lambda place: query.words[place])
        seen = [
            replace(one, counts=tuple(one.counts[at] for at in order)) for one in view.candidates
        ]
        return replace(view, candidates=seen, having=tuple(view.having[at] for at in order))


@fault
class CountsEachWordOnce(_Sees):
    def other(self, view, query, which):
        seen = [
            replace(one, counts=tuple(min(1, n) for n in one.counts)) for one in view.candidates
        ]
        return replace(view, candidates=seen)


@fault
class CountsDifferentWordsForTheSize(_Sees):
    def other(self, view, query, which):
        seen = [replace(one, size=min(one.size, 9)) for one in view.candidates]
        return replace(view, candidates=seen)


@fault
class ForgetsTheMeanWhereNothingIsSeen(_Sees):
    def other(self, view, query, which):
        return view if view.candidates else SearchView(having=view.having)


@fault
class TellsTheDistance(_Sees):
    def other(self, view, query, which):
        seen = [
            one if one.similarity is None else replace(one, similarity=1 - max(0, one.similarity))
            for one in view.candidates
        ]
        return replace(view, candidates=seen)


@fault
class MeasuresOnlyWhatIsNear(_Sees):
    def other(self, view, query, which):
        near = sorted((one.similarity or -2 for one in view.candidates), reverse=True)[
            : query.limit
        ]
        seen = [
            one if (one.similarity or -2) in near else replace(one, similarity=None)
            for one in view.candidates
        ]
        return replace(view, candidates=seen)


@fault
class TakesNoVectorForTheFarthest(_Sees):
    def other(self, view, query, which):
        if query.vector is None:
            return view
        seen = [replace(one, similarity=one.similarity or 0.0) for one in view.candidates]
        return replace(view, candidates=seen)


@fault
class KnowsNobodyThatFollows(_Sees):
    def other(self, view, query, which):
        return replace(view, candidates=[replace(one, follows=False) for one in view.candidates])


@fault
class SaysThatAllFollow(_Sees):
    def other(self, view, query, which):
        seen = [replace(one, follows=place > 0) for place, one in enumerate(view.candidates)]
        return replace(view, candidates=seen)


@fault
class FollowsOverGaps(_Looks):
    name = "with_neighbours"

    @staticmethod
    def wrong(threads, hits, reach):
        found = []
        for thread in threads:
            some = _beside([thread], hits & {*thread}, reach)
            found += [(number, at > 0) for at, (number, _) in enumerate(some)]
        known = {number for number, _ in found}
        return found + [(one, False) for one in sorted(hits - known)]


_beside = selecting.with_neighbours


# What is read.


@fault
class ReadsEverything(Fault):
    def search(self, query, which, choose):
        found = super().search(query, which, lambda view: range(len(view.candidates)))
        choose(found.view)
        return found


@fault
class NumbersWhatItReads(Fault):
    def search(self, query, which, choose):
        found = super().search(query, which, choose)
        return SearchResult(found.view, dict(enumerate(found.memories.values())))


@fault
class ReadsWhatIsNotChosen(Fault):
    def search(self, query, which, choose):
        return super().search(query, which, lambda s: choose(s) or range(len(s.candidates)))


@fault
class SharesWhatItReads(_Looks):
    place, name = embedded, "copy_of"

    @staticmethod
    def wrong(record):
        return record


@fault
class SwallowsTheErrorOfWhoChooses(Fault):
    def search(self, query, which, choose):
        try:
            return super().search(query, which, choose)
        except RuntimeError:
            return SearchResult()


@fault
class StaysLockedWhereWhoChoosesFails(Fault):
    isolated = False

    def search(self, query, which, choose):
        try:
            return super().search(query, which, choose)
        except RuntimeError:
            self._turns.enter(Ticket())
            raise


# Spaces and doors.


@fault
class SearchesByWordsInAnotherSpace(Fault):
    def search(self, query, which, choose):
        try:
            return super().search(query, which, choose)
        except EmbeddingMismatch:
            return super().search(replace(query, vector=None), which, choose)


@fault
class ComparesWithVectorsOfAnySpace(Fault):
    def _similarities(self, among, query):
        among = [*among]
        near = super()._similarities(among, query)
        if query.space is None:
            return near
        for space in self._index.vectors:
            if self._index.dimensions[space] == query.space.dimension:
                known = self._index.vectors[space]
                near |= {
                    key: embedded.cosine(query.vector, known[key])
                    for one in among
                    if (key := key_of(one)) in known and is_selected(one, Select(tenant=key[0]))
                }
        return near


@fault
class HasNoReachInOneHalf(Fault):
    one_half = True

    def search(self, query, which, choose):
        return super().search(replace(query, reach=0), which, choose)


@fault
class BlocksTheLoopInASearch(Fault):
    one_half = on_the_loop = True

    def search(self, query, which, choose):
        time.sleep(0.001)
        return super().search(query, which, choose)
