/* Trees of tests on levels; their answers are averaged. */
struct forest {
    int n_trees;
    const int *tree_at;
    const double *weight;
    const int *feature;            /* -1 in a leaf */
    const int *cut;                /* a level below it goes to the first child; -1 where the sides say where it goes */
    const signed char *absent;     /* the child of level 0, a missing cell */
    const int *side_at, *sides;    /* the child of each level; -1 goes to all */
    const int *child, *n_children; /* the first child; all follow each other */
    const double *share;           /* of a child among all, where a row goes to all */
    const double *stop;            /* P(the row stops here) */
    const LINE *lines;
};

static void walk(const struct forest *f, int node, double share, const struct row *row, double *p)
{
    int c, side, child, level;
    for (;;) {
        if (f->stop[node] > 0.0)
            for (c = 0; c < N_CLASSES; ++c) p[c] += share * f->stop[node] * f->lines[(long)node * N_CLASSES + c];
        if (f->feature[node] < 0) return;
        share *= 1.0 - f->stop[node];
        level = row->level[f->feature[node]];
        if (level < 0) side = -1;
        else if (f->cut[node] < 0) side = f->sides[f->side_at[node] + level];
        else side = level == 0 ? f->absent[node] : level >= f->cut[node];
        if (side < 0) break;
        node = f->child[node] + side;
    }
    for (child = f->child[node]; child < f->child[node] + f->n_children[node]; ++child) walk(f, child, share * f->share[child], row, p);
}

/* The sum over the trees, each by its weight: P(c | x), or a score. */
static void average_trees(const struct forest *f, const struct row *row, double *p)
{
    int t, c;
    for (c = 0; c < N_CLASSES; ++c) p[c] = 0.0;
    for (t = 0; t < f->n_trees; ++t) walk(f, f->tree_at[t], f->weight[t], row, p);
}
