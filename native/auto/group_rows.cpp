// Equal rows become one row with the sum of their weights, in an order that does not depend on how the rows came. So a
// row of weight 2 is the same as the row twice, and shuffled rows give the same model, though the model draws at random.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>

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

// A row as eight bytes, since a table may have few columns and very many rows: a mark where it is the first of its group,
// the first 31 bits of its hash, and its number. Sorted, rows of one hash follow each other.
using Place = uint64_t;
constexpr Place FIRST = Place{1} << 63, ROW = 0x7fffffffull;

int32_t row_of(Place place) { return static_cast<int32_t>(place & ROW); }

// The rows of a table with their classes.
struct Rows {
    const Table& table;
    const uint32_t* y;

    bool same(int64_t a, int64_t b) const {
        if (y[a] != y[b]) return false;
        for (const Column& column : table.columns) {
            double pair[2];
            read_doubles(column, a, 1, pair, 1);
            read_doubles(column, b, 1, pair + 1, 1);
            if (bits_of(pair[0]) != bits_of(pair[1])) return false;
        }
        return true;
    }

    // Column by column, since a row may have very many copies.
    bool all_same(const Place* begin, const Place* end) const {
        if (end - begin == 1) return true;
        if (!std::all_of(begin, end, [&](Place place) { return y[row_of(place)] == y[row_of(*begin)]; })) return false;
        return std::all_of(table.columns.begin(), table.columns.end(), [&](const Column& column) {
            bool same = true;
            with_type(column.type, [&](auto zero) {
                auto bits = [&](Place place) {
                    return bits_of(static_cast<double>(*reinterpret_cast<const decltype(zero)*>(column.data + row_of(place) * column.stride)));
                };
                same = std::all_of(begin, end, [&, first = bits(*begin)](Place place) { return bits(place) == first; });
            });
            return same;
        });
    }

    // The hashes of the rows begin .. begin + rows - 1, of which there are at most ROWS_AT_ONCE
    void hash(int64_t begin, int64_t rows, uint64_t* out) const {
        double values[ROWS_AT_ONCE];
        for (int64_t r = 0; r < rows; ++r) out[r] = mix64(y[begin + r] + 1);
        for (const Column& column : table.columns) {
            read_doubles(column, begin, rows, values, 1);
            for (int64_t r = 0; r < rows; ++r) out[r] = mix64(out[r] + (bits_of(values[r]) ^ 0x9e3779b97f4a7c15ull));
        }
    }
};

// Parts of the rows that are sorted on their own: those whose hashes begin with the same six bits.
constexpr int64_t PARTS = 64;
int64_t part_of(Place place) { return static_cast<int64_t>(place >> 57 & (PARTS - 1)); }

// Puts rows whose hashes begin alike in the order of their whole hashes, equal rows side by side, and marks the first of each group.
void group(const Rows& rows, Place* begin, Place* end) {
    *begin |= FIRST;
    if (rows.all_same(begin, end)) return;
    std::vector<std::pair<uint64_t, Place>> known;
    for (const Place* place = begin; place < end; ++place) {
        uint64_t whole;
        rows.hash(row_of(*place), 1, &whole);
        known.emplace_back(whole, *place & ROW);
    }
    std::sort(known.begin(), known.end());
    for (Place* to = begin; to < end; ++to) *to = known[to - begin].second;
    for (Place* first = begin; first < end;) {
        const int32_t row = row_of(*first);
        *first |= FIRST;
        first = std::stable_partition(first + 1, end, [&](Place place) { return rows.same(row, row_of(place)); });
    }
}

// Moves the rows of each part together, and returns where the parts begin.
std::vector<int64_t> by_parts(std::vector<Place>& places) {
    std::vector<int64_t> part_at(PARTS + 1, 0);
    for (const Place place : places) ++part_at[part_of(place) + 1];
    for (int64_t part = 0; part < PARTS; ++part) part_at[part + 1] += part_at[part];
    std::vector<int64_t> next(part_at.begin(), part_at.end() - 1);
    std::vector<Place> moved(places.size());
    for (const Place place : places) moved[next[part_of(place)]++] = place;
    places.swap(moved);
    return part_at;
}

// The first row of each group, the sum of its weights (a row weighs 1 where there are none), and the group of each row if it is wanted.
nb::tuple group_rows(nb::handle columns, Vector<uint32_t> y, std::optional<Vector<double>> weight, bool with_groups, int n_threads) {
    const Table table = table_of(columns);
    const int64_t n = table.n_rows;
    need(static_cast<int64_t>(y.shape(0)) == n && (!weight || static_cast<int64_t>(weight->shape(0)) == n), "y, weights and the table differ in length.");
    need(n <= static_cast<int64_t>(ROW), "there are more rows than can be numbered.");
    const Rows rows{table, y.data()};
    std::vector<Place> places(n);
    size_t n_groups = 0;
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks_of(n), n_threads, [&](int64_t chunk, int) {
            uint64_t hash[ROWS_AT_ONCE];
            const int64_t begin = chunk * ROWS_AT_ONCE, size = std::min(ROWS_AT_ONCE, n - begin);
            rows.hash(begin, size, hash);
            for (int64_t r = 0; r < size; ++r) places[begin + r] = (hash[r] >> 33 << 32) | static_cast<Place>(begin + r);
        });
        const std::vector<int64_t> part_at = by_parts(places);
        parallel_chunks(PARTS, n_threads, [&](int64_t part, int) {
            Place *begin = places.data() + part_at[part], *last = places.data() + part_at[part + 1];
            std::sort(begin, last);
            while (begin < last) {
                Place* end = begin + 1;
                while (end < last && *end >> 32 == *begin >> 32) ++end;
                group(rows, begin, end);
                begin = end;
            }
        });
        for (const Place place : places) n_groups += place >> 63;
    }
    Owned<int32_t> first({n_groups});
    Owned<int64_t> group_of({with_groups ? static_cast<size_t>(n) : 0});
    Owned<double> total({n_groups});
    int64_t last = -1;
    for (const Place place : places) {
        if (place & FIRST) {
            first.data[++last] = row_of(place);
            total.data[last] = 0.0;
        }
        total.data[last] += weight ? weight->data()[row_of(place)] : 1.0;
        if (with_groups) group_of.data[row_of(place)] = last;
    }
    return nb::make_tuple(first.to_numpy(), total.to_numpy(), group_of.to_numpy());
}

}  // namespace

void bind_group_rows(nb::module_& m) {
    using namespace nb::literals;
    m.def("group_rows", &group_rows, "columns"_a, "y"_a, "weight"_a.none(), "with_groups"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
