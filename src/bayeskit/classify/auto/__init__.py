"""AutoBayes, the automatic classifier: members that learn from counts, and the pool that weighs them."""
