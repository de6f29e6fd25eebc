/* Raw cells: texts become numbers, dates, hours and truth values as the reader of files made them. */
enum { CHARACTER, CLASS, NOT_CLASS, SPLIT, JUMP, SAVE, END, MATCH };
enum { AS_IS, AS_NUMBER, AS_DATE, AS_HOURS, AS_TRUTH };
enum { YEAR, MONTH, DAY, WEEK, WEEKDAY, QUARTER, HOUR, MINUTE, SECOND, NAME, HALF, SIGN, LEAP, N_FIELDS };
/* The most characters of a number or a date, and the most groups of a pattern. */
enum { LONGEST = 120, MOST_GROUPS = 10 };

struct pattern {
    int n_steps;
    const int (*steps)[3];
    const int *ranges;
    const int *groups; /* the group of each field; -1 where it has none */
    int is_wide, is_lower;
};

struct rewrite {
    struct pattern pattern;
    const char *template; /* '1' to '9' are groups, others stand for themselves */
};

struct raw_column {
    int what;
    int n_missing, n_respelled, n_numbers;
    const char *const *missing;
    const char *const *respelled; /* what is written, then what it means */
    const double *numbers;        /* that stand for a missing cell */
    int lenient, truth, must_rewrite, pivot, origin;
    char decimal;
    int n_rewrites, n_powers, n_forms;
    const struct rewrite *rewrites;
    const struct pattern *powers;
    const int *exponents;
    const struct pattern *forms;
    const int *without; /* characters that group digits; 0 after the last */
    int n_made;
    const int *made;  /* columns of the model */
    const int *parts; /* of a date: YEAR, MONTH, WEEKDAY, DAY for days since the origin, HOUR */
};

/* A text as code points. */
struct letters {
    int n;
    int at[LONGEST];
};

struct matcher {
    const struct pattern *pattern;
    const struct letters *text;
    int saved[2 * MOST_GROUPS];
    unsigned char *seen; /* (steps, places) that were tried: each is tried once, so that time is linear */
};

static int in_class(const struct pattern *pattern, const int *step, int c)
{
    int k, inside = 0;
    if (step[0] == CHARACTER) return c == step[1];
    for (k = step[1]; k < step[2]; ++k) inside |= c >= pattern->ranges[2 * k] && c <= pattern->ranges[2 * k + 1];
    return step[0] == CLASS ? inside : !inside;
}

static int run(struct matcher *m, int step, int at)
{
    for (;;) {
        const int *now = m->pattern->steps[step];
        unsigned char *seen = m->seen + step * (LONGEST + 1) + at;
        if (*seen) return 0;
        *seen = 1;
        if (now[0] == MATCH) return 1;
        if (now[0] == END) {
            if (at < m->text->n) return 0;
            ++step;
        } else if (now[0] == JUMP) {
            step = now[1];
        } else if (now[0] == SPLIT) {
            if (run(m, now[1], at)) return 1;
            step = now[2];
        } else if (now[0] == SAVE) {
            int before = m->saved[now[1]];
            m->saved[now[1]] = at;
            if (run(m, step + 1, at)) return 1;
            m->saved[now[1]] = before;
            return 0;
        } else {
            if (at >= m->text->n || !in_class(m->pattern, now, m->text->at[at])) return 0;
            ++step;
            ++at;
        }
    }
}

/* 1 where the whole text has the pattern, 0 where not, -1 without memory; saved holds where groups start and end. */
static int matches(const struct pattern *pattern, const struct letters *text, int *saved)
{
    struct matcher m;
    int k, yes;
    m.pattern = pattern;
    m.text = text;
    m.seen = calloc((size_t)pattern->n_steps * (LONGEST + 1), 1);
    if (!m.seen) return -1;
    for (k = 0; k < 2 * MOST_GROUPS; ++k) m.saved[k] = -1;
    yes = run(&m, 0, 0);
    free(m.seen);
    if (yes && saved) memcpy(saved, m.saved, sizeof m.saved);
    return yes;
}

static int is_white(int c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Reads UTF-8 without white space around it; 0 for a text that is too long, or no UTF-8. */
static int read_letters(const char *text, struct letters *letters)
{
    const unsigned char *s = (const unsigned char *)text;
    int n = 0;
    while (*s) {
        int c = *s++, more = c < 0x80 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC0 ? 1 : -1;
        if (more < 0) return 0;
        c = more == 0 ? c : c & (0x3F >> more);
        for (; more > 0; --more) {
            if ((*s & 0xC0) != 0x80) return 0;
            c = c << 6 | (*s++ & 0x3F);
        }
        if (n == 0 && is_white(c)) continue;
        if (n == LONGEST) return 0;
        letters->at[n++] = c;
    }
    while (n > 0 && is_white(letters->at[n - 1])) --n;
    letters->n = n;
    return 1;
}

static void to_plain(struct letters *letters, int signs)
{
    int k;
    for (k = 0; k < letters->n; ++k) {
        int *c = letters->at + k;
        if (*c >= 0xFF01 && *c <= 0xFF5E) *c -= 0xFEE0;
        else if (*c == 0x3000) *c = ' ';
        else if (signs && *c == 0x2212) *c = '-';
        else if (signs && *c == 0xFFE1) *c = 0xA3;
        else if (signs && *c == 0xFFE5) *c = 0xA5;
        else if (signs && *c == 0xFFE6) *c = 0x20A9;
    }
}

static void to_lower(struct letters *letters)
{
    int k;
    for (k = 0; k < letters->n; ++k)
        if (letters->at[k] >= 'A' && letters->at[k] <= 'Z') letters->at[k] += 32;
}

static int equals(const struct letters *letters, const char *text)
{
    struct letters other;
    return read_letters(text, &other) && other.n == letters->n &&
           memcmp(other.at, letters->at, sizeof(int) * (size_t)other.n) == 0;
}

static int digit_at(const struct letters *text, int k) { return text->at[k] >= '0' && text->at[k] <= '9'; }

/* The number of a group, -1 where it matched nothing. Fractions are read too, with a comma or a point. */
static double group_number(const struct letters *text, const int *saved, int group)
{
    double value = 0.0, unit = 1.0;
    int k;
    if (group < 0 || saved[2 * group] < 0 || saved[2 * group + 1] <= saved[2 * group]) return -1.0;
    for (k = saved[2 * group]; k < saved[2 * group + 1] && digit_at(text, k); ++k)
        value = 10.0 * value + (text->at[k] - '0');
    for (++k; k < saved[2 * group + 1]; ++k) {
        value = 10.0 * value + (text->at[k] - '0');
        unit *= 10.0;
    }
    return value / unit;
}

/* Plain digits of a number → the number, whatever the decimal sign of the locale. */
static double to_number(const char *digits)
{
    char written[2 * LONGEST + 40];
    const char *sign = localeconv()->decimal_point;
    size_t n = 0;
    for (; *digits && n < sizeof written - 20; ++digits) {
        if (*digits != '.') {
            written[n++] = *digits;
            continue;
        }
        memcpy(written + n, sign, strlen(sign));
        n += strlen(sign);
    }
    written[n] = 0;
    return strtod(written, NULL);
}

static int is_infinite(const struct letters *text)
{
    struct letters low = *text;
    if (low.n && (low.at[0] == '+' || low.at[0] == '-')) {
        memmove(low.at, low.at + 1, sizeof(int) * (size_t)--low.n);
    }
    to_lower(&low);
    return equals(&low, "inf") || equals(&low, "infinity");
}

/* 1 and a value; 0 for a cell that is no number; -1 for a row that is refused. */
static int read_number(const struct raw_column *column, const struct letters *written, double *value)
{
    struct letters text = *written;
    int saved[2 * MOST_GROUPS], exponent = 0, some = 0, k, n = 0;
    char digits[LONGEST + 24];
    for (k = 0; k < column->n_powers; ++k)
        if (column->powers[k].n_steps == 0 || matches(column->powers + k, written, NULL) > 0) exponent = column->exponents[k];
    if (column->truth) {
        struct letters low = text;
        to_lower(&low);
        if (equals(&low, "true") || equals(&low, "false")) {
            *value = equals(&low, "true");
            return 1;
        }
    }
    to_plain(&text, 1);
    for (k = 0; k < column->n_rewrites; ++k) {
        struct letters made;
        const char *t;
        if (matches(&column->rewrites[k].pattern, &text, saved) <= 0) {
            if (column->must_rewrite && k == column->n_rewrites - 1) return 0;
            continue;
        }
        made.n = 0;
        for (t = column->rewrites[k].template; *t; ++t) {
            int j, group = *t - '0';
            if (*t < '1' || *t > '9') {
                made.at[made.n++] = *t;
            } else {
                for (j = saved[2 * group]; j >= 0 && j < saved[2 * group + 1]; ++j) made.at[made.n++] = text.at[j];
            }
        }
        text = made;
    }
    if (is_infinite(&text)) return -1;
    if (matches(column->forms, &text, NULL) <= 0) return 0;
    for (k = 0; k < text.n; ++k) {
        const int *group;
        int c = text.at[k], is_group = 0;
        for (group = column->without; *group; ++group) is_group |= c == *group;
        if (is_group) continue;
        some |= c >= '0' && c <= '9';
        if (column->n_powers && (c == 'e' || c == 'E')) return 0;
        digits[n++] = (char)(c == column->decimal ? '.' : c);
    }
    if (!some) return 0;
    digits[n] = 0;
    if (exponent) {
        digits[n++] = 'e';
        if (exponent < 0) digits[n++] = '-';
        exponent = exponent < 0 ? -exponent : exponent;
        if (exponent >= 10) digits[n++] = (char)('0' + exponent / 10);
        digits[n++] = (char)('0' + exponent % 10);
        digits[n] = 0;
    }
    *value = to_number(digits);
    return 1;
}

static int read_truth(const struct letters *written, double *value)
{
    struct letters text = *written;
    int k;
    to_lower(&text);
    for (k = 0; k < N_TRUTHS; ++k)
        if (equals(&text, truth_words[k])) {
            *value = truths[k];
            return 1;
        }
    return 0;
}

static int read_hours(const struct raw_column *column, const struct letters *written, double *value)
{
    static const double hours_in[] = {168.0, 24.0, 1.0, 1.0 / 60.0, 1.0 / 3600.0};
    static const int fields[] = {WEEK, DAY, HOUR, MINUTE, SECOND};
    int saved[2 * MOST_GROUPS], k, j, some = 0;
    for (k = 0; k < column->n_forms; ++k) {
        const struct pattern *form = column->forms + k;
        struct letters text = *written;
        double total = 0.0;
        if (form->is_lower) to_lower(&text);
        if (matches(form, &text, saved) <= 0) continue;
        for (j = 0; j < 5; ++j) {
            double number = group_number(&text, saved, form->groups[fields[j]]);
            if (number < 0.0) continue;
            some = 1;
            if (fields[j] == HOUR && form->groups[HALF] >= 0 && saved[2 * form->groups[HALF]] >= 0) {
                int half = text.at[saved[2 * form->groups[HALF]]];
                if (number < 1.0 || number > 12.0) return 0;
                number = (number == 12.0 ? 0.0 : number) + (half == 'p' || half == 'P' ? 12.0 : 0.0);
            }
            total += number * hours_in[j];
        }
        if (!some) return 0;
        *value = form->groups[SIGN] >= 0 && text.at[0] == '-' ? -total : total;
        return 1;
    }
    return 0;
}

/* Days from 1970-01-01 to a date; years are counted from March. */
static int day_number(int year, int month, int day)
{
    int start = year - (month <= 2), months = month + (month <= 2 ? 9 : -3);
    return 365 * start + start / 4 - start / 100 + start / 400 + (153 * months + 2) / 5 + day - 1 - 719468;
}

static int month_of(const struct letters *text, const int *saved, int group)
{
    struct letters name;
    int k;
    name.n = saved[2 * group + 1] - saved[2 * group];
    memcpy(name.at, text->at + saved[2 * group], sizeof(int) * (size_t)name.n);
    to_lower(&name);
    for (k = 0; k < N_MONTH_WORDS; ++k)
        if (equals(&name, month_words[k])) return months[k];
    return 0;
}

/* 1, days from 1970-01-01 and the hour; 0 for a cell that is no date. */
static int read_date(const struct raw_column *column, const struct letters *written, int *days, int *hour)
{
    static const int in_month[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int saved[2 * MOST_GROUPS], field[N_FIELDS], k, j;
    for (k = 0; k < column->n_forms; ++k) {
        const struct pattern *form = column->forms + k;
        struct letters text = *written;
        int leap, second;
        if (form->is_wide) to_plain(&text, 0);
        if (matches(form, &text, saved) <= 0) continue;
        for (j = 0; j <= SECOND; ++j) field[j] = (int)group_number(&text, saved, form->groups[j]);
        if (form->groups[NAME] >= 0) field[MONTH] = month_of(&text, saved, form->groups[NAME]);
        if (field[QUARTER] >= 0) field[MONTH] = 3 * field[QUARTER] - 2;
        if (field[MONTH] < 0) field[MONTH] = 1;
        if (field[DAY] < 0) field[DAY] = 1;
        for (j = HOUR; j <= SECOND; ++j)
            if (field[j] < 0) field[j] = 0;
        j = form->groups[YEAR];
        if (saved[2 * j + 1] - saved[2 * j] == 2) field[YEAR] += field[YEAR] < column->pivot ? 2000 : 1900;
        j = form->groups[HALF];
        if (j >= 0 && saved[2 * j] >= 0)
            field[HOUR] = field[HOUR] % 12 + (text.at[saved[2 * j]] == 'p' || text.at[saved[2 * j]] == 'P' ? 12 : 0);
        if (field[YEAR] < 1 || field[HOUR] > 23 || field[MINUTE] > 59) return 0;
        if (field[SECOND] > (form->groups[LEAP] >= 0 ? 60 : 59)) return 0;
        leap = (field[YEAR] % 4 == 0 && field[YEAR] % 100 != 0) || field[YEAR] % 400 == 0;
        second = 3600 * field[HOUR] + 60 * field[MINUTE] + field[SECOND];
        if (field[WEEK] >= 0) {
            int fourth = day_number(field[YEAR], 1, 4), monday = fourth - (fourth + 3 + 735000) % 7;
            int thursday = monday + 7 * (field[WEEK] - 1) + 3;
            if (field[WEEK] < 1 || thursday >= day_number(field[YEAR] + 1, 1, 1)) return 0;
            *days = thursday - 4 + (field[WEEKDAY] < 0 ? 1 : field[WEEKDAY]);
        } else {
            if (field[MONTH] < 1 || field[MONTH] > 12 || field[DAY] < 1) return 0;
            if (field[DAY] > in_month[field[MONTH] - 1] + (leap && field[MONTH] == 2)) return 0;
            *days = day_number(field[YEAR], field[MONTH], field[DAY]);
        }
        *days += second >= 86400;
        *hour = second % 86400 / 3600;
        return 1;
    }
    return 0;
}

static void set_date(const struct raw_column *column, int days, int hour, bayeskit_cell *made)
{
    static const char *const names[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    int z = days + 719468, era = z / 146097, of_era = z - era * 146097;
    int of_400 = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int day = of_era - (365 * of_400 + of_400 / 4 - of_400 / 100), month = (5 * day + 2) / 153, k;
    for (k = 0; k < column->n_made; ++k) {
        bayeskit_cell *cell = made + column->made[k];
        if (column->parts[k] == YEAR) cell->number = of_400 + 400 * era + (month >= 10);
        else if (column->parts[k] == MONTH) cell->number = month + (month < 10 ? 3 : -9);
        else if (column->parts[k] == DAY) cell->number = days - column->origin;
        else if (column->parts[k] == HOUR) cell->number = hour;
        else cell->text = names[(days + 3 + 735000) % 7];
    }
}

/* Makes the cells of the model of one raw cell; returns 0 for a row that is refused. */
static int convert_cell(const struct raw_column *column, bayeskit_cell raw, bayeskit_cell *made)
{
    struct letters text;
    double value = raw.number;
    const char *s;
    int k, state = 1, days = 0, hour = 0;
    for (k = 0; k < column->n_made; ++k) {
        made[column->made[k]].text = NULL;
        made[column->made[k]].number = NAN;
    }
    for (k = 0; raw.text && k < column->n_respelled; ++k)
        if (strcmp(raw.text, column->respelled[2 * k]) == 0) {
            raw.text = column->respelled[2 * k + 1];
            break;
        }
    if (raw.text) {
        for (k = 0; k < column->n_missing; ++k)
            if (strcmp(raw.text, column->missing[k]) == 0) return 1;
        for (s = raw.text; *s == ' ' || *s == '\t' || *s == '\n' || *s == '\f' || *s == '\r';) ++s;
        if (!*s && *raw.text) return 1;
    }
    if (column->what == AS_IS) {
        made[column->made[0]].text = raw.text;
    } else if (raw.text) {
        value = NAN;
        if (!read_letters(raw.text, &text)) state = 0;
        else if (column->what == AS_NUMBER) state = read_number(column, &text, &value);
        else if (column->what == AS_HOURS) state = read_hours(column, &text, &value);
        else if (column->what == AS_TRUTH) state = read_truth(&text, &value);
        else if ((state = read_date(column, &text, &days, &hour)) == 1) set_date(column, days, hour, made);
        if (state < 0 || (state == 0 && !column->lenient)) return 0;
    } else if (column->what == AS_DATE) {
        return value != value; /* a date is a text */
    }
    for (k = 0; k < column->n_numbers && column->what != AS_TRUTH; ++k)
        if (value == column->numbers[k]) value = NAN;
    if (column->what != AS_DATE) made[column->made[0]].number = value;
    return 1;
}
