"""The load run; see `benchmarks.load.run`."""
