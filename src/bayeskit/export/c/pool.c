/* The pool of AutoBayes: evidence networks, Gaussians, trees and a linear member. */
struct networks {
    int n_networks, depths;
    const int *level_at;       /* (columns + 1) */
    const unsigned char *bins; /* (networks, levels): the bin of each level */
    const int *sizes;          /* (networks, columns): how many bins */
    const int *parents;        /* (networks, columns, depths): -1 after the last */
    const int *n_nodes;        /* (networks, columns, depths + 1): contexts of each depth */
    const int *child;          /* the context for each bin of the next parent; 0 where there is none */
    const int *child_at, *value_at; /* (networks × columns + 1) */
    const float *lines;        /* a line of classes per context and bin */
    const double *weight, *plain_weight, *start;
};

/* What the values of a column without a level of their own add to the networks. */
struct rare {
    int column;
    double weight;
    const double *lines; /* a line of classes per code */
};

struct pool {
    const struct networks *networks;
    int n_rare, n_gaussians, n_forests, n_linear, n_boosted;
    const struct rare *rare;
    const struct gaussians *gaussians;
    const double *const *const *beside; /* tables of columns beside each of the Gaussians */
    const struct forest *forests;
    const struct linear *linear;
    const struct forest *boosted; /* what they answer is added to the scores of full rows */
    const unsigned char *varies, *centre;
    double least_log, few_weight, n_rows;
    const double *weight, *bias, *matrix, *nothing_known, *log_prior;
};

/* The line of a column in one network: that of its bin, in the deepest context of its parents that was seen. */
static const float *line_of(const struct networks *n, int network, int column, const struct row *row)
{
    const int unit = network * N_COLUMNS + column, *sizes = n->sizes + network * N_COLUMNS;
    const unsigned char *bins = n->bins + (long)network * n->level_at[N_COLUMNS];
    const int *child = n->child + n->child_at[unit], *n_nodes = n->n_nodes + (long)unit * (n->depths + 1);
    int node = 0, first = 0, depth;
    for (depth = 0; depth < n->depths; ++depth) {
        const int parent = n->parents[(long)unit * n->depths + depth];
        int next;
        if (parent < 0 || !n_nodes[depth + 1] || row->level[parent] < 0) break;
        next = child[(long)(node - first) * sizes[parent] + bins[n->level_at[parent] + row->level[parent]]];
        if (!next) break;
        child += (long)n_nodes[depth] * sizes[parent];
        first += n_nodes[depth];
        node = next;
    }
    return n->lines + (n->value_at[unit] + (long)node * sizes[column] + bins[n->level_at[column] + row->level[column]]) * N_CLASSES;
}

/* log P(x, c) by the networks with weights of the columns, and without. */
static void score_networks(const struct networks *n, const struct row *row, double *score, double *plain)
{
    int t, j, c;
    memcpy(score, n->start, N_CLASSES * sizeof *score);
    for (c = 0; c < N_CLASSES; ++c) plain[c] = 0.0;
    for (t = 0; t < n->n_networks; ++t)
        for (j = 0; j < N_COLUMNS; ++j) {
            const float *line;
            if (row->level[j] < 0 || n->plain_weight[j] == 0.0) continue;
            line = line_of(n, t, j, row);
            for (c = 0; c < N_CLASSES; ++c) {
                score[c] += n->weight[j] * (double)line[c];
                plain[c] += n->plain_weight[j] * (double)line[c];
            }
        }
}

static void add_rare(const struct pool *pool, const struct row *row, double *score, double *plain)
{
    int i, c;
    for (i = 0; i < pool->n_rare; ++i) {
        const struct rare *rare = pool->rare + i;
        const double *line = rare->lines + (long)row->code[rare->column] * N_CLASSES;
        for (c = 0; c < N_CLASSES; ++c) {
            score[c] += rare->weight * line[c];
            plain[c] += line[c];
        }
    }
}

/* A member takes part: its log P(c | x) in the pool of full rows, and what it was told in the other one. */
static void add_member(const struct pool *pool, int m, double *score, const double *plain, double *full, double *few)
{
    int c;
    log_softmax(score, pool->least_log);
    for (c = 0; c < N_CLASSES; ++c) {
        full[c] += pool->weight[m] * score[c];
        few[c] += pool->few_weight * (plain ? plain[c] : score[c] - pool->nothing_known[m * N_CLASSES + c]);
    }
}

/* The share of the columns that are known, squared. */
static double known_share(const struct pool *pool, const struct row *row)
{
    int j, n = 0, known = 0;
    for (j = 0; j < N_COLUMNS; ++j)
        if (pool->varies[j]) {
            ++n;
            known += row->level[j] >= 0;
        }
    return n ? ((double)known / n) * ((double)known / n) : 1.0;
}

static int score_pool(const struct pool *pool, const struct row *row, double *p)
{
    double score[N_CLASSES], full[N_CLASSES], few[N_CLASSES], plain[N_CLASSES], mean = 0.0;
    const double t = known_share(pool, row);
    int c, d, i, m = 0, n = 0;
    memcpy(full, pool->bias, sizeof full);
    memcpy(few, pool->log_prior, sizeof few);
    score_networks(pool->networks, row, score, plain);
    add_rare(pool, row, score, plain);
    add_member(pool, m++, score, plain, full, few);
    for (i = 0; i < pool->n_gaussians; ++i) {
        memcpy(score, pool->gaussians[i].start, sizeof score);
        add_tables(pool->beside[i], row, score);
        add_gaussians(pool->gaussians + i, row, score);
        add_member(pool, m++, score, NULL, full, few);
    }
    for (i = 0; i < pool->n_forests; ++i) {
        average_trees(pool->forests + i, row, score);
        for (c = 0; c < N_CLASSES; ++c) score[c] = log(score[c] > 1e-300 ? score[c] : 1e-300);
        add_member(pool, m++, score, NULL, full, few);
    }
    for (i = 0; i < pool->n_linear; ++i) {
        score_linear(pool->linear + i, row, score);
        add_member(pool, m++, score, NULL, full, few);
    }
    for (c = 0; c < N_CLASSES; ++c)
        if (pool->centre[c]) {
            mean += full[c];
            ++n;
        }
    for (c = 0; c < N_CLASSES; ++c) {
        score[c] = pool->matrix[c * (N_CLASSES + 1) + N_CLASSES];
        for (d = 0; d < N_CLASSES; ++d) score[c] += pool->matrix[c * (N_CLASSES + 1) + d] * (full[d] - mean / n);
    }
    for (i = 0; i < pool->n_boosted; ++i) {
        average_trees(pool->boosted + i, row, plain);
        for (c = 0; c < N_CLASSES; ++c) score[c] += plain[c];
    }
    log_softmax(score, -INFINITY);
    if (t < 1.0) {
        for (c = 0; c < N_CLASSES; ++c) score[c] = t * score[c] + (1.0 - t) * few[c];
        log_softmax(score, -INFINITY);
    }
    for (c = 0; c < N_CLASSES; ++c) p[c] = (pool->n_rows * exp(score[c]) + exp(pool->log_prior[c])) / (pool->n_rows + 1.0);
    return 1;
}
