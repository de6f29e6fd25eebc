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

// The bits of a leaf: "leaf", its class, how many exceptions, which rows they are, and their classes. They depend on
// the rows, the rows of the largest class, and the sum of log2 (rows of a class)! over the classes.
class LeafCode {
public:
    LeafCode(const LogFactorial& f, int64_t n_classes, bool whole)
        : f(f), k_(n_classes), whole_(whole), head_(1.0 + std::log2(static_cast<double>(n_classes))) {}

    double operator()(double n, double most, long double log_factorials) const {
        const double exceptions = std::max(0.0, n - most);
        const double k = static_cast<double>(k_);
        const double bound = whole_ ? n - std::ceil(n / k) : n - n / k;
        double bits = head_ + f.log2(bound + 1.0) + f(n) - f(exceptions) - f(most);
        // Which of the other classes: how many of each, and in which order.
        if (k_ > 2 && exceptions > 0.0)
            bits += f(exceptions + k - 2.0) - f(k - 2.0) - static_cast<double>(log_factorials - f(most));
        return bits;
    }

    // The bits of a leaf where it is known how many rows each class has: "leaf", its class, and in which order they come.
    double information(double n, long double log_factorials) const {
        return head_ + f(n) - static_cast<double>(log_factorials);
    }

    const LogFactorial& f;

private:
    int64_t k_;
    bool whole_;
    double head_;
};

// The labels of rows that come one class after the other. A class that no row has costs no time, so that many classes
// take no longer than few.
class Labels {
public:
    Labels(const LeafCode& code, int64_t n_classes) : code_(code), classes_(n_classes) {}

    void add(uint32_t label, double weight) {
        Class& its_class = classes_[label];
        if (its_class.n == 0.0) touched_.push_back(label);
        its_class.n += weight;
        const double log_factorial = code_.f(its_class.n);
        // Added in more digits than a double has, the sum is the same in whichever order the rows come. 0! = 1!.
        if (log_factorial != its_class.log_factorial)
            log_factorials_ += static_cast<long double>(log_factorial) - its_class.log_factorial;
        its_class.log_factorial = log_factorial;
        n_ += weight;
        most_ = std::max(most_, its_class.n);
    }

    void clear() {
        for (uint32_t label : touched_) classes_[label] = {};
        touched_.clear();
        n_ = most_ = 0.0;
        log_factorials_ = 0.0L;
    }

    double bits() const { return code_(n_, most_, log_factorials_); }
    double information() const { return code_.information(n_, log_factorials_); }

private:
    struct Class {
        double n = 0.0, log_factorial = 0.0;
    };

    const LeafCode& code_;
    std::vector<Class> classes_;
    std::vector<uint32_t> touched_;
    double n_ = 0.0, most_ = 0.0;
    long double log_factorials_ = 0.0L;
};

}  // namespace bayeskit::concept_learning
