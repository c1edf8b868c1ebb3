"""Material to learn with: generators of the documents that demo and notebooks read."""
