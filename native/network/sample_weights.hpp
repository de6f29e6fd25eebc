// The weights of samples, whatever their magnitude.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "network/wide_double.hpp"

namespace bayeskit::network::sampling {

inline double power_of_two(int64_t exponent) {
    return std::ldexp(1.0, static_cast<int>(std::max<int64_t>(exponent, -2000)));  // as good as 0 below
}

// One weight a sample, w · 2^e: a product of thousands of small factors keeps its digits.
class Weights {
public:
    static constexpr int64_t NONE = std::numeric_limits<int64_t>::min() / 4;  // all weights are 0

    explicit Weights(int64_t n) : value_(n, 1.0), exponent_(n, 0) {}

    int64_t size() const { return static_cast<int64_t>(value_.size()); }
    double& operator[](int64_t i) { return value_[i]; }
    void multiply(int64_t i, const WideDouble& factor) {
        value_[i] *= factor.mantissa;
        exponent_[i] += factor.exponent;
    }

    // To be called between factors: mantissas are at least 1/2, so no product of the next few is denormal.
    void rescale() {
        for (int64_t i = 0; i < size(); ++i) {
            if (value_[i] >= 1e-4 || value_[i] == 0.0) continue;
            int e = 0;
            value_[i] = std::frexp(value_[i], &e);
            exponent_[i] += e;
        }
    }

    // Bring all weights to the unit 2^t of the largest and return t.
    int64_t to_one_unit() {
        int64_t top = NONE;
        for (int64_t i = 0; i < size(); ++i)
            if (value_[i] > 0.0) {
                int e = 0;
                value_[i] = std::frexp(value_[i], &e);
                exponent_[i] += e;
                top = std::max(top, exponent_[i]);
            }
        for (int64_t i = 0; i < size(); ++i)
            if (value_[i] > 0.0) value_[i] *= power_of_two(exponent_[i] - top);
        return top;
    }

private:
    std::vector<double> value_;
    std::vector<int64_t> exponent_;
};

}  // namespace bayeskit::network::sampling
