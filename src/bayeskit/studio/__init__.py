"""The studio: a local page to explore a network, try a case, and train from a table."""
