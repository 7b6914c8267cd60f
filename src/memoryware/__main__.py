"""`python -m memoryware` is the command `memoryware`."""

from __future__ import annotations

from memoryware.cli.main import main

if __name__ == "__main__":
    main()
