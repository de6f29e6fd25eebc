/* log of the sum of exp(score): shifted by the greatest, exp() cannot overflow and one term is 1. */
static double log_sum(const double *score, int n, int stride)
{
    double peak = -INFINITY, total = 0.0;
    int i;
    for (i = 0; i < n; ++i)
        if (score[i * stride] > peak) peak = score[i * stride];
    if (isinf(peak)) return peak;
    for (i = 0; i < n; ++i) total += exp(score[i * stride] - peak);
    return peak + log(total);
}

/* Scores become log-probabilities of at least `least`; 0 where no class is possible. */
static int log_softmax(double *score, double least)
{
    double total = log_sum(score, N_CLASSES, 1);
    int c;
    if (isinf(total) || total != total) return 0;
    for (c = 0; c < N_CLASSES; ++c) {
        score[c] -= total;
        if (score[c] < least) score[c] = least;
    }
    return 1;
}
