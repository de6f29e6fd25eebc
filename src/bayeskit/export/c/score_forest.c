static int score_forest(const struct forest *f, const struct row *row, double *p)
{
    double total = 0.0;
    int c;
    average_trees(f, row, p);
    for (c = 0; c < N_CLASSES; ++c) total += p[c];
    for (c = 0; c < N_CLASSES; ++c) p[c] /= total;
    return total > 0.0;
}
