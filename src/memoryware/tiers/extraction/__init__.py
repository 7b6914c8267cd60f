"""Facts from conversations: extract them, by rules or with a model, and propose them for review."""
