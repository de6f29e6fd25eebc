/* A normal or a t distribution of several numbers z in each class; those that are hidden are integrated out. */
struct gaussians {
    struct scales scales;
    const double *mean, *mean_rest, *deviation; /* (classes, p) */
    const double *lower;                        /* (classes, p, p): the Cholesky factor of the correlations */
    const double *shape;                        /* (classes, p + 1), by how many z are known */
    const double *df;                           /* of the t distributions; none for normal ones */
    const double *spread, *start;
};

/* The Cholesky factor of the correlations of the known z, from that of all: a matrix of n lines. */
static void factor_known(const double *lower, int p, const int *known, int n, double *out)
{
    int i, j, v;
    for (i = 0; i < n; ++i)
        for (j = 0; j <= i; ++j) {
            double sum = 0.0;
            for (v = 0; v <= known[j]; ++v) sum += lower[known[i] * p + v] * lower[known[j] * p + v];
            for (v = 0; v < j; ++v) sum -= out[i * n + v] * out[j * n + v];
            out[i * n + j] = i == j ? sqrt(sum) : sum / out[j * n + j];
        }
}

/* log p(z | c) of each class is added. */
static void add_gaussians(const struct gaussians *g, const struct row *row, double *score)
{
    const int p = g->scales.p;
    double z[MOST_Z], w[MOST_Z], part[MOST_Z * MOST_Z];
    int known[MOST_Z], n = 0, i, v, c;
    for (i = 0; i < p; ++i)
        if (row->level[g->scales.feature[i]] >= 0) {
            z[n] = z_of(&g->scales, i, row);
            known[n++] = i;
        }
    for (c = 0; n && c < N_CLASSES; ++c) {
        const double *lower = g->lower + (long)c * p * p, *mean = g->mean + c * p, *rest = g->mean_rest + c * p;
        double q = 0.0, log_det = 0.0;
        if (n < p) {
            factor_known(lower, p, known, n, part);
            lower = part;
        }
        for (i = 0; i < n; ++i) {
            const double deviation = g->deviation[c * p + known[i]];
            double sum = (z[i] - mean[known[i]] - rest[known[i]]) / deviation;
            for (v = 0; v < i; ++v) sum -= lower[i * n + v] * w[v];
            w[i] = sum / lower[i * n + i];
            q += w[i] * w[i];
            log_det += 2.0 * (log(lower[i * n + i]) + log(deviation));
        }
        score[c] += g->shape[c * (p + 1) + n] - 0.5 * log_det;
        score[c] -= g->df ? 0.5 * (g->df[c] + n) * log(1.0 + g->spread[c] * q) : 0.5 * q;
    }
}
