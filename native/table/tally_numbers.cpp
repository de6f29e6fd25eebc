// How often each number of a column occurs with each class. Where there are too many pairs, numbers lose so many of their
// last bits that the pairs fit: as few as can be, so that the tally depends on the numbers and not on their order.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/column.hpp"
#include "base/random.hpp"
#include "kernels.hpp"

namespace bayeskit::table {
namespace {

namespace nb = nanobind;
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Without its last 63 bits a number is its sign.
constexpr int MOST_LEVEL = 63;

// Cells whose memory is asked for before it is their turn.
constexpr size_t AHEAD = 16;

struct Cell {
    uint64_t bits;   // of the number
    uint64_t group;  // its class times two, plus one where rounding took something from the number
    double weight;
};

constexpr uint64_t FREE = ~uint64_t{0};  // no group

Cell rounded(Cell cell, int level) {
    const uint64_t kept = cell.bits >> level << level;
    cell.group |= kept != cell.bits;
    cell.bits = kept << 1 ? kept : 0;  // there is one zero
    return cell;
}

// Cells by open addressing; at least half of the places are free.
class Cells {
public:
    explicit Cells(size_t n_places) : places_(n_places, Cell{0, FREE, 0.0}) {}

    // Asks for the memory of a cell that is to be added soon.
    void expect(const Cell& cell) const { __builtin_prefetch(places_.data() + place_of(cell), 1); }

    void add(const Cell& cell) {
        const size_t last = places_.size() - 1;
        size_t at = place_of(cell);
        while (places_[at].group != FREE) {
            if (places_[at].bits == cell.bits && places_[at].group == cell.group) {
                places_[at].weight += cell.weight;
                return;
            }
            at = (at + 1) & last;
        }
        places_[at] = cell;
        if (++size_ * 2 > places_.size()) grow();
    }

    size_t size() const { return size_; }

    template <typename Take>
    void each(Take&& take) const {
        for (const Cell& cell : places_)
            if (cell.group != FREE) take(cell);
    }

    // The cells with their numbers rounded, of which no more than `most` + 1 are made.
    Cells at_level(int level, size_t most) const {
        Cells fewer(places_.size());
        for (size_t i = 0; i < places_.size() && fewer.size() <= most; ++i) {
            if (i + 2 * AHEAD < places_.size() && places_[i + 2 * AHEAD].group != FREE)
                fewer.expect(rounded(places_[i + 2 * AHEAD], level));
            if (places_[i].group != FREE) fewer.add(rounded(places_[i], level));
        }
        return fewer;
    }

private:
    std::vector<Cell> places_;
    size_t size_ = 0;

    size_t place_of(const Cell& cell) const {
        return mix64(cell.bits + cell.group * 0x9e3779b97f4a7c15ull) & (places_.size() - 1);
    }

    void grow() {
        Cells larger(places_.size() * 2);
        each([&](const Cell& cell) { larger.add(cell); });
        std::swap(*this, larger);
    }
};

class NumberTally {
public:
    NumberTally(int level, size_t most) : level_(level), most_(most), cells_(1024) {}

    void add(const Cell& cell) {
        cells_.add(rounded(cell, level_));
        if (cells_.size() > most_ && level_ < MOST_LEVEL) round_more();
    }

    void expect(const Cell& cell) const { cells_.expect(rounded(cell, level_)); }

    int level() const { return level_; }
    const Cells& cells() const { return cells_; }

private:
    int level_;
    size_t most_;
    Cells cells_;

    // Finds the least level at which the cells fit: more cells at a level never become fewer by further rows.
    void round_more() {
        int too_low = level_, high = level_;
        Cells fewer(2);
        for (int step = 1;; step *= 2) {
            high = std::min(MOST_LEVEL, too_low + step);
            fewer = cells_.at_level(high, high == MOST_LEVEL ? cells_.size() : most_);
            if (high == MOST_LEVEL || fewer.size() <= most_) break;
            too_low = high;
        }
        while (high - too_low > 1) {
            const int middle = (too_low + high) / 2;
            Cells tried = cells_.at_level(middle, most_);
            if (tried.size() <= most_) {
                high = middle;
                fewer = std::move(tried);
            } else {
                too_low = middle;
            }
        }
        level_ = high;
        cells_ = std::move(fewer);
    }
};

uint64_t bits_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits << 1 ? bits : 0;
}

nb::tuple tally_numbers(Vector<double> values, Vector<int64_t> labels, std::optional<Vector<bool>> was_rounded,
                        std::optional<Vector<double>> weight, int level, size_t most) {
    const size_t n = values.shape(0);
    if (labels.shape(0) != n || (was_rounded && was_rounded->shape(0) != n) || (weight && weight->shape(0) != n))
        throw std::invalid_argument("numbers, labels and weights differ in length.");
    if (level < 0 || level > MOST_LEVEL) throw std::invalid_argument("level must be from 0 to 63.");
    NumberTally tally(level, most);
    {
        nb::gil_scoped_release release;
        const auto cell = [&](size_t i) {
            const uint64_t group = static_cast<uint64_t>(labels.data()[i]) * 2 + (was_rounded && was_rounded->data()[i]);
            return Cell{bits_of(values.data()[i]), group, weight ? weight->data()[i] : 1.0};
        };
        for (size_t i = 0; i < n; ++i) {
            if (i + AHEAD < n) tally.expect(cell(i + AHEAD));
            tally.add(cell(i));
        }
    }
    const size_t size = tally.cells().size();
    Owned<double> kept({size}), sums({size});
    Owned<int64_t> classes({size});
    Owned<bool> lost({size});
    size_t at = 0;
    tally.cells().each([&](const Cell& cell) {
        std::memcpy(kept.data + at, &cell.bits, sizeof cell.bits);
        classes.data[at] = static_cast<int64_t>(cell.group >> 1);
        lost.data[at] = cell.group & 1;
        sums.data[at++] = cell.weight;
    });
    return nb::make_tuple(tally.level(), kept.to_numpy(), classes.to_numpy(), lost.to_numpy(), sums.to_numpy());
}

}  // namespace

void bind_tally_numbers(nb::module_& m) {
    using namespace nb::literals;
    m.def("tally_numbers", &tally_numbers, "values"_a, "labels"_a, "rounded"_a.none(), "weight"_a.none(), "level"_a, "most"_a);
}

}  // namespace bayeskit::table
