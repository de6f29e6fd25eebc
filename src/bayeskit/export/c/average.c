/* Structures: log P(c) and a table per feature and its parents; parents that are hidden are summed out, one after the
   other. A step sums over one of them: what it multiplies are tables, and the results of earlier steps (messages). */
struct structure {
    const double *log_prior;
    int n_families;
    const int *member_at, *members; /* the parents of each family, then its feature */
    const double *const *tables;
    const unsigned char *takes_part; /* the levels of the first feature with which the structure takes part, or none */
    int n_steps, n_work;             /* n_work: numbers of all messages, and of the terms of one sum */
    const int *step_column, *scope_at, *scope, *message_at;
    const int *factor_at, *factors; /* a family's number, or -1 - the step whose message it is */
};

struct average {
    int n_members;
    const struct structure *members;
    const struct structure *otherwise; /* where no structure takes part */
    const int *sizes;                  /* how many levels each column has */
};

/* The place of the columns' values in a table; -1 where one is hidden. */
static long place_of(const int *columns, int n, const int *value, const int *sizes)
{
    long place = 0;
    int i;
    for (i = 0; i < n; ++i) {
        if (value[columns[i]] < 0) return -1;
        place = place * sizes[columns[i]] + value[columns[i]];
    }
    return place;
}

/* Adds a factor to the term of each class; where one of its columns has no value, it belongs to another sum. */
static void add_factor(const struct structure *s, int factor, const int *value, const int *level, const int *sizes,
                       const double *messages, double *term)
{
    const double *line;
    long place;
    int c;
    if (factor >= 0) {
        place = place_of(s->members + s->member_at[factor], s->member_at[factor + 1] - s->member_at[factor], value, sizes);
        line = s->tables[factor];
    } else {
        int step = -1 - factor;
        if (level[s->step_column[step]] >= 0) return; /* it was not summed over */
        place = place_of(s->scope + s->scope_at[step], s->scope_at[step + 1] - s->scope_at[step], value, sizes);
        line = messages + s->message_at[step];
    }
    if (place < 0) return;
    for (c = 0; c < N_CLASSES; ++c) term[c] += line[place * N_CLASSES + c];
}

/* The sums over one hidden column, for all values of the hidden columns that they depend on. */
static void sum_out(const struct structure *s, int step, int *value, const int *level, const int *sizes, double *messages, double *term)
{
    const int *scope = s->scope + s->scope_at[step], n = s->scope_at[step + 1] - s->scope_at[step];
    const int column = s->step_column[step];
    int i, v, c, f;
    for (i = 0; i < n; ++i) value[scope[i]] = level[scope[i]] >= 0 ? level[scope[i]] : 0;
    for (;;) {
        double *line = messages + s->message_at[step] + place_of(scope, n, value, sizes) * N_CLASSES;
        for (v = 0; v < sizes[column]; ++v) {
            value[column] = v;
            for (c = 0; c < N_CLASSES; ++c) term[v * N_CLASSES + c] = 0.0;
            for (f = s->factor_at[step]; f < s->factor_at[step + 1]; ++f)
                add_factor(s, s->factors[f], value, level, sizes, messages, term + v * N_CLASSES);
        }
        for (c = 0; c < N_CLASSES; ++c) line[c] = log_sum(term + c, sizes[column], N_CLASSES);
        for (i = n - 1; i >= 0; --i) { /* the next values */
            if (level[scope[i]] >= 0) continue;
            if (++value[scope[i]] < sizes[scope[i]]) break;
            value[scope[i]] = 0;
        }
        if (i < 0) break;
    }
    value[column] = HIDDEN;
    for (i = 0; i < n; ++i) value[scope[i]] = level[scope[i]];
}

static int log_joint(const struct structure *s, const int *level, const int *sizes, double *score)
{
    int f, step, value[N_COLUMNS], hidden = 0, last = s->n_steps;
    double *messages;
    memcpy(score, s->log_prior, N_CLASSES * sizeof *score);
    for (f = 0; f < s->n_families; ++f) add_factor(s, f, level, level, sizes, NULL, score);
    for (step = 0; step < last; ++step) hidden |= level[s->step_column[step]] < 0;
    if (!hidden) return 1;
    messages = malloc((size_t)s->n_work * sizeof *messages);
    if (!messages) return 0;
    memcpy(value, level, sizeof value);
    for (step = 0; step < last; ++step)
        if (level[s->step_column[step]] < 0) sum_out(s, step, value, level, sizes, messages, messages + s->message_at[last]);
    for (step = 0; step < last; ++step) add_factor(s, -1 - step, level, level, sizes, messages, score);
    free(messages);
    return 1;
}

static int score_average(const struct average *average, const struct row *row, double *score)
{
    double one[N_CLASSES], pair[2];
    int m, c, n = 0;
    for (m = 0; m < average->n_members; ++m) {
        const struct structure *s = average->members + m;
        const int level = s->n_families ? row->level[s->members[0]] : HIDDEN;
        if (s->takes_part && level >= 0 && !s->takes_part[level]) continue;
        if (!log_joint(s, row->level, average->sizes, n ? one : score)) return 0;
        for (c = 0; n && c < N_CLASSES; ++c) {
            pair[0] = score[c];
            pair[1] = one[c];
            score[c] = log_sum(pair, 2, 1);
        }
        ++n;
    }
    if (!n && !log_joint(average->otherwise, row->level, average->sizes, score)) return 0;
    return posterior(score);
}
