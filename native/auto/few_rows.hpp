// A node of at most 64 rows: a set of rows is the bits of one number, so that a test is counted by a few instructions.
#pragma once
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "auto/tree_rows.hpp"
#include "base/bits.hpp"

namespace bayeskit::automatic {

constexpr int32_t FEW = 64;
constexpr int32_t STEP = 16;  // levels that are looked at side by side

inline uint64_t first_bits(int32_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

#if defined(__SSE2__)
BAYESKIT_INLINE __m128i read_levels(const uint8_t* levels) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels)); }
#endif

// The rows whose level lies in base .. base + width - 1, width > 0; `size` is a multiple of STEP.
BAYESKIT_INLINE uint64_t rows_between(const uint8_t* levels, int32_t size, uint8_t base, uint8_t width) {
    uint64_t rows = 0;
#if defined(__SSE2__)
    const __m128i from = _mm_set1_epi8(static_cast<char>(base)), last = _mm_set1_epi8(static_cast<char>(width - 1));
    for (int32_t r = 0; r < size; r += STEP) {
        const __m128i away = _mm_sub_epi8(read_levels(levels + r), from);
        const __m128i is = _mm_cmpeq_epi8(_mm_min_epu8(away, last), away);
        rows |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(is))) << r;
    }
#else
    for (int32_t r = 0; r < size; ++r) rows |= static_cast<uint64_t>(static_cast<uint8_t>(levels[r] - base) < width) << r;
#endif
    return rows;
}

// The least and the greatest level of the rows for which `inside` is 255; it is 0 for the others.
BAYESKIT_INLINE void find_range(const uint8_t* levels, const uint8_t* inside, int32_t size, uint8_t& low, uint8_t& high) {
#if defined(__SSE2__)
    __m128i least = _mm_set1_epi8(-1), most = _mm_setzero_si128();
    for (int32_t r = 0; r < size; r += STEP) {
        const __m128i here = read_levels(inside + r), level = read_levels(levels + r);
        // 255 - level is the least where the level is the greatest: one way to fold both.
        least = _mm_min_epu8(least, _mm_or_si128(level, _mm_xor_si128(here, _mm_set1_epi8(-1))));
        most = _mm_max_epu8(most, _mm_and_si128(level, here));
    }
    const __m128i flipped = _mm_xor_si128(most, _mm_set1_epi8(-1));
    __m128i both = _mm_min_epu8(_mm_unpacklo_epi64(least, flipped), _mm_unpackhi_epi64(least, flipped));
    both = _mm_min_epu8(both, _mm_srli_epi64(both, 32));
    both = _mm_min_epu8(both, _mm_srli_epi64(both, 16));
    both = _mm_min_epu8(both, _mm_srli_epi64(both, 8));
    low = static_cast<uint8_t>(_mm_extract_epi16(both, 0));
    high = static_cast<uint8_t>(~_mm_extract_epi16(both, 4));
#else
    low = HIDDEN;
    high = 0;
    for (int32_t r = 0; r < size; ++r) {
        if (!inside[r]) continue;
        low = std::min(low, levels[r]);
        high = std::max(high, levels[r]);
    }
#endif
}

// The place of the bit that has `before` others below it.
BAYESKIT_INLINE int nth_bit(uint64_t bits, uint32_t before) {
    for (; before; --before) bits &= bits - 1;
    return lowest_bit(bits);
}

// Rows of a node that are of one class, and all weigh 1 or not all.
struct FewOfClass {
    uint64_t rows;
    double weight;
    int32_t part;  // 2 × class, and 1 more where every row weighs 1
};

// Σ over both children of Σ_c n_c² / n: the greater, the purer; negative where a child would be empty.
BAYESKIT_SIMD
static double purity_of_few(uint64_t first, const FewOfClass* parts, size_t n_parts, const double* weight) {
    Purity purity;
    double in = 0.0, all = 0.0;
    for (size_t s = 0; s < n_parts; ++s) {
        const FewOfClass& each = parts[s];
        uint64_t here = each.rows & first;
        if (each.part % 2) in += popcount(here);
        else
            for (; here; here &= here - 1) in += weight[lowest_bit(here)];
        all += each.weight;
        if (s + 1 < n_parts && parts[s + 1].part / 2 == each.part / 2) continue;
        purity.add(in, all - in);
        in = all = 0.0;
    }
    return purity.value();
}

// Nodes of few rows. Those below one node share its block of rows: each is a set of bits, and no row is moved again.
class FewRows {
public:
    FewRows(int64_t n_features, const TreeRows& tree)
        : n_(n_features), tree_(tree), read_by_(n_features), low_(n_features), high_(n_features) {}

    void start() {
        blocks_.clear();
        levels_.clear();
        copied_.clear();
        parts_.clear();
        weights_.clear();
        std::fill(read_by_.begin(), read_by_.end(), -1);
    }

    // Makes a block of the rows of a node.
    void take(Job& job) {
        const int32_t rows = job.end - job.begin, size = (rows + STEP - 1) / STEP * STEP;
        job.block = static_cast<int32_t>(blocks_.size());
        job.few = first_bits(rows);
        blocks_.push_back({job.begin, rows, size, static_cast<int64_t>(levels_.size()), static_cast<int64_t>(weights_.size()), parts_.size(), 0});
        levels_.resize(levels_.size() + n_ * size);
        copied_.resize(copied_.size() + n_, 0);
        bool heavy = false;
        for (int32_t r = 0; r < rows;) {
            const int32_t part = tree_.part_of[tree_.order[job.begin + r]], first = r;
            while (r < rows && tree_.part_of[tree_.order[job.begin + r]] == part) ++r;
            parts_.push_back({first_bits(r) & ~first_bits(first), 0.0, part});
            heavy |= part % 2 == 0;
        }
        blocks_.back().last_part = parts_.size();
        if (!heavy) return;
        for (int32_t r = 0; r < rows; ++r) weights_.push_back(tree_.weight[tree_.order[job.begin + r]]);
    }

    // Finds the classes of a node; false where it has only one.
    bool open(const Job& job) {
        node_ = job.node;
        number_ = job.block;
        few_ = job.few;
        block_ = blocks_[job.block];
        here_.clear();
        weight_ = 0.0;
        for (size_t s = block_.first_part; s < block_.last_part; ++s)
            if (const uint64_t rows = parts_[s].rows & few_) {
                here_.push_back({rows, weigh(rows, parts_[s].part), parts_[s].part});
                weight_ += here_.back().weight;
            }
        if (here_.front().part / 2 == here_.back().part / 2) return false;
        for (int32_t r = 0; r < block_.size; ++r) inside_[r] = static_cast<uint8_t>(0 - (few_ >> r & 1));
        return true;
    }

    int32_t size() const { return popcount(few_); }
    double weight() const { return weight_; }
    uint8_t low(int32_t feature) const { return low_[feature]; }
    uint8_t high(int32_t feature) const { return high_[feature]; }
    uint8_t level(int32_t feature, uint32_t place) const { return levels(feature)[nth_bit(few_, place)]; }

    // Reads a column, if it has not been read yet; false where all rows have one level.
    bool read(int32_t feature) {
        if (read_by_[feature] != node_) {
            read_by_[feature] = node_;
            uint8_t* to = levels(feature);
            if (!copied_[number_ * n_ + feature]) {
                copied_[number_ * n_ + feature] = 1;
                const uint8_t* column = tree_.column(feature);
                const int32_t* order = tree_.order.data() + block_.begin;
                for (int32_t r = 0; r < block_.rows; ++r) to[r] = column[order[r]];
            }
            find_range(to, inside_, block_.size, low_[feature], high_[feature]);
        }
        return low_[feature] != high_[feature];
    }

    double purity(const Node& test) const { return purity_of_few(first_rows(test), here_.data(), here_.size(), weights_.data() + block_.weight_at); }

    void split(const Node& test, Job& first, Job& second) const {
        first.block = second.block = number_;
        first.few = few_ & first_rows(test);
        second.few = few_ & ~first.few;
    }

private:
    struct Block {
        int32_t begin, rows, size;  // size: rows and what is added to have whole steps
        int64_t at, weight_at;
        size_t first_part, last_part;
    };

    int64_t n_;
    const TreeRows& tree_;
    std::vector<Block> blocks_;
    std::vector<uint8_t> levels_;  // block by block (n_features, size); a column is copied when a test asks for it
    std::vector<uint8_t> copied_;  // (n_blocks, n_features)
    std::vector<FewOfClass> parts_;
    std::vector<double> weights_;  // of the blocks in which not every row weighs 1
    // Of the open node
    int32_t node_ = 0, number_ = 0;
    uint64_t few_ = 0;
    double weight_ = 0.0;
    Block block_{};
    std::vector<FewOfClass> here_;
    uint8_t inside_[FEW];
    std::vector<int32_t> read_by_;  // (n_features,): the last node that has read the column
    std::vector<uint8_t> low_, high_;

    uint8_t* levels(int32_t feature) { return levels_.data() + block_.at + feature * static_cast<int64_t>(block_.size); }
    const uint8_t* levels(int32_t feature) const { return levels_.data() + block_.at + feature * static_cast<int64_t>(block_.size); }

    double weigh(uint64_t rows, int32_t part) const {
        if (part % 2) return popcount(rows);
        double sum = 0.0;
        for (; rows; rows &= rows - 1) sum += weights_[block_.weight_at + lowest_bit(rows)];
        return sum;
    }

    // The rows that a test sends to the first child; of those that are not in the node, any.
    uint64_t first_rows(const Node& test) const {
        const uint8_t* row_levels = levels(test.feature);
        if (test.test != HALF) {
            const TreeNode asked = TreeNode::of(test.feature, 0, test.value, test.test);
            return rows_between(row_levels, block_.size, asked.base, asked.width);
        }
        uint64_t rows = 0;
        for (uint64_t rest = few_; rest; rest &= rest - 1) {
            const int r = lowest_bit(rest);
            rows |= static_cast<uint64_t>(goes_first(row_levels[r], HALF, test.value)) << r;
        }
        return rows;
    }
};

}  // namespace bayeskit::automatic
