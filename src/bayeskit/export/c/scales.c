/* Numbers z of a row on scales of their own. */
struct scales {
    int p, n_numbers; /* numbers come first; the others indicate a level */
    const int *feature, *level;
    const double *median, *unit, *center, *scale;
    double farthest;
    const int *curve_at;
    const double *curve_x, *curve_z; /* a number is a point of its curve, where there is one */
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

static double z_of(const struct scales *s, int k, const struct row *row)
{
    double x = row->number[s->feature[k]], z;
    if (k >= s->n_numbers) return ((row->level[s->feature[k]] == s->level[k]) - s->center[k]) / s->scale[k];
    if (x != x) x = s->median[k];
    if (s->curve_at[k + 1] > s->curve_at[k])
        return on_curve(s->curve_x + s->curve_at[k], s->curve_z + s->curve_at[k], s->curve_at[k + 1] - s->curve_at[k], x);
    z = (x / s->unit[k] - s->center[k]) / s->scale[k];
    return z > s->farthest ? s->farthest : z < -s->farthest ? -s->farthest : z;
}
