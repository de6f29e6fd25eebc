#include "kernels.hpp"

#include "auto/kernels.hpp"
#include "base/score.hpp"
#include "base/simd.hpp"
#include "mixture/bind.hpp"
#include "select/bind.hpp"
#include "sequence/bind.hpp"

namespace {

// Which version of the kernels this processor runs.
const char* instruction_set() {
#if BAYESKIT_HAS_VERSIONS
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
               ? "x86-64-v3 (AVX2, FMA)"
               : "x86-64 (the oldest)";
#else
    return "that of the build";
#endif
}

}  // namespace

NB_MODULE(_native, m) {
    m.def("instruction_set", &instruction_set, "The version of the kernels that this processor runs.");
    // A model that still lives when Python ends is no leak worth a page of text.
    nanobind::set_leak_warnings(false);
    using bayeskit::Score;
    nanobind::enum_<Score>(m, "Score", nanobind::is_arithmetic(), "What a scorer returns for each row.")
        .value("LOG_JOINT", Score::log_joint)
        .value("LOG_POSTERIOR", Score::log_posterior)
        .value("POSTERIOR", Score::posterior)
        .value("CLASS", Score::best_class)
        .value("LOG_EVIDENCE", Score::log_evidence);
    bayeskit::table::bind_encode(m);
    bayeskit::table::bind_encode_strings(m);
    bayeskit::table::bind_mdl_edges(m);
    bayeskit::table::bind_tally_numbers(m);
    bayeskit::table::bind_tokenise(m);
    bayeskit::counts::bind_count_values(m);
    bayeskit::counts::bind_count_moments(m);
    bayeskit::counts::bind_count_scatter(m);
    bayeskit::counts::bind_count_families(m);
    bayeskit::counts::bind_count_tokens(m);
    bayeskit::counts::bind_count_features(m);
    bayeskit::estimate::bind_back_off(m);
    bayeskit::estimate::bind_log_tables(m);
    bayeskit::estimate::bind_conditional_information(m);
    bayeskit::estimate::bind_logistic(m);
    bayeskit::score::bind_naive_scorer(m);
    bayeskit::score::bind_family_scorer(m);
    bayeskit::score::bind_average_scorer(m);
    bayeskit::score::bind_log_probability(m);
    bayeskit::score::bind_kernel_density(m);
    bayeskit::score::bind_linear_scorer(m);
    bayeskit::score::bind_token_scorer(m);
    bayeskit::select::bind_super_parent_losses(m);
    bayeskit::select::bind_prefix_losses(m);
    bayeskit::select::bind_family_scores(m);
    bayeskit::select::bind_independence_tests(m);
    bayeskit::select::bind_equivalence_search(m);
    bayeskit::select::bind_order_search(m);
    bayeskit::decide::bind_least_risk(m);
    bayeskit::network::bind_parse_bif(m);
    bayeskit::network::bind_triangulate(m);
    bayeskit::network::bind_engine(m);
    bayeskit::network::bind_row_posteriors(m);
    bayeskit::network::bind_sampler(m);
    bayeskit::concept_learning::bind_grow_tree(m);
    bayeskit::network::bind_expected_counts(m);
    bayeskit::network::bind_two_layers(m);
    bayeskit::mixture::bind_gaussian_mixture(m);
    bayeskit::mixture::bind_latent_class(m);
    bayeskit::sequence::bind_forward_backward(m);
    bayeskit::sequence::bind_viterbi(m);
    bayeskit::sequence::bind_expected_cells(m);
    bayeskit::automatic::bind_group_rows(m);
    bayeskit::automatic::bind_content_hashes(m);
    bayeskit::automatic::bind_cut_numbers(m);
    bayeskit::automatic::bind_scale_numbers(m);
    bayeskit::automatic::bind_encode_levels(m);
    bayeskit::automatic::bind_pair_gains(m);
    bayeskit::automatic::bind_grow_contexts(m);
    bayeskit::automatic::bind_evidence_networks(m);
    bayeskit::automatic::bind_grow_context_trees(m);
    bayeskit::automatic::bind_context_trees(m);
    bayeskit::automatic::bind_boosted_trees(m);
    bayeskit::automatic::bind_gaussian_rows(m);
    bayeskit::automatic::bind_gaussians(m);
    bayeskit::automatic::bind_pool_loss(m);
    bayeskit::automatic::bind_class_matrix(m);
    bayeskit::automatic::bind_pool_members(m);
    bayeskit::automatic::bind_log_softmax(m);
}
