#include "kernels.hpp"

NB_MODULE(_native, m) {
    // A model that still lives when Python ends is no leak worth a page of text.
    nanobind::set_leak_warnings(false);
    bayeskit::bind_bif(m);
    bayeskit::bind_count(m);
    bayeskit::bind_encode(m);
    bayeskit::bind_average(m);
    bayeskit::bind_dependence(m);
    bayeskit::bind_family(m);
    bayeskit::bind_mdl(m);
    bayeskit::bind_families(m);
    bayeskit::bind_moments(m);
    bayeskit::bind_prefixes(m);
    bayeskit::bind_propagate(m);
    bayeskit::bind_rows(m);
    bayeskit::bind_sample(m);
    bayeskit::bind_triangulate(m);
    bayeskit::bind_naive(m);
    bayeskit::bind_risk(m);
    bayeskit::bind_shares(m);
    bayeskit::bind_strings(m);
    bayeskit::bind_super_parent(m);
}
