/* Tables of columns: a line of classes per level; a hidden cell adds nothing. */
static void add_tables(const double *const *tables, const struct row *row, double *score)
{
    int j, c;
    for (j = 0; j < N_COLUMNS; ++j)
        if (tables[j] && row->level[j] >= 0)
            for (c = 0; c < N_CLASSES; ++c) score[c] += tables[j][row->level[j] * N_CLASSES + c];
}
