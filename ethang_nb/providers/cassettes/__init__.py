"""Cassettes: answers recorded once and played again."""
