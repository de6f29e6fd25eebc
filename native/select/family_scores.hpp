// Scores of families (a child and its parents) for searches: counted once, kept in one cache.
//
// score(child | parents) is a function of the counts n_ijk (child value k, parents' configuration j) alone:
//   log-likelihood  Σ n_ijk ln(n_ijk / n_ij);   minus a penalty for BIC, EBIC, AIC and MDL
//   K2              Σ_j ln (r − 1)! / (n_ij + r − 1)! + Σ_k ln n_ijk!                       (Cooper & Herskovits 1992)
//   BDeu            Σ_j ln Γ(a) / Γ(a + n_ij) + Σ_k ln Γ(a/r + n_ijk) / Γ(a/r), a = ess / q  (Heckerman et al. 1995)
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "select/bit_planes.hpp"
#include "select/families.hpp"
#include "select/family_rows.hpp"

namespace bayeskit::select {

enum class Criterion { log_likelihood, bic, ebic, aic, mdl, k2, bdeu };

inline Criterion criterion_of(const std::string& name) {
    if (name == "loglik") return Criterion::log_likelihood;
    if (name == "bic") return Criterion::bic;
    if (name == "ebic") return Criterion::ebic;
    if (name == "aic") return Criterion::aic;
    if (name == "mdl") return Criterion::mdl;
    if (name == "k2") return Criterion::k2;
    if (name == "bdeu") return Criterion::bdeu;
    throw std::invalid_argument("unknown score.");
}

class FamilyScores final : public Families {
public:
    FamilyScores(nb::object table, std::optional<Array> weight, const std::vector<int64_t>& cards, const std::string& score,
                 double sample_size, int n_threads)
        : weights_(weight ? doubles(*weight, static_cast<int64_t>(weight->shape(0))) : std::vector<double>()),
          rows_(table, cards, weight ? weights_.data() : nullptr), criterion_(criterion_of(score)),
          sample_size_(sample_size), n_threads_(n_threads) {
        weights_.clear();
        log_total_ = std::log(std::max(rows_.total, 1.0));
        if (criterion_ == Criterion::ebic) {
            const double others = rows_.size() - 1.0;
            for (int k = 0; k < rows_.size(); ++k)
                log_sets_.push_back(std::lgamma(others + 1.0) - std::lgamma(k + 1.0) - std::lgamma(others - k + 1.0));
        }
        // n ln n, or ln n!, of all whole numbers that can come: one look-up a cell.
        if (rows_.weight.empty() && rows_.n_rows <= MOST_LOOKED_UP) {
            const uint32_t most_levels = rows_.card.empty() ? 0 : *std::max_element(rows_.card.begin(), rows_.card.end());
            const int64_t top = rows_.n_rows + most_levels + 1;
            known_.resize(top + 1);
            if (criterion_ == Criterion::k2)
                for (int64_t n = 1; n <= top; ++n) known_[n] = known_[n - 1] + std::log(static_cast<double>(n));
            else
                for (int64_t n = 1; n <= top; ++n) known_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
        }
    }

    double local(int child, Ints parents) override {
        std::sort(parents.begin(), parents.end());
        const std::string key = key_of(child, parents);
        const auto cached = cache_.find(key);
        if (cached != cache_.end()) return cached->second;
        Ints rest(parents);
        int last = -1;
        if (!rest.empty()) {
            last = rest.back();
            rest.pop_back();
        }
        const Base base = base_of(child, rest);
        Scratch scratch;
        const double score = with_candidate(base, last, scratch);
        keep(key, score);
        return score;
    }

    // The score of the family with each wanted column added to the parents, or taken away where it is one of them.
    nb::object toggles(int child, Ints parents, const std::vector<uint8_t>& wanted) {
        std::sort(parents.begin(), parents.end());
        const int d = rows_.size();
        Owned<double> out({static_cast<size_t>(d)});
        std::fill(out.data, out.data + d, std::nan(""));
        std::vector<int> open;
        std::vector<std::string> keys(d);
        for (int i = 0; i < d; ++i) {
            if (!wanted.at(i) || i == child) continue;
            Ints other(parents);
            const auto at = std::lower_bound(other.begin(), other.end(), i);
            const bool there = at != other.end() && *at == i;
            if (there) other.erase(at);
            else other.insert(at, i);
            keys[i] = key_of(child, other);
            const auto cached = cache_.find(keys[i]);
            if (cached != cache_.end()) out.data[i] = cached->second;
            else if (there) out.data[i] = local(child, other);
            else open.push_back(i);
        }
        if (!open.empty()) {
            {
                nb::gil_scoped_release release;
                Base base = base_of(child, parents);
                add_bits(base, open.size());
                std::vector<Scratch> scratch(threads_used(static_cast<int64_t>(open.size()), n_threads_));
                parallel_chunks(static_cast<int64_t>(open.size()), n_threads_, [&](int64_t k, int thread) {
                    out.data[open[k]] = with_candidate(base, open[k], scratch[thread]);
                });
            }
            for (int i : open) keep(keys[i], out.data[i]);
        }
        return out.to_numpy();
    }

    // The score of the family with each candidate added; what cannot gain is not counted, and is −∞.
    void with_each(int child, const Ints& parents, double score, const Ints& candidates, double* out) override {
        std::vector<size_t> open;
        std::vector<std::string> keys(candidates.size());
        double q = 1.0;
        for (int p : parents) q *= rows_.card[p];
        for (size_t k = 0; k < candidates.size(); ++k) {
            if (cannot_gain(child, static_cast<int>(parents.size()), q, candidates[k], score)) {
                out[k] = -INFINITY;
                continue;
            }
            Ints other(parents);
            other.insert(std::lower_bound(other.begin(), other.end(), candidates[k]), candidates[k]);
            keys[k] = key_of(child, other);
            const auto known = cache_.find(keys[k]);
            if (known != cache_.end()) out[k] = known->second;
            else open.push_back(k);
        }
        if (open.empty()) return;
        Base base = base_of(child, parents);
        add_bits(base, open.size());
        std::vector<Scratch> scratch(threads_used(static_cast<int64_t>(open.size()), n_threads_));
        parallel_chunks(static_cast<int64_t>(open.size()), n_threads_, [&](int64_t k, int thread) {
            out[open[k]] = with_candidate(base, candidates[open[k]], scratch[thread]);
        });
        for (size_t k : open) keep(keys[k], out[k]);
    }

    // Of the wanted columns, those that gain as one parent more, at most `most` of them, the one that gains most first. Nothing
    // is kept: of many thousand columns there are more pairs than memory.
    Ints strongest(int child, Ints parents, const std::vector<uint8_t>& wanted, int most) {
        nb::gil_scoped_release release;
        std::sort(parents.begin(), parents.end());
        const double alone = local(child, parents);
        const Ints candidates = hopeful(child, parents, wanted, alone);
        const std::vector<double> score = with_candidates(child, parents, candidates);
        std::vector<std::pair<double, int>> gaining;
        for (size_t k = 0; k < candidates.size(); ++k)
            if (score[k] > alone) gaining.emplace_back(-score[k], candidates[k]);
        const size_t kept = std::min<size_t>(gaining.size(), std::max(most, 0));
        std::partial_sort(gaining.begin(), gaining.begin() + kept, gaining.end());
        Ints best;
        for (size_t k = 0; k < kept; ++k) best.push_back(gaining[k].second);
        return best;
    }

    // Pairs of wanted columns that gain as two parents more, and more than either of the two: each of the `n_first` columns
    // that score best as one parent more, whether they gain or not, with the column that scores best beside it.
    std::vector<Ints> strongest_pairs(int child, Ints parents, const std::vector<uint8_t>& wanted, int n_first) {
        nb::gil_scoped_release release;
        std::sort(parents.begin(), parents.end());
        const double alone = local(child, parents);
        Ints candidates;
        for (int x = 0; x < rows_.size(); ++x)
            if (wanted.at(x) && x != child && !std::binary_search(parents.begin(), parents.end(), x)) candidates.push_back(x);
        const std::vector<double> single = with_candidates(child, parents, candidates);
        std::vector<std::pair<double, size_t>> first;
        for (size_t k = 0; k < candidates.size(); ++k) first.emplace_back(-single[k], k);
        const size_t kept = std::min<size_t>(first.size(), std::max(n_first, 0));
        std::partial_sort(first.begin(), first.begin() + kept, first.end());
        std::vector<Ints> pairs;
        for (size_t i = 0; i < kept; ++i) {
            const int x = candidates[first[i].second];
            Ints with(parents);
            with.insert(std::lower_bound(with.begin(), with.end(), x), x);
            const double least = std::max(alone, single[first[i].second]);
            const Ints others = hopeful(child, with, wanted, least);
            const std::vector<double> both = with_candidates(child, with, others);
            int second = -1;
            double best = least;
            for (size_t k = 0; k < others.size(); ++k)
                if (both[k] > best) {
                    best = both[k];
                    second = others[k];
                }
            if (second < 0) continue;
            const auto at = std::lower_bound(candidates.begin(), candidates.end(), second);
            if (best > single[at - candidates.begin()]) pairs.push_back({std::min(x, second), std::max(x, second)});
        }
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }

    // Of all sets of at most `most` candidates, together with the required parents: the score of the best subset of each
    // set (by bits of `candidates`), and that subset. What cannot win, since its penalty alone costs more, is not counted.
    nb::tuple best_subsets(int child, const Ints& candidates, const Ints& required, int most) {
        const size_t n = size_t{1} << candidates.size();
        Owned<double> best({n});
        Owned<uint32_t> chosen({n});
        {
            nb::gil_scoped_release release;
            std::fill(best.data, best.data + n, -INFINITY);
            for (size_t s = 0; s < n; ++s) chosen.data[s] = static_cast<uint32_t>(s);
            Scratch scratch;
            Interrupts interrupts;
            Base base = base_of(child, required);
            best.data[0] = with_candidate(base, -1, scratch);
            // Sets grow by one candidate of a lower number than all before, so that prefixes are shared.
            grow(child, base, candidates, 0, static_cast<int>(candidates.size()), most, best.data, scratch, interrupts);
            for (size_t s = 1; s < n; ++s)
                for (size_t b = 0; b < candidates.size(); ++b) {
                    const size_t smaller = s & ~(size_t{1} << b);
                    if (smaller != s && best.data[smaller] > best.data[s]) {
                        best.data[s] = best.data[smaller];
                        chosen.data[s] = chosen.data[smaller];
                    }
                }
        }
        return nb::make_tuple(best.to_numpy(), chosen.to_numpy());
    }

    int64_t n_scored() const { return n_scored_; }
    int64_t n_cached() const { return static_cast<int64_t>(cache_.size()); }
    double total() const { return rows_.total; }
    bool any_missing() const { return rows_.any_missing; }

private:
    static constexpr int64_t MOST_LOOKED_UP = int64_t{1} << 22;
    static constexpr size_t LEAST_CANDIDATES = 3;  // bits of a base cost about as much as to count one candidate
    // A family of the child and some parents, waiting for one parent more.
    struct Base {
        int child;
        int n_parents;
        double q = 1.0;              // configurations of the parents that there are, seen or not
        Configurations parents;
        std::vector<uint32_t> cell;  // configuration and child's value of each row; empty when one more would not fit
        std::vector<uint64_t> bits;  // the rows of each such cell, where many candidates are counted against few cells
        std::vector<uint32_t> size;  // how many rows each of these cells has
        int64_t n_ids = 1;           // with the one of incomplete rows
    };
    struct Scratch {
        std::vector<uint32_t> counts, base;
        std::vector<double> weights;
    };

    std::vector<double> weights_;
    FamilyRows rows_;
    BitPlanes planes_;
    Criterion criterion_;
    double sample_size_, log_total_ = 0.0;
    int n_threads_;
    std::vector<double> log_sets_;         // ln (n − 1 over k): the sets of k parents that a variable may have
    std::vector<double> known_, entropy_;  // entropy_: N · H(x) of each variable, NaN until it is asked for
    std::unordered_map<std::string, double> cache_;
    int64_t n_scored_ = 0;

    static std::string key_of(int child, const Ints& parents) {
        std::string key;
        key.reserve(2 * parents.size() + 2);
        const auto put = [&](int v) {
            key.push_back(static_cast<char>(v & 255));
            key.push_back(static_cast<char>(v >> 8));
        };
        put(child);
        for (int p : parents) put(p);
        return key;
    }

    // The wanted columns that may gain over a score as one parent more.
    Ints hopeful(int child, const Ints& parents, const std::vector<uint8_t>& wanted, double score) {
        double q = 1.0;
        for (int p : parents) q *= rows_.card[p];
        Ints candidates;
        for (int x = 0; x < rows_.size(); ++x)
            if (wanted.at(x) && x != child && !std::binary_search(parents.begin(), parents.end(), x) &&
                !cannot_gain(child, static_cast<int>(parents.size()), q, x, score))
                candidates.push_back(x);
        return candidates;
    }

    // The score of the family with each candidate added; nothing is kept.
    std::vector<double> with_candidates(int child, const Ints& parents, const Ints& candidates) {
        std::vector<double> score(candidates.size());
        if (candidates.empty()) return score;
        Base base = base_of(child, parents);
        add_bits(base, candidates.size());
        std::vector<Scratch> scratch(std::max(n_threads_, 1));
        constexpr int64_t CHUNK = 64;
        const int64_t n_chunks = (static_cast<int64_t>(candidates.size()) + CHUNK - 1) / CHUNK;
        parallel_chunks(n_chunks, n_threads_, [&](int64_t chunk, int thread) {
            const size_t end = std::min<size_t>(candidates.size(), (chunk + 1) * CHUNK);
            for (size_t k = chunk * CHUNK; k < end; ++k) score[k] = with_candidate(base, candidates[k], scratch[thread]);
        });
        return score;
    }

    void keep(const std::string& key, double score) {
        cache_.emplace(key, score);
        ++n_scored_;
    }

    Base base_of(int child, const Ints& parents) const {
        Base base;
        base.child = child;
        base.n_parents = static_cast<int>(parents.size());
        for (int p : parents) {
            base.parents = extend(rows_, base.parents, p);
            base.q *= rows_.card[p];
        }
        add_child(base);
        return base;
    }

    void add_child(Base& base) const {
        base.n_ids = base.parents.n_ids + (base.parents.any_missing ? 1 : 0);
        const uint32_t width = rows_.width[base.child];
        base.cell.resize(rows_.n_rows);
        const uint32_t* id = base.parents.id.empty() ? nullptr : base.parents.id.data();
        rows_.with_column(base.child, [&](const auto* x) {
            if (!id)
                for (int64_t i = 0; i < rows_.n_rows; ++i) base.cell[i] = x[i];
            else
                for (int64_t i = 0; i < rows_.n_rows; ++i) base.cell[i] = id[i] * width + x[i];
        });
    }

    void add_bits(Base& base, size_t n_candidates) {
        const int64_t n_cells = base.n_ids * rows_.width[base.child];
        if (n_candidates < LEAST_CANDIDATES || n_cells > MOST_PLANE_CELLS || !rows_.weight.empty()) return;
        if (planes_.words() == 0) planes_.fill(rows_);
        base.bits.assign(n_cells * planes_.words(), 0);
        base.size.assign(n_cells, 0);
        for (int64_t i = 0; i < rows_.n_rows; ++i) {
            base.bits[base.cell[i] * planes_.words() + (i >> 6)] |= uint64_t{1} << (i & 63);
            ++base.size[base.cell[i]];
        }
    }

    // The counts of `counted`, from bits; false where codes are quicker.
    bool count_bits(const Base& base, int x, std::vector<uint32_t>& cells, int64_t n_cells) const {
        const int64_t n_base = static_cast<int64_t>(base.size.size());
        const uint32_t width = rows_.width[x];
        if (n_base == 0 || !planes_.has(x) || n_base * (width - 1) > MOST_PLANE_CELLS) return false;
        cells.resize(n_cells);
        for (int64_t c = 0; c < n_base; ++c) {
            uint32_t left = base.size[c];
            for (uint32_t u = 0; u + 1 < width; ++u) {
                const uint32_t n =
                    left ? rows_in_both(&base.bits[c * planes_.words()], planes_.plane(x, u), planes_.words()) : 0;
                cells[c * width + u] = n;
                left -= n;
            }
            cells[c * width + width - 1] = left;
        }
        return true;
    }
    bool count_bits(const Base&, int, std::vector<double>&, int64_t) const { return false; }

    // The score of the base's family with one parent more; -1 is none.
    double with_candidate(const Base& base, int candidate, Scratch& scratch) const {
        if (candidate >= 0 && base.n_ids * rows_.width[base.child] * rows_.width[candidate] > rows_.most_cells()) {
            Base longer;
            longer.child = base.child;
            longer.n_parents = base.n_parents + 1;
            longer.q = base.q * rows_.card[candidate];
            longer.parents = extend(rows_, base.parents, candidate);
            add_child(longer);
            return with_candidate(longer, -1, scratch);
        }
        return rows_.weight.empty() ? counted(base, candidate, scratch.counts) : counted(base, candidate, scratch.weights);
    }

    template <typename C>
    double counted(const Base& base, int candidate, std::vector<C>& cells) const {
        const uint32_t child_width = rows_.width[base.child];
        const uint32_t other = candidate < 0 ? 1 : rows_.width[candidate];
        const int64_t n_cells = base.n_ids * child_width * other;
        if (candidate < 0) {
            count_alone(base.cell.data(), cells, n_cells);
        } else if (!count_bits(base, candidate, cells, n_cells)) {
            rows_.with_column(candidate, [&](const auto* x) {
                count_cells(rows_, base.cell.data(), x, other, cells, n_cells);
            });
        }
        const uint32_t levels = candidate < 0 ? 1 : rows_.card[candidate];
        return score_of(cells.data(), base, child_width, other, levels, base.n_parents + (candidate < 0 ? 0 : 1),
                        base.q * levels);
    }

    void count_alone(const uint32_t* cell, std::vector<uint32_t>& cells, int64_t n_cells) const {
        cells.assign(n_cells, 0);
        for (int64_t i = 0; i < rows_.n_rows; ++i) ++cells[cell[i]];
    }
    void count_alone(const uint32_t* cell, std::vector<double>& cells, int64_t n_cells) const {
        cells.assign(n_cells, 0.0);
        for (int64_t i = 0; i < rows_.n_rows; ++i) cells[cell[i]] += rows_.weight[i];
    }

    template <typename C>
    double score_of(const C* cells, const Base& base, uint32_t child_width, uint32_t other, uint32_t levels, int n_parents,
                    double q) const {
        const uint32_t r = rows_.card[base.child];
        double sum = 0.0, known = 0.0;
        const double a = sample_size_ / q, a_cell = a / r;
        const double log_gamma_a = criterion_ == Criterion::bdeu ? std::lgamma(a) : 0.0;
        const double log_gamma_cell = criterion_ == Criterion::bdeu ? std::lgamma(a_cell) : 0.0;
        for (int64_t id = 0; id < base.parents.n_ids; ++id)
            for (uint32_t u = 0; u < levels; ++u) {
                const C* cell = cells + id * child_width * other + u;
                C n{};
                double part = 0.0;
                for (uint32_t k = 0; k < r; ++k, cell += other) {
                    const C x = *cell;
                    if (!(x > C{})) continue;
                    n += x;
                    if (criterion_ == Criterion::bdeu) part += std::lgamma(a_cell + static_cast<double>(x)) - log_gamma_cell;
                    else part += of(x);
                }
                if (!(n > C{})) continue;
                known += static_cast<double>(n);
                if (criterion_ == Criterion::bdeu) sum += part + log_gamma_a - std::lgamma(a + static_cast<double>(n));
                else if (criterion_ == Criterion::k2) sum += part + of(static_cast<C>(r - 1)) - of(static_cast<C>(n + (r - 1)));
                else sum += part - of(n);
            }
        // The mean over the rows that know the whole family, times all rows: families that lose different rows compare.
        if (rows_.any_missing && known > 0.0) sum *= rows_.total / known;
        return sum - penalty(base.child, n_parents, q);
    }

    double penalty(int child, int n_parents, double q) const {
        const double free = (rows_.card[child] - 1.0) * q;
        switch (criterion_) {
            case Criterion::bic: return 0.5 * log_total_ * free;
            // What it costs to name the parents: γ ln (n − 1 over k); the number that the score takes is γ.
            case Criterion::ebic: return 0.5 * log_total_ * free + sample_size_ * log_sets_[n_parents];
            case Criterion::aic: return free;
            case Criterion::mdl: return 0.5 * log_total_ * free + n_parents * std::log(static_cast<double>(rows_.size()));
            default: return 0.0;
        }
    }

    // n ln n, or ln n! for K2.
    double of(uint32_t n) const {
        if (n < known_.size()) return known_[n];
        return of(static_cast<double>(n));
    }
    double of(double n) const {
        if (criterion_ == Criterion::k2) return std::lgamma(n + 1.0);
        return n > 0.0 ? n * std::log(n) : 0.0;
    }

    // A likelihood is at most 1, so a score is at most minus its penalty; and what x says about anything is at most its entropy.
    bool cannot_gain(int child, int n_parents, double q, int x, double score) {
        if (!penalised() && criterion_ != Criterion::ebic) return false;
        const double larger = penalty(child, n_parents + 1, q * rows_.card[x]);
        if (-larger <= score) return true;
        if (rows_.any_missing) return false;
        if (entropy_.empty()) entropy_.assign(rows_.size(), std::nan(""));
        if (std::isnan(entropy_[x])) entropy_[x] = -(local(x, {}) + penalty(x, 0, 1.0));
        return entropy_[x] <= larger - penalty(child, n_parents, q);
    }

    void grow(int child, const Base& base, const Ints& candidates, size_t set, int below, int most, double* best,
              Scratch& scratch, Interrupts& interrupts) {
        if (most == 0) return;
        interrupts.check();
        for (int b = 0; b < below; ++b) {
            const size_t with = set | (size_t{1} << b);
            const double q = base.q * rows_.card[candidates[b]];
            // A likelihood is at most 1, so the score is at most minus the penalty; all larger sets cost more still.
            if (-penalty(child, base.n_parents + 1, q) < best[0] && penalised()) continue;
            best[with] = with_candidate(base, candidates[b], scratch);
            ++n_scored_;
            if (most == 1 || b == 0) continue;
            Base longer;
            longer.child = child;
            longer.n_parents = base.n_parents + 1;
            longer.q = q;
            longer.parents = extend(rows_, base.parents, candidates[b]);
            add_child(longer);
            grow(child, longer, candidates, with, b, most - 1, best, scratch, interrupts);
        }
    }
    // Whether more parents always cost more; there are fewer sets of nearly all variables than of half of them (EBIC).
    bool penalised() const {
        return criterion_ == Criterion::bic || criterion_ == Criterion::aic || criterion_ == Criterion::mdl;
    }
};

}  // namespace bayeskit::select
