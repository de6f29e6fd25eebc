"""The studio: a local page to see a network think, try a case, and train from a table."""
