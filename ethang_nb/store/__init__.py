"""SQLite: the record of what happened, and what left the window."""
