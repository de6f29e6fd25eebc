// Numbers sorted by their digits, each with what belongs to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace bayeskit {

// A number whose order as an unsigned integer is the order of the doubles.
inline uint64_t ordered_bits(double x) {
    x += 0.0;  // -0.0 and 0.0 are one value
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits ^ ((bits >> 63) ? ~uint64_t{0} : uint64_t{1} << 63);
}

inline double from_ordered(uint64_t bits) {
    bits ^= (bits >> 63) ? uint64_t{1} << 63 : ~uint64_t{0};
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// The sorted column and the room to sort it, kept from one column to the next.
struct Sorter {
    // Four digits are sign, exponent and 20 bits of the mantissa. What they leave open is put right afterwards. Digits of
    // eight bits scatter to so few places that these stay in the cache; fewer, wider digits are slower.
    static constexpr int DIGIT_BITS = 8, N_DIGITS = 4, LOWEST_BIT = 64 - DIGIT_BITS * N_DIGITS;
    static constexpr int64_t N_BUCKETS = 1 << DIGIT_BITS;

    std::vector<uint64_t> key, spare_key;
    std::vector<uint32_t> payload, spare_payload;  // a row, or what else belongs to the key

    static int64_t digit_of(uint64_t bits, int digit) {
        return (bits >> (LOWEST_BIT + digit * DIGIT_BITS)) & (N_BUCKETS - 1);
    }

    // Least significant digit first; a digit that is the same in all rows costs nothing.
    void sort() {
        const int64_t n = static_cast<int64_t>(key.size());
        if (n < 2) return;
        std::vector<int64_t> count(N_DIGITS * N_BUCKETS, 0);
        for (uint64_t bits : key)
            for (int digit = 0; digit < N_DIGITS; ++digit) ++count[digit * N_BUCKETS + digit_of(bits, digit)];
        spare_key.resize(n);
        spare_payload.resize(n);
        for (int digit = 0; digit < N_DIGITS; ++digit) {
            int64_t* place = count.data() + digit * N_BUCKETS;
            if (place[digit_of(key[0], digit)] == n) continue;
            int64_t sum = 0;
            for (int64_t b = 0; b < N_BUCKETS; ++b) {
                const int64_t here = place[b];
                place[b] = sum;
                sum += here;
            }
            for (int64_t i = 0; i < n; ++i) {
                const int64_t to = place[digit_of(key[i], digit)]++;
                spare_key[to] = key[i];
                spare_payload[to] = payload[i];
            }
            key.swap(spare_key);
            payload.swap(spare_payload);
        }
        finish(n);
    }

    // Rows whose digits agree are neighbours now, and mostly few.
    void finish(int64_t n) {
        std::vector<std::pair<uint64_t, uint32_t>> run;
        for (int64_t begin = 0, end; begin < n; begin = end) {
            bool in_order = true;
            for (end = begin + 1; end < n && (key[end] >> LOWEST_BIT) == (key[begin] >> LOWEST_BIT); ++end)
                in_order = in_order && key[end - 1] <= key[end];
            if (in_order) continue;
            run.clear();
            for (int64_t i = begin; i < end; ++i) run.emplace_back(key[i], payload[i]);
            std::sort(run.begin(), run.end());
            for (int64_t i = begin; i < end; ++i) {
                key[i] = run[i - begin].first;
                payload[i] = run[i - begin].second;
            }
        }
    }
};

}  // namespace bayeskit
