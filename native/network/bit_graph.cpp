// Counts of bits, compiled once for CPUs that count a word in one instruction and once for all others.
#include "network/bit_graph.hpp"

namespace bayeskit::network {

BAYESKIT_SIMD int count_bits(const uint64_t* row, int words) {
    int n = 0;
    for (int w = 0; w < words; ++w) n += popcount(row[w]);
    return n;
}

BAYESKIT_SIMD int64_t count_missing(const uint64_t* rows, int words, int v, const int* others, size_t n_others) {
    const uint64_t* line = rows + static_cast<size_t>(v) * words;
    int64_t n = 0;
    for (size_t i = 0; i < n_others; ++i) {
        const uint64_t* other = rows + static_cast<size_t>(others[i]) * words;
        for (int w = 0; w < words; ++w) n += popcount(line[w] & ~other[w]);
    }
    return n;
}

}  // namespace bayeskit::network
