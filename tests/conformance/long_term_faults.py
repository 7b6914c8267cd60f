"""Stores with one fault each, which the suite of long-term memory has to notice."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

from conformance.store_faults import Fault, copied
from conformance.tier_faults import part
from memoryware.errors import EmbeddingMismatch
from memoryware.tiers.scoring import bm25
from memoryware.tiers.stores._held import key_of
from memoryware.tiers.stores.protocol import Hit, Select
from memoryware.tiers.stores.sight import Space
from memoryware.tiers.text.terms import words_of

FAULTS: list[type] = []
EVERY = 10**9


def fault(kind):
    FAULTS.append(kind)
    return kind


# Documents.


@fault
class AddsChunkByChunk(Fault):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        pairs = zip(memories, vectors or (None,) * len(memories), strict=True)
        kept = []
        for place, (one, vector) in enumerate(pairs):
            ends = replaces if place == 0 else ()
            own = replace(
                one, content_hash=f"{one.content_hash} {place}" if place else one.content_hash
            )
            added = super().add([own], [vector], space, replaces=ends)
            if added != [own]:
                return super().add(memories)
            self._records[key_of(one)] = copied(one)
            kept.append(one)
        return kept


@fault
class ChecksVectorsWhenItIsTooLate(Fault):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super().add(memories)
        if kept == [*memories]:
            pairs = zip(kept, vectors or (None,) * len(kept), strict=True)
            made = [(one, vector) for one, vector in pairs if vector is not None]
            if space and made:
                self.put_vectors(made, space)
            self._end(memories, replaces)
        return kept

    def _end(self, memories, replaces):
        for one in (
            self._fitting(Select.within(memories[0].scope, documents=tuple(replaces)))
            if memories
            else ()
        ):
            ended = replace(one, valid_to=memories[0].valid_from)
            self._records[key_of(one)] = replace(ended, superseded_by=memories[0].document_id)


@fault
class EndsTheOldOneFirst(ChecksVectorsWhenItIsTooLate):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        if not [one for one in self._records.values() if memories and self._same(one, memories[0])]:
            self._end(memories, replaces)
        return super(ChecksVectorsWhenItIsTooLate, self).add(
            memories, vectors, space, replaces=replaces
        )

    def _same(self, one, new):
        return one.content_hash == new.content_hash and part(one) == part(new)


@fault
class EndsTheOldOneAMomentLater(ChecksVectorsWhenItIsTooLate):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super(ChecksVectorsWhenItIsTooLate, self).add(memories, vectors, space)
        if kept == [*memories]:
            time.sleep(0.002)
            self._end(memories, replaces)
        return kept


@fault
class EndsTheOldOneForAKnownText(ChecksVectorsWhenItIsTooLate):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super(ChecksVectorsWhenItIsTooLate, self).add(memories, vectors, space)
        self._end(memories, replaces)
        return kept


@fault
class TakesWhatIsShort(Fault):
    """Chunks without a vector in the list are not kept."""

    def add(self, memories, vectors=(), space=None, *, replaces=()):
        some = [one for one, _ in zip(memories, vectors, strict=False)] if vectors else memories
        given = [*vectors][: len(some)]
        return super().add(some, given, space, replaces=replaces)


class _Known(Fault):
    """Looks for the same text in its own way."""

    def add(self, memories, vectors=(), space=None, *, replaces=()):
        for one in [*self._records.values()]:
            if memories and self.same(one, memories[0]):
                ours = [o for o in self._records.values() if o.document_id == one.document_id]
                return self.known(ours, memories)
        marked = [replace(one, content_hash=one.id) for one in memories]
        super().add(marked, vectors, space, replaces=replaces)
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
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        known = (
            [one for one in [*self._records.values()] if self.same(one, memories[0])]
            if memories
            else []
        )
        if known:
            return super().add(memories, vectors, space, replaces=replaces)
        time.sleep(0.002)
        marked = [replace(one, content_hash=one.id) for one in memories]
        super(_Known, self).add(marked, vectors, space, replaces=replaces)
        for one in memories:
            self._records[key_of(one)] = copied(one)
        return [*memories]


class _Ends(Fault):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super().add(memories, vectors, space, replaces=())
        if kept == [*memories] and memories:
            for one in self.ending(memories[0], set(replaces)):
                self._records[key_of(one)] = self.ended(one, memories[0])
        return kept

    def ending(self, new, documents):
        which = Select.within(new.scope, documents=tuple(documents))
        return self._fitting(which) if documents else []

    def ended(self, old, new):
        return replace(old, valid_to=new.valid_from, superseded_by=new.document_id)


@fault
class EndsOneChunk(_Ends):
    def ending(self, new, documents):
        return [one for one in super().ending(new, documents) if one.chunk_index == 0]


@fault
class EndsOneDocument(_Ends):
    def ending(self, new, documents):
        return super().ending(new, set(sorted(documents)[:1]))


@fault
class EndsDocumentsOfOthers(_Ends):
    def ending(self, new, documents):
        return [one for one in self._records.values() if one.document_id in documents]


@fault
class EndsDocumentsOfTheSameAgentOnly(_Ends):
    def ending(self, new, documents):
        return [
            one
            for one in super().ending(new, documents)
            if one.scope.agent_id == new.scope.agent_id
        ]


@fault
class SaysNotWhatTookThePlace(_Ends):
    def ended(self, old, new):
        return replace(old, valid_to=new.valid_from)


@fault
class EndsWhenTheNewOneWasMade(_Ends):
    def ended(self, old, new):
        return replace(super().ended(old, new), valid_to=new.created_at)


@fault
class DropsVectorsOfWhatHasEnded(_Ends):
    def ended(self, old, new):
        self._index.vectors.get("flat", {}).pop(key_of(old), None)
        return super().ended(old, new)


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
    async def aadd(self, memories, vectors=(), space=None, *, replaces=()):
        return [*memories]


# Words.


@fault
class WantsAllWords(Fault):
    def by_words(self, words, which, *, limit):
        hits = super().by_words(words, which, limit=EVERY)
        return [one for one in hits if {*words} <= {*words_of(one.memory.content)}][:limit]


@fault
class ScoresBelowZero(Fault):
    def by_words(self, words, which, *, limit):
        return [
            Hit(one.memory, one.value - 9) for one in super().by_words(words, which, limit=limit)
        ]


@fault
class CountsWordsOnly(Fault):
    """Every word counts the same."""

    def by_words(self, words, which, *, limit):
        hits = super().by_words(words, which, limit=EVERY)[::-1]
        made = [
            Hit(h.memory, float(sum(w in words_of(h.memory.content) for w in {*words})))
            for h in hits
        ]
        return sorted(made, key=lambda one: -one.value)[:limit]


@fault
class KnowsNoLengths(Fault):
    def by_words(self, words, which, *, limit):
        hits = super().by_words(words, which, limit=EVERY)[::-1]
        corpus = [Counter(words_of(one.memory.content)) for one in hits]
        having = {word: sum(word in one for one in corpus) for word in words}
        scored = [
            Hit(hit.memory, 100 * sum(one[w] for w in words) + bm25(one, having, len(hits), 0))
            for hit, one in zip(hits, corpus, strict=True)
        ]
        return sorted(scored, key=lambda one: -one.value)[:limit]


@fault
class FindsTheWorstWordsFirst(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which, limit=EVERY)[::-1][:limit]


@fault
class FindsTheFirstAndRanksThem(Fault):
    """The limit is laid on what was stored first, not on the best."""

    def by_words(self, words, which, *, limit):
        ids = {one.id for one in self._records.values() if {*words} & {*words_of(one.content)}}
        first = tuple(one[2] for one in self._records if one[2] in ids)[:limit]
        return super().by_words(words, which.also(ids=first), limit=limit)


@fault
class LaysConditionsOnTheBest(Fault):
    """The limit is laid on all groups, then conditions on what is left."""

    def by_words(self, words, which, *, limit):
        best = super().by_words(words, Select(tenant=which.tenant), limit=limit)
        ids = {one.id for one in self._fitting(which)}
        return [one for one in best if one.memory.id in ids]


@fault
class IgnoresTheLimitOfWords(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which, limit=EVERY)


@fault
class SearchesOtherGroups(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which.also(groups=None), limit=limit)


@fault
class SearchesTheNamelessTenant(Fault):
    def by_words(self, words, which, *, limit):
        if which.tenant is None and which.groups == (None,):
            which = which.also(groups=None)
        return super().by_words(words, which, limit=limit)


@fault
class CountsWordsOfOtherGroups(Fault):
    def by_words(self, words, which, *, limit):
        hits = super().by_words(words, which, limit=EVERY)
        corpus = self._index.words.values()
        having = {word: sum(word in one for one in corpus) for word in dict.fromkeys(words)}
        mean = sum(one.total() for one in corpus) / max(1, len(corpus))
        scored = [
            Hit(hit.memory, bm25(self._index.words[key_of(hit.memory)], having, len(corpus), mean))
            for hit in hits
        ]
        return sorted(scored, key=lambda one: -one.value)[:limit]


@fault
class PicksByTheNumbersOfAllGroups(CountsWordsOfOtherGroups):
    """The right scores, of texts that were picked by other ones."""

    def by_words(self, words, which, *, limit):
        picked = super().by_words(words, which, limit=limit * 4)
        right = {one.memory.id: one for one in self._rightly(words, which)}
        hits = [right[one.memory.id] for one in picked]
        return sorted(hits, key=lambda one: -one.value)[:limit]

    def _rightly(self, words, which):
        return super(CountsWordsOfOtherGroups, self).by_words(words, which, limit=EVERY)


@fault
class CountsWordsOfTheDeleted(CountsWordsOfOtherGroups):
    def __init__(self, *args):
        super().__init__(*args)
        self._gone = []

    def _deleted(self, old):
        self._gone.append(self._index.words[key_of(old)])
        super()._deleted(old)

    def by_words(self, words, which, *, limit):
        hits = super(CountsWordsOfOtherGroups, self).by_words(words, which, limit=EVERY)
        mine = [self._index.words[key_of(one)] for one in self._fitting(which)]
        corpus = [*mine, *self._gone]
        having = {word: sum(word in one for one in corpus) for word in dict.fromkeys(words)}
        mean = sum(one.total() for one in mine) / max(1, len(mine))
        scored = [
            Hit(hit.memory, bm25(self._index.words[key_of(hit.memory)], having, len(mine), mean))
            for hit in hits
        ]
        return sorted(scored, key=lambda one: -one.value)[:limit]


@fault
class SearchesWhatWasRevoked(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which.also(live_at=None), limit=limit)


@fault
class SearchesAllAgents(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which.also(agents=None), limit=limit)


@fault
class SearchesWithoutLineage(Fault):
    def by_words(self, words, which, *, limit):
        return super().by_words(words, which.also(root=None, made_of=None), limit=limit)


@fault
class SplitsAtBlanks(Fault):
    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super().add(memories, vectors, space, replaces=replaces)
        self._index.words.update({key_of(one): Counter(one.content.split()) for one in kept})
        return kept


@fault
class ReadsOperators(Fault):
    def by_words(self, words, which, *, limit):
        if any(word in ("or", "not", "and", "near") or "*" in word for word in words):
            raise ValueError("syntax error")
        return super().by_words(words, which, limit=limit)


@fault
class KeepsOldWords(Fault):
    def _changed(self, old, new):
        words = self._index.words[key_of(old)]
        super()._changed(old, new)
        self._index.words[key_of(old)] = words


@fault
class AddsNewWordsToTheOld(Fault):
    def _changed(self, old, new):
        words = self._index.words[key_of(old)]
        super()._changed(old, new)
        self._index.words[key_of(old)] = self._index.words[key_of(old)] | words


@fault
class LosesWordsWhenEdited(Fault):
    def _changed(self, old, new):
        super()._changed(old, new)
        self._index.words[key_of(old)] = Counter()


@fault
class FindsTheRecordAsItWas(Fault):
    def __init__(self, *args):
        super().__init__(*args)
        self._first = {}

    def by_words(self, words, which, *, limit):
        hits = super().by_words(words, which, limit=limit)
        return [Hit(self._first.get(one.memory.id, one.memory), one.value) for one in hits]

    def add(self, memories, vectors=(), space=None, *, replaces=()):
        kept = super().add(memories, vectors, space, replaces=replaces)
        for one in kept:
            self._first.setdefault(one.id, one)
        return kept


@fault
class LosesWordsWhenClosed(Fault):
    async def aclose(self):
        self.close()

    def close(self):
        super().close()
        self._index.words.update({one: Counter() for one in self._index.words})


@fault
class BlocksTheLoopWithWords(Fault):
    async def aby_words(self, words, which, *, limit):
        time.sleep(0.001)  # noqa: ASYNC251 - the fault
        return self.by_words(words, which, limit=limit)


# Vectors.


@fault
class MultipliesVectors(Fault):
    """The product instead of the cosine."""

    def by_vector(self, vector, which, *, space, limit):
        hits = super().by_vector(vector, which, space=space, limit=EVERY)
        known = self._index.vectors.get(space.name, {})
        made = [
            Hit(
                h.memory,
                min(
                    1.0,
                    max(-1.0, sum(map(float.__mul__, map(float, vector), known[key_of(h.memory)]))),
                ),
            )
            for h in hits
        ]
        return sorted(made, key=lambda one: -one.value)[:limit]


@fault
class MeasuresDistances(Fault):
    def by_vector(self, vector, which, *, space, limit):
        hits = super().by_vector(vector, which, space=space, limit=limit)
        return [Hit(one.memory, (1 + one.value) / 2) for one in hits]


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
class FindsTheFarthestFirst(Fault):
    def by_vector(self, vector, which, *, space, limit):
        return super().by_vector(vector, which, space=space, limit=EVERY)[::-1][:limit]


@fault
class FindsNoOpposites(Fault):
    def by_vector(self, vector, which, *, space, limit):
        hits = super().by_vector(vector, which, space=space, limit=limit)
        return [one for one in hits if one.value >= 0]


@fault
class FindsTheNearestOfAll(Fault):
    """The limit is laid on all groups, then conditions on what is left."""

    def by_vector(self, vector, which, *, space, limit):
        best = super().by_vector(vector, Select(tenant=which.tenant), space=space, limit=limit)
        ids = {one.id for one in self._fitting(which)}
        return [one for one in best if one.memory.id in ids]


@fault
class ComparesSomeVectorsOnly(Fault):
    """An index that looks into a part of its cells."""

    def by_vector(self, vector, which, *, space, limit):
        hits = super().by_vector(vector, which, space=space, limit=EVERY)
        return [one for n, one in enumerate(hits) if n < 3 or n % 5][:limit]


@fault
class IgnoresTheLimitOfVectors(Fault):
    def by_vector(self, vector, which, *, space, limit):
        return super().by_vector(vector, which, space=space, limit=EVERY)


@fault
class ComparesOtherGroups(Fault):
    def by_vector(self, vector, which, *, space, limit):
        return super().by_vector(vector, which.also(groups=None), space=space, limit=limit)


@fault
class ComparesWhatWasRevoked(Fault):
    def by_vector(self, vector, which, *, space, limit):
        return super().by_vector(vector, which.also(live_at=None), space=space, limit=limit)


@fault
class ComparesOtherSpaces(Fault):
    def by_vector(self, vector, which, *, space, limit):
        same = [n for n, d in self._index.dimensions.items() if d == space.dimension]
        name = space.name if space.name in self._index.dimensions or not same else same[0]
        return super().by_vector(vector, which, space=Space(name, space.dimension), limit=limit)


@fault
class TakesAnyDimension(Fault):
    def _check_space(self, space):
        pass


@fault
class TakesAnyQuery(Fault):
    def by_vector(self, vector, which, *, space, limit):
        padded = [*vector, *[0] * space.dimension][: space.dimension]
        return super().by_vector(padded, which, space=space, limit=limit)


@fault
class PadsVectors(Fault):
    def _checked(self, vectors, space):
        size = space.dimension if space else 0
        return super()._checked([(i, [*v, *[0] * size][:size]) for i, v in vectors], space)


@fault
class KeepsVectorsOfOldTexts(Fault):
    def _changed(self, old, new):
        vectors = {name: known.get(key_of(old)) for name, known in self._index.vectors.items()}
        super()._changed(old, new)
        for name, vector in vectors.items():
            if vector is not None:
                self._index.vectors[name][key_of(old)] = vector


@fault
class DropsVectorsWithEveryEdit(Fault):
    def _changed(self, old, new):
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
    def put_vectors(self, vectors, space):
        return sum(super(KeepsHalfOfABatch, self).put_vectors([one], space) for one in vectors)


@fault
class DropsABatchThatFails(Fault):
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
    async def aknown_spaces(self):
        return self.known_spaces()[:1]


@fault
class LosesTheCurrentSpaceWhenClosed(Fault):
    async def aclose(self):
        self.close()

    def close(self):
        super().close()
        self._index.current = next(iter(self._index.vectors), None)


@fault
class LosesVectorsWhenClosed(Fault):
    async def aclose(self):
        self.close()

    def close(self):
        super().close()
        self._index.vectors.clear()


@fault
class SearchesASpaceThatIsHalfFull(Fault):
    def _check_current(self, space):
        pass


@fault
class FindsNothingInAnotherSpace(Fault):
    def by_vector(self, vector, which, *, space, limit):
        current = self._index.current
        if current is not None and current != space.name and len(vector) == space.dimension:
            return []
        return super().by_vector(vector, which, space=space, limit=limit)


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
    async def aput_vectors(self, vectors, space):
        time.sleep(0.001)  # noqa: ASYNC251 - the fault
        return self.put_vectors(vectors, space)


@fault
class AdoptsNothingInOneHalf(Fault):
    async def aadopt(self, space, *, drop_others=False):
        return None
