"""The command `memoryware`; it needs the extra `memoryware[cli]`."""
