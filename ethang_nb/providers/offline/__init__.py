"""Offline: the models that are rules or a file of turns, and need no network."""
