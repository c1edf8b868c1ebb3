"""The agent: session, loop, tools and what they leave in the record."""
