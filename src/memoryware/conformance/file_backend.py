"""What it means to be a file backend, as tests: the contract of `BackendProtocol`."""

from __future__ import annotations

from memoryware.backends.protocol import Appends, Fingerprints
from memoryware.conformance._suite import OpenBackend
from memoryware.conformance.batches import BatchesConformance
from memoryware.conformance.concurrency import ConcurrencyConformance
from memoryware.conformance.editing import EditingConformance
from memoryware.conformance.grepping import GreppingConformance
from memoryware.conformance.listing import ListingConformance
from memoryware.conformance.optional import AppendsConformance, FingerprintsConformance
from memoryware.conformance.paths import PathsConformance
from memoryware.conformance.random_steps import RandomStepsConformance
from memoryware.conformance.reading import ReadingConformance
from memoryware.conformance.searching import SearchingConformance
from memoryware.conformance.twins import TwinsConformance
from memoryware.conformance.writing import WritingConformance


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
    `Suite` that differ for the backend. Derive from `AppendsConformance` and
    `FingerprintsConformance` as well if the backend offers those.
    """

    async def test_what_a_backend_offers_is_tested(self, open_backend: OpenBackend) -> None:
        target = open_backend()
        suites = {Appends: AppendsConformance, Fingerprints: FingerprintsConformance}
        for protocol, suite in suites.items():
            assert isinstance(target, protocol) == issubclass(type(self), suite), (
                f"{type(self).__name__} must derive from {suite.__name__} exactly when"
                f" {type(target).__name__} offers {protocol.__name__}"
            )
