// Rows of counts to scores: log P(x, c) = bias(c) + Σ x_j · table(j, c), for sparse rows.
#include <atomic>

#include <nanobind/stl/vector.h>

#include "base/score.hpp"
#include "kernels.hpp"
#include "score/linear_rows.hpp"

namespace bayeskit::score {
namespace {

template <typename F>
void with_index(const Array& array, F&& f) {
    switch (type_of(array)) {
        case Type::i32: f(static_cast<const int32_t*>(array.data())); break;
        case Type::i64: f(static_cast<const int64_t*>(array.data())); break;
        default: throw std::invalid_argument("a sparse matrix has int32 or int64 indices.");
    }
}

class LinearScorer {
public:
    LinearScorer(Array weights, Array bias) : table_(weights), bias_(doubles(bias, static_cast<int64_t>(bias.shape(0)))) {
        if (bias_.size() != table_.n_classes()) throw std::invalid_argument("the table needs one column per class.");
    }

    // A matrix in compressed rows.
    nb::tuple score(Array indptr, Array indices, Array values, Score wanted, bool fallback, std::vector<double> log_prior,
                    int n_threads) const {
        const int64_t n = static_cast<int64_t>(indptr.shape(0)) - 1, cells = static_cast<int64_t>(indices.shape(0));
        if (n < 0 || static_cast<int64_t>(values.shape(0)) < cells) throw std::invalid_argument("a sparse matrix is cut.");
        Scores scores(wanted, n, static_cast<int64_t>(bias_.size()));
        std::atomic<int64_t> impossible{n};
        with_index(indptr, [&](const auto* pointer) {
            with_index(indices, [&](const auto* index) {
                with_type(type_of(values), [&](auto zero) {
                    using Value = decltype(zero);
                    check(pointer, n, index, cells);
                    nb::gil_scoped_release release;
                    work(pointer, index, static_cast<const Value*>(values.data()), n, scores, impossible,
                         fallback ? log_prior.data() : nullptr, n_threads);
                });
            });
        });
        return nb::make_tuple(scores.to_numpy(), impossible.load() < n ? impossible.load() : -1);
    }

private:
    LinearRows table_;
    std::vector<double> bias_;

    template <typename Pointer, typename Index>
    void check(const Pointer* pointer, int64_t n, const Index* index, int64_t cells) const {
        if (pointer[0] != 0 || pointer[n] > cells) throw std::invalid_argument("row pointers do not fit.");
        for (int64_t i = 0; i < n; ++i)
            if (pointer[i] > pointer[i + 1]) throw std::invalid_argument("row pointers must rise.");
        const uint64_t n_rows = table_.n_rows();
        for (int64_t k = 0; k < pointer[n]; ++k)
            if (static_cast<uint64_t>(index[k]) >= n_rows) throw std::invalid_argument("a column index is out of range.");
    }

    template <typename Pointer, typename Index, typename Value>
    void work(const Pointer* pointer, const Index* index, const Value* value, int64_t n, Scores& scores,
              std::atomic<int64_t>& impossible, const double* log_prior, int n_threads) const {
        constexpr int64_t CHUNK = 512;
        parallel_chunks((n + CHUNK - 1) / CHUNK, n_threads, [&](int64_t chunk, int) {
            std::vector<double> sum(table_.lanes()), values;
            std::vector<uint32_t> columns;
            for (int64_t i = chunk * CHUNK; i < std::min(n, (chunk + 1) * CHUNK); ++i) {
                std::fill(sum.begin(), sum.end(), 0.0);
                std::copy(bias_.begin(), bias_.end(), sum.begin());
                columns.assign(index + pointer[i], index + pointer[i + 1]);
                values.assign(value + pointer[i], value + pointer[i + 1]);
                table_.add(columns.data(), values.data(), columns.size(), sum.data());
                if (!scores.write(i, sum.data(), log_prior)) {
                    int64_t seen = impossible.load();
                    while (i < seen && !impossible.compare_exchange_weak(seen, i)) {
                    }
                }
            }
        });
    }
};

}  // namespace

void bind_linear_scorer(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<LinearScorer>(m, "LinearScorer")
        .def(nb::init<Array, Array>(), "table"_a, "bias"_a)
        .def("score", &LinearScorer::score, "indptr"_a, "indices"_a, "values"_a, "wanted"_a, "fallback"_a, "log_prior"_a,
             "n_threads"_a);
}

}  // namespace bayeskit::score
