"""Pure functions of texts: index terms, comparison and segmentation; no I/O, no state."""
