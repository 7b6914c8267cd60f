"""Review of quarantine: statements, digests and insights."""
