"""The secret scanner: passwords, keys and tokens in prose and in code, in many languages.

Nothing else of the package knows its words and patterns, so that it could be a package of its own.
"""

from memoryware.guard._secrets.scanner import find_secrets, is_numeric_id

__all__ = ["find_secrets", "is_numeric_id"]
