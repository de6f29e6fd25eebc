// Value counts per class: n[v, c] = how many rows of class c have value v, feature by feature.
#include <algorithm>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::counts {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 16;
constexpr int BYTE = 256;

// One row-major block of small whole numbers, counted in a single reading. The table of a class has one line for each
// of the 256 values and a cell in it for each feature: values in use lie side by side, and so stay in the cache; a line
// is a power of two long, so that a shift finds it. `seen` gathers the bits of all values and tells afterwards whether
// every one was in 0 .. 255.
template <typename T, typename Count>
BAYESKIT_INLINE uint64_t count_rows(const char* data, int64_t stride, int64_t d, int shift, const uint32_t* y,
                                    const double* w, int64_t n, Count* table) {
    uint64_t seen = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T* row = reinterpret_cast<const T*>(data + i * stride);
        Count* cells = table + (static_cast<int64_t>(y[i]) << (shift + 8));
        const Count one = w ? static_cast<Count>(w[i]) : Count{1};
        int64_t j = 0;
        if constexpr (sizeof(T) == 1) {
            // Eight cells come with one load, and eight adds are under way at once.
            for (; j + 8 <= d; j += 8) {
                uint64_t eight;
                std::memcpy(&eight, row + j, 8);
                if constexpr (std::is_signed_v<T>) seen |= (eight & 0x8080808080808080ull) ? ~0ull : 0;
                for (int k = 0; k < 8; ++k) cells[((eight >> (8 * k) & 255) << shift) + j + k] += one;
            }
        }
        for (; j < d; ++j) {
            const T value = row[j];
            if constexpr (sizeof(T) > 1 || std::is_signed_v<T>) seen |= static_cast<uint64_t>(value);
            cells[(static_cast<int64_t>(static_cast<uint8_t>(value)) << shift) + j] += one;
        }
    }
    return seen;
}

template <typename Count, typename Out>
uint64_t count_bytes_in(const Table& table, const Classes& y, const double* w, int64_t n_classes,
                        int n_threads, Out* out) {
    const int64_t d = static_cast<int64_t>(table.columns.size()), n = table.n_rows;
    // Sums of weights are added chunk by chunk, in order, so that the number of threads does not show in the last bit;
    // few chunks keep the tables few.
    const bool ordered = std::is_floating_point_v<Count>;
    const int64_t chunk_rows = ordered ? std::max<int64_t>(CHUNK_ROWS, (n + 7) / 8) : CHUNK_ROWS;
    const int64_t n_chunks = (n + chunk_rows - 1) / chunk_rows;
    int shift = 0;
    while ((int64_t{1} << shift) < d) ++shift;
    const int64_t cells = (n_classes * BYTE) << shift;
    const int64_t n_tables = ordered ? n_chunks : threads_used(n_chunks, n_threads);
    std::vector<Count> tables(n_tables * cells);
    std::vector<uint64_t> seen(n_tables, 0);
    parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int thread) {
        const int64_t slot = ordered ? chunk : thread;
        const int64_t begin = chunk * chunk_rows, rows = std::min(n - begin, chunk_rows);
        const Column& first = table.columns[0];
        std::vector<uint32_t> codes(rows);
        y.read(begin, begin + rows, codes.data());
        with_type(first.type, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (!std::is_floating_point_v<T>)
                seen[slot] |= count_rows<T, Count>(first.data + begin * first.stride, first.stride, d, shift, codes.data(),
                                                  w ? w + begin : nullptr, rows, tables.data() + slot * cells);
        });
    });
    for (int64_t t = 0; t < n_tables; ++t)
        for (int64_t c = 0; c < n_classes; ++c)
            for (int64_t v = 0; v < BYTE; ++v)
                for (int64_t j = 0; j < d; ++j)
                    out[(j * BYTE + v) * n_classes + c] += static_cast<Out>(tables[t * cells + ((c * BYTE + v) << shift) + j]);
    uint64_t all = 0;
    for (uint64_t bits : seen) all |= bits;
    return all;
}

// One column of codes below 255 and one-byte classes, side by side in memory. Neighbouring rows often hit the same cell,
// and an add must wait for the one before it; four tables in turn spare most of the wait. Wider codes, as those of Arrow's
// dictionaries, are narrowed on the way: whatever is no value of the column lands in the cell of 255, which nobody reads.
template <typename T>
void count_small_codes(const T* values, const uint8_t* y, int64_t n, int64_t n_classes, uint32_t size, int64_t* out) {
    const auto cell_of = [](uint8_t c, T v) { return static_cast<uint16_t>(c << 8 | std::min<uint32_t>(v, BYTE - 1)); };
    const int64_t cells = n_classes * BYTE;
    std::vector<uint32_t> tables(4 * cells);
    uint32_t* table = tables.data();
    constexpr int BLOCK = 64;
    uint16_t cell[BLOCK];
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        for (int k = 0; k < BLOCK; ++k) cell[k] = cell_of(y[i + k], values[i + k]);
        for (int k = 0; k < BLOCK; k += 4) {
            ++table[cell[k]];
            ++table[cells + cell[k + 1]];
            ++table[2 * cells + cell[k + 2]];
            ++table[3 * cells + cell[k + 3]];
        }
    }
    for (; i < n; ++i) ++table[cell_of(y[i], values[i])];
    for (uint32_t v = 0; v < size; ++v)
        for (int64_t c = 0; c < n_classes; ++c)
            for (int lane = 0; lane < 4; ++lane) out[v * n_classes + c] += table[lane * cells + c * BYTE + v];
}

// One column of codes of any width.
template <typename T, typename Count>
void count_column(const Column& column, const Classes& y, const double* w, int64_t n_classes, uint32_t size, Count* out) {
    y.blocks([&](int64_t begin, const uint32_t* codes, int64_t rows) {
        const char* cell = column.data + begin * column.stride;
        for (int64_t i = 0; i < rows; ++i, cell += column.stride) {
            const uint32_t v = *reinterpret_cast<const T*>(cell);
            if (v < size) out[static_cast<int64_t>(v) * n_classes + codes[i]] += w ? static_cast<Count>(w[begin + i]) : Count{1};
        }
    });
}

const double* weight_data(const std::optional<Array>& weight, int64_t n_rows) {
    if (!weight) return nullptr;
    const Column column = column_of(*weight);
    const bool contiguous = column.stride == 8 || n_rows <= 1;  // the stride of one row or none has no meaning
    if (column.type != Type::f64 || !contiguous || static_cast<int64_t>(weight->shape(0)) != n_rows)
        throw std::invalid_argument("weights must be one contiguous float64 a row.");
    return reinterpret_cast<const double*>(column.data);
}

// (n_features, 256, n_classes), or None when the array holds a number outside 0 .. 255.
nb::object count_bytes(Array array, Array classes, std::optional<Array> weight, int64_t n_classes, int n_threads) {
    const Table table = table_of(nb::cast(array));
    if (!table.row_major) return nb::none();
    const Classes y(classes);
    y.check(table.n_rows, n_classes);
    const double* w = weight_data(weight, table.n_rows);
    const std::vector<size_t> shape = {table.columns.size(), BYTE, static_cast<size_t>(n_classes)};
    uint64_t seen = 0;
    if (w) {
        Owned<double> out(shape, true);
        {
            nb::gil_scoped_release release;
            seen = count_bytes_in<double>(table, y, w, n_classes, n_threads, out.data);
        }
        return seen < BYTE ? out.to_numpy() : nb::none();
    }
    Owned<int64_t> out(shape, true);
    {
        nb::gil_scoped_release release;
        seen = count_bytes_in<uint32_t>(table, y, nullptr, n_classes, n_threads, out.data);
    }
    return seen < BYTE ? out.to_numpy() : nb::none();
}

template <typename Count>
nb::object count_coded(const Table& table, const Classes& y, const double* w, int64_t n_classes,
                       const std::vector<int64_t>& sizes, int n_threads) {
    std::vector<int64_t> offsets(sizes.size() + 1, 0);
    for (size_t j = 0; j < sizes.size(); ++j) offsets[j + 1] = offsets[j] + sizes[j];
    Owned<Count> out({static_cast<size_t>(offsets.back()), static_cast<size_t>(n_classes)}, true);
    {
        nb::gil_scoped_release release;
        // The classes are read once a column, so it pays to have them small.
        const bool small = std::is_same_v<Count, int64_t> && n_classes <= BYTE;
        std::vector<uint8_t> copy;
        const uint8_t* narrow = nullptr;
        if (small && y.column.type == Type::u8 && y.column.stride == 1) {
            narrow = reinterpret_cast<const uint8_t*>(y.column.data);
        } else if (small) {
            copy.reserve(y.n);
            y.blocks([&](int64_t, const uint32_t* codes, int64_t rows) { copy.insert(copy.end(), codes, codes + rows); });
            narrow = copy.data();
        }
        parallel_chunks(static_cast<int64_t>(sizes.size()), n_threads, [&](int64_t j, int) {
            const Column& column = table.columns[j];
            Count* cells = out.data + offsets[j] * n_classes;
            const uint32_t size = static_cast<uint32_t>(sizes[j]);
            if constexpr (std::is_same_v<Count, int64_t>) {
                const auto count_as = [&](auto zero) {
                    using T = decltype(zero);
                    if (!narrow || column.stride != sizeof(T) || (sizeof(T) > 1 && size >= BYTE)) return false;
                    count_small_codes(reinterpret_cast<const T*>(column.data), narrow, table.n_rows, n_classes, size, cells);
                    return true;
                };
                if (column.type == Type::u8 ? count_as(uint8_t{}) : column.type == Type::u16 ? count_as(uint16_t{}) : count_as(uint32_t{}))
                    return;
            }
            switch (column.type) {
                case Type::u8: count_column<uint8_t>(column, y, w, n_classes, size, cells); break;
                case Type::u16: count_column<uint16_t>(column, y, w, n_classes, size, cells); break;
                default: count_column<uint32_t>(column, y, w, n_classes, size, cells); break;
            }
        });
    }
    return out.to_numpy();
}

// (n_cells, n_classes): feature j owns the rows offsets[j] : offsets[j + 1]. Columns are uint8, uint16 or uint32 codes.
nb::object count_values(nb::list columns, Array classes, std::optional<Array> weight, int64_t n_classes,
                        std::vector<int64_t> sizes, int n_threads) {
    const Table table = table_of(columns);
    if (sizes.size() != table.columns.size()) throw std::invalid_argument("one size per column, please.");
    for (const Column& column : table.columns)
        if (column.type != Type::u8 && column.type != Type::u16 && column.type != Type::u32)
            throw std::invalid_argument("codes must be uint8, uint16 or uint32.");
    const Classes y(classes);
    y.check(table.columns.empty() ? y.n : table.n_rows, n_classes);
    const double* w = weight_data(weight, y.n);
    return w ? count_coded<double>(table, y, w, n_classes, sizes, n_threads)
             : count_coded<int64_t>(table, y, nullptr, n_classes, sizes, n_threads);
}

// (n_classes,)
nb::object count_classes(Array classes, std::optional<Array> weight, int64_t n_classes) {
    const Classes y(classes);
    y.check(y.n, n_classes);
    if (const double* w = weight_data(weight, y.n)) {
        Owned<double> out({static_cast<size_t>(n_classes)}, true);
        y.blocks([&](int64_t begin, const uint32_t* codes, int64_t rows) {
            for (int64_t i = 0; i < rows; ++i) out.data[codes[i]] += w[begin + i];
        });
        return out.to_numpy();
    }
    Owned<int64_t> out({static_cast<size_t>(n_classes)}, true);
    y.blocks([&](int64_t, const uint32_t* codes, int64_t rows) {
        for (int64_t i = 0; i < rows; ++i) ++out.data[codes[i]];
    });
    return out.to_numpy();
}

}  // namespace

void bind_count_values(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_bytes", &count_bytes, "array"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
    m.def("count_values", &count_values, "columns"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "sizes"_a, "n_threads"_a);
    m.def("count_classes", &count_classes, "y"_a, "weight"_a.none(), "n_classes"_a);
}

}  // namespace bayeskit::counts
