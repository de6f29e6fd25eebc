// The kernels of this folder, as native/kernels.hpp lists those of the others.
#pragma once
#include <nanobind/nanobind.h>

namespace bayeskit::sequence {
void bind_forward_backward(nanobind::module_& m);
void bind_viterbi(nanobind::module_& m);
void bind_expected_cells(nanobind::module_& m);
}  // namespace bayeskit::sequence
