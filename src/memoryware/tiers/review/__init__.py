"""Review of quarantine: what waits as statements to decide about, and what a decision closes."""
