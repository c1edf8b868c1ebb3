"""Counting tokens: exactly where the tokenizer is ours to run, labelled as an estimate everywhere else."""
