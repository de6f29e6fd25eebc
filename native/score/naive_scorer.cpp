// log P(c) + sum of log P(x_j | c): tables, Gaussian and Poisson columns, missing cells left out.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "base/score.hpp"
#include "kernels.hpp"

namespace bayeskit::score {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 13;
constexpr int64_t BLOCK_ROWS = 256;

enum Family : uint8_t { TABLE = 0, GAUSSIAN = 1, POISSON = 2, SKIP = 3 };

struct Feature {
    Family family;
    int64_t lo;
    uint32_t size;
    int64_t row;  // first row of its parameters
};

// Tables are added four features at a time, so that the sums of a row are loaded and stored a quarter as often.
constexpr int GROUP = 4;
struct TableGroup {
    int size = 0;
    const double* rows[GROUP];
    uint32_t level[GROUP][BLOCK_ROWS];
};

// acc[i] += table[level[i]] for each table of the group
template <int fixed>
BAYESKIT_INLINE void add_tables_lanes(Quad* acc, const TableGroup& group, int64_t n, int runtime) {
    const int width = fixed ? fixed : runtime;
    auto row = [&](int g, int64_t i) {
        return reinterpret_cast<const Quad*>(group.rows[g]) + static_cast<int64_t>(group.level[g][i]) * width;
    };
    if (group.size == GROUP) {
        for (int64_t i = 0; i < n; ++i) {
            const Quad *a = row(0, i), *b = row(1, i), *c = row(2, i), *d = row(3, i);
            for (int k = 0; k < width; ++k) acc[i * width + k] = acc[i * width + k] + ((a[k] + b[k]) + (c[k] + d[k]));
        }
        return;
    }
    for (int g = 0; g < group.size; ++g)
        for (int64_t i = 0; i < n; ++i) {
            const Quad* a = row(g, i);
            for (int k = 0; k < width; ++k) acc[i * width + k] = acc[i * width + k] + a[k];
        }
}

BAYESKIT_SIMD void add_tables(double* acc, const TableGroup& group, int64_t n, int lanes) {
    Quad* sums = reinterpret_cast<Quad*>(acc);
    if (lanes == QUAD) add_tables_lanes<1>(sums, group, n, 1);
    else if (lanes == 2 * QUAD) add_tables_lanes<2>(sums, group, n, 2);
    else add_tables_lanes<0>(sums, group, n, lanes / QUAD);
}

// The parameters are three rows: the constant -log(2 pi var) / 2, the mean, and 1 / (2 var). Gaussian columns have sums
// of their own, class by class, so that the rows of a block lie side by side and no lane stands empty.
// The constants of columns without a gap are the same for all rows of the block, and are gathered in `shift`.
BAYESKIT_SIMD void add_gaussian(double* __restrict sums, double* __restrict shift, const double* __restrict x, int64_t n,
                                const double* rows, bool gaps, int n_classes, int lanes) {
    for (int k = 0; k < n_classes; ++k) {
        const double constant = rows[k], mean = rows[lanes + k], half = rows[2 * lanes + k];
        double* __restrict sum = sums + k * BLOCK_ROWS;
        if (gaps) {
            for (int64_t i = 0; i < n; ++i) {
                const double deviation = x[i] - mean;
                sum[i] += x[i] == x[i] ? constant - deviation * deviation * half : 0.0;
            }
        } else {
            shift[k] += constant;
            for (int64_t i = 0; i < n; ++i) {
                const double deviation = x[i] - mean;
                sum[i] -= deviation * deviation * half;
            }
        }
    }
}

// Two columns without a gap at once: the sums are loaded and stored half as often.
BAYESKIT_SIMD void add_two_gaussians(double* __restrict sums, double* __restrict shift, const double* __restrict x,
                                     const double* __restrict z, int64_t n, const double* rows, const double* rows_z,
                                     int n_classes, int lanes) {
    for (int k = 0; k < n_classes; ++k) {
        const double mean = rows[lanes + k], half = rows[2 * lanes + k];
        const double mean_z = rows_z[lanes + k], half_z = rows_z[2 * lanes + k];
        double* __restrict sum = sums + k * BLOCK_ROWS;
        shift[k] += rows[k] + rows_z[k];
        for (int64_t i = 0; i < n; ++i) {
            const double deviation = x[i] - mean, deviation_z = z[i] - mean_z;
            sum[i] -= deviation * deviation * half + deviation_z * deviation_z * half_z;
        }
    }
}

// The parameters are two rows: log rate and rate.
void add_poisson(double* acc, const double* x, int64_t n, const double* rows, int lanes) {
    const double *log_rate = rows, *rate = rows + lanes;
    for (int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i]) continue;
        const double log_factorial = std::lgamma(x[i] + 1.0);
        for (int k = 0; k < lanes; ++k)
            // 0 · log 0 is 0: a count of zero is certain when the rate is zero.
            acc[i * lanes + k] += (x[i] == 0.0 ? 0.0 : x[i] * log_rate[k]) - rate[k] - log_factorial;
    }
}

BAYESKIT_SIMD bool all_finite(const double* x, int64_t n) {
    int odd = 0;
    for (int64_t i = 0; i < n; ++i) odd |= !(std::fabs(x[i]) <= std::numeric_limits<double>::max());
    return !odd;
}

int64_t first_infinite(const double* x, int64_t begin, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        if (std::isinf(x[i])) return begin + i;
    return -1;
}

// A block is read column by column, a pattern that the hardware does not foresee; so the next block is asked for early.
inline void prefetch_rows(const Column& first, int64_t begin, int64_t end) {
#if defined(__GNUC__)
    const char* stop = first.data + end * first.stride;
    for (const char* line = first.data + begin * first.stride; line < stop; line += 64) __builtin_prefetch(line);
#else
    (void)first, (void)begin, (void)end;
#endif
}

// Eight neighbouring columns of a row-major block, each brought together: a line of memory that holds eight of a row's
// cells is then touched once, not eight times.
constexpr int64_t STRIP = 8;
template <typename Item>
BAYESKIT_INLINE void gather_strip(const char* first, int64_t stride, int64_t n, int64_t count, Item* out) {
    for (int64_t i = 0; i < n; ++i) {
        const Item* row = reinterpret_cast<const Item*>(first + i * stride);
        if (count == STRIP) {
            for (int64_t c = 0; c < STRIP; ++c) out[c * BLOCK_ROWS + i] = row[c];
        } else {
            for (int64_t c = 0; c < count; ++c) out[c * BLOCK_ROWS + i] = row[c];
        }
    }
}

struct Strip {
    alignas(64) uint64_t cells[STRIP * BLOCK_ROWS];

    void fill(const Table& table, int64_t j, int64_t begin, int64_t n) {
        const int64_t count = std::min<int64_t>(STRIP, static_cast<int64_t>(table.columns.size()) - j);
        const Column& column = table.columns[j];
        const char* first = column.data + begin * column.stride;
        switch (item_size(column.type)) {
            case 1: gather_strip(first, column.stride, n, count, reinterpret_cast<uint8_t*>(cells)); break;
            case 2: gather_strip(first, column.stride, n, count, reinterpret_cast<uint16_t*>(cells)); break;
            case 4: gather_strip(first, column.stride, n, count, reinterpret_cast<uint32_t*>(cells)); break;
            default: gather_strip(first, column.stride, n, count, cells);
        }
    }

    Column column(int64_t within, Type type) const {
        const int64_t item = item_size(type);
        return {reinterpret_cast<const char*>(cells) + within * BLOCK_ROWS * item, item, type};
    }
};

using Terms = nb::ndarray<const double, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;

class NaiveScorer {
public:
    // parameters: (n_rows, n_classes). A table of S levels has S + 2 rows: the levels, then unseen, then missing.
    NaiveScorer(Array log_prior, Array parameters, std::vector<int> families, std::vector<int64_t> lows,
                std::vector<int64_t> sizes) {
        n_classes_ = static_cast<int>(log_prior.shape(0));
        lanes_ = static_cast<int>(quad_lanes_for(n_classes_));
        log_prior_.assign(lanes_, 0.0);
        read_doubles(column_of(log_prior), 0, n_classes_, log_prior_.data(), 1);
        if (parameters.ndim() != 2 || type_of(parameters) != Type::f64 ||
            static_cast<int>(parameters.shape(1)) != n_classes_ || families.size() != lows.size() ||
            families.size() != sizes.size())
            throw std::invalid_argument("the parameters do not fit together.");
        const int64_t n_rows = static_cast<int64_t>(parameters.shape(0));
        parameters_.assign(n_rows * lanes_, 0.0);
        const double* source = static_cast<const double*>(parameters.data());
        for (int64_t r = 0; r < n_rows; ++r)
            for (int k = 0; k < n_classes_; ++k)
                parameters_[r * lanes_ + k] = source[r * parameters.stride(0) + k * parameters.stride(1)];
        int64_t row = 0;
        for (size_t j = 0; j < families.size(); ++j) {
            const Family family = static_cast<Family>(families[j]);
            has_gaussian_ = has_gaussian_ || family == GAUSSIAN;
            features_.push_back({family, lows[j], static_cast<uint32_t>(sizes[j]), row});
            row += family == TABLE ? sizes[j] + 2 : family == GAUSSIAN ? 3 : family == POISSON ? 2 : 0;
        }
        if (row != n_rows) throw std::invalid_argument("the number of parameter rows does not fit.");
    }

    // (scores, first row that no class can give, first row with an infinite number), each -1 where there is none.
    // With `fallback` an impossible row gets the prior. `terms`, of shape (n_rows, n_classes), is added to the log-joint:
    // what columns of other densities say.
    nb::tuple score(nb::object source, bool coded, Score wanted, bool fallback, std::optional<Terms> terms,
                    int n_threads) const {
        const Table table = table_of(source);
        if (table.columns.size() != features_.size()) throw std::invalid_argument("wrong number of columns.");
        if (terms && (static_cast<int64_t>(terms->shape(0)) != table.n_rows ||
                      static_cast<int>(terms->shape(1)) != n_classes_))
            throw std::invalid_argument("the terms do not fit the rows and classes.");
        Scores scores(wanted, table.n_rows, n_classes_);
        const Trouble trouble = run(table, coded, fallback, terms ? terms->data() : nullptr, n_threads, scores);
        return nb::make_tuple(scores.to_numpy(), trouble.impossible, trouble.infinite);
    }

private:
    struct Trouble {
        int64_t impossible = -1, infinite = -1;
    };
    int n_classes_, lanes_;
    bool has_gaussian_ = false;
    std::vector<double> log_prior_, parameters_;
    std::vector<Feature> features_;

    Trouble run(const Table& table, bool coded, bool fallback, const double* terms, int n_threads,
                Scores& scores) const {
        const double* prior = fallback ? log_prior_.data() : nullptr;
        std::optional<nb::gil_scoped_release> release;
        if (table.n_rows > 64) release.emplace();
        const int64_t n_chunks = (table.n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<Trouble> troubles(n_chunks);
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            std::vector<double> acc(BLOCK_ROWS * (lanes_ + n_classes_) + n_classes_);
            const int64_t end = std::min(table.n_rows, (chunk + 1) * CHUNK_ROWS);
            for (int64_t begin = chunk * CHUNK_ROWS; begin < end; begin += BLOCK_ROWS) {
                const int64_t rows = std::min(BLOCK_ROWS, end - begin);
                if (table.row_major) prefetch_rows(table.columns[0], begin + rows, std::min(end, begin + rows + BLOCK_ROWS));
                const int64_t infinite = log_joint(table, coded, begin, rows, acc.data());
                if (infinite >= 0 && troubles[chunk].infinite < 0) troubles[chunk].infinite = infinite;
                if (terms)
                    for (int64_t i = 0; i < rows; ++i)
                        for (int k = 0; k < n_classes_; ++k)
                            acc[i * lanes_ + k] += terms[(begin + i) * n_classes_ + k];
                for (int64_t i = 0; i < rows; ++i) {
                    const bool good = scores.write(begin + i, acc.data() + i * lanes_, prior);
                    if (!good && troubles[chunk].impossible < 0) troubles[chunk].impossible = begin + i;
                }
            }
        });
        Trouble first;
        for (const Trouble& trouble : troubles) {
            if (first.impossible < 0) first.impossible = trouble.impossible;
            if (first.infinite < 0) first.infinite = trouble.infinite;
        }
        return first;
    }

    // The sums of a block of rows; returns the first row with an infinite number, or -1.
    int64_t log_joint(const Table& table, bool coded, int64_t begin, int64_t n, double* acc) const {
        TableGroup group;
        double buffer[BLOCK_ROWS];
        int64_t infinite = -1;
        double* gaussian = acc + BLOCK_ROWS * lanes_;  // [class][row], then the shift of each class
        double* shift = gaussian + BLOCK_ROWS * n_classes_;
        if (has_gaussian_) std::fill(gaussian, shift + n_classes_, 0.0);
        for (int64_t i = 0; i < n; ++i) std::memcpy(acc + i * lanes_, log_prior_.data(), lanes_ * sizeof(double));
        Strip strip;
        const double *waiting = nullptr, *waiting_rows = nullptr;  // a column that waits for another to go with
        for (size_t j = 0; j < features_.size(); ++j) {
            const Feature& feature = features_[j];
            const double* rows = parameters_.data() + feature.row * lanes_;
            if (table.row_major && j % STRIP == 0) {
                if (waiting) add_gaussian(gaussian, shift, waiting, n, waiting_rows, false, n_classes_, lanes_);
                waiting = nullptr;
                strip.fill(table, j, begin, n);
            }
            const Column column = table.row_major ? strip.column(j % STRIP, table.columns[j].type) : table.columns[j];
            const int64_t from = table.row_major ? 0 : begin;
            if (feature.family == TABLE) {
                uint32_t* level = group.level[group.size];
                if (coded) decode<true>(column, from, n, 0, feature.size, level);
                else decode<false>(column, from, n, feature.lo, feature.size, level);
                if (column.type == Type::f64 || column.type == Type::f32) {
                    read_doubles(column, from, n, buffer, 1);
                    if (infinite < 0 && !all_finite(buffer, n)) infinite = first_infinite(buffer, begin, n);
                }
                group.rows[group.size++] = rows;
                if (group.size == GROUP) {
                    add_tables(acc, group, n, lanes_);
                    group.size = 0;
                }
            } else if (feature.family != SKIP) {
                const double* x = buffer;
                if (column.type == Type::f64 && column.stride == 8) x = reinterpret_cast<const double*>(column.data) + from;
                else read_doubles(column, from, n, buffer, 1);
                const bool odd = !all_finite(x, n);
                if (odd && infinite < 0) infinite = first_infinite(x, begin, n);
                if (feature.family == GAUSSIAN && !odd && x != buffer) {
                    if (waiting)
                        add_two_gaussians(gaussian, shift, waiting, x, n, waiting_rows, rows, n_classes_, lanes_);
                    waiting_rows = rows;
                    waiting = waiting ? nullptr : x;
                } else if (feature.family == GAUSSIAN) add_gaussian(gaussian, shift, x, n, rows, odd, n_classes_, lanes_);
                else add_poisson(acc, x, n, rows, lanes_);
            }
        }
        add_tables(acc, group, n, lanes_);
        if (waiting) add_gaussian(gaussian, shift, waiting, n, waiting_rows, false, n_classes_, lanes_);
        if (has_gaussian_)
            for (int64_t i = 0; i < n; ++i)
                for (int k = 0; k < n_classes_; ++k) acc[i * lanes_ + k] += gaussian[k * BLOCK_ROWS + i] + shift[k];
        return infinite;
    }
};

}  // namespace

void bind_naive_scorer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<NaiveScorer>(m, "NaiveScorer")
        .def(nb::init<Array, Array, std::vector<int>, std::vector<int64_t>, std::vector<int64_t>>(), "log_prior"_a,
             "parameters"_a, "families"_a, "lows"_a, "sizes"_a)
        .def("score", &NaiveScorer::score, "table"_a, "coded"_a, "wanted"_a, "fallback"_a, "terms"_a.none(), "n_threads"_a);
}

}  // namespace bayeskit::score
