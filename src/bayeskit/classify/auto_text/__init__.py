"""AutoText: naive Bayes over words and pairs of words, pooled on documents left out, with one logistic correction."""
