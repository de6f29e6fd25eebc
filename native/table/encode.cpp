// Numbers to codes: which whole numbers a column holds, and its cells as positions in a list of levels.
#include <algorithm>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::table {
namespace {

// A column whose numbers span no more than this is looked up in a table; a wider one is sorted (in Python).
constexpr int64_t WIDEST_SPAN = 1 << 22;

struct Span {
    int64_t lo = 0, hi = -1;  // of the cells that hold a value; empty when lo > hi
    bool whole = true;        // every value is a whole number that fits
};

template <typename T>
Span span_of(const Column& column, int64_t n) {
    Span span;
    bool any = false;
    T lo{}, hi{};
    for (int64_t i = 0; i < n; ++i) {
        const T value = *reinterpret_cast<const T*>(column.data + i * column.stride);
        if constexpr (std::is_floating_point_v<T>) {
            if (value != value) continue;
            if (!(value >= T(-9e15) && value <= T(9e15)) || std::floor(value) != value) {
                span.whole = false;
                return span;
            }
        }
        lo = any ? std::min(lo, value) : value;
        hi = any ? std::max(hi, value) : value;
        any = true;
    }
    if (!any) return span;
    if constexpr (std::is_same_v<T, uint64_t>) {
        if (hi > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
            span.whole = false;
            return span;
        }
    }
    span.lo = static_cast<int64_t>(lo);
    span.hi = static_cast<int64_t>(hi);
    return span;
}

// int64 levels in rising order, or None when the column holds fractions or spans too much.
nb::object whole_levels(Array array) {
    const Column column = column_of(array);
    const int64_t n = static_cast<int64_t>(array.shape(0));
    std::vector<int64_t> levels;
    bool usable = true;
    {
        nb::gil_scoped_release release;
        with_type(column.type, [&](auto zero) {
            using T = decltype(zero);
            const Span span = span_of<T>(column, n);
            const uint64_t width = static_cast<uint64_t>(span.hi) - static_cast<uint64_t>(span.lo);
            usable = span.whole && (span.lo > span.hi || width < static_cast<uint64_t>(WIDEST_SPAN));
            if (!usable || span.lo > span.hi) return;
            std::vector<uint8_t> present(width + 1, 0);
            for (int64_t i = 0; i < n; ++i) {
                const T value = *reinterpret_cast<const T*>(column.data + i * column.stride);
                if constexpr (std::is_floating_point_v<T>)
                    if (value != value) continue;
                present[static_cast<int64_t>(value) - span.lo] = 1;
            }
            for (uint64_t v = 0; v <= width; ++v)
                if (present[v]) levels.push_back(span.lo + static_cast<int64_t>(v));
        });
    }
    if (!usable) return nb::none();
    Owned<int64_t> out({levels.size()});
    std::copy(levels.begin(), levels.end(), out.data);
    return out.to_numpy();
}

template <typename Code>
nb::object recode_as(const Column& column, int64_t n, int64_t lo, const Array& lookup, bool coded) {
    const uint32_t size = static_cast<uint32_t>(lookup.shape(0));
    std::vector<Code> table(size + 2);  // then unseen, then missing
    const Column source = column_of(lookup);
    for (uint32_t v = 0; v < size; ++v) {
        const int64_t level = *reinterpret_cast<const int64_t*>(source.data + v * source.stride);
        table[v] = level == -1 ? UNSEEN<Code> : level == -2 ? MISSING<Code> : static_cast<Code>(level);
    }
    table[size] = UNSEEN<Code>;
    table[size + 1] = MISSING<Code>;
    Owned<Code> out({static_cast<size_t>(n)});
    {
        nb::gil_scoped_release release;
        constexpr int64_t BLOCK = 512;
        uint32_t levels[BLOCK];
        for (int64_t begin = 0; begin < n; begin += BLOCK) {
            const int64_t rows = std::min(BLOCK, n - begin);
            if (coded) decode<true>(column, begin, rows, lo, size, levels);
            else decode<false>(column, begin, rows, lo, size, levels);
            for (int64_t i = 0; i < rows; ++i) out.data[begin + i] = table[levels[i]];
        }
    }
    return out.to_numpy();
}

// codes[i] = lookup[column[i] - lo], where the lookup's -1 means unseen and -2 missing; a cell outside it is unseen.
nb::object recode(Array array, int64_t lo, Array lookup, int code_bytes, bool coded) {
    if (lookup.ndim() != 1 || type_of(lookup) != Type::i64) throw std::invalid_argument("the lookup must be int64.");
    const Column column = column_of(array);
    const int64_t n = static_cast<int64_t>(array.shape(0));
    switch (code_bytes) {
        case 1: return recode_as<uint8_t>(column, n, lo, lookup, coded);
        case 2: return recode_as<uint16_t>(column, n, lo, lookup, coded);
        case 4: return recode_as<uint32_t>(column, n, lo, lookup, coded);
    }
    throw std::invalid_argument("codes have 1, 2 or 4 bytes.");
}

// bin[i] = how many edges are at or below x[i]; no edge is below NaN. Each step halves what is left for a whole block: one
// row's search waits for memory at every step, the searches of many rows do not wait for each other.
void count_edges_below(const double* x, int64_t n, const std::vector<double>& edges, uint32_t* bin) {
    std::fill(bin, bin + n, 0);
    for (uint32_t left = static_cast<uint32_t>(edges.size()); left;) {
        const uint32_t half = (left + 1) / 2;
        const double* middle = edges.data() + half - 1;
        for (int64_t i = 0; i < n; ++i) bin[i] += half & (0u - static_cast<uint32_t>(middle[bin[i]] <= x[i]));
        left -= half;
    }
}

template <typename Code>
nb::object digitise_as(const Column& column, int64_t n, const std::vector<double>& edges) {
    Owned<Code> out({static_cast<size_t>(n)});
    {
        nb::gil_scoped_release release;
        constexpr int64_t BLOCK = 512;
        double block[BLOCK];
        uint32_t bin[BLOCK];
        for (int64_t begin = 0; begin < n; begin += BLOCK) {
            const int64_t rows = std::min(BLOCK, n - begin);
            read_doubles(column, begin, rows, block, 1);
            count_edges_below(block, rows, edges, bin);
            for (int64_t i = 0; i < rows; ++i)
                out.data[begin + i] = block[i] == block[i] ? static_cast<Code>(bin[i]) : MISSING<Code>;
        }
    }
    return out.to_numpy();
}

// Bin b holds edges[b - 1] <= x < edges[b]: a number is in the bin whose lower edge it has reached.
nb::object digitise(Array array, Array edges, int code_bytes) {
    const Column column = column_of(array), source = column_of(edges);
    std::vector<double> inner(edges.shape(0));
    read_doubles(source, 0, static_cast<int64_t>(inner.size()), inner.data(), 1);
    const int64_t n = static_cast<int64_t>(array.shape(0));
    switch (code_bytes) {
        case 1: return digitise_as<uint8_t>(column, n, inner);
        case 2: return digitise_as<uint16_t>(column, n, inner);
        case 4: return digitise_as<uint32_t>(column, n, inner);
    }
    throw std::invalid_argument("codes have 1, 2 or 4 bytes.");
}

}  // namespace

void bind_encode(nb::module_& m) {
    using namespace nb::literals;
    m.def("whole_levels", &whole_levels, "column"_a);
    m.def("recode", &recode, "column"_a, "lo"_a, "lookup"_a, "code_bytes"_a, "coded"_a);
    m.def("digitise", &digitise, "column"_a, "edges"_a, "code_bytes"_a);
}

}  // namespace bayeskit::table
