// Sum over families of log P(y_i | parents): the log-probability of each complete row under a network.
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::score {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 13;
constexpr int64_t BLOCK_ROWS = 256;

struct Family {
    std::vector<int64_t> parents;
    int64_t table;  // its first number in the flat tables
};

// total[r] += log_table[row-major place of the parents' and the child's states]
BAYESKIT_SIMD void add_family(const Family& family, int64_t child, const std::vector<uint32_t>& cards,
                              const double* log_tables, const uint32_t* levels, int64_t n, double* total) {
    int64_t place[BLOCK_ROWS];
    const uint32_t* child_level = levels + child * BLOCK_ROWS;
    for (int64_t r = 0; r < n; ++r) place[r] = 0;
    for (int64_t p : family.parents) {
        const uint32_t* above = levels + p * BLOCK_ROWS;
        const int64_t card = cards[p];
        for (int64_t r = 0; r < n; ++r) place[r] = place[r] * card + above[r];
    }
    const int64_t card = cards[child];
    const double* table = log_tables + family.table;
    for (int64_t r = 0; r < n; ++r) total[r] += table[place[r] * card + child_level[r]];
}

// Returns the log-probabilities, and the first row that has a missing or unseen cell with its column, or -1 and -1.
nb::tuple log_probability(nb::handle source, std::vector<uint32_t> cards, std::vector<std::vector<int64_t>> parents,
                          Array log_tables, int n_threads) {
    const Table table = table_of(source);
    const int64_t n_columns = static_cast<int64_t>(table.columns.size());
    if (static_cast<size_t>(n_columns) != cards.size() || cards.size() != parents.size())
        throw std::invalid_argument("one column, one number of states and one list of parents a variable.");
    if (log_tables.ndim() != 1 || type_of(log_tables) != Type::f64 || log_tables.stride(0) != 1)
        throw std::invalid_argument("tables come as one flat run of float64.");
    std::vector<Family> families;
    int64_t first = 0;
    for (size_t i = 0; i < cards.size(); ++i) {
        int64_t size = cards[i];
        for (int64_t p : parents[i]) {
            if (p < 0 || p >= n_columns) throw std::invalid_argument("a parent is out of range.");
            size *= cards[p];
        }
        families.push_back({parents[i], first});
        first += size;
    }
    if (static_cast<int64_t>(log_tables.shape(0)) != first) throw std::invalid_argument("the tables' sizes do not fit.");

    const int64_t n_rows = table.n_rows, n_chunks = (n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    const double* numbers = static_cast<const double*>(log_tables.data());
    Owned<double> total({static_cast<size_t>(n_rows)}, true);
    std::vector<int64_t> bad_row(n_chunks, -1), bad_column(n_chunks, -1);
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            std::vector<uint32_t> levels(n_columns * BLOCK_ROWS);
            const int64_t end = std::min(n_rows, (chunk + 1) * CHUNK_ROWS);
            for (int64_t begin = chunk * CHUNK_ROWS; begin < end && bad_row[chunk] < 0; begin += BLOCK_ROWS) {
                const int64_t n = std::min(BLOCK_ROWS, end - begin);
                int64_t bad = n;
                for (int64_t j = 0; j < n_columns; ++j) {
                    uint32_t* column_levels = levels.data() + j * BLOCK_ROWS;
                    decode<true>(table.columns[j], begin, n, 0, cards[j], column_levels);
                    uint32_t largest = 0;
                    for (int64_t r = 0; r < n; ++r) largest = std::max(largest, column_levels[r]);
                    if (largest >= cards[j])
                        for (int64_t r = 0; r < bad; ++r)
                            if (column_levels[r] >= cards[j]) {
                                bad = r;
                                bad_row[chunk] = begin + r;
                                bad_column[chunk] = j;
                            }
                }
                if (bad < n) break;
                for (int64_t j = 0; j < n_columns; ++j)
                    add_family(families[j], j, cards, numbers, levels.data(), n, total.data + begin);
            }
        });
    }
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk)
        if (bad_row[chunk] >= 0) return nb::make_tuple(total.to_numpy(), bad_row[chunk], bad_column[chunk]);
    return nb::make_tuple(total.to_numpy(), -1, -1);
}

}  // namespace

void bind_log_probability(nb::module_& m) {
    using namespace nb::literals;
    m.def("log_probability", &log_probability, "columns"_a, "cards"_a, "parents"_a, "log_tables"_a, "n_threads"_a);
}

}  // namespace bayeskit::score
