// Any column as bytes: the bin of a number, or the level of a categorical value.
#include <atomic>
#include <cmath>
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

// How the columns of a table become levels: `edges` cut the numbers of a column that is `ordered`, `places` are the levels of
// the codes of another.
class LevelEncoder {
public:
    LevelEncoder(const std::vector<Vector<double>>& edges, const std::vector<Vector<uint8_t>>& places, Vector<bool> ordered) {
        const size_t d = ordered.shape(0);
        need(edges.size() == d && places.size() == d, "the parts of the levels differ in length.");
        for (size_t j = 0; j < d; ++j) {
            need(static_cast<int64_t>(edges[j].shape(0)) < HIDDEN, "a column has too many bins.");
            edges_.push_back(copy_of(edges[j]));
            places_.push_back(copy_of(places[j]));
        }
        for (size_t j = 0; j < d; ++j)
            encodings_.push_back({edges_[j].data(), static_cast<int64_t>(edges_[j].size()), places_[j].data(),
                                  static_cast<int64_t>(places_[j].size()), ordered.data()[j]});
    }

    // (n_features, n_rows), where row r stands at order[r] in the columns, if there is an order; and whether a number is infinite
    nb::tuple encode(nb::handle columns, std::optional<Vector<int32_t>> order, int n_threads) const {
        const Table table = table_of(columns);
        const int64_t d = static_cast<int64_t>(table.columns.size());
        const int64_t rows = order ? static_cast<int64_t>(order->shape(0)) : table.n_rows;
        need(static_cast<int64_t>(encodings_.size()) == d, "the table has another number of columns than the levels.");
        for (int64_t r = 0; order && r < rows; ++r) need(order->data()[r] >= 0 && order->data()[r] < table.n_rows, "a row is out of range.");
        for (int64_t j = 0; j < d; ++j) {
            const Type type = table.columns[j].type;
            need(encodings_[j].ordered || (type != Type::f32 && type != Type::f64), "the codes of a column are not whole numbers.");
        }
        Owned<uint8_t> out({static_cast<size_t>(d), static_cast<size_t>(rows)});
        std::atomic<bool> infinite{false};
        {
            nb::gil_scoped_release release;
            constexpr int64_t AT_ONCE = 1 << 14;
            const int64_t parts = (rows + AT_ONCE - 1) / AT_ONCE;
            parallel_chunks(d * parts, n_threads, [&](int64_t chunk, int) {
                const int64_t j = chunk / parts, begin = chunk % parts * AT_ONCE, end = std::min(rows, begin + AT_ONCE);
                if (encode_part(table.columns[j], encodings_[j], order ? order->data() : nullptr, begin, end, out.data + j * rows)) infinite = true;
            });
        }
        return nb::make_tuple(out.to_numpy(), infinite.load());
    }

private:
    std::vector<std::vector<double>> edges_;
    std::vector<std::vector<uint8_t>> places_;
    std::vector<Encoding> encodings_;

    // Some rows of one column; whether one of its numbers is infinite.
    static bool encode_part(const Column& column, const Encoding& encoding, const int32_t* at, int64_t begin, int64_t end, uint8_t* to) {
        constexpr int64_t AHEAD = 24;
        bool infinite = false;
        with_type(column.type, [&](auto zero) {
            using T = decltype(zero);
            for (int64_t r = begin; r < end; ++r) {
                // Rows of a long column lie here and there: those that come soon are asked for.
                if (at && r + AHEAD < end) fetch_line(reinterpret_cast<uintptr_t>(column.data + at[r + AHEAD] * column.stride));
                const T value = *reinterpret_cast<const T*>(column.data + (at ? at[r] : r) * column.stride);
                if constexpr (std::is_floating_point_v<T>) {
                    to[r] = encoding.bin(static_cast<double>(value));
                    infinite |= std::isinf(value);
                } else {
                    to[r] = encoding.ordered ? encoding.bin(static_cast<double>(value)) : encoding.level(value);
                }
            }
        });
        return infinite;
    }
};

}  // namespace

void bind_encode_levels(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<LevelEncoder>(m, "LevelEncoder")
        .def(nb::init<const std::vector<Vector<double>>&, const std::vector<Vector<uint8_t>>&, Vector<bool>>(), "edges"_a, "places"_a, "ordered"_a)
        .def("encode", &LevelEncoder::encode, "columns"_a, "order"_a.none(), "n_threads"_a);
}

}  // namespace bayeskit::automatic
