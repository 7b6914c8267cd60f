"""`python -m benchmarks.load`: see `benchmarks.load.run`."""

import sys

from benchmarks.load.run import main

if __name__ == "__main__":
    sys.exit(main())
