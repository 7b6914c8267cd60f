"""Every operation has two halves that are one."""

from __future__ import annotations

from memoryware.backends.protocol import BackendProtocol
from memoryware.testing._either import twin_differences
from memoryware.testing._suite import OpenBackend, Suite


class TwinsConformance(Suite):
    """What `x` and `ax` have in common."""

    async def test_twins_have_one_signature_which_is_that_of_the_protocol(
        self, open_backend: OpenBackend
    ) -> None:
        assert twin_differences(type(open_backend()), BackendProtocol) == []
