"""Endpoints: where a model id leads, and with which key."""
