"""`python -m benchmarks.secrets`: how well secrets are found, and how fast."""

from __future__ import annotations

from memoryware.guard import Guard
from benchmarks.secret_making import Sample, samples
