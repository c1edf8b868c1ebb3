"""Faults: what an answer that is an error means."""
