"""Questions to a network: exact answers, answers by sampling, and whole tables at once."""
