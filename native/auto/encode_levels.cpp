// Any column as bytes: the bin of a number, or the level of a categorical value.
#include <limits>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"

namespace bayeskit::automatic {
namespace {

constexpr uint8_t MISSING_LEVEL = 0, OTHER_LEVEL = 1;

struct Encoding {
    const double* edges;
    int64_t n_edges;
    const uint8_t* places;  // the level of each value of a categorical column
    int64_t n_places;
    bool ordered;

    uint8_t bin(double x) const {
        if (x != x) return MISSING_LEVEL;
        const double* base = edges;  // halving without a branch: the number of edges at or below x
        int64_t left = n_edges;
        while (left > 1) {
            const int64_t half = left / 2;
            base += base[half - 1] <= x ? half : 0;
            left -= half;
        }
        const int64_t bin = (base - edges) + (left == 1 && *base <= x ? 1 : 0);
        return static_cast<uint8_t>(bin + 1);
    }

    template <typename T>
    uint8_t level(T code) const {
        if (code == std::numeric_limits<T>::max()) return MISSING_LEVEL;
        return static_cast<uint64_t>(code) < static_cast<uint64_t>(n_places) ? places[code] : OTHER_LEVEL;
    }
};

// (n_features, n_rows): `edges` cut the numbers of a column that is `ordered`, `places` are the levels of the codes of another.
// Row r stands at order[r] in the columns, if there is an order.
nb::object encode_levels(nb::handle columns, std::optional<Vector<int32_t>> order, const std::vector<Vector<double>>& edges,
                         const std::vector<Vector<uint8_t>>& places, Vector<bool> ordered, int n_threads) {
    const Table table = table_of(columns);
    const int64_t d = static_cast<int64_t>(table.columns.size());
    const int64_t rows = order ? static_cast<int64_t>(order->shape(0)) : table.n_rows;
    need(static_cast<int64_t>(edges.size()) == d && static_cast<int64_t>(places.size()) == d && static_cast<int64_t>(ordered.shape(0)) == d,
         "the table has another number of columns than the levels.");
    for (int64_t r = 0; order && r < rows; ++r) need(order->data()[r] >= 0 && order->data()[r] < table.n_rows, "a row is out of range.");
    std::vector<Encoding> encodings;
    for (int64_t j = 0; j < d; ++j) {
        const bool is_number = ordered.data()[j];
        const Type type = table.columns[j].type;
        need(static_cast<int64_t>(edges[j].shape(0)) < HIDDEN, "a column has too many bins.");
        need(is_number || (type != Type::f32 && type != Type::f64), "the codes of a column are not whole numbers.");
        encodings.push_back({edges[j].data(), static_cast<int64_t>(edges[j].shape(0)), places[j].data(),
                             static_cast<int64_t>(places[j].shape(0)), is_number});
    }
    Owned<uint8_t> out({static_cast<size_t>(d), static_cast<size_t>(rows)});
    {
        nb::gil_scoped_release release;
        constexpr int64_t AT_ONCE = 1 << 14, AHEAD = 24;
        const int64_t parts = (rows + AT_ONCE - 1) / AT_ONCE;
        parallel_chunks(d * parts, n_threads, [&](int64_t chunk, int) {
            const int64_t j = chunk / parts, begin = chunk % parts * AT_ONCE, end = std::min(rows, begin + AT_ONCE);
            const Column& column = table.columns[j];
            const Encoding& encoding = encodings[j];
            const int32_t* at = order ? order->data() : nullptr;
            uint8_t* to = out.data + j * rows;
            with_type(column.type, [&](auto zero) {
                using T = decltype(zero);
                for (int64_t r = begin; r < end; ++r) {
                    // Rows of a long column lie here and there: those that come soon are asked for.
                    if (at && r + AHEAD < end) fetch_line(reinterpret_cast<uintptr_t>(column.data + at[r + AHEAD] * column.stride));
                    const T value = *reinterpret_cast<const T*>(column.data + (at ? at[r] : r) * column.stride);
                    if constexpr (std::is_floating_point_v<T>) to[r] = encoding.bin(static_cast<double>(value));
                    else to[r] = encoding.ordered ? encoding.bin(static_cast<double>(value)) : encoding.level(value);
                }
            });
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_encode_levels(nb::module_& m) {
    using namespace nb::literals;
    m.def("encode_levels", &encode_levels, "columns"_a, "order"_a.none(), "edges"_a, "places"_a, "ordered"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
