// Sums of features per class, for matrices in compressed rows and for plain arrays.
#include <optional>

#include <nanobind/stl/optional.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::counts {
namespace {

const double* weight_of(const std::optional<Array>& weight, int64_t n) {
    if (!weight) return nullptr;
    if (weight->ndim() != 1 || type_of(*weight) != Type::f64 || static_cast<int64_t>(weight->shape(0)) != n ||
        (n > 1 && weight->stride(0) != 1))
        throw std::invalid_argument("weights must be one contiguous float64 a row.");
    return static_cast<const double*>(weight->data());
}

// What a cell counts as: itself, or one where it is above a threshold.
template <typename Value, typename Sum>
struct Counted {
    bool binary;
    double threshold;
    Sum operator()(Value value) const {
        if (binary) return static_cast<double>(value) > threshold ? Sum{1} : Sum{0};
        return static_cast<Sum>(value);
    }
};

template <typename F>
void with_index(const Array& array, F&& f) {
    switch (type_of(array)) {
        case Type::i32: f(static_cast<const int32_t*>(array.data())); break;
        case Type::i64: f(static_cast<const int64_t*>(array.data())); break;
        default: throw std::invalid_argument("a sparse matrix has int32 or int64 indices.");
    }
}

template <typename Sum>
nb::object sparse_sums(const Array& indptr, const Array& indices, const Array& values, const std::vector<uint32_t>& y,
                       const double* w, int64_t n_classes, int64_t n_features, bool binary, double threshold) {
    const int64_t n = static_cast<int64_t>(y.size()), cells = static_cast<int64_t>(indices.shape(0));
    Owned<Sum> out({static_cast<size_t>(n_classes), static_cast<size_t>(n_features)}, true);
    with_index(indptr, [&](const auto* pointer) {
        with_index(indices, [&](const auto* index) {
            with_type(type_of(values), [&](auto zero) {
                using Value = decltype(zero);
                const auto* value = static_cast<const Value*>(values.data());
                const Counted<Value, Sum> counted{binary, threshold};
                if (pointer[0] != 0 || pointer[n] > cells) throw std::invalid_argument("row pointers do not fit.");
                nb::gil_scoped_release release;
                for (int64_t i = 0; i < n; ++i) {
                    Sum* line = out.data + static_cast<int64_t>(y[i]) * n_features;
                    if (pointer[i] > pointer[i + 1]) throw std::invalid_argument("row pointers must rise.");
                    for (auto k = pointer[i]; k < pointer[i + 1]; ++k) {
                        if (static_cast<uint64_t>(index[k]) >= static_cast<uint64_t>(n_features))
                            throw std::invalid_argument("a column index is out of range.");
                        const Sum x = counted(value[k]);
                        line[index[k]] += w ? static_cast<Sum>(static_cast<double>(x) * w[i]) : x;
                    }
                }
            });
        });
    });
    return out.to_numpy();
}

// (n_classes, n_features): int64 for whole numbers without weights, else float64.
nb::object count_sparse(Array indptr, Array indices, Array values, Array classes, std::optional<Array> weight,
                        int64_t n_classes, int64_t n_features, bool binary, double threshold) {
    const Classes checked(classes);
    checked.check(static_cast<int64_t>(indptr.shape(0)) - 1, n_classes);
    const std::vector<uint32_t> y = class_codes(classes);
    const double* w = weight_of(weight, checked.n);
    const Type type = type_of(values);
    if (indices.shape(0) > values.shape(0)) throw std::invalid_argument("a sparse matrix is cut.");
    const bool whole = !w && (binary || (type != Type::f32 && type != Type::f64));
    if (whole) return sparse_sums<int64_t>(indptr, indices, values, y, w, n_classes, n_features, binary, threshold);
    return sparse_sums<double>(indptr, indices, values, y, w, n_classes, n_features, binary, threshold);
}

template <typename Sum>
nb::object dense_sums(const Array& array, const std::vector<uint32_t>& y, const double* w, int64_t n_classes, bool binary,
                      double threshold) {
    const int64_t n = static_cast<int64_t>(array.shape(0)), d = static_cast<int64_t>(array.shape(1));
    Owned<Sum> out({static_cast<size_t>(n_classes), static_cast<size_t>(d)}, true);
    with_type(type_of(array), [&](auto zero) {
        using Value = decltype(zero);
        const Counted<Value, Sum> counted{binary, threshold};
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i) {
            const auto* row = static_cast<const Value*>(array.data()) + i * array.stride(0);
            Sum* line = out.data + static_cast<int64_t>(y[i]) * d;
            const int64_t stride = array.stride(1);
            for (int64_t j = 0; j < d; ++j) {
                const Sum x = counted(row[j * stride]);
                line[j] += w ? static_cast<Sum>(static_cast<double>(x) * w[i]) : x;
            }
        }
    });
    return out.to_numpy();
}

nb::object count_dense(Array array, Array classes, std::optional<Array> weight, int64_t n_classes, bool binary,
                       double threshold) {
    if (array.ndim() != 2) throw std::invalid_argument("a table must have two dimensions.");
    const Classes checked(classes);
    checked.check(static_cast<int64_t>(array.shape(0)), n_classes);
    const std::vector<uint32_t> y = class_codes(classes);
    const double* w = weight_of(weight, checked.n);
    const Type type = type_of(array);
    const bool whole = !w && (binary || (type != Type::f32 && type != Type::f64));
    return whole ? dense_sums<int64_t>(array, y, w, n_classes, binary, threshold)
                 : dense_sums<double>(array, y, w, n_classes, binary, threshold);
}

}  // namespace

void bind_count_features(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_sparse", &count_sparse, "indptr"_a, "indices"_a, "values"_a, "y"_a, "weight"_a.none(), "n_classes"_a,
          "n_features"_a, "binary"_a, "threshold"_a);
    m.def("count_dense", &count_dense, "array"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "binary"_a, "threshold"_a);
}

}  // namespace bayeskit::counts
