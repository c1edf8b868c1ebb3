"""Wires: how a request is written and an answer read, one module for each format."""
