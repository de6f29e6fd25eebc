// Equal rows become one row with the sum of their weights, in an order that does not depend on how the rows came. So a
// row of weight 2 is the same as the row twice, and shuffled rows give the same model, though the model draws at random.
#include <cstring>
#include <numeric>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "base/codes.hpp"
#include "base/random.hpp"

namespace bayeskit::automatic {
namespace {

uint64_t bits_of(double value) {
    if (value != value) return 0x7ff8000000000000ull;  // one NaN for all
    if (value == 0.0) return 0;                        // and one zero
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool same_row(const Table& table, const uint32_t* y, int64_t a, int64_t b) {
    if (y[a] != y[b]) return false;
    for (const Column& column : table.columns) {
        double pair[2];
        read_doubles(column, a, 1, pair, 1);
        read_doubles(column, b, 1, pair + 1, 1);
        if (bits_of(pair[0]) != bits_of(pair[1])) return false;
    }
    return true;
}

// The first row of each group, the sum of its weights, and the group of each row.
nb::tuple group_rows(nb::handle columns, Vector<uint32_t> y, Vector<double> weight, int n_threads) {
    const Table table = table_of(columns);
    const int64_t n = table.n_rows;
    need(static_cast<int64_t>(y.shape(0)) == n && static_cast<int64_t>(weight.shape(0)) == n, "y, weights and the table differ in length.");
    std::vector<uint64_t> hash(n);
    std::vector<int64_t> order(n), first;
    std::vector<double> total;
    Owned<int64_t> place_of({static_cast<size_t>(n)});
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks_of(n), n_threads, [&](int64_t chunk, int) {
            double values[ROWS_AT_ONCE];
            const int64_t begin = chunk * ROWS_AT_ONCE, rows = std::min(ROWS_AT_ONCE, n - begin);
            uint64_t* own = hash.data() + begin;
            for (int64_t r = 0; r < rows; ++r) own[r] = mix64(y.data()[begin + r] + 1);
            for (const Column& column : table.columns) {
                read_doubles(column, begin, rows, values, 1);
                for (int64_t r = 0; r < rows; ++r) own[r] = mix64(own[r] + (bits_of(values[r]) ^ 0x9e3779b97f4a7c15ull));
            }
        });
        std::iota(order.begin(), order.end(), int64_t{0});
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return hash[a] != hash[b] ? hash[a] < hash[b] : a < b; });
        for (int64_t place = 0; place < n;) {
            int64_t end = place;
            while (end < n && hash[order[end]] == hash[order[place]]) ++end;
            // Different rows of one hash are next to impossible, and then stay apart.
            const size_t mark = first.size();
            for (; place < end; ++place) {
                size_t group = mark;
                while (group < first.size() && !same_row(table, y.data(), first[group], order[place])) ++group;
                if (group == first.size()) {
                    first.push_back(order[place]);
                    total.push_back(0.0);
                }
                total[group] += weight.data()[order[place]];
                place_of.data[order[place]] = static_cast<int64_t>(group);
            }
        }
    }
    Owned<int64_t> rows({first.size()});
    Owned<double> weights({first.size()});
    std::copy(first.begin(), first.end(), rows.data);
    std::copy(total.begin(), total.end(), weights.data);
    return nb::make_tuple(rows.to_numpy(), weights.to_numpy(), place_of.to_numpy());
}

}  // namespace

void bind_group_rows(nb::module_& m) {
    using namespace nb::literals;
    m.def("group_rows", &group_rows, "columns"_a, "y"_a, "weight"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
