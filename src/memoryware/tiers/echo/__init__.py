"""Echoes: texts that only repeat what memory has shown or has already."""
