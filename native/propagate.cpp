// The exact engine's face: questions in, tables out.
#include "engine_class.hpp"

namespace bayeskit {

void bind_propagate(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PlanHandle>(m, "InferencePlan")
        .def_prop_ro("strategy", &PlanHandle::strategy)
        .def_prop_ro("entries", [](const PlanHandle& p) { return p.plan->entries; })
        .def_prop_ro("largest", [](const PlanHandle& p) { return p.plan->largest; })
        .def_prop_ro("largest_vars", [](const PlanHandle& p) { return p.plan->largest_vars; })
        .def("marginals", &PlanHandle::marginals, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a)
        .def("joint", &PlanHandle::joint, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a)
        .def("maximum", &PlanHandle::maximum, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a);
    nb::class_<InferenceEngine>(m, "InferenceEngine")
        .def(nb::init<std::vector<int>, std::vector<std::vector<int>>, nb::list>(), "cards"_a, "parents"_a, "tables"_a)
        .def("compile", &InferenceEngine::compile, "tries"_a, "work"_a, "seed"_a)
        .def_prop_ro("entries", &InferenceEngine::entries)
        .def("marginals", &InferenceEngine::plan_marginals, "hard"_a)
        .def("joint", &InferenceEngine::plan_joint, "targets"_a, "hard"_a, "soft"_a, "with_evidence"_a)
        .def("maximum", &InferenceEngine::plan_max, "sought"_a, "hard"_a, "soft"_a);
}

}  // namespace bayeskit
