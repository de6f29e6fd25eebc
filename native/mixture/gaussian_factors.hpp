// What the rows of one pattern of missing cells need of each component: its density and its guess of what is missing.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixture/gaussian_rows.hpp"

namespace bayeskit::mixture {

// The parameters as Python gives them; means are relative to the centre of the rows.
struct Components {
    int64_t k = 0, d = 0;
    bool full = false;
    std::vector<double> log_weight;  // (k,)
    std::vector<double> mean;        // (k, d)
    std::vector<double> spread;      // (k, d) variances, or (k, d, d) covariances
};

// A covariance that is not positive definite; `component` says whose.
struct Singular : std::runtime_error {
    int64_t component;
    explicit Singular(int64_t c) : std::runtime_error("a covariance is singular."), component(c) {}
};

struct Factors {
    int64_t pattern = -1;
    std::vector<double> constant;  // (k,): log weight - ½ (m log 2π + log |Σ_oo|)
    std::vector<double> mean;      // (k, m): means of the known columns
    std::vector<double> inverse;   // diagonal: (k, m) 1 / σ²
    std::vector<double> whiten;    // full: (k, m, m) inverse of the Cholesky factor of Σ_oo, lower triangle
    std::vector<double> guess;     // full: (k, d - m, m) Σ_mo Σ_oo⁻¹, the regression of missing on known cells
    std::vector<double> left;      // full: (k, d - m, d - m) covariance of the missing cells given the known ones
};

// Lower Cholesky factor in place; false where a pivot is not above zero.
inline bool cholesky(double* a, int64_t m) {
    for (int64_t j = 0; j < m; ++j) {
        double pivot = a[j * m + j];
        for (int64_t p = 0; p < j; ++p) pivot -= a[j * m + p] * a[j * m + p];
        if (!(pivot > 0.0) || std::isinf(pivot)) return false;
        const double root = std::sqrt(pivot);
        a[j * m + j] = root;
        for (int64_t i = j + 1; i < m; ++i) {
            double sum = a[i * m + j];
            for (int64_t p = 0; p < j; ++p) sum -= a[i * m + p] * a[j * m + p];
            a[i * m + j] = sum / root;
        }
    }
    return true;
}

// Inverse of a lower triangle.
inline void invert_lower(const double* l, int64_t m, double* out) {
    std::fill(out, out + m * m, 0.0);
    for (int64_t j = 0; j < m; ++j) {
        out[j * m + j] = 1.0 / l[j * m + j];
        for (int64_t i = j + 1; i < m; ++i) {
            double sum = 0.0;
            for (int64_t p = j; p < i; ++p) sum += l[i * m + p] * out[p * m + j];
            out[i * m + j] = -sum / l[i * m + i];
        }
    }
}

constexpr double LOG_2PI = 1.8378770664093454836;

inline void factor_full(const Components& model, const Pattern& pattern, int64_t c, Factors& out, std::vector<double>& l) {
    const int64_t d = model.d, m = static_cast<int64_t>(pattern.known.size()), u = d - m;
    const double* cov = model.spread.data() + c * d * d;
    l.resize(m * m);
    for (int64_t a = 0; a < m; ++a)
        for (int64_t b = 0; b < m; ++b) l[a * m + b] = cov[pattern.known[a] * d + pattern.known[b]];
    if (!cholesky(l.data(), m)) throw Singular(c);
    double* whiten = out.whiten.data() + c * m * m;
    invert_lower(l.data(), m, whiten);
    double log_det = 0.0;
    for (int64_t a = 0; a < m; ++a) log_det += 2.0 * std::log(l[a * m + a]);
    out.constant[c] = model.log_weight[c] - 0.5 * (static_cast<double>(m) * LOG_2PI + log_det);
    std::vector<double> half(m);
    double *guess = out.guess.data() + c * u * m, *left = out.left.data() + c * u * u;
    for (int64_t a = 0; a < u; ++a) {
        const double* row = cov + pattern.missing[a] * d;
        // half = L⁻¹ Σ_om, then guess = half' L⁻¹
        for (int64_t b = 0; b < m; ++b) {
            half[b] = 0.0;
            for (int64_t p = 0; p <= b; ++p) half[b] += whiten[b * m + p] * row[pattern.known[p]];
        }
        for (int64_t b = 0; b < m; ++b) {
            double sum = 0.0;
            for (int64_t p = b; p < m; ++p) sum += half[p] * whiten[p * m + b];
            guess[a * m + b] = sum;
        }
        for (int64_t b = 0; b < u; ++b) {
            double sum = row[pattern.missing[b]];
            const double* other = cov + pattern.missing[b] * d;
            for (int64_t p = 0; p < m; ++p) sum -= guess[a * m + p] * other[pattern.known[p]];
            left[a * u + b] = sum;
        }
    }
}

inline void factor(const Components& model, const Pattern& pattern, Factors& out) {
    const int64_t k = model.k, d = model.d, m = static_cast<int64_t>(pattern.known.size()), u = d - m;
    out.constant.resize(k);
    out.mean.resize(k * m);
    for (int64_t c = 0; c < k; ++c)
        for (int64_t a = 0; a < m; ++a) out.mean[c * m + a] = model.mean[c * d + pattern.known[a]];
    if (model.full) {
        out.whiten.resize(k * m * m);
        out.guess.resize(k * u * m);
        out.left.resize(k * u * u);
        std::vector<double> scratch;
        for (int64_t c = 0; c < k; ++c) factor_full(model, pattern, c, out, scratch);
        return;
    }
    out.inverse.resize(k * m);
    for (int64_t c = 0; c < k; ++c) {
        double log_det = 0.0;
        for (int64_t a = 0; a < m; ++a) {
            const double variance = model.spread[c * d + pattern.known[a]];
            if (!(variance > 0.0) || std::isinf(variance)) throw Singular(c);
            out.inverse[c * m + a] = 1.0 / variance;
            log_det += std::log(variance);
        }
        out.constant[c] = model.log_weight[c] - 0.5 * (static_cast<double>(m) * LOG_2PI + log_det);
    }
}

}  // namespace bayeskit::mixture
