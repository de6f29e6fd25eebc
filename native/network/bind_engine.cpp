// The exact engine's face: questions in, tables out.
#include "network/python_engine.hpp"

namespace bayeskit::network {

void bind_engine(nb::module_& m) {
    using namespace nb::literals;
    m.attr("SMALL_TREE") = SMALL_TREE;
    m.attr("PLANNABLE") = PLANNABLE;
    nb::class_<InferencePlan>(m, "InferencePlan")
        .def_prop_ro("strategy", &InferencePlan::strategy)
        .def_prop_ro("entries", [](const InferencePlan& p) { return p.plan->entries.cells; })
        .def_prop_ro("largest", [](const InferencePlan& p) { return p.plan->largest.cells; })
        .def_prop_ro("log2_entries", [](const InferencePlan& p) { return p.plan->entries.log2; })
        .def_prop_ro("log2_largest", [](const InferencePlan& p) { return p.plan->largest.log2; })
        .def_prop_ro("stored", [](const InferencePlan& p) { return p.plan->stored; })
        .def_prop_ro("cost", [](const InferencePlan& p) { return p.plan->schedule ? p.plan->schedule->cost() : INFINITY; })
        .def_prop_ro("largest_vars", [](const InferencePlan& p) { return p.plan->largest_vars; })
        .def("marginals", &InferencePlan::marginals, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "wide"_a = false)
        .def("joint", &InferencePlan::joint, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "wide"_a = false)
        .def("maximum", &InferencePlan::maximum, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "wide"_a = false);
    nb::class_<InferenceEngine>(m, "InferenceEngine")
        .def(nb::init<std::vector<int>, std::vector<std::vector<int>>, nb::list>(), "cards"_a, "parents"_a, "tables"_a)
        .def("compile_quick", &InferenceEngine::compile_quick)
        .def("compile", &InferenceEngine::compile, "tries"_a, "work"_a, "seed"_a)
        .def_prop_ro("entries", &InferenceEngine::entries)
        .def("marginals", &InferenceEngine::plan_marginals, "hard"_a)
        .def("joint", &InferenceEngine::plan_joint, "targets"_a, "hard"_a, "soft"_a, "with_evidence"_a)
        .def("maximum", &InferenceEngine::plan_max, "sought"_a, "hard"_a, "soft"_a);
}

}  // namespace bayeskit::network
