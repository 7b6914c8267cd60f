"""Measures of what memory is worth, for anyone to run again: recall, and later more."""
