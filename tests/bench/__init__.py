"""Benchmarks: ratios against other people's code, each from one interleaved run. Nothing here is a test.

    uv run --group peers python -m tests.bench tokens

A ratio says how often ours fits into the time of the other; absolute times change with the machine and its load.
"""
