"""Measurements of memoryware against deepagents, LangGraph and the floor; see README.md."""

import sys
from pathlib import Path

_TESTS = str(Path(__file__).parent.parent / "tests")
if _TESTS not in sys.path:  # servers and counters are those of the tests
    sys.path.append(_TESTS)
