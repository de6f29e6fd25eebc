/* A row: each column has a number, or the level of its value. */
enum { HIDDEN = -1, REFUSED = -2 };
enum { NOT_READ, NUMBER, BIN, VALUE, TEXT };

struct column {
    int kind;
    int n;                    /* values, or edges of bins */
    const char *const *texts; /* the values in order of their bytes */
    const double *numbers;    /* the values, or the edges, in increasing order */
    const int *codes;         /* the code of each value; 0 is a missing cell */
    const int *levels;        /* the level of each code */
};

struct row {
    double number[N_COLUMNS];
    int level[N_COLUMNS];
    int code[N_COLUMNS];
};

/* How many of the numbers are at most x. */
static int count_up_to(const double *numbers, int n, double x)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (numbers[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int code_of_text(const struct column *column, const char *text)
{
    int low = 0, high = column->n;
    if (!text) return 0;
    while (low < high) {
        int middle = (low + high) / 2, order = strcmp(column->texts[middle], text);
        if (order == 0) return column->codes[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return column->n + 1;
}

static int code_of_number(const struct column *column, double x)
{
    int place;
    if (x != x) return 0;
    place = count_up_to(column->numbers, column->n, x);
    if (column->kind == BIN) return place + 1;
    return place > 0 && column->numbers[place - 1] == x ? column->codes[place - 1] : column->n + 1;
}

/* Returns 0 for a row that the model refuses: an infinite number, or a value that was not seen and may not come. */
static int read_row(const struct column *columns, const bayeskit_cell *cells, struct row *row)
{
    int j;
    for (j = 0; j < N_COLUMNS; ++j) {
        const struct column *column = columns + j;
        double x = cells[j].number;
        row->number[j] = NAN;
        row->level[j] = HIDDEN;
        row->code[j] = 0;
        if (column->kind == NOT_READ) continue;
        if (column->kind == TEXT) {
            row->code[j] = code_of_text(column, cells[j].text);
            row->level[j] = column->levels[row->code[j]];
        } else {
            if (isinf(x)) return 0;
            row->number[j] = x;
            row->code[j] = column->kind == NUMBER ? 0 : code_of_number(column, x);
            row->level[j] = column->kind != NUMBER ? column->levels[row->code[j]] : x != x ? HIDDEN : 0;
        }
        if (row->level[j] == REFUSED) return 0;
    }
    return 1;
}
