// The table of contents of the compiled module: one source file a kernel, one line here.
#pragma once
#include <nanobind/nanobind.h>

namespace bayeskit {
void bind_bif(nanobind::module_& m);
void bind_count(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_average(nanobind::module_& m);
void bind_dependence(nanobind::module_& m);
void bind_family(nanobind::module_& m);
void bind_mdl(nanobind::module_& m);
void bind_families(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_prefixes(nanobind::module_& m);
void bind_propagate(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_sample(nanobind::module_& m);
void bind_triangulate(nanobind::module_& m);
void bind_naive(nanobind::module_& m);
void bind_risk(nanobind::module_& m);
void bind_shares(nanobind::module_& m);
void bind_strings(nanobind::module_& m);
void bind_super_parent(nanobind::module_& m);
}  // namespace bayeskit
