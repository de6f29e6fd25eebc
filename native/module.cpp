#include "kernels.hpp"

NB_MODULE(_native, m) {
    bayeskit::bind_count(m);
    bayeskit::bind_encode(m);
    bayeskit::bind_moments(m);
    bayeskit::bind_naive(m);
    bayeskit::bind_strings(m);
}
