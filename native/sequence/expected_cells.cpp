// Expected counts of a column: each row counts for every state by its share.
#include "sequence/bind.hpp"
#include "sequence/chain.hpp"

namespace bayeskit::sequence {
namespace {

template <typename T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// sums[v] += share of the rows whose code is v; a code that is no value (missing, unseen) is left out.
template <typename Code>
void expected_values(Column<Code> codes, Matrix share, Sums sums) {
    const int64_t n_rows = share.shape(0), k = share.shape(1), size = sums.shape(0);
    nb::gil_scoped_release release;
    const Code* code = codes.data();
    const double* row = share.data();
    double* const to = sums.data();
    for (int64_t i = 0; i < n_rows; ++i, row += k) {
        const int64_t v = static_cast<int64_t>(code[i]);
        if (v >= size) continue;
        double* cell = to + v * k;
        for (int64_t c = 0; c < k; ++c) cell[c] += row[c];
    }
}

BAYESKIT_SIMD void add_moments(const double* x, const double* row, int64_t n_rows, int64_t k, const double* centre,
                               double* weight, double* first, double* second) {
    for (int64_t i = 0; i < n_rows; ++i, row += k) {
        if (x[i] != x[i]) continue;
        for (int64_t c = 0; c < k; ++c) {
            const double apart = x[i] - centre[c], part = row[c] * apart;
            weight[c] += row[c];
            first[c] += part;
            second[c] += part * apart;
        }
    }
}

// sums (3, k) += weight, Σ share (x - centre), Σ share (x - centre)² of the rows in which x is known
void expected_moments(Column<double> x, Matrix share, Vector centre, Sums sums) {
    const int64_t k = share.shape(1);
    nb::gil_scoped_release release;
    std::vector<double> weight(k, 0.0), first(k, 0.0), second(k, 0.0);
    add_moments(x.data(), share.data(), share.shape(0), k, centre.data(), weight.data(), first.data(), second.data());
    for (int64_t c = 0; c < k; ++c) {
        sums.data()[c] += weight[c];
        sums.data()[k + c] += first[c];
        sums.data()[2 * k + c] += second[c];
    }
}

}  // namespace

void bind_expected_cells(nb::module_& m) {
    using namespace nb::literals;
    m.def("expected_values", &expected_values<uint8_t>, "codes"_a.noconvert(), "share"_a, "sums"_a);
    m.def("expected_values", &expected_values<uint16_t>, "codes"_a.noconvert(), "share"_a, "sums"_a);
    m.def("expected_values", &expected_values<uint32_t>, "codes"_a.noconvert(), "share"_a, "sums"_a);
    m.def("expected_moments", &expected_moments, "x"_a, "share"_a, "centre"_a, "sums"_a);
}

}  // namespace bayeskit::sequence
