// Scores of the classes of a block of rows, and what makes probabilities of them: arrays of (k, BLOCK).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/exponential.hpp"

namespace bayeskit::automatic {

constexpr int64_t BLOCK = 64;  // rows side by side

// p[c] = exp(score[c]), and their sum; `p` may be `score`.
BAYESKIT_SIMD
static void exponentiate(const double* score, int64_t k, int64_t size, double* p, double* total) {
    for (int64_t r = 0; r < size; ++r) total[r] = 0.0;
    for (int64_t c = 0; c < k; ++c) {
        const double* from = score + c * BLOCK;
        double* to = p + c * BLOCK;
        // A block holds a whole number of fours; what lies behind its last row is not read again.
        for (int64_t r = 0; r < size; r += QUAD) write_quad(to + r, exp_or_zero(read_quad(from + r)));
        for (int64_t r = 0; r < size; ++r) total[r] += to[r];
    }
}

// score[c] -= the greatest score of the row
BAYESKIT_SIMD
static void take_peaks_off(int64_t k, int64_t size, double* score) {
    double peak[BLOCK];
    for (int64_t r = 0; r < size; ++r) peak[r] = score[r];
    for (int64_t c = 1; c < k; ++c)
        for (int64_t r = 0; r < size; ++r) peak[r] = peak[r] > score[c * BLOCK + r] ? peak[r] : score[c * BLOCK + r];
    for (int64_t c = 0; c < k; ++c)
        for (int64_t r = 0; r < size; ++r) score[c * BLOCK + r] -= peak[r];
}

// Scores become weight (P(c) - [y = c]), the slope of the loss by each score; the loss, Σ -weight log P(y), is added to `loss`.
inline void to_residuals(const uint32_t* y, const double* weight, int64_t k, int64_t size, double* score, double& loss) {
    double label_score[BLOCK], total[BLOCK];
    for (int64_t r = 0; r < size; ++r) label_score[r] = score[y[r] * BLOCK + r];
    exponentiate(score, k, size, score, total);
    for (int64_t r = 0; r < size; ++r) {
        loss -= weight[r] * (label_score[r] - std::log(total[r]));
        total[r] = weight[r] / total[r];
    }
    for (int64_t c = 0; c < k; ++c)
        for (int64_t r = 0; r < size; ++r) score[c * BLOCK + r] *= total[r];
    for (int64_t r = 0; r < size; ++r) score[y[r] * BLOCK + r] -= weight[r];
}

inline bool all_zero(const double* weight, int64_t size) {
    return std::all_of(weight, weight + size, [](double each) { return each == 0.0; });
}

}  // namespace bayeskit::automatic
