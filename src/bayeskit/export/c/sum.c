/* A term per column: a table, or a density in closed form; a hidden cell adds nothing. */
struct density {
    const double *constant, *slope, *mean, *half_precision; /* of each class; slope and mean may be absent */
    double origin, least;
    int logarithm, whole;
};

struct sum {
    const double *start;
    const double *const *tables; /* of each column, or none: a line of classes per level */
    const struct density *const *densities;
};

/* Adds the term of a number; 0 where the density cannot hold it. */
static int add_density(const struct density *density, double x, double *score)
{
    double z = density->logarithm ? log(x) : x;
    int c;
    if (x < density->least || (density->logarithm && !(x > 0.0)) || (density->whole && floor(x) < x)) return 0;
    for (c = 0; c < N_CLASSES; ++c) {
        score[c] += density->constant[c];
        if (density->slope && z != density->origin) score[c] += density->slope[c] * (z - density->origin);
        if (density->mean) {
            double away = (z - density->mean[c]) * sqrt(density->half_precision[c]);
            score[c] -= away * away;
        }
    }
    return 1;
}

static int score_sum(const struct sum *sum, const struct row *row, double *score)
{
    int j;
    memcpy(score, sum->start, N_CLASSES * sizeof *score);
    add_tables(sum->tables, row, score);
    for (j = 0; j < N_COLUMNS; ++j)
        if (sum->densities[j] && row->level[j] >= 0 && !add_density(sum->densities[j], row->number[j], score)) return 0;
    return posterior(score);
}
