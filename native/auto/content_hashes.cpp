// What rows, columns, values and classes are, whatever they are called, wherever they stand and in which unit they are
// measured. Sorted by these hashes, they come in one order for every form of a table, and all that is drawn or tied later
// is drawn alike.
//
// A row is hashed by its cells and its class; a value, a class and a column by the rows that have them. One follows from
// the other, so both are refined in turn (Weisfeiler & Leman 1968); what stays equal then is symmetric in the table, or nearly so.
#include <cstring>
#include <limits>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "base/codes.hpp"
#include "base/random.hpp"
#include "base/sort.hpp"

namespace bayeskit::automatic {
namespace {

constexpr uint64_t MISSING_CELL = 0x632be59bd9b4e019ull, OTHER_CELL = 0x9fb21c651e98df25ull, OF_CLASS = 0xd6e8feb86659fd93ull;

// Numbers are hashed by their ranks where all of them have so many cells at the most: nothing that keeps their order
// changes these. The ranks of more would take more time and memory than they are worth.
constexpr int64_t MOST_RANKED = int64_t{1} << 24;

// The weights of the rows at `order`; a row that is not there is a copy of another. Mostly all weights are 1, and a bit is
// enough for each row; else four bytes tell them apart well enough.
class RowWeights {
public:
    RowWeights(int64_t n_rows, const Vector<int32_t>& order, const Vector<double>& weight) : counts_(n_rows, false) {
        const int64_t n = static_cast<int64_t>(order.shape(0));
        if (std::any_of(weight.data(), weight.data() + n, [](double each) { return each != 1.0; })) weight_.resize(n_rows, 0.0f);
        for (int64_t place = 0; place < n; ++place) {
            const int32_t row = order.data()[place];
            need(row >= 0 && row < n_rows, "a row is out of range.");
            counts_[row] = true;
            if (!weight_.empty()) weight_[row] = static_cast<float>(weight.data()[place]);
        }
    }
    bool counts(int64_t row) const { return counts_[row]; }
    uint64_t hash(int64_t row) const {
        if (!counts_[row]) return 0;
        const double wide = weight_.empty() ? 1.0 : static_cast<double>(weight_[row]);
        uint64_t bits;
        std::memcpy(&bits, &wide, sizeof bits);
        return mix64(bits + 1) | 1;
    }

private:
    std::vector<bool> counts_;
    std::vector<float> weight_;  // (n_rows,): empty where all are 1
};

class ContentHashes {
public:
    Owned<uint64_t> row;
    std::vector<uint64_t> column, value, class_;
    std::vector<int64_t> value_at;

    ContentHashes(const Table& table, const uint32_t* y, RowWeights weights, const int64_t* n_values, int64_t n_classes, int threads)
        : row({static_cast<size_t>(table.n_rows)}), column(table.columns.size()), class_(n_classes), value_at(1, 0), table_(table), y_(y), weights_(std::move(weights)),
          n_values_(n_values), threads_(threads), ranges_(table.columns.size()), ranks_(table.columns.size()) {
        for (int64_t r = 0; r < table.n_rows; ++r) row.data[r] = weights_.hash(r);
        int64_t n_numbers = 0;
        for (size_t j = 0; j < column.size(); ++j) {
            value_at.push_back(value_at.back() + std::max<int64_t>(n_values[j], 0));
            n_numbers += n_values[j] < 0;
        }
        value.resize(value_at.back());
        const bool ranked = n_numbers * table.n_rows <= MOST_RANKED;
        parallel_chunks(static_cast<int64_t>(column.size()), threads_, [&](int64_t j, int) {
            if (!is_number(j)) return;
            if (ranked) ranks_[j] = ranks(table_.columns[j]);
            else ranges_[j] = range(table_.columns[j]);
        });
    }

    // The hashes of the rows at `order`, whose last digits give way to their places there; others are left out, and what stays
    // stands in no order, in the memory that the hashes have.
    nb::object numbered_rows(const int32_t* order, int64_t n) {
        int bits = 0;
        while (n >> bits) ++bits;
        const uint64_t last = (uint64_t{1} << bits) - 1;
        for (int64_t place = 0; place < n; ++place) {
            uint64_t& hash = row.data[order[place]];
            hash = (hash & ~last) | static_cast<uint64_t>(place);
        }
        int64_t kept = 0;
        for (int64_t r = 0; r < table_.n_rows; ++r)
            if (weights_.counts(r)) row.data[kept++] = row.data[r];
        row.shape[0] = static_cast<size_t>(kept);
        return row.to_numpy();
    }

    // Values, columns and classes by their rows, then rows by these.
    void refine() {
        std::fill(class_.begin(), class_.end(), 0);
        for (int64_t r = 0; r < table_.n_rows; ++r)
            if (weights_.counts(r)) class_[y_[r]] += mix64(row.data[r] ^ OF_CLASS);
        parallel_chunks(static_cast<int64_t>(column.size()), threads_, [&](int64_t j, int) { refine_column(j); });
        parallel_chunks(n_chunks_of(table_.n_rows), threads_, [&](int64_t chunk, int) {
            const int64_t begin = chunk * ROWS_AT_ONCE, size = std::min(ROWS_AT_ONCE, table_.n_rows - begin);
            refine_rows(begin, size);
        });
    }

private:
    struct Range {
        double low = 0.0, width = 1.0;  // halved, so that their difference does not overflow
    };
    const Table& table_;
    const uint32_t* y_;
    RowWeights weights_;
    const int64_t* n_values_;  // (n_features,): -1 for numbers
    int threads_;
    std::vector<Range> ranges_;
    std::vector<std::vector<uint32_t>> ranks_;  // from 1 on, 0 for a missing number; empty where there are too many

    bool is_number(int64_t j) const { return n_values_[j] < 0; }

    Range range(const Column& column) const {
        double low = std::numeric_limits<double>::infinity(), high = -low, numbers[ROWS_AT_ONCE];
        for (int64_t begin = 0; begin < table_.n_rows; begin += ROWS_AT_ONCE) {
            const int64_t size = std::min(ROWS_AT_ONCE, table_.n_rows - begin);
            read_doubles(column, begin, size, numbers, 1);
            for (int64_t r = 0; r < size; ++r) {
                low = numbers[r] < low ? numbers[r] : low;
                high = numbers[r] > high ? numbers[r] : high;
            }
        }
        return high > low ? Range{0.5 * low, 0.5 * high - 0.5 * low} : Range{0.5 * low, 1.0};
    }

    std::vector<uint32_t> ranks(const Column& column) const {
        std::vector<double> numbers(table_.n_rows);
        read_doubles(column, 0, table_.n_rows, numbers.data(), 1);
        Sorter sorter;
        for (int64_t r = 0; r < table_.n_rows; ++r)
            if (numbers[r] == numbers[r]) {
                sorter.key.push_back(ordered_bits(numbers[r]));
                sorter.payload.push_back(static_cast<uint32_t>(r));
            }
        sorter.sort();
        std::vector<uint32_t> out(table_.n_rows, 0);
        uint32_t rank = 0;
        for (size_t i = 0; i < sorter.key.size(); ++i) {
            rank += i == 0 || sorter.key[i] != sorter.key[i - 1];
            out[sorter.payload[i]] = rank;
        }
        return out;
    }

    // The cells of some rows of a column as numbers that do not depend on names and units. A number becomes its
    // rank, or its share of the range in the digits of a float: what another unit rounds is mostly behind them.
    void read_cells(int64_t j, int64_t begin, int64_t size, uint64_t* cells) const {
        const Column& from = table_.columns[j];
        if (!ranks_[j].empty()) {
            std::copy_n(ranks_[j].begin() + begin, size, cells);
            return;
        }
        if (is_number(j)) {
            double numbers[ROWS_AT_ONCE];
            read_doubles(from, begin, size, numbers, 1);
            const Range range = ranges_[j];
            for (int64_t r = 0; r < size; ++r) {
                const float share = static_cast<float>((0.5 * numbers[r] - range.low) / range.width);
                uint32_t bits;
                std::memcpy(&bits, &share, sizeof bits);
                cells[r] = numbers[r] != numbers[r] ? MISSING_CELL : bits;
            }
            return;
        }
        const uint64_t *values = value.data() + value_at[j], n = static_cast<uint64_t>(n_values_[j]);
        with_type(from.type, [&](auto zero) {
            using T = decltype(zero);
            for (int64_t r = 0; r < size; ++r) {
                const T code = *reinterpret_cast<const T*>(from.data + (begin + r) * from.stride);
                const uint64_t place = static_cast<uint64_t>(code);
                cells[r] = code == std::numeric_limits<T>::max() ? MISSING_CELL : place < n ? values[place] : OTHER_CELL;
            }
        });
    }

    void refine_column(int64_t j) {
        uint64_t total = 0, cells[ROWS_AT_ONCE];
        uint64_t* values = value.data() + value_at[j];
        if (!is_number(j)) {
            std::fill(values, values + n_values_[j], 0);
            const Column& from = table_.columns[j];
            with_type(from.type, [&](auto zero) {
                using T = decltype(zero);
                for (int64_t r = 0; r < table_.n_rows; ++r) {
                    const uint64_t place = static_cast<uint64_t>(*reinterpret_cast<const T*>(from.data + r * from.stride));
                    if (weights_.counts(r) && place < static_cast<uint64_t>(n_values_[j])) values[place] += mix64(row.data[r]);
                }
            });
            for (int64_t v = 0; v < n_values_[j]; ++v) total += mix64(values[v]);
            column[j] = mix64(total + OTHER_CELL);
            return;
        }
        for (int64_t begin = 0; begin < table_.n_rows; begin += ROWS_AT_ONCE) {
            const int64_t size = std::min(ROWS_AT_ONCE, table_.n_rows - begin);
            read_cells(j, begin, size, cells);
            for (int64_t r = 0; r < size; ++r) total += weights_.counts(begin + r) ? mix64(row.data[begin + r] + cells[r]) : 0;
        }
        column[j] = mix64(total);
    }

    void refine_rows(int64_t begin, int64_t size) {
        uint64_t cells[ROWS_AT_ONCE], total[ROWS_AT_ONCE];
        for (int64_t r = 0; r < size; ++r) total[r] = mix64(weights_.hash(begin + r) + class_[y_[begin + r]]);
        for (size_t j = 0; j < column.size(); ++j) {
            read_cells(static_cast<int64_t>(j), begin, size, cells);
            for (int64_t r = 0; r < size; ++r) total[r] += mix64(column[j] + cells[r]);
        }
        for (int64_t r = 0; r < size; ++r) row.data[begin + r] = mix64(total[r]);
    }
};

nb::object copied(const std::vector<uint64_t>& hashes) {
    Owned<uint64_t> out({hashes.size()});
    std::copy(hashes.begin(), hashes.end(), out.data);
    return out.to_numpy();
}

// Hashes of the rows that stand at `order`, whose last digits are their places there, in no order; of the columns, of the values of all columns one after the other, and of the
// classes. A column of numbers has n_values -1; of another the codes below n_values are its values.
nb::tuple content_hashes(nb::handle columns, Vector<int32_t> order, Vector<uint32_t> y, Vector<double> weight, Vector<int64_t> n_values,
                         int64_t n_classes, int64_t n_rounds, int n_threads) {
    const Table table = table_of(columns);
    const int64_t d = static_cast<int64_t>(table.columns.size()), n = static_cast<int64_t>(order.shape(0));
    check_classes(y, table.n_rows, n_classes);
    need(static_cast<int64_t>(weight.shape(0)) == n && static_cast<int64_t>(n_values.shape(0)) == d, "the parts differ in length.");
    RowWeights weights(table.n_rows, order, weight);
    for (int64_t j = 0; j < d; ++j) {
        const Type type = table.columns[j].type;
        need(n_values.data()[j] < 0 || (type != Type::f32 && type != Type::f64), "the codes of a column are not whole numbers.");
    }
    ContentHashes hashes(table, y.data(), std::move(weights), n_values.data(), n_classes, n_threads);
    {
        nb::gil_scoped_release release;
        for (int64_t round = 0; round < n_rounds; ++round) hashes.refine();
    }
    return nb::make_tuple(hashes.numbered_rows(order.data(), n), copied(hashes.column), copied(hashes.value), copied(hashes.class_));
}

}  // namespace

void bind_content_hashes(nb::module_& m) {
    using namespace nb::literals;
    m.def("content_hashes", &content_hashes, "columns"_a, "order"_a, "y"_a, "weight"_a, "n_values"_a, "n_classes"_a, "n_rounds"_a,
          "n_threads"_a);
}

}  // namespace bayeskit::automatic
