"""Stores with one fault each, which the suite of long-term memory has to notice."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from conformance.search_faults import EVERY, _Asks, _Looks, _Sees
from conformance.store_faults import MOMENT, Fault, copied
from conformance.tier_faults import part
from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.stores.embedded import key_of
from memoryware.tiers.stores.protocol import SearchResult, SearchView, Select, Space

FAULTS: list[type] = []


def fault(kind):
    FAULTS.append(kind)
    return kind


def _product(one, other):
    return sum(float(a) * b for a, b in zip(one, other, strict=True))


# Documents.


@fault
class AddsChunkByChunk(Fault):
    isolated = False

    def add(self, memories, vectors=(), space=None):
        pairs = zip(memories, vectors or (None,) * len(memories), strict=True)
        kept = []
        for place, (one, vector) in enumerate(pairs):
            own = replace(
                one, content_hash=f"{one.content_hash} {place}" if place else one.content_hash
            )
            added = super().add([own], [vector], space)
            if added != [own]:
                return super().add(memories)
            self._records[key_of(one)] = copied(one)
            kept.append(one)
        return kept


@fault
class ChecksVectorsWhenItIsTooLate(Fault):
    isolated = False

    def add(self, memories, vectors=(), space=None):
        kept = super().add(memories)
        if kept == [*memories]:
            pairs = zip(kept, vectors or (None,) * len(kept), strict=True)
            made = [(one, vector) for one, vector in pairs if vector is not None]
            if space and made:
                self.put_vectors(made, space)
        return kept


@fault
class EndsTheOldOneAMomentLater(Fault):
    """A transaction lets others in between its steps."""

    isolated = False
    noticed_by_any = True

    def edit(self, which, change):
        time.sleep(MOMENT)
        return super().edit(which, change)


@fault
class TakesWhatIsShort(Fault):
    """Chunks without a vector in the list are not kept."""

    def add(self, memories, vectors=(), space=None):
        some = [one for one, _ in zip(memories, vectors, strict=False)] if vectors else memories
        given = [*vectors][: len(some)]
        return super().add(some, given, space)


class _Known(Fault):
    """Looks for the same text in its own way."""

    def add(self, memories, vectors=(), space=None):
        for one in [*self._records.values()]:
            if memories and self.same(one, memories[0]):
                ours = [o for o in self._records.values() if o.document_id == one.document_id]
                return self.known(ours, memories)
        marked = [replace(one, content_hash=one.id) for one in memories]
        super().add(marked, vectors, space)
        for one in memories:
            self._records[key_of(one)] = copied(one)
        return [*memories]

    def known(self, ours, memories):
        return sorted(ours, key=lambda one: one.chunk_index)

    def same(self, known, new):
        return (
            known.content_hash == new.content_hash
            and part(known) == part(new)
            and known.scope.agent_id == new.scope.agent_id
            and self.current(known)
        )

    def current(self, known):
        return known.valid_to is None and known.revocation is None


@fault
class KeepsTheSameTextAgain(_Known):
    def same(self, known, new):
        return False


@fault
class ReturnsWhatItWasGiven(_Known):
    def known(self, ours, memories):
        return [*memories]


@fault
class ReturnsTheChunksBackwards(_Known):
    def known(self, ours, memories):
        return super().known(ours, memories)[::-1]


@fault
class ReturnsOneChunk(_Known):
    def known(self, ours, memories):
        return super().known(ours, memories)[:1]


@fault
class KnowsTheTextsOfOtherGroups(_Known):
    def same(self, known, new):
        return (
            known.content_hash == new.content_hash
            and known.scope.agent_id == new.scope.agent_id
            and self.current(known)
        )


@fault
class KnowsTheTextsOfOtherAgents(_Known):
    def same(self, known, new):
        return (
            known.content_hash == new.content_hash
            and part(known) == part(new)
            and self.current(known)
        )


@fault
class KnowsATextForEachUser(_Known):
    def same(self, known, new):
        return super().same(known, new) and known.scope.user_id == new.scope.user_id


@fault
class KnowsWhatHasEnded(_Known):
    def current(self, known):
        return known.revocation is None


@fault
class KnowsWhatWasRevoked(_Known):
    def current(self, known):
        return known.valid_to is None


@fault
class LooksForTheSameTextFirst(_Known):
    isolated = False

    def add(self, memories, vectors=(), space=None):
        known = (
            [one for one in [*self._records.values()] if self.same(one, memories[0])]
            if memories
            else []
        )
        if known:
            return super().add(memories, vectors, space)
        time.sleep(MOMENT)
        marked = [replace(one, content_hash=one.id) for one in memories]
        super(_Known, self).add(marked, vectors, space)
        for one in memories:
            self._records[key_of(one)] = copied(one)
        return [*memories]


@fault
class EndsOneChunk(Fault):
    def edit(self, which, change):
        if which.documents:
            ids = [one.id for one in self._fitting(which) if one.chunk_index == 0]
            which = which.also(ids=tuple(ids))
        return super().edit(which, change)


@fault
class EndsOneDocument(Fault):
    def edit(self, which, change):
        return super().edit(which.also(documents=which.documents and which.documents[:1]), change)


@fault
class EndsDocumentsOfOthers(Fault):
    def edit(self, which, change):
        return super().edit(which.also(groups=None) if which.documents else which, change)


@fault
class SaysNotWhatTookThePlace(Fault):
    def edit(self, which, change):
        return super().edit(which, lambda one: replace(change(one), superseded_by=None))


@fault
class DropsVectorsOfWhatHasEnded(Fault):
    def _changed(self, old, new):
        super()._changed(old, new)
        if new.valid_to is not None:
            self._index.vectors.get("flat", {}).pop(key_of(new), None)


@fault
class ShowsWhatHoldsLater(Fault):
    def _fitting(self, which):
        now = which.live_at
        if now is None:
            return super()._fitting(which)
        lax = super()._fitting(which.also(live_at=None, revocations=which.revocations or (None,)))
        return [one for one in lax if one.valid_to is None or one.valid_to > now]


@fault
class ShowsWhatEndsNow(Fault):
    def _fitting(self, which):
        now = which.live_at
        if now is None:
            return super()._fitting(which)
        lax = super()._fitting(which.also(live_at=None, revocations=which.revocations or (None,)))
        return [
            one
            for one in lax
            if one.valid_from <= now and (not one.valid_to or one.valid_to >= now)
        ]


@fault
class TakesSubjectsByPrefix(Fault):
    def _fitting(self, which):
        subjects = tuple(map(str, which.subjects or ()))
        return self._loosely(
            which, "subjects", lambda one: str(one.subject or "None").startswith(subjects)
        )


@fault
class AddsNothingInOneHalf(Fault):
    one_half = True

    def add(self, memories, vectors=(), space=None):
        return [*memories]


# Words.


class _Selects(Fault):
    """Searches by words alone among other memories."""

    def search(self, query, which, choose):
        by_words = query.words and query.vector is None
        return super().search(query, self.other(which) if by_words else which, choose)


class _Compares(Fault):
    """Searches by vectors among other memories."""

    def search(self, query, which, choose):
        return super().search(query, which if query.vector is None else self.other(which), choose)


class _PicksTooEarly(Fault):
    """The limit is laid on all groups, then conditions on what is left."""

    def search(self, query, which, choose):
        if not self.concerns(query):
            return super().search(query, which, choose)
        best = super().search(
            query, Select(tenant=which.tenant), lambda s: range(len(s.candidates))
        )
        fitting = {key_of(one) for one in self._fitting(which)}
        places = [at for at, one in best.memories.items() if key_of(one) in fitting]
        right = super().search(query, which, lambda _: ()).view
        view = replace(right, candidates=[best.view.candidates[at] for at in places])
        return SearchResult(view, {at: best.memories[places[at]] for at in choose(view)})


@fault
class WantsAllWords(_Sees):
    def other(self, view, query, which):
        none = (0,) * len(query.words)
        return replace(
            view,
            candidates=[
                one if all(one.counts) else replace(one, counts=none) for one in view.candidates
            ],
        )


@fault
class KnowsNoLengths(_Sees):
    def other(self, view, query, which):
        return replace(
            view, candidates=[replace(one, size=round(view.mean)) for one in view.candidates]
        )


@fault
class FindsTheFirstAndRanksThem(_Looks):
    """The limit is laid on what was stored first, not on the best."""

    name = "newest_best"

    @staticmethod
    def wrong(scores, most):
        return sorted(scores)[:most]


@fault
class LaysConditionsOnTheBest(_PicksTooEarly):
    def concerns(self, query):
        return query.words and query.vector is None


@fault
class SeesMoreThanTheLimit(_Asks):
    def other(self, query):
        return replace(query, limit=EVERY)


@fault
class SearchesOtherGroups(_Selects):
    def other(self, which):
        return which.also(groups=None)


@fault
class SearchesTheNamelessTenant(_Selects):
    def other(self, which):
        nameless = which.tenant is None and which.groups == (None,)
        return which.also(groups=None) if nameless else which


@fault
class CountsWordsOfOtherGroups(Fault):
    def _corpus(self, which):
        return dict(self._index.words)


@fault
class PicksByTheNumbersOfAllGroups(_Sees):
    """The right numbers, of texts that were picked by other ones."""

    def _corpus(self, which):
        return dict(self._index.words)

    def other(self, view, query, which):
        corpus = [*super()._corpus(which).values()]
        having = tuple(sum(word in one for one in corpus) for word in query.words)
        mean = sum(one.total() for one in corpus) / max(1, len(corpus))
        return replace(view, having=having, count=len(corpus), mean=mean)


@fault
class CountsWordsOfTheDeleted(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._gone = {}

    def _deleted(self, old):
        if key_of(old) in self._index.words:
            self._gone[key_of(old)] = self._index.words[key_of(old)]
        super()._deleted(old)

    def _corpus(self, which):
        mine = {key: one for key, one in self._gone.items() if key[0] == which.tenant}
        return {**mine, **super()._corpus(which)}


@fault
class SearchesWhatWasRevoked(_Selects):
    def other(self, which):
        return which.also(live_at=None)


@fault
class SearchesAllAgents(_Selects):
    def other(self, which):
        return which.also(agents=None)


@fault
class SearchesWithoutLineage(_Selects):
    def other(self, which):
        return which.also(root=None, made_of=None)


@fault
class SplitsAtBlanks(Fault):
    def add(self, memories, vectors=(), space=None):
        kept = super().add(memories, vectors, space)
        self._index.words.update({key_of(one): Counter(one.content.split()) for one in kept})
        return kept


@fault
class ReadsOperators(Fault):
    def search(self, query, which, choose):
        if any(word in ("or", "not", "and", "near") or "*" in word for word in query.words):
            raise ValueError("syntax error")
        return super().search(query, which, choose)


@fault
class KeepsOldWords(Fault):
    def _changed(self, old, new):
        if old is None:
            super()._changed(old, new)
            return
        words = self._index.words[key_of(old)]
        super()._changed(old, new)
        self._index.words[key_of(old)] = words


@fault
class AddsNewWordsToTheOld(Fault):
    def _changed(self, old, new):
        if old is None:
            super()._changed(old, new)
            return
        words = self._index.words[key_of(old)]
        super()._changed(old, new)
        self._index.words[key_of(old)] = self._index.words[key_of(old)] | words


@fault
class LosesWordsWhenEdited(Fault):
    def _changed(self, old, new):
        if old is None:
            super()._changed(old, new)
            return
        super()._changed(old, new)
        self._index.words[key_of(old)] = Counter()


@fault
class FindsTheRecordAsItWas(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._first = {}

    def search(self, query, which, choose):
        found = super().search(query, which, choose)
        first = {at: self._first.get(one.id, one) for at, one in found.memories.items()}
        return SearchResult(found.view, first)

    def add(self, memories, vectors=(), space=None):
        kept = super().add(memories, vectors, space)
        for one in kept:
            self._first.setdefault(one.id, one)
        return kept


@fault
class LosesWordsWhenClosed(Fault):
    def close(self):
        super().close()
        self._index.words.update({one: Counter() for one in self._index.words})


# Vectors.


@fault
class MultipliesVectors(Fault):
    """The product instead of the cosine."""

    def _similarities(self, among, query):
        near = super()._similarities(among, query)
        if query.space is None:
            return near
        known = self._index.vectors.get(query.space.name, {})
        return {key: min(1.0, max(-1.0, _product(query.vector, known[key]))) for key in near}


@fault
class MeasuresDistances(Fault):
    def _similarities(self, among, query):
        near = super()._similarities(among, query)
        return {key: (1 + value) / 2 for key, value in near.items()}


@fault
class RoundsVectorsToBytes(Fault):
    def _keep(self, vectors, space):
        longest = {id_: max(map(abs, one), default=0) or 1 for id_, one in vectors.items()}
        super()._keep(
            {id_: tuple(round(x / longest[id_] * 7) for x in one) for id_, one in vectors.items()},
            space,
        )


@fault
class LosesSmallVectors(Fault):
    def _keep(self, vectors, space):
        super()._keep({id_: tuple(round(x, 8) for x in one) for id_, one in vectors.items()}, space)


@fault
class FindsNoOpposites(Fault):
    def _similarities(self, among, query):
        near = super()._similarities(among, query)
        return {key: value for key, value in near.items() if value >= 0}


@fault
class FindsTheNearestOfAll(_PicksTooEarly):
    def concerns(self, query):
        return query.vector is not None


@fault
class ComparesSomeVectorsOnly(Fault):
    """An index that looks into a part of its cells."""

    def _similarities(self, among, query):
        near = super()._similarities(among, query)
        best = sorted(near, key=lambda key: -near[key])
        return {key: near[key] for n, key in enumerate(best) if n < 3 or n % 5}


@fault
class ComparesOtherGroups(_Compares):
    def other(self, which):
        return which.also(groups=None)


@fault
class ComparesWhatWasRevoked(_Compares):
    def other(self, which):
        return which.also(live_at=None)


@fault
class ComparesOtherSpaces(_Asks):
    def other(self, query):
        if query.space is None or query.space.name in self._index.dimensions:
            return query
        same = [n for n, d in self._index.dimensions.items() if d == query.space.dimension]
        name = same[0] if same else query.space.name
        return replace(query, space=Space(name, query.space.dimension))


@fault
class TakesAnyDimension(Fault):
    def _check_space(self, space):
        pass


@fault
class TakesAnyQuery(_Asks):
    def other(self, query):
        if query.vector is None or query.space is None:
            return query
        size = query.space.dimension
        return replace(query, vector=[*query.vector, *[0] * size][:size])


@fault
class PadsVectors(Fault):
    def _checked(self, vectors, space):
        size = space.dimension if space else 0
        return super()._checked([(i, [*v, *[0] * size][:size]) for i, v in vectors], space)


@fault
class KeepsVectorsOfOldTexts(Fault):
    def _changed(self, old, new):
        if old is None:
            super()._changed(old, new)
            return
        vectors = {name: known.get(key_of(old)) for name, known in self._index.vectors.items()}
        super()._changed(old, new)
        for name, vector in vectors.items():
            if vector is not None:
                self._index.vectors[name][key_of(old)] = vector


@fault
class DropsVectorsWithEveryEdit(Fault):
    def _changed(self, old, new):
        if old is None:
            super()._changed(old, new)
            return
        super()._changed(old, new)
        for known in self._index.vectors.values():
            known.pop(key_of(old), None)


@fault
class KeepsVectorsOfTheDeleted(Fault):
    def _deleted(self, old):
        kept = {name: dict(known) for name, known in self._index.vectors.items()}
        super()._deleted(old)
        self._index.vectors.update(kept)


@fault
class KeepsHalfOfABatch(Fault):
    isolated = False

    def put_vectors(self, vectors, space):
        return sum(super(KeepsHalfOfABatch, self).put_vectors([one], space) for one in vectors)


@fault
class DropsABatchThatFails(Fault):
    isolated = False

    def put_vectors(self, vectors, space):
        try:
            return super().put_vectors(vectors, space)
        except EmbeddingMismatch:
            self._index.vectors.pop(space.name, None)
            raise


@fault
class CountsVectorsForNobody(Fault):
    def put_vectors(self, vectors, space):
        super().put_vectors(vectors, space)
        return len(vectors)


@fault
class RefusesVectorsForNobody(Fault):
    def put_vectors(self, vectors, space):
        if any(key_of(one) not in self._records for one, _ in vectors):
            raise LookupError("no such memory")
        return super().put_vectors(vectors, space)


@fault
class KeepsTheOlderVector(Fault):
    def put_vectors(self, vectors, space):
        known = self._index.vectors.get(space.name, {})
        super().put_vectors([one for one in vectors if key_of(one[0]) not in known], space)
        return sum(key_of(one) in self._records for one, _ in vectors)


@fault
class NamesWhatHasNoVectorInAnySpace(Fault):
    def unembedded(self, space, *, limit):
        known = {key for one in self._index.vectors.values() for key in one}
        return [one for key, one in self._records.items() if key not in known][:limit]


@fault
class NamesTheNewestFirst(Fault):
    def unembedded(self, space, *, limit):
        return super().unembedded(space, limit=EVERY)[::-1][:limit]


@fault
class NamesByTime(Fault):
    def unembedded(self, space, *, limit):
        every = super().unembedded(space, limit=EVERY)
        return sorted(every, key=lambda one: one.created_at)[:limit]


@fault
class NamesOneTenant(Fault):
    def unembedded(self, space, *, limit):
        every = super().unembedded(space, limit=EVERY)
        return [one for one in every if one.scope.tenant == every[0].scope.tenant][:limit]


@fault
class NamesThemAll(Fault):
    def unembedded(self, space, *, limit):
        return super().unembedded(space, limit=EVERY)


@fault
class AdoptsTheLastSpace(Fault):
    def _keep(self, vectors, space):
        super()._keep(vectors, space)
        if space and vectors:
            self._index.current = space.name


@fault
class AdoptsNothing(Fault):
    def adopt(self, space, *, drop_others=False):
        current = self._index.current or space.name
        super().adopt(space, drop_others=drop_others)
        self._index.current = current


@fault
class DropsOthersAlways(Fault):
    def adopt(self, space, *, drop_others=False):
        super().adopt(space, drop_others=True)


@fault
class DropsNoOthers(Fault):
    def adopt(self, space, *, drop_others=False):
        super().adopt(space)


@fault
class DropsEverything(Fault):
    def adopt(self, space, *, drop_others=False):
        super().adopt(space, drop_others=drop_others)
        if drop_others:
            self._index.vectors.clear()


@fault
class KnowsASpaceByItsFirstVector(Fault):
    def adopt(self, space, *, drop_others=False):
        super().adopt(space, drop_others=drop_others)
        if not self._index.vectors.get(space.name):
            self._index.dimensions.pop(space.name)


@fault
class KnowsSpacesThatFailed(Fault):
    isolated = False

    def put_vectors(self, vectors, space):
        self._index.dimensions.setdefault(space.name, space.dimension)
        return super().put_vectors(vectors, space)


@fault
class NamesSpacesByTheirAge(Fault):
    def spaces(self):
        return dict(sorted(super().spaces().items(), key=lambda one: one[0].name))


@fault
class KnowsOnlySpacesWithVectors(Fault):
    def known_spaces(self):
        return [one for one, count in self.spaces().items() if count]


@fault
class KnowsSpacesByTheirAge(Fault):
    def known_spaces(self):
        return [Space(name, length) for name, length in self._index.dimensions.items()]


@fault
class KnowsTheCurrentSpaceOnlyInOneHalf(Fault):
    one_half = True

    def known_spaces(self):
        return [*self.spaces()][:1]


@fault
class LosesTheCurrentSpaceWhenClosed(Fault):
    def close(self):
        super().close()
        self._index.current = next(iter(self._index.vectors), None)


@fault
class LosesVectorsWhenClosed(Fault):
    def close(self):
        super().close()
        self._index.vectors.clear()


@fault
class SearchesASpaceThatIsHalfFull(Fault):
    def _check_current(self, space):
        pass


@fault
class FindsNothingInAnotherSpace(Fault):
    def search(self, query, which, choose):
        current = self._index.current
        if query.space is not None and current not in (None, query.space.name):
            choose(SearchView())
            return SearchResult()
        return super().search(query, which, choose)


@fault
class GivesVectorsToStrangers(Fault):
    """A vector is kept by the id alone."""

    def put_vectors(self, vectors, space):
        ids = {one.id for one, _ in vectors}
        pairs = {one.id: vector for one, vector in vectors}
        every = [one for one in self._records.values() if one.id in ids]
        super().put_vectors([(one, pairs[one.id]) for one in every], space)
        return len({one.id for one in every})


@fault
class KeepsVectorsOfTextsThatChangedMeanwhile(Fault):
    def put_vectors(self, vectors, space):
        known = self._records
        now = [(known.get(key_of(one), one), vector) for one, vector in vectors]
        return super().put_vectors(now, space)


@fault
class ReplacesAKnownId(Fault):
    def _must_be_new(self, records):
        pass


@fault
class KnowsIdsWithoutLookingAtTheBatch(Fault):
    def _must_be_new(self, records):
        super()._must_be_new(records[:1])


@fault
class BlocksTheLoopWithVectors(Fault):
    one_half = on_the_loop = True

    def put_vectors(self, vectors, space):
        time.sleep(0.001)
        return super().put_vectors(vectors, space)


@fault
class AdoptsNothingInOneHalf(Fault):
    one_half = True

    def adopt(self, space, *, drop_others=False):
        return None
