"""Recall: what working and long-term memory know of a query, and why each text came."""
