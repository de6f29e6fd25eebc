// Family tables as probabilities, made ready to be summed over.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "score/family.hpp"

namespace bayeskit::score {

// In a table of wide columns most combinations of parents were never seen, and each gives every value the same
// probability. That number is known before any row comes, so only the other combinations need to be read.
struct HiddenTable {
    double even = 0.0;                   // the probability that most combinations give to every value, or 0 if few do
    double log2_least = 0.0;             // log2 of the least probability that is not 0
    std::vector<int64_t> uneven;         // the other combinations
    std::vector<uint32_t> parent_level;  // (uneven, n_parents)
};

class HiddenTables {
public:
    // raw: (cells, width), of which the first n_classes of each row are turned into probabilities by `probability`.
    template <typename Probability>
    HiddenTables(const std::vector<Family>& families, int64_t n_classes, const double* raw, int64_t width,
                 Probability&& probability)
        : n_classes_(n_classes) {
        int64_t n_cells = 0;
        for (const Family& family : families) n_cells += family.n_cells;
        numbers_.resize(n_cells * n_classes);
        for (const Family& family : families) add(family, raw + family.first_cell * width, width, probability);
    }

    int64_t n_classes() const { return n_classes_; }
    const HiddenTable& operator[](int64_t family) const { return tables_[family]; }
    // (levels of the feature, combinations of the parents, n_classes)
    const double* numbers(const Family& family) const { return numbers_.data() + family.first_cell * n_classes_; }

private:
    int64_t n_classes_;
    std::vector<double> numbers_;
    std::vector<HiddenTable> tables_;

    template <typename Probability>
    void add(const Family& family, const double* raw, int64_t width, Probability&& probability) {
        const int64_t n_configs = family.n_configs(), size = family.n_levels;
        HiddenTable table;
        double* out = numbers_.data() + family.first_cell * n_classes_;
        const double log2_of_e = 1.4426950408889634;
        double even_raw = NAN, even = 0.0, least = 1.0;
        for (int64_t u = 0; u < n_configs; ++u) {
            const double* config = raw + u * size * width;
            bool flat = true;
            const double first = config[0];
            for (int64_t v = 0; v < size; ++v)
                for (int64_t c = 0; c < n_classes_; ++c) flat = flat && config[v * width + c] == first;
            if (flat && even_raw != even_raw) {
                even_raw = first;
                even = probability(first);
            }
            const bool is_even = flat && first == even_raw;
            if (!is_even) table.uneven.push_back(u);
            for (int64_t v = 0; v < size; ++v)
                for (int64_t c = 0; c < n_classes_; ++c) {
                    const double p = is_even ? even : probability(config[v * width + c]);
                    out[(v * n_configs + u) * n_classes_ + c] = p;
                    if (p > 0.0) least = std::min(least, p);
                }
        }
        table.log2_least = std::log(least) * log2_of_e;
        if (even > 0.0 && static_cast<int64_t>(table.uneven.size()) * 4 <= n_configs) {
            table.even = even;
            for (int64_t u : table.uneven)
                for (size_t m = 0; m + 1 < family.members.size(); ++m) {
                    const int64_t stride = family.turned_stride(m);
                    const int64_t above = m ? family.turned_stride(m - 1) : n_configs;
                    table.parent_level.push_back(static_cast<uint32_t>(u % above / stride));
                }
        } else {
            table.uneven.clear();
        }
        tables_.push_back(std::move(table));
    }
};

// Tables that are made when the first hidden cell comes, by whichever thread meets it.
class LazyTables {
public:
    template <typename Make>
    const HiddenTables& get(Make&& make) {
        std::call_once(once_, [&] { tables_.emplace(make()); });
        return *tables_;
    }

private:
    std::once_flag once_;
    std::optional<HiddenTables> tables_;
};

}  // namespace bayeskit::score
