// How many bits the labels of a leaf take (Quinlan & Rivest 1989).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bayeskit::concept_learning {

// log2 x! and log2 x, from tables where weights are whole numbers.
class LogFactorial {
public:
    LogFactorial(double total, int64_t n_classes, bool whole) {
        if (!whole || total > 1e8) return;
        table_.resize(static_cast<size_t>(total) + n_classes + 2);
        for (size_t n = 0; n < table_.size(); ++n) table_[n] = std::lgamma(static_cast<double>(n) + 1.0) / std::log(2.0);
        logs_.resize(table_.size());
        for (size_t n = 1; n < logs_.size(); ++n) logs_[n] = std::log2(static_cast<double>(n));
    }
    double log2(double x) const { return logs_.empty() ? std::log2(x) : logs_[static_cast<size_t>(x)]; }
    double operator()(double x) const {
        if (!table_.empty()) return table_[static_cast<size_t>(x)];
        return std::lgamma(x + 1.0) / std::log(2.0);
    }

private:
    std::vector<double> table_, logs_;
};

// The bits of a leaf: "leaf", its class, how many exceptions, which rows they are, and their classes.
class LeafCode {
public:
    LeafCode(const LogFactorial& f, int64_t n_classes, bool whole)
        : f_(f), k_(n_classes), whole_(whole), head_(1.0 + std::log2(static_cast<double>(n_classes))) {}

    double operator()(const double* count) const {
        double n = 0.0, most = -1.0;
        int64_t majority = 0;
        for (int64_t c = 0; c < k_; ++c) {
            n += count[c];
            if (count[c] > most) {
                most = count[c];
                majority = c;
            }
        }
        const double exceptions = std::max(0.0, n - most);
        const double k = static_cast<double>(k_);
        const double bound = whole_ ? n - std::ceil(n / k) : n - n / k;
        double bits = head_ + f_.log2(bound + 1.0) + f_(n) - f_(exceptions) - f_(most);
        if (k_ > 2 && exceptions > 0.0) {
            // Which of the other classes: how many of each, and in which order.
            bits += f_(exceptions + k - 2.0) - f_(k - 2.0);
            for (int64_t c = 0; c < k_; ++c)
                if (c != majority) bits -= f_(count[c]);
        }
        return bits;
    }

private:
    const LogFactorial& f_;
    int64_t k_;
    bool whole_;
    double head_;
};

}  // namespace bayeskit::concept_learning
