// The distinct numbers of a column in rising order, and how much weight each has.
#pragma once
#include <cstdint>
#include <numeric>
#include <vector>

#include "auto/rows.hpp"
#include "base/sort.hpp"

namespace bayeskit::automatic {

// The rows of a table whose numbers are looked at: row r stands at order[r] in the columns.
struct WeightedRows {
    const int32_t* order;
    const double* weight;
    int64_t n;

    static WeightedRows of(const Vector<int32_t>& order, const Vector<double>& weight, int64_t n_rows) {
        const int64_t n = static_cast<int64_t>(order.shape(0));
        need(static_cast<int64_t>(weight.shape(0)) == n && n < (int64_t{1} << 31), "the rows and their weights differ in length.");
        for (int64_t r = 0; r < n; ++r) need(order.data()[r] >= 0 && order.data()[r] < n_rows, "a row is out of range.");
        return {order.data(), weight.data(), n};
    }
};

// The room is kept from one column to the next.
struct DistinctNumbers {
    std::vector<double> value, weight, reached;  // `reached` is the weight of all numbers up to each
    double missing = 0.0;                        // the weight of the rows without a number

    void find(const Column& column, const WeightedRows& rows) {
        sorter_.key.resize(rows.n);
        sorter_.payload.resize(rows.n);
        missing = 0.0;
        int64_t n = 0;
        with_type(column.type, [&](auto zero) {
            using T = decltype(zero);
            for (int64_t r = 0; r < rows.n; ++r) {
                if (r + AHEAD < rows.n) fetch_line(reinterpret_cast<uintptr_t>(column.data + rows.order[r + AHEAD] * column.stride));
                const double x = static_cast<double>(*reinterpret_cast<const T*>(column.data + rows.order[r] * column.stride));
                sorter_.key[n] = ordered_bits(x);
                sorter_.payload[n] = static_cast<uint32_t>(r);
                const bool known = x == x;
                n += known;
                if (!known) missing += rows.weight[r];
            }
        });
        sorter_.key.resize(n);
        sorter_.payload.resize(n);
        sorter_.sort();
        value.clear();
        weight.clear();
        for (int64_t i = 0; i < n; ++i) {
            if (i == 0 || sorter_.key[i] != sorter_.key[i - 1]) {
                value.push_back(from_ordered(sorter_.key[i]));
                weight.push_back(0.0);
            }
            weight.back() += rows.weight[sorter_.payload[i]];
        }
        add_up();
    }

    void add_up() {
        reached.resize(weight.size());
        std::partial_sum(weight.begin(), weight.end(), reached.begin());
    }

private:
    static constexpr int64_t AHEAD = 24;  // rows of a long column lie here and there: those that come soon are asked for
    Sorter sorter_;
};

}  // namespace bayeskit::automatic
