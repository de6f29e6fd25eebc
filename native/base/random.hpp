// Counter-based randomness: number i of stream (seed, stream) is a hash of the counter, so a chunk of work draws the
// same numbers whichever thread takes it.
#pragma once
#include <cstdint>

#include "base/simd.hpp"

namespace bayeskit {

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014, OOPSLA, figure 16), which passes BigCrush.
BAYESKIT_INLINE uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

class Random {
public:
    Random(uint64_t seed, uint64_t stream)
        : state_(mix64(mix64(seed + GOLDEN) ^ mix64((stream + 1) * 0xd1342543de82ef95ull))) {}
    uint64_t bits() { return mix64(state_ += GOLDEN); }
    // In [0, 1), a multiple of 2^-53.
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
    // In 0 .. n - 1; n is small, so the bias of the product is below n / 2^32.
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((bits() >> 32) * n >> 32); }

private:
    static constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15ull;
    uint64_t state_;
};

}  // namespace bayeskit
