// What a cell's number means: a level, "unseen" or "missing".
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/column.hpp"

namespace bayeskit {

// Reserved codes of an unsigned code column: the two largest numbers of its type.
template <typename T> constexpr T MISSING = std::numeric_limits<T>::max();
template <typename T> constexpr T UNSEEN = std::numeric_limits<T>::max() - 1;

// Row of a table of `size` levels that a cell points to: the level, or `size` for unseen, or `size + 1` for missing.
// In a coded column narrow unsigned numbers are codes, with the reserved ones; other numbers are the values
// lo, lo + 1, … themselves, where NaN is missing and anything else is unseen.
template <bool coded, typename T>
BAYESKIT_INLINE uint32_t level_of(T value, int64_t lo, uint32_t size) {
    if constexpr (std::is_floating_point_v<T>) {
        if (value != value) return size + 1;
        // In double, and compared with the value itself: a difference may be rounded to a whole number that it is not.
        const double shifted = static_cast<double>(value) - static_cast<double>(lo);
        if (!(shifted >= 0 && shifted < static_cast<double>(size))) return size;
        const uint32_t level = static_cast<uint32_t>(shifted);
        return static_cast<double>(static_cast<int64_t>(level) + lo) == static_cast<double>(value) ? level : size;
    } else if constexpr (coded && std::is_unsigned_v<T> && sizeof(T) <= 4) {
        const uint32_t level = static_cast<uint32_t>(value) - static_cast<uint32_t>(lo);
        const uint32_t reserved = size + (value == MISSING<T> ? 1u : 0u);
        return level < size ? level : reserved;
    } else {
        const uint64_t level = static_cast<uint64_t>(value) - static_cast<uint64_t>(lo);
        // A uint64 beyond the int64 range must not be taken for the negative number of the same bits.
        if constexpr (std::is_same_v<T, uint64_t>)
            if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return size;
        return level < size ? static_cast<uint32_t>(level) : size;
    }
}

template <bool coded>
BAYESKIT_INLINE void decode(const Column& column, int64_t begin, int64_t n, int64_t lo, uint32_t size, uint32_t* out) {
    with_type(column.type, [&](auto zero) {
        using T = decltype(zero);
        const char* cell = column.data + begin * column.stride;
        if (column.stride == static_cast<int64_t>(sizeof(T))) {
            const T* values = reinterpret_cast<const T*>(cell);
            for (int64_t i = 0; i < n; ++i) out[i] = level_of<coded, T>(values[i], lo, size);
        } else {
            for (int64_t i = 0; i < n; ++i, cell += column.stride)
                out[i] = level_of<coded, T>(*reinterpret_cast<const T*>(cell), lo, size);
        }
    });
}

BAYESKIT_INLINE void read_doubles(const Column& column, int64_t begin, int64_t n, double* out, int64_t out_stride) {
    with_type(column.type, [&](auto zero) {
        using T = decltype(zero);
        const char* cell = column.data + begin * column.stride;
        for (int64_t i = 0; i < n; ++i, cell += column.stride)
            out[i * out_stride] = static_cast<double>(*reinterpret_cast<const T*>(cell));
    });
}

inline std::vector<double> doubles(const Array& array, int64_t length) {
    const Column column = column_of(array);
    if (static_cast<int64_t>(array.shape(0)) != length) throw std::invalid_argument("an array has the wrong length.");
    std::vector<double> out(length);
    read_doubles(column, 0, length, out.data(), 1);
    return out;
}

}  // namespace bayeskit
