// Rows on the scale of the Gaussians: numbers that are standardised or put on a curve, then indicators of levels.
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"

namespace bayeskit::automatic {
namespace {

constexpr double FARTHEST = 8.0;  // standard deviations

// The piecewise linear curve through (x, z), level outside of it.
double on_curve(const double* x, const double* z, int64_t n, double value) {
    if (!(value > x[0])) return z[0];
    if (value >= x[n - 1]) return z[n - 1];
    const double* base = x;  // x[base] <= value < x[base + length], without a branch to guess
    for (int64_t length = n; length > 1;) {
        const int64_t half = length / 2;
        base += base[half] <= value ? half : 0;
        length -= half;
    }
    const int64_t at = base - x;
    const double gap = x[at + 1] - x[at], slope = (z[at + 1] - z[at]) / gap;
    if (std::isfinite(gap) && std::isfinite(slope)) return slope * (value - x[at]) + z[at];
    // Numbers near the ends of what a double holds.
    const double share = std::isfinite(gap) ? (value - x[at]) / gap : (value / 2 - x[at] / 2) / (x[at + 1] / 2 - x[at] / 2);
    return share * (z[at + 1] - z[at]) + z[at];
}

// How each feature is scaled; the numbers come first.
struct Scales {
    Vector<double> median, unit, center, scale, curve_x, curve_z;
    Vector<int64_t> curve_at;

    double number(int64_t k, double value) const {
        if (value != value) value = median.data()[k];
        if (curve_x.shape(0)) {
            const int64_t begin = curve_at.data()[k];
            return on_curve(curve_x.data() + begin, curve_z.data() + begin, curve_at.data()[k + 1] - begin, value);
        }
        // A number far beyond those that the scale came from is cut off.
        return std::clamp((value / unit.data()[k] - center.data()[k]) / scale.data()[k], -FARTHEST, FARTHEST);
    }
};

// (last - first, p): `numbers` are the columns of the first features, whose row r is at `order[r]`, and `codes`
// (n_features, n_rows) the levels, of which the other features indicate `level`.
nb::object gaussian_rows(nb::handle numbers, std::optional<Vector<int32_t>> order, Matrix<uint8_t> codes, int64_t first, int64_t last,
                         Vector<int64_t> features, Vector<int64_t> level, Vector<double> median, Vector<double> unit, Vector<double> center,
                         Vector<double> scale, Vector<double> curve_x, Vector<double> curve_z, Vector<int64_t> curve_at, int n_threads) {
    const Table table = table_of(numbers);
    const int64_t p = static_cast<int64_t>(features.shape(0)), n = static_cast<int64_t>(table.columns.size());
    const int64_t rows = static_cast<int64_t>(codes.shape(1));
    need(n <= p && static_cast<int64_t>(curve_at.shape(0)) == n + 1 && level.shape(0) == features.shape(0) && median.shape(0) == features.shape(0) &&
             unit.shape(0) == features.shape(0) && center.shape(0) == features.shape(0) && scale.shape(0) == features.shape(0) &&
             curve_x.shape(0) == curve_z.shape(0),
         "the parts of the Gaussians do not fit together.");
    need(first >= 0 && first <= last && last <= rows, "rows are out of range.");
    need(!order || static_cast<int64_t>(order->shape(0)) == rows, "the order and the codes differ in length.");
    for (int64_t r = first; n && r < last; ++r) {
        const int64_t at = order ? order->data()[r] : r;
        need(at >= 0 && at < table.n_rows, "a row is out of range.");
    }
    for (int64_t k = 0; k < n && curve_x.shape(0); ++k)
        need(curve_at.data()[k] >= 0 && curve_at.data()[k] < curve_at.data()[k + 1] && curve_at.data()[k + 1] <= static_cast<int64_t>(curve_x.shape(0)),
             "a curve has no points.");
    for (int64_t k = n; k < p; ++k)
        need(features.data()[k] >= 0 && features.data()[k] < static_cast<int64_t>(codes.shape(0)), "a column is out of range.");
    const Scales scales{median, unit, center, scale, curve_x, curve_z, curve_at};
    Owned<double> out({static_cast<size_t>(last - first), static_cast<size_t>(p)});
    {
        nb::gil_scoped_release release;
        // A column at a time for so many rows, and rows that come soon are asked for: they lie here and there in a long column.
        constexpr int64_t AT_ONCE = 2048, AHEAD = 24;
        parallel_chunks((last - first + AT_ONCE - 1) / AT_ONCE, n_threads, [&](int64_t chunk, int) {
            const int64_t begin = first + chunk * AT_ONCE, end = std::min(last, begin + AT_ONCE);
            double* to = out.data + (begin - first) * p;
            for (int64_t k = 0; k < n; ++k)
                with_type(table.columns[k].type, [&](auto zero) {
                    using T = decltype(zero);
                    const Column& column = table.columns[k];
                    for (int64_t r = begin; r < end; ++r) {
                        const int64_t at = order ? order->data()[r] : r;
                        if (order && r + AHEAD < end)
                            fetch_line(reinterpret_cast<uintptr_t>(column.data + order->data()[r + AHEAD] * column.stride));
                        const T value = *reinterpret_cast<const T*>(column.data + at * column.stride);
                        to[(r - begin) * p + k] = scales.number(k, static_cast<double>(value));
                    }
                });
            for (int64_t k = n; k < p; ++k) {
                const uint8_t* levels = codes.data() + features.data()[k] * rows;
                const uint8_t on_level = static_cast<uint8_t>(level.data()[k]);
                const double off = -center.data()[k] / scale.data()[k], on = (1.0 - center.data()[k]) / scale.data()[k];
                for (int64_t r = begin; r < end; ++r) to[(r - begin) * p + k] = levels[r] == on_level ? on : off;
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_gaussian_rows(nb::module_& m) {
    using namespace nb::literals;
    m.def("gaussian_rows", &gaussian_rows, "numbers"_a, "order"_a.none(), "codes"_a, "first"_a, "last"_a, "features"_a, "level"_a, "median"_a,
          "unit"_a, "center"_a, "scale"_a, "curve_x"_a, "curve_z"_a, "curve_at"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
