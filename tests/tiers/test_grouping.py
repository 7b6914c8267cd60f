"""Which statements are compared: the index proposes what plain counting of shared stems would."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from limits import limited
from memoryware import MemoryScope, TieredMemory
from memoryware.settings import TierLimits
from memoryware.tiers import statements
from memoryware.tiers.statements import boilerplate_of
from tiers.waiting_months import museum_month, office_month


def counted(stems, in_series):
    """Yield candidates as `_proposals` does, from the number of shared stems of each pair."""
    having = Counter(stem for words in stems for stem in words)
    outside = Counter(
        stem for words, series in zip(stems, in_series, strict=True) if not series for stem in words
    )
    for number, words in enumerate(stems):
        equal = [other for other in range(number) if stems[other] == words][:12]
        fits = []
        for other in range(number):
            shared = words & stems[other]
            if not in_series[number]:
                telling = shared = {stem for stem in shared if having[stem] <= 150}
            else:
                telling = {
                    stem
                    for stem in shared
                    if having[stem] <= 6 or (outside[stem] <= 150 and not in_series[other])
                }
            most = max(len(words), len(stems[other]))
            if telling and len(shared) / most >= 0.25:
                fits.append((len(shared) / most, -other))
        best = sorted(fits, reverse=True)[:12]
        yield list(dict.fromkeys([*equal, *(-other for _, other in best)]))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_compared_is_what_shares_enough_stems(seed):
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(300)]
    weights = [1 / (rank + 2) for rank in range(300)]
    stems = [
        frozenset(chance.choices(vocabulary, weights, k=chance.randint(1, 14))) for _ in range(400)
    ]
    in_series = [chance.random() < (0.0, 0.4, 1.0)[seed % 3] for _ in stems]
    proposals = [*statements._proposals(stems, in_series)]
    assert proposals == [*counted(stems, in_series)]
    assert sum(map(len, proposals)) > 100


@pytest.mark.parametrize("make", [museum_month, office_month])
def test_what_is_compared_in_a_month_is_what_shares_enough_stems(make):
    texts = sorted(set(make(3).texts))
    stems = [statements.topic_stems(text) for text in texts]
    in_series = [form >= 0.4 for form in boilerplate_of(texts)]
    assert [*statements._proposals(stems, in_series)] == [*counted(stems, in_series)]


@pytest.mark.slow
@pytest.mark.parametrize("most", [30, 120, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_the_count_is_that_of_the_digest_whatever_was_decided(seed, most):
    chance = random.Random(seed)
    memory = TieredMemory.open("memory://", limits=limited(TierLimits, digest_entries=most))
    texts = list(office_month(seed, texts=150).texts)
    texts += [" ".join(chance.sample(texts, 3)) for _ in range(20)]
    entries = [
        memory.log_quarantine(
            text, MemoryScope(group_id="shop", user_id=chance.choice(["ann", "bo"]))
        )
        for text in texts
    ]
    assert memory.count_waiting("shop") == memory.digest("shop").waiting == len(texts)
    for entry in chance.sample(entries, 20):
        memory.propose(entry, by="bo")
    for insight in memory.digest("shop").insights[::3]:
        chance.choice([memory.reject, memory.promote])(insight, by="ann")
    for text in chance.sample(texts, 30):
        memory.log_quarantine(text, "shop")
    assert memory.count_waiting("shop") == memory.digest("shop").waiting
    assert 0 < memory.count_waiting("shop") < len(texts) + 30
