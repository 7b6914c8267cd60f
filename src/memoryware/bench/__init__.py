"""Measure memory on your own machine; `memoryware bench` is the command."""
