// A column is one strided run of numbers of any type, read in place; a table is a list of columns.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace bayeskit {

namespace nb = nanobind;
using Array = nb::ndarray<nb::ro, nb::device::cpu>;

enum class Type : uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

struct Column {
    const char* data;
    int64_t stride;  // bytes
    Type type;
};

struct Table {
    std::vector<Column> columns;
    std::vector<Array> owners;  // keep the memory alive
    int64_t n_rows = 0;
    // Set when the columns lie side by side in one row-major array.
    bool row_major = false;
};

inline Type type_of(const Array& array) {
    const auto dtype = array.dtype();
    const auto code = static_cast<nb::dlpack::dtype_code>(dtype.code);
    if (dtype.lanes == 1) {
        if (code == nb::dlpack::dtype_code::Bool && dtype.bits == 8) return Type::u8;
        if (code == nb::dlpack::dtype_code::Int) switch (dtype.bits) {
            case 8: return Type::i8;
            case 16: return Type::i16;
            case 32: return Type::i32;
            case 64: return Type::i64;
        }
        if (code == nb::dlpack::dtype_code::UInt) switch (dtype.bits) {
            case 8: return Type::u8;
            case 16: return Type::u16;
            case 32: return Type::u32;
            case 64: return Type::u64;
        }
        if (code == nb::dlpack::dtype_code::Float) switch (dtype.bits) {
            case 32: return Type::f32;
            case 64: return Type::f64;
        }
    }
    throw std::invalid_argument("a column must be of integers, booleans, float32 or float64.");
}

inline int64_t item_size(Type type) {
    switch (type) {
        case Type::i8: case Type::u8: return 1;
        case Type::i16: case Type::u16: return 2;
        case Type::i32: case Type::u32: case Type::f32: return 4;
        default: return 8;
    }
}

inline Column column_of(const Array& array) {
    if (array.ndim() != 1) throw std::invalid_argument("a column must have one dimension.");
    const Type type = type_of(array);
    return {static_cast<const char*>(array.data()), array.stride(0) * item_size(type), type};
}

// A 2-D array, or a list of 1-D arrays of one length.
inline Table table_of(nb::handle source) {
    Table table;
    if (nb::isinstance<nb::list>(source)) {
        nb::list list = nb::borrow<nb::list>(source);
        const size_t n_columns = list.size();
        table.columns.reserve(n_columns);
        table.owners.reserve(n_columns);
        for (size_t j = 0; j < n_columns; ++j) {
            table.owners.push_back(nb::cast<Array>(list[j]));
            const Array& array = table.owners.back();
            table.columns.push_back(column_of(array));
            const int64_t n = static_cast<int64_t>(array.shape(0));
            if (j && n != table.n_rows) throw std::invalid_argument("columns differ in length.");
            table.n_rows = n;
        }
        return table;
    }
    table.owners.push_back(nb::cast<Array>(source));
    const Array& array = table.owners.back();
    if (array.ndim() != 2) throw std::invalid_argument("a table must have two dimensions.");
    const Type type = type_of(array);
    const int64_t item = item_size(type);
    table.n_rows = static_cast<int64_t>(array.shape(0));
    const int64_t n_columns = static_cast<int64_t>(array.shape(1));
    table.columns.resize(n_columns);
    for (int64_t j = 0; j < n_columns; ++j)
        table.columns[j] = {static_cast<const char*>(array.data()) + j * array.stride(1) * item,
                            array.stride(0) * item, type};
    table.row_major = n_columns > 0 && (n_columns == 1 || array.stride(1) == 1);
    return table;
}

template <typename F>
BAYESKIT_INLINE void with_type(Type type, F&& f) {
    switch (type) {
        case Type::i8: f(int8_t{}); break;
        case Type::i16: f(int16_t{}); break;
        case Type::i32: f(int32_t{}); break;
        case Type::i64: f(int64_t{}); break;
        case Type::u8: f(uint8_t{}); break;
        case Type::u16: f(uint16_t{}); break;
        case Type::u32: f(uint32_t{}); break;
        case Type::u64: f(uint64_t{}); break;
        case Type::f32: f(float{}); break;
        case Type::f64: f(double{}); break;
    }
}

// Memory that has not been touched is handed out page by page, which costs as much as filling it; large arrays ask for
// large pages, as NumPy's own do.
inline void* allocate(size_t bytes) {
#if defined(__linux__)
    constexpr size_t LARGE_PAGE = size_t{1} << 21;
    if (bytes >= 2 * LARGE_PAGE) {
        void* memory = std::aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
        if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
#endif
    return std::malloc(bytes);
}

// Vectors that are read here and there: large pages spare most look-ups of addresses.
template <typename T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <typename Other>
    LargePages(const LargePages<Other>&) {}
    T* allocate(size_t n) {
        void* memory = bayeskit::allocate(n * sizeof(T));
        if (!memory) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, size_t) { std::free(memory); }
    template <typename Other>
    bool operator==(const LargePages<Other>&) const { return true; }
    template <typename Other>
    bool operator!=(const LargePages<Other>&) const { return false; }
};
template <typename T>
using LargeVector = std::vector<T, LargePages<T>>;

// An array that Python owns, filled by us. Memory comes from NumPy-compatible heap blocks.
constexpr size_t LAZY_BYTES = size_t{1} << 28;
template <typename T>
struct Owned {
    T* data;
    std::vector<size_t> shape;
    explicit Owned(std::vector<size_t> shape_, bool zero = false) : shape(std::move(shape_)) {
        size_t n = 1;
        for (size_t s : shape) n *= s;
        const size_t bytes = (n ? n : 1) * sizeof(T);
        // Threads that are the first to touch small pages wait for each other, so zeros are filled in here; but of very large
        // tables the system keeps the pages that nobody touches.
        const bool lazily = zero && bytes >= LAZY_BYTES;
        data = static_cast<T*>(lazily ? std::calloc(bytes, 1) : allocate(bytes));
        if (!data) throw std::bad_alloc();
        if (zero && !lazily) std::memset(static_cast<void*>(data), 0, bytes);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { std::free(data); }
    nb::object to_numpy() {
        nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
        nb::ndarray<nb::numpy, T> array(data, shape.size(), shape.data(), owner);
        data = nullptr;
        nb::object result = nb::cast(std::move(array));
        // The buffer says "long long", of the same size but not of the same name as NumPy's int64 on Linux: without
        // the view every count would print as array([3], dtype=int64).
        if constexpr (std::is_same_v<T, int64_t>) return result.attr("view")("int64");
        return result;
    }
};

// Class codes of the rows, whatever type they came in; read block by block, since a copy may be large beside the table.
struct Classes {
    Column column;
    int64_t n;
    explicit Classes(const Array& y) : column(column_of(y)), n(static_cast<int64_t>(y.shape(0))) {}

    void read(int64_t begin, int64_t end, uint32_t* out) const {
        with_type(column.type, [&](auto zero) {
            using T = decltype(zero);
            const char* cell = column.data + begin * column.stride;
            for (int64_t i = begin; i < end; ++i, cell += column.stride)
                *out++ = static_cast<uint32_t>(*reinterpret_cast<const T*>(cell));
        });
    }

    // Calls work(begin, codes, rows) for one block of rows after the other.
    template <typename Work>
    void blocks(Work&& work) const {
        constexpr int64_t BLOCK = 2048;
        uint32_t codes[BLOCK];
        for (int64_t begin = 0; begin < n; begin += BLOCK) {
            const int64_t rows = std::min(BLOCK, n - begin);
            read(begin, begin + rows, codes);
            work(begin, static_cast<const uint32_t*>(codes), rows);
        }
    }

    void check(int64_t n_rows, int64_t n_classes) const {
        if (n != n_rows) throw std::invalid_argument("y and the table differ in length.");
        blocks([&](int64_t, const uint32_t* codes, int64_t rows) {
            for (int64_t i = 0; i < rows; ++i)
                if (codes[i] >= n_classes) throw std::invalid_argument("a class code is out of range.");
        });
    }
};

// All class codes as one plain array, for kernels that go through them again and again.
inline std::vector<uint32_t> class_codes(const Array& y) {
    const Classes classes(y);
    std::vector<uint32_t> codes(classes.n);
    classes.read(0, classes.n, codes.data());
    return codes;
}

}  // namespace bayeskit
