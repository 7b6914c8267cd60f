"""What it means to be a file backend, as tests: the contract of `BackendProtocol`."""

from __future__ import annotations

import pytest

from memoryware.testing._either import Either
from memoryware.testing._guarded import Door
from memoryware.testing._suite import OpenBackend
from memoryware.testing._terms import Terms
from memoryware.testing.batches import BatchesConformance
from memoryware.testing.concurrency import ConcurrencyConformance
from memoryware.testing.editing import EditingConformance
from memoryware.testing.grepping import GreppingConformance
from memoryware.testing.listing import ListingConformance
from memoryware.testing.optional import (
    AppendsConformance,
    FingerprintsConformance,
    NamesConformance,
)
from memoryware.testing.paths import PathsConformance
from memoryware.testing.random_steps import RandomStepsConformance
from memoryware.testing.reading import ReadingConformance
from memoryware.testing.searching import SearchingConformance
from memoryware.testing.twins import TwinsConformance
from memoryware.testing.writing import WritingConformance

BOTH: tuple[Door, ...] = ("blocking", "native")


class FileBackendConformance(
    PathsConformance,
    ReadingConformance,
    WritingConformance,
    EditingConformance,
    ListingConformance,
    SearchingConformance,
    GreppingConformance,
    BatchesConformance,
    ConcurrencyConformance,
    TwinsConformance,
    RandomStepsConformance,
):
    """Every test that a file backend has to pass.

    Derive a class, override the fixture `open_backend`, and set the class attributes of
    `Suite` that differ for the backend. Derive from `AppendsConformance`,
    `FingerprintsConformance` and `NamesConformance` as well if the backend offers those.
    """

    async def test_what_a_backend_offers_is_tested(self, open_backend: OpenBackend) -> None:
        target = open_backend()
        for suite in (AppendsConformance, FingerprintsConformance, NamesConformance):
            assert isinstance(target, suite.offers) == issubclass(type(self), suite), (
                f"{type(self).__name__} must derive from {suite.__name__} exactly when"
                f" {type(target).__name__} offers {suite.offers.__name__}"
            )

    async def test_a_door_that_is_not_tested_is_closed(
        self, open_backend: OpenBackend, terms: Terms
    ) -> None:
        for door in BOTH:
            if door not in self.doors:
                with pytest.raises(Exception):  # noqa: B017 - what it says is its own affair
                    await Either(open_backend, door, terms).read("/a.md")
