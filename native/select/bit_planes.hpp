// Columns as bits: a plane says of each row whether it has one level, so that 64 rows are counted by one instruction.
#pragma once
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "select/family_rows.hpp"

namespace bayeskit::select {

// To count 64 rows of one cell of a plane takes about as long as to count half a row of codes.
constexpr int64_t MOST_PLANE_CELLS = 128;
constexpr uint32_t MOST_PLANES = 16;

BAYESKIT_SIMD static uint32_t rows_in_both(const uint64_t* a, const uint64_t* b, int64_t words) {
    uint32_t n = 0;
    for (int64_t w = 0; w < words; ++w) n += popcount(a[w] & b[w]);
    return n;
}

// The levels of all narrow columns but the last level of each, which is what the others leave.
class BitPlanes {
public:
    void fill(const FamilyRows& rows) {
        words_ = (rows.n_rows + 63) / 64;
        planes_.resize(rows.size());
        for (int j = 0; j < rows.size(); ++j) {
            if (rows.width[j] > MOST_PLANES) continue;
            planes_[j].assign((rows.width[j] - 1) * words_, 0);
            const uint32_t last = rows.width[j] - 1;
            for (int64_t i = 0; i < rows.n_rows; ++i)
                if (const uint32_t x = rows.narrow[j][i]; x < last) planes_[j][x * words_ + (i >> 6)] |= uint64_t{1} << (i & 63);
        }
    }
    int64_t words() const { return words_; }
    bool has(int j) const { return !planes_.empty() && (!planes_[j].empty() || words_ == 0); }
    const uint64_t* plane(int j, uint32_t level) const { return planes_[j].data() + level * words_; }

private:
    int64_t words_ = 0;
    std::vector<std::vector<uint64_t>> planes_;
};

}  // namespace bayeskit::select
