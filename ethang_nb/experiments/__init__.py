"""Experiments: what a policy does to a task that can be checked, measured by running contexts, with no model call."""
