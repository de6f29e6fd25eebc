#pragma once
#include <nanobind/nanobind.h>

// The searches for a structure, beside the kernels that ../kernels.hpp lists.
namespace bayeskit::select {
void bind_equivalence_search(nanobind::module_& m);
void bind_order_search(nanobind::module_& m);
}  // namespace bayeskit::select
