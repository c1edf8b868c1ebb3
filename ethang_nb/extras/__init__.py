"""Extras: what ties ethang_nb to other people's tools, each of them optional and never imported before it is used."""
