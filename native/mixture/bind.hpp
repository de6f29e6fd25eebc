// The kernels of this folder, as native/kernels.hpp lists those of the others.
#pragma once
#include <nanobind/nanobind.h>

namespace bayeskit::mixture {
void bind_gaussian_mixture(nanobind::module_& m);
void bind_latent_class(nanobind::module_& m);
}  // namespace bayeskit::mixture
