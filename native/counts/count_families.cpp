// Counts of several columns at once within each class: all pairs, all triples, or any families of columns.
//
// Columns with few levels are counted by bits: one bit a row for each level, and the rows that share two levels are the
// ones of (a & b). Sixty-four rows cost one `and` and one `popcnt`, so that a pair of small columns costs a tenth of a
// walk over the rows. Columns with many levels, and weighted rows, are walked.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "counts/subset_offsets.hpp"
#include "kernels.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bayeskit::counts {
namespace {

constexpr int64_t SLAB_ROWS = 1 << 16;
constexpr int64_t WORD = 64;
// A cell costs by bits as much as this share of the walk over the rows; a class costs it so many words beside its own.
constexpr int64_t WORDS_PER_ROW = 4;
constexpr int64_t CLASS_WORDS = 8;
constexpr int64_t MOST_BIT_LEVELS = 128;
constexpr uint32_t NOWHERE = ~uint32_t{0};

struct Problem {
    const Table& table;
    const std::vector<uint32_t>& y;
    const double* weight;
    int64_t n_classes;
    const std::vector<int64_t>& sizes;
    int n_threads;
    int64_t d() const { return static_cast<int64_t>(sizes.size()); }
};

// A run of rows in order of class; as bits, each class begins at a whole word.
struct Slab {
    int64_t n_rows = 0, n_words = 0;
    std::vector<int64_t> first_word;        // (n_classes + 1,)
    std::vector<uint32_t> label;            // (n_rows,)
    std::vector<double> weight;             // (n_rows,) or empty
    bool walked = true;                     // whether any table is counted row by row
    std::vector<uint32_t> level;            // (d, n_rows) if so; size of the column and above: no level
    std::vector<uint64_t> bits;             // (cells, n_words)
    std::vector<int64_t> first_cell;        // (d,) row of `bits`, or -1 for a column that is walked
    // For each thread, one column in the order of the rows and in that of the words. Kept from column to column and from
    // slab to slab: fresh memory is handed out page by page, which costs as much as the counting.
    std::vector<std::vector<uint32_t>> plain;
    std::vector<std::vector<uint8_t>> bytes;
    const uint32_t* levels(int64_t j) const { return level.data() + j * n_rows; }
    const uint64_t* words(int64_t j) const { return bits.data() + first_cell[j] * n_words; }
};

// One word for each 64 bytes: bit p says whether byte p equals `value`.
void bytes_to_bits(const uint8_t* bytes, int64_t n_words, uint8_t value, uint64_t* out) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
    for (int64_t w = 0; w < n_words; ++w, bytes += WORD) {
        uint64_t word = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i cells = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
            const uint64_t mask = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(cells, wanted)));
            word |= mask << (16 * part);
        }
        out[w] = word;
    }
#else
    for (int64_t w = 0; w < n_words; ++w, bytes += WORD) {
        uint64_t word = 0;
        for (int p = 0; p < WORD; ++p) word |= static_cast<uint64_t>(bytes[p] == value) << p;
        out[w] = word;
    }
#endif
}

// Whether a table of so many cells costs less by bits.
inline bool use_bits(const Slab& slab, int64_t cells) {
    const int64_t n_classes = static_cast<int64_t>(slab.first_word.size()) - 1;
    return cells * (slab.n_words + CLASS_WORDS * n_classes) <= WORDS_PER_ROW * slab.n_rows;
}

// order: how many columns a table has
void read_slab(const Problem& problem, int order, int64_t begin, int64_t n, Slab& slab) {
    const int64_t n_classes = problem.n_classes, d = problem.d();
    std::vector<int64_t> place(n_classes + 1, 0);
    const uint32_t* y = problem.y.data() + begin;
    for (int64_t i = 0; i < n; ++i) ++place[y[i] + 1];
    slab.first_word.assign(n_classes + 1, 0);
    for (int64_t c = 0; c < n_classes; ++c)
        slab.first_word[c + 1] = slab.first_word[c] + (place[c + 1] + WORD - 1) / WORD;
    slab.n_words = slab.first_word[n_classes];
    slab.n_rows = n;
    for (int64_t c = 0; c < n_classes; ++c) place[c + 1] += place[c];
    const std::vector<int64_t> start(place);
    std::vector<uint32_t> position(n), padded(n);
    slab.label.assign(n, 0);
    slab.weight.assign(problem.weight ? n : 0, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t p = place[y[i]]++;
        position[i] = static_cast<uint32_t>(p);
        padded[i] = static_cast<uint32_t>(slab.first_word[y[i]] * WORD + p - start[y[i]]);
        slab.label[p] = y[i];
        if (problem.weight) slab.weight[p] = problem.weight[begin + i];
    }
    slab.first_cell.assign(d, -1);
    int64_t cells = 0;
    for (int64_t j = 0; j < d; ++j)
        if (!problem.weight && use_bits(slab, problem.sizes[j]) && problem.sizes[j] <= MOST_BIT_LEVELS) {
            slab.first_cell[j] = cells;
            cells += problem.sizes[j];
        }
    std::vector<int64_t> largest(problem.sizes);
    std::sort(largest.rbegin(), largest.rend());
    int64_t most_cells = 1;
    for (int64_t k = 0; k < std::min<int64_t>(order, d); ++k) most_cells *= largest[k];
    slab.walked = !use_bits(slab, most_cells) || std::count(slab.first_cell.begin(), slab.first_cell.end(), -1);
    slab.bits.resize(cells * slab.n_words);
    slab.level.resize(slab.walked ? d * n : 0);
    const int used = threads_used(d, problem.n_threads);
    slab.plain.resize(used);
    slab.bytes.resize(used);
    // What lies between the classes is 255, which is no level, and no column writes there.
    for (auto& bytes : slab.bytes) bytes.assign(slab.n_words * WORD, 255);
    parallel_chunks(d, problem.n_threads, [&](int64_t j, int thread) {
        const Column& column = problem.table.columns[j];
        uint8_t* byte = slab.bytes[thread].data();
        const uint32_t* to = padded.data();
        if (!slab.walked && column.type == Type::u8) {  // a code of 128 or more is no level either
            const char* from = column.data + begin * column.stride;
            for (int64_t i = 0; i < n; ++i) byte[to[i]] = static_cast<uint8_t>(from[i * column.stride]);
        } else {
            std::vector<uint32_t>& plain = slab.plain[thread];
            plain.resize(n);
            decode<true>(column, begin, n, 0, static_cast<uint32_t>(problem.sizes[j]), plain.data());
            uint32_t* level = slab.level.data() + j * n;
            for (int64_t i = 0; slab.walked && i < n; ++i) level[position[i]] = plain[i];
            if (slab.first_cell[j] < 0) return;
            for (int64_t i = 0; i < n; ++i) byte[to[i]] = static_cast<uint8_t>(std::min<uint32_t>(plain[i], 255));
        }
        for (int64_t v = 0; v < problem.sizes[j]; ++v)
            bytes_to_bits(byte, slab.n_words, static_cast<uint8_t>(v),
                          slab.bits.data() + (slab.first_cell[j] + v) * slab.n_words);
    });
}

// out[t] += how many rows are in a and in the t-th of `tile` columns of bits
template <int tile, typename Count>
BAYESKIT_INLINE void add_shared_rows(const uint64_t* a, const uint64_t* b, int64_t b_stride, int64_t n, Count* out,
                                     int64_t out_stride) {
    int64_t sum[tile] = {};
    for (int64_t w = 0; w < n; ++w)
        for (int t = 0; t < tile; ++t) sum[t] += __builtin_popcountll(a[w] & b[t * b_stride + w]);
    for (int t = 0; t < tile; ++t) out[t * out_stride] += static_cast<Count>(sum[t]);
}

// out[v, w, c] += the rows of class c in a_v and b_w; a and b are (levels, n_words)
BAYESKIT_SIMD void count_bits(const uint64_t* a, int64_t a_size, const uint64_t* b, int64_t b_size, int64_t n_words,
                              const int64_t* first_word, int64_t n_classes, int32_t* out) {
    for (int64_t c = 0; c < n_classes; ++c) {
        const int64_t begin = first_word[c], n = first_word[c + 1] - begin;
        if (!n) continue;
        for (int64_t v = 0; v < a_size; ++v) {
            const uint64_t* a_words = a + v * n_words + begin;
            int64_t w = 0;
            for (; w + 4 <= b_size; w += 4)
                add_shared_rows<4>(a_words, b + w * n_words + begin, n_words, n, out + (v * b_size + w) * n_classes + c, n_classes);
            for (; w + 2 <= b_size; w += 2)
                add_shared_rows<2>(a_words, b + w * n_words + begin, n_words, n, out + (v * b_size + w) * n_classes + c, n_classes);
            for (; w < b_size; ++w)
                add_shared_rows<1>(a_words, b + w * n_words + begin, n_words, n, out + (v * b_size + w) * n_classes + c, n_classes);
        }
    }
}

// out[v, w, c] += 1 or the weight, row by row; `a` may be the number of a combination of several levels
template <typename Count>
void count_walk(const Slab& slab, const uint32_t* a, int64_t a_size, const uint32_t* b, int64_t b_size,
                int64_t n_classes, Count* out) {
    for (int64_t p = 0; p < slab.n_rows; ++p) {
        if (a[p] >= a_size || b[p] >= b_size) continue;
        const int64_t cell = (static_cast<int64_t>(a[p]) * b_size + b[p]) * n_classes + slab.label[p];
        if constexpr (std::is_floating_point_v<Count>) out[cell] += slab.weight[p];
        else ++out[cell];
    }
}

template <typename Count>
void count_with(const Slab& slab, const uint64_t* bits, const uint32_t* levels, int64_t size, int64_t j, int64_t j_size,
                int64_t n_classes, Count* out) {
    if (size * j_size == 0) return;  // a column that never had a value
    if constexpr (!std::is_floating_point_v<Count>)
        if (bits && slab.first_cell[j] >= 0 && use_bits(slab, size * j_size)) {
            count_bits(bits, size, slab.words(j), j_size, slab.n_words, slab.first_word.data(), n_classes, out);
            return;
        }
    count_walk(slab, levels, size, slab.levels(j), j_size, n_classes, out);
}

// Tables of the pairs (0, 1), (0, 2), …, (1, 2), …, each (size_i, size_j, n_classes), one after the other.
template <typename Count>
void count_pairs_in(const Problem& problem, const std::vector<int64_t>& offsets, Count* out) {
    const int64_t d = problem.d(), n = problem.table.n_rows;
    Slab slab;
    for (int64_t begin = 0; begin < n; begin += SLAB_ROWS) {
        read_slab(problem, 2, begin, std::min(SLAB_ROWS, n - begin), slab);
        parallel_chunks(d - 1, problem.n_threads, [&](int64_t i, int) {
            int64_t pair = i * (2 * d - i - 1) / 2;
            for (int64_t j = i + 1; j < d; ++j, ++pair)
                count_with(slab, slab.first_cell[i] >= 0 ? slab.words(i) : nullptr, slab.levels(i), problem.sizes[i], j,
                           problem.sizes[j], problem.n_classes, out + offsets[pair]);
        });
    }
}

struct PairOfColumns {
    int64_t i, j, first_triple;
};

// Tables of the triples i < j < k in order, each (size_i, size_j, size_k, n_classes).
template <typename Count>
void count_triples_in(const Problem& problem, const std::vector<int64_t>& offsets, Count* out) {
    const int64_t d = problem.d(), n = problem.table.n_rows;
    std::vector<PairOfColumns> pairs;
    int64_t triple = 0;
    for (int64_t i = 0; i < d; ++i)
        for (int64_t j = i + 1; j < d; triple += d - 1 - j, ++j)
            if (j + 1 < d) pairs.push_back({i, j, triple});
    Slab slab;
    for (int64_t begin = 0; begin < n; begin += SLAB_ROWS) {
        read_slab(problem, 3, begin, std::min(SLAB_ROWS, n - begin), slab);
        const int used = threads_used(static_cast<int64_t>(pairs.size()), problem.n_threads);
        std::vector<std::vector<uint64_t>> bits(used);
        std::vector<std::vector<uint32_t>> both(used);
        parallel_chunks(static_cast<int64_t>(pairs.size()), problem.n_threads, [&](int64_t task, int thread) {
            const auto [i, j, first] = pairs[task];
            const int64_t i_size = problem.sizes[i], j_size = problem.sizes[j], size = i_size * j_size;
            auto& shared = bits[thread];
            auto& levels = both[thread];
            const bool by_bits = slab.first_cell[i] >= 0 && slab.first_cell[j] >= 0 && use_bits(slab, size);
            if (by_bits) {
                shared.resize(size * slab.n_words);
                for (int64_t v = 0; v < i_size; ++v)
                    for (int64_t w = 0; w < j_size; ++w) {
                        const uint64_t *a = slab.words(i) + v * slab.n_words, *b = slab.words(j) + w * slab.n_words;
                        uint64_t* to = shared.data() + (v * j_size + w) * slab.n_words;
                        for (int64_t word = 0; word < slab.n_words; ++word) to[word] = a[word] & b[word];
                    }
            }
            levels.resize(slab.walked ? slab.n_rows : 0);
            const uint32_t *a = slab.levels(i), *b = slab.levels(j);
            for (int64_t p = 0; slab.walked && p < slab.n_rows; ++p)
                levels[p] = a[p] < i_size && b[p] < j_size ? a[p] * static_cast<uint32_t>(j_size) + b[p] : NOWHERE;
            for (int64_t k = j + 1; k < d; ++k)
                count_with(slab, by_bits ? shared.data() : nullptr, levels.data(), size, k, problem.sizes[k],
                           problem.n_classes, out + offsets[first + k - j - 1]);
        });
    }
}

// One family: its members' sizes give the shape of its table, the class comes last.
template <typename Count>
void count_family(const Problem& problem, const std::vector<int64_t>& members, Count* out) {
    constexpr int64_t BLOCK = 4096;
    std::vector<uint32_t> level(BLOCK);
    std::vector<int64_t> cell(BLOCK);
    for (int64_t begin = 0; begin < problem.table.n_rows; begin += BLOCK) {
        const int64_t n = std::min(BLOCK, problem.table.n_rows - begin);
        std::fill(cell.begin(), cell.begin() + n, 0);
        for (int64_t member : members) {
            const int64_t size = problem.sizes[member];
            decode<true>(problem.table.columns[member], begin, n, 0, static_cast<uint32_t>(size), level.data());
            for (int64_t r = 0; r < n; ++r)
                cell[r] = level[r] < size && cell[r] >= 0 ? cell[r] * size + level[r] : -1;
        }
        for (int64_t r = 0; r < n; ++r) {
            if (cell[r] < 0) continue;
            Count& count = out[cell[r] * problem.n_classes + problem.y[begin + r]];
            if constexpr (std::is_floating_point_v<Count>) count += problem.weight[begin + r];
            else ++count;
        }
    }
}

std::vector<int64_t> table_offsets(const std::vector<std::vector<int64_t>>& families, const std::vector<int64_t>& sizes,
                                   int64_t n_classes) {
    std::vector<int64_t> offsets = {0};
    for (const auto& members : families) {
        int64_t cells = n_classes;
        for (int64_t member : members) cells *= sizes.at(member);
        offsets.push_back(offsets.back() + cells);
    }
    return offsets;
}

template <typename Work>
nb::object with_problem(nb::list columns, const Array& classes, const std::optional<Array>& weights, int64_t n_classes,
                        const std::vector<int64_t>& sizes, int n_threads, int64_t n_cells, Work&& work) {
    const Table table = table_of(columns);
    if (sizes.size() != table.columns.size()) throw std::invalid_argument("one size per column, please.");
    for (const Column& column : table.columns)
        if (column.type != Type::u8 && column.type != Type::u16 && column.type != Type::u32)
            throw std::invalid_argument("codes must be uint8, uint16 or uint32.");
    const std::vector<uint32_t> y = class_codes(classes);
    if (!table.columns.empty() && static_cast<int64_t>(y.size()) != table.n_rows)
        throw std::invalid_argument("y and the table differ in length.");
    for (uint32_t c : y)
        if (c >= n_classes) throw std::invalid_argument("a class code is out of range.");
    const std::vector<size_t> shape = {static_cast<size_t>(n_cells)};
    if (weights) {
        const Column column = column_of(*weights);
        if (column.type != Type::f64 || column.stride != 8 || weights->shape(0) != y.size())
            throw std::invalid_argument("weights must be one contiguous float64 a row.");
        const Problem problem{table, y, reinterpret_cast<const double*>(column.data), n_classes, sizes, n_threads};
        Owned<double> out(shape, true);
        {
            nb::gil_scoped_release release;
            work(problem, out.data);
        }
        return out.to_numpy();
    }
    const Problem problem{table, y, nullptr, n_classes, sizes, n_threads};
    Owned<int32_t> out(shape, true);
    {
        nb::gil_scoped_release release;
        work(problem, out.data);
    }
    return out.to_numpy();
}

nb::object count_subsets(nb::list columns, Array classes, std::optional<Array> weights, int64_t n_classes,
                         std::vector<int64_t> sizes, int order, int n_threads) {
    if (order != 2 && order != 3) throw std::invalid_argument("order must be 2 or 3.");
    // All pairs, and behind them all triples: one run of cells, since a copy would be as large again.
    const auto pairs = subset_offsets(2, sizes, n_classes);
    const auto triples = order == 3 ? subset_offsets(3, sizes, n_classes) : std::vector<int64_t>{0};
    return with_problem(columns, classes, weights, n_classes, sizes, n_threads, pairs.back() + triples.back(),
                        [&](const Problem& problem, auto* out) {
                            count_pairs_in(problem, pairs, out);
                            if (order == 3) count_triples_in(problem, triples, out + pairs.back());
                        });
}

nb::object count_families(nb::list columns, Array classes, std::optional<Array> weights, int64_t n_classes,
                          std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> families, int n_threads) {
    for (const auto& members : families)
        for (int64_t member : members)
            if (member < 0 || member >= static_cast<int64_t>(sizes.size()))
                throw std::invalid_argument("a family names a column that is not there.");
    const auto offsets = table_offsets(families, sizes, n_classes);
    return with_problem(columns, classes, weights, n_classes, sizes, n_threads, offsets.back(),
                        [&](const Problem& problem, auto* out) {
                            parallel_chunks(static_cast<int64_t>(families.size()), problem.n_threads,
                                            [&](int64_t f, int) { count_family(problem, families[f], out + offsets[f]); });
                        });
}

}  // namespace

void bind_count_families(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_subsets", &count_subsets, "columns"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "sizes"_a, "order"_a,
          "n_threads"_a);
    m.def("count_families", &count_families, "columns"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "sizes"_a,
          "families"_a, "n_threads"_a);
}

}  // namespace bayeskit::counts
