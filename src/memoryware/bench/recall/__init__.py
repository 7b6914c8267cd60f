"""How much of what answers a question comes back, measured without a language model."""

from __future__ import annotations

from memoryware.bench.recall.planning import Plan, plan
from memoryware.bench.recall.report import Report
from memoryware.bench.recall.running import Measured, measure

__all__ = ["Measured", "Plan", "Report", "measure", "plan"]
