"""What the detector is held to: a frozen, smaller run of `python -m benchmarks.secrets`."""

from __future__ import annotations

import pytest

from guard.figures import PARTS, false_alarms, later_lookalikes, lookalikes, samples, score
from memoryware.guard import Guard

EACH, SEED = 7, 77


@pytest.mark.parametrize(
    ("part", "least"), [*zip(PARTS, (0.99, 0.98, 0.9, 0.93), strict=True)], ids=str
)
def test_credentials_are_found(part, least):
    result = score(Guard().scan, samples(PARTS[part], EACH, SEED))

    assert result.recall >= least, {kind: missed[0].text for kind, missed in result.missed.items()}
    assert result.strays == 0


@pytest.mark.parametrize("texts", [lookalikes, later_lookalikes])
def test_texts_that_only_look_like_credentials_pass(texts):
    count, flagged = false_alarms(Guard().scan, texts())

    assert count > 180
    assert [one.text for one in flagged] == []


def test_there_are_enough_kinds_and_look_alikes():
    halves = [*PARTS.values()]

    assert len(halves[0]) > 60
    assert sum(map(len, halves[1:])) > 100
    assert len([*lookalikes(), *later_lookalikes()]) > 600


def test_no_credential_is_left_when_they_are_redacted():
    guard = Guard()
    for part in PARTS.values():
        for sample in samples(part, 2, SEED):
            redacted = guard.redact(sample.text)
            if redacted != sample.text:
                assert sample.secret not in redacted
                assert guard.scan(redacted) == [], redacted


def test_what_was_redacted_stays_as_it_is():
    guard = Guard()
    for part in PARTS.values():
        for sample in samples(part, 2, SEED):
            once = guard.redact(sample.text)
            assert guard.redact(once) == once
