// Scores of families (a child and its parents) for Python, and the best order of variables when they are known for all sets.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kernels.hpp"
#include "select/family_scores.hpp"

namespace bayeskit::select {
namespace {

// The best order of variables when best[v][S] is the best score of v with parents among the others in S (Silander &
// Myllymäki 2006): the best network over a set has a last variable, and the rest is a best network too.
nb::object best_sinks(const std::vector<Array>& best, int n) {
    const size_t sets = size_t{1} << n;
    std::vector<const double*> local;
    for (const Array& array : best) {
        if (static_cast<size_t>(array.shape(0)) != sets / 2) throw std::invalid_argument("an array has the wrong length.");
        local.push_back(static_cast<const double*>(array.data()));
    }
    Owned<uint8_t> sink({sets});
    {
        nb::gil_scoped_release release;
        std::vector<double> total(sets, -INFINITY);
        total[0] = 0.0;
        sink.data[0] = 0;
        for (size_t s = 1; s < sets; ++s) {
            sink.data[s] = static_cast<uint8_t>(n);
            for (int v = 0; v < n; ++v) {
                const size_t bit = size_t{1} << v;
                if (!(s & bit)) continue;
                const size_t rest = s & ~bit;
                // Among the others: the bits above v move down by one.
                const size_t others = (rest & (bit - 1)) | (rest >> (v + 1) << v);
                const double total_with = total[rest] + local[v][others];
                if (total_with > total[s]) {
                    total[s] = total_with;
                    sink.data[s] = static_cast<uint8_t>(v);
                }
            }
        }
    }
    return sink.to_numpy();
}

}  // namespace

void bind_family_scores(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Families>(m, "Families");
    nb::class_<FamilyScores, Families>(m, "FamilyScores")
        .def(nb::init<nb::object, std::optional<Array>, const std::vector<int64_t>&, const std::string&, double, int>(),
             "table"_a, "weight"_a.none(), "cards"_a, "score"_a, "sample_size"_a, "n_threads"_a)
        .def("local", &FamilyScores::local, "child"_a, "parents"_a)
        .def("toggles", &FamilyScores::toggles, "child"_a, "parents"_a, "wanted"_a)
        .def("strongest", &FamilyScores::strongest, "child"_a, "parents"_a, "wanted"_a, "most"_a)
        .def("strongest_pairs", &FamilyScores::strongest_pairs, "child"_a, "parents"_a, "wanted"_a, "n_first"_a)
        .def("best_subsets", &FamilyScores::best_subsets, "child"_a, "candidates"_a, "required"_a, "most"_a)
        .def_prop_ro("n_scored", &FamilyScores::n_scored)
        .def_prop_ro("n_cached", &FamilyScores::n_cached)
        .def_prop_ro("total", &FamilyScores::total)
        .def_prop_ro("any_missing", &FamilyScores::any_missing);
    m.def("best_sinks", &best_sinks, "best"_a, "n"_a);
}

}  // namespace bayeskit::select
