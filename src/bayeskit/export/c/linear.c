/* A score that is linear in numbers z; a hidden cell stands at its mean and adds nothing. */
struct linear {
    struct scales scales;
    const double *mean, *coefficients, *start; /* (p), (p, classes), (classes) */
};

static void score_linear(const struct linear *l, const struct row *row, double *score)
{
    int i, c;
    memcpy(score, l->start, N_CLASSES * sizeof *score);
    for (i = 0; i < l->scales.p; ++i)
        if (row->level[l->scales.feature[i]] >= 0) {
            const double away = z_of(&l->scales, i, row) - l->mean[i];
            for (c = 0; c < N_CLASSES; ++c) score[c] += away * l->coefficients[(long)i * N_CLASSES + c];
        }
}
