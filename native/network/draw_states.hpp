// States drawn from the rows of a table, a block of draws at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "network/engine.hpp"

namespace bayeskit::network::sampling {

constexpr double TWO_53 = 9007199254740992.0;

// Row r of a table as card - 1 thresholds on a draw of 53 bits: the state is the number of thresholds reached.
inline std::vector<uint64_t> thresholds_of(const Factor& factor, int card) {
    const int64_t rows = static_cast<int64_t>(factor.values.size()) / card;
    std::vector<uint64_t> thresholds(rows * (card - 1) + 1);
    for (int64_t r = 0; r < rows; ++r) {
        const double* row = factor.values.data() + r * card;
        int last = card - 1;  // rounding must never end in a state of probability 0
        while (last > 0 && row[last] <= 0.0) --last;
        double sum = 0.0;
        for (int k = 0; k + 1 < card; ++k) {
            sum += row[k];
            const double reach = k >= last ? TWO_53 : std::min(std::ceil(sum * TWO_53), TWO_53);
            thresholds[r * (card - 1) + k] = static_cast<uint64_t>(reach);
        }
    }
    return thresholds;
}

template <int K>
BAYESKIT_INLINE void draw_states(const uint64_t* thresholds, const uint32_t* row, Random& random, int64_t n, int card,
                                 uint32_t* state) {
    const int steps = (K > 0 ? K : card) - 1;
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t draw = random.bits() >> 11;
        const uint64_t* line = thresholds + static_cast<int64_t>(row[i]) * steps;
        uint32_t drawn_state = 0;
        if constexpr (K > 0)
            for (int k = 0; k < steps; ++k) drawn_state += draw >= line[k];
        else
            drawn_state = static_cast<uint32_t>(std::upper_bound(line, line + steps, draw) - line);
        state[i] = drawn_state;
    }
}

static BAYESKIT_SIMD void draw_block(const uint64_t* thresholds, const uint32_t* row, Random random, int64_t n, int card,
                              uint32_t* state) {
    switch (card) {
        case 2: draw_states<2>(thresholds, row, random, n, card, state); break;
        case 3: draw_states<3>(thresholds, row, random, n, card, state); break;
        case 4: draw_states<4>(thresholds, row, random, n, card, state); break;
        case 5: draw_states<5>(thresholds, row, random, n, card, state); break;
        default: draw_states<0>(thresholds, row, random, n, card, state);
    }
}

static BAYESKIT_SIMD void add_rows(uint32_t* row, const uint32_t* state, uint32_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) row[i] += state[i] * stride;
}

static BAYESKIT_SIMD void narrow(const uint32_t* state, uint8_t* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(state[i]);
}

}  // namespace bayeskit::network::sampling
