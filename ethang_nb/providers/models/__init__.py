"""Models: what is known of a model."""
