/* A normal or a t distribution of several numbers z in each class; those that are hidden are integrated out. */
struct gaussians {
    int p, n_numbers; /* numbers come first; the others indicate a level */
    const int *feature, *level;
    const double *median, *unit, *center, *scale;
    double farthest;
    const int *curve_at;
    const double *curve_x, *curve_z; /* a number is a point of its curve, where there is one */
    const double *mean, *mean_rest, *deviation; /* (classes, p) */
    const double *lower;                        /* (classes, p, p): the Cholesky factor of the correlations */
    const double *shape;                        /* (classes, p + 1), by how many z are known */
    const double *df;                           /* of the t distributions; none for normal ones */
    const double *spread, *start;
};

static double on_curve(const double *x, const double *z, int n, double value)
{
    double share;
    int at;
    if (!(value > x[0])) return z[0];
    if (value >= x[n - 1]) return z[n - 1];
    at = count_up_to(x, n, value) - 1;
    share = (value / 2 - x[at] / 2) / (x[at + 1] / 2 - x[at] / 2); /* the gap of two numbers may overflow */
    return share * (z[at + 1] - z[at]) + z[at];
}

static double z_of(const struct gaussians *g, int k, const struct row *row)
{
    double x = row->number[g->feature[k]], z;
    if (k >= g->n_numbers) return ((row->level[g->feature[k]] == g->level[k]) - g->center[k]) / g->scale[k];
    if (x != x) x = g->median[k];
    if (g->curve_at[k + 1] > g->curve_at[k])
        return on_curve(g->curve_x + g->curve_at[k], g->curve_z + g->curve_at[k], g->curve_at[k + 1] - g->curve_at[k], x);
    z = (x / g->unit[k] - g->center[k]) / g->scale[k];
    return z > g->farthest ? g->farthest : z < -g->farthest ? -g->farthest : z;
}

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
    double z[MOST_Z], w[MOST_Z], part[MOST_Z * MOST_Z];
    int known[MOST_Z], n = 0, i, v, c;
    for (i = 0; i < g->p; ++i)
        if (row->level[g->feature[i]] >= 0) {
            z[n] = z_of(g, i, row);
            known[n++] = i;
        }
    for (c = 0; n && c < N_CLASSES; ++c) {
        const double *lower = g->lower + (long)c * g->p * g->p, *mean = g->mean + c * g->p, *rest = g->mean_rest + c * g->p;
        double q = 0.0, log_det = 0.0;
        if (n < g->p) {
            factor_known(lower, g->p, known, n, part);
            lower = part;
        }
        for (i = 0; i < n; ++i) {
            const double deviation = g->deviation[c * g->p + known[i]];
            double sum = (z[i] - mean[known[i]] - rest[known[i]]) / deviation;
            for (v = 0; v < i; ++v) sum -= lower[i * n + v] * w[v];
            w[i] = sum / lower[i * n + i];
            q += w[i] * w[i];
            log_det += 2.0 * (log(lower[i * n + i]) + log(deviation));
        }
        score[c] += g->shape[c * (g->p + 1) + n] - 0.5 * log_det;
        score[c] -= g->df ? 0.5 * (g->df[c] + n) * log(1.0 + g->spread[c] * q) : 0.5 * q;
    }
}
