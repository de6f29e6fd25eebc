// From log P(x, c) of one row to the score that was asked for: one list of scores for all models.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/column.hpp"

namespace bayeskit {

// What is returned for each row; Python sees the same names.
enum class Score : int { log_joint = 0, log_posterior = 1, posterior = 2, best_class = 3, log_evidence = 4 };

inline int argmax(const double* values, int n) {
    int best = 0;
    for (int k = 1; k < n; ++k)
        if (values[k] > values[best]) best = k;
    return best;
}

// Writes the score of row `row`. A row that no class can give is refused (false), or gets `log_prior` if that is given.
inline bool write_score(const double* log_joint, const double* log_prior, int n_classes, Score wanted, int64_t row,
                         double* out, int64_t* classes) {
    if (wanted == Score::log_joint) {
        std::memcpy(out + row * n_classes, log_joint, n_classes * sizeof(double));
        return true;
    }
    int best = argmax(log_joint, n_classes);
    if (!(log_joint[best] > -INFINITY)) {
        if (wanted == Score::log_evidence) {
            out[row] = -INFINITY;
            return true;
        }
        if (!log_prior) return false;
        log_joint = log_prior;
        best = argmax(log_joint, n_classes);
    }
    if (wanted == Score::best_class) {
        classes[row] = best;
        return true;
    }
    // Shifted by the row's peak, exp() cannot overflow and one term is 1.
    const double peak = log_joint[best];
    double* line = out + (wanted == Score::log_evidence ? row : row * n_classes);
    double sum = 0.0;
    for (int k = 0; k < n_classes; ++k) {
        const double share = k == best ? 1.0 : std::exp(log_joint[k] - peak);
        if (wanted == Score::posterior) line[k] = share;
        sum += share;
    }
    if (wanted == Score::posterior) {
        for (int k = 0; k < n_classes; ++k) line[k] /= sum;
    } else if (wanted == Score::log_posterior) {
        // Beside a peak of -1e20 the log of the sum would be lost, so it is taken from the shifted scores.
        const double log_sum = std::log(sum);
        for (int k = 0; k < n_classes; ++k) line[k] = (log_joint[k] - peak) - log_sum;
    } else {
        line[0] = peak + std::log(sum);
    }
    return true;
}

// The scores of all rows on their way to Python: classes are whole numbers, all else is float64.
class Scores {
public:
    Scores(Score wanted, int64_t n_rows, int64_t n_classes)
        : wanted_(wanted), n_classes_(static_cast<int>(n_classes)), numbers_(shape(wanted != Score::best_class, n_rows)),
          classes_(shape(wanted == Score::best_class, n_rows)) {}

    // Whether the row can be given by some class, or got the prior.
    bool write(int64_t row, const double* log_joint, const double* log_prior) {
        return write_score(log_joint, log_prior, n_classes_, wanted_, row, numbers_.data, classes_.data);
    }

    nb::object to_numpy() { return wanted_ == Score::best_class ? classes_.to_numpy() : numbers_.to_numpy(); }

private:
    Score wanted_;
    int n_classes_;
    Owned<double> numbers_;
    Owned<int64_t> classes_;

    std::vector<size_t> shape(bool used, int64_t n_rows) const {
        if (!used) return {0};
        if (wanted_ == Score::best_class || wanted_ == Score::log_evidence) return {static_cast<size_t>(n_rows)};
        return {static_cast<size_t>(n_rows), static_cast<size_t>(n_classes_)};
    }
};

// log P(c) from the rows of each class with their pseudo-counts, when `own` of a row of class `label` is not counted;
// where nothing is left, every class is as likely.
inline void log_prior_without(const double* mass, int n_classes, int64_t label, double row_weight, double* log_prior) {
    double total = 0.0;
    for (int c = 0; c < n_classes; ++c) {
        log_prior[c] = std::max(0.0, mass[c] - (c == label ? row_weight : 0.0));
        total += log_prior[c];
    }
    for (int c = 0; c < n_classes; ++c)
        log_prior[c] = total > 0.0 ? std::log(log_prior[c] / total) : -std::log(static_cast<double>(n_classes));
}

// Classes whose log P(x, c) differ by less are a tie, of which the first is taken: the last bits of a sum of logarithms
// depend on the order in which they are added.
constexpr double TIED_CLASSES = 1e-9;

// Adds a row's 0-1 error, log-loss and (1 - P(true class))², times its weight, to sums (3,). A row that no class can
// give is answered with the prior.
inline void add_losses(const double* log_joint, const double* log_prior, int n_classes, int64_t label, double weight,
                       double* sums) {
    if (weight == 0.0) return;  // 0 times an infinite loss is no number
    int best = argmax(log_joint, n_classes);
    if (!(log_joint[best] > -INFINITY)) {
        log_joint = log_prior;
        best = argmax(log_joint, n_classes);
    }
    const double peak = log_joint[best];
    double sum = 0.0, truth = 0.0;
    for (int k = 0; k < n_classes; ++k) {
        const double share = k == best ? 1.0 : std::exp(log_joint[k] - peak);
        if (k == label) truth = share;
        sum += share;
    }
    const double miss = 1.0 - truth / sum;
    for (best = 0; log_joint[best] < peak - TIED_CLASSES;) ++best;
    sums[0] += best == label ? 0.0 : weight;
    sums[1] -= weight * ((log_joint[label] - peak) - std::log(sum));
    sums[2] += weight * miss * miss;
}

}  // namespace bayeskit
