// The table of contents of the compiled module: one folder a stage, one source file a kernel, one line here.
//
// `base` is what all stages use and lies in `bayeskit`; every other folder has a namespace of its own name.
#pragma once
#include <nanobind/nanobind.h>

namespace bayeskit::table {
void bind_encode(nanobind::module_& m);
void bind_encode_strings(nanobind::module_& m);
void bind_mdl_edges(nanobind::module_& m);
void bind_tally_numbers(nanobind::module_& m);
void bind_tokenise(nanobind::module_& m);
}  // namespace bayeskit::table

namespace bayeskit::counts {
void bind_count_values(nanobind::module_& m);
void bind_count_moments(nanobind::module_& m);
void bind_count_scatter(nanobind::module_& m);
void bind_count_families(nanobind::module_& m);
void bind_count_tokens(nanobind::module_& m);
void bind_count_features(nanobind::module_& m);
}  // namespace bayeskit::counts

namespace bayeskit::estimate {
void bind_back_off(nanobind::module_& m);
void bind_log_tables(nanobind::module_& m);
void bind_conditional_information(nanobind::module_& m);
void bind_logistic(nanobind::module_& m);
}  // namespace bayeskit::estimate

namespace bayeskit::score {
void bind_naive_scorer(nanobind::module_& m);
void bind_family_scorer(nanobind::module_& m);
void bind_average_scorer(nanobind::module_& m);
void bind_log_probability(nanobind::module_& m);
void bind_kernel_density(nanobind::module_& m);
void bind_linear_scorer(nanobind::module_& m);
void bind_token_scorer(nanobind::module_& m);
}  // namespace bayeskit::score

namespace bayeskit::select {
void bind_super_parent_losses(nanobind::module_& m);
void bind_prefix_losses(nanobind::module_& m);
void bind_family_scores(nanobind::module_& m);
void bind_independence_tests(nanobind::module_& m);
}  // namespace bayeskit::select

namespace bayeskit::decide {
void bind_least_risk(nanobind::module_& m);
}  // namespace bayeskit::decide

namespace bayeskit::network {
void bind_parse_bif(nanobind::module_& m);
void bind_triangulate(nanobind::module_& m);
void bind_engine(nanobind::module_& m);
void bind_row_posteriors(nanobind::module_& m);
void bind_sampler(nanobind::module_& m);
void bind_expected_counts(nanobind::module_& m);
void bind_two_layers(nanobind::module_& m);
}  // namespace bayeskit::network

// `concept` is a word of newer C++.
namespace bayeskit::concept_learning {
void bind_grow_tree(nanobind::module_& m);
}  // namespace bayeskit::concept_learning
