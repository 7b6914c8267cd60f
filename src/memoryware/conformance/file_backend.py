"""What it means to be a file backend, as tests: the contract of `BackendProtocol`."""

from __future__ import annotations

import pytest

from memoryware.conformance._either import Either
from memoryware.conformance._guarded import Door
from memoryware.conformance._suite import OpenBackend
from memoryware.conformance._terms import Terms
from memoryware.conformance.batches import BatchesConformance
from memoryware.conformance.concurrency import ConcurrencyConformance
from memoryware.conformance.editing import EditingConformance
from memoryware.conformance.grepping import GreppingConformance
from memoryware.conformance.listing import ListingConformance
from memoryware.conformance.optional import (
    AppendsConformance,
    FingerprintsConformance,
    NamesConformance,
)
from memoryware.conformance.paths import PathsConformance
from memoryware.conformance.random_steps import RandomStepsConformance
from memoryware.conformance.reading import ReadingConformance
from memoryware.conformance.searching import SearchingConformance
from memoryware.conformance.twins import TwinsConformance
from memoryware.conformance.writing import WritingConformance

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
