static int score_gaussians(const struct gaussians *g, const struct row *row, double *score)
{
    memcpy(score, g->start, N_CLASSES * sizeof *score);
    add_gaussians(g, row, score);
    return posterior(score);
}
