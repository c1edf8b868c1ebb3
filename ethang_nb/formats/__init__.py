"""Other tools' message shapes to and from ours. Pure."""
