// The rows of a tree's nodes in the order of every column: sorted once, and every split keeps the order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace bayeskit::concept_learning {

class SortedRows {
public:
    // codes (n_columns, n_rows), the largest code of column j being sizes[j]. Rows come in the order of the code and
    // then of the class; a row of weight 0 is left out.
    SortedRows(const uint32_t* codes, const int64_t* sizes, int64_t n_columns, int64_t n_rows, const uint32_t* y,
               int64_t n_classes, const double* weight)
        : side_(n_rows) {
        std::vector<uint32_t> rows;
        for (int64_t i = 0; i < n_rows; ++i)
            if (!weight || weight[i] > 0.0) rows.push_back(static_cast<uint32_t>(i));
        size_ = static_cast<int64_t>(rows.size());
        spare_.resize(size_);
        sort_by(rows.data(), spare_.data(), y, n_classes);
        rows = spare_;
        rows_.resize(std::max<int64_t>(n_columns, 1) * size_);
        std::copy(rows.begin(), rows.end(), rows_.begin());
        for (int64_t j = 0; j < n_columns; ++j)
            sort_by(rows.data(), rows_.data() + j * size_, codes + j * n_rows, sizes[j] + 1);
    }

    int64_t size() const { return size_; }
    int64_t n_columns() const { return size_ ? static_cast<int64_t>(rows_.size()) / size_ : 0; }
    const uint32_t* of(int64_t j) const { return rows_.data() + j * size_; }

    // Parts the rows in places begin … end by the side that each goes to; returns where each side begins, and the end.
    template <typename Side>
    std::vector<int64_t> split(int64_t begin, int64_t end, int64_t n_sides, Side&& side_of) {
        std::vector<int64_t> start(n_sides + 1, begin), place(n_sides);
        for (int64_t i = begin; i < end; ++i) {
            const uint32_t row = rows_[i];
            side_[row] = static_cast<uint32_t>(side_of(row));
            ++place[side_[row]];
        }
        for (int64_t s = 0; s < n_sides; ++s) start[s + 1] = start[s] + place[s];
        for (int64_t j = 0; j < n_columns(); ++j) {
            uint32_t* rows = rows_.data() + j * size_;
            std::copy(rows + begin, rows + end, spare_.begin());
            std::copy(start.begin(), start.end() - 1, place.begin());
            for (int64_t i = 0; i < end - begin; ++i) rows[place[side_[spare_[i]]]++] = spare_[i];
        }
        return start;
    }

private:
    int64_t size_ = 0;
    std::vector<uint32_t> rows_;  // (n_columns, size)
    std::vector<uint32_t> side_, spare_;

    // Stable, by counting.
    void sort_by(const uint32_t* rows, uint32_t* out, const uint32_t* key, int64_t n_keys) const {
        std::vector<int64_t> place(n_keys + 1, 0);
        for (int64_t i = 0; i < size_; ++i) ++place[key[rows[i]] + 1];
        for (int64_t k = 0; k < n_keys; ++k) place[k + 1] += place[k];
        for (int64_t i = 0; i < size_; ++i) out[place[key[rows[i]]]++] = rows[i];
    }
};

}  // namespace bayeskit::concept_learning
