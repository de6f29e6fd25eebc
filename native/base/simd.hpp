// What is worked on side by side: four classes (Quad), eight rows (Pack), or the classes of a row padded to whole lanes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

// Wheels are built for the oldest CPU; the loader picks the wide version where the CPU has it. A function with versions
// must be known in one source file only: in a header it is static.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(BAYESKIT_NO_SIMD)
#define BAYESKIT_SIMD __attribute__((target_clones("arch=x86-64-v3", "default")))
#define BAYESKIT_HAS_VERSIONS 1
#else
#define BAYESKIT_SIMD
#define BAYESKIT_HAS_VERSIONS 0
#endif
#if defined(_MSC_VER)
#define BAYESKIT_INLINE __forceinline
#else
#define BAYESKIT_INLINE inline __attribute__((always_inline))
#endif
// A loop that stays a loop would keep in memory what ought to be in registers.
#if defined(__clang__)
#define BAYESKIT_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define BAYESKIT_UNROLL _Pragma("GCC unroll 8")
#else
#define BAYESKIT_UNROLL
#endif

namespace bayeskit {

// Bytes that the processor fetches at once; `fetch_line` asks for those at an address that is read soon, or for none.
constexpr int64_t LINE = 64;
BAYESKIT_INLINE void fetch_line([[maybe_unused]] uintptr_t address) {
#if defined(__GNUC__)
    __builtin_prefetch(reinterpret_cast<const void*>(address));
#endif
}

constexpr int QUAD = 4;
constexpr int PACK = 8;

// Four classes side by side. Spelled out, since a compiler left alone prefers to vectorise over the rows, and must fear
// that what it writes overlaps with what it reads.
#if defined(__GNUC__)
typedef double Quad __attribute__((vector_size(32), aligned(8)));
BAYESKIT_INLINE Quad read_quad(const int32_t* n) {
    return Quad{static_cast<double>(n[0]), static_cast<double>(n[1]), static_cast<double>(n[2]), static_cast<double>(n[3])};
}
BAYESKIT_INLINE Quad read_quad(const double* counts) { return *reinterpret_cast<const Quad*>(counts); }
BAYESKIT_INLINE Quad quad_of(double x) { return Quad{x, x, x, x}; }
BAYESKIT_INLINE Quad positive(const Quad& x) { return x > 0.0 ? x : quad_of(0.0); }
BAYESKIT_INLINE Quad where_known(const Quad& x, const Quad& then, const Quad& otherwise) { return x == x ? then : otherwise; }
BAYESKIT_INLINE Quad where_at_most(const Quad& a, const Quad& b, const Quad& then, const Quad& otherwise) {
    return a <= b ? then : otherwise;
}
BAYESKIT_INLINE Quad magnitude(const Quad& x) { return Quad{std::abs(x[0]), std::abs(x[1]), std::abs(x[2]), std::abs(x[3])}; }
// Of a and b; b where a is NaN.
BAYESKIT_INLINE Quad lesser(const Quad& a, const Quad& b) { return a < b ? a : b; }
BAYESKIT_INLINE Quad greater(const Quad& a, const Quad& b) { return a > b ? a : b; }
BAYESKIT_INLINE bool all_at_most(const Quad& a, const Quad& b) {
    const auto is = a <= b;
    return is[0] & is[1] & is[2] & is[3];
}
BAYESKIT_INLINE Quad square_root(const Quad& x) { return Quad{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])}; }
BAYESKIT_INLINE void write_quad(double* to, const Quad& x) { *reinterpret_cast<Quad*>(to) = x; }
BAYESKIT_INLINE double sum_of(const Quad& x) { return (x[0] + x[2]) + (x[1] + x[3]); }
BAYESKIT_INLINE double greatest(const Quad& x) { return std::max(std::max(x[0], x[2]), std::max(x[1], x[3])); }
// The first n lanes of four, 1 <= n <= 4; the others are 0, or are not written.
BAYESKIT_INLINE Quad read_some(const double* from, int64_t n) {
    return Quad{from[0], n > 1 ? from[1] : 0.0, n > 2 ? from[2] : 0.0, n > 3 ? from[3] : 0.0};
}
BAYESKIT_INLINE void write_some(double* to, const Quad& x, int64_t n) {
    to[0] = x[0];
    if (n > 1) to[1] = x[1];
    if (n > 2) to[2] = x[2];
    if (n > 3) to[3] = x[3];
}
// a b + c with one rounding
BAYESKIT_INLINE Quad fused(const Quad& a, const Quad& b, const Quad& c) {
    return Quad{std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1]), std::fma(a[2], b[2], c[2]), std::fma(a[3], b[3], c[3])};
}
#else
struct Quad {
    double lane[QUAD];
    friend Quad operator+(Quad a, const Quad& b) { for (int k = 0; k < QUAD; ++k) a.lane[k] += b.lane[k]; return a; }
    friend Quad operator-(Quad a, const Quad& b) { for (int k = 0; k < QUAD; ++k) a.lane[k] -= b.lane[k]; return a; }
    friend Quad operator*(Quad a, const Quad& b) { for (int k = 0; k < QUAD; ++k) a.lane[k] *= b.lane[k]; return a; }
    friend Quad operator/(Quad a, const Quad& b) { for (int k = 0; k < QUAD; ++k) a.lane[k] /= b.lane[k]; return a; }
};
template <typename Count>
BAYESKIT_INLINE Quad read_quad(const Count* counts) {
    Quad quad;
    for (int k = 0; k < QUAD; ++k) quad.lane[k] = static_cast<double>(counts[k]);
    return quad;
}
BAYESKIT_INLINE Quad quad_of(double x) { return {{x, x, x, x}}; }
BAYESKIT_INLINE Quad positive(Quad x) { for (int k = 0; k < QUAD; ++k) x.lane[k] = std::max(x.lane[k], 0.0); return x; }
BAYESKIT_INLINE Quad where_known(const Quad& x, Quad then, const Quad& otherwise) {
    for (int k = 0; k < QUAD; ++k) then.lane[k] = x.lane[k] == x.lane[k] ? then.lane[k] : otherwise.lane[k];
    return then;
}
BAYESKIT_INLINE Quad where_at_most(const Quad& a, const Quad& b, Quad then, const Quad& otherwise) {
    for (int k = 0; k < QUAD; ++k) then.lane[k] = a.lane[k] <= b.lane[k] ? then.lane[k] : otherwise.lane[k];
    return then;
}
BAYESKIT_INLINE Quad magnitude(Quad x) { for (int k = 0; k < QUAD; ++k) x.lane[k] = std::abs(x.lane[k]); return x; }
BAYESKIT_INLINE Quad lesser(Quad a, const Quad& b) {
    for (int k = 0; k < QUAD; ++k) a.lane[k] = a.lane[k] < b.lane[k] ? a.lane[k] : b.lane[k];
    return a;
}
BAYESKIT_INLINE Quad greater(Quad a, const Quad& b) {
    for (int k = 0; k < QUAD; ++k) a.lane[k] = a.lane[k] > b.lane[k] ? a.lane[k] : b.lane[k];
    return a;
}
BAYESKIT_INLINE bool all_at_most(const Quad& a, const Quad& b) {
    bool is = true;
    for (int k = 0; k < QUAD; ++k) is = is && a.lane[k] <= b.lane[k];
    return is;
}
BAYESKIT_INLINE Quad square_root(Quad x) { for (int k = 0; k < QUAD; ++k) x.lane[k] = std::sqrt(x.lane[k]); return x; }
BAYESKIT_INLINE void write_quad(double* to, const Quad& x) { for (int k = 0; k < QUAD; ++k) to[k] = x.lane[k]; }
BAYESKIT_INLINE double sum_of(const Quad& x) { return (x.lane[0] + x.lane[2]) + (x.lane[1] + x.lane[3]); }
BAYESKIT_INLINE double greatest(const Quad& x) {
    return std::max(std::max(x.lane[0], x.lane[2]), std::max(x.lane[1], x.lane[3]));
}
BAYESKIT_INLINE Quad read_some(const double* from, int64_t n) {
    Quad x{};
    for (int64_t k = 0; k < n; ++k) x.lane[k] = from[k];
    return x;
}
BAYESKIT_INLINE void write_some(double* to, const Quad& x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) to[k] = x.lane[k];
}
BAYESKIT_INLINE Quad fused(Quad a, const Quad& b, const Quad& c) {
    for (int k = 0; k < QUAD; ++k) a.lane[k] = std::fma(a.lane[k], b.lane[k], c.lane[k]);
    return a;
}
#endif

// The same cell of eight rows.
struct Pack {
    double lane[PACK];
};

// How many numbers a row of n_classes takes when it is padded.
inline int64_t lanes_for(int64_t n_classes) { return n_classes <= 2 ? 2 : (n_classes + 3) / 4 * 4; }
inline int64_t quad_lanes_for(int64_t n_classes) { return (n_classes + QUAD - 1) / QUAD * QUAD; }

template <int lanes>
BAYESKIT_INLINE void add_rows_lanes(double* acc, const double* table, const int64_t* cell, int64_t n) {
    for (int64_t r = 0; r < n; ++r, acc += lanes) {
        const double* row = table + cell[r] * lanes;
        // All lanes are read before one is written: the compiler need not fear that they overlap, and adds them at once.
        double sum[lanes];
        for (int k = 0; k < lanes; ++k) sum[k] = acc[k] + row[k];
        for (int k = 0; k < lanes; ++k) acc[k] = sum[k];
    }
}

// acc[r] += table[cell[r]] for n rows of `lanes` numbers
BAYESKIT_INLINE void add_rows(double* acc, const double* table, const int64_t* cell, int64_t n, int64_t lanes) {
    if (lanes == 2) return add_rows_lanes<2>(acc, table, cell, n);
    if (lanes == 4) return add_rows_lanes<4>(acc, table, cell, n);
    if (lanes == 8) return add_rows_lanes<8>(acc, table, cell, n);
    for (int64_t r = 0; r < n; ++r) {
        const double* row = table + cell[r] * lanes;
        for (int64_t k = 0; k < lanes; ++k) acc[r * lanes + k] += row[k];
    }
}

}  // namespace bayeskit
