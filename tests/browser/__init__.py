"""Tests in a real browser. A package, so that what is package-scoped here ends with the last of them."""
