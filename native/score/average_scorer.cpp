// The scorer of averaged n-dependence: rows split over threads, those with the same missing cells in blocks.
#include <map>
#include <numeric>

#include "score/average_blocks.hpp"
#include "score/average_row.hpp"
#include "kernels.hpp"

namespace bayeskit::score {
namespace {

using namespace average;

// A given prior counts as coming from so many rows that one row makes no difference.
constexpr double MANY_ROWS = 0x1p70;

class AverageScorer {
public:
    AverageScorer(Array n_class, Array n_value, Array pairs, std::optional<Array> triples, std::vector<int64_t> sizes,
                  double class_pseudo, std::vector<double> pseudo, std::vector<double> parent_pseudo,
                  std::vector<double> pair_pseudo, std::optional<Array> prior, bool prior_of_rows, double min_count,
                  bool smooth)
        : pairs_(pairs), triples_(triples) {
        const Type type = type_of(pairs);
        if ((type != Type::i32 && type != Type::f64) || (triples && type_of(*triples) != type))
            throw std::invalid_argument("counts must be int32 or float64, all of one type.");
        whole_ = type == Type::i32;
        auto fill = [&](auto& model) {
            model.d = static_cast<int64_t>(sizes.size());
            model.n_classes = static_cast<int64_t>(n_class.shape(0));
            model.order = triples ? 2 : 1;
            model.smooth = smooth;
            model.pseudo = pseudo;
            model.parent_pseudo = parent_pseudo;
            model.pair_pseudo = pair_pseudo;
            model.min_count = min_count;
            model.sizes = sizes;
            model.first_value.assign(1, 0);
            for (int64_t size : sizes) model.first_value.push_back(model.first_value.back() + size);
            const int64_t d = model.d, K = model.n_classes;
            const size_t n_pairs = triples ? d * (d - 1) / 2 : 0;
            if (pseudo.size() != sizes.size() || parent_pseudo.size() != sizes.size() || pair_pseudo.size() != n_pairs)
                throw std::invalid_argument("each feature, and with triples each pair of them, has one pseudo-count.");
            model.n_class = doubles(n_class, K);
            model.n_value = doubles(n_value, model.first_value[d] * K);
            if (prior) model.prior = doubles(*prior, K);
            model.class_prior = prior ? ClassPrior::given : prior_of_rows ? ClassPrior::rows : ClassPrior::joint;
            for (int64_t c = 0; c < K; ++c)
                model.class_mass.push_back(prior ? model.prior[c] * MANY_ROWS
                                                 : model.n_class[c] + (prior_of_rows ? 0.0 : class_pseudo));
            model.log_prior.resize(K);
            log_prior_without(model.class_mass.data(), static_cast<int>(K), -1, 0.0, model.log_prior.data());
            std::vector<int64_t> pair_lengths, triple_lengths;
            int64_t pair_cells = 0, triple_cells = 0;
            for (int64_t i = 0; i < d; ++i)
                for (int64_t j = i + 1; j < d; ++j) {
                    pair_lengths.push_back(sizes[i] * sizes[j] * K);
                    pair_cells += pair_lengths.back();
                    for (int64_t k = j + 1; triples && k < d; ++k) {
                        triple_lengths.push_back(sizes[i] * sizes[j] * sizes[k] * K);
                        triple_cells += triple_lengths.back();
                    }
                }
            for (const auto& lengths : {pair_lengths, triple_lengths})
                for (int64_t length : lengths)
                    if (length > UINT32_MAX) throw std::invalid_argument("a table of counts has more than 2 ** 32 cells.");
            check(pairs, pair_cells);
            if (triples) check(*triples, triple_cells);
            using Count = typename decltype(model.pairs.last)::value_type;
            model.pairs.lay(static_cast<const Count*>(pairs.data()), pair_lengths);
            if (triples) model.triples.lay(static_cast<const Count*>(triples->data()), triple_lengths);
            for (size_t p = 0; p < pair_lengths.size(); ++p) {
                std::vector<double> sum(K, 0.0);
                for (int64_t cell = 0; cell < pair_lengths[p]; ++cell)
                    sum[cell % K] += static_cast<double>(model.pairs.first[p][cell]);
                model.pair_sum.push_back(std::accumulate(sum.begin(), sum.end(), 0.0));
                if (model.order == 2) model.pair_known.insert(model.pair_known.end(), sum.begin(), sum.end());
            }
            nb::gil_scoped_release release;
            model.prepare();
        };
        if (whole_) fill(whole_model_);
        else fill(weighted_model_);
    }

    // (scores, first row that no class can give or -1)
    nb::tuple score(nb::object columns, Score wanted, bool fallback, int n_threads) const {
        return run(columns, std::nullopt, std::nullopt, wanted, fallback, n_threads);
    }

    // (log posterior of each row without itself, first impossible row or -1)
    nb::tuple leave_one_out(nb::list columns, Array y, std::optional<Array> weight, bool fallback, int n_threads) const {
        return run(columns, y, weight, Score::log_posterior, fallback, n_threads);
    }

private:
    bool whole_;
    Array pairs_;
    std::optional<Array> triples_;
    AverageModel<int32_t> whole_model_;
    AverageModel<double> weighted_model_;

    static void check(const Array& counts, int64_t cells) {
        const Column column = column_of(counts);
        if (static_cast<int64_t>(counts.shape(0)) != cells || (cells > 1 && column.stride != item_size(column.type)))
            throw std::invalid_argument("the counts do not fit the sizes.");
    }

    nb::tuple run(nb::handle columns, const std::optional<Array>& y, const std::optional<Array>& weight, Score wanted,
                  bool fallback, int n_threads) const {
        return whole_ ? run_in(whole_model_, columns, y, weight, wanted, fallback, n_threads)
                      : run_in(weighted_model_, columns, y, weight, wanted, fallback, n_threads);
    }

    template <typename Count>
    nb::tuple run_in(const AverageModel<Count>& model, nb::handle columns, const std::optional<Array>& classes,
                     const std::optional<Array>& weights, Score wanted, bool fallback, int n_threads) const {
        const Table table = table_of(columns);
        if (static_cast<int64_t>(table.columns.size()) != model.d) throw std::invalid_argument("wrong number of columns.");
        const int64_t n = table.n_rows, K = model.n_classes;
        std::vector<uint32_t> y;
        std::vector<double> weight;
        if (classes) {
            y = class_codes(*classes);
            if (static_cast<int64_t>(y.size()) != n) throw std::invalid_argument("y and the table differ in length.");
            weight.assign(n, 1.0);
            if (weights) weight = doubles(*weights, n);
        }
        Scores scores(wanted, n, K);
        const int64_t n_chunks = (n + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<int64_t> impossible(n_chunks, -1);
        {
            nb::gil_scoped_release release;
            Factors less;
            if (classes && !model.exact) less = model.lay_factors(1.0);
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
                const int64_t begin = chunk * CHUNK_ROWS, rows = std::min(CHUNK_ROWS, n - begin);
                std::vector<uint32_t> level(model.d * CHUNK_ROWS);
                for (int64_t j = 0; j < model.d; ++j)
                    decode<true>(table.columns[j], begin, rows, 0, static_cast<uint32_t>(model.sizes[j]), level.data() + j * CHUNK_ROWS);
                RowScorer<Count> row_scorer(model);
                BlockScorer<Count> blocks(model, classes ? &less : nullptr);
                std::vector<double> log_joint(rows * K);
                auto alone = [&](int order, int64_t r) {
                    const double row_weight = classes ? std::min(1.0, weight[begin + r]) : 0.0;
                    row_scorer.log_joint(order, level.data() + r, CHUNK_ROWS, row_weight, classes ? y[begin + r] : -1, log_joint.data() + r * K);
                };
                std::map<std::string, std::vector<int64_t>> together;
                for (int64_t r = 0; r < rows; ++r) {
                    if (model.exact || (classes && weight[begin + r] < 1.0)) alone(model.order, r);
                    else together[blocks.state_of(level.data() + r, CHUNK_ROWS)].push_back(r);
                }
                for (const auto& [state, members] : together)
                    for (size_t at = 0; at < members.size(); at += BLOCK) {
                        const int64_t n_block = std::min<int64_t>(BLOCK, members.size() - at);
                        blocks.sum(state, level.data(), CHUNK_ROWS, members.data() + at, n_block, classes ? y.data() + begin : nullptr);
                        for (int64_t k = 0; k < n_block; ++k)
                            if (!blocks.write(k, log_joint.data() + members[at + k] * K)) alone(model.order - 1, members[at + k]);
                    }
                std::vector<double> left(model.log_prior);
                for (int64_t r = 0; r < rows; ++r) {
                    if (classes && model.exact)  // with smoothing every row can be given
                        log_prior_without(model.class_mass.data(), static_cast<int>(K), y[begin + r],
                                          std::min(1.0, weight[begin + r]), left.data());
                    const bool good = scores.write(begin + r, log_joint.data() + r * K, fallback ? left.data() : nullptr);
                    if (!good && impossible[chunk] < 0) impossible[chunk] = begin + r;
                }
            });
        }
        int64_t first = -1;
        for (int64_t row : impossible)
            if (first < 0) first = row;
        return nb::make_tuple(scores.to_numpy(), first);
    }
};

}  // namespace

void bind_average_scorer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<AverageScorer>(m, "AverageScorer")
        .def(nb::init<Array, Array, Array, std::optional<Array>, std::vector<int64_t>, double, std::vector<double>,
                      std::vector<double>, std::vector<double>, std::optional<Array>, bool, double, bool>(),
             "n_class"_a, "n_value"_a, "pairs"_a, "triples"_a.none(), "sizes"_a, "class_pseudo"_a,
             "pseudo"_a, "parent_pseudo"_a, "pair_pseudo"_a, "prior"_a.none(), "prior_of_rows"_a, "min_count"_a, "smooth"_a)
        .def("score", &AverageScorer::score, "columns"_a, "wanted"_a, "fallback"_a, "n_threads"_a)
        .def("leave_one_out", &AverageScorer::leave_one_out, "columns"_a, "y"_a, "weight"_a.none(), "fallback"_a,
             "n_threads"_a);
}

}  // namespace bayeskit::score
