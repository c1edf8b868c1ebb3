"""The terminal command `ethang-nb`."""
