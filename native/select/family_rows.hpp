// Rows of codes made ready for counting families again and again, as searches for a structure do.
//
// Each column is kept as bytes where its levels fit. A missing cell is one more level, so that no loop over rows has a
// branch; the cells of that level are passed over when a table is read.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/codes.hpp"

namespace bayeskit::select {

// A table of at most this many cells is counted dense whatever the number of rows: to clear it costs next to nothing.
constexpr int64_t DENSE_CELLS = 1 << 12;

struct FamilyRows {
    int64_t n_rows = 0;
    std::vector<uint32_t> card, width;  // levels, and levels with the one for missing where a cell is
    std::vector<std::vector<uint8_t>> narrow;
    std::vector<std::vector<uint32_t>> wide;
    std::vector<double> weight;  // (n_rows,) or empty
    double total = 0.0;
    bool any_missing = false;

    FamilyRows(nb::handle source, const std::vector<int64_t>& cards, const double* weights) {
        const Table table = table_of(source);
        if (table.columns.size() != cards.size()) throw std::invalid_argument("one card a column.");
        n_rows = table.n_rows;
        const size_t d = cards.size();
        narrow.resize(d);
        wide.resize(d);
        std::vector<uint32_t> level(n_rows);
        for (size_t j = 0; j < d; ++j) {
            const uint32_t size = static_cast<uint32_t>(cards[j]);
            decode<true>(table.columns[j], 0, n_rows, 0, size, level.data());
            bool missing = false;
            for (uint32_t& x : level) {
                missing |= x >= size;
                x = x < size ? x : size;
            }
            card.push_back(size);
            width.push_back(size + (missing ? 1 : 0));
            any_missing |= missing;
            if (width[j] <= 256) narrow[j].assign(level.begin(), level.end());
            else wide[j] = level;
        }
        if (weights) weight.assign(weights, weights + n_rows);
        total = static_cast<double>(n_rows);
        if (weights) {
            total = 0.0;
            for (double w : weight) total += w;
        }
    }

    int size() const { return static_cast<int>(card.size()); }
    bool missing_in(int j) const { return width[j] > card[j]; }
    // Beyond this many cells a table is made shorter first: it would be mostly empty.
    int64_t most_cells() const { return std::max(DENSE_CELLS, 8 * n_rows); }

    template <typename F>
    void with_column(int j, F&& f) const {
        if (width[j] <= 256) f(narrow[j].data());
        else f(wide[j].data());
    }
};

// The combination of several columns in each row, as a number below n_ids; n_ids itself marks a row that misses one.
struct Configurations {
    std::vector<uint32_t> id;  // (n_rows,), empty while no column takes part
    int64_t n_ids = 1;
    bool any_missing = false;
};

// Numbers keys 0, 1, … in the order in which they come; open addressing, made for one pass.
class KeyNumbers {
public:
    explicit KeyNumbers(int64_t n_rows) {
        size_t size = 64;
        while (size < static_cast<size_t>(2 * n_rows)) size *= 2;
        keys_.assign(size, EMPTY);
        numbers_.resize(size);
    }
    uint32_t number(uint64_t key) {
        size_t at = static_cast<size_t>(key * 0x9E3779B97F4A7C15ull >> 20) & (keys_.size() - 1);
        while (keys_[at] != key) {
            if (keys_[at] == EMPTY) {
                keys_[at] = key;
                numbers_[at] = next_++;
                break;
            }
            at = (at + 1) & (keys_.size() - 1);
        }
        return numbers_[at];
    }
    uint32_t size() const { return next_; }

private:
    static constexpr uint64_t EMPTY = ~uint64_t{0};
    std::vector<uint64_t> keys_;
    std::vector<uint32_t> numbers_;
    uint32_t next_ = 0;
};

// The configurations with one column more; where most of them would be empty, only those that occur are numbered.
inline Configurations extend(const FamilyRows& rows, const Configurations& before, int j) {
    Configurations after;
    const uint32_t size = rows.card[j];
    const uint32_t none = static_cast<uint32_t>(before.n_ids);
    const bool missing = before.any_missing || rows.missing_in(j);
    after.any_missing = missing;
    after.id.resize(rows.n_rows);
    const int64_t n = rows.n_rows, cells = before.n_ids * size;
    const uint32_t* from = before.id.empty() ? nullptr : before.id.data();
    rows.with_column(j, [&](const auto* x) {
        if (cells <= rows.most_cells()) {
            after.n_ids = cells;
            const uint32_t nowhere = static_cast<uint32_t>(cells);
            if (!from && !missing)
                for (int64_t i = 0; i < n; ++i) after.id[i] = x[i];
            else if (!missing)
                for (int64_t i = 0; i < n; ++i) after.id[i] = from[i] * size + x[i];
            else
                for (int64_t i = 0; i < n; ++i) {
                    const uint32_t above = from ? from[i] : 0;
                    after.id[i] = above == none || x[i] >= size ? nowhere : above * size + x[i];
                }
            return;
        }
        KeyNumbers numbers(n);
        constexpr uint32_t MARK = ~uint32_t{0};
        for (int64_t i = 0; i < n; ++i) {
            const uint32_t above = from ? from[i] : 0;
            const bool lost = missing && (above == none || x[i] >= size);
            after.id[i] = lost ? MARK : numbers.number(static_cast<uint64_t>(above) * size + x[i]);
        }
        after.n_ids = numbers.size();
        for (int64_t i = 0; i < n; ++i)
            if (after.id[i] == MARK) after.id[i] = static_cast<uint32_t>(after.n_ids);
    });
    return after;
}

// Counts cells base · width + x, one a row; each row counts its weight where there are weights.
template <typename C, typename T>
inline void count_cells(const FamilyRows& rows, const uint32_t* base, const T* x, uint32_t width, std::vector<C>& cells,
                        int64_t n_cells) {
    const int64_t n = rows.n_rows;
    if constexpr (std::is_same_v<C, double>) {
        cells.assign(n_cells, 0.0);
        for (int64_t i = 0; i < n; ++i) cells[base[i] * width + x[i]] += rows.weight[i];
    } else if (n_cells <= 2048 && n >= 2048) {
        // Rows that follow each other often hit one cell, and each would wait for the last; four tables take turns.
        cells.assign(4 * n_cells, 0);
        C* a = cells.data();
        C *b = a + n_cells, *c = b + n_cells, *d = c + n_cells;
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            ++a[base[i] * width + x[i]];
            ++b[base[i + 1] * width + x[i + 1]];
            ++c[base[i + 2] * width + x[i + 2]];
            ++d[base[i + 3] * width + x[i + 3]];
        }
        for (; i < n; ++i) ++a[base[i] * width + x[i]];
        for (int64_t k = 0; k < n_cells; ++k) a[k] += b[k] + c[k] + d[k];
    } else {
        cells.assign(n_cells, 0);
        for (int64_t i = 0; i < n; ++i) ++cells[base[i] * width + x[i]];
    }
}

}  // namespace bayeskit::select
