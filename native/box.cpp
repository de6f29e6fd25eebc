// The box loops, compiled once for wide and once for plain CPUs.
#include "box.hpp"

namespace bayeskit {

BAYESKIT_SIMD void box_put(double* tile, const double* operand, const Axis* axes, int n_axes) {
    box<Do::put>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_times(double* tile, const double* operand, const Axis* axes, int n_axes) {
    box<Do::times>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_plus(const double* tile, double* operand, const Axis* axes, int n_axes) {
    box<Do::plus>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_raise(const double* tile, double* operand, const Axis* axes, int n_axes) {
    box<Do::raise>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_put(Pack* tile, const double* operand, const Axis* axes, int n_axes) {
    box<Do::put>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_times(Pack* tile, const double* operand, const Axis* axes, int n_axes) {
    box<Do::times>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_times(Pack* tile, const Pack* operand, const Axis* axes, int n_axes) {
    box<Do::times>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_plus(const Pack* tile, Pack* operand, const Axis* axes, int n_axes) {
    box<Do::plus>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void box_raise(const Pack* tile, Pack* operand, const Axis* axes, int n_axes) {
    box<Do::raise>(tile, operand, axes, n_axes);
}

}  // namespace bayeskit
