/* log P(x, c) becomes P(c | x). */
static int posterior(double *score)
{
    int c;
    for (c = 0; c < N_CLASSES; ++c)
        if (score[c] != score[c]) return 0;
    if (!log_softmax(score, -INFINITY)) {
        if (!IMPOSSIBLE_IS_PRIOR) return 0;
        for (c = 0; c < N_CLASSES; ++c) score[c] = log_prior[c];
    }
    for (c = 0; c < N_CLASSES; ++c) score[c] = exp(score[c]);
    return 1;
}
