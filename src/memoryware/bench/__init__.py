"""Measurements that anyone can run again: how much is found, and how fast."""
