// The part of the table of contents that belongs to this folder, in a header of its own: a kernel more here compiles no
// other folder again.
#pragma once
#include <nanobind/nanobind.h>

// `auto` is a word of C++.
namespace bayeskit::automatic {
void bind_group_rows(nanobind::module_& m);
void bind_content_hashes(nanobind::module_& m);
void bind_cut_numbers(nanobind::module_& m);
void bind_scale_numbers(nanobind::module_& m);
void bind_encode_levels(nanobind::module_& m);
void bind_pair_gains(nanobind::module_& m);
void bind_grow_contexts(nanobind::module_& m);
void bind_evidence_networks(nanobind::module_& m);
void bind_grow_context_trees(nanobind::module_& m);
void bind_context_trees(nanobind::module_& m);
void bind_boosted_trees(nanobind::module_& m);
void bind_gaussian_rows(nanobind::module_& m);
void bind_gaussians(nanobind::module_& m);
void bind_pool_loss(nanobind::module_& m);
void bind_class_matrix(nanobind::module_& m);
void bind_pool_members(nanobind::module_& m);
void bind_log_softmax(nanobind::module_& m);
}  // namespace bayeskit::automatic
