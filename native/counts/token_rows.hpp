// Sparse counts per word and class that grow: most words are met in few classes, some in all.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/column.hpp"
#include "table/vocabulary.hpp"

namespace bayeskit::counts {

template <typename Number>
struct Cell {
    Number token = 0;     // how often the word stands in documents of the class, or the sum of its values
    Number document = 0;  // in how many documents of the class
};

// A word's cells lie in a block of 1, 2, 4 or 8 with their classes, or in a row with one cell for every class.
template <typename Number>
class TokenRows {
public:
    explicit TokenRows(uint32_t n_classes) : width_(std::max(n_classes, 1u)) {}

    uint32_t n_words() const { return static_cast<uint32_t>(rows_.size()); }
    uint32_t n_classes() const { return width_; }

    void set_classes(uint32_t n_classes) {
        if (n_classes <= width_) return;
        LargeVector<Cell<Number>> wider;
        wider.resize(dense_.size() / width_ * n_classes);
        for (size_t r = 0; r < dense_.size() / width_; ++r)
            std::copy_n(dense_.begin() + r * width_, width_, wider.begin() + r * n_classes);
        dense_.swap(wider);
        width_ = n_classes;
    }

    void set_words(uint32_t n_words) {
        if (n_words > rows_.size()) rows_.resize(n_words);
    }

    Cell<Number>& cell(uint32_t word, uint32_t c) {
        Row& row = rows_[word];
        if (row.level == DENSE) return dense_[static_cast<size_t>(row.at) * width_ + c];
        if (row.level != NONE) {
            Entry* block = small_[row.level].data() + (static_cast<size_t>(row.at) << row.level);
            for (int k = 0; k < row.used; ++k)
                if (block[k].c == c) return block[k].cell;
            if (row.used < 1 << row.level) {
                block[row.used].c = c;
                return block[row.used++].cell;
            }
        }
        return widen(row, c);
    }

    // Fetch what `cell` will read: first the row of a word, later its cells.
    void touch_row(uint32_t word) const { table::prefetch(&rows_[word]); }
    void touch_cell(uint32_t word, uint32_t c) const {
        const Row& row = rows_[word];
        if (row.level == DENSE) table::prefetch(&dense_[static_cast<size_t>(row.at) * width_ + c]);
        else if (row.level != NONE) table::prefetch(small_[row.level].data() + (static_cast<size_t>(row.at) << row.level));
    }

    // Calls visit(c, cell) for the cells of a word that are not zero, in rising order of rank[c].
    template <typename Visit>
    void visit(uint32_t word, const std::vector<uint32_t>& rank, Visit&& visit) const {
        std::vector<std::pair<uint32_t, const Cell<Number>*>> entries;
        const Row& row = rows_[word];
        const auto take = [&](uint32_t c, const Cell<Number>& cell) {
            if (cell.token != 0 || cell.document != 0) entries.emplace_back(rank[c], &cell);
        };
        if (row.level == DENSE) {
            for (uint32_t c = 0; c < width_; ++c) take(c, dense_[static_cast<size_t>(row.at) * width_ + c]);
        } else if (row.level != NONE) {
            const Entry* block = small_[row.level].data() + (static_cast<size_t>(row.at) << row.level);
            for (int k = 0; k < row.used; ++k) take(block[k].c, block[k].cell);
        }
        std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [c, cell] : entries) visit(c, *cell);
    }

private:
    static constexpr uint8_t LEVELS = 4, DENSE = 254, NONE = 255;
    struct Entry {
        uint32_t c = 0;
        Cell<Number> cell;
    };
    struct Row {
        uint32_t at = 0;
        uint8_t used = 0, level = NONE;
    };
    uint32_t width_;
    LargeVector<Row> rows_;
    LargeVector<Entry> small_[LEVELS];
    std::vector<uint32_t> free_[LEVELS];
    LargeVector<Cell<Number>> dense_;

    // Moves a full block to one of twice the room, or to a row of all classes where that is no larger.
    Cell<Number>& widen(Row& row, uint32_t c) {
        const uint8_t level = row.level == NONE ? 0 : row.level + 1;
        Row wider;
        if (level == LEVELS || (2u << level) > width_) {
            wider.level = DENSE;
            wider.at = static_cast<uint32_t>(dense_.size() / width_);
            dense_.resize(dense_.size() + width_);
        } else {
            wider.level = level;
            if (free_[level].empty()) {
                wider.at = static_cast<uint32_t>(small_[level].size() >> level);
                small_[level].resize(small_[level].size() + (size_t{1} << level));
            } else {
                wider.at = free_[level].back();
                free_[level].pop_back();
            }
        }
        if (row.level != NONE) {
            Entry* old = small_[row.level].data() + (static_cast<size_t>(row.at) << row.level);
            for (int k = 0; k < row.used; ++k) {
                if (wider.level == DENSE) dense_[static_cast<size_t>(wider.at) * width_ + old[k].c] = old[k].cell;
                else small_[level][(static_cast<size_t>(wider.at) << level) + wider.used++] = old[k];
                old[k] = Entry{};
            }
            free_[row.level].push_back(row.at);
        }
        row = wider;
        if (row.level == DENSE) return dense_[static_cast<size_t>(row.at) * width_ + c];
        Entry& entry = small_[level][(static_cast<size_t>(row.at) << level) + row.used++];
        entry = Entry{};
        entry.c = c;
        return entry.cell;
    }
};

}  // namespace bayeskit::counts
