// log P(c) + sum of log P(x_j | parents of j, c) for any structure whose features may have parents besides the class.
// Hidden cells are summed out exactly. Leave-one-out takes each row's own count out of the tables that it is in.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "score/sum_out.hpp"
#include "kernels.hpp"
#include "base/score.hpp"
#include "base/simd.hpp"

namespace bayeskit::score {
namespace {

constexpr int64_t CHUNK_ROWS = 256;

BAYESKIT_SIMD void add_family(double* acc, const double* table, const int64_t* cell, int64_t n, int64_t lanes) {
    add_rows(acc, table, cell, n, lanes);
}

// The levels of a chunk of rows; HIDDEN marks a cell that is missing, or unseen where that counts as missing.
struct Chunk {
    static constexpr uint32_t HIDDEN = ~uint32_t{0};
    int64_t begin = 0, n = 0;
    std::vector<uint32_t> level;    // (d, CHUNK_ROWS)
    std::vector<uint8_t> hides;     // (CHUNK_ROWS,) whether the row has a hidden cell
    bool any = false;
};

// What was counted, for leave-one-out.
struct Evidence {
    std::vector<uint32_t> y;
    std::vector<double> row_weight;           // how much of each row is in the counts and leaves: at most 1
    std::vector<double> weight;
    std::vector<double> class_mass;    // (K,) rows and pseudo-counts
    std::vector<double> counts;        // (cells, K)
    std::vector<double> margin;        // (cells, K) the counts summed over the feature's levels, at its level 0
    std::vector<double> pseudo;        // of each feature's levels, one after the other
    std::vector<double> pseudo_sum;    // (d,)
    std::vector<int64_t> first_value;  // (d,)
    std::vector<double> log_without;   // (cells, K) what each cell gives when one row leaves it, or empty
    std::vector<double> log_other;     // (cells, K) the same for the classes that the row is not of, or empty
};

class FamilyScorer {
public:
    // Families stand in an order in which parents come before their children. Tables are (cells, n_classes) of all
    // families, flat; with `smooth` each column has one more level than its size, for values that were never seen.
    // `prior_feature`: the feature in which a row must be known to be counted in the prior, or -1.
    FamilyScorer(Array log_prior, Array log_tables, std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> families,
                 bool smooth, int64_t prior_feature)
        : sizes_(sizes), prior_feature_(prior_feature) {
        n_classes_ = static_cast<int64_t>(log_prior.shape(0));
        lanes_ = lanes_for(n_classes_);
        log_prior_ = doubles(log_prior, n_classes_);
        for (int64_t size : sizes_) levels_.push_back(size + (smooth && size > 0 ? 1 : 0));
        used_.assign(sizes_.size(), 0);
        for (auto& members : families) {
            for (int64_t member : members) used_.at(member) = 1;
            Family family(std::move(members), levels_, n_cells_);
            n_cells_ += family.n_cells;
            all_.push_back(static_cast<int64_t>(families_.size()));
            families_.push_back(std::move(family));
        }
        const Column flat = column_of(log_tables);
        if (static_cast<int64_t>(log_tables.shape(0)) != n_cells_ * n_classes_ || flat.type != Type::f64 ||
            (n_cells_ && flat.stride != sizeof(double)))
            throw std::invalid_argument("tables come as one flat run of float64 that fits the families.");
        const double* numbers = reinterpret_cast<const double*>(flat.data);
        tables_.resize(n_cells_ * lanes_);
        if (lanes_ == n_classes_) std::copy_n(numbers, n_cells_ * n_classes_, tables_.data());
        else
            for (int64_t cell = 0; cell < n_cells_; ++cell)
                std::copy_n(numbers + cell * n_classes_, n_classes_, tables_.data() + cell * lanes_);
    }

    // (scores, first row that no class can give or -1, rows whose hidden cells are too many to be summed out). Of such a
    // row only the families without a hidden member are taken.
    nb::tuple score(nb::object columns, Score wanted, bool fallback, int n_threads) {
        const Table table = checked(columns);
        Scores scores(wanted, table.n_rows, n_classes_);
        const double* prior = fallback ? log_prior_.data() : nullptr;
        std::vector<int64_t> too_large;
        const int64_t impossible = for_chunks(table, n_threads, too_large, [&](const Chunk& chunk, Scratch& scratch) {
            int64_t bad = -1;
            fill_log_joint(chunk, scratch);
            for (int64_t r = 0; r < chunk.n; ++r)
                if (!scores.write(chunk.begin + r, scratch.acc.data() + r * lanes_, prior) && bad < 0) bad = chunk.begin + r;
            return bad;
        });
        return nb::make_tuple(scores.to_numpy(), impossible, too_large);
    }

    // (log posterior or log joint of each row without itself, first impossible row or -1, rows as above). log_without: (cells, K) what
    // each cell gives when a row that it holds is left out, for rows that all count once; without it, it follows from counts and
    // pseudo-counts. log_other: the same for the classes that the row is not of, where they differ from the tables.
    nb::tuple leave_one_out(nb::list columns, Array y, std::optional<Array> weight, Array n_class, Array counts,
                            Array class_pseudo, Array pseudo, std::optional<Array> log_without, std::optional<Array> log_other,
                            Score wanted, bool fallback, int n_threads) {
        const Table table = checked(columns);
        Evidence evidence = gather(table, y, weight, n_class, counts, class_pseudo, pseudo, log_without);
        if (log_other) evidence.log_other = doubles(*log_other, n_cells_ * n_classes_);
        Scores scores(wanted, table.n_rows, n_classes_);
        std::vector<int64_t> too_large;
        const int64_t impossible = for_chunks(table, n_threads, too_large, [&](const Chunk& chunk, Scratch& scratch) {
            int64_t bad = -1;
            for (int64_t r = 0; r < chunk.n; ++r) {
                const double* joint = left_out(chunk, scratch, evidence, r);
                const bool good = scores.write(chunk.begin + r, joint, fallback ? scratch.prior.data() : nullptr);
                if (!good && bad < 0) bad = chunk.begin + r;
            }
            return bad;
        });
        return nb::make_tuple(scores.to_numpy(), impossible, too_large);
    }

private:
    int64_t n_classes_ = 0, lanes_ = 0, n_cells_ = 0;
    std::vector<int64_t> sizes_, levels_;
    std::vector<uint8_t> used_;  // whether a column is in any family; the others are not read
    int64_t prior_feature_;
    std::vector<Family> families_;
    std::vector<int64_t> all_;  // the positions of all families
    std::vector<double> log_prior_, tables_;
    mutable LazyTables hidden_tables_;

    // What a thread keeps from row to row: plans for the patterns of hidden cells that it met, and arrays.
    struct Scratch {
        std::unordered_map<std::string, SumOutPlan> plans;
        HiddenSum hidden_sum;
        std::vector<double> acc, prior;
        std::vector<int64_t> cell;
        std::vector<uint8_t> hidden;
        std::vector<int64_t> too_large;  // rows
        // A row with hidden cells may take milliseconds, and a chunk of them seconds: Ctrl-C is asked for row by row, by the
        // calling thread, and the others see in `stopped` that it came.
        Interrupts interrupts;
        bool asks = false;
        std::atomic<bool>* stopped = nullptr;
    };

    Table checked(nb::handle columns) const {
        Table table = table_of(columns);
        if (table.columns.size() != sizes_.size()) throw std::invalid_argument("wrong number of columns.");
        return table;
    }

    // Calls work(chunk, scratch) -> first bad row or -1 for each chunk; gives the first bad row of all, and in `too_large`
    // the rows whose hidden cells could not be summed out, rising.
    template <typename Work>
    int64_t for_chunks(const Table& table, int n_threads, std::vector<int64_t>& too_large, Work&& work) {
        const int64_t n_chunks = (table.n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<int64_t> bad(n_chunks, -1);
        std::vector<Scratch> scratches(threads_used(n_chunks, n_threads));
        std::atomic<bool> stopped{false};
        for (Scratch& scratch : scratches) scratch.stopped = &stopped;
        scratches[0].asks = true;
        {
            std::optional<nb::gil_scoped_release> release;
            if (table.n_rows > 64) release.emplace();
            parallel_chunks(n_chunks, n_threads, [&](int64_t c, int thread) {
                Chunk chunk;
                chunk.level.resize(sizes_.size() * CHUNK_ROWS);
                chunk.hides.resize(CHUNK_ROWS);
                read(table, c * CHUNK_ROWS, chunk);
                bad[c] = work(chunk, scratches[thread]);
            });
        }
        for (const Scratch& scratch : scratches)
            too_large.insert(too_large.end(), scratch.too_large.begin(), scratch.too_large.end());
        std::sort(too_large.begin(), too_large.end());
        for (int64_t row : bad)
            if (row >= 0) return row;
        return -1;
    }

    void read(const Table& table, int64_t begin, Chunk& chunk) {
        chunk.begin = begin;
        chunk.n = std::min(CHUNK_ROWS, table.n_rows - begin);
        chunk.any = false;
        std::fill(chunk.hides.begin(), chunk.hides.end(), 0);
        for (size_t j = 0; j < sizes_.size(); ++j) {
            if (!used_[j]) continue;
            uint32_t* level = chunk.level.data() + j * CHUNK_ROWS;
            decode<true>(table.columns[j], begin, chunk.n, 0, static_cast<uint32_t>(sizes_[j]), level);
            const uint32_t known = static_cast<uint32_t>(levels_[j]);
            uint32_t highest = 0;
            for (int64_t r = 0; r < chunk.n; ++r) highest = std::max(highest, level[r]);
            if (highest < known) continue;
            chunk.any = true;
            for (int64_t r = 0; r < chunk.n; ++r)
                if (level[r] >= known) {
                    level[r] = Chunk::HIDDEN;
                    chunk.hides[r] = 1;
                }
        }
    }

    const HiddenTables& hidden_tables() const {
        return hidden_tables_.get([&] {
            return HiddenTables(families_, n_classes_, tables_.data(), lanes_, [](double log_p) { return std::exp(log_p); });
        });
    }

    int64_t cell_of(const Family& family, const uint32_t* level) const {
        int64_t cell = family.first_cell;
        for (size_t m = 0; m < family.members.size(); ++m)
            cell += family.strides[m] * level[family.members[m] * CHUNK_ROWS];
        return cell;
    }

    bool hides_member(const Family& family, const uint32_t* level) const {
        for (int64_t member : family.members)
            if (level[member * CHUNK_ROWS] == Chunk::HIDDEN) return true;
        return false;
    }

    void fill_log_joint(const Chunk& chunk, Scratch& scratch) const {
        scratch.acc.resize(CHUNK_ROWS * lanes_);
        scratch.cell.resize(CHUNK_ROWS);
        for (int64_t r = 0; r < chunk.n; ++r) {
            std::copy_n(log_prior_.data(), n_classes_, scratch.acc.data() + r * lanes_);
            if (chunk.hides[r]) add_hidden_row(chunk, scratch, r, scratch.acc.data() + r * lanes_);
        }
        for (const Family& family : families_) {
            if (chunk.any) {
                for (int64_t r = 0; r < chunk.n; ++r) {
                    if (chunk.hides[r]) continue;
                    const double* row = tables_.data() + cell_of(family, chunk.level.data() + r) * lanes_;
                    for (int64_t k = 0; k < lanes_; ++k) scratch.acc[r * lanes_ + k] += row[k];
                }
                continue;
            }
            std::fill(scratch.cell.begin(), scratch.cell.end(), family.first_cell);
            for (size_t m = 0; m < family.members.size(); ++m) {
                const uint32_t* level = chunk.level.data() + family.members[m] * CHUNK_ROWS;
                const int64_t stride = family.strides[m];
                for (int64_t r = 0; r < chunk.n; ++r) scratch.cell[r] += stride * level[r];
            }
            add_family(scratch.acc.data(), tables_.data(), scratch.cell.data(), chunk.n, lanes_);
        }
    }

    // Throws Ctrl-C in the calling thread; in the others says that it came.
    static bool is_stopped(Scratch& scratch) {
        if (!scratch.asks) return scratch.stopped->load(std::memory_order_relaxed);
        try {
            scratch.interrupts.check();
        } catch (...) {
            scratch.stopped->store(true);
            throw;
        }
        return false;
    }

    // The plan of a row's hidden cells; null where it needs too much, and where nobody waits for the result any more.
    const SumOutPlan* plan_for(const Chunk& chunk, Scratch& scratch, int64_t r) const {
        if (is_stopped(scratch)) return nullptr;
        scratch.hidden.assign(sizes_.size(), 0);
        for (size_t j = 0; j < sizes_.size(); ++j) scratch.hidden[j] = chunk.level[j * CHUNK_ROWS + r] == Chunk::HIDDEN;
        const std::string key(reinterpret_cast<const char*>(scratch.hidden.data()), scratch.hidden.size());
        auto at = scratch.plans.find(key);
        if (at == scratch.plans.end()) {
            if (scratch.plans.size() > 10000) scratch.plans.clear();  // a bound on the memory of tables with many patterns
            at = scratch.plans.emplace(key, SumOutPlan(families_, all_, levels_, scratch.hidden)).first;
        }
        if (at->second.largest <= MOST_NUMBERS / n_classes_) return &at->second;
        scratch.too_large.push_back(chunk.begin + r);
        return nullptr;
    }

    void add_hidden_row(const Chunk& chunk, Scratch& scratch, int64_t r, double* joint) const {
        const SumOutPlan* plan = plan_for(chunk, scratch, r);
        const uint32_t* level = chunk.level.data() + r;
        for (int64_t f : plan ? plan->plain : all_) {
            if (!plan && hides_member(families_[f], level)) continue;
            const double* row = tables_.data() + cell_of(families_[f], level) * lanes_;
            for (int64_t c = 0; c < n_classes_; ++c) joint[c] += row[c];
        }
        if (plan) scratch.hidden_sum.add(*plan, families_, hidden_tables(), level, CHUNK_ROWS, joint);
    }

    Evidence gather(const Table& table, const Array& y, const std::optional<Array>& weight, const Array& n_class,
                    const Array& counts, const Array& class_pseudo, const Array& pseudo,
                    const std::optional<Array>& log_without) const {
        Evidence evidence;
        evidence.y = class_codes(y);
        if (static_cast<int64_t>(evidence.y.size()) != table.n_rows)
            throw std::invalid_argument("y and the table differ in length.");
        for (uint32_t c : evidence.y)
            if (c >= n_classes_) throw std::invalid_argument("a class code is out of range.");
        evidence.weight = weight ? doubles(*weight, table.n_rows) : std::vector<double>(table.n_rows, 1.0);
        evidence.row_weight = evidence.weight;
        for (double& row_weight : evidence.row_weight) row_weight = std::min(row_weight, 1.0);
        evidence.class_mass = doubles(n_class, n_classes_);
        const std::vector<double> more = doubles(class_pseudo, n_classes_);
        for (int64_t c = 0; c < n_classes_; ++c) evidence.class_mass[c] += more[c];
        evidence.counts = doubles(counts, n_cells_ * n_classes_);
        int64_t n_values = 0;
        for (int64_t size : levels_) {
            evidence.first_value.push_back(n_values);
            n_values += size;
        }
        evidence.pseudo = doubles(pseudo, n_values);
        for (size_t j = 0; j < levels_.size(); ++j) {
            double sum = 0.0;
            for (int64_t v = 0; v < levels_[j]; ++v) sum += evidence.pseudo[evidence.first_value[j] + v];
            evidence.pseudo_sum.push_back(sum);
        }
        evidence.margin.assign(n_cells_ * n_classes_, 0.0);
        for (const Family& family : families_) {
            const int64_t size = levels_[family.feature()];
            for (int64_t cell = family.first_cell; cell < family.first_cell + family.n_cells; ++cell) {
                const int64_t first = cell - (cell - family.first_cell) % size;
                for (int64_t c = 0; c < n_classes_; ++c)
                    evidence.margin[first * n_classes_ + c] += evidence.counts[cell * n_classes_ + c];
            }
        }
        if (log_without) evidence.log_without = doubles(*log_without, n_cells_ * n_classes_);
        return evidence;
    }

    // log P(x_j | parents, label) when the row itself is not counted
    double log_without(const Evidence& evidence, const Family& family, int64_t cell, uint32_t level, int64_t label,
                       double row_weight) const {
        if (!evidence.log_without.empty()) return evidence.log_without[cell * n_classes_ + label];
        const int64_t j = family.feature();
        const double n = std::max(0.0, evidence.counts[cell * n_classes_ + label] - row_weight);
        const double all = std::max(0.0, evidence.margin[(cell - level) * n_classes_ + label] - row_weight) + evidence.pseudo_sum[j];
        if (all <= 0.0) return -std::log(static_cast<double>(levels_[j]));
        return std::log((n + evidence.pseudo[evidence.first_value[j] + level]) / all);
    }

    // log P(x, c) of one row without itself; scratch.prior is then log P(c) without it
    const double* left_out(const Chunk& chunk, Scratch& scratch, const Evidence& evidence, int64_t r) const {
        const int64_t row = chunk.begin + r, label = evidence.y[row];
        const uint32_t* level = chunk.level.data() + r;
        const bool in_prior = prior_feature_ < 0 || level[prior_feature_ * CHUNK_ROWS] != Chunk::HIDDEN;
        const double row_weight = evidence.row_weight[row], prior_own = in_prior ? row_weight : 0.0;
        scratch.prior.resize(n_classes_);
        log_prior_without(evidence.class_mass.data(), static_cast<int>(n_classes_), label, prior_own, scratch.prior.data());
        std::vector<double>& joint = scratch.acc;
        joint = scratch.prior;
        bool sums_out = false;
        for (const Family& family : families_) {
            if (hides_member(family, level)) {
                sums_out = sums_out || level[family.feature() * CHUNK_ROWS] != Chunk::HIDDEN;
                continue;
            }
            const int64_t cell = cell_of(family, level);
            const double* line =
                evidence.log_other.empty() ? tables_.data() + cell * lanes_ : evidence.log_other.data() + cell * n_classes_;
            for (int64_t c = 0; c < n_classes_; ++c)
                joint[c] += c == label ? log_without(evidence, family, cell, level[family.feature() * CHUNK_ROWS], label, row_weight)
                                       : line[c];
        }
        // A family with a hidden member did not count this row, so its table stands as it is.
        const SumOutPlan* plan = sums_out ? plan_for(chunk, scratch, r) : nullptr;
        if (plan) scratch.hidden_sum.add(*plan, families_, hidden_tables(), level, CHUNK_ROWS, joint.data());
        return joint.data();
    }
};

}  // namespace

void bind_family_scorer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<FamilyScorer>(m, "FamilyScorer")
        .def(nb::init<Array, Array, std::vector<int64_t>, std::vector<std::vector<int64_t>>, bool, int64_t>(), "log_prior"_a,
             "log_tables"_a, "sizes"_a, "families"_a, "smooth"_a, "prior_feature"_a)
        .def("score", &FamilyScorer::score, "columns"_a, "wanted"_a, "fallback"_a, "n_threads"_a)
        .def("leave_one_out", &FamilyScorer::leave_one_out, "columns"_a, "y"_a, "weight"_a.none(), "n_class"_a, "counts"_a,
             "class_pseudo"_a, "pseudo"_a, "log_without"_a.none(), "log_other"_a.none(), "wanted"_a, "fallback"_a, "n_threads"_a);
}

}  // namespace bayeskit::score
