"""Measurements of memoryware against deepagents and against the floor; see README.md."""
